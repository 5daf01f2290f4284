/* panel_chain.c - the chain from entries to the gradient, line by line. */
#include "attnviz/derivation.h"
#include "attnviz/utf8.h"
#include "panels_derivation.h"

#include <math.h>
#include <stdio.h>

enum { FORMULA_AT = 3, FORMULA_LEAST = 25, INDENT = 5, COLUMNS = 4, MARK_W = 2 };

/* Columns of numbers from the right edge of the formulas on; the first to go
 * as the panel gets narrower is the one with the highest `sheds`. */
static const struct {
    const char *title;
    int width, sheds;
} COLUMN[COLUMNS] = { { "textbook", 9, 2 }, { "true", 9, 1 }, { "measured", 10, 0 }, { "± se", 8, 3 } };

enum { TEXTBOOK, TRUE_VALUE, MEASURED, ERROR };

/* Where everything stands, and which lines there is room for. */
struct plan {
    int right;         /* of the formulas */
    int edge[COLUMNS]; /* right edge of a column, 0: shed */
    bool below[AV_CHAIN_STEPS];
    bool needs[AV_CHAIN_STEPS];
    int details; /* lines of details, of all steps together */
    bool foot, gaps;
};

static void place_columns(struct plan *p, struct av_rect r)
{
    int room = r.w - FORMULA_AT - FORMULA_LEAST - MARK_W;
    int shown = COLUMNS;
    int total = 0;
    for (int i = 0; i < COLUMNS; i++) {
        total += COLUMN[i].width;
    }
    while (shown > 0 && total > room) {
        shown--;
        for (int i = 0; i < COLUMNS; i++) {
            total -= COLUMN[i].sheds == shown ? COLUMN[i].width : 0;
        }
    }
    p->right = r.x + r.w - MARK_W - total;
    int x = p->right;
    for (int i = 0; i < COLUMNS; i++) {
        bool here = COLUMN[i].sheds < shown;
        x += here ? COLUMN[i].width : 0;
        p->edge[i] = here ? x : 0;
    }
}

static int width(const char *text)
{
    return av_utf8_columns(text);
}

/* Does what stands instead of the textbook's value fit behind the formula? */
static bool fits_behind(const struct av_chain_step *s, int room)
{
    enum { ARROW_W = 3 };
    return width(s->formula) + ARROW_W + width(s->instead) <= room;
}

static bool is_broken(const struct av_chain_step *s)
{
    return s->state == AV_CHAIN_BROKEN;
}

static int count_details(const struct av_chain_step *s)
{
    int n = 0;
    for (int i = 0; is_broken(s) && i < AV_CHAIN_DETAILS; i++) {
        n += s->detail[i][0] != '\0';
    }
    return n;
}

/* Says which lines get what they need said while `left` lasts: the broken
 * ones, then all others or none. Returns what is left. */
static int plan_needs(struct plan *p, const struct av_chain *chain, int left)
{
    int others = 0;
    for (size_t i = 0; i < chain->count; i++) {
        bool here = is_broken(&chain->steps[i]) && left > 0;
        p->needs[i] = here;
        left -= here;
        others += !here;
    }
    if (left < others) {
        return left;
    }
    for (size_t i = 0; i < chain->count; i++) {
        p->needs[i] = true;
    }
    return left - others;
}

/* What h lines hold: the lines of the chain, the legend, corrected formulas,
 * needs, and gaps between groups, in this order. */
static struct plan make_plan(const struct av_chain *chain, struct av_rect r, int h)
{
    enum { GAPS = 3 };
    struct plan p = { 0 };
    place_columns(&p, r);
    int left = h - (int)chain->count;
    p.foot = left > 0;
    left -= p.foot;
    int details = 0;
    for (size_t i = 0; i < chain->count; i++) {
        const struct av_chain_step *s = &chain->steps[i];
        bool behind = fits_behind(s, p.right - r.x - FORMULA_AT);
        p.below[i] = is_broken(s) && s->instead[0] != '\0' && !behind && left > 0;
        left -= p.below[i];
        details += count_details(s);
    }
    p.details = details < left ? details : left > 0 ? left : 0;
    left -= p.details;
    left = plan_needs(&p, chain, left);
    p.gaps = left >= GAPS;
    return p;
}

