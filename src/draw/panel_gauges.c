/* panel_gauges.c - entropy, largest weight, gradient: where they stand, where
 * they would stand with scale toggled, where theory puts them, and the alarm.
 *
 * A gauge is one row of a table: the value apart from the way it is drawn. */
#include "gauge_table.h"
#include "panels.h"

#include "attnviz/utf8.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LABEL_W = 13, SYMBOL_W = 5, NUMBER_W = 8, ENDS_W = 6, OTHER_W = 10, NOTE_W = 31, WIDE = 84 };
enum { MARKS_MOST = 5, GAUGES_LEAST = 3 };

/* ---- drawing --------------------------------------------------------- */

/* The cells of a track that hold marks already. */
struct track {
    struct av_axis axis;
    int x, y;
    int taken[MARKS_MOST];
    int marks;
};

static bool is_free(const struct track *t, int cell)
{
    bool hit = cell < 0 || cell >= t->axis.cells;
    for (int i = 0; i < t->marks; i++) {
        hit = hit || t->taken[i] == cell;
    }
    return !hit;
}

/* A mark at a value; beyond an end an arrow that points there. Where another
 * mark stands it goes aside, to where its value is nearest. */
static void draw_mark(struct av_canvas *c, struct track *t, double v, struct av_fill mark)
{
    double part = av_axis_part(&t->axis, v);
    if (isnan(v) || t->marks == MARKS_MOST) {
        return;
    }
    int own = av_axis_cell(&t->axis, v);
    int side = part * t->axis.cells - own < 0.5 ? -1 : 1;
    int cell = own;
    for (int away = 1; away < MARKS_MOST && !is_free(t, cell); away++) {
        cell = is_free(t, own + side * away) ? own + side * away : own - side * away;
    }
    cell = is_free(t, cell) ? cell : own;
    uint32_t glyph = part < 0 ? 0x25C2 : part > 1 ? 0x25B8 : mark.body;
    av_canvas_put(c, t->x + cell, t->y, glyph, mark.role);
    t->taken[t->marks++] = cell;
}

/* The track and the bar of the value. */
static void draw_bar(struct av_canvas *c, struct track *t, double v, struct av_fill fill)
{
    for (int i = 0; i < t->axis.cells; i++) {
        av_canvas_put(c, t->x + i, t->y, 0x2500, AV_ROLE_AXIS);
    }
    if (!isnan(v)) {
        double part = av_axis_part(&t->axis, v);
        av_plot_bar(c, t->x, t->y, t->axis.cells, part, fill);
        if (part <= 0 || part > 1) {
            draw_mark(c, t, v, fill);
        }
    }
}

/* The gauge from x up to column right: ends, track, bar, marks. Those come
 * first that no number at the right tells as well. */
static void draw_track(struct av_canvas *c, const struct av_gauge *g, int x, int right, int y,
                       const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    struct track t = { .axis = g->axis, .x = x + ENDS_W, .y = y };
    t.axis.cells = right - x - 2 * ENDS_W + 2;
    if (t.axis.cells < 4) {
        return;
    }
    av_canvas_text_right(c, t.x - 1, y, AV_ROLE_AXIS, g->lo_text);
    av_canvas_text(c, t.x + t.axis.cells + 1, y, AV_ROLE_AXIS, g->hi_text);
    draw_bar(c, &t, g->value(&s->now), av_look_now(s).fill);
    if (g->theory != NULL && s->has_theory) {
        draw_mark(c, &t, g->theory(s), (struct av_fill){ AV_MARK_THEORY, AV_ROLE_CURVE });
    }
    if (g->limit != NULL) {
        draw_mark(c, &t, g->limit(s), (struct av_fill){ AV_MARK_ALARM, AV_ROLE_WARN });
    }
    if (s->other.rows > 0) {
        draw_mark(c, &t, g->value(&s->other), (struct av_fill){ AV_MARK_OTHER, av_look_other(s).fill.role });
    }
    if (ctx->ghost->on) {
        draw_mark(c, &t, g->value(&ctx->ghost->now), (struct av_fill){ AV_MARK_GHOST, AV_ROLE_GHOST });
    }
}

