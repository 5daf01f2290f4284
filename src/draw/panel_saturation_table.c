/* panel_saturation_table.c - every quantity at the present d_k, for both states. */
#include "panels_saturation.h"

#include <math.h>
#include <stdio.h>

/* Columns of the values end here, counted from the table's left. */
static const int ENDS[2] = { AV_SATURATION_TABLE_W - 12, AV_SATURATION_TABLE_W - 1 }; /* scaled, unscaled */

/* Writes a value of one state. */
typedef void (*write_value)(char out[AV_NUMBER_MAX], const struct av_saturation *s,
                            enum av_saturation_quantity quantity, bool scale);

/* Gradients that vanish are not 0, only less than a double can be; those of
 * equal keys are. */
static bool underflown(const struct av_saturation *s, enum av_saturation_quantity quantity, bool scale)
{
    static const enum av_saturation_quantity fro[AV_SATURATION_QUANTITIES] = {
        [AV_SATURATION_FRO_MEAN] = AV_SATURATION_FRO_MEAN,
        [AV_SATURATION_FRO_MEDIAN] = AV_SATURATION_FRO_MEDIAN,
        [AV_SATURATION_DQ_MEAN] = AV_SATURATION_FRO_MEAN,
        [AV_SATURATION_DQ_MEDIAN] = AV_SATURATION_FRO_MEDIAN,
    };
    const double *value = s->at.value[scale];
    return fro[quantity] != 0 && value[quantity] == 0 && value[fro[quantity]] == 0;
}

static void measured(char out[AV_NUMBER_MAX], const struct av_saturation *s, enum av_saturation_quantity quantity,
                     bool scale)
{
    if (!s->at.known[scale]) {
        snprintf(out, AV_NUMBER_MAX, "…");
    } else if (underflown(s, quantity, scale)) {
        snprintf(out, AV_NUMBER_MAX, "< 1e-308");
    } else {
        av_plot_number(out, s->at.value[scale][quantity], 3);
    }
}

static void weight(char out[AV_NUMBER_MAX], const struct av_saturation *s, enum av_saturation_quantity quantity,
                   bool scale)
{
    if (s->at.known[scale]) {
        av_panel_weight(out, s->at.value[scale][quantity], s->at.value[scale][AV_SATURATION_REST_MEDIAN]);
    } else {
        measured(out, s, quantity, scale);
    }
}

static void share(char out[AV_NUMBER_MAX], const struct av_saturation *s, enum av_saturation_quantity quantity,
                  bool scale)
{
    if (s->at.known[scale]) {
        av_panel_percent(out, s->at.value[scale][quantity]);
    } else {
        measured(out, s, quantity, scale);
    }
}

static void exact(char out[AV_NUMBER_MAX], const struct av_saturation *s, enum av_saturation_quantity quantity,
                  bool scale)
{
    const struct av_theory_means *means = &s->at_theory[scale];
    av_plot_number(out, quantity == AV_SATURATION_ENTROPY ? means->entropy_norm : means->trace, 3);
}

static void spread(char out[AV_NUMBER_MAX], const struct av_saturation *s, enum av_saturation_quantity quantity,
                   bool scale)
{
    (void)quantity;
    av_plot_number(out, s->at_std[scale], 3);
}

/* "> 6.93", or "< 12" where a larger d_k thaws; "all", "none": so too where
 * d_k would be beyond the largest double. */
static void freezing(char out[AV_NUMBER_MAX], const struct av_saturation *s, enum av_saturation_quantity quantity,
                     bool scale)
{
    (void)quantity;
    char number[AV_NUMBER_MAX];
    double d = s->freezing_d[scale];
    bool thaws = scale && s->params.exponent > 0.5;
    if (!isfinite(d) || d < 1) {
        bool all = !isfinite(d) ? s->at_std[scale] > s->freezing_std : !thaws;
        snprintf(out, AV_NUMBER_MAX, "%s", all ? "all" : "none");
    } else {
        snprintf(out, AV_NUMBER_MAX, "%c %.20s", thaws ? '<' : '>', av_plot_number(number, d, 3));
    }
}

static const struct line {
    const char *name;
    write_value write; /* NULL: the name of what follows */
    enum av_saturation_quantity quantity;
} lines[] = {
    { "std of logits", spread, 0 },
    { "entropy / ln n", measured, AV_SATURATION_ENTROPY },
    { "  exact", exact, AV_SATURATION_ENTROPY },
    { "jacobian_fro", NULL, 0 },
    { "  median", measured, AV_SATURATION_FRO_MEDIAN },
    { "  mean", measured, AV_SATURATION_FRO_MEAN },
    { "dead rows", share, AV_SATURATION_DEAD },
    { "largest weight", NULL, 0 },
    { "  median", weight, AV_SATURATION_MAX_MEDIAN },
    { "  mean", measured, AV_SATURATION_MAX_MEAN },
    { "rows above 0.9", share, AV_SATURATION_LARGE },
    { "dq_rms", NULL, 0 },
    { "  median", measured, AV_SATURATION_DQ_MEDIAN },
    { "  mean", measured, AV_SATURATION_DQ_MEAN },
    { "trace", measured, AV_SATURATION_TRACE },
    { "  exact", exact, AV_SATURATION_TRACE },
    { "frozen at d_k", freezing, 0 },
};

_Static_assert(sizeof lines / sizeof lines[0] + 1 == AV_SATURATION_TABLE_H, "the table's height");

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
    for (const struct line *line = lines; line < lines + sizeof lines / sizeof lines[0]; line++) {
        if (line->write == exact && !s->has_theory) {
            continue;
        }
        enum av_role role = line->write == exact ? AV_ROLE_CURVE : AV_ROLE_TEXT;
        av_canvas_text(c, r.x + 1, ++y, role, line->name);
        for (int k = 0; k < 2 && line->write != NULL; k++) {
            line->write(text, s, line->quantity, k == 0);
            av_canvas_text_right(c, r.x + ENDS[k], y, role, text);
        }
    }
    av_canvas_clip(c, clip);
}
