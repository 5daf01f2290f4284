/* app.h - the interactive program without its terminal.
 *
 * Keys, mouse events, ticks of a clock and sizes go in; a canvas comes out.
 * The live program, `attnviz report --keys` and the tests all drive it so. */
#ifndef ATTNVIZ_APP_H
#define ATTNVIZ_APP_H

#include "attnviz/canvas.h"
#include "attnviz/model.h"
#include "attnviz/strbuf.h"
#include "attnviz/theme.h"
#include "attnviz/view.h"

struct av_app; /* opaque: one per program, made by av_app_new */

/* Writes a canvas as a picture: av_out_svg, handed in from the layer above. */
typedef void (*av_picture)(struct av_str *out, const struct av_canvas *c, const struct av_theme *t, const char *title);

struct av_app_config {
    struct av_params params; /* checked; with files, sizes are taken from them */
    const char *view;        /* name, NULL for the first */
    const char *theme;       /* name or path, NULL for the default */
    bool animation;
    bool ascii;
    const struct av_source *source;   /* NULL without files; borrowed */
    const struct av_kernels *kernels; /* NULL: the best */
    const char *notice;               /* for the message line at the start; NULL: nothing */
    av_picture picture;               /* for `w`; NULL: it writes the numbers alone */
};

/* An app of 80 by 24 cells whose first screen is computed. AV_USAGE for an
 * unknown view; AV_FAILED or AV_NOMEM when a head cannot be read or memory
 * is out. A theme that cannot be read is no failure: the message line tells,
 * and the default stands in. The caller frees it with av_app_free; source and
 * kernels are borrowed until then, everything else is copied. */
enum av_status av_app_new(struct av_app **out, const struct av_app_config *config, struct av_error *e);
void av_app_free(struct av_app *app);

/* One key press. Unknown keys leave a hint in the message line. */
void av_app_key(struct av_app *app, uint32_t key);

/* The mouse at cell (x, y), which may lie off the screen; DRAG is a move with
 * the left button down. A press on a parameter selects it, one more on a choice
 * steps it, and a drag from there changes it: to the right up, a step a column,
 * of what doubles and of choices a step every fourth, until a key is pressed;
 * all of one drag is undone together. A press into the view, and a drag through
 * it, selects what it shows there. The wheel selects and steps the parameter under it, scrolls the
 * help, and does nothing elsewhere. Presses, and the wheel on a parameter, drop
 * what is being typed. */
enum av_mouse_kind { AV_MOUSE_PRESS, AV_MOUSE_DRAG, AV_MOUSE_WHEEL_UP, AV_MOUSE_WHEEL_DOWN };
void av_app_mouse(struct av_app *app, enum av_mouse_kind kind, int x, int y);

/* Each at least 1. AV_NOMEM: the old size stays, and the message line tells. */
enum av_status av_app_resize(struct av_app *app, int cols, int rows);

/* Time has come to now_ms (any monotonic origin): moves glides and the sweep
 * of d_k. Returns milliseconds until the next tick is wanted, -1 for never. */
int av_app_tick(struct av_app *app, uint64_t now_ms);

/* A unit of what the view computes beside the pipeline (study.h), a few
 * milliseconds; false when nothing is left to do, or the user has stopped it.
 * The loop calls it while no key waits. */
bool av_app_work(struct av_app *app);

/* Does all of it, so that a picture can be taken. A study that cannot be had with
 * these parameters is in the picture, in words; one for which memory is short, or
 * whose file fails, is a failure: av_app_status. */
void av_app_finish(struct av_app *app);

/* Ends what moves by itself, so that a picture can be taken: a glide arrives,
 * a sweep stops and d_k goes back to where it began. */
void av_app_settle(struct av_app *app);

/* Draws the current screen; recomputes only what is stale. The canvas is the
 * app's, valid until the next call. */
const struct av_canvas *av_app_draw(struct av_app *app);

/* The theme in use; the serial number, from 1 on, grows when it changes. */
const struct av_theme *av_app_theme(const struct av_app *app);
unsigned av_app_theme_serial(const struct av_app *app);

/* The numbers of the current state with at least these needs (enum av_need),
 * up to date; valid until the app is touched again. When they cannot be
 * computed, the parameters go back to what they were and the message line
 * tells why. */
const struct av_snapshot *av_app_snapshot(struct av_app *app, unsigned needs);

/* Has `tell` called with `context` before an update that will take long (a
 * third of a second and more), in whichever call it becomes due, so that the
 * loop can say so beside the old picture. NULL: nobody is told. */
void av_app_on_slow(struct av_app *app, void (*tell)(void *context), void *context);

/* The text of the message line, "" when there is none; it stays until the next
 * key. */
const char *av_app_message(const struct av_app *app);
void av_app_say(struct av_app *app, const char *fmt, ...) AV_PRINTF(2, 3);

/* AV_OK, or how something has failed since the last key began: a file was not
 * written, a state not computed. The message line tells. */
enum av_status av_app_status(const struct av_app *app);

/* What the loop around the app must do, each true once per request. */
struct av_app_wants {
    bool quit, suspend, repaint;
};
struct av_app_wants av_app_wants(struct av_app *app);

#endif
