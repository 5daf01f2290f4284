/* cmd_snapshot.c - `attnviz snapshot`: one screen as text, ANSI or SVG. */
#include "attnviz/outfile.h"
#include "commands.h"
#include "inputs.h"

/* In the order of the command's formats. */
enum { TEXT, ANSI, SVG };

static void write_screen(struct av_str *out, struct av_app *app, const struct av_options *o)
{
    const struct av_canvas *canvas = av_app_draw(app);
    const struct av_theme *theme = av_app_theme(app);
    switch (o->format) {
    case SVG:
        av_out_svg(out, canvas, theme, "attnviz");
        break;
    case ANSI:
        av_out_ansi(out, canvas, theme, o->depth);
        break;
    default:
        av_out_text(out, canvas);
        break;
    }
}

enum av_status av_cmd_snapshot(const struct av_options *o, struct av_error *e)
{
    struct av_inputs in;
    struct av_app *app = NULL;
    struct av_str out = AV_STR_INIT;
    /* An SVG says that it is UTF-8, whatever this terminal's locale. */
    bool ascii = o->format == SVG ? o->charset == AV_CHARSET_ASCII : av_options_ascii(o);
    enum av_status s = av_inputs_read(&in, o, e);
    if (s == AV_OK) {
        s = av_inputs_app(&app, &in, o, ascii, e);
    }
    if (s == AV_OK) {
        av_app_finish(app);
        write_screen(&out, app, o);
        s = out.failed ? av_fail_nomem(e, "the screen") : av_inputs_app_status(app, e);
    }
    if (s == AV_OK) {
        s = av_outfile_write(o->output, out.text, out.len, true, e);
    }
    av_str_free(&out);
    av_app_free(app);
    av_inputs_free(&in);
    return s;
}
