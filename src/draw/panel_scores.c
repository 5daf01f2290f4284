/* panel_scores.c - the scores scaled and unscaled, on one axis of scores.
 *
 * The scaled density is sqrt(d_k) times as high as the unscaled one: on one
 * common height the wide one would be a flat line. So the two stand above each
 * other on the same axis, where their widths compare, and each fills its own
 * height, which its axis names. */
#include "panels.h"

#include "attnviz/utf8.h"

#include <math.h>
#include <stdio.h>

enum {
    MARGIN = 9, /* columns for the labels of the axes */
    AXIS_H = 2,
    PLOT_LEAST = 2,
    TITLE_H = 1
};

/* A density by bins over [lo, hi]. */
struct series {
    const double *density;
    size_t bins;
    double lo, hi;
};

/* Mean density over [a, b]; 0 outside of the bins. */
static double mean_density(const struct series *s, double a, double b)
{
    double width = (s->hi - s->lo) / (double)s->bins;
    double from = (a - s->lo) / width;
    double to = (b - s->lo) / width;
    double sum = 0;
    size_t first = from > 0 ? (size_t)fmin(from, (double)s->bins) : 0;
    for (size_t bin = first; bin < s->bins && (double)bin < to; bin++) {
        double part = fmin((double)(bin + 1), to) - fmax((double)bin, from);
        sum += part > 0 ? part * s->density[bin] : 0;
    }
    return sum / (to - from);
}

static double at_column(const struct series *s, const struct av_axis *a, int column)
{
    double width = (a->hi - a->lo) / a->cells;
    return mean_density(s, a->lo + width * column, a->lo + width * (column + 1));
}

static double highest(const struct series *s, const struct av_axis *a)
{
    double top = 0;
    for (int i = 0; i < a->cells && s->density != NULL; i++) {
        top = fmax(top, at_column(s, a, i));
    }
    return top;
}

/* One of the two histograms. */
struct plot {
    bool scale, now;
    double factor;                    /* of the scores */
    struct series bars, curve, ghost; /* density NULL: not drawn */
};

static struct plot make_plot(const struct av_view_context *ctx, bool scale)
{
    const struct av_snapshot *s = ctx->snapshot;
    const struct av_score_histogram *h = &s->histogram;
    struct series bars = { scale ? h->scaled : h->unscaled, h->bins, h->lo, h->hi };
    struct series curve = { scale ? h->scaled_curve : h->unscaled_curve, h->bins, h->lo, h->hi };
    struct plot p = { .scale = scale, .now = (s->params.scale != 0) == scale, .bars = bars, .curve = curve };
    p.factor = scale ? h->scaled_factor : h->unscaled_factor;
    const struct av_ghost *g = ctx->ghost;
    if (g->on && g->now.scale == scale && g->bins > 0 && g->hi > g->lo) {
        p.ghost = (struct series){ g->density, g->bins, g->lo, g->hi };
    }
    return p;
}

/* A density as dots, so that the tops of the bars stay in sight between them,
 * in every second column from `first` on. On a full cell a dot is reversed. */
static void draw_dots(struct av_canvas *c, struct av_rect r, const struct av_axis *a, const struct series *s,
                      double top, struct av_fill dot, int first)
{
    for (int i = first; i < a->cells; i += 2) {
        double height = at_column(s, a, i) / top * r.h;
        int x = r.x + MARGIN + i;
        int y = r.y + r.h - 1 - (int)fmin(height, r.h - 1);
        if (height > 0.05) { /* dots along the axis would be noise */
            const struct av_cell *cell = av_canvas_at(c, x, y);
            bool full = cell->code == 0x2588 && !cell->mark;
            av_canvas_put(c, x, y, dot.body, full ? (enum av_role)cell->role : dot.role);
            if (full) {
                av_canvas_mark(c, (struct av_rect){ x, y, 1, 1 });
            }
        }
    }
}

static struct av_look look_of(const struct av_snapshot *s, const struct plot *p)
{
    return av_panel_holds(s) != NULL ? av_look_now(s) : av_look_scale(p->scale);
}

