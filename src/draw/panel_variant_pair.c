/* panel_variant_pair.c - the weights of two variants beside each other, and what
 * one gives more than the other. */
#include "panels_variants.h"

#include <math.h>
#include <stdio.h>

enum {
    MARGIN = 5,                               /* row labels */
    ABOVE = 2,                                /* title, column labels */
    BELOW = AV_VARIANT_PAIR_AROUND_H - ABOVE, /* legend */
    GAP = 1,
    LEAST_W = MARGIN + 7, /* of a map */
    TWO_W = 2 * (MARGIN + 12),
    THREE_W = 3 * (MARGIN + 15),
    MORE_FAR = 0x25B2,
    LESS_FAR = 0x25BC,
    MORE = '+',
    LESS = '-',
    MASKED = 0x00B7
};

/* From a half of the largest difference on, and from a tenth of it. */
static const double FAR = 0.5, NEAR = 0.1;

/* Maps from the left: the two variants, then their difference. */
enum map { MAP_NOW, MAP_OTHER, MAP_DIFFERENCE, MAPS };

/* ---- Values ------------------------------------------------------------------- */

static bool is_there(const struct av_variant_pair *p, enum map map, size_t i)
{
    bool now = i < p->done[AV_VARIANT_NOW];
    bool other = i < p->done[AV_VARIANT_OTHER];
    return map == MAP_NOW ? now : map == MAP_OTHER ? other : now && other;
}

static double value_at(const struct av_variant_pair *p, enum map map, size_t i, size_t j)
{
    size_t at = i * p->n_k + j;
    if (map == MAP_DIFFERENCE) {
        return (double)p->weights[AV_VARIANT_NOW][at] - (double)p->weights[AV_VARIANT_OTHER][at];
    }
    return (double)p->weights[map == MAP_NOW ? AV_VARIANT_NOW : AV_VARIANT_OTHER][at];
}

/* The entries of a cell pooled: the one that is largest by size, NaN before all
 * others. False where none is there yet, or none is left by the mask. */
struct pooled {
    bool there, seen;
    double value;
};

static struct pooled pool(const struct av_variants *v, enum map map, const struct av_heat_grid *g, size_t row,
                          size_t col)
{
    const struct av_variant_pair *p = &v->pair;
    struct pooled out = { false, false, 0 };
    for (size_t i = row; i < row + g->pool_rows && i < p->n_q; i++) {
        size_t len = av_row_length((enum av_mask)v->params.mask, i, p->n_q, p->n_k);
        bool there = is_there(p, map, i);
        out.there = out.there || there;
        for (size_t j = col; there && j < col + g->pool_cols && j < len; j++) {
            double value = value_at(p, map, i, j);
            bool larger = isnan(value) || fabs(value) > fabs(out.value);
            out.value = larger && !isnan(out.value) ? value : out.value;
            out.seen = true;
        }
    }
    return out;
}

/* ---- Cells --------------------------------------------------------------------- */

/* Weights from 0 to 1 by their roots, as in all views; negative ones are marked. */
static void put_weight(struct av_canvas *c, int x, int y, double v)
{
    if (v < 0) {
        av_canvas_put(c, x, y, LESS, AV_ROLE_WARN);
    } else {
        av_canvas_heat(c, x, y, av_panel_step(sqrt(v), AV_HEAT_LEVELS));
    }
}

static void put_difference(struct av_canvas *c, int x, int y, double v, double largest)
{
    if (fabs(v) >= NEAR * largest && v != 0) {
        bool far = fabs(v) >= FAR * largest;
        uint32_t code = v > 0 ? (far ? MORE_FAR : MORE) : (far ? LESS_FAR : LESS);
        av_canvas_put(c, x, y, code, v > 0 ? AV_ROLE_SCALED : AV_ROLE_UNSCALED);
    }
}

static void draw_cell(struct av_canvas *c, int x, int y, enum map map, struct pooled at, double largest)
{
    if (!at.there) {
        return;
    }
    if (!at.seen) {
        av_canvas_put(c, x, y, MASKED, AV_ROLE_DIM);
    } else if (isnan(at.value)) {
        av_canvas_put(c, x, y, '!', AV_ROLE_BAD);
    } else if (map == MAP_DIFFERENCE) {
        put_difference(c, x, y, at.value, largest);
    } else {
        put_weight(c, x, y, at.value);
    }
}

