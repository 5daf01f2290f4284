/* panel_variant_table.c - all variants in numbers, a line each. */
#include "attnviz/entropy_unit.h"
#include "attnviz/utf8.h"
#include "panels_variants.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    NAME_X = 4, /* behind the cursor, the sides and the choice */
    NAME_W = 16,
    SAME_X = NAME_X + NAME_W,
    DIGITS = 3,
    HISTOGRAM_GAP = 2,
    HISTOGRAM_W = AV_VARIANT_BINS + HISTOGRAM_GAP,
    CURSOR = 0x25B8,
    CHOSEN = 0x2713,
    NOT_SIMPLEX = '*',
    SAME = '='
};

/* The most telling first: narrow screens show the first ones. */
const struct av_variant_column av_variant_columns[AV_VARIANT_COLUMNS] = {
    { "std z", NULL, "spread of the logits within rows", 7, AV_VARIANT_ROW_STD, false },
    { "H/ln keys", NULL, "entropy / ln(keys seen), mean", 10, AV_VARIANT_ENTROPY_NORM, false },
    { "keys", NULL, "effective keys, mean", 7, AV_VARIANT_KEYS, false },
    { "max w", NULL, "largest weight, median", 7, AV_VARIANT_MAX_MEDIAN, false },
    { "J med", NULL, "jacobian_fro, median", 7, AV_VARIANT_FRO, false },
    { "dq med", NULL, "dq_rms, median", 8, AV_VARIANT_DQ, false },
    { "sum w", NULL, "row sum, mean", 7, AV_VARIANT_ROW_SUM, false },
    { "w≠0", "w!=0", "of the keys seen, those whose weight is not 0, mean", 6, AV_VARIANT_NONZERO, true },
    { "dead", NULL, "rows with jacobian_fro below 1e-3", 6, AV_VARIANT_DEAD, true },
    { "H", NULL, "entropy, mean", 8, AV_VARIANT_ENTROPY, false },
    { "avg max", NULL, "largest weight, mean", 8, AV_VARIANT_MAX_MEAN, false },
    { "min z", NULL, "least logit", 7, AV_VARIANT_LOGIT_MIN, false },
    { "max z", NULL, "largest logit", 7, AV_VARIANT_LOGIT_MAX, false },
    { "std all z", NULL, "spread of all logits", 10, AV_VARIANT_LOGIT_STD, false },
};

static const char *const histogram_heads[AV_VARIANT_HISTOGRAMS] = { "0  max w   1", "0 H/ln keys 1", "-12   z   12" };

/* ---- Columns ------------------------------------------------------------------- */

/* Where a column ends, counted from the table's left. */
static int column_end(int column)
{
    int end = NAME_X + NAME_W;
    for (int i = 0; i <= column; i++) {
        end += av_variant_columns[i].width;
    }
    return end;
}

int av_variant_columns_in(int w)
{
    int fit = 0;
    while (fit < AV_VARIANT_COLUMNS && column_end(fit) < w) {
        fit++;
    }
    return fit;
}

/* Histograms that fit beside all columns that do, and where one begins. */
static int histogram_x(int w, int i)
{
    return column_end(av_variant_columns_in(w) - 1) + HISTOGRAM_GAP + i * HISTOGRAM_W;
}

static int histograms_in(int w)
{
    int fit = 0;
    while (fit < AV_VARIANT_HISTOGRAMS && histogram_x(w, fit) + AV_VARIANT_BINS < w) {
        fit++;
    }
    return fit;
}

int64_t av_variant_bit(size_t row)
{
    enum { BITS = 53 }; /* whole numbers that a double holds */
    return row < av_variant_entries() && row < BITS ? (int64_t)1 << row : 0;
}

/* ---- The order ------------------------------------------------------------------ */

static bool listed(const struct av_variant_table *t, size_t i)
{
    return i < av_variant_entries() || t->rows[i].state != AV_VARIANT_ABSENT;
}

/* The number a row is sorted by; NaN: it has none. */
static double key_of(const struct av_variant_row *row, int column)
{
    return row->state == AV_VARIANT_MEASURED ? row->measure.at[av_variant_columns[column - 1].quantity] : (double)NAN;
}

