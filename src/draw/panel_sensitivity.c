/* panel_sensitivity.c - one key's logit moves, the others stay: its weight,
 * and how fast it changes.
 *
 * Above p and 1 - p = d ln p / dz, below dp/dz = p (1 - p) on an axis of its
 * own, both over the key's logit. */
#include "panels_softmax.h"

#include "attnviz/sensitivity.h"

#include <math.h>
#include <stdio.h>

enum {
    MARGIN = 6,
    LABEL_ROOM = 2, /* of it, for the first label of the axis of z */
    TITLE_H = 1,
    AXIS_H = 2,
    WORDS_H = 3,
    PLOT_LEAST_H = 2,
    CELLS_LEAST = 8,
    MARK_P = 0x25CF,
    MARK_REST = 0x25CB
};

/* What is drawn, and where: the two plots share an axis of z. */
struct sweep {
    const struct av_lab_row *lab;
    struct av_sensitivity s;
    struct av_axis z;
    double now;              /* the key's own logit */
    struct av_rect p, slope; /* cells of the plots, without axes */
};

static bool on_axis(const struct sweep *w, double z)
{
    return z >= w->z.lo && z <= w->z.hi;
}

static int column_of(const struct sweep *w, double z)
{
    return w->p.x + av_axis_cell(&w->z, z);
}

/* ---- curves ----------------------------------------------------------- */

/* A curve that rises or falls all the way: from its value at the left edge of
 * each column to that at the right one. */
static void draw_curve(struct av_canvas *c, const struct sweep *w, bool rest, struct av_fill mark)
{
    double width = (w->z.hi - w->z.lo) / w->z.cells;
    struct av_axis unit = { 0, 1, false, w->p.h };
    for (int i = 0; i < w->z.cells; i++) {
        struct av_sensitivity_point a = av_sensitivity_at(&w->s, w->z.lo + width * i);
        struct av_sensitivity_point b = av_sensitivity_at(&w->s, w->z.lo + width * (i + 1));
        int from = av_axis_cell(&unit, rest ? b.one_minus_p : a.p);
        int to = av_axis_cell(&unit, rest ? a.one_minus_p : b.p);
        for (int k = from; k <= to; k++) {
            av_canvas_put(c, w->p.x + i, w->p.y + w->p.h - 1 - k, mark.body, mark.role);
        }
    }
}

static void draw_slope(struct av_canvas *c, const struct sweep *w)
{
    static const struct av_fill fill = { 0x2588, AV_ROLE_BAR };
    double width = (w->z.hi - w->z.lo) / w->z.cells;
    for (int i = 0; i < w->z.cells; i++) {
        double from = w->z.lo + width * i;
        double part = av_sensitivity_steepest(&w->s, from, from + width) / AV_JACOBIAN_LARGEST;
        if (part * 8 * w->slope.h >= 0.5) { /* 0 shall look like 0 */
            av_plot_column(c, w->slope.x + i, w->slope.y + w->slope.h - 1, w->slope.h, part, fill);
        }
    }
}

/* The key's own z, through both plots; beside them an arrow where it lies
 * outside. */
static void draw_now(struct av_canvas *c, const struct sweep *w)
{
    bool inside = on_axis(w, w->now);
    int x = column_of(w, w->now);
    uint32_t code = inside ? 0x2502 : w->now < w->z.lo ? 0x25C2 : 0x25B8;
    for (int y = w->p.y; y < w->slope.y + w->slope.h; y++) {
        if (y < w->p.y + w->p.h || y >= w->slope.y) {
            bool full = av_canvas_at(c, x, y)->code == 0x2588;
            av_canvas_put(c, x, y, full ? 0x2588 : code, AV_ROLE_TITLE);
        }
    }
}

/* ---- words ------------------------------------------------------------ */

/* Where the peak is, in the terms of the others: "ln 99 = 4.595". */
static void peak_text(char out[96], const struct av_sensitivity *s)
{
    char number[AV_NUMBER_MAX];
    char top[AV_NUMBER_MAX];
    av_plot_number(number, av_sensitivity_peak(s), 4);
    if (s->others == 1) {
        snprintf(out, 96, "the other's z = %s", number);
    } else if (s->equal && s->top == 0) {
        snprintf(out, 96, "ln %zu = %s", s->others, number);
    } else if (s->equal) {
        snprintf(out, 96, "%s + ln %zu = %s", av_plot_short(top, s->top, 4), s->others, number);
    } else {
        snprintf(out, 96, "ln sum exp(others) = %s", number);
    }
}

/* The peak's place in the terms of the others, else in brief; it is marked
 * over its column, on the side that has room, or at the end beyond which it
 * lies. Tells whether it fitted. */
