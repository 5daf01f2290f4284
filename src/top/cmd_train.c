/* cmd_train.c - `attnviz train`: the training experiment, without a terminal. */
#include "attnviz/outfile.h"
#include "attnviz/train_io.h"
#include "commands.h"
#include "inputs.h"
#include "interrupt.h"
#include "progress.h"
#include "run_depth.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

/* An experiment on its way out. */
struct job {
    struct av_train *train;
    const struct av_params *params;
    enum av_format format;
    const char *output;
    bool stream;    /* rows are written as epochs end */
    size_t written; /* epochs that are */
};

static bool is_standard_output(const char *output)
{
    return output == NULL || strcmp(output, "-") == 0;
}

/* Nobody reads on: av_outfile_write succeeds then, in silence. */
static bool reader_is_gone(void)
{
    struct pollfd fd = { .fd = STDOUT_FILENO };
    return poll(&fd, 1, 0) > 0 && (fd.revents & POLLERR) != 0;
}

static size_t epochs_done(const struct av_train *t)
{
    size_t scaled = av_train_run(t, AV_TWIN_SCALED)->epoch_count;
    size_t unscaled = av_train_run(t, AV_TWIN_UNSCALED)->epoch_count;
    return scaled > unscaled ? scaled : unscaled;
}

/* Rows of the epochs that have ended since the last call; before the first,
 * the header. */
static enum av_status write_rows(struct job *job, bool header, struct av_error *e)
{
    size_t done = epochs_done(job->train);
    if (!job->stream || (done == job->written && !header)) {
        return AV_OK;
    }
    struct av_str rows = AV_STR_INIT;
    if (header) {
        av_train_csv_header(&rows);
    }
    av_train_csv_rows(&rows, job->train, job->written, done);
    job->written = done;
    enum av_status s =
        rows.failed ? av_fail_nomem(e, "the rows") : av_outfile_write(NULL, rows.text, rows.len, true, e);
    av_str_free(&rows);
    return s;
}

/* To the end, until C-c, or until nobody reads. */
static enum av_status run(struct job *job, struct av_error *e)
{
    const double total = (double)av_train_steps_total(job->train);
    struct av_progress progress;
    enum av_status s = write_rows(job, true, e);
    av_progress_begin(&progress, "train");
    progress.on = progress.on && !(job->stream && isatty(STDOUT_FILENO)); /* they would mix */
    while (s == AV_OK && !(job->stream && reader_is_gone()) && av_train_step(job->train)) {
        s = write_rows(job, false, e);
        if (s == AV_OK && av_interrupt_asked()) {
            s = AV_INTERRUPTED;
        }
        av_progress_steps(&progress, (double)av_train_steps(job->train), total);
    }
    av_progress_end(&progress);
    return s;
}

/* What a run that diverged makes of the exit status. */
static enum av_status judge(const struct av_train *t, struct av_error *e)
{
    struct av_str text = AV_STR_INIT;
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        const struct av_train_run *run = av_train_run(t, twin);
        if (run->state == AV_TRAIN_DIVERGED) {
            av_str_addf(&text, "%s%s at step %llu", text.len > 0 ? ", " : "", av_twin_name(twin),
                        (unsigned long long)run->steps + 1);
        }
    }
    bool diverged = text.len > 0;
    if (diverged) {
        av_fail(e, AV_FAILED, "training diverged, loss or gradient not finite: %s", text.text);
    }
    av_str_free(&text);
    return diverged ? AV_FAILED : AV_OK;
}

/* Everything at once, where it is not written as it comes. */
static enum av_status write_whole(const struct job *job, struct av_error *e)
{
    struct av_str out = AV_STR_INIT;
    enum av_status s = av_train_write(&out, job->format, job->train, job->params, e);
    if (s == AV_OK) {
        s = av_outfile_write(job->output, out.text, out.len, true, e);
    }
    av_str_free(&out);
    return s;
}

static enum av_status train(const struct av_params *p, const struct av_options *o, struct av_error *e)
{
    struct av_train_config config;
    struct job job = { .params = p, .format = (enum av_format)o->format, .output = o->output };
    enum av_status s = av_train_configure(&config, p, e);
    if (s == AV_OK) {
        s = av_train_new(&job.train, &config, NULL, e);
    }
    if (s != AV_OK) {
        return s;
    }
    job.stream = job.format == AV_FORMAT_CSV && is_standard_output(o->output);
    av_interrupt_begin();
    enum av_status how = run(&job, e);
    bool ended = how == AV_OK || how == AV_INTERRUPTED;
    if (ended && !job.stream) {
        s = write_whole(&job, e);
    }
    s = s == AV_OK ? how : s;
    if (s == AV_OK) {
        s = judge(job.train, e);
    }
    av_train_free(job.train);
    return s;
}

enum av_status av_cmd_train(const struct av_options *o, struct av_error *e)
{
    struct av_inputs in;
    enum av_status s = av_inputs_read(&in, o, e);
    if (s == AV_OK) {
        s = av_inputs_press(&in, o, e);
    }
    if (s == AV_OK) {
        s = (in.params.task == AV_TASK_DEPTH ? av_run_depth : train)(&in.params, o, e);
    }
    av_inputs_free(&in);
    return s;
}
