/* view_gradient.c - what is left of the gradient, row by row.
 *
 * Use of the view's state: page 1 sorts the rows by value. */
#include "panels.h"

#include <stdio.h>
#include <string.h>

enum { HEAD_H = 1, SUMMARY_H = 2, BOTH_LEAST_H = 2 * AV_ROWS_LEAST_H + HEAD_H + SUMMARY_H };

struct places {
    struct av_rect summary, jacobian, dq;
};

/* Without keys no gradient reaches a query: a line says so. */
static struct places place(struct av_rect r, const struct av_snapshot *s)
{
    struct places p = { { r.x, r.y + HEAD_H, r.w, SUMMARY_H }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    int y = r.y + HEAD_H + SUMMARY_H;
    int h = r.h - HEAD_H - SUMMARY_H;
    if (av_panel_holds(s) != NULL) {
        p.dq = (struct av_rect){ r.x, r.y + r.h - 1, r.w, h > AV_ROWS_LEAST_H };
        h -= p.dq.h;
    } else if (r.h >= BOTH_LEAST_H) {
        p.dq = (struct av_rect){ r.x, y + h - h / 2, r.w, h / 2 };
        h -= h / 2;
    }
    p.jacobian = (struct av_rect){ r.x, y, r.w, h > 0 ? h : 0 };
    return p;
}

/* One state of the summary: its mark, its name, a word behind that. */
struct state {
    const struct av_summary *sum;
    const char *name, *word;
    struct av_fill mark;
};

/* "● scaled now   median 0.24   mean 0.24   dead rows 0%  of 32", the numbers
 * from column `from` on. In less room the mean goes first, which a few live
 * rows carry, then the number of rows, then the dead ones. */
static void draw_state(struct av_canvas *c, struct av_rect r, const struct state *state, int from)
{
    const struct av_summary *sum = state->sum;
    char number[AV_NUMBER_MAX];
    char text[64];
    char mean[64];
    char dead[64];
    int right = r.x + r.w;
    enum av_role role = av_summary_dead(sum) ? AV_ROLE_BAD : AV_ROLE_TEXT;
    av_canvas_put(c, r.x + 1, r.y, state->mark.body, state->mark.role);
    snprintf(text, sizeof text, "%s %s", state->name, state->word);
    av_plot_fit(c, r.x + 3, right, r.y, state->mark.role, text);
    snprintf(text, sizeof text, "median %-8s", av_plot_number(number, sum->jacobian_fro_median, 3));
    snprintf(mean, sizeof mean, "  mean %-8s", av_plot_number(number, sum->jacobian_fro_mean, 3));
    snprintf(dead, sizeof dead, "  dead rows %-5s", av_panel_percent(number, sum->share_fro_lt_1e_3));
    int x = av_plot_fit(c, from, right, r.y, role, text);
    if (x + (int)(strlen(mean) + strlen(dead)) <= right) {
        x = av_plot_fit(c, x, right, r.y, AV_ROLE_TEXT, mean);
    }
    int behind = av_plot_fit(c, x, right, r.y, role, dead);
    if (behind > x) {
        snprintf(text, sizeof text, "of %zu", sum->rows);
        av_plot_fit(c, behind + 1, right, r.y, AV_ROLE_DIM, text);
    }
}

static bool has_kept(const struct av_view_context *ctx)
{
    return ctx->ghost->on && ctx->ghost->now.rows > 0;
}

/* The states whose points are plotted, and below them, while a line is left,
 * the kept one, of which no rows are. */
static void draw_summary(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    enum { NUMBERS_AT = 17, NUMBERS_AT_KEPT = 23 };
    const struct av_snapshot *s = ctx->snapshot;
    if (s->now.rows == 0) {
        av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_DIM, "no row has two or more keys: nothing has a gradient");
        return;
    }
    struct av_look now = av_look_now(s);
    struct av_look other = av_look_other(s);
    struct state states[3];
    int n = 0;
    states[n++] = (struct state){ &s->now, now.name, "now", { AV_MARK_NOW, now.fill.role } };
    if (s->other.rows > 0) {
        states[n++] = (struct state){ &s->other, other.name, "", { AV_MARK_OTHER, other.fill.role } };
    }
    bool kept = has_kept(ctx) && n < r.h;
    if (kept) {
        struct av_fill mark = { AV_MARK_GHOST, AV_ROLE_GHOST };
        states[n++] = (struct state){ &ctx->ghost->now, "kept", "(not plotted)", mark };
    }
    for (int i = 0; i < n; i++) {
        int from = r.x + (kept ? NUMBERS_AT_KEPT : NUMBERS_AT);
        draw_state(c, (struct av_rect){ r.x, r.y + i, r.w, 1 }, &states[i], from);
    }
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    struct places p = place(r, ctx->snapshot);
    if (has_kept(ctx) && ctx->snapshot->other.rows > 0 && p.jacobian.h > AV_ROWS_LEAST_H) {
        /* From the top of the panel: its columns stay where a click looks. */
        p.summary.h++;
        p.jacobian.y++;
        p.jacobian.h--;
    }
    av_panel_header(c, (struct av_rect){ r.x, r.y, r.w, HEAD_H }, ctx, "gradient");
    struct av_rect clip = av_plot_enter(c, r);
    draw_summary(c, p.summary, ctx);
    if (av_panel_holds(ctx->snapshot) != NULL) {
        char lacks[AV_LACK_MAX];
        av_plot_wrap(c, (struct av_rect){ p.dq.x + 1, p.dq.y, p.dq.w - 1, p.dq.h }, AV_ROLE_DIM,
                     av_panel_lacks(lacks, ctx->snapshot, "keys, so no dq_rms"));
    }
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
    struct places p = place(r, e->snapshot);
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
    "With a variant both are its own: |dw/dz|, and |dw/dq| through all that it does.",
    "● now, ◇ with scale toggled, △ kept (not plotted).",
    "▾ below the axis, ─ median, ╌ mean, ┄ dead below.",
    "A few rows that are alive carry the mean: look at the median.",
    NULL,
};

const struct av_view av_view_gradient = {
    .name = "gradient",
    .title = "the gradient row by row: Jacobian of the softmax, and what reaches the query",
    .order = 40,
    .compares = true,
    .needs = AV_NEED_OTHER | AV_NEED_DQ,
    .draw = draw,
    .click = click,
    .actions = actions,
    .about = about,
};
