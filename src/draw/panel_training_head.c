/* panel_training_head.c - the experiment in words: what is tried, how far it is, what was found. */
#include "panels_training.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIECES = 16, PAGES = AV_TRAINING_SERIES, LINE = 96, BAR_W = 16, GHOST_NAMES = 3, UNDONE = 0x00B7 };

/* Seconds. A key waits for one of the six parts of a step, the longest of which
 * is about a third of it: from here on that can be felt. */
#define SLOW_STEP 0.06

/* ---- The experiment ---------------------------------------------------------------- */

/* The most telling first; returns their number. */
static size_t make_pieces(char pieces[PIECES][AV_PIECE_MAX], const struct av_training *t)
{
    static const char *const rarely[] = { "clip",       "layer_norm", "learn_scale", "exponent",
                                          "input_mean", "input_std",  "fresh",       "runs" }; /* not as by default */
    const struct av_train_config *c = &t->config;
    char number[AV_NUMBER_MAX];
    size_t n = 0;
    snprintf(pieces[n++], AV_PIECE_MAX, "d_k %zu", c->d_k);
    snprintf(pieces[n++], AV_PIECE_MAX, "d_model %zu", c->d_model);
    snprintf(pieces[n++], AV_PIECE_MAX, "seq_len %zu", c->seq_len);
    snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_param_find("init")->choices[c->init]);
    snprintf(pieces[n++], AV_PIECE_MAX, "lr %s", av_plot_short(number, c->lr, 4));
    snprintf(pieces[n++], AV_PIECE_MAX, "seed %" PRIu64, c->seed);
    for (size_t i = 0; i < sizeof rarely / sizeof rarely[0]; i++) {
        const struct av_param *row = av_param_find(rarely[i]);
        char value[AV_PARAM_SHORT_MAX];
        if (av_param_get(row, &t->params) != row->def) {
            snprintf(pieces[n++], AV_PIECE_MAX, "%s %s", row->name, av_param_format_short(row, &t->params, value));
        }
    }
    snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_param_find("optimizer")->choices[c->optimizer]);
    return n;
}

static void draw_experiment(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_training *t = ctx->study;
    char pieces[PIECES][AV_PIECE_MAX];
    char title[AV_TITLE_MAX];
    const size_t n = make_pieces(pieces, t);
    av_panel_title(title, "training", ctx->state->page, PAGES);
    int right = av_plot_fit_right(c, r.x + 1, r.x + r.w - 1, r.y, AV_ROLE_TITLE, title) - 2;
    av_panel_pieces(c, r.x + 1, right, r.y, pieces, n);
}

static void draw_task(struct av_canvas *c, struct av_rect r, const struct av_training *t)
{
    const char *name = av_param_find("task")->choices[t->config.task];
    int x = av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_TITLE, name);
    av_plot_fit(c, x + 2, r.x + r.w, r.y, AV_ROLE_DIM, av_task_texts[t->config.task]);
}

/* "1/sqrt(256), softcap.c 50": what its rows do, with their parameters. */
static size_t make_variant_pieces(char pieces[PIECES][AV_PIECE_MAX], const struct av_training *t)
{
    const av_variant_value variant = t->config.attention.variant;
    size_t rows, n = 0;
    const struct av_param *table = av_params_table(&rows);
    for (int g = 0; g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant *row = av_variant_of(variant, (enum av_variant_group)g);
        if (row != NULL) {
            snprintf(pieces[n++], AV_PIECE_MAX, "%s", row->formula);
        }
    }
    for (size_t i = 0; i < rows && n < PIECES; i++) {
        char value[AV_PARAM_SHORT_MAX];
        if ((table[i].flags & AV_PARAM_OWNED) != 0 && av_variant_owns(variant, table[i].name)) {
            snprintf(pieces[n++], AV_PIECE_MAX, "%s %s", table[i].name,
                     av_param_format_short(&table[i], &t->params, value));
        }
    }
    return n;
}