static bool mark_peak(struct av_canvas *c, const struct sweep *w, int x, int y, const char *where)
{
    char text[128];
    int right = w->p.x + w->z.cells;
    double peak = av_sensitivity_peak(&w->s);
    int at = column_of(w, peak);
    if (peak > w->z.hi) {
        snprintf(text, sizeof text, "peak 0.25 outside, z = %s ▸", where);
        return av_plot_fit_right(c, x, right, y, AV_ROLE_CURVE, text) < right;
    }
    if (peak < w->z.lo) {
        snprintf(text, sizeof text, "◂ peak 0.25 outside, z = %s", where);
        return av_plot_fit(c, x, right, y, AV_ROLE_CURVE, text) > x;
    }
    snprintf(text, sizeof text, "▼ 0.25 at z = %s", where);
    if (at >= x && av_plot_fit(c, at, right, y, AV_ROLE_CURVE, text) > at) {
        return true;
    }
    snprintf(text, sizeof text, "0.25 at z = %s ▼", where);
    return av_plot_fit_right(c, x, at + 1, y, AV_ROLE_CURVE, text) <= at;
}

/* The line between the plots: the lower one's name, and its peak. */
static void draw_peak(struct av_canvas *c, const struct sweep *w)
{
    char where[96];
    char brief[AV_NUMBER_MAX];
    int y = w->slope.y - 1;
    int x = av_plot_fit(c, w->p.x - MARGIN + 1, w->p.x + w->z.cells, y, AV_ROLE_TITLE, "dp/dz = p (1 - p)") + 1;
    peak_text(where, &w->s);
    if (!mark_peak(c, w, x, y, where)) {
        mark_peak(c, w, x, y, av_plot_number(brief, av_sensitivity_peak(&w->s), 4));
    }
}

/* "● p   ○ 1 - p = d ln p/dz   │ key 0 now   key 0 moves, 99 others stay". */
static void draw_legend(struct av_canvas *c, struct av_rect r, const struct sweep *w)
{
    char text[96];
    int right = r.x + r.w;
    int x = r.x + 1;
    x = av_panel_legend(c, x, right, r.y, (struct av_fill){ MARK_P, AV_ROLE_SCALED }, "p");
    x = av_panel_legend(c, x, right, r.y, (struct av_fill){ MARK_REST, AV_ROLE_UNSCALED }, "1 - p = d ln p/dz");
    snprintf(text, sizeof text, "key %zu now", w->lab->key);
    x = av_panel_legend(c, x, right, r.y, (struct av_fill){ 0x2502, AV_ROLE_TITLE }, text);
    snprintf(text, sizeof text, "its z moves, %zu other%s", w->s.others, w->s.others == 1 ? " stays" : "s stay");
    av_plot_fit(c, x, right, r.y, AV_ROLE_DIM, text);
}

/* Pieces of one line, as far as they fit; the first is what the others are of. */
static void draw_pieces(struct av_canvas *c, struct av_rect r, char pieces[][64], int n, enum av_role first)
{
    int x = r.x + 1;
    for (int i = 0; i < n; i++) {
        int end = av_plot_fit(c, x, r.x + r.w, r.y, i == 0 ? first : AV_ROLE_TEXT, pieces[i]);
        x = end > x ? end + 2 : x;
    }
}

/* "key 0: z 1.0  p 0.5465  1 - p 0.4535  dp/dz 0.2478". */
static void draw_values(struct av_canvas *c, struct av_rect r, const struct sweep *w)
{
    const struct av_softmax_row *row = &w->lab->row;
    struct av_sensitivity_point at = av_sensitivity_at(&w->s, w->now);
    size_t j = w->lab->key;
    char pieces[4][64];
    char number[AV_NUMBER_MAX];
    snprintf(pieces[0], 64, "key %zu: z %s", j, av_plot_short(number, w->now, 8));
    snprintf(pieces[1], 64, "p %s", av_lab_weight(number, row, j, 4));
    snprintf(pieces[2], 64, "dp/dz %s",
             av_plot_tiny(number, av_jacobian_entry(row, j, j), av_jacobian_log10_entry(row, j, j), 4));
    snprintf(pieces[3], 64, "1 - p %s", av_plot_tiny(number, at.one_minus_p, at.log10_one_minus_p, 4));
    draw_pieces(c, r, pieces, 4, AV_ROLE_SELECT);
}

/* The slope where it is said to fade or to be greatest. */
static void draw_examples(struct av_canvas *c, struct av_rect r, const struct sweep *w)
{
    static const double at[] = { 0, 4, 10 };
    char pieces[4][64] = { "dp/dz" };
    for (int i = 0; i < 3; i++) {
        char number[AV_NUMBER_MAX];
        struct av_sensitivity_point p = av_sensitivity_at(&w->s, at[i]);
        av_plot_tiny(number, p.slope, p.log10_slope, 3);
        snprintf(pieces[i + 1], 64, "at z = %.0f: %s", at[i], number);
    }
    draw_pieces(c, r, pieces, 4, AV_ROLE_DIM);
}