/* A mark and its value as a number, when they fit. */
static void draw_value(struct av_canvas *c, const struct av_gauge *g, int x, int right, int y, const char *mark,
                       const struct av_summary *sum, enum av_role role)
{
    char number[AV_NUMBER_MAX];
    char text[AV_NUMBER_MAX + 8];
    if (sum->rows > 0) {
        double v = g->value(sum);
        snprintf(text, sizeof text, "%s %s", mark,
                 g->axis.log ? av_gauge_tiny(number, v, sum) : av_plot_number(number, v, 2));
        av_plot_fit(c, x, right, y, role, text);
    }
}

static void draw_other(struct av_canvas *c, const struct av_gauge *g, int x, int right, int y,
                       const struct av_snapshot *s)
{
    draw_value(c, g, x, right, y, "◇", &s->other, av_look_other(s).fill.role);
}

static void draw_kept(struct av_canvas *c, const struct av_gauge *g, int x, int right, int y,
                      const struct av_ghost *ghost)
{
    if (ghost->on) {
        draw_value(c, g, x, right, y, "△", &ghost->now, AV_ROLE_GHOST);
    }
}

/* The value in words as far as it fits. */
static void draw_note(struct av_canvas *c, const struct av_gauge *g, int x, int right, int y,
                      const struct av_snapshot *s, bool alarmed)
{
    char note[AV_GAUGE_NOTE];
    int end = x;
    enum av_role role = alarmed ? AV_ROLE_BAD : AV_ROLE_TEXT;
    if (s->now.rows == 0) {
        av_plot_fit(c, x, right, y, AV_ROLE_DIM, "n/a");
        return;
    }
    for (int brief = 0; end == x && brief <= AV_GAUGE_BRIEF_MOST; brief++) {
        g->note(note, s, &s->now, brief);
        end = av_plot_fit(c, x, right, y, role, note);
    }
    if (end == x) {
        char number[AV_NUMBER_MAX];
        double v = g->value(&s->now);
        av_plot_fit(c, x, right, y, role,
                    g->axis.log ? av_gauge_tiny(number, v, &s->now) : av_plot_number(number, v, 2));
    }
}

/* Whether some words leave room for a number on their line. */
static bool spares_room(const struct av_gauge *g, int room, const struct av_snapshot *s)
{
    char note[AV_GAUGE_NOTE];
    g->note(note, s, &s->now, AV_GAUGE_BRIEF_MOST);
    return av_utf8_columns(note) <= room;
}

/* A gauge of two lines or three: words, and below them the track; the kept
 * value above the other one or below it. */
static void draw_tall(struct av_canvas *c, const struct av_gauge *g, struct av_rect r,
                      const struct av_view_context *ctx, bool alarmed)
{
    int right = r.x + r.w;
    int numbers = right - OTHER_W + 1;
    int x = r.x + (r.w < LABEL_W + NUMBER_W ? SYMBOL_W : LABEL_W);
    bool above = ctx->ghost->on && spares_room(g, numbers - 1 - x, ctx->snapshot);
    draw_note(c, g, x, above ? numbers - 1 : right, r.y, ctx->snapshot, alarmed);
    draw_track(c, g, r.x, right - OTHER_W, r.y + 1, ctx);
    draw_other(c, g, numbers, right, r.y + 1, ctx->snapshot);
    if (above || r.h > 2) {
        draw_kept(c, g, numbers, right, above ? r.y : r.y + 2, ctx->ghost);
    }
}

/* A gauge of one long line: track, words, numbers. */
static void draw_wide(struct av_canvas *c, const struct av_gauge *g, struct av_rect r,
                      const struct av_view_context *ctx, bool alarmed)
{
    int right = r.x + r.w;
    if (ctx->ghost->on && r.w >= WIDE + OTHER_W) {
        draw_kept(c, g, right - OTHER_W, right, r.y, ctx->ghost);
        right -= OTHER_W;
    }
    int note = right - OTHER_W - NOTE_W;
    draw_track(c, g, r.x + LABEL_W, note - 1, r.y, ctx);
    draw_note(c, g, note, note + NOTE_W - 1, r.y, ctx->snapshot, alarmed);
    draw_other(c, g, right - OTHER_W, right, r.y, ctx->snapshot);
}