/* Returns whether a weight among them is negative. */
static bool draw_cells(struct av_canvas *c, const struct av_heat_grid *g, const struct av_variants *v, enum map map)
{
    bool negative = false;
    for (size_t row = 0; row < g->rows; row += g->pool_rows) {
        for (size_t col = 0; col < g->cols; col += g->pool_cols) {
            struct pooled at = pool(v, map, g, row, col);
            int x = av_heat_x(g, col), y = av_heat_y(g, row);
            negative = negative || (map != MAP_DIFFERENCE && at.value < 0);
            for (int i = 0; i < g->cell_w * g->cell_h; i++) {
                draw_cell(c, x + i % g->cell_w, y + i / g->cell_w, map, at, v->pair.largest);
            }
        }
    }
    return negative;
}

/* ---- Words ------------------------------------------------------------------------ */

static const struct av_variant_row *row_of(const struct av_variants *v, enum map map)
{
    return &v->table.rows[map == MAP_OTHER ? v->table.compare : v->table.now];
}

static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_variants *v, enum map map)
{
    int right = r.x + r.w - 1;
    if (map != MAP_DIFFERENCE) {
        bool now = map == MAP_NOW;
        av_canvas_put(c, r.x + 1, r.y, now ? AV_MARK_NOW : AV_MARK_OTHER, now ? AV_ROLE_SCALED : AV_ROLE_UNSCALED);
        av_variant_text(c, r.x + 3, right, r.y, AV_ROLE_TITLE, row_of(v, map)->of.name);
    } else if (c->ascii) { /* where the marks would read as a product */
        av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, "now minus compared");
    } else {
        int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, "difference");
        av_canvas_put(c, x + 1, r.y, AV_MARK_NOW, AV_ROLE_SCALED);
        av_canvas_put(c, x + 3, r.y, '-', AV_ROLE_TITLE);
        av_canvas_put(c, x + 5, r.y, AV_MARK_OTHER, AV_ROLE_UNSCALED);
    }
}

/* "0 <ramp> 1 ~ √w". */
static void draw_ramp(struct av_canvas *c, int x, int right, int y)
{
    if (right - x < AV_HEAT_LEVELS + 4) {
        return;
    }
    av_canvas_text(c, x, y, AV_ROLE_AXIS, "0");
    for (int i = 0; i < AV_HEAT_LEVELS; i++) {
        av_canvas_heat(c, x + 2 + i, y, i);
    }
    x = av_canvas_text(c, x + 3 + AV_HEAT_LEVELS, y, AV_ROLE_AXIS, "1");
    av_plot_fit(c, x + 1, right, y, AV_ROLE_DIM, c->ascii ? "~ sqrt(w)" : "~ √w");
}

/* "▲▼ >=0.21  +- >=0.043", what the glyphs of differences stand for. */
static void draw_steps(struct av_canvas *c, int x, int right, int y, double largest)
{
    const struct {
        double from;
        uint32_t more, less;
    } steps[] = { { FAR, MORE_FAR, LESS_FAR }, { NEAR, MORE, LESS } };
    for (int i = 0; i < 2; i++) {
        char number[AV_NUMBER_MAX], text[64];
        snprintf(text, sizeof text, ">=%s", av_plot_number(number, steps[i].from * largest, 2));
        int end = av_plot_fit(c, x + 3, right, y, AV_ROLE_DIM, text);
        if (end > x + 3) {
            av_canvas_put(c, x, y, steps[i].more, AV_ROLE_SCALED);
            av_canvas_put(c, x + 1, y, steps[i].less, AV_ROLE_UNSCALED);
            x = end + 2;
        }
    }
}

/* "max 2×3": of so many rows and columns a cell shows the largest by size. */
static void draw_pooling(struct av_canvas *c, int x, int right, int y, const struct av_heat_grid *g)
{
    char text[64];
    if (g->pool_rows > 1 || g->pool_cols > 1) {
        snprintf(text, sizeof text, "max %zu×%zu", g->pool_rows, g->pool_cols);
        av_plot_fit(c, x, right, y, AV_ROLE_DIM, text);
    }
}

