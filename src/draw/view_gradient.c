/* view_gradient.c - what is left of the gradient, row by row.
 *
 * Use of the view's state: page 1 sorts the rows by value. */
#include "panels.h"

#include <stdio.h>

enum { HEAD_H = 1, SUMMARY_H = 2, BOTH_LEAST_H = 2 * AV_ROWS_LEAST_H + HEAD_H + SUMMARY_H };

struct places {
    struct av_rect summary, jacobian, dq;
};

static struct places place(struct av_rect r)
{
    struct places p = { { r.x, r.y + HEAD_H, r.w, SUMMARY_H }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    int y = r.y + HEAD_H + SUMMARY_H;
    int h = r.h - HEAD_H - SUMMARY_H;
    if (r.h >= BOTH_LEAST_H) {
        p.dq = (struct av_rect){ r.x, y + h - h / 2, r.w, h / 2 };
        h -= h / 2;
    }
    p.jacobian = (struct av_rect){ r.x, y, r.w, h > 0 ? h : 0 };
    return p;
}

/* "● scaled now   median 0.24   mean 0.24   dead rows 0%" */
static void draw_state(struct av_canvas *c, struct av_rect r, const struct av_summary *sum, struct av_look look,
                       uint32_t mark, const char *word)
{
    char number[AV_NUMBER_MAX];
    char text[64];
    int right = r.x + r.w;
    bool dead = av_summary_dead(sum);
    enum av_role role = dead ? AV_ROLE_BAD : AV_ROLE_TEXT;
    av_canvas_put(c, r.x + 1, r.y, mark, look.fill.role);
    snprintf(text, sizeof text, "%s %s", look.name, word);
    av_plot_fit(c, r.x + 3, right, r.y, look.fill.role, text);
    int x = r.x + 17;
    snprintf(text, sizeof text, "median %-8s", av_plot_number(number, sum->jacobian_fro_median, 3));
    x = av_plot_fit(c, x, right, r.y, role, text);
    snprintf(text, sizeof text, "mean %-8s", av_plot_number(number, sum->jacobian_fro_mean, 3));
    x = av_plot_fit(c, x + 2, right, r.y, AV_ROLE_TEXT, text);
    snprintf(text, sizeof text, "dead rows %-5s", av_panel_percent(number, sum->share_fro_lt_1e_3));
    x = av_plot_fit(c, x + 2, right, r.y, role, text);
    snprintf(text, sizeof text, "of %zu", sum->rows);
    av_plot_fit(c, x + 1, right, r.y, AV_ROLE_DIM, text);
}

static void draw_summary(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    struct av_rect line = { r.x, r.y, r.w, 1 };
    if (s->now.rows == 0) {
        av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_DIM, "no row has two or more keys: nothing has a gradient");
        return;
    }
    draw_state(c, line, &s->now, av_look_now(s), AV_MARK_NOW, "now");
    line.y++;
    struct av_look kept = { "kept", { AV_MARK_GHOST, AV_ROLE_GHOST } };
    if (ctx->ghost->on && ctx->ghost->now.rows > 0) {
        draw_state(c, line, &ctx->ghost->now, kept, AV_MARK_GHOST, "");
    } else if (s->other.rows > 0) {
        draw_state(c, line, &s->other, av_look_other(s), AV_MARK_OTHER, "");
    }
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    struct places p = place(r);
    av_panel_header(c, (struct av_rect){ r.x, r.y, r.w, HEAD_H }, ctx, "gradient");
    struct av_rect clip = av_plot_enter(c, r);
    draw_summary(c, p.summary, ctx);
    av_canvas_clip(c, clip);
    av_panel_rows(c, p.jacobian, ctx, AV_ROW_JACOBIAN);
    av_panel_rows(c, p.dq, ctx, AV_ROW_DQ);
}

static void toggle_sorted(struct av_view_edit *e)
{
    e->state->page = !e->state->page;
}

static void click(struct av_rect r, int x, int y, struct av_view_edit *e)
{
    struct places p = place(r);
    const struct av_rect panels[] = { p.jacobian, p.dq };
    for (size_t k = 0; k < 2; k++) {
        struct av_heat_grid g = av_panel_rows_grid(panels[k], e->snapshot->n_q);
        size_t row;
        size_t col;
        if (e->state->page == 0 && y < panels[k].y + panels[k].h && av_heat_entry(&g, x, y, &row, &col)) {
            e->query = (int64_t)col;
        }
    }
}

static const struct av_view_action actions[] = {
    { "v", "sort", "rows in order, or sorted by value", toggle_sorted },
    { NULL, NULL, NULL, NULL },
};

static const char *const about[] = {
    "jacobian_fro: |diag(p) - p p^T| of a row, the Frobenius norm of the softmax",
    "Jacobian: how much of a gradient at the weights gets through to the logits;",
    "below 1e-3 a row is dead.",
    "dq_rms: what then reaches the query, multiplier / T × |(diag(p) - p p^T) K|.",
    "● now, ◇ with scale toggled, ▾ below the axis; ─ median, ╌ mean, ┄ dead below.",
    "A few rows that are alive carry the mean: look at the median.",
    NULL,
};

const struct av_view av_view_gradient = {
    .name = "gradient",
    .title = "the gradient row by row: Jacobian of the softmax, and what reaches the query",
    .order = 40,
    .needs = AV_NEED_OTHER | AV_NEED_DQ,
    .draw = draw,
    .click = click,
    .actions = actions,
    .about = about,
};