static void draw_gauge(struct av_canvas *c, const struct av_gauge *g, struct av_rect r,
                       const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    bool alarmed = s->now.rows > 0 && g->alarmed(s, &s->now);
    int right = r.x + r.w;
    bool narrow = r.w < LABEL_W + NUMBER_W;
    int x = r.x + (narrow ? SYMBOL_W : LABEL_W);
    const char *label = s->simplex || g->no_simplex == NULL ? g->label : g->no_simplex;
    av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, narrow ? g->symbol : label);
    if (alarmed) {
        av_canvas_put(c, x - 2, r.y, AV_MARK_ALARM, AV_ROLE_BAD);
    }
    if (r.h >= 2) {
        draw_tall(c, g, r, ctx, alarmed);
    } else if (r.w >= WIDE) {
        draw_wide(c, g, r, ctx, alarmed);
    } else {
        draw_note(c, g, x, x + NUMBER_W < right ? x + NUMBER_W : right, r.y, s, alarmed);
        draw_track(c, g, x + NUMBER_W, right, r.y, ctx);
    }
}

/* ---- legend ---------------------------------------------------------- */

struct entry {
    struct av_fill glyph;
    const char *name;
};

/* What the marks are: the state now first, which titles and bars tell as well. */
static int make_entries(struct entry entries[MARKS_MOST], const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    struct av_look other = av_look_other(s);
    int n = 0;
    entries[n++] = (struct entry){ av_look_now(s).fill, "now" };
    if (s->other.rows > 0) {
        entries[n++] = (struct entry){ { AV_MARK_OTHER, other.fill.role }, other.name };
    }
    if (ctx->ghost->on) {
        entries[n++] = (struct entry){ { AV_MARK_GHOST, AV_ROLE_GHOST }, "kept" };
    }
    entries[n++] = (struct entry){ { AV_MARK_ALARM, AV_ROLE_WARN }, "alarm" };
    if (s->has_theory) {
        entries[n++] = (struct entry){ { AV_MARK_THEORY, AV_ROLE_CURVE }, "theory" };
    }
    return n;
}

static int entries_width(const struct entry *entries, int n, int gap)
{
    int width = (n - 1) * gap;
    for (int i = 0; i < n; i++) {
        width += 2 + (int)strlen(entries[i].name);
    }
    return width;
}

/* Where not all of it fits, "now" goes first, then the wide gaps. */
static void draw_legend(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    enum { WIDE_GAP = 2, GAP = 1 };
    struct entry entries[MARKS_MOST];
    int n = make_entries(entries, ctx);
    int room = r.w - 1;
    int first = entries_width(entries, n, WIDE_GAP) > room;
    int gap = entries_width(entries + first, n - first, WIDE_GAP) > room ? GAP : WIDE_GAP;
    int x = r.x + 1;
    for (int i = first; i < n; i++) {
        int end = av_panel_legend(c, x, r.x + r.w, r.y, entries[i].glyph, entries[i].name);
        x = end > x ? end - WIDE_GAP + gap : x;
    }
}

void av_panel_gauges(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    struct av_rect clip = av_plot_enter(c, r);
    struct av_rect rest = r;
    if (rest.h > GAUGES_LEAST) {
        draw_legend(c, rest, ctx);
        rest.y++;
        rest.h--;
    }
    /* Three lines a gauge (the last one blank), else two, else one. */
    int lines = rest.h >= 3 * AV_GAUGES ? 3 : rest.h >= 2 * GAUGES_LEAST ? 2 : 1;
    int n = rest.h / lines < AV_GAUGES ? rest.h / lines : AV_GAUGES;
    for (int i = 0; i < n; i++) {
        draw_gauge(c, &av_gauges[i], (struct av_rect){ rest.x, rest.y + i * lines, rest.w, lines }, ctx);
    }
    av_canvas_clip(c, clip);
}
