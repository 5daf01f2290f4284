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
        av_report_json_param(j, &rows[i], &s->params);
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
        double x = fields[i].get(s);
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
static void write_state(struct av_json *j, const struct av_snapshot *s)
{
    size_t count;
    const struct av_field *fields = av_report_fields(&count);
    for (size_t i = 0; i < count;) {
        size_t end = av_report_block_end(fields, count, i);
        write_block(j, s, fields + i, end - i);
        i = end;
    }
    if (s->diagnosis != NULL) {
        write_evidence(j, s->diagnosis);
    }
    write_verdicts(j, s);
}

static void write_tensor(struct av_json *j, const struct av_report_part *part)
{
    const struct av_source_tensor *t = part->tensor;
    av_json_object(j, NULL);
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

/* Of the layer that is shown. */
static void write_tensors(struct av_json *j, const struct av_snapshot *s)
{
    struct av_report_part parts[AV_PARTS];
    size_t count = av_report_parts(s, parts);
    av_json_array(j, "tensors");
    for (size_t i = 0; i < count; i++) {
        write_tensor(j, &parts[i]);
    }
    av_json_close(j, ']');
}

static enum av_status write_heads(struct av_json *j, const struct av_report_input *in, struct av_error *e)
{
    size_t heads = av_source_heads(in->s->source);
    av_json_array(j, "heads");
    for (size_t i = 0; i < heads; i++) {
        const struct av_snapshot *s = in->head(in->ctx, i, e);
        if (s == NULL) {
            return AV_FAILED;
        }
        av_json_object(j, NULL);
        av_json_unsigned(j, "layer", s->layer->number);
        av_json_unsigned(j, "head", s->head);
        av_json_unsigned(j, "k_head", s->k_head);
        write_state(j, s);
        av_json_close(j, '}');
    }
    av_json_close(j, ']');
    return AV_OK;
}

enum av_status av_report_json_object(struct av_json *j, const struct av_report_input *in, struct av_error *e)
{
    av_json_object(j, NULL);
    av_json_string(j, "version", AV_VERSION);
    write_params(j, in->s);
    write_state(j, in->s);
    if (in->s->from_files) {
        write_tensors(j, in->s);
    }
    enum av_status status = in->head != NULL ? write_heads(j, in, e) : AV_OK;
    av_json_close(j, '}');
    return status;
}

enum av_status av_report_json(struct av_str *out, const struct av_report_input *in, struct av_error *e)
{
    struct av_json j;
    av_json_begin(&j, out);
    return av_report_json_object(&j, in, e);
}