/* Does row a come before row b, which stands above it? */
static bool before(const struct av_variant_row *a, const struct av_variant_row *b, int column, bool rising)
{
    bool a_asked = a->state != AV_VARIANT_ABSENT, b_asked = b->state != AV_VARIANT_ABSENT;
    if (a_asked != b_asked || column == 0) {
        return a_asked && !b_asked;
    }
    double x = key_of(a, column), y = key_of(b, column);
    if (isnan(x) || isnan(y)) {
        return !isnan(x) && isnan(y);
    }
    return rising ? x < y : x > y;
}

void av_variant_sort(struct av_variant_order *out, const struct av_variant_table *t, int column, bool rising)
{
    out->count = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (!listed(t, i)) {
            continue;
        }
        size_t place = out->count++;
        while (place > 0 && before(&t->rows[i], &t->rows[out->at[place - 1]], column, rising)) {
            out->at[place] = out->at[place - 1];
            place--;
        }
        out->at[place] = i;
    }
}

/* The cursor's row is in the middle, as far as the ends allow. */
size_t av_panel_variant_first(struct av_rect r, const struct av_variant_order *order, size_t cursor)
{
    size_t rows = r.h > 1 ? (size_t)(r.h - 1) : 0;
    size_t at = 0;
    while (at + 1 < order->count && order->at[at] != cursor) {
        at++;
    }
    size_t last = order->count > rows ? order->count - rows : 0;
    size_t first = at > rows / 2 ? at - rows / 2 : 0;
    return first < last ? first : last;
}

/* ---- One row ---------------------------------------------------------------------- */

int av_variant_text(struct av_canvas *c, int x, int right, int y, enum av_role role, const char *text)
{
    if (x >= right) {
        return x;
    }
    bool cut = av_utf8_columns(text) > right - x;
    x = av_canvas_textf(c, x, y, role, "%.*s", (int)av_utf8_fit(text, right - x - cut), text);
    if (cut) {
        av_canvas_put(c, x++, y, 0x2026, role);
    }
    return x;
}

/* Numbers in the colour of the alarm that they give. */
static enum av_role role_of(enum av_variant_quantity quantity, double v)
{
    bool large = quantity == AV_VARIANT_MAX_MEDIAN && v > AV_LARGEST_ALARM;
    bool dead = (quantity == AV_VARIANT_FRO && v < AV_DEAD_FRO) || (quantity == AV_VARIANT_DEAD && v > AV_DEAD_SHARE);
    return dead ? AV_ROLE_BAD : large ? AV_ROLE_WARN : AV_ROLE_TEXT;
}

static void draw_number(struct av_canvas *c, int right, int y, const struct av_variant_column *column,
                        const struct av_variant_measure *m, const struct av_params *p)
{
    char text[AV_NUMBER_MAX];
    double v = m->at[column->quantity];
    v = column->quantity == AV_VARIANT_ENTROPY ? av_entropy_shown(p, v) : v;
    if (column->quantity == AV_VARIANT_DQ && !m->has_dq) {
        snprintf(text, sizeof text, "…");
    } else if (column->percent) {
        av_panel_percent(text, v);
    } else {
        av_plot_number_in(text, v, DIGITS, column->width - 1);
    }
    if (isnan(v) && m->without_weight == m->rows) {
        snprintf(text, sizeof text, "-");
    }
    av_canvas_text_right(c, right, y, role_of(column->quantity, v), text);
}

/* A bar a bin, the largest one of seven eighths, so that lines stay apart. */
static void draw_histogram(struct av_canvas *c, int x, int y, const double shares[AV_VARIANT_BINS])
{
    double most = 0;
    for (int i = 0; i < AV_VARIANT_BINS; i++) {
        most = fmax(most, shares[i]);
    }
    for (int i = 0; i < AV_VARIANT_BINS && most > 0; i++) {
        av_plot_column(c, x + i, y, 1, 0.875 * shares[i] / most, (struct av_fill){ 0x2588, AV_ROLE_BAR });
    }
}