static void draw_columns(struct av_canvas *c, struct av_rect r, const struct av_axis *a, const struct av_snapshot *s,
                         const struct plot *p)
{
    static const struct av_fill curve = { AV_MARK_CURVE, AV_ROLE_CURVE };
    static const struct av_fill ghost = { AV_MARK_GHOST, AV_ROLE_GHOST };
    double top = fmax(fmax(highest(&p->bars, a), highest(&p->curve, a)), highest(&p->ghost, a));
    if (!(top > 0)) {
        return;
    }
    struct av_fill fill = look_of(s, p).fill;
    struct av_axis height = { 0, top, false, r.h };
    av_plot_axis_y(c, &height, r.x + MARGIN - 1, r.y, MARGIN - 1);
    for (int i = 0; i < a->cells; i++) {
        av_plot_column(c, r.x + MARGIN + i, r.y + r.h - 1, r.h, at_column(&p->bars, a, i) / top, fill);
    }
    int middle = a->cells / 2 % 2;
    draw_dots(c, r, a, &p->curve, top, curve, middle);
    if (p->ghost.density != NULL) {
        draw_dots(c, r, a, &p->ghost, top, ghost, 1 - middle);
    }
}

/* What the dots are; where no theory names the dot, the dot itself, too. */
static void draw_kind(struct av_canvas *c, int *x, int right, int y, const struct av_snapshot *s, bool bare)
{
    const char *kinds[] = { s->histogram.exact ? "exact density" : "normal approx.",
                            s->histogram.exact ? "exact" : "normal" };
    int from = *x + (bare ? 3 : 2);
    for (size_t i = 0; i < 2 && *x < from; i++) {
        int end = av_plot_fit(c, from, right, y, AV_ROLE_DIM, kinds[i]);
        if (end > from) {
            if (bare) {
                av_canvas_put(c, *x + 1, y, AV_MARK_CURVE, AV_ROLE_CURVE);
            }
            *x = end;
        }
    }
}

/* Columns of the title, behind swatch and name: "now", the variance. */
enum { NOW_AT = 12, VAR_AT = 17 };

/* From this share on it is said that scores lie outside of the axis. */
static const double BEYOND_LEAST = 0.005;

/* Pieces of the title behind the names, some of them empty. */
struct words {
    char var[64], theory[64];
    char beyond[3][64]; /* in full, shorter, shortest */
};

static void make_words(struct words *w, const struct av_snapshot *s, const struct plot *p)
{
    char number[AV_NUMBER_MAX];
    double growth = p->factor * p->factor;
    *w = (struct words){ .var = "" };
    snprintf(w->var, sizeof w->var, "var %s", av_plot_number(number, growth * av_moments_var(&s->score_moments), 3));
    if (!isnan(s->expected_var)) {
        av_plot_short(number, growth * s->expected_var, 4);
        snprintf(w->theory, sizeof w->theory, " • theory %s", number);
    }
    double beyond = p->scale ? s->histogram.scaled_beyond : s->histogram.unscaled_beyond;
    if (beyond > BEYOND_LEAST) {
        av_panel_percent(number, beyond);
        snprintf(w->beyond[0], sizeof w->beyond[0], "  %s beyond ◂ ▸", number);
        snprintf(w->beyond[1], sizeof w->beyond[1], "  %s beyond", number);
        snprintf(w->beyond[2], sizeof w->beyond[2], "  ◂ %s ▸", number);
    }
}

/* "var 1023 • theory 1024  31% beyond ◂ ▸": where that is too long, what is
 * beyond goes into fewer words, then theory goes, then what is beyond. Tells
 * whether theory stands. */
static bool draw_words(struct av_canvas *c, int *x, int right, int y, const struct words *w, enum av_role role)
{
    const struct {
        bool theory;
        const char *beyond;
    } tries[] = { { true, w->beyond[0] },  { true, w->beyond[1] }, { true, w->beyond[2] }, { false, w->beyond[0] },
                  { false, w->beyond[2] }, { true, "" },           { false, "" } };
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        const char *theory = tries[i].theory ? w->theory : "";
        int width = av_utf8_columns(w->var) + av_utf8_columns(theory) + av_utf8_columns(tries[i].beyond);
        if (width <= right - *x) {
            *x = av_canvas_text(c, *x, y, role, w->var);
            *x = av_canvas_text(c, *x, y, AV_ROLE_CURVE, theory);
            *x = av_canvas_text(c, *x, y, AV_ROLE_WARN, tries[i].beyond);
            return theory[0] != '\0';
        }
    }
    return false;
}

/* Of a variant the scores are only the beginning: what it makes of them has a
 * spread of its own. */
