/* report_csv.c - a report as a header line and a row, or a row per head.
 *
 * Columns are block.field; what is not known is empty. The query's weights,
 * as many as there are keys, stay out. */
#include "csv.h"
#include "report_formats.h"

#include <math.h>

static void add_name(struct av_str *out, const char *block, const char *name)
{
    av_csv_comma(out);
    av_str_addf(out, "%s.%s", block, name);
}

void av_report_csv_header(struct av_str *out, bool files)
{
    size_t params;
    size_t count;
    const struct av_param *rows = av_params_table(&params);
    const struct av_field *fields = av_report_fields(&count);
    av_str_add(out, files ? "layer,head,k_head" : "");
    for (size_t i = 0; i < params; i++) {
        add_name(out, "params", rows[i].name);
    }
    add_name(out, "params", "alpha");
    for (size_t i = 0; i < count; i++) {
        add_name(out, fields[i].block, fields[i].name);
    }
    av_str_add(out, "\n");
}

static void add_params(struct av_str *out, const struct av_snapshot *s)
{
    size_t count;
    const struct av_param *rows = av_params_table(&count);
    struct av_str text = AV_STR_INIT;
    for (size_t i = 0; i < count; i++) {
        av_str_clear(&text);
        if (rows[i].kind != AV_PARAM_LOGITS || s->params.logits.n > 0) {
            av_param_format(&rows[i], &s->params, &text);
        }
        out->failed = out->failed || text.failed;
        av_csv_text(out, av_str_text(&text));
    }
    av_str_free(&text);
    av_csv_number(out, s->alpha, false);
}

void av_report_csv_row(struct av_str *out, const struct av_snapshot *s)
{
    size_t count;
    const struct av_field *fields = av_report_fields(&count);
    if (s->from_files) {
        av_str_addf(out, "%zu,%zu,%zu", s->layer->number, s->head, s->k_head);
    }
    add_params(out, s);
    for (size_t i = 0; i < count; i++) {
        bool known = av_report_has_block(s, fields[i].block);
        av_csv_number(out, known ? fields[i].get(s) : (double)NAN, fields[i].whole);
    }
    av_str_add(out, "\n");
}

enum av_status av_report_csv(struct av_str *out, const struct av_report_input *in, struct av_error *e)
{
    av_report_csv_header(out, in->s->from_files);
    if (in->head == NULL) {
        av_report_csv_row(out, in->s);
        return AV_OK;
    }
    size_t heads = av_source_heads(in->s->source);
    for (size_t i = 0; i < heads; i++) {
        const struct av_snapshot *s = in->head(in->ctx, i, e);
        if (s == NULL) {
            return AV_FAILED;
        }
        av_report_csv_row(out, s);
    }
    return AV_OK;
}
