/* verdict_rules.c - when a softmax is saturated, and when no gradient passes it. */
#include "verdict_rules.h"

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

bool av_verdict_saturated(struct av_verdict *out, const struct av_judged_rows *rows)
{
    double share = rows->share;
    /* A spread whose square is beyond the largest double is wide. */
    double std = isfinite(rows->std) ? rows->std : (double)INFINITY;
    double limit = rows->freezing;
    if (!(share > AV_LARGEST_SHARE) && !(std > limit)) {
        return false;
    }
    out->code = "saturated";
    out->severity = share > 0.5 ? AV_BAD : AV_WARN;
    /* The finding that decided comes first. What rows as a whole are shifted
     * by is part of the spread, but no softmax sees it. */
    double inside = isfinite(rows->row_std) ? rows->row_std : std;
    const char *mean = rows->differ ? "mean " : "";
    if (share > AV_LARGEST_SHARE) {
        char spread[128];
        tell_spread(spread, sizeof spread, rows, inside, mean);
        snprintf(out->text, sizeof out->text, "%.0f%% of rows give more than 0.9 to one key; %s", 100 * share, spread);
    } else if (inside <= limit) {
        snprintf(out->text, sizeof out->text,
                 "logit std %.3g is above %ssqrt(2 ln n) = %.3g, but only by shifts of whole rows, which change no "
                 "weight: within a row it is %.3g",
                 std, mean, limit, inside);
    } else {
        snprintf(out->text, sizeof out->text,
                 "logit std %.3g within a row is above %ssqrt(2 ln n) = %.3g; %.0f%% of rows give more than 0.9 to one "
                 "key",
                 inside, mean, limit, 100 * share);
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
