/* report_json.c - a report as one JSON object. */
#include "attnviz/json.h"
#include "report_formats.h"

#include <math.h>
#include <string.h>

static void write_logits(struct av_json *j, const char *name, const struct av_logit_list *logits)
{
    if (logits->n == 0) {
        av_json_null(j, name);
        return;
    }
    av_json_array(j, name);
    for (int64_t i = 0; i < logits->n; i++) {
        av_json_number(j, NULL, logits->at[i]);
    }
    av_json_close(j, ']');
}

void av_report_json_param(struct av_json *j, const struct av_param *row, const struct av_params *p)
{
    const void *value = (const char *)p + row->offset;
    struct av_str text = AV_STR_INIT;
    switch (row->kind) {
    case AV_PARAM_INT:
        av_json_integer(j, row->name, *(const int64_t *)value);
        break;
    case AV_PARAM_REAL:
        av_json_number(j, row->name, *(const double *)value);
        break;
    case AV_PARAM_SEED:
        av_json_unsigned(j, row->name, *(const uint64_t *)value);
        break;
    case AV_PARAM_LOGITS:
        write_logits(j, row->name, value);
        break;
    case AV_PARAM_CHOICE:
    case AV_PARAM_VARIANT:
    case AV_PARAM_VARIANT_SET:
        av_param_format(row, p, &text);
        av_json_string(j, row->name, av_str_text(&text));
        j->out->failed = j->out->failed || text.failed;
        av_str_free(&text);
        break;
    }
}

static void write_params(struct av_json *j, const struct av_snapshot *s)
{
    size_t count;
    const struct av_param *rows = av_params_table(&count);
    av_json_object(j, "params");
    for (size_t i = 0; i < count; i++) {
        if (av_report_has_param(s, &rows[i])) {
            av_report_json_param(j, &rows[i], &s->params);
        } else {
            av_json_null(j, rows[i].name);
        }
    }
    av_json_number(j, "alpha", s->alpha);
    av_json_close(j, '}');
}

static void write_weights(struct av_json *j, const struct av_snapshot *s)
{
    const double *weights = av_report_query_weights(s);
    if (weights == NULL) {
        av_json_null(j, "weights");
        return;
    }
    av_json_array(j, "weights");
    for (size_t i = 0; i < s->n_k; i++) {
        av_json_number(j, NULL, weights[i]);
    }
    av_json_close(j, ']');
}

static void write_block(struct av_json *j, const struct av_snapshot *s, const struct av_field *fields, size_t count)
{
    const char *block = fields[0].block;
    if (!av_report_has_block(s, block)) {
        av_json_null(j, block);
        return;
    }
    av_json_object(j, block);
    for (size_t i = 0; i < count; i++) {
        double x = av_report_value(&fields[i], s);
        if (fields[i].whole && isfinite(x)) {
            av_json_integer(j, fields[i].name, (int64_t)x);
        } else {
            av_json_number(j, fields[i].name, x);
        }
    }
    if (strcmp(block, "query") == 0) {
        write_weights(j, s);
    }
    av_json_close(j, '}');
}

static void write_verdicts(struct av_json *j, const struct av_snapshot *s)
{
    const struct av_verdict *verdicts[AV_REPORT_VERDICTS];
    size_t count = av_report_verdicts(s, verdicts);
    av_json_array(j, "verdicts");
    for (size_t i = 0; i < count; i++) {
        av_json_object(j, NULL);
        av_json_string(j, "code", verdicts[i]->code);
        av_json_string(j, "severity", av_report_severity(verdicts[i]->severity));
        av_json_string(j, "text", verdicts[i]->text);
        av_json_close(j, '}');
    }
    av_json_close(j, ']');
}

/* What the findings of a head from outside go by. */
static void write_evidence(struct av_json *j, const struct av_diagnosis *d)
{
    size_t count;
    const struct av_evidence_field *fields = av_evidence_fields(&count);
    av_json_object(j, "evidence");
    for (size_t i = 0; i < count; i++) {
        double x = av_evidence_get(&fields[i], &d->evidence);
        if (fields[i].whole && isfinite(x)) {
            av_json_integer(j, fields[i].name, (int64_t)x);
        } else {
            av_json_number(j, fields[i].name, x);
        }
    }
    av_json_close(j, '}');
}

