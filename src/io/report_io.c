/* report_io.c - a report in the format asked for. */
#include "attnviz/report_io.h"

#include "report_formats.h"

#include <string.h>

size_t av_report_verdicts(const struct av_snapshot *s, const struct av_verdict *out[AV_REPORT_VERDICTS])
{
    size_t n = 0;
    for (size_t i = 0; i < s->verdict_count; i++) {
        out[n++] = &s->verdicts[i];
    }
    for (size_t i = 0; s->diagnosis != NULL && i < s->diagnosis->finding_count; i++) {
        const struct av_verdict *finding = &s->diagnosis->findings[i];
        size_t k = 0;
        while (k < s->verdict_count && strcmp(s->verdicts[k].code, finding->code) != 0) {
            k++;
        }
        if (k == s->verdict_count) {
            out[n++] = finding;
        }
    }
    return n;
}

int av_report_worst(const struct av_snapshot *s)
{
    const struct av_verdict *verdicts[AV_REPORT_VERDICTS];
    size_t count = av_report_verdicts(s, verdicts);
    int worst = -1;
    for (size_t i = 0; i < count; i++) {
        worst = (int)verdicts[i]->severity > worst ? (int)verdicts[i]->severity : worst;
    }
    return worst;
}

size_t av_report_parts(const struct av_snapshot *s, struct av_report_part parts[AV_PARTS])
{
    static const char *const roles[AV_PARTS] = { "q", "k", "scores", "weights" };
    size_t n = 0;
    for (size_t i = 0; i < AV_PARTS; i++) {
        if (s->layer->part[i].there) {
            parts[n++] = (struct av_report_part){ .role = roles[i], .tensor = &s->layer->part[i] };
            if (s->loaded != NULL) {
                parts[n - 1].bad = i == AV_PART_Q ? &s->loaded->q_bad : i == AV_PART_K ? &s->loaded->k_bad : NULL;
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
        return NULL;
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

enum av_status av_report_write(struct av_str *out, enum av_format format, const struct av_snapshot *s,
                               av_report_head head, void *ctx, struct av_error *e)
{
    static enum av_status (*const writers[AV_FORMAT_COUNT])(struct av_str *, const struct av_report_input *,
                                                            struct av_error *) = {
        [AV_FORMAT_TEXT] = av_report_text,
        [AV_FORMAT_JSON] = av_report_json,
        [AV_FORMAT_CSV] = av_report_csv,
    };
    struct av_report_input in = { .s = s, .head = s->from_files ? head : NULL, .ctx = ctx };
    enum av_status status = writers[format](out, &in, e);
    return status == AV_OK && out->failed ? av_fail_nomem(e, "report") : status;
}