/* "dp/dz is 0.25, its peak, at z = ln 99 = 4.595: ...", as far as it fits. */
static void draw_reason(struct av_canvas *c, struct av_rect r, const struct sweep *w)
{
    char where[96];
    char text[3][256];
    peak_text(where, &w->s);
    snprintf(text[2], 128, "peak of 0.25 at z = %s", where);
    snprintf(text[1], sizeof text[1], "%.127s: there p = 1/2", text[2]);
    snprintf(text[0], sizeof text[0], "%.127s: there p = 1/2, as much as the rest", text[2]);
    for (int i = 0, x = r.x + 1; i < 3 && x == r.x + 1; i++) {
        x = av_plot_fit(c, x, r.x + r.w, r.y, AV_ROLE_TEXT, text[i]);
    }
}

static void draw_words(struct av_canvas *c, struct av_rect r, const struct sweep *w)
{
    draw_values(c, r, w);
    r.y++;
    draw_examples(c, r, w);
    r.y++;
    draw_reason(c, r, w);
}

/* ---- the panel -------------------------------------------------------- */

static void draw_plots(struct av_canvas *c, const struct sweep *w)
{
    int x = w->p.x - 1;
    struct av_axis unit = { 0, 1, false, w->p.h };
    struct av_axis quarter = { 0, AV_JACOBIAN_LARGEST, false, w->slope.h };
    av_plot_axis_y(c, &unit, x, w->p.y, MARGIN - 1);
    av_plot_axis_y(c, &quarter, x, w->slope.y, MARGIN - 1);
    draw_slope(c, w);
    draw_now(c, w);
    draw_curve(c, w, true, (struct av_fill){ MARK_REST, AV_ROLE_UNSCALED });
    draw_curve(c, w, false, (struct av_fill){ MARK_P, AV_ROLE_SCALED });
    draw_peak(c, w);
    av_plot_axis_x(c, &w->z, w->p.x, w->slope.y + w->slope.h, LABEL_ROOM);
    av_canvas_text_right(c, w->p.x - LABEL_ROOM - 1, w->slope.y + w->slope.h + 1, AV_ROLE_DIM, "z");
}

/* The plots' cells in r; false when they have no room. */
static bool place(struct sweep *w, struct av_rect r)
{
    int lines = r.h - 2 * TITLE_H - AXIS_H;
    int words = lines >= 2 * PLOT_LEAST_H + WORDS_H ? WORDS_H : 0;
    lines -= words;
    int cells = r.w - MARGIN - 1;
    if (lines < 2 * PLOT_LEAST_H || cells < CELLS_LEAST) {
        return false;
    }
    int upper = lines / 2;
    w->z = (struct av_axis){ -w->lab->range, w->lab->range, false, cells };
    w->p = (struct av_rect){ r.x + MARGIN, r.y + TITLE_H, cells, upper };
    w->slope = (struct av_rect){ r.x + MARGIN, r.y + TITLE_H + upper + TITLE_H, cells, lines - upper };
    return true;
}

void av_panel_sensitivity(struct av_canvas *c, struct av_rect r, const struct av_lab_row *lab)
{
    const struct av_softmax_row *row = &lab->row;
    struct sweep w = { .lab = lab, .s = av_sensitivity_make(row->z, row->n, lab->key), .now = row->z[lab->key] };
    struct av_rect text = { r.x + 1, r.y, r.w - 2, r.h };
    if (row->form != NULL) {
        char words[160];
        snprintf(words, sizeof words,
                 "This page is of the softmax: p is the logistic function of z - ln sum exp(others). %s has no such "
                 "curve. v: the row.",
                 lab->bend);
        av_plot_wrap(c, text, AV_ROLE_TEXT, words);
        return;
    }
    if (w.s.others == 0) {
        av_plot_wrap(c, text, AV_ROLE_TEXT, "p = 1 whatever z is: the softmax of a single key ignores its logit.");
        return;
    }
    if (!isfinite(w.now) || !isfinite(w.s.top)) {
        av_plot_wrap(c, text, AV_ROLE_WARN, "no curve: a logit is masked or beyond the largest double.");
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    if (place(&w, r)) {
        draw_legend(c, r, &w);
        draw_plots(c, &w);
        draw_words(c, (struct av_rect){ r.x, w.slope.y + w.slope.h + AXIS_H, r.w, 1 }, &w);
    } else {
        draw_values(c, r, &w);
    }
    av_canvas_clip(c, clip);
}
