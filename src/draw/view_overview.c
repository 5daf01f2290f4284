/* view_overview.c - the first screen: everything at once. */
#include "panels.h"

static const struct av_view_state whole; /* the overview shows all of the matrix */

static struct av_view_context everything(const struct av_view_context *ctx)
{
    struct av_view_context all = *ctx;
    all.state = &whole;
    all.full = false;
    return all;
}

/* Where there are no scores two lines say so. */
static struct av_layout place(struct av_rect r, const struct av_snapshot *s)
{
    enum { WORDS_H = 2 };
    struct av_layout l = av_layout_overview(r, s->n_q, av_panel_columns(s, AV_HEAT_WEIGHTS));
    if (s->from_logits || s->from == AV_PART_WEIGHTS) {
        av_layout_shrink_scores(&l, WORDS_H);
    }
    return l;
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    struct av_layout l = place(r, s);
    struct av_view_context all = everything(ctx);
    struct av_heat_grid grid = av_panel_weights_grid(l.at[AV_PLACE_WEIGHTS], s, &whole);
    av_panel_header(c, l.at[AV_PLACE_HEADER], &all, "overview");
    av_panel_scores(c, l.at[AV_PLACE_SCORES], &all);
    av_panel_gauges(c, l.at[AV_PLACE_GAUGES], &all);
    av_panel_verdict(c, l.at[AV_PLACE_VERDICT], &all);
    av_panel_weights(c, l.at[AV_PLACE_WEIGHTS], &all);
    av_panel_moments(c, l.at[AV_PLACE_MOMENTS], &all);
    av_panel_row(c, l.at[AV_PLACE_QUERY], &all, &grid);
}

/* A cell of the heatmap selects its query and key; a column below it its key. */
static void click(struct av_rect r, int x, int y, struct av_view_edit *edit)
{
    const struct av_snapshot *s = edit->snapshot;
    struct av_layout l = place(r, s);
    struct av_heat_grid grid = av_panel_weights_grid(l.at[AV_PLACE_WEIGHTS], s, &whole);
    struct av_rect columns = l.at[AV_PLACE_QUERY];
    size_t row;
    size_t col;
    if (av_heat_entry(&grid, x, y, &row, &col)) {
        edit->query = (int64_t)row;
        edit->key = (int64_t)col;
    } else if (y > columns.y && y < columns.y + columns.h && av_heat_entry(&grid, x, grid.cells.y, &row, &col)) {
        edit->key = (int64_t)col;
    }
}

static const char *const about[] = {
    "█ the state now, ░ with scale off.",
    "◇ with scale toggled, △ the kept state.",
    "│ theory, ! where the alarm is.",
    "• exact density (or its normal approximation).",
    "First line: q^·k^ are queries and keys that the variant has normalised, s^ scores.",
    "scores: q·k scaled and unscaled on one axis; each fills its own height.",
    "\"31% beyond\": so many scores lie beyond the axis.",
    "entropy of a row: 1 when all keys weigh the same; keys: exp of the entropy.",
    "largest p: a row's largest weight, the median of all rows; alarm above 0.9.",
    "gradient: |diag(p) - p p^T| of a row, the Frobenius norm of the softmax",
    "Jacobian, on a log axis. Below 1e-3 the row is dead; alarm when the median",
    "is, or more than a quarter of the rows.",
    "logit std: spread within a row; alarm above sqrt(2 ln n), where few keys win.",
    "d_scores: what reaches the scores, multiplier / T × gradient.",
    "weights: query down, key across, colour by sqrt(p) from 0 to 1; \"max of 2×1\": each",
    "cell shows the largest of so many weights; below, those of the selected query.",
    "key_offset probes: it is added to the logits of the selected key in every row.",
    NULL,
};

const struct av_view av_view_overview = {
    .name = "overview",
    .title = "scores, weights, entropy and gradient, with and without the scale",
    .order = 10,
    .compares = true,
    .needs = AV_NEED_OTHER | AV_NEED_THEORY | AV_NEED_HISTOGRAM,
    .entropies = true,
    .draw = draw,
    .click = click,
    .about = about,
};
