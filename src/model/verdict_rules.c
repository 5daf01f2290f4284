/* verdict_rules.c - when a softmax is saturated, and when no gradient passes it. */
#include "attnviz/verdict_rules.h"

#include <math.h>
#include <stdio.h>

/* What there is to say of how far the logits lie apart; `inside`: within a row.
 * Where they are bent there is no limit to hold it against. */
static void tell_spread(char *out, size_t size, const struct av_judged_rows *rows, double inside, const char *mean)
{
    double limit = rows->freezing;
    if (isnan(limit)) {
        snprintf(out, size, "logit std %.3g within a row", inside);
    } else {
        snprintf(out, size, "logit std %.3g within a row is %s %ssqrt(2 ln n) = %.3g", inside,
                 inside > limit ? "above" : "below", mean, limit);
    }
}

/* A spread whose square is beyond the largest double is wide. */
static double spread_of(double std)
{
    return isfinite(std) ? std : (double)INFINITY;
}

enum av_saturated av_verdict_saturation(const struct av_judged_rows *rows)
{
    if (rows->share > AV_FROZEN_SHARE) {
        return AV_SATURATED_FROZEN;
    }
    if (rows->share > AV_LARGEST_SHARE) {
        return AV_SATURATED_ROWS;
    }
    return !rows->no_logits && spread_of(rows->std) > rows->freezing ? AV_SATURATED_SPREAD : AV_SATURATED_NOT;
}

/* The spread alone. What rows as a whole are shifted by is part of it, but no
 * softmax sees that. */
static void tell_spread_alone(char *out, size_t size, const struct av_judged_rows *rows, double inside,
                              const char *mean)
{
    if (inside <= rows->freezing) {
        snprintf(out, size,
                 "logit std %.3g is above %ssqrt(2 ln n) = %.3g, but only by shifts of whole rows, which change no "
                 "weight: within a row it is %.3g; %.0f%% of rows give more than 0.9 to one key",
                 spread_of(rows->std), mean, rows->freezing, inside, 100 * rows->share);
    } else {
        snprintf(out, size,
                 "logit std %.3g within a row is above %ssqrt(2 ln n) = %.3g, which alone does not mean saturation: a "
                 "trained model's logits are not N(0, 1), and %.0f%% of rows give more than 0.9 to one key",
                 inside, mean, rows->freezing, 100 * rows->share);
    }
}

bool av_verdict_saturated(struct av_verdict *out, const struct av_judged_rows *rows)
{
    enum av_saturated why = av_verdict_saturation(rows);
    double inside = isfinite(rows->row_std) ? rows->row_std : spread_of(rows->std);
    const char *mean = rows->differ ? "mean " : "";
    if (why == AV_SATURATED_NOT) {
        return false;
    }
    out->code = "saturated";
    out->severity = why == AV_SATURATED_FROZEN ? AV_BAD : AV_WARN;
    if (rows->no_logits) {
        snprintf(out->text, sizeof out->text, "%.0f%% of rows give more than 0.9 to one key", 100 * rows->share);
    } else if (why == AV_SATURATED_SPREAD) {
        tell_spread_alone(out->text, sizeof out->text, rows, inside, mean);
    } else {
        char spread[192];
        tell_spread(spread, sizeof spread, rows, inside, mean);
        snprintf(out->text, sizeof out->text, "%.0f%% of rows give more than 0.9 to one key; %s", 100 * rows->share,
                 spread);
    }
    return true;
}

bool av_verdict_dead(struct av_verdict *out, double share, double median, const char *bend)
{
    if (!(median < AV_DEAD_FRO) && !(share > AV_DEAD_SHARE)) {
        return false;
    }
    out->code = "gradient_dead";
    out->severity = median < AV_DEAD_FRO ? AV_BAD : AV_WARN;
    snprintf(out->text, sizeof out->text, "%.0f%% of rows have a %s Jacobian below 1e-3; the median is %.3g",
             100 * share, bend, median);
    return true;
}

void av_verdict_not_finite(struct av_verdict *out, bool nan, const struct av_verdict_holes *holes)
{
    out->code = nan ? "nan_input" : "inf_input";
    out->severity = AV_BAD;
    snprintf(out->text, sizeof out->text,
             "%.120s holds %llu %s in layer %zu, head %zu, the first at row %zu, column %zu", holes->tensor,
             (unsigned long long)holes->count, nan ? "NaN" : "infinities", holes->layer, holes->head, holes->row,
             holes->column);
}
