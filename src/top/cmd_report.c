/* cmd_report.c - `attnviz report`: every number, without a terminal. */
#include "attnviz/outfile.h"
#include "attnviz/report_io.h"
#include "commands.h"
#include "inputs.h"
#include "long_head.h"

/* The heads of a report while they are computed. */
struct watched {
    struct av_report_heads heads;
    struct av_long_head long_head;
    struct av_heads_progress progress;
    enum av_status status; /* of the last head */
    struct av_findings found;
};

/* One head, with its diagnosis; files: heads may be too long to be held. */
static const struct av_snapshot *compute(struct watched *w, const struct av_params *p, struct av_error *e)
{
    struct av_model *model = w->heads.model;
    av_heads_progress_head(&w->progress, (size_t)p->layer);
    if (w->heads.source != NULL && av_long_head_is(w->heads.source, p)) {
        return av_long_head(&w->long_head, w->heads.source, p, &w->progress, &w->status, e);
    }
    w->status = av_model_update(model, p, AV_REPORT_NEEDS, e);
    if (w->status == AV_OK) {
        w->status = av_model_diagnose(model, e);
    }
    return w->status == AV_OK ? av_model_snapshot(model) : NULL;
}

static const struct av_snapshot *watched_head(void *ctx, size_t i, struct av_error *e)
{
    struct watched *w = ctx;
    av_report_place(&w->heads, i);
    return compute(w, &w->heads.params, e);
}

static enum av_status write_report(struct av_str *out, struct watched *w, struct av_model *model,
                                   const struct av_inputs *in, const struct av_options *o, struct av_error *e)
{
    av_model_use_source(model, in->source);
    w->heads = (struct av_report_heads){ model, in->source, in->params };
    if (in->source != NULL) {
        av_heads_progress_begin(&w->progress, in->source);
    }
    const struct av_snapshot *s = compute(w, &in->params, e);
    enum av_status status = AV_FAILED;
    if (s != NULL) {
        status = av_report_write(out, (enum av_format)o->format, s, watched_head, w, &w->found, e);
    }
    av_heads_progress_end(&w->progress);
    return w->status != AV_OK ? w->status : status;
}

/* Does --fail-on forbid what was found? *e says what that is. */
static enum av_status judge(const struct av_findings *found, int fail_on, struct av_error *e)
{
    if (fail_on < 0 || av_findings_worst(found) < fail_on) {
        return AV_OK;
    }
    struct av_str words = AV_STR_INIT;
    av_findings_words(&words, found, (enum av_severity)fail_on);
    av_fail(e, AV_FOUND, "--fail-on %s: %s", fail_on == AV_BAD ? "bad" : "warn", av_str_text(&words));
    av_str_free(&words);
    return AV_FOUND;
}

enum av_status av_cmd_report(const struct av_options *o, struct av_error *e)
{
    struct av_inputs in;
    struct av_model *model = NULL;
    struct av_str out = AV_STR_INIT;
    struct watched watched = { 0 };
    enum av_status s = av_inputs_read(&in, o, e);
    if (s == AV_OK) {
        s = av_inputs_press(&in, o, e);
    }
    if (s == AV_OK) {
        s = av_model_new(&model, NULL, e);
    }
    if (s == AV_OK) {
        s = write_report(&out, &watched, model, &in, o, e);
    }
    if (s == AV_OK) {
        s = av_outfile_write(o->output, out.text, out.len, true, e);
    }
    if (s == AV_OK) {
        s = judge(&watched.found, o->fail_on, e);
    }
    av_str_free(&out);
    av_long_head_free(&watched.long_head);
    av_model_free(model);
    av_inputs_free(&in);
    return s;
}
