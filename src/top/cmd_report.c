/* cmd_report.c - `attnviz report`: every number, without a terminal. */
#include "attnviz/outfile.h"
#include "attnviz/report_io.h"
#include "commands.h"
#include "inputs.h"

static enum av_status write_report(struct av_str *out, struct av_model *model, const struct av_inputs *in,
                                   const struct av_options *o, struct av_error *e)
{
    av_model_use_source(model, in->source);
    enum av_status s = av_model_update(model, &in->params, AV_REPORT_NEEDS, e);
    if (s == AV_OK) {
        struct av_report_heads heads = { model, in->source, in->params };
        s = av_report_write(out, (enum av_format)o->format, av_model_snapshot(model), av_report_model_head, &heads, e);
    }
    return s;
}

enum av_status av_cmd_report(const struct av_options *o, struct av_error *e)
{
    struct av_inputs in;
    struct av_model *model = NULL;
    struct av_str out = AV_STR_INIT;
    enum av_status s = av_inputs_read(&in, o, e);
    if (s == AV_OK) {
        s = av_inputs_press(&in, o, e);
    }
    if (s == AV_OK) {
        s = av_model_new(&model, NULL, e);
    }
    if (s == AV_OK) {
        s = write_report(&out, model, &in, o, e);
    }
    if (s == AV_OK) {
        s = av_outfile_write(o->output, out.text, out.len, true, e);
    }
    av_str_free(&out);
    av_model_free(model);
    av_inputs_free(&in);
    return s;
}
