/* report_text.c - a state for people: verdicts first, six digits, meanings. */
#include "report_text.h"
#include "attnviz/variant.h"
#include "shape.h"
#include "shown.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WEIGHTS_A_LINE = 8, WEIGHTS_SHOWN = 64, MEANING_AT = 44 };

static void add_line(struct av_str *out, const char *name, const char *value, const char *unit, const char *meaning)
{
    size_t before = out->len;
    av_str_addf(out, "  %-20s %13s %-6s ", name, value, unit);
    av_report_text_wrap(out, meaning, (int)(out->len - before), MEANING_AT);
}

struct av_report_number av_report_text_number(double x, bool whole)
{
    struct av_report_number n = { "-" };
    if (!isnan(x)) {
        snprintf(n.text, sizeof n.text, whole && fabs(x) < 1e15 ? "%.0f" : "%.6g", x);
    }
    return n;
}

static void add_verdicts(struct av_str *out, const struct av_snapshot *s)
{
    const struct av_verdict *verdicts[AV_REPORT_VERDICTS];
    size_t count = av_report_verdicts(s, verdicts);
    av_str_add(out, "verdicts");
    if (s->from_files) {
        av_str_addf(out, " of layer %zu, head %zu", s->layer->number, s->head);
    }
    av_str_add(out, "\n");
    for (size_t i = 0; i < count; i++) {
        const struct av_verdict *v = verdicts[i];
        size_t before = out->len;
        av_str_addf(out, "  %-4s %s: ", av_report_severity(v->severity), v->code);
        av_report_text_wrap(out, av_shown(v->text).text, (int)(out->len - before), AV_REPORT_TEXT_AT);
    }
    if (count == 0) {
        av_str_add(out, "  none\n");
    }
    if (s->diagnosis != NULL && s->diagnosis->sampled) {
        av_str_addf(out, "  the file's q.k was looked at in %.0f of %zu rows, evenly spread\n",
                    s->diagnosis->evidence.rows, s->n_q);
    }
}

/* Has the parameter a meaning here? Not layer without files, nor what cannot act
 * on what they hold, what only a view listens to or a variant that is not chosen
 * owns, nor a list of logits that was not given. */
static bool applies(const struct av_param *row, const struct av_snapshot *s)
{
    bool size = (row->flags & AV_PARAM_SIZE) != 0;
    if (!av_report_has_param(s, row) || !(size || av_source_acts(s->from, row))) {
        return false;
    }
    if (row->kind == AV_PARAM_LOGITS) {
        return s->params.logits.n > 0;
    }
    if ((row->flags & AV_PARAM_OWNED) != 0) {
        return av_variant_owns(s->params.variant, row->name);
    }
    return (row->flags & AV_PARAM_VIEW) == 0 && ((row->flags & AV_PARAM_FILES) == 0 || s->from_files);
}

static void add_params(struct av_str *out, const struct av_snapshot *s)
{
    size_t count;
    const struct av_param *rows = av_params_table(&count);
    char value[AV_PARAM_SHORT_MAX];
    av_str_add(out, "\nparams\n");
    for (size_t i = 0; i < count; i++) {
        if (applies(&rows[i], s)) {
            add_line(out, rows[i].name, av_param_format_short(&rows[i], &s->params, value), "", rows[i].text);
        }
    }
    add_line(out, "alpha", av_report_text_number(s->alpha, false).text, "",
             s->by_row ? "multiplier of the scores in force, without the factor that differs from row to row"
                       : "multiplier of the scores in force");
}

static void add_weights(struct av_str *out, const struct av_snapshot *s)
{
    const double *weights = av_report_query_weights(s);
    if (weights == NULL) {
        return;
    }
    size_t shown = s->n_k < WEIGHTS_SHOWN ? s->n_k : WEIGHTS_SHOWN;
    av_str_add(out, "  weights");
    for (size_t i = 0; i < shown; i++) {
        av_str_add(out, i % WEIGHTS_A_LINE == 0 ? "\n   " : "");
        av_str_addf(out, " %11.5g", weights[i]);
    }
    av_str_add(out, "\n");
    if (shown < s->n_k) {
        av_str_addf(out, "    and %zu more: the JSON report has all\n", s->n_k - shown);
    }
}

static void add_blocks(struct av_str *out, const struct av_snapshot *s)
{
    size_t count;
    const struct av_field *fields = av_report_fields(&count);
    for (size_t i = 0; i < count;) {
        size_t end = av_report_block_end(fields, count, i);
        const char *block = fields[i].block;
        av_str_addf(out, "\n%s\n", block);
        if (!av_report_has_block(s, block)) {
            av_str_add(out, "  not known for this setting\n");
            i = end;
        }
        for (; i < end; i++) {
            add_line(out, fields[i].name, av_report_text_number(av_report_value(&fields[i], s), fields[i].whole).text,
                     av_report_unit(&fields[i], &s->params), fields[i].text);
        }
        if (strcmp(block, "query") == 0) {
            add_weights(out, s);
        }
    }
}

void av_report_text_told(struct av_str *out, const struct av_source *source)
{
    const char *told[] = { source->reading, source->unused };
    for (size_t i = 0; i < 2; i++) {
        if (told[i] != NULL) {
            av_str_add(out, "  ");
            av_report_text_wrap(out, told[i], 2, 4);
        }
    }
}

static void add_tensor(struct av_str *out, const struct av_report_part *part)
{
    const struct av_source_tensor *t = part->tensor;
    uint64_t shape[AV_SOURCE_RANK_MAX];
    for (size_t i = 0; i < t->rank; i++) {
        shape[i] = t->shape[i];
    }
    av_str_addf(out, "  %-7s  %s: %s %s", part->role, t->name, t->type, av_shape_text(shape, t->rank).text);
    if (part->bad != NULL) {
        av_str_addf(out, "; the head's: %llu NaN, %llu infinite", (unsigned long long)part->bad->nan_count,
                    (unsigned long long)part->bad->inf_count);
    }
    av_str_add(out, "\n");
}

static void add_tensors(struct av_str *out, const struct av_snapshot *s)
{
    struct av_report_part parts[AV_PARTS];
    size_t count = av_report_parts(s, s->layer, parts);
    av_str_addf(out, "\ntensors of layer %zu, head %zu\n", s->layer->number, s->head);
    for (size_t i = 0; i < count; i++) {
        add_tensor(out, &parts[i]);
    }
    av_report_text_told(out, s->source);
}

void av_report_text_state(struct av_str *out, const struct av_snapshot *s)
{
    add_verdicts(out, s);
    if (s->from_files) {
        add_tensors(out, s);
    }
    add_params(out, s);
    add_blocks(out, s);
}
