/* gauge_table.c - entropy, largest weight, gradient and more, a row each. */
#include "gauge_table.h"

#include "panels.h"

#include <math.h>
#include <stdio.h>

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

static void entropy_note(char out[AV_GAUGE_NOTE], const struct av_snapshot *s, const struct av_summary *sum, int brief)
{
    char share[AV_NUMBER_MAX];
    char keys[AV_NUMBER_MAX];
    av_plot_number(share, sum->entropy_norm_mean, 2);
    av_plot_number(keys, sum->effective_keys_mean, 3);
    if (!s->simplex) { /* what is left over, or too much, is as telling as the keys */
        char sum_text[AV_NUMBER_MAX];
        av_plot_number(sum_text, sum->row_sum_mean, 2);
        snprintf(out, AV_GAUGE_NOTE, brief > 0 ? "%s · row sum %s" : "%s of |w|/sum|w| · row sum %s", share, sum_text);
    } else if (brief > 0) {
        snprintf(out, AV_GAUGE_NOTE, "%s · %s keys", share, keys);
    } else if (s->params.mask == AV_MASK_CAUSAL || s->patterned) {
        snprintf(out, AV_GAUGE_NOTE, "%s of ln keys · %s keys", share, keys);
    } else {
        snprintf(out, AV_GAUGE_NOTE, "%s of ln %zu · %s keys", share, s->n_k, keys);
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

static void largest_note(char out[AV_GAUGE_NOTE], const struct av_snapshot *s, const struct av_summary *sum, int brief)
{
    char value[AV_NUMBER_MAX];
    char share[AV_NUMBER_MAX];
    (void)s;
    snprintf(out, AV_GAUGE_NOTE, brief > 0 ? "%s median · %s > 0.9" : "%s median · %s rows > 0.9",
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

const char *av_gauge_tiny(char out[AV_NUMBER_MAX], double v, const struct av_summary *sum)
{
    return v == 0 && !sum->exact_zeros ? "<1e-307" : av_plot_number(out, v, 2);
}

static void gradient_note(char out[AV_GAUGE_NOTE], const struct av_snapshot *s, const struct av_summary *sum, int brief)
{
    char value[AV_NUMBER_MAX];
    char share[AV_NUMBER_MAX];
    (void)s;
    snprintf(out, AV_GAUGE_NOTE, brief > 0 ? "%s median · %s dead" : "%s median · %s dead rows",
             av_gauge_tiny(value, sum->jacobian_fro_median, sum), av_panel_percent(share, sum->share_fro_lt_1e_3));
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

/* A softmax sees of its logits only how far they lie apart within a row. */
static void std_note(char out[AV_GAUGE_NOTE], const struct av_snapshot *s, const struct av_summary *sum, int brief)
{
    static const char *const where[AV_GAUGE_BRIEF_MOST + 1] = { " within a row", " in a row", "" };
    char value[AV_NUMBER_MAX];
    char freezing[AV_NUMBER_MAX];
    if (s->from == AV_PART_WEIGHTS) {
        snprintf(out, AV_GAUGE_NOTE, brief > 0 ? "no logits" : "not known: the file holds no logits");
        return;
    }
    if (isnan(s->theory_freezing)) { /* bent logits do not freeze there */
        snprintf(out, AV_GAUGE_NOTE, "%s%s", av_plot_number(value, std_value(sum), 3), where[brief]);
        return;
    }
    snprintf(out, AV_GAUGE_NOTE, "%s%s · freezes at %s%s", av_plot_number(value, std_value(sum), 3), where[brief],
             brief > 0 ? "" : "sqrt(2 ln n) = ", av_plot_number(freezing, s->theory_freezing, 3));
}

/* ---- what reaches the scores ----------------------------------------- */

static double d_scores_value(const struct av_summary *sum)
{
    return sum->d_scores_rms_median;
}

static void d_scores_note(char out[AV_GAUGE_NOTE], const struct av_snapshot *s, const struct av_summary *sum, int brief)
{
    char value[AV_NUMBER_MAX];
    if (s->from == AV_PART_WEIGHTS) {
        snprintf(out, AV_GAUGE_NOTE, brief > 0 ? "no scores" : "not known: the file holds no scores");
        return;
    }
    const char *full = s->varied ? " of |dw/ds|" : " = multiplier / T × gradient";
    snprintf(out, AV_GAUGE_NOTE, "%s median%s", av_gauge_tiny(value, sum->d_scores_rms_median, sum),
             brief > 0 ? "" : full);
}

/* The first three are always there, the others where the height allows. */
const struct av_gauge av_gauges[AV_GAUGES] = {
    { "entropy",
      "H",
      "entropy |w|",
      "0",
      "1",
      { 0, 1, false, 0 },
      entropy_value,
      entropy_theory,
      NULL,
      never,
      entropy_note },
    { "largest p",
      "p",
      "largest w",
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
      NULL,
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
      NULL,
      "0.01",
      "100",
      { 0.01, 100, true, 0 },
      std_value,
      std_theory,
      std_limit,
      std_alarmed,
      std_note },
    { "d_scores", "ds", NULL, "1e-6", "1", { 1e-6, 1, true, 0 }, d_scores_value, NULL, NULL, never, d_scores_note },
};
