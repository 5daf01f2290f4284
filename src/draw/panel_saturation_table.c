/* panel_saturation_table.c - every quantity at the present d_k, for both states. */
#include "saturation_panels.h"

#include <math.h>
#include <stdio.h>

/* Columns of the values end here, counted from the table's left. */
static const int ENDS[2] = { AV_SATURATION_TABLE_W - 12, AV_SATURATION_TABLE_W - 1 }; /* scaled, unscaled */

enum kind { NAME, MEASURED, SHARE, EXACT_ENTROPY, EXACT_TRACE, STD, FREEZES };

struct line {
    const char *name;
    enum kind kind;
    enum av_saturation_quantity quantity; /* of MEASURED and SHARE */
};

static const struct line lines[] = {
    { "std of logits", STD, 0 },
    { "entropy / ln n", MEASURED, AV_SATURATION_ENTROPY },
    { "  exact", EXACT_ENTROPY, 0 },
    { "jacobian_fro", NAME, 0 },
    { "  median", MEASURED, AV_SATURATION_FRO_MEDIAN },
    { "  mean", MEASURED, AV_SATURATION_FRO_MEAN },
    { "dead rows", SHARE, AV_SATURATION_DEAD },
    { "largest weight", NAME, 0 },
    { "  median", MEASURED, AV_SATURATION_MAX_MEDIAN },
    { "  mean", MEASURED, AV_SATURATION_MAX_MEAN },
    { "rows above 0.9", SHARE, AV_SATURATION_LARGE },
    { "dq_rms", NAME, 0 },
    { "  median", MEASURED, AV_SATURATION_DQ_MEDIAN },
    { "  mean", MEASURED, AV_SATURATION_DQ_MEAN },
    { "trace", MEASURED, AV_SATURATION_TRACE },
    { "  exact", EXACT_TRACE, 0 },
    { "frozen at d_k", FREEZES, 0 },
};

_Static_assert(sizeof lines / sizeof lines[0] + 1 == AV_SATURATION_TABLE_H, "the table's height");

/* "> 6.93", "< 12" where a larger d_k thaws, "all", "none". */
static void freezing_text(char out[AV_NUMBER_MAX], const struct av_saturation *s, bool scale)
{
    char number[AV_NUMBER_MAX];
    double d = s->freezing_d[scale];
    if (isnan(d)) {
        snprintf(out, AV_NUMBER_MAX, "%s", s->at_std[scale] > s->freezing_std ? "all" : "none");
        return;
    }
    bool thaws = scale && s->params.exponent > 0.5;
    snprintf(out, AV_NUMBER_MAX, "%c %.20s", thaws ? '<' : '>', av_plot_number(number, d, 3));
}

static void value_text(char out[AV_NUMBER_MAX], const struct av_saturation *s, const struct line *line, bool scale)
{
    double v = s->at.value[scale][line->quantity];
    bool known = s->at.known[scale];
    switch (line->kind) {
    case NAME:
        out[0] = '\0';
        return;
    case MEASURED:
        if (line->quantity == AV_SATURATION_MAX_MEDIAN && known) {
            av_panel_weight(out, v, s->at.value[scale][AV_SATURATION_REST_MEDIAN]);
            return;
        }
        break;
    case SHARE:
        if (known) {
            av_panel_percent(out, v);
            return;
        }
        break;
    case EXACT_ENTROPY:
        known = true;
        v = s->at_theory[scale].entropy_norm;
        break;
    case EXACT_TRACE:
        known = true;
        v = s->at_theory[scale].trace;
        break;
    case STD:
        known = true;
        v = s->at_std[scale];
        break;
    case FREEZES:
        freezing_text(out, s, scale);
        return;
    }
    if (known) {
        av_plot_number(out, v, 3);
    } else {
        snprintf(out, AV_NUMBER_MAX, "…");
    }
}

void av_panel_saturation_table(struct av_canvas *c, struct av_rect r, const struct av_saturation *s)
{
    struct av_rect clip = av_plot_enter(c, r);
    int y = r.y;
    char text[AV_NUMBER_MAX];
    snprintf(text, sizeof text, "at d_k %zu", s->at.d);
    av_plot_fit(c, r.x + 1, r.x + ENDS[0] - 7, y, AV_ROLE_SELECT, text);
    for (int k = 0; k < 2; k++) {
        struct av_look look = av_look_scale(k == 0);
        av_canvas_text_right(c, r.x + ENDS[k], y, look.fill.role, look.name);
    }
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        bool exact = lines[i].kind == EXACT_ENTROPY || lines[i].kind == EXACT_TRACE;
        if (exact && !s->has_theory) {
            continue;
        }
        enum av_role role = exact ? AV_ROLE_CURVE : AV_ROLE_TEXT;
        y++;
        av_canvas_text(c, r.x + 1, y, role, lines[i].name);
        for (int k = 0; k < 2; k++) {
            value_text(text, s, &lines[i], k == 0);
            av_canvas_text_right(c, r.x + ENDS[k], y, role, text);
        }
    }
    av_canvas_clip(c, clip);
}
