/* cmd_live.c - `attnviz`: the interactive program. */
#include "attnviz/terminal.h"
#include "commands.h"
#include "inputs.h"

enum av_status av_cmd_live(const struct av_options *o, struct av_error *e)
{
    struct av_inputs in;
    struct av_app *app = NULL;
    enum av_status s = av_inputs_read(&in, o, e);
    if (s == AV_OK) {
        s = av_inputs_app(&app, &in, o, av_options_ascii(o), e);
    }
    if (s == AV_OK) {
        struct av_terminal_config config = { o->depth_auto ? AV_DEPTH_TRUE : o->depth, o->mouse };
        s = av_terminal_run(app, &config, e);
    }
    av_app_free(app);
    av_inputs_free(&in);
    return s;
}
