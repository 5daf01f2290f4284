/* panel_row_numbers.c - what the softmax, or another bend, made of a row, in numbers. */
#include "panels_softmax.h"

#include "attnviz/entropy_unit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

enum { VALUE_AT = 15, LOG_AT = 26, LINES = 18, LESSON_LEAST_H = 8 };

/* The least logarithm that has a column of its own. */
static const double LOG_LEAST = -999;

static const char *const lesson = "Add to all logits (b/B) or change the offset (o/O): the axis of z moves, no weight "
                                  "does. Multiply them (f/F) or change the temperature (t/T): the weights change.";
static const char *const lesson_of_others =
    "Add to all logits (b/B) or change the offset (o/O): the axis of z moves, no "
    "weight does.";
static const char *const lesson_of_shifts = "Add to all logits (b/B) or change the offset (o/O): weights change, which "
                                            "those of the softmax would not.";

/* One line: its name, and a value of which log10 is known. */
struct number {
    const char *name;
    double value, log10;
};

/* What numbers that are 0 are. */
enum zero {
    ZERO_TINY,   /* of the softmax: only beyond all doubles */
    ZERO_EXACT,  /* a single key, a masked one */
    ZERO_DOUBLE, /* of other bends, as doubles have it */
    ZEROS
};

static enum zero zero_of(const struct av_softmax_row *row)
{
    return row->form != NULL ? ZERO_DOUBLE : row->stats->keys >= 2 ? ZERO_TINY : ZERO_EXACT;
}

/* What vanishes is never shown as 0: a single key alone makes it exactly so,
 * and where even the gap of the logits passes the largest double, it is said.
 * Far below the smallest double the value is as good as its logarithm. */
static void draw_number(struct av_canvas *c, struct av_rect r, const struct number *n, enum zero zero)
{
    static const char *const zeros[ZEROS] = { "< 10^-1e308", "0 exactly", "0" };
    char text[AV_NUMBER_MAX];
    int right = r.x + r.w;
    av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TEXT, n->name);
    if (isinf(n->log10)) {
        av_plot_fit(c, r.x + VALUE_AT, right, r.y, AV_ROLE_TEXT, zeros[zero]);
    } else if (n->log10 < LOG_LEAST) {
        av_plot_fit(c, r.x + VALUE_AT, right, r.y, AV_ROLE_TEXT, av_plot_tiny(text, n->value, n->log10, 3));
    } else {
        av_plot_fit(c, r.x + VALUE_AT, r.x + LOG_AT - 1, r.y, AV_ROLE_TEXT, av_plot_tiny(text, n->value, n->log10, 4));
        snprintf(text, sizeof text, "%.2f", round(n->log10 * 100) / 100 + 0.0); /* no -0.00 */
        av_plot_fit(c, r.x + LOG_AT, right, r.y, AV_ROLE_DIM, text);
    }
}

static void draw_title(struct av_canvas *c, struct av_rect r, const char *title, const char *log10)
{
    av_plot_fit(c, r.x + 1, r.x + r.w, r.y, AV_ROLE_TITLE, title);
    av_plot_fit(c, r.x + LOG_AT, r.x + r.w, r.y, AV_ROLE_DIM, log10);
}

/* "87% of ln 3", "2.593 effective keys". */
static void draw_entropy(struct av_canvas *c, struct av_rect r, const struct av_rowstats *row)
{
    char number[AV_NUMBER_MAX];
    char text[96];
    if (row->keys >= 2) {
        double share = fmax(row->entropy / log((double)row->keys), DBL_MIN); /* small, never 0 */
        av_panel_percent(number, share);
        snprintf(text, sizeof text, "%s of ln %zu", number, row->keys);
        av_plot_fit(c, r.x + VALUE_AT, r.x + r.w, r.y, AV_ROLE_DIM, text);
    }
    av_plot_fit(c, r.x + 1, r.x + r.w, r.y + 1, AV_ROLE_TEXT, "effective");
    snprintf(text, sizeof text, "%s of %zu key%s", av_plot_number(number, exp(row->entropy), 4), row->keys,
             row->keys == 1 ? "" : "s");
    av_plot_fit(c, r.x + VALUE_AT, r.x + r.w, r.y + 1, AV_ROLE_TEXT, text);
}

static void draw_numbers(struct av_canvas *c, struct av_rect *r, const struct number *numbers, size_t n, enum zero zero)
{
    for (size_t i = 0; i < n; i++, r->y++) {
        draw_number(c, *r, &numbers[i], zero);
    }
}

static struct number entropy_of(const struct av_lab_row *lab, const char *name)
{
    const struct av_rowstats *row = lab->row.stats;
    return (struct number){ name, av_entropy_shown(lab->params, row->entropy),
                            av_entropy_log10_shown(lab->params, av_rowstats_log10_entropy(row)) };
}

/* As much as stands left of its number. */
static const char *entropy_name(const struct av_lab_row *lab)
{
    static const char *const names[2][AV_ENTROPY_UNITS] = { { "H of |w|", "H |w|, bits" },
                                                            { "entropy, nats", "entropy, bits" } };
    return names[lab->simplex][lab->params->entropy_unit];
}

