/* panel_distribution_numbers.c - moments with their errors, against theory. */
#include "panels_distributions.h"

#include "attnviz/utf8.h"

#include <math.h>
#include <stdio.h>

/* ---- an estimate as text ------------------------------------------------------ */

struct av_estimate_text av_panel_estimate(const struct av_estimate *e, int digits)
{
    struct av_estimate_text t = { .error = "" };
    if (!av_estimate_text(t.measured, t.error, e->measured, e->error, digits)) {
        av_plot_number(t.measured, e->measured, 3);
        if (e->error > 0) {
            av_plot_number(t.error, e->error, digits);
        }
    }
    av_plot_short(t.theory, e->theory, 4);
    double deviation = av_estimate_deviation(e);
    if (!isnan(deviation)) {
        snprintf(t.off, sizeof t.off, fabs(deviation) < 1e4 ? "%+.1f se" : "%+.0e se",
                 fabs(deviation) < 0.05 ? 0 : deviation);
    }
    return t;
}

void av_panel_estimate_line(char out[AV_ESTIMATE_MAX], const struct av_estimate *e, struct av_estimate_style style)
{
    struct av_estimate_text t = av_panel_estimate(e, style.digits);
    const char *gap = style.roomy ? " " : "";
    const char *apart = style.tight ? "" : " ";
    int n = snprintf(out, AV_ESTIMATE_MAX, "%s", t.measured);
    if (t.error[0] != '\0') {
        n += snprintf(out + n, AV_ESTIMATE_MAX - (size_t)n, "%s%s%s%s", gap, style.ascii ? "+-" : "±", gap, t.error);
    }
    if (!isnan(e->theory) && style.theory_digits > 0) {
        av_plot_short(t.theory, e->theory, style.theory_digits);
        snprintf(out + n, AV_ESTIMATE_MAX - (size_t)n, "%s(%s)", apart, t.theory);
    }
}

/* ---- lines --------------------------------------------------------------------- */

/* In how many words the lines of a panel are told; the first that fits is. The
 * words go before what they name does. */
static const struct wording {
    bool names; /* "scaled", not its glyph alone */
    bool roomy; /* blanks around the sign of the error */
    bool tight; /* none before theory */
    int glyph;  /* columns, with what follows it */
    int digits, gap;
    bool mean_theory;
    const char *mean, *variance, *kurtosis; /* NULL: left out */
} WORDINGS[] = {
    { true, true, false, 2, 2, 3, true, "mean ", "variance ", "excess kurtosis " },
    { true, false, false, 2, 2, 2, true, "mean ", "var ", "excess kurtosis " },
    { false, false, false, 2, 2, 2, true, "mean ", "var ", "excess kurtosis " },
    { false, false, false, 2, 1, 2, true, "mean ", "var ", "excess kurtosis " },
    { false, false, false, 2, 1, 1, true, "mean ", "var ", "ex. kurt. " },
    { false, false, true, 2, 1, 1, true, "mean ", "var ", "ex. kurt. " },
    { false, false, true, 2, 1, 1, true, "m ", "var ", "kurt " },
    { false, false, true, 2, 1, 1, true, "m ", "v ", "kurt " },
    { false, false, true, 1, 1, 1, true, "m ", "v ", "kurt " },
    { false, false, true, 1, 1, 1, false, "m ", "v ", "kurt " },
    { false, false, true, 1, 1, 1, false, NULL, "v ", NULL },
};

enum { GLYPH_W = 2, NAME_W = 10, LINES = 3, THEORY_DIGITS = 4 };

/* The texts of one panel: of the scores scaled and unscaled, and of both. */
struct lines {
    char mean[2][AV_ESTIMATE_MAX], variance[2][AV_ESTIMATE_MAX]; /* scaled first */
    char title[32], kurtosis[AV_ESTIMATE_MAX];
    int variance_at; /* columns before the variance, aligned in both lines */
    int width;
};

static void put_text(char out[AV_ESTIMATE_MAX], const char *name, const struct av_estimate *e,
                     struct av_estimate_style style)
{
    char text[AV_ESTIMATE_MAX];
    av_panel_estimate_line(text, e, style);
    snprintf(out, AV_ESTIMATE_MAX, "%s%.80s", name, text);
}

static int longer(int a, const char *text)
{
    int b = av_utf8_columns(text);
    return a > b ? a : b;
}

