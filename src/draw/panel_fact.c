/* panel_fact.c - a claim in full: experiment, rule, and what was measured. */
#include "panels_facts.h"

#include <math.h>
#include <stdio.h>

enum { LABEL_W = 12, SETTING_W = 26, VALUE_W = 20, SEED_W = 10 };

struct av_fact_look av_fact_look(enum av_fact_verdict verdict)
{
    static const struct av_fact_look looks[] = {
        [AV_FACT_OPEN] = { AV_MARK_UNKNOWN, "not measured", "-", AV_ROLE_DIM },
        [AV_FACT_HOLDS] = { AV_MARK_HOLDS, "holds", "holds", AV_ROLE_GOOD },
        [AV_FACT_WHEN] = { AV_MARK_PARTLY, "holds only when", "only when", AV_ROLE_WARN },
        [AV_FACT_FALSE] = { AV_MARK_BROKEN, "false", "false", AV_ROLE_BAD },
    };
    return looks[verdict];
}

const char *av_fact_short(char out[AV_FACT_LINE], const struct av_fact_measured *m, int cells, bool ascii)
{
    char mean[AV_FACT_NUMBER];
    char spread[AV_FACT_NUMBER];
    if (m->done == 0) {
        out[0] = '\0';
        return out;
    }
    av_fact_mean(mean, spread, m);
    int len = snprintf(out, AV_FACT_LINE, "%s", mean);
    if (!isnan(m->sd)) {
        const char *between = ascii ? " +- " : " ± ";
        len = snprintf(out, AV_FACT_LINE, "%s%s%s", mean, between, spread);
        len -= ascii ? 0 : 1; /* bytes of the sign, less its one cell */
    }
    if (len > cells) {
        snprintf(out, AV_FACT_LINE, "%s", mean);
    }
    return out;
}

/* A label and its text in as many lines as it takes; nothing for no text. */
static struct av_rect draw_text(struct av_canvas *c, struct av_rect r, const char *label, enum av_role role,
                                const char *text)
{
    if (text[0] == '\0' || r.h < 1) {
        return r;
    }
    av_canvas_text(c, r.x, r.y, AV_ROLE_DIM, label);
    int used = av_plot_wrap(c, (struct av_rect){ r.x + LABEL_W, r.y, r.w - LABEL_W, r.h }, role, text);
    return (struct av_rect){ r.x, r.y + used, r.w, r.h - used };
}

/* Behind the mean, the values of all seeds, or where they do not fit the range. */
static void draw_values(struct av_canvas *c, int x, int right, int y, const struct av_fact_measured *m)
{
    char number[AV_FACT_NUMBER];
    char range[3 * AV_FACT_NUMBER];
    if (right - x >= AV_FACT_SEEDS * SEED_W) {
        for (size_t i = 0; i < m->done; i++) {
            av_fact_number(number, m->values[i], AV_FACT_DIGITS);
            av_canvas_text_right(c, x + ((int)i + 1) * SEED_W, y, AV_ROLE_TEXT, number);
        }
    } else if (m->done > 0 && m->max > m->min) {
        char max[AV_FACT_NUMBER];
        snprintf(range, sizeof range, "%s .. %s", av_fact_number(number, m->min, AV_FACT_DIGITS),
                 av_fact_number(max, m->max, AV_FACT_DIGITS));
        av_plot_fit(c, x, right, y, AV_ROLE_DIM, range);
    }
}

/* "d_k 16        0.987 ± 0.025   ✓ agrees   0.95 .. 1.01" */
static void draw_setting(struct av_canvas *c, struct av_rect r, const struct av_fact *f, size_t i)
{
    const struct av_fact_measured *m = &f->at[i];
    struct av_fact_look look = av_fact_look(m->agrees ? AV_FACT_HOLDS : AV_FACT_FALSE);
    char value[AV_FACT_LINE];
    int right = r.x + r.w;
    int x = r.x + LABEL_W;
    av_canvas_text(c, x, r.y, AV_ROLE_TEXT, f->claim->settings[i].label);
    x += SETTING_W;
    av_plot_fit(c, x, right, r.y, AV_ROLE_TEXT, av_fact_short(value, m, VALUE_W - 1, c->ascii));
    x += VALUE_W;
    if (m->done == AV_FACT_SEEDS && x + 4 < right) {
        av_canvas_put(c, x, r.y, look.glyph, look.role);
    }
    draw_values(c, x + 3, right, r.y, m);
}

/* The line above the settings: what the columns are. */
static void draw_heading(struct av_canvas *c, struct av_rect r, const struct av_fact *f, uint64_t seed)
{
    char text[AV_FACT_LINE];
    int right = r.x + r.w;
    int x = r.x + LABEL_W;
    av_canvas_text(c, r.x, r.y, AV_ROLE_DIM, "measured");
    av_plot_fit(c, x, x + SETTING_W, r.y, AV_ROLE_DIM, "in the setting");
    const char *unit = f->claim->unit;
    snprintf(text, sizeof text, "%s%s%s%s", c->ascii ? "mean +- sd" : "mean ± sd", unit[0] != '\0' ? " (" : "", unit,
             unit[0] != '\0' ? ")" : "");
    av_plot_fit(c, x + SETTING_W, x + SETTING_W + VALUE_W, r.y, AV_ROLE_DIM, text);
    x += SETTING_W + VALUE_W + 3;
    if (right - x < AV_FACT_SEEDS * SEED_W) {
        snprintf(text, sizeof text, "range of %d seeds", AV_FACT_SEEDS);
        av_plot_fit(c, x, right, r.y, AV_ROLE_DIM, text);
        return;
    }
    for (int i = 0; i < AV_FACT_SEEDS; i++, seed++) {
        snprintf(text, sizeof text, "seed %llu", (unsigned long long)seed);
        av_plot_fit_right(c, x + i * SEED_W + 1, x + (i + 1) * SEED_W, r.y, AV_ROLE_DIM, text);
    }
}

void av_panel_fact(struct av_canvas *c, struct av_rect r, const struct av_fact *fact, uint64_t seed)
{
    const struct av_claim *claim = fact->claim;
    struct av_fact_look look = av_fact_look(fact->verdict);
    struct av_rect clip = av_plot_enter(c, r);
    char rule[AV_FACT_LINE];
    for (int x = r.x; x < r.x + r.w; x++) {
        av_canvas_put(c, x, r.y, 0x2500, AV_ROLE_AXIS);
    }
    av_canvas_textf(c, r.x + 2, r.y, AV_ROLE_TITLE, " %s ", claim->name);
    struct av_rect rest = { r.x + 1, r.y + 1, r.w - 2, r.h - 1 };
    rest = draw_text(c, rest, "only when", look.role, fact->condition);
    rest = draw_text(c, rest, "found", AV_ROLE_TEXT, fact->truth);
    rest = draw_text(c, rest, "experiment", AV_ROLE_TEXT, claim->experiment);
    rest = draw_text(c, rest, "rule", AV_ROLE_TEXT, av_claim_rule(claim, rule));
    size_t settings = av_claim_settings(claim);
    if (rest.h > 1) {
        draw_heading(c, rest, fact, seed);
    }
    for (size_t i = 0; i < settings && rest.h > (int)i + 1; i++) {
        draw_setting(c, (struct av_rect){ rest.x, rest.y + (int)i + 1, rest.w, 1 }, fact, i);
    }
    av_canvas_clip(c, clip);
}
