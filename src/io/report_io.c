/* report_io.c - a report in the format asked for. */
#include "attnviz/report_io.h"

#include "report_formats.h"

#include <string.h>

/* What was found not finite in a part of the head; NULL when it was not read. */
static const struct av_not_finite *bad_of(const struct av_loaded_head *head, enum av_part part)
{
    if (head->from != AV_PART_Q) {
        return part == head->from ? &head->given_bad : NULL;
    }
    return part == AV_PART_Q ? &head->q_bad : part == AV_PART_K ? &head->k_bad : NULL;
}

bool av_report_has_param(const struct av_snapshot *s, const struct av_param *row)
{
    return s->from == AV_PART_Q || strcmp(row->name, "d_k") != 0;
}

size_t av_report_parts(const struct av_snapshot *s, const struct av_source_layer *layer,
                       struct av_report_part parts[AV_PARTS])
{
    static const char *const roles[AV_PARTS] = { "q", "k", "scores", "weights" };
    size_t n = 0;
    for (size_t i = 0; i < AV_PARTS; i++) {
        if (layer->part[i].there) {
            parts[n++] = (struct av_report_part){ .role = roles[i], .tensor = &layer->part[i] };
            if (s->loaded != NULL && layer == s->layer) {
                parts[n - 1].bad = bad_of(s->loaded, (enum av_part)i);
            }
        }
    }
    return n;
}

size_t av_report_block_end(const struct av_field *fields, size_t count, size_t i)
{
    size_t end = i + 1;
    while (end < count && strcmp(fields[end].block, fields[i].block) == 0) {
        end++;
    }
    return end;
}

const char *av_report_severity(enum av_severity severity)
{
    static const char *const names[] = { [AV_INFO] = "info", [AV_WARN] = "warn", [AV_BAD] = "bad" };
    return names[severity];
}

const double *av_report_query_weights(const struct av_snapshot *s)
{
    size_t query = (size_t)s->params.query;
    if (s->weights == NULL || s->invalid[query] || s->rows[query].keys == 0) {
        return s->query_weights;
    }
    return s->weights + query * s->n_k;
}

void av_report_place(struct av_report_heads *heads, size_t i)
{
    size_t layer;
    size_t head;
    av_source_place(heads->source, i, &layer, &head);
    heads->params.layer = (int64_t)layer;
    heads->params.head = (int64_t)head;
    av_params_from_source(&heads->params, heads->source);
    av_params_clamp(&heads->params); /* another layer may have fewer queries and keys */
}

const struct av_snapshot *av_report_model_head(void *ctx, size_t i, struct av_error *e)
{
    struct av_report_heads *heads = ctx;
    av_report_place(heads, i);
    enum av_status s = av_model_update(heads->model, &heads->params, AV_REPORT_NEEDS, e);
    if (s == AV_OK) {
        s = av_model_diagnose(heads->model, e);
    }
    return s == AV_OK ? av_model_snapshot(heads->model) : NULL;
}

/* ---- All heads ---------------------------------------------------------------- */

static const struct av_report_writer *const WRITERS[AV_FORMAT_COUNT] = {
    [AV_FORMAT_TEXT] = &av_report_text,
    [AV_FORMAT_JSON] = &av_report_json,
    [AV_FORMAT_CSV] = &av_report_csv,
};

/* The row of the head that s is of is written first, for s ends with the next
 * head, and takes its place among the others later: no head is computed twice. */
static enum av_status add_heads(struct av_report_sheet *sheet, const struct av_report_writer *writer,
                                const struct av_snapshot *s, av_report_head head, void *ctx, struct av_error *e)
{
    struct av_str row = AV_STR_INIT;
    const size_t own = av_source_index(s->source, (size_t)s->params.layer, s->head);
    const size_t heads = av_source_heads(s->source);
    enum av_status status = AV_OK;
    writer->row(&row, s, own);
    av_findings_add(&sheet->found, s, own);
    for (size_t i = 0; i < heads && status == AV_OK; i++) {
        if (i == own) {
            av_str_addn(&sheet->rows, av_str_text(&row), row.len);
            continue;
        }
        const struct av_snapshot *other = head(ctx, i, e);
        if (other != NULL) {
            writer->row(&sheet->rows, other, i);
            av_findings_add(&sheet->found, other, i);
        }
        status = other != NULL ? AV_OK : AV_FAILED;
    }
    sheet->rows.failed = sheet->rows.failed || row.failed;
    av_str_free(&row);
    return status;
}

enum av_status av_report_write(struct av_str *out, enum av_format format, const struct av_snapshot *s,
                               av_report_head head, void *ctx, struct av_findings *found, struct av_error *e)
{
    const struct av_report_writer *writer = WRITERS[format];
    struct av_report_sheet sheet = { AV_STR_INIT, AV_STR_INIT, AV_STR_INIT, s->from_files, false, { 0 } };
    enum av_status status = AV_OK;
    writer->state(&sheet, s);
    sheet.has_heads = s->from_files && head != NULL;
    if (sheet.has_heads) {
        status = add_heads(&sheet, writer, s, head, ctx, e);
    } else {
        av_findings_add(&sheet.found, s, 0);
    }
    if (status == AV_OK) {
        writer->join(out, &sheet);
        out->failed = out->failed || sheet.first.failed || sheet.state.failed || sheet.rows.failed;
        status = out->failed ? av_fail_nomem(e, "report") : AV_OK;
    }
    if (found != NULL) {
        *found = sheet.found;
    }
    av_str_free(&sheet.first);
    av_str_free(&sheet.state);
    av_str_free(&sheet.rows);
    return status;
}