static struct lines make_lines(const struct av_distribution_panel *panel, const struct wording *w, bool ascii)
{
    struct lines l = { .kurtosis = "" };
    struct av_estimate_style style = { w->digits, THEORY_DIGITS, w->roomy, w->tight, ascii };
    struct av_estimate_style of_mean = { w->digits, w->mean_theory ? THEORY_DIGITS : 0, w->roomy, w->tight, ascii };
    struct av_estimate_style of_kurtosis = { w->digits, w->gap > 1 ? THEORY_DIGITS : 2, w->roomy, false, ascii };
    int mean = 0;
    int variance = 0;
    for (size_t i = 0; i < 2; i++) {
        const struct av_distribution *d = &panel->by_scale[1 - i];
        if (w->mean != NULL) {
            put_text(l.mean[i], w->mean, &d->mean, of_mean);
        }
        put_text(l.variance[i], w->variance, &d->variance, style);
        mean = longer(mean, l.mean[i]);
        variance = longer(variance, l.variance[i]);
    }
    snprintf(l.title, sizeof l.title, "d_k %zu", panel->d_k);
    if (w->kurtosis != NULL) {
        put_text(l.kurtosis, w->kurtosis, &panel->kurtosis, of_kurtosis);
    }
    l.variance_at = w->glyph + (w->names ? NAME_W : 0) + (mean > 0 ? mean + w->gap : 0);
    int title = longer(0, l.title) + w->gap + longer(0, l.kurtosis);
    l.width = l.variance_at + variance > title ? l.variance_at + variance : title;
    return l;
}

static int draw_lines(struct av_canvas *c, struct av_rect r, const struct av_distribution_panel *panel)
{
    const size_t count = sizeof WORDINGS / sizeof *WORDINGS;
    size_t at = 0;
    struct lines l = make_lines(panel, &WORDINGS[at], c->ascii);
    while (l.width > r.w && at + 1 < count) {
        l = make_lines(panel, &WORDINGS[++at], c->ascii);
    }
    int x = av_canvas_text(c, r.x, r.y, AV_ROLE_TITLE, l.title);
    av_canvas_text(c, x + WORDINGS[at].gap, r.y, AV_ROLE_TEXT, l.kurtosis);
    for (int i = 0; i < 2; i++) {
        struct av_look look = av_look_scale(i == 0);
        int y = r.y + 1 + i;
        av_canvas_put(c, r.x, y, look.fill.body, look.fill.role);
        x = r.x + WORDINGS[at].glyph;
        if (WORDINGS[at].names) {
            av_canvas_text(c, x, y, look.fill.role, look.name);
            x += NAME_W;
        }
        av_canvas_text(c, x, y, AV_ROLE_TEXT, l.mean[i]);
        av_canvas_text(c, r.x + l.variance_at, y, AV_ROLE_TEXT, l.variance[i]);
    }
    return LINES;
}

/* ---- a table ------------------------------------------------------------------- */

enum { QUANTITY_AT = 11, NUMBERS_AT = 27, COLUMN = 11, TABLE_W = NUMBERS_AT + 4 * COLUMN, TABLE_H = 6 };

static void draw_row(struct av_canvas *c, int x, int y, const char *quantity, const struct av_estimate *e)
{
    struct av_estimate_text t = av_panel_estimate(e, 2);
    av_canvas_text(c, x + QUANTITY_AT, y, AV_ROLE_TEXT, quantity);
    av_canvas_text_right(c, x + NUMBERS_AT + COLUMN, y, AV_ROLE_TEXT, t.measured);
    av_canvas_text_right(c, x + NUMBERS_AT + 2 * COLUMN, y, AV_ROLE_TEXT, t.error);
    av_canvas_text_right(c, x + NUMBERS_AT + 3 * COLUMN, y, AV_ROLE_CURVE, t.theory);
    av_canvas_text_right(c, x + NUMBERS_AT + 4 * COLUMN, y, AV_ROLE_DIM, t.off);
}

static int draw_table(struct av_canvas *c, struct av_rect r, const struct av_distribution_panel *panel)
{
    const char *const heads[] = { "measured", c->ascii ? "+- se" : "± se", "theory", "off by" };
    int y = r.y;
    av_canvas_textf(c, r.x, y, AV_ROLE_TITLE, "d_k %zu", panel->d_k);
    for (int i = 0; i < 4; i++) {
        av_canvas_text_right(c, r.x + NUMBERS_AT + (i + 1) * COLUMN, y, AV_ROLE_DIM, heads[i]);
    }
    for (int i = 0; i < 2; i++) {
        struct av_look look = av_look_scale(i == 0);
        const struct av_distribution *d = &panel->by_scale[1 - i];
        av_canvas_put(c, r.x, ++y, look.fill.body, look.fill.role);
        av_canvas_text(c, r.x + GLYPH_W, y, look.fill.role, look.name);
        draw_row(c, r.x, y, "mean", &d->mean);
        draw_row(c, r.x, ++y, "variance", &d->variance);
    }
    av_canvas_text(c, r.x + GLYPH_W, ++y, AV_ROLE_TEXT, "both");
    draw_row(c, r.x, y, "excess kurtosis", &panel->kurtosis);
    return TABLE_H;
}

int av_panel_distribution_numbers(struct av_canvas *c, struct av_rect r, const struct av_distribution_panel *panel,
                                  bool table)
{
    bool fits = r.w >= TABLE_W && r.h >= TABLE_H + AV_DISTRIBUTION_H;
    return table && fits ? draw_table(c, r, panel) : draw_lines(c, r, panel);
}