static void draw_numbers(struct av_canvas *c, struct av_rect r, const struct av_variant_measure *m,
                         const struct av_params *p)
{
    int columns = av_variant_columns_in(r.w);
    for (int i = 0; i < columns; i++) {
        const struct av_variant_column *column = &av_variant_columns[i];
        draw_number(c, r.x + column_end(i), r.y, column, m, p);
    }
    for (int i = 0; i < histograms_in(r.w); i++) {
        draw_histogram(c, r.x + histogram_x(r.w, i), r.y, m->shares[i]);
    }
}

/* The numbers, or why there are none. */
static void draw_values(struct av_canvas *c, struct av_rect r, const struct av_variant_row *row,
                        const struct av_params *p)
{
    int x = r.x + NAME_X + NAME_W + 2;
    int right = r.x + r.w;
    if (row->state == AV_VARIANT_MEASURED) {
        draw_numbers(c, r, &row->measure, p);
    } else if (row->state == AV_VARIANT_REFUSED) {
        av_variant_text(c, x, right, r.y, AV_ROLE_DIM, row->why);
    } else {
        av_variant_text(c, x, right, r.y, AV_ROLE_DIM, row->state == AV_VARIANT_WAITING ? "…" : "not chosen");
    }
}

bool av_variant_is_softmax(const struct av_variant_table *t, size_t i)
{
    const struct av_variant_row *row = &t->rows[i], *softmax = &t->rows[0];
    bool both = row->state == AV_VARIANT_MEASURED && softmax->state == AV_VARIANT_MEASURED;
    return row->of.value != 0 && both && av_variant_same_weights(&row->measure, &softmax->measure);
}

/* Cells beside the name: the cursor, now or compared, chosen; weights as softmax has them. */
static void draw_marks(struct av_canvas *c, int x, int y, const struct av_variant_table *t, size_t i,
                       const struct av_variant_look *look)
{
    if (i == look->cursor) {
        av_canvas_put(c, x, y, CURSOR, AV_ROLE_SELECT);
    }
    if (t->rows[i].now) {
        av_canvas_put(c, x + 1, y, AV_MARK_NOW, AV_ROLE_SCALED);
    } else if (i == t->compare) {
        av_canvas_put(c, x + 1, y, AV_MARK_OTHER, AV_ROLE_UNSCALED);
    }
    if ((look->chosen & av_variant_bit(i)) != 0) {
        av_canvas_put(c, x + 2, y, CHOSEN, AV_ROLE_TEXT);
    }
    if (av_variant_is_softmax(t, i)) {
        av_canvas_put(c, x + SAME_X, y, SAME, AV_ROLE_DIM);
    }
}

static void draw_row(struct av_canvas *c, struct av_rect r, const struct av_variant_table *t, size_t i,
                     const struct av_variant_look *look)
{
    const struct av_variant_row *row = &t->rows[i];
    bool selected = i == look->cursor;
    bool there = row->state == AV_VARIANT_MEASURED;
    enum av_role role = selected ? AV_ROLE_SELECT : there ? AV_ROLE_TEXT : AV_ROLE_DIM;
    int right = r.x + (NAME_X + NAME_W < r.w ? NAME_X + NAME_W : r.w);
    draw_marks(c, r.x, r.y, t, i, look);
    int x = av_variant_text(c, r.x + NAME_X, right - 1, r.y, role, row->of.name);
    if ((av_variant_flags(row->of.value) & AV_VARIANT_NOT_SIMPLEX) != 0 && x < right) {
        av_canvas_put(c, x, r.y, NOT_SIMPLEX, AV_ROLE_WARN);
    }
    draw_values(c, r, row, look->params);
}

/* ---- All of it ---------------------------------------------------------------------- */

/* Above a column; of the entropy with its unit. */
static const char *head_of(char out[AV_NUMBER_MAX], const struct av_canvas *c, const struct av_variant_column *column,
                           const struct av_params *p)
{
    if (column->quantity == AV_VARIANT_ENTROPY) {
        snprintf(out, AV_NUMBER_MAX, "%s %s", column->head, av_entropy_unit(p));
        return out;
    }
    return c->ascii && column->ascii != NULL ? column->ascii : column->head;
}