/* ---- Drawing ------------------------------------------------------------------ */

static void draw_number(struct av_canvas *c, const struct plan *p, int column, int y, enum av_role role,
                        const char *text)
{
    int edge = p->edge[column];
    if (edge > 0) {
        av_plot_fit_right(c, edge - COLUMN[column].width + 1, edge, y, role, text);
    }
}

static void draw_heads(struct av_canvas *c, struct av_rect r, const struct plan *p)
{
    for (int i = 0; i < COLUMNS; i++) {
        draw_number(c, p, i, r.y, AV_ROLE_DIM, i == ERROR && c->ascii ? "+- se" : COLUMN[i].title);
    }
    av_plot_fit(c, r.x + 1, p->right, r.y, AV_ROLE_TITLE, "the chain");
}

static void draw_numbers(struct av_canvas *c, const struct plan *p, const struct av_chain_step *s, int y)
{
    char number[AV_NUMBER_MAX];
    char text[AV_NUMBER_MAX + 2];
    bool broken = is_broken(s);
    if (!isnan(s->textbook)) {
        snprintf(text, sizeof text, "%s%s",
                 s->relation == '<'   ? "<"
                 : s->relation == '>' ? ">"
                                      : "",
                 av_plot_short(number, s->textbook, 3));
        draw_number(c, p, TEXTBOOK, y, AV_ROLE_CURVE, text);
    }
    if (!isnan(s->corrected)) {
        draw_number(c, p, TRUE_VALUE, y, broken ? AV_ROLE_BAD : AV_ROLE_CURVE, av_plot_short(number, s->corrected, 4));
    }
    if (!isnan(s->measured)) {
        draw_number(c, p, MEASURED, y, AV_ROLE_TEXT, av_plot_number(number, s->measured, 3));
    }
    if (!isnan(s->measured) && !isnan(s->error)) {
        draw_number(c, p, ERROR, y, AV_ROLE_DIM, av_plot_number(number, s->error, 2));
    }
    if (s->measured_agrees != AV_CHAIN_UNJUDGED && p->edge[MEASURED] > 0) {
        bool off = s->measured_agrees == AV_CHAIN_OFF;
        enum av_estimate_verdict verdict = off ? AV_ESTIMATE_OFF : AV_ESTIMATE_AGREES;
        int edge = p->edge[ERROR] > 0 ? p->edge[ERROR] : p->edge[MEASURED];
        av_panel_agreement(c, edge + 1, y, verdict);
    }
}

static const struct {
    uint32_t mark;
    enum av_role mark_role, role;
} LOOK[] = {
    [AV_CHAIN_HOLDS] = { AV_MARK_HOLDS, AV_ROLE_GOOD, AV_ROLE_TEXT },
    [AV_CHAIN_BROKEN] = { AV_MARK_BROKEN, AV_ROLE_BAD, AV_ROLE_BAD },
    [AV_CHAIN_UNKNOWN] = { AV_MARK_UNKNOWN, AV_ROLE_DIM, AV_ROLE_TEXT },
};

/* The line itself; what does not fit behind the formula is left out. */
static void draw_line(struct av_canvas *c, struct av_rect r, const struct plan *p, const struct av_chain_step *s, int y)
{
    bool broken = is_broken(s);
    av_canvas_put(c, r.x + 1, y, LOOK[s->state].mark, LOOK[s->state].mark_role);
    int x = av_plot_fit(c, r.x + FORMULA_AT, p->right, y, LOOK[s->state].role, s->formula);
    if (broken && s->instead[0] != '\0') {
        if (fits_behind(s, p->right - r.x - FORMULA_AT)) {
            x = av_plot_fit(c, x, p->right, y, AV_ROLE_BAD, c->ascii ? ": " : " → ");
            av_plot_fit(c, x, p->right, y, AV_ROLE_BAD, s->instead);
        }
    } else if (!broken) {
        av_plot_fit(c, x, p->right, y, AV_ROLE_DIM, s->values);
    }
    draw_numbers(c, p, s, y);
}