/* Below the last of the maps of weights the pooling is told. */
static void draw_legend(struct av_canvas *c, struct av_rect r, const struct av_heat_grid *g,
                        const struct av_variants *v, enum map map, bool negative)
{
    int x = r.x + MARGIN, right = r.x + r.w, y = g->cells.y + g->cells.h;
    if (map == MAP_DIFFERENCE) {
        if (v->pair.compared && v->pair.largest > 0) {
            draw_steps(c, r.x + 1, right, y, v->pair.largest);
        }
        return;
    }
    if (negative) {
        x = av_panel_legend(c, x, right, y, (struct av_fill){ LESS, AV_ROLE_WARN }, "negative");
    } else if (map == MAP_NOW) {
        draw_ramp(c, x, right, y);
    }
    if (map == MAP_OTHER) {
        draw_pooling(c, x, right, y, g);
    }
}

/* ---- All of it -------------------------------------------------------------------- */

static void draw_map(struct av_canvas *c, struct av_rect r, const struct av_variants *v, enum map map, bool labels)
{
    const struct av_variant_pair *p = &v->pair;
    struct av_rect cells = { r.x + MARGIN, r.y + ABOVE, r.w - MARGIN, r.h - ABOVE - BELOW };
    struct av_heat_grid g = av_layout_heat(cells, p->n_q, p->n_k, (struct av_heat_window){ 0, 0, 0 });
    const struct av_variant_row *row = row_of(v, map);
    struct av_rect words = { r.x + 1, r.y + ABOVE, r.w - 2, r.h - ABOVE };
    draw_title(c, r, v, map);
    if (map != MAP_DIFFERENCE && row->state == AV_VARIANT_REFUSED) {
        av_plot_wrap(c, words, AV_ROLE_DIM, row->why);
        return;
    }
    av_panel_row_labels(c, &g, 0, -1);
    av_panel_column_labels(c, &g, g.cells.y - 1, r.x + r.w, 0, -1);
    if (labels) {
        av_plot_fit(c, r.x, g.cells.x, g.cells.y - 1, AV_ROLE_DIM, "q↓k→");
    }
    bool negative = draw_cells(c, &g, v, map);
    draw_legend(c, r, &g, v, map, negative);
}

void av_panel_variant_pair(struct av_canvas *c, struct av_rect r, const struct av_variants *v)
{
    int maps = r.w >= THREE_W ? 3 : r.w >= TWO_W ? 2 : 1;
    if (r.w < LEAST_W || r.h < ABOVE + BELOW + 1) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    if (v->pair.weights[AV_VARIANT_NOW] == NULL) {
        av_plot_wrap(c, (struct av_rect){ r.x + 1, r.y, r.w - 2, r.h }, AV_ROLE_DIM,
                     "There are too many weights to keep two matrices of them: at most 4194304, as of 2048 queries and "
                     "2048 keys. The numbers are of all that is measured.");
    }
    int w = (r.w - (maps - 1) * GAP) / maps;
    for (int i = 0; i < maps && v->pair.weights[AV_VARIANT_NOW] != NULL; i++) {
        draw_map(c, (struct av_rect){ r.x + i * (w + GAP), r.y, w, r.h }, v, (enum map)i, i == 0);
    }
    av_canvas_clip(c, clip);
}

void av_panel_variant_difference(struct av_canvas *c, struct av_rect r, const struct av_variants *v)
{
    const struct av_variant_pair *p = &v->pair;
    char text[400], mean[AV_NUMBER_MAX], half[AV_NUMBER_MAX], largest[AV_NUMBER_MAX];
    if (v->table.now == v->table.compare) {
        snprintf(text, sizeof text, "Both are the same: C on page 1 compares with the variant under the cursor.");
    } else if (!p->compared) {
        snprintf(text, sizeof text, "%s", p->weights[AV_VARIANT_NOW] != NULL ? "…" : "");
    } else if (p->rows == 0) {
        snprintf(text, sizeof text, "No row has two or more keys on both sides.");
    } else {
        bool distributions =
            ((av_variant_flags(row_of(v, MAP_NOW)->of.value) | av_variant_flags(row_of(v, MAP_OTHER)->of.value)) &
             AV_VARIANT_NOT_SIMPLEX) == 0;
        snprintf(text, sizeof text,
                 "|difference|: mean %s, largest %s at query %zu, key %zu; %s of rows %s. "
                 "Largest weight at another key: %zu of %zu rows.",
                 av_plot_number(mean, p->mean, 3), av_plot_number(largest, p->largest, 3), p->row, p->col,
                 distributions ? "total variation distance" : "half the sum", av_plot_number(half, p->half_sum, 3),
                 p->argmax_differs, p->rows);
    }
    av_plot_wrap(c, r, AV_ROLE_TEXT, text);
}
