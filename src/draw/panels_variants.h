/* panels_variants.h - the panels of the view `variants`. */
#ifndef ATTNVIZ_PANELS_VARIANTS_H
#define ATTNVIZ_PANELS_VARIANTS_H

#include "attnviz/variant_study.h"
#include "panels.h"

/* ---- The table's columns and the order of its rows ---------------------------- */

/* Columns of numbers by place; as many as fit are shown. */
struct av_variant_column {
    const char *head;  /* above its numbers; behind that of the entropy stands its unit */
    const char *ascii; /* the same in ASCII, if it is not; else NULL */
    const char *name;  /* in words */
    int width;         /* more than the head's */
    enum av_variant_quantity quantity;
    bool percent;
};
enum { AV_VARIANT_COLUMNS = 14 };
extern const struct av_variant_column av_variant_columns[AV_VARIANT_COLUMNS];

/* The bit of a row in the parameter `variants`; 0: it is not of an entry. */
int64_t av_variant_bit(size_t row);

/* How many columns a table of that width shows. */
int av_variant_columns_in(int w);

/* Places of the table's rows from the top: sorted by column - 1, falling unless
 * `rising`, or with column 0 as they are. Rows that have no such number come
 * behind them, and those that are not chosen last. */
struct av_variant_order {
    size_t at[AV_VARIANT_ROWS_MAX];
    size_t count;
};
void av_variant_sort(struct av_variant_order *out, const struct av_variant_table *t, int column, bool rising);

/* What is looked at: the row under the cursor by its place in the table, the
 * order. */
struct av_variant_look {
    size_t cursor;
    int column; /* 1 .., 0: none */
    bool rising;
    int64_t chosen;                 /* the parameter `variants` */
    const struct av_params *params; /* that entropies are shown by: entropy_unit.h */
};

/* ---- Panels ------------------------------------------------------------------- */

/* Headings, and below them the rows that fit, the cursor's among them; the place
 * in the order of the first one in sight. */
enum { AV_VARIANT_TABLE_LEAST_H = 2 };
void av_panel_variant_table(struct av_canvas *c, struct av_rect r, const struct av_variant_table *t,
                            const struct av_variant_look *look);
size_t av_panel_variant_first(struct av_rect r, const struct av_variant_order *order, size_t cursor);

/* Are its weights those of softmax, and it is another? */
bool av_variant_is_softmax(const struct av_variant_table *t, size_t row);

/* What the marks are, and which rows of a table drawn into that rectangle are in
 * sight; a line. */
void av_panel_variant_marks(struct av_canvas *c, struct av_rect r, struct av_rect table,
                            const struct av_variant_table *t, const struct av_variant_look *look);

/* Headings and the two rows `now` and `compare`: three lines. */
enum { AV_VARIANT_PAIR_ROWS_H = 3 };
void av_panel_variant_two(struct av_canvas *c, struct av_rect r, const struct av_variant_table *t,
                          const struct av_params *p);

/* A row of the table in words: what it does with which parameters, what that
 * comes to here, what it is for, and sources. */
enum { AV_VARIANT_DETAIL_LEAST_H = 2 };
void av_panel_variant_detail(struct av_canvas *c, struct av_rect r, const struct av_variants *v, size_t row);

/* Lines of a map that are not rows of weights. */
enum { AV_VARIANT_PAIR_AROUND_H = 3 };

/* Two variants' weights beside each other, and their difference. */
void av_panel_variant_pair(struct av_canvas *c, struct av_rect r, const struct av_variants *v);

/* How they differ, in a sentence or two. */
void av_panel_variant_difference(struct av_canvas *c, struct av_rect r, const struct av_variants *v);

/* A quantity over n_k or d_k. Quantities that curves are drawn of, by struct
 * av_view_state.pool; p: that entropies are shown by. */
enum { AV_VARIANT_CURVE_QUANTITIES = 9 };
void av_panel_variant_curves(struct av_canvas *c, struct av_rect r, const struct av_variants *v, int quantity,
                             const struct av_params *p);

/* Text in [x, right), its end left out where it is too long. Returns the column
 * behind it. */
int av_variant_text(struct av_canvas *c, int x, int right, int y, enum av_role role, const char *text);

#endif