/* The lines below a line; returns the next free one. */
static int draw_below(struct av_canvas *c, struct av_rect r, struct plan *p, const struct av_chain_step *s, size_t i,
                      int y)
{
    int x = r.x + INDENT;
    int right = r.x + r.w;
    if (p->below[i]) {
        int end = av_plot_fit(c, x, right, y, AV_ROLE_BAD, c->ascii ? "-> " : "→ ");
        av_plot_wrap(c, (struct av_rect){ end, y++, right - end, 1 }, AV_ROLE_BAD, s->instead);
    }
    int n = count_details(s);
    for (int k = 0; k < n && p->details > 0; k++) {
        av_plot_wrap(c, (struct av_rect){ x, y++, right - x, 1 }, AV_ROLE_BAD, s->detail[k]);
        p->details--;
    }
    if (p->needs[i]) {
        av_plot_wrap(c, (struct av_rect){ x, y++, right - x, 1 }, AV_ROLE_DIM, s->needs);
    }
    return y;
}

static void draw_foot(struct av_canvas *c, struct av_rect r, int y, const struct av_view_context *ctx)
{
    int right = r.x + r.w;
    char text[96];
    if (ctx->snapshot->from_files && av_panel_holds(ctx->snapshot) == NULL) {
        snprintf(text, sizeof text, "files: held against independent N(0, 1) entries, within %.3g se", AV_CHAIN_LIMIT);
        av_plot_fit(c, r.x + 1, right, y, AV_ROLE_DIM, text);
        return;
    }
    int x = av_panel_legend(c, r.x + 1, right, y, (struct av_fill){ AV_MARK_HOLDS, AV_ROLE_GOOD }, "holds");
    x = av_panel_legend(c, x, right, y, (struct av_fill){ AV_MARK_BROKEN, AV_ROLE_BAD }, "not for these parameters");
    int end = av_plot_fit(c, x, right, y, AV_ROLE_DIM, "measured:");
    x = end > x ? end + 1 : x;
    snprintf(text, sizeof text, "within %.3g se", AV_CHAIN_LIMIT);
    x = av_panel_legend(c, x, right, y, (struct av_fill){ AV_MARK_HOLDS, AV_ROLE_GOOD }, text);
    av_panel_legend(c, x, right, y, (struct av_fill){ '!', AV_ROLE_WARN }, "off");
}

/* Where the chain begins behind queries and keys. */
static const char *given_words(const struct av_snapshot *s)
{
    static const char *const words[AV_PARTS][2] = {
        [AV_PART_SCORES] = { "This file holds scores alone: there is no q and no k to derive them from. What follows "
                             "from logits still does:",
                             "Shown are the file's scores (from), not q and k. What follows from logits:" },
        [AV_PART_WEIGHTS] = { "This file holds weights alone: there is no q and no k, and there are no logits. What "
                              "can be said of weights:",
                              "Shown are the file's weights (from), not q and k. What can be said of weights:" },
    };
    return s->from_logits  ? "The logits are given by hand: there is no q and no k to derive them from. What follows "
                             "from logits still does:"
           : s->from_files ? words[s->from][av_source_has_choice(s->layer)]
                           : NULL;
}

void av_panel_chain(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_origin *origin = ctx->study;
    struct av_chain chain;
    av_chain_make(&chain, ctx->snapshot, origin != NULL ? &origin->entries : NULL);
    struct av_rect clip = av_plot_enter(c, r);
    int y = r.y + 1;
    int bottom = r.y + r.h;
    const char *given = given_words(ctx->snapshot);
    if (given != NULL) {
        y += av_plot_wrap(c, (struct av_rect){ r.x + 1, y, r.w - 1, r.h - 1 }, AV_ROLE_DIM, given);
    }
    struct plan p = make_plan(&chain, r, bottom - y);
    draw_heads(c, r, &p);
    for (size_t i = 0; i < chain.count && y < bottom; i++) {
        const struct av_chain_step *s = &chain.steps[i];
        if (y == bottom - 1 && i + 1 < chain.count) {
            av_canvas_textf(c, r.x + FORMULA_AT, y, AV_ROLE_DIM, "… %zu more", chain.count - i);
            break;
        }
        y += p.gaps && i > 0 && s->group != chain.steps[i - 1].group;
        draw_line(c, r, &p, s, y);
        y = draw_below(c, r, &p, s, i, y + 1);
    }
    if (p.foot) {
        draw_foot(c, r, y + 1 < bottom ? y + 1 : bottom - 1, ctx);
    }
    av_canvas_clip(c, clip);
}
