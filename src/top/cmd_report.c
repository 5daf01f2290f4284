/* cmd_report.c - `attnviz report`: every number, without a terminal. */
#include "attnviz/outfile.h"
#include "attnviz/report_io.h"
#include "commands.h"
#include "inputs.h"

/* The heads of a report, and the severity of the worst that was said. */
struct watched {
    struct av_report_heads heads;
    int worst;
};

static void watch(struct watched *w, const struct av_snapshot *s)
{
    int worst = s != NULL ? av_report_worst(s) : -1;
    w->worst = worst > w->worst ? worst : w->worst;
}

static const struct av_snapshot *watched_head(void *ctx, size_t i, struct av_error *e)
{
    struct watched *w = ctx;
    const struct av_snapshot *s = av_report_model_head(&w->heads, i, e);
    watch(w, s);
    return s;
}

static enum av_status write_report(struct av_str *out, struct watched *w, struct av_model *model,
                                   const struct av_inputs *in, const struct av_options *o, struct av_error *e)
{
    av_model_use_source(model, in->source);
    w->heads = (struct av_report_heads){ model, in->source, in->params };
    enum av_status s = av_model_update(model, &in->params, AV_REPORT_NEEDS, e);
    if (s == AV_OK) {
        s = av_model_diagnose(model, e);
    }
    if (s == AV_OK) {
        watch(w, av_model_snapshot(model));
        s = av_report_write(out, (enum av_format)o->format, av_model_snapshot(model), watched_head, w, e);
    }
    return s;
}

enum av_status av_cmd_report(const struct av_options *o, struct av_error *e)
{
    struct av_inputs in;
    struct av_model *model = NULL;
    struct av_str out = AV_STR_INIT;
    struct watched watched = { .worst = -1 };
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
    if (s == AV_OK && o->fail_on >= 0 && watched.worst >= o->fail_on) {
        s = AV_FOUND;
    }
    av_str_free(&out);
    av_model_free(model);
    av_inputs_free(&in);
    return s;
}