/* The weights' own numbers. */
static void draw_weights(struct av_canvas *c, struct av_rect *r, const struct av_lab_row *lab)
{
    const struct av_rowstats *row = lab->row.stats;
    const struct number entropy = entropy_of(lab, entropy_name(lab));
    const struct number sum = { "row sum", row->row_sum, log10(row->row_sum) };
    enum zero zero = zero_of(&lab->row);
    const struct number rest = { "1 - max", row->one_minus_max, av_rowstats_log10_one_minus_max(row) };
    draw_title(c, *r, "the row", "log10");
    r->y++;
    draw_numbers(c, r, &entropy, 1, zero);
    draw_entropy(c, *r, row);
    r->y += 2;
    draw_numbers(c, r, &rest, 1, zero);
    if (!lab->simplex) {
        draw_numbers(c, r, &sum, 1, zero);
    }
}

static void draw_norms(struct av_canvas *c, struct av_rect *r, const struct av_softmax_row *row)
{
    const struct av_rowstats *stats = row->stats;
    struct av_jacobian_norm rows = av_jacobian_norm_inf(row);
    const struct number numbers[] = {
        { "trace", stats->trace, av_rowstats_log10_trace(stats) },
        { "jacobian_fro", stats->jacobian_fro, av_rowstats_log10_jacobian_fro(stats) },
    };
    const struct number sums = { "row sum, max", rows.value, rows.log10 };
    draw_title(c, *r, "norms of J", "");
    r->y++;
    draw_numbers(c, r, numbers, sizeof numbers / sizeof *numbers, zero_of(row));
    if (row->form == NULL) { /* of symmetric ones only */
        struct av_jacobian_norm norm_2 = av_jacobian_norm_2(row);
        const struct number spectral = { "spectral", norm_2.value, norm_2.log10 };
        draw_numbers(c, r, &spectral, 1, zero_of(row));
    }
    draw_numbers(c, r, &sums, 1, zero_of(row));
}

/* "4", of a given one that temperature and offsets have changed "4, given 8". */
static void draw_logit(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab)
{
    double z = lab->row.z[lab->key];
    double given = lab->given != NULL ? lab->given[lab->key] : z;
    char number[AV_NUMBER_MAX];
    char text[64];
    int right = r.x + r.w;
    av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TEXT, "z");
    int x = av_plot_fit(c, r.x + VALUE_AT, right, r.y, AV_ROLE_TEXT, av_plot_short(number, z, 6));
    if (given < z || given > z) {
        snprintf(text, sizeof text, ", given %s", av_plot_short(number, given, 6));
        av_plot_fit(c, x, right, r.y, AV_ROLE_DIM, text);
    }
}

static void draw_key(struct av_canvas *c, struct av_rect *r, const struct av_lab_row *lab)
{
    const struct av_softmax_row *row = &lab->row;
    size_t j = lab->key;
    bool masked = isinf(row->z[j]) && row->z[j] < 0;
    const struct number numbers[] = {
        { lab->simplex ? "p" : "w", row->p[j], av_softmax_log10_weight(row, j) },
        { lab->simplex ? "dp/dz" : "dw/dz", av_jacobian_entry(row, j, j), av_jacobian_log10_entry(row, j, j) },
    };
    char text[64];
    snprintf(text, sizeof text, "key %zu", j);
    av_plot_fit(c, r->x + 1, r->x + r->w, r->y++, AV_ROLE_SELECT, text);
    draw_logit(c, *r, lab);
    r->y++;
    draw_numbers(c, r, numbers, sizeof numbers / sizeof *numbers, masked ? ZERO_EXACT : zero_of(row));
}

void av_panel_row_line(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab)
{
    const struct av_rowstats *row = lab->row.stats;
    const struct number numbers[] = {
        { "1 - max", row->one_minus_max, av_rowstats_log10_one_minus_max(row) },
        entropy_of(lab, lab->params->entropy_unit == AV_BITS ? "entropy in bits" : "entropy"),
        { "jacobian_fro", row->jacobian_fro, av_rowstats_log10_jacobian_fro(row) },
    };
    char number[AV_NUMBER_MAX];
    char text[64];
    int x = r.x + 1;
    snprintf(text, sizeof text, lab->simplex ? "key %zu: p %s" : "key %zu: w %s", lab->key,
             av_lab_weight(number, &lab->row, lab->key, 4));
    x = av_plot_fit(c, x, r.x + r.w, r.y, AV_ROLE_SELECT, text) + 2;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        av_plot_tiny(number, numbers[i].value, numbers[i].log10, 3);
        snprintf(text, sizeof text, "%s %s", numbers[i].name, number);
        int end = av_plot_fit(c, x, r.x + r.w, r.y, AV_ROLE_TEXT, text);
        x = end > x ? end + 2 : x;
    }
}

void av_panel_row_numbers(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab)
{
    struct av_rect clip = av_plot_enter(c, r);
    int gap = r.h >= LINES;
    struct av_rect at = { r.x, r.y, r.w, 1 };
    draw_weights(c, &at, lab);
    at.y += gap;
    draw_norms(c, &at, &lab->row);
    at.y += gap;
    draw_key(c, &at, lab);
    at.h = r.y + r.h - at.y - 2;
    if (at.h >= LESSON_LEAST_H) {
        av_plot_wrap(c, (struct av_rect){ at.x + 1, at.y + 2, at.w - 1, at.h }, AV_ROLE_DIM,
                     lab->shifts             ? lesson_of_shifts
                     : lab->row.form != NULL ? lesson_of_others
                                             : lesson);
    }
    av_canvas_clip(c, clip);
}