/* All that is known of one head. */
static void write_members(struct av_json *j, const struct av_snapshot *s)
{
    size_t count;
    const struct av_field *fields = av_report_fields(&count);
    for (size_t i = 0; i < count;) {
        size_t end = av_report_block_end(fields, count, i);
        write_block(j, s, fields + i, end - i);
        i = end;
    }
    if (s->diagnosis != NULL) {
        av_json_bool(j, "sampled", s->diagnosis->sampled);
        write_evidence(j, s->diagnosis);
    }
    write_verdicts(j, s);
}

static void write_tensor(struct av_json *j, const struct av_source_layer *layer, const struct av_report_part *part)
{
    const struct av_source_tensor *t = part->tensor;
    av_json_object(j, NULL);
    av_json_unsigned(j, "layer", layer->number);
    av_json_string(j, "role", part->role);
    av_json_string(j, "name", t->name);
    av_json_string(j, "dtype", t->type);
    av_json_array(j, "shape");
    for (size_t i = 0; i < t->rank; i++) {
        av_json_unsigned(j, NULL, t->shape[i]);
    }
    av_json_close(j, ']');
    if (part->bad != NULL) {
        av_json_unsigned(j, "nan_count", part->bad->nan_count);
        av_json_unsigned(j, "inf_count", part->bad->inf_count);
    }
    av_json_close(j, '}');
}

/* Of all layers. */
static void write_tensors(struct av_json *j, const struct av_snapshot *s)
{
    av_json_array(j, "tensors");
    for (size_t l = 0; l < s->source->layer_count; l++) {
        const struct av_source_layer *layer = &s->source->layers[l];
        struct av_report_part parts[AV_PARTS];
        size_t count = av_report_parts(s, layer, parts);
        for (size_t i = 0; i < count; i++) {
            write_tensor(j, layer, &parts[i]);
        }
    }
    av_json_close(j, ']');
}

void av_report_json_members(struct av_json *j, const struct av_snapshot *s)
{
    av_json_string(j, "version", AV_VERSION);
    write_params(j, s);
    write_members(j, s);
    if (s->from_files) {
        write_tensors(j, s);
        av_json_bool(j, "layout_guessed", s->source->guessed);
    }
}

/* ---- A whole report --------------------------------------------------------------- */

/* A place inside the outermost object (1) or an array of it (2). */
static struct av_json inside(struct av_str *out, int depth, bool comma)
{
    return (struct av_json){ .out = out, .depth = depth, .comma = comma };
}

static void write_state(struct av_report_sheet *sheet, const struct av_snapshot *s)
{
    struct av_json j = inside(&sheet->state, 1, false);
    av_report_json_members(&j, s);
}

static void write_head(struct av_str *out, const struct av_snapshot *s, size_t i)
{
    struct av_json j = inside(out, 2, i > 0);
    av_json_object(&j, NULL);
    av_json_unsigned(&j, "layer", s->layer->number);
    av_json_unsigned(&j, "head", s->head);
    if (s->from == AV_PART_Q) {
        av_json_unsigned(&j, "k_head", s->k_head);
    } else {
        av_json_null(&j, "k_head");
    }
    write_members(&j, s);
    av_json_close(&j, '}');
}

static void write_findings(struct av_json *j, const struct av_findings *found)
{
    av_json_array(j, "findings");
    for (size_t i = 0; i < found->count; i++) {
        const struct av_finding *f = &found->at[i];
        av_json_object(j, NULL);
        av_json_string(j, "code", f->verdict.code);
        av_json_string(j, "severity", av_report_severity(f->verdict.severity));
        av_json_unsigned(j, "heads", f->heads);
        av_json_object(j, "first");
        av_json_unsigned(j, "layer", f->layer);
        av_json_unsigned(j, "head", f->head);
        av_json_close(j, '}');
        av_json_string(j, "text", f->verdict.text);
        av_json_close(j, '}');
    }
    av_json_close(j, ']');
}

static void join(struct av_str *out, const struct av_report_sheet *sheet)
{
    av_str_add(out, "{");
    av_str_addn(out, av_str_text(&sheet->state), sheet->state.len);
    struct av_json j = inside(out, 1, true);
    if (sheet->has_heads) {
        write_findings(&j, &sheet->found);
        av_json_array(&j, "heads");
        av_str_addn(out, av_str_text(&sheet->rows), sheet->rows.len);
        j.comma = true;
        av_json_close(&j, ']');
    }
    av_json_close(&j, '}');
}

const struct av_report_writer av_report_json = { write_state, write_head, join };