static void draw_variant(struct av_canvas *c, struct av_rect r, const struct av_training *t)
{
    char name[AV_VARIANT_TEXT_MAX], pieces[PIECES][AV_PIECE_MAX];
    const size_t n = make_variant_pieces(pieces, t);
    const int right = r.x + r.w;
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, av_variant_format(t->config.attention.variant, name));
    av_panel_pieces(c, x + 2, right, r.y, pieces, n);
}

/* ---- How far it is ------------------------------------------------------------------- */

static const char *state_word(const struct av_view_context *ctx)
{
    const struct av_training *t = ctx->study;
    return t->over && t->steps < t->total ? "ended" : ctx->progress >= 1 ? "done" : ctx->stopped ? "paused" : "running";
}

/* Seconds in words: "0.4 s", "12 s", "3 min", "2 h". */
static void span_text(char out[32], double seconds)
{
    if (seconds < 10) {
        snprintf(out, 32, "%.1f s", seconds);
    } else if (seconds < 120) {
        snprintf(out, 32, "%.0f s", seconds);
    } else if (seconds < 7200) {
        snprintf(out, 32, "%.0f min", seconds / 60);
    } else {
        snprintf(out, 32, "%.0f h", seconds / 3600);
    }
}

/* Steps a second and the time left; what a long step means for the keys. */
static void draw_rate(struct av_canvas *c, int x, int right, int y, const struct av_view_context *ctx)
{
    const struct av_training *t = ctx->study;
    const double rate = ctx->rate * (double)t->total;
    char text[LINE], number[AV_NUMBER_MAX], left[32];
    if (!(rate > 0) || ctx->progress >= 1) {
        return;
    }
    span_text(left, (1 - ctx->progress) / ctx->rate);
    av_plot_number(number, rate, rate < 100 ? 2 : 3);
    snprintf(text, sizeof text, "%s steps/s  %s left", number, left);
    int end = av_plot_fit(c, x, right, y, AV_ROLE_TEXT, text);
    if (rate * SLOW_STEP < 1 && end > x) {
        snprintf(text, sizeof text, "keys wait for parts of a step of %s s", av_plot_number(number, 1 / rate, 2));
        av_plot_fit(c, end + 2, right, y, AV_ROLE_WARN, text);
    }
}

static void draw_progress(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_training *t = ctx->study;
    const int right = r.x + r.w;
    char text[LINE];
    int x = av_plot_fit(c, r.x + 1, right, r.y, ctx->stopped ? AV_ROLE_SELECT : AV_ROLE_TITLE, state_word(ctx)) + 2;
    snprintf(text, sizeof text, "step %" PRIu64 " of %" PRIu64, t->steps, t->total);
    x = av_plot_fit(c, x, right, r.y, AV_ROLE_TEXT, text) + 2;
    if (x + BAR_W + 6 <= right) {
        for (int i = 0; i < BAR_W; i++) {
            av_canvas_put(c, x + i, r.y, UNDONE, AV_ROLE_DIM);
        }
        const double part = (double)t->steps / (double)t->total;
        av_plot_bar(c, x, r.y, BAR_W, part, (struct av_fill){ 0x2588, AV_ROLE_BAR });
        snprintf(text, sizeof text, "%.0f%%", floor(100 * part));
        x = av_plot_fit(c, x + BAR_W + 1, right, r.y, AV_ROLE_TEXT, text) + 2;
    }
    draw_rate(c, x, right, r.y, ctx);
}

/* ---- Names of marks -------------------------------------------------------------------- */

/* Does an experiment with these parameters depend on this one? */
static bool is_told(const struct av_param *row, const struct av_params *p)
{
    for (const char *const *name = av_train_listens; *name != NULL; name++) {
        if (strcmp(*name, row->name) == 0) {
            return true;
        }
    }
    return (row->flags & AV_PARAM_OWNED) != 0 && av_variant_owns(p->variant, row->name);
}