static void draw_varied(struct av_canvas *c, struct av_rect r, int y, const struct av_snapshot *s)
{
    char name[AV_PIECE_MAX];
    char number[AV_NUMBER_MAX];
    char texts[3][AV_PIECE_MAX + 96];
    int x = r.x + 1;
    av_panel_variant(name, s);
    av_plot_number(number, av_moments_std(&s->now.logits), 3);
    snprintf(texts[0], sizeof texts[0], "%s before %s, whose logits have std %s",
             s->from == AV_PART_SCORES ? "scores" : "q·k", name, number);
    snprintf(texts[1], sizeof texts[1], "before %s: logits std %s", name, number);
    snprintf(texts[2], sizeof texts[2], "before the variant: logits std %s", number);
    for (int i = 0, end = x; i < 3 && end == x; i++) {
        end = av_plot_fit(c, x, r.x + r.w, y, AV_ROLE_TEXT, texts[i]);
    }
}

/* "scaled now  var 1.01 • theory 1": what is drawn, and its width in a number. */
static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s, const struct plot *p)
{
    struct av_look look = look_of(s, p);
    int right = r.x + r.w;
    av_panel_legend(c, r.x + 1, right, r.y, look.fill, look.name);
    if (p->now && !s->varied) {
        av_plot_fit(c, r.x + NOW_AT, right, r.y, AV_ROLE_SELECT, "now");
    }
    struct words words;
    make_words(&words, s, p);
    int x = r.x + VAR_AT;
    bool theory = draw_words(c, &x, right, r.y, &words, p->now ? AV_ROLE_TEXT : AV_ROLE_DIM);
    if (p->ghost.density != NULL) {
        struct av_fill kept = { AV_MARK_GHOST, AV_ROLE_GHOST };
        int end = av_panel_legend(c, x + 2, right, r.y, kept, "kept");
        x = end > x + 2 ? end - 2 : x;
    }
    draw_kind(c, &x, right, r.y, s, !theory);
}

/* Which of the two stand in a rectangle: both, or where it is too low the
 * current one alone. */
static size_t choose_plots(struct plot plots[2], struct av_rect r, const struct av_view_context *ctx)
{
    plots[0] = make_plot(ctx, true);
    plots[1] = make_plot(ctx, false);
    if (av_panel_holds(ctx->snapshot) != NULL) {
        plots[0].now = true;
        return 1; /* they are what was multiplied already */
    }
    if (r.h >= AXIS_H + 2 * (TITLE_H + PLOT_LEAST)) {
        return 2;
    }
    plots[0] = plots[0].now ? plots[0] : plots[1];
    return 1;
}

void av_panel_scores(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    const struct av_score_histogram *h = &s->histogram;
    struct av_rect clip = av_plot_enter(c, r);
    struct av_axis axis = { h->lo, h->hi, false, r.w - MARGIN - 1 };
    if (h->bins == 0 || !(h->hi > h->lo)) {
        char lacks[AV_LACK_MAX];
        av_plot_wrap(c, (struct av_rect){ r.x + 1, r.y, r.w - 2, r.h }, AV_ROLE_DIM,
                     s->from_logits ? "logits given: no scores. See the views weights and softmax."
                     : av_panel_holds(s) && s->scores == NULL ? av_panel_lacks(lacks, s, "scores")
                                                              : "no scores to show");
    } else if (r.h >= AXIS_H + TITLE_H + 1 + s->varied && axis.cells >= 8) {
        struct plot plots[2];
        int y = r.y;
        if (s->varied) {
            draw_varied(c, r, y++, s);
            r.h--;
        }
        size_t n = choose_plots(plots, r, ctx);
        int lines = r.h - AXIS_H - (int)n * TITLE_H;
        for (size_t i = 0; i < n; i++) {
            int plot_h = n == 1 ? lines : i == 0 ? lines / 2 : lines - lines / 2;
            draw_title(c, (struct av_rect){ r.x, y, r.w, TITLE_H }, s, &plots[i]);
            draw_columns(c, (struct av_rect){ r.x, y + TITLE_H, r.w, plot_h }, &axis, s, &plots[i]);
            y += TITLE_H + plot_h;
        }
        av_canvas_put(c, r.x + MARGIN - 1, y, 0x2514, AV_ROLE_AXIS);
        av_plot_axis_x(c, &axis, r.x + MARGIN, y, 1);
        av_plot_fit(c, r.x + 1, r.x + MARGIN - 1, y, AV_ROLE_DIM, "density");
        av_plot_fit(c, r.x + 1, r.x + MARGIN - 1, y + 1, AV_ROLE_DIM, "score");
    }
    av_canvas_clip(c, clip);
}
