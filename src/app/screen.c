/* screen.c - the parts of the screen: the view, the parameters, the bottom line. */
#include "app_state.h"

#include "attnviz/plot.h"

enum {
    PANEL_W = 30,     /* columns of the list at the right, with its rule */
    PANEL_COLS = 120, /* a screen of this width has it */
    PANEL_ROWS = 12,  /* and of this height */
    TALL_ROWS = 30,   /* a screen of this height shows all parameters in lines */
    TALL_LINES = 6,   /* at most */
    PARAMS_LEAST = 3, /* lines of a screen that has a line of parameters */
    BOTTOM_LEAST = 2  /* lines of a screen that has a bottom line */
};

struct av_screen av_screen_layout(const struct av_app *app)
{
    int cols = app->canvas.cols, rows = app->canvas.rows;
    struct av_screen l = { .body = { 0, 0, cols, rows } };
    if (rows >= BOTTOM_LEAST) {
        l.bottom = (struct av_rect){ 0, rows - 1, cols, 1 };
        l.body.h--;
    }
    if (cols >= PANEL_COLS && rows >= PANEL_ROWS) {
        l.panel = true;
        l.body.w -= PANEL_W + 1; /* and a blank between */
        l.params = (struct av_rect){ cols - PANEL_W, 0, PANEL_W, l.body.h };
    } else if (rows >= PARAMS_LEAST) {
        int lines = rows >= TALL_ROWS ? av_param_list_lines(app, cols) : 1;
        lines = lines > TALL_LINES ? TALL_LINES : lines;
        l.body.h -= lines;
        l.params = (struct av_rect){ 0, l.body.h, cols, lines };
    }
    return l;
}

void av_screen_draw(struct av_app *app, const struct av_snapshot *s)
{
    struct av_canvas *c = &app->canvas;
    struct av_screen l = av_screen_layout(app);
    av_canvas_clear(c);
    struct av_rect whole = av_plot_enter(c, l.body);
    if (app->mode == AV_MODE_HELP) {
        av_help_draw(app, l.body);
    } else {
        const struct av_view_context ctx = {
            .snapshot = s,
            .ghost = &app->ghost,
            .state = &app->states[app->view_index],
            .study = av_work_result(app),
            .progress = av_work_progress(app),
            .rate = app->work.rate,
            .stopped = av_work_stopped(app),
            .full = true,
        };
        app->view->draw(c, l.body, &ctx);
        av_work_want(app, l.body);
    }
    av_canvas_clip(c, whole);
    app->hit_count = 0;
    av_param_list_draw(app, l.params, l.panel);
    if (l.bottom.h == 0 && (app->message[0] != '\0' || app->mode == AV_MODE_EDIT)) {
        /* A single line: what is being said comes before the picture. */
        l.bottom = l.body;
        av_canvas_clear(c);
    }
    av_bottom_draw(app, l.bottom);
}
