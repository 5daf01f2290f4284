/* run_depth.c - `attnviz train --set task=depth`: stacks of layers, without a terminal. */
#include "run_depth.h"

#include "attnviz/depth_io.h"
#include "attnviz/outfile.h"
#include "attnviz/study.h"
#include "interrupt.h"
#include "progress.h"

static bool is_complete(const struct av_depth_study *study)
{
    return study->twins[0]->done == AV_DEPTH_SEEDS && study->twins[1]->done == AV_DEPTH_SEEDS;
}

/* The twins; the table of the view is not wanted. */
static enum av_status run(struct av_studies *studies, const struct av_study *depth)
{
    const struct av_depth_study *study = av_studies_result(studies, depth);
    struct av_progress progress;
    enum av_status s = AV_OK;
    av_progress_begin(&progress, "depth");
    while (s == AV_OK && !is_complete(study) && av_studies_step(studies, depth)) {
        s = av_interrupt_asked() ? AV_INTERRUPTED : AV_OK;
        av_progress_show(&progress, (double)(study->twins[0]->done + study->twins[1]->done) / (2 * AV_DEPTH_SEEDS));
    }
    av_progress_end(&progress);
    return s;
}

static enum av_status write_whole(const struct av_depth_study *study, const struct av_options *o, struct av_error *e)
{
    struct av_str out = AV_STR_INIT;
    enum av_status s = av_depth_write(&out, (enum av_format)o->format, study, e);
    if (s == AV_OK) {
        s = av_outfile_write(o->output, out.text, out.len, true, e);
    }
    av_str_free(&out);
    return s;
}

enum av_status av_run_depth(const struct av_params *p, const struct av_options *o, struct av_error *e)
{
    const struct av_study *depth = av_study_find("depth");
    struct av_studies *studies = NULL;
    enum av_status s = av_studies_new(&studies, NULL, e);
    if (s == AV_OK) {
        s = av_studies_ask(studies, depth, p, e);
    }
    if (s == AV_OK) {
        av_interrupt_begin();
        const enum av_status how = run(studies, depth);
        s = write_whole(av_studies_result(studies, depth), o, e);
        s = s == AV_OK ? how : s;
    }
    av_studies_free(studies);
    return s;
}
