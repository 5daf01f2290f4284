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

struct av_app_config {
    struct av_params params; /* checked */
    const char *view;        /* name, NULL for the first */
    const char *theme;       /* name or path, NULL for the default */
    bool animation;
    bool ascii;
    const struct av_tensor *q, *k;    /* NULL without files; borrowed */
    const struct av_kernels *kernels; /* NULL: the best */
};

enum av_status av_app_new(struct av_app **app, const struct av_app_config *config, struct av_error *e);
void av_app_free(struct av_app *app);

/* One key press. Unknown keys leave a hint in the message line. */
void av_app_key(struct av_app *app, uint32_t key);

enum av_mouse_kind { AV_MOUSE_PRESS, AV_MOUSE_DRAG, AV_MOUSE_WHEEL_UP, AV_MOUSE_WHEEL_DOWN };
void av_app_mouse(struct av_app *app, enum av_mouse_kind kind, int x, int y);

/* Pasted or typed text, key by key. */
void av_app_resize(struct av_app *app, int cols, int rows); /* each at least 1 */

/* Time has come to now_ms (any monotonic origin): moves glides and the sweep
 * of d_k. Returns milliseconds until the next tick is wanted, -1 for never. */
int av_app_tick(struct av_app *app, uint64_t now_ms);

/* Brings every glide to its end, as a snapshot wants it. */
void av_app_settle(struct av_app *app);

/* Draws the current screen; recomputes only what is stale. The canvas is the
 * app's, valid until the next call. */
const struct av_canvas *av_app_draw(struct av_app *app);

const struct av_theme *av_app_theme(const struct av_app *app);
const struct av_snapshot *av_app_snapshot(struct av_app *app, unsigned needs);

/* What the loop around the app must do, each true once per request. */
struct av_app_wants {
    bool quit, suspend, repaint;
};
struct av_app_wants av_app_wants(struct av_app *app);

#endif
