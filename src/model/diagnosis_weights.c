/* diagnosis_weights.c - a row of weights: is it one that a softmax makes? */
#include "diagnosis_state.h"

#include <math.h>

enum { TWICE_KEYS = 4 };      /* fewer can be anything's softmax */
#define TWICE_CLEAR 4         /* roundings: a p_j that is more than one */
#define EVEN_RELATIVE 0x1p-7  /* two roundings to bfloat16 */
#define EVEN_ABSOLUTE 0x1p-24 /* two to a float16 below 2^-14 */

bool av_diagnosis_is_one(double sum, size_t n)
{
    return fabs(sum - 1) <= 0x1p-8 + (double)n * 0x1p-25;
}

double av_diagnosis_rounding(const struct av_weight_sums *s)
{
    return !s->wider[AV_DTYPE_BF16] ? 0x1p-8 : !s->wider[AV_DTYPE_F16] ? 0x1p-10 : 0x1p-20;
}

/* What is seen of a row in one look. */
struct look {
    size_t positive, negative, first_negative, zeros; /* zeros: among seen keys */
    bool finite, nan;
    double sum, seen_sum, largest; /* largest: of seen keys */
    size_t argmax;
};

static struct look look_at(const double *w, size_t seen, size_t n)
{
    struct look l = { .finite = true };
    for (size_t j = 0; j < n; j++) {
        l.finite = l.finite && isfinite(w[j]);
        l.nan = l.nan || isnan(w[j]);
        l.positive += w[j] > 0;
        if (w[j] < 0 && l.negative++ == 0) {
            l.first_negative = j;
        }
        l.sum += w[j];
        if (j < seen) {
            l.zeros += w[j] == 0;
            l.seen_sum += w[j];
        }
        if (j < seen && w[j] > l.largest) {
            l.largest = w[j];
            l.argmax = j;
        }
    }
    return l;
}

static void add_empty(struct av_weight_sums *s, const struct look *l, size_t query, size_t seen)
{
    if (s->empty++ == 0) {
        s->first_empty = query;
    }
    s->empty_nan = s->empty_nan || l->nan;
    s->longest_empty = !l->nan && seen > s->longest_empty ? seen : s->longest_empty;
}

static void add_sum(struct av_weight_sums *s, double sum, size_t query, size_t n)
{
    av_moments_add(&s->row_sums, &sum, 1);
    s->row_error = fmax(s->row_error, fabs(sum - 1));
    if (!av_diagnosis_is_one(sum, n)) {
        s->above += sum > 1;
        if (s->off++ == 0) {
            s->first_off = query;
        }
    }
}

static void add_masked(struct av_weight_sums *s, const struct look *l, const double *w, size_t query, size_t seen,
                       size_t n)
{
    double low = (double)INFINITY, high = 0;
    for (size_t j = seen; j < n; j++) {
        low = fmin(low, w[j]);
        high = fmax(high, w[j]);
        if (w[j] > s->masked_max) {
            s->masked_max = w[j];
            s->masked_at[0] = query;
            s->masked_at[1] = j;
        }
    }
    s->masked_rows++;
    s->masked_share += (l->sum - l->seen_sum) / l->sum;
    s->leaking += high > 0;
    s->even += low > 0 && high - low <= EVEN_RELATIVE * high + EVEN_ABSOLUTE && (seen == 0 || high < l->largest);
}

/* Its statistics as rowstats.h has them: of the largest by the others' sum. */
static void judge(struct av_diagnoser *d, const struct look *l, const double *w, size_t seen)
{
    double others = 0, others_squared = 0, surprise = 0;
    for (size_t j = 0; j < seen; j++) {
        double p = w[j] / l->seen_sum;
        surprise += p > 0 ? p * d->logs[j] : 0;
        others += j != l->argmax ? p : 0;
        others_squared += j != l->argmax ? p * p : 0;
    }
    double top = l->largest / l->seen_sum, sum_p2 = top * top + others_squared;
    double squares = top * top * (others * others + others_squared);
    for (size_t j = 0; j < seen; j++) {
        double p = w[j] / l->seen_sum;
        squares += j != l->argmax ? p * p * (1 - 2 * p + sum_p2) : 0;
    }
    struct av_rowstats row = { .keys = seen, .max = top, .jacobian_fro = sqrt(squares) };
    row.entropy = fmax(0, log(l->seen_sum) - surprise);
    av_diagnosis_judge_row(d, &row);
    if (l->zeros == 0) {
        struct av_moments moments = AV_MOMENTS_INIT;
        av_moments_add(&moments, d->logs, seen);
        av_spread_add(&d->logit.within, &moments);
    }
}

/* p_j = ln w_j - mean ln w + 1/n: what a second softmax was made of, if it was. */
static void add_twice(struct av_diagnoser *d, size_t seen)
{
    struct av_weight_sums *s = &d->weight;
    double clear = TWICE_CLEAR * av_diagnosis_rounding(s);
    double mean = 0, low = (double)INFINITY, squares = 0;
    for (size_t j = 0; j < seen; j++) {
        mean += d->logs[j];
    }
    mean /= (double)seen;
    for (size_t j = 0; j < seen; j++) {
        double p = d->logs[j] - mean + 1 / (double)seen;
        low = p < low ? p : low;
        squares += p > clear ? p * p : 0;
    }
    s->twice_lowest = fmin(s->twice_lowest, low);
    s->twice_squares += (double)seen * squares;
    s->twice_rows++;
}

void av_diagnosis_add_weights(struct av_diagnoser *d, size_t query)
{
    struct av_weight_sums *s = &d->weight;
    size_t n = d->at->n_k, seen = av_diagnosis_weight_length(d, query);
    const double *w = d->weights;
    struct look l = look_at(w, seen, n);
    for (size_t j = 0; j < seen; j++) {
        d->logs[j] = w[j] > 0 ? log(w[j]) : -(double)INFINITY;
    }
    if (seen > 0 && l.positive == 0 && l.negative == 0) {
        add_empty(s, &l, query, seen);
    }
    if (l.negative > 0 && s->negative == 0) {
        s->first_negative[0] = query;
        s->first_negative[1] = l.first_negative;
    }
    s->negative += l.negative;
    d->logit.one_key += seen == 1;
    if (!l.finite || l.positive == 0 || l.negative > 0) {
        return;
    }
    for (size_t j = 0; j < n; j++) {
        s->columns[j] += w[j];
        for (enum av_dtype t = AV_DTYPE_BF16; t <= AV_DTYPE_F16; t++) {
            s->wider[t] = s->wider[t] || av_dtype_round(t, w[j]) != w[j];
        }
    }
    s->seen += seen;
    s->zeros += l.zeros;
    add_sum(s, l.sum, query, n);
    if (seen < n) {
        add_masked(s, &l, w, query, seen, n);
    }
    if (seen >= 2 && l.seen_sum > 0) {
        judge(d, &l, w, seen);
    }
    if (l.zeros > 0) {
        s->twice_lowest = -(double)INFINITY;
    } else if (seen >= TWICE_KEYS) {
        add_twice(d, seen);
    }
}
