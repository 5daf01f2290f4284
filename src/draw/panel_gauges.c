/* panel_gauges.c - entropy, largest weight, gradient: where they stand, where
 * they would stand with scale toggled, where theory puts them, and the alarm.
 *
 * A gauge is one row of a table: the value apart from the way it is drawn. */
#include "panels.h"

#include <math.h>
#include <stdio.h>

enum { LABEL_W = 13, SYMBOL_W = 5, NUMBER_W = 8, ENDS_W = 6, OTHER_W = 10, NOTE = 96, NOTE_W = 31, WIDE = 84 };

struct gauge {
    const char *label, *symbol;
    const char *lo_text, *hi_text;
    struct av_axis axis; /* cells: set when drawn */
    double (*value)(const struct av_summary *sum);
    double (*theory)(const struct av_snapshot *s); /* may be NULL; NaN: unknown */
    double (*limit)(const struct av_snapshot *s);  /* where the alarm is; may be NULL */
    bool (*alarmed)(const struct av_snapshot *s, const struct av_summary *sum);
    /* The value in words; brief: where the other does not fit. */
    void (*note)(char out[NOTE], const struct av_snapshot *s, const struct av_summary *sum, bool brief);
};

/* ---- entropy --------------------------------------------------------- */

static double entropy_value(const struct av_summary *sum)
{
    return sum->entropy_norm_mean;
}

static double entropy_theory(const struct av_snapshot *s)
{
    return s->theory.entropy_norm;
}

static bool never(const struct av_snapshot *s, const struct av_summary *sum)
{
    (void)s;
    (void)sum;
    return false;
}

static void entropy_note(char out[NOTE], const struct av_snapshot *s, const struct av_summary *sum, bool brief)
{
    char share[AV_NUMBER_MAX];
    char keys[AV_NUMBER_MAX];
    av_plot_number(share, sum->entropy_norm_mean, 2);
    av_plot_number(keys, sum->effective_keys_mean, 3);
    if (brief) {
        snprintf(out, NOTE, "%s · %s keys", share, keys);
    } else if (s->params.mask == AV_MASK_CAUSAL) {
        snprintf(out, NOTE, "%s of ln keys · %s keys", share, keys);
    } else {
        snprintf(out, NOTE, "%s of ln %zu · %s keys", share, s->n_k, keys);
    }
}

/* ---- largest weight -------------------------------------------------- */

static double largest_value(const struct av_summary *sum)
{
    return sum->max_median;
}

static double largest_limit(const struct av_snapshot *s)
{
    (void)s;
    return AV_LARGEST_ALARM;
}

static bool largest_alarmed(const struct av_snapshot *s, const struct av_summary *sum)
{
    return sum->max_median > largest_limit(s);
}

static void largest_note(char out[NOTE], const struct av_snapshot *s, const struct av_summary *sum, bool brief)
{
    char value[AV_NUMBER_MAX];
    char share[AV_NUMBER_MAX];
    (void)s;
    snprintf(out, NOTE, brief ? "%s median · %s > 0.9" : "%s median · %s rows > 0.9",
             av_panel_weight(value, sum->max_median, sum->one_minus_max_median),
             av_panel_percent(share, sum->share_max_gt_0_9));
}

/* ---- gradient -------------------------------------------------------- */

static double gradient_value(const struct av_summary *sum)
{
    return sum->jacobian_fro_median;
}

static double gradient_limit(const struct av_snapshot *s)
{
    (void)s;
    return AV_DEAD_FRO;
}

static bool gradient_alarmed(const struct av_snapshot *s, const struct av_summary *sum)
{
    (void)s;
    return av_summary_dead(sum);
}

/* The median of rows that count is 0 only by underflow. */
static const char *tiny_number(char out[AV_NUMBER_MAX], double v)
{
    return v == 0 ? "<1e-307" : av_plot_number(out, v, 2);
}

static void gradient_note(char out[NOTE], const struct av_snapshot *s, const struct av_summary *sum, bool brief)
{
    char value[AV_NUMBER_MAX];
    char share[AV_NUMBER_MAX];
    (void)s;
    snprintf(out, NOTE, brief ? "%s median · %s dead" : "%s median · %s dead rows",
             tiny_number(value, sum->jacobian_fro_median), av_panel_percent(share, sum->share_fro_lt_1e_3));
}

/* ---- spread of the logits -------------------------------------------- */

static double std_value(const struct av_summary *sum)
{
    return sum->row_std;
}

static double std_theory(const struct av_snapshot *s)
{
    return s->theory_std;
}

