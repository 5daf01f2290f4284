/* training_plots.c - what the plots of a training experiment are of, and their axes. */
#include "training_plots.h"

#include "attnviz/snapshot.h"

#include <math.h>
#include <stdio.h>

enum { DECADES_MOST = 12 };

static const struct av_training_plot kinds[] = {
    { "loss", "mean squared error", AV_PLOT_LOG, AV_TRAIN_LOSS, AV_TRAIN_LOSS, { "", "" }, AV_LEVEL_ZERO_LOSS },
    { "gradient of w_q, w_k",
      "",
      AV_PLOT_LOG,
      AV_TRAIN_GRAD_QK_NORM,
      AV_TRAIN_GRAD_QK_NORM,
      { "", "" },
      AV_LEVEL_BAND },
    { "|d_q| per token", "", AV_PLOT_LOG, AV_TRAIN_D_Q_MEDIAN, AV_TRAIN_D_Q_MEAN, { "median", "mean" }, AV_LEVEL_NONE },
    { "largest weight", "mean", AV_PLOT_SHARE, AV_TRAIN_MAX_WEIGHT, AV_TRAIN_MAX_WEIGHT, { "", "" }, AV_LEVEL_LARGEST },
    { "entropy",
      "/ ln n, mean",
      AV_PLOT_SHARE,
      AV_TRAIN_ENTROPY_NORM,
      AV_TRAIN_ENTROPY_NORM,
      { "", "" },
      AV_LEVEL_NONE },
    { "logit std", "within rows", AV_PLOT_LOG, AV_TRAIN_LOGIT_STD, AV_TRAIN_LOGIT_STD, { "", "" }, AV_LEVEL_NONE },
    { "gradient", "of all parameters", AV_PLOT_LOG, AV_TRAIN_GRAD_NORM, AV_TRAIN_GRAD_NORM, { "", "" }, AV_LEVEL_NONE },
    { "|d_k| per token", "", AV_PLOT_LOG, AV_TRAIN_D_K_MEDIAN, AV_TRAIN_D_K_MEAN, { "median", "mean" }, AV_LEVEL_NONE },
    { "mean of entries", "", AV_PLOT_LINEAR, AV_TRAIN_Q_MEAN, AV_TRAIN_K_MEAN, { "q", "k" }, AV_LEVEL_0 },
    { "variance of entries", "", AV_PLOT_LOG, AV_TRAIN_Q_VAR, AV_TRAIN_K_VAR, { "q", "k" }, AV_LEVEL_1 },
    { "alpha", "learned", AV_PLOT_LOG, AV_TRAIN_ALPHA, AV_TRAIN_ALPHA, { "", "" }, AV_LEVEL_NONE },
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

/* What takes alpha's place where it has crossed 0: a logarithm has no room for that. */
static const struct av_training_plot crossing_alpha = { "alpha",        "learned",  AV_PLOT_LINEAR, AV_TRAIN_ALPHA,
                                                        AV_TRAIN_ALPHA, { "", "" }, AV_LEVEL_0 };

/* And entropy's where weights are no shares. */
static const struct av_training_plot odd_entropy = {
    "entropy",     "of |w| / sum |w|, / ln n", AV_PLOT_SHARE, AV_TRAIN_ENTROPY_NORM, AV_TRAIN_ENTROPY_NORM, { "", "" },
    AV_LEVEL_NONE,
};

bool av_training_is_odd(const struct av_training *t)
{
    return (av_variant_flags(t->config.attention.variant) & AV_VARIANT_NOT_SIMPLEX) != 0;
}

int av_training_plots(const struct av_training *t)
{
    return t->config.learn_scale ? KINDS : KINDS - 1; /* alpha is the last one */
}

static bool reaches_0(const struct av_training_curve *curve, enum av_train_field field)
{
    size_t i = 0;
    while (i < curve->count && !(curve->at[i].at[field] <= 0)) {
        i++;
    }
    return i < curve->count;
}

/* In either series, so that both pages have one kind of axis. */
static bool alpha_reaches_0(const struct av_training *t)
{
    bool reaches = false;
    for (int twin = 0; twin < AV_TWINS; twin++) {
        for (int series = 0; series < AV_TRAINING_SERIES; series++) {
            reaches = reaches || reaches_0(&t->runs[twin].curves[series], AV_TRAIN_ALPHA) ||
                      (t->ghost.on && reaches_0(&t->ghost.curves[twin][series], AV_TRAIN_ALPHA));
        }
    }
    return reaches;
}

const struct av_training_plot *av_training_plot(const struct av_training *t, int at)
{
    const struct av_training_plot *plot = &kinds[at % av_training_plots(t)];
    if (plot->main == AV_TRAIN_ENTROPY_NORM && av_training_is_odd(t)) {
        return &odd_entropy;
    }
    return plot->main == AV_TRAIN_ALPHA && alpha_reaches_0(t) ? &crossing_alpha : plot;
}

size_t av_training_plot_fields(const struct av_training_look *look, const struct av_training *t,
                               enum av_train_field fields[2])
{
    const struct av_training_plot *plot = av_training_plot(t, look->first);
    fields[0] = plot->main;
    fields[1] = plot->second;
    return plot->main != plot->second ? 2 : 1;
}

size_t av_training_levels(const struct av_training_plot *plot, const struct av_training *t, double levels[2])
{
    const double all[][2] = {
        [AV_LEVEL_ZERO_LOSS] = { t->zero_loss, 0 },
        [AV_LEVEL_LARGEST] = { AV_LARGEST_ALARM, 0 },
        [AV_LEVEL_BAND] = { AV_TRAINING_BAND_LO, AV_TRAINING_BAND_HI },
        [AV_LEVEL_0] = { 0, 0 },
        [AV_LEVEL_1] = { 1, 0 },
    };
    levels[0] = all[plot->level][0];
    levels[1] = all[plot->level][1];
    return plot->level == AV_LEVEL_NONE ? 0 : plot->level == AV_LEVEL_BAND ? 2 : 1;
}

bool av_training_plot_fires(const struct av_training_plot *plot, const struct av_train_record *record)
{
    return plot->level == AV_LEVEL_LARGEST
               ? av_training_fires(AV_TRAINING_LARGEST, record)
               : av_training_fires(AV_TRAINING_LOW, record) || av_training_fires(AV_TRAINING_HIGH, record);
}

bool av_training_has_alarms(const struct av_training_plot *plot)
{
    return plot->level == AV_LEVEL_LARGEST || plot->level == AV_LEVEL_BAND;
}

void av_training_level_text(char out[64], const struct av_training_plot *plot, const struct av_training *t, bool brief)
{
    static const char *const texts[][2] = {
        [AV_LEVEL_LARGEST] = { "alarm above 0.9", "alarm" },
        [AV_LEVEL_BAND] = { "rule of thumb: 1e-3 .. 1e-1", "rule of thumb" },
        [AV_LEVEL_0] = { "0", "0" },
        [AV_LEVEL_1] = { "1", "1" },
    };
    char number[AV_NUMBER_MAX];
    if (plot->level == AV_LEVEL_ZERO_LOSS) {
        snprintf(out, 64, brief ? "of 0: %s" : "an output of 0: %s", av_plot_short(number, t->zero_loss, 3));
    } else {
        snprintf(out, 64, "%s", texts[plot->level][brief]);
    }
}

/* ---- axes ---------------------------------------------------------------------- */

size_t av_training_numbers(const struct av_training *t, enum av_training_series series)
{
    const size_t steps = t->total < AV_TRAIN_FIRST_STEPS ? (size_t)t->total : AV_TRAIN_FIRST_STEPS;
    return series == AV_TRAINING_EPOCHS ? t->config.epochs : steps;
}

struct av_axis av_training_number_axis(const struct av_training *t, enum av_training_series series, int cells)
{
    return (struct av_axis){ 0.5, (double)av_training_numbers(t, series) + 0.5, false, cells };
}

struct range {
    double lo, hi;
    double least; /* above 0 */
};

static void widen(struct range *range, double v)
{
    if (isfinite(v)) {
        range->lo = fmin(range->lo, v);
        range->hi = fmax(range->hi, v);
        range->least = v > 0 ? fmin(range->least, v) : range->least;
    }
}

static void widen_by_curve(struct range *range, const struct av_training_plot *plot,
                           const struct av_training_curve *curve)
{
    for (size_t i = 0; i < curve->count; i++) {
        widen(range, curve->at[i].at[plot->main]);
        widen(range, curve->at[i].at[plot->second]);
    }
}

static struct range range_of(const struct av_training_plot *plot, const struct av_training *t,
                             enum av_training_series series)
{
    struct range range = { (double)INFINITY, -(double)INFINITY, (double)INFINITY };
    double levels[2];
    const size_t n = av_training_levels(plot, t, levels);
    for (int twin = 0; twin < AV_TWINS; twin++) {
        widen_by_curve(&range, plot, &t->runs[twin].curves[series]);
        if (t->ghost.on) {
            widen_by_curve(&range, plot, &t->ghost.curves[twin][series]);
        }
    }
    for (size_t i = 0; i < n; i++) {
        widen(&range, levels[i]);
    }
    return range;
}

#define SPAN_LEAST 4.0    /* ends of a logarithmic axis */
#define SLIGHT (1 + 1e-9) /* less than that from a round number is rounding */

double av_training_round(double v, int direction)
{
    static const double digits[] = { 1, 2, 5, 10 };
    const double power = pow(10, floor(log10(v) + 1e-12));
    size_t i = 0;
    while (i < 3 && digits[i + 1] * power <= v * SLIGHT) {
        i++;
    }
    return direction > 0 && i < 3 && digits[i] * power * SLIGHT < v ? digits[i + 1] * power : digits[i] * power;
}

struct av_axis av_training_value_axis(const struct av_training_plot *plot, const struct av_training *t,
                                      enum av_training_series series, int cells)
{
    const struct range range = range_of(plot, t, series);
    double half = 0.5 / (cells > 1 ? cells - 1 : 1);
    if (plot->scale == AV_PLOT_SHARE) {
        return (struct av_axis){ -half, 1 + half, false, cells };
    }
    if (plot->scale == AV_PLOT_LINEAR) {
        double lo = range.lo < range.hi ? range.lo : -1;
        double hi = range.lo < range.hi ? range.hi : 1;
        half *= hi - lo;
        return (struct av_axis){ lo - half, hi + half, false, cells };
    }
    double hi = av_training_round(range.hi > 0 ? range.hi : 1, 1);
    double lo = av_training_round(isfinite(range.least) ? range.least : hi, -1);
    lo = fmax(fmin(lo, hi / SPAN_LEAST), hi * pow(10, -DECADES_MOST));
    double part = pow(hi / lo, half);
    return (struct av_axis){ lo / part, hi * part, true, cells };
}
