/* rowstats.h - what is known of one row of attention weights.
 *
 * With m = max z at index a, m2 = the largest of the others, D = m - m2 and
 * e_j = exp(z_j - m2) for j != a, every quantity that vanishes in saturation
 * is exp(-D) times a well-scaled number:
 *
 *   S' = sum e_j    S = exp(-D) S'     p_a = 1 / (1 + S)    p_j = exp(-D) e_j p_a
 *   1 - max         = exp(-D) S' p_a
 *   entropy         = (1 - max) [ D + log1p(S) (1 + S)/S + sum e_j (m2 - z_j) / S' ]
 *   trace           = exp(-D) [ S' p_a^2 + p_a sum e_j (1 - p_j) ]
 *   jacobian_fro^2  = exp(-2D) [ (S' p_a^2)^2 + 2 p_a^4 sum e_j^2
 *                                + p_a^2 sum e_j^2 (1 - 2 p_j) + (exp(-D) p_a^2 sum e_j^2)^2 ]
 *
 * so no difference of nearly equal numbers is ever taken (p_j <= 1/2 for
 * j != a), and the logarithms hold where the values underflow. */
#ifndef ATTNVIZ_ROWSTATS_H
#define ATTNVIZ_ROWSTATS_H

#include <stddef.h>

struct av_rowstats {
    size_t keys;   /* unmasked keys that took part; 0: "no keys", all below is 0 */
    size_t argmax; /* column of the largest weight, the first of equals */
    double max_logit;
    double max;           /* largest weight */
    double one_minus_max; /* sum of the others */
    double entropy;       /* -sum p ln p, nats */
    double sum_p2;
    double trace;        /* sum p (1 - p) */
    double jacobian_fro; /* |diag(p) - p p^T|_F */
    double row_sum;      /* sum of the weights as they are stored */

    /* The values over exp(-D), which do not underflow, for the logarithms
     * below; all 0 with a single key. */
    struct av_rowstats_scaled {
        double half_gap; /* D / 2, for D may be beyond the largest double */
        double one_minus_max;
        double half_surprise; /* entropy / (1 - max) / 2, not over exp(-D); unused where D is 0 */
        double trace;
        double jacobian_fro;
    } scaled;
};

/* Over all keys of a row but the argmax, with x_j = z_j - m2, e_j = exp(x_j): */
struct av_row_sums {
    double e;
    double e2;
    double e3;
    double ex; /* of e_j x_j, not positive */
};

/* What has to be kept of a row whose keys come part by part. All zero: none
 * has come. Scores are logits over the multiplier. */
struct av_running_row {
    size_t keys, argmax;
    double first, second; /* the two largest scores, equal when two keys tie; with one key second is -infinity */
    struct av_row_sums sums;
};

/* Base-10 logarithms, with full precision where the value itself underflows to
 * 0 too; -infinity with a single key, where the value is exactly 0. */
double av_rowstats_log10_one_minus_max(const struct av_rowstats *row);
double av_rowstats_log10_entropy(const struct av_rowstats *row);
double av_rowstats_log10_trace(const struct av_rowstats *row);
double av_rowstats_log10_jacobian_fro(const struct av_rowstats *row);

#endif
