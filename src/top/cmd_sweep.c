/* cmd_sweep.c - `attnviz sweep`: a report per value of one parameter. */
#include "attnviz/outfile.h"
#include "attnviz/sweep_io.h"
#include "commands.h"
#include "inputs.h"
#include "progress.h"

/* One model for all values: what a step leaves standing is not computed again. */
static enum av_status add_values(struct av_sweep_out *w, struct av_model *model, struct av_params *p,
                                 struct av_error *e)
{
    const struct av_over *over = w->over;
    struct av_progress progress;
    enum av_status s = AV_OK;
    av_progress_begin(&progress, "sweep");
    for (size_t i = 0; s == AV_OK && i < over->steps; i++) {
        if (av_over_repeats(over, i)) {
            continue;
        }
        av_progress_show(&progress, (double)i / (double)over->steps);
        av_param_set(over->row, p, av_over_value(over, i));
        s = av_model_update(model, p, AV_REPORT_NEEDS, e);
        if (s == AV_OK) {
            s = av_sweep_add(w, av_model_snapshot(model), e);
        }
    }
    av_progress_end(&progress);
    return s;
}

static enum av_status write_sweep(struct av_str *out, enum av_format format, const struct av_over *over,
                                  struct av_params *p, struct av_error *e)
{
    struct av_model *model;
    struct av_sweep_out w;
    enum av_status s = av_model_new(&model, NULL, e);
    if (s != AV_OK) {
        return s;
    }
    av_sweep_begin(&w, out, format, over, p);
    s = add_values(&w, model, p, e);
    av_model_free(model);
    return s == AV_OK ? av_sweep_end(&w, e) : s;
}

enum av_status av_cmd_sweep(const struct av_options *o, struct av_error *e)
{
    struct av_inputs in;
    struct av_over over;
    struct av_str out = AV_STR_INIT;
    enum av_status s = av_inputs_read(&in, o, e);
    if (s == AV_OK) {
        s = av_inputs_press(&in, o, e);
    }
    if (s == AV_OK) {
        s = o->over != NULL ? av_over_parse(&over, o->over, &in.params, e)
                            : av_fail(e, AV_USAGE, "--over: " AV_OVER_FORM " is missing; it says what to sweep");
    }
    if (s == AV_OK) {
        s = write_sweep(&out, (enum av_format)o->format, &over, &in.params, e);
    }
    if (s == AV_OK) {
        s = av_outfile_write(o->output, out.text, out.len, true, e);
    }
    av_str_free(&out);
    av_inputs_free(&in);
    return s;
}