static double std_limit(const struct av_snapshot *s)
{
    return s->theory_freezing;
}

static bool std_alarmed(const struct av_snapshot *s, const struct av_summary *sum)
{
    return std_value(sum) > s->theory_freezing;
}

static void std_note(char out[NOTE], const struct av_snapshot *s, const struct av_summary *sum, bool brief)
{
    char value[AV_NUMBER_MAX];
    char freezing[AV_NUMBER_MAX];
    snprintf(out, NOTE, brief ? "%s · freezes at %s" : "%s · freezes at √(2 ln n) = %s",
             av_plot_number(value, std_value(sum), 3), av_plot_number(freezing, s->theory_freezing, 3));
}

/* ---- what reaches the scores ----------------------------------------- */

static double d_scores_value(const struct av_summary *sum)
{
    return sum->d_scores_rms_median;
}

static void d_scores_note(char out[NOTE], const struct av_snapshot *s, const struct av_summary *sum, bool brief)
{
    char value[AV_NUMBER_MAX];
    (void)s;
    snprintf(out, NOTE, brief ? "%s median" : "%s median = multiplier / T × gradient",
             tiny_number(value, sum->d_scores_rms_median));
}

/* The first three are always there, the others where the height allows. */
static const struct gauge gauges[] = {
    { "entropy", "H", "0", "1", { 0, 1, false, 0 }, entropy_value, entropy_theory, NULL, never, entropy_note },
    { "largest p",
      "p",
      "0",
      "1",
      { 0, 1, false, 0 },
      largest_value,
      NULL,
      largest_limit,
      largest_alarmed,
      largest_note },
    { "gradient",
      "J",
      "1e-6",
      "1",
      { 1e-6, 1, true, 0 },
      gradient_value,
      NULL,
      gradient_limit,
      gradient_alarmed,
      gradient_note },
    { "logit std",
      "sd",
      "0.01",
      "100",
      { 0.01, 100, true, 0 },
      std_value,
      std_theory,
      std_limit,
      std_alarmed,
      std_note },
    { "d_scores", "ds", "1e-6", "1", { 1e-6, 1, true, 0 }, d_scores_value, NULL, NULL, never, d_scores_note },
};

enum { GAUGES = sizeof gauges / sizeof *gauges, GAUGES_LEAST = 3 };

/* ---- drawing --------------------------------------------------------- */

/* A mark at a value; beyond an end an arrow that points there. */
static void draw_mark(struct av_canvas *c, const struct av_axis *a, int x, int y, double v, struct av_fill mark)
{
    double part = av_axis_part(a, v);
    if (!isnan(v)) {
        uint32_t glyph = part < 0 ? 0x25C2 : part > 1 ? 0x25B8 : mark.body;
        av_canvas_put(c, x + av_axis_cell(a, v), y, glyph, mark.role);
    }
}

/* The gauge from x up to column right: ends, track, bar, marks. */
static void draw_track(struct av_canvas *c, const struct gauge *g, int x, int right, int y,
                       const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    struct av_axis a = g->axis;
    a.cells = right - x - 2 * ENDS_W + 2;
    if (a.cells < 4) {
        return;
    }
    av_canvas_text_right(c, x + ENDS_W - 1, y, AV_ROLE_AXIS, g->lo_text);
    x += ENDS_W;
    av_canvas_text(c, x + a.cells + 1, y, AV_ROLE_AXIS, g->hi_text);
    for (int i = 0; i < a.cells; i++) {
        av_canvas_put(c, x + i, y, 0x2500, AV_ROLE_AXIS);
    }
    double v = g->value(&s->now);
    if (!isnan(v)) {
        double part = av_axis_part(&a, v);
        struct av_fill fill = av_look_now(s).fill;
        av_plot_bar(c, x, y, a.cells, part, fill);
        if (part <= 0 || part > 1) {
            draw_mark(c, &a, x, y, v, fill);
        }
    }
    if (g->limit != NULL) {
        draw_mark(c, &a, x, y, g->limit(s), (struct av_fill){ AV_MARK_ALARM, AV_ROLE_WARN });
    }
    if (g->theory != NULL && s->has_theory) {
        draw_mark(c, &a, x, y, g->theory(s), (struct av_fill){ AV_MARK_THEORY, AV_ROLE_CURVE });
    }
    if (ctx->ghost->on) {
        draw_mark(c, &a, x, y, g->value(&ctx->ghost->now), (struct av_fill){ AV_MARK_GHOST, AV_ROLE_GHOST });
    }
    if (s->other.rows > 0) {
        draw_mark(c, &a, x, y, g->value(&s->other), (struct av_fill){ AV_MARK_OTHER, av_look_other(s).fill.role });
    }
}

