/* view_training.c - twin runs of the training experiment, with and without the scale.
 *
 * Uses of the view's state: page 0 is epochs, page 1 the first steps; col the
 * number of the record under the cursor, 0 the latest; quantity the plot that
 * comes first; zoom 1 shows it alone. */
#include "panels_training.h"

enum {
    SIDE_FROM_W = 72, /* from here on weights and table stand beside the curves */
    SIDE_MOST_W = 60,
    FINDINGS_H = 2,
    FINDINGS_TALL_H = 3,
    TALL_H = 30,
    CURVES_LEAST_H = 8, /* above a table */
    JUMPS = 10          /* to go through the whole history */
};

static struct av_training_look look_of(const struct av_view_state *s)
{
    return (struct av_training_look){
        .series = s->page == 1 ? AV_TRAINING_STEPS : AV_TRAINING_EPOCHS,
        .number = s->col > 0 ? (size_t)s->col : 0,
        .first = s->quantity,
        .alone = s->zoom > 0,
    };
}

/* ---- Where things stand ------------------------------------------------------------ */

struct places {
    struct av_rect head, curves, weights, table, findings;
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static struct places place(struct av_rect r, const struct av_training *t)
{
    struct places p = { .head = { r.x, r.y, r.w, least(r.h, av_panel_training_head_h(t)) } };
    const int findings = r.h >= TALL_H ? FINDINGS_TALL_H : FINDINGS_H;
    struct av_rect body = { r.x, r.y + p.head.h, r.w, r.h - p.head.h };
    if (body.h > findings + CURVES_LEAST_H / 2) {
        body.h -= findings;
        p.findings = (struct av_rect){ r.x, body.y + body.h, r.w, findings };
    }
    p.curves = body;
    if (r.w >= SIDE_FROM_W) {
        int w = r.w * 2 / 5 < SIDE_MOST_W ? r.w * 2 / 5 : SIDE_MOST_W;
        w = w > AV_TRAINING_TABLE_W ? w : AV_TRAINING_TABLE_W;
        p.curves.w -= w + 1;
        p.weights = (struct av_rect){ body.x + body.w - w, body.y, w, body.h - AV_TRAINING_TABLE_LEAST_H - 1 };
        p.weights.h = least(p.weights.h, av_panel_training_weights_h(p.weights, t));
        p.table = (struct av_rect){ p.weights.x, body.y + p.weights.h, w, body.h - p.weights.h };
    } else if (body.w >= AV_TRAINING_TABLE_W && body.h >= CURVES_LEAST_H + AV_TRAINING_TABLE_LEAST_H) {
        const int h = body.h - CURVES_LEAST_H;
        p.table = (struct av_rect){ body.x, body.y + body.h - h, body.w, h };
        p.curves.h -= h;
    }
    return p;
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_training *t = ctx->study;
    struct av_rect clip = av_plot_enter(c, r);
    if (t == NULL) {
        av_panel_training_refused(c, r, &ctx->snapshot->params);
        av_canvas_clip(c, clip);
        return;
    }
    r = av_panel_unused(c, r, ctx->snapshot, "arithmetic of training", true);
    const struct places p = place(r, t);
    const struct av_training_look look = look_of(ctx->state);
    av_panel_training_head(c, p.head, ctx);
    av_panel_training_curves(c, p.curves, t, &look);
    av_panel_training_weights(c, p.weights, t, &look);
    av_panel_training_table(c, p.table, t, &look);
    av_panel_training_findings(c, p.findings, t);
    av_canvas_clip(c, clip);
}

/* ---- Scrubbing ------------------------------------------------------------------------ */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Moves the cursor by records; behind the last one it is at the latest again. */
static void scrub(struct av_view_edit *e, int64_t records)
{
    const struct av_training *t = e->study;
    if (t == NULL) {
        return;
    }
    const enum av_training_series series = look_of(e->state).series;
    const struct av_training_curve *a = &t->runs[0].curves[series], *b = &t->runs[1].curves[series];
    const int64_t stride = (int64_t)larger(larger(a->stride, b->stride), 1);
    const int64_t latest = (int64_t)larger(t->runs[0].ended[series], t->runs[1].ended[series]);
    const int64_t last = latest / stride * stride;
    const bool at_latest = e->state->col <= 0 || e->state->col > last;
    int64_t to =
        at_latest ? (records < 0 ? (latest + stride - 1) / stride * stride : last) : e->state->col / stride * stride;
    to += records * stride;
    if (latest == 0) {
        e->say = series == AV_TRAINING_EPOCHS ? "no epoch has ended yet" : "no step is done yet";
    } else if (records > 0 && (at_latest || to > last)) {
        e->state->col = 0;
        e->say = "the latest";
    } else {
        e->state->col = (int)(to < stride ? stride : to);
    }
}

static int64_t jump(const struct av_view_edit *e)
{
    const struct av_training *t = e->study;
    const enum av_training_series series = look_of(e->state).series;
    const size_t kept = t == NULL ? 0 : larger(t->runs[0].curves[series].count, t->runs[1].curves[series].count);
    return (int64_t)larger(kept / JUMPS, 1);
}

static void back(struct av_view_edit *e)
{
    scrub(e, -1);
}

static void forth(struct av_view_edit *e)
{
    scrub(e, 1);
}

static void far_back(struct av_view_edit *e)
{
    scrub(e, -jump(e));
}

static void far_forth(struct av_view_edit *e)
{
    scrub(e, jump(e));
}

static void to_latest(struct av_view_edit *e)
{
    e->state->col = 0;
}

/* A click into the curves puts the cursor there. */
static void click(struct av_rect r, int x, int y, struct av_view_edit *e)
{
    const struct av_training *t = e->study;
    if (t == NULL) {
        return;
    }
    const struct av_rect curves = place(av_panel_used(r, e->snapshot, true), t).curves;
    const struct av_training_look look = look_of(e->state);
    const size_t number = av_panel_training_number(curves, t, &look, x);
    if (number > 0 && y >= curves.y && y < curves.y + curves.h) {
        e->state->col = (int)number;
        scrub(e, 0);
    }
}

/* ---- Other actions ----------------------------------------------------------------------- */

static void next_page(struct av_view_edit *e)
{
    e->state->page = !e->state->page;
    e->state->col = 0;
}

static void turn(struct av_view_edit *e, int by)
{
    const struct av_training *t = e->study;
    if (t != NULL) {
        const int plots = av_training_plots(t);
        e->state->quantity = (e->state->quantity + by + plots) % plots;
    }
}

static void next_plot(struct av_view_edit *e)
{
    turn(e, 1);
}

static void previous_plot(struct av_view_edit *e)
{
    turn(e, -1);
}

static void toggle_zoom(struct av_view_edit *e)
{
    e->state->zoom = !e->state->zoom;
}

static void one_step(struct av_view_edit *e)
{
    e->work = AV_WORK_STEP;
}

static void restart(struct av_view_edit *e)
{
    e->work = AV_WORK_RESTART;
    e->state->col = 0;
}

static const struct av_view_action actions[] = {
    { "i", "step", "stop, and train one step of each run", one_step },
    { "b", "restart", "begin anew; the curves so far stay as ghosts", restart },
    { "v", "page", "means over epochs, or the first 100 steps one by one", next_page },
    { "h", "scrub-back", "back in the history, by a record", back },
    { "l", "scrub-forth", "forth in the history, by a record", forth },
    { "H", "jump-back", "back by a tenth of the history", far_back },
    { "L", "jump-forth", "forth by a tenth of the history", far_forth },
    { "e", "latest", "to the latest record, and follow it", to_latest },
    { "y", "plot", "from the next plot on", next_plot },
    { "Y", "plot-back", "from the plot before", previous_plot },
    { "z", "zoom", "as many plots as fit, or one", toggle_zoom },
    { NULL, NULL, NULL, NULL },
};

static const char *const about[] = {
    "Two runs of one attention head from the same matrices on the same batches: one",
    "divides its scores by sqrt(d_k), the other does not. Nothing else differs.",
    "Change lr, task, d_k, init, learn_scale or variant in the list of parameters: it",
    "is run again, and the curves before stay as △ ▷.",
    "Values of an epoch are means over its steps, each measured before its update.",
    "|d_q|: the size of the loss's gradient at the query of one token, of those that",
    "count in the loss; a mean far above the median is carried by a few tokens.",
    "Alarms, !: a mean largest weight above 0.9, and a gradient of w_q, w_k outside",
    "1e-3 .. 1e-1. That band is a rule of thumb and cries wolf: healthy runs leave it.",
    "With a variant both runs have it. Off puts 1 in the place of its multiplier, and of",
    "the g of cosine, qk_l2 and swin2; factors of ssmax, yarn, logn and llama4 stay.",
    "Where weights do not sum to 1, entropy is that of |w| / sum |w|; row sums are shown.",
    "An output of 0: the loss of a model that always outputs 0.",
    "Heatmaps: the weights both runs give to the same sequence, the first one of the",
    "first epoch, at the end of the epoch under the cursor or as its step found them.",
    NULL,
};

const struct av_view av_view_training = {
    .name = "training",
    .title = "training with and without the scale: twin runs, live",
    .order = 100,
    .needs = 0,
    .runs = true,
    .study = "training",
    .listens = av_train_listens,
    .draw = draw,
    .click = click,
    .actions = actions,
    .about = about,
};