/* "before: lr 0.01, init unit": what the ghost has otherwise. */
static void ghost_text(char out[LINE], const struct av_training *t)
{
    size_t len = (size_t)snprintf(out, LINE, "before");
    int named = 0;
    size_t rows;
    const struct av_param *table = av_params_table(&rows);
    for (size_t i = 0; i < rows && named < GHOST_NAMES; i++) {
        const struct av_param *row = &table[i];
        char value[AV_PARAM_SHORT_MAX];
        if (is_told(row, &t->ghost.params) && av_param_differs(row, &t->ghost.params, &t->params) && len < LINE) {
            av_param_format_short(row, &t->ghost.params, value);
            len += (size_t)snprintf(out + len, LINE - len, "%s %s %s", named++ > 0 ? "," : ":", row->name, value);
        }
    }
}

/* "●◇ in turn: both": what two curves in the same cells look like. */
static void draw_turns(struct av_canvas *c, int x, int right, int y)
{
    const int end = av_plot_fit(c, x + AV_TWINS + 1, right, y, AV_ROLE_DIM, "in turn: both");
    for (enum av_twin twin = 0; twin < AV_TWINS && end > x + AV_TWINS + 1; twin++) {
        const struct av_training_marks m = av_training_marks(twin);
        av_canvas_put(c, x + (int)twin, y, m.main, m.role);
    }
}

static void draw_names(struct av_canvas *c, struct av_rect r, const struct av_training *t)
{
    const int right = r.x + r.w;
    int x = r.x + 1;
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        struct av_training_marks m = av_training_marks(twin);
        x = av_panel_legend(c, x, right, r.y, (struct av_fill){ m.main, m.role }, m.name);
    }
    if (t->ghost.on) {
        char text[LINE];
        ghost_text(text, t);
        int end = av_plot_fit(c, x + 4, right, r.y, AV_ROLE_GHOST, text);
        for (enum av_twin twin = 0; twin < AV_TWINS && end > x + 4; twin++) {
            av_canvas_put(c, x + 2 * (int)twin, r.y, av_training_marks(twin).ghost, AV_ROLE_GHOST);
        }
        x = end > x + 4 ? end + 2 : x;
    }
    x = av_panel_legend(c, x, right, r.y, (struct av_fill){ AV_MARK_ALARM, AV_ROLE_BAD }, "alarm");
    if (t->runs[AV_TWIN_SCALED].asked && t->runs[AV_TWIN_UNSCALED].asked) {
        draw_turns(c, x, right, r.y);
    }
}

int av_panel_training_head_h(const struct av_training *t)
{
    return t->config.attention.variant != 0 ? 5 : 4;
}

void av_panel_training_head(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_training *t = ctx->study;
    struct av_rect clip = av_plot_enter(c, r);
    draw_experiment(c, r, ctx);
    draw_task(c, (struct av_rect){ r.x, r.y + 1, r.w, 1 }, t);
    if (t->config.attention.variant != 0) {
        draw_variant(c, (struct av_rect){ r.x, r.y + 2, r.w, 1 }, t);
    }
    const int y = r.y + av_panel_training_head_h(t);
    draw_progress(c, (struct av_rect){ r.x, y - 2, r.w, 1 }, ctx);
    draw_names(c, (struct av_rect){ r.x, y - 1, r.w, 1 }, t);
    av_canvas_clip(c, clip);
}

/* ---- What was found ------------------------------------------------------------------------ */

void av_panel_training_findings(struct av_canvas *c, struct av_rect r, const struct av_training *t)
{
    struct av_training_finding lines[AV_TRAINING_FINDINGS];
    const size_t n = av_training_findings(t, lines);
    struct av_rect clip = av_plot_enter(c, r);
    int y = 0;
    for (size_t i = 0; i < n; i++) {
        struct av_rect rest = { r.x + 1, r.y + y, r.w - 1, r.h - y };
        y += av_plot_wrap(c, rest, lines[i].alarm ? AV_ROLE_WARN : AV_ROLE_TEXT, lines[i].text);
    }
    av_canvas_clip(c, clip);
}