/* The other state's value as a number, ending before right. */
static void draw_other(struct av_canvas *c, const struct gauge *g, int x, int right, int y, const struct av_snapshot *s)
{
    if (s->other.rows > 0) {
        char number[AV_NUMBER_MAX];
        char text[AV_NUMBER_MAX + 8];
        double v = g->value(&s->other);
        snprintf(text, sizeof text, "◇ %s", g->axis.log ? tiny_number(number, v) : av_plot_number(number, v, 2));
        av_plot_fit(c, x, right, y, av_look_other(s).fill.role, text);
    }
}

/* Label, and after it the value in words as far as it fits. */
static void draw_note(struct av_canvas *c, const struct gauge *g, int x, int right, int y, const struct av_snapshot *s,
                      bool alarmed)
{
    char note[NOTE];
    int end = x;
    enum av_role role = alarmed ? AV_ROLE_BAD : AV_ROLE_TEXT;
    if (s->now.rows == 0) {
        av_plot_fit(c, x, right, y, AV_ROLE_DIM, "n/a");
        return;
    }
    for (int brief = 0; end == x && brief <= 1; brief++) {
        g->note(note, s, &s->now, brief == 1);
        end = av_plot_fit(c, x, right, y, role, note);
    }
    if (end == x) {
        char number[AV_NUMBER_MAX];
        double v = g->value(&s->now);
        av_plot_fit(c, x, right, y, role, g->axis.log ? tiny_number(number, v) : av_plot_number(number, v, 2));
    }
}

static void draw_gauge(struct av_canvas *c, const struct gauge *g, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    bool alarmed = s->now.rows > 0 && g->alarmed(s, &s->now);
    int right = r.x + r.w;
    bool narrow = r.w < LABEL_W + NUMBER_W;
    int x = r.x + (narrow ? SYMBOL_W : LABEL_W);
    av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, narrow ? g->symbol : g->label);
    if (alarmed) {
        av_canvas_put(c, x - 2, r.y, AV_MARK_ALARM, AV_ROLE_BAD);
    }
    if (r.h >= 2) {
        draw_note(c, g, x, right, r.y, s, alarmed);
        draw_track(c, g, r.x, right - OTHER_W, r.y + 1, ctx);
        draw_other(c, g, right - OTHER_W + 1, right, r.y + 1, s);
    } else if (r.w >= WIDE) {
        draw_note(c, g, right - OTHER_W - NOTE_W, right - OTHER_W - 1, r.y, s, alarmed);
        draw_track(c, g, r.x + LABEL_W, right - OTHER_W - NOTE_W - 1, r.y, ctx);
        draw_other(c, g, right - OTHER_W, right, r.y, s);
    } else {
        draw_note(c, g, x, x + NUMBER_W < right ? x + NUMBER_W : right, r.y, s, alarmed);
        draw_track(c, g, x + NUMBER_W, right, r.y, ctx);
    }
}

static void draw_legend(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    struct av_look look = av_look_other(s);
    int right = r.x + r.w;
    int x = av_panel_legend(c, r.x + 1, right, r.y, av_look_now(s).fill, "now");
    if (s->other.rows > 0) {
        x = av_panel_legend(c, x, right, r.y, (struct av_fill){ AV_MARK_OTHER, look.fill.role }, look.name);
    }
    if (ctx->ghost->on) {
        x = av_panel_legend(c, x, right, r.y, (struct av_fill){ AV_MARK_GHOST, AV_ROLE_GHOST }, "kept");
    }
    x = av_panel_legend(c, x, right, r.y, (struct av_fill){ AV_MARK_ALARM, AV_ROLE_WARN }, "alarm");
    if (s->has_theory) {
        av_panel_legend(c, x, right, r.y, (struct av_fill){ AV_MARK_THEORY, AV_ROLE_CURVE }, "theory");
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
    int lines = rest.h >= 3 * GAUGES ? 3 : rest.h >= 2 * GAUGES_LEAST ? 2 : 1;
    int n = rest.h / lines < GAUGES ? rest.h / lines : GAUGES;
    for (int i = 0; i < n; i++) {
        draw_gauge(c, &gauges[i], (struct av_rect){ rest.x, rest.y + i * lines, rest.w, lines }, ctx);
    }
    av_canvas_clip(c, clip);
}
