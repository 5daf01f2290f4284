/* cmd_facts.c - `attnviz facts`: claims about the scale, put to the test. */
#include "attnviz/facts_io.h"
#include "attnviz/outfile.h"
#include "attnviz/study.h"
#include "commands.h"
#include "inputs.h"
#include "progress.h"

/* Runs the study to its end. */
static enum av_status measure(struct av_studies *studies, const struct av_study *study, const struct av_params *p,
                              struct av_error *e)
{
    struct av_progress progress;
    enum av_status s = av_studies_ask(studies, study, p, e);
    if (s != AV_OK) {
        return s;
    }
    av_progress_begin(&progress, "facts");
    do {
        av_progress_show(&progress, av_studies_progress(studies, study));
    } while (av_studies_step(studies, study));
    av_progress_end(&progress);
    return AV_OK;
}

static enum av_status write_facts(struct av_str *out, enum av_format format, const struct av_params *p,
                                  struct av_error *e)
{
    const struct av_study *study = av_study_find("facts");
    struct av_studies *studies;
    enum av_status s = av_studies_new(&studies, NULL, e);
    if (s != AV_OK) {
        return s;
    }
    s = measure(studies, study, p, e);
    if (s == AV_OK) {
        s = av_facts_write(out, format, av_studies_result(studies, study), e);
    }
    av_studies_free(studies);
    return s;
}

enum av_status av_cmd_facts(const struct av_options *o, struct av_error *e)
{
    struct av_inputs in;
    struct av_str out = AV_STR_INIT;
    enum av_status s = av_inputs_read(&in, o, e);
    if (s == AV_OK) {
        s = av_inputs_press(&in, o, e);
    }
    if (s == AV_OK) {
        s = write_facts(&out, (enum av_format)o->format, &in.params, e);
    }
    if (s == AV_OK) {
        s = av_outfile_write(o->output, out.text, out.len, true, e);
    }
    av_str_free(&out);
    av_inputs_free(&in);
    return s;
}
