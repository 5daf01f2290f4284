/* inputs.h - from options to parameters and files that fit together. */
#ifndef ATTNVIZ_INPUTS_H
#define ATTNVIZ_INPUTS_H

#include "attnviz/adopt.h"
#include "attnviz/app.h"
#include "attnviz/files.h"
#include "options.h"

struct av_inputs {
    struct av_files *files; /* NULL without */
    const struct av_source *source;
    struct av_params params;      /* checked */
    char adopted[AV_ADOPTED_MAX]; /* what the file's weights have set of them, in words; "": nothing */
};

/* Opens the files, takes their sizes and, where they tell, the settings that
 * their weights were made with (adopt.h), and checks every parameter. The caller
 * calls av_inputs_free in every case. */
enum av_status av_inputs_read(struct av_inputs *in, const struct av_options *o, struct av_error *e);
void av_inputs_free(struct av_inputs *in);

/* An app of these inputs, of the size asked for, with the keys of --keys
 * pressed. The inputs must outlive it; the caller frees it. A theme that
 * cannot be loaded is told on standard error, and the default taken. */
enum av_status av_inputs_app(struct av_app **app, const struct av_inputs *in, const struct av_options *o, bool ascii,
                             struct av_error *e);

/* What the app has to tell of, if that is a failure: a state or a study that
 * was not computed. */
enum av_status av_inputs_app_status(const struct av_app *app, struct av_error *e);

/* Replaces the parameters by those that --keys leads to, if any were given. */
enum av_status av_inputs_press(struct av_inputs *in, const struct av_options *o, struct av_error *e);

#endif