static void draw_heads(struct av_canvas *c, struct av_rect r, int sorted, bool rising, const struct av_params *p)
{
    char text[AV_NUMBER_MAX];
    int columns = av_variant_columns_in(r.w);
    av_plot_fit(c, r.x + NAME_X, r.x + r.w, r.y, sorted == 0 ? AV_ROLE_TITLE : AV_ROLE_AXIS, "variant");
    for (int i = 0; i < columns; i++) {
        bool by = i + 1 == sorted;
        int right = r.x + column_end(i);
        const char *head = head_of(text, c, &av_variant_columns[i], p);
        av_canvas_text_right(c, right, r.y, by ? AV_ROLE_TITLE : AV_ROLE_AXIS, head);
        if (by) {
            av_canvas_put(c, right - 1 - av_utf8_columns(head), r.y, rising ? 0x2191 : 0x2193, AV_ROLE_TITLE);
        }
    }
    for (int i = 0; i < histograms_in(r.w); i++) {
        av_plot_fit(c, r.x + histogram_x(r.w, i), r.x + r.w, r.y, AV_ROLE_AXIS, histogram_heads[i]);
    }
}

void av_panel_variant_table(struct av_canvas *c, struct av_rect r, const struct av_variant_table *t,
                            const struct av_variant_look *look)
{
    if (r.h < AV_VARIANT_TABLE_LEAST_H) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    struct av_variant_order order;
    av_variant_sort(&order, t, look->column, look->rising);
    size_t first = av_panel_variant_first(r, &order, look->cursor);
    draw_heads(c, r, look->column, look->rising, look->params);
    for (size_t i = first; i < order.count && i - first < (size_t)(r.h - 1); i++) {
        draw_row(c, (struct av_rect){ r.x, r.y + 1 + (int)(i - first), r.w, 1 }, t, order.at[i], look);
    }
    av_canvas_clip(c, clip);
}

/* "rows 1-14 of 39", of a table that is not whole in sight; returns where it begins. */
static int draw_part(struct av_canvas *c, struct av_rect r, struct av_rect table, const struct av_variant_table *t,
                     const struct av_variant_look *look)
{
    struct av_variant_order order;
    char text[64];
    av_variant_sort(&order, t, look->column, look->rising);
    size_t first = av_panel_variant_first(table, &order, look->cursor);
    size_t rows = table.h > 1 ? (size_t)(table.h - 1) : 0;
    int right = r.x + r.w - 1;
    if (rows >= order.count || rows == 0) {
        return right;
    }
    snprintf(text, sizeof text, "%s%zu-%zu of %zu", r.w >= 84 ? "rows " : "", first + 1, first + rows, order.count);
    return av_plot_fit_right(c, r.x, right, r.y, AV_ROLE_TEXT, text) - 2;
}

void av_panel_variant_marks(struct av_canvas *c, struct av_rect r, struct av_rect table,
                            const struct av_variant_table *t, const struct av_variant_look *look)
{
    static const struct {
        struct av_fill mark;
        const char *name;
    } marks[] = {
        { { AV_MARK_NOW, AV_ROLE_SCALED }, "now" }, { { AV_MARK_OTHER, AV_ROLE_UNSCALED }, "compared" },
        { { CHOSEN, AV_ROLE_TEXT }, "chosen" },     { { NOT_SIMPLEX, AV_ROLE_WARN }, "row sum is not 1" },
        { { SAME, AV_ROLE_DIM }, "as softmax" },
    };
    int right = draw_part(c, r, table, t, look);
    int x = r.x + 1;
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        x = av_panel_legend(c, x, right, r.y, marks[i].mark, marks[i].name);
    }
}

void av_panel_variant_two(struct av_canvas *c, struct av_rect r, const struct av_variant_table *t,
                          const struct av_params *p)
{
    struct av_rect clip = av_plot_enter(c, r);
    const size_t rows[] = { t->now, t->compare };
    const struct av_variant_look none = { AV_VARIANT_ROWS_MAX, 0, false, 0, p };
    draw_heads(c, r, -1, false, p);
    for (int i = 0; i < 2; i++) {
        draw_row(c, (struct av_rect){ r.x, r.y + 1 + i, r.w, 1 }, t, rows[i], &none);
    }
    av_canvas_clip(c, clip);
}
