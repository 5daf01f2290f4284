/* diagnosis_weights.c - a row of weights: is it one that a softmax makes? */
#include "diagnosis_state.h"

#include "attnviz/dtype.h"

#include <math.h>

enum {
    TWICE_KEYS = 4,      /* fewer can be anything's softmax */
    CLEAR_UNDERFLOW = 64 /* times the smallest positive number: a weight that is far from it */
};
#define TWICE_CLEAR 4        /* roundings: a p_j that is more than one */
#define BEHIND_SURE 0.125    /* seen keys times rounding */
#define EVEN_RELATIVE 0x1p-7 /* two roundings to bfloat16 */

bool av_diagnosis_is_one(double sum, size_t n)
{
    return fabs(sum - 1) <= 0x1p-8 + (double)n * 0x1p-25;
}

double av_diagnosis_rounding_of(const bool wider[AV_DTYPES])
{
    return !wider[AV_DTYPE_BF16] ? 0x1p-8 : !wider[AV_DTYPE_F16] ? 0x1p-10 : 0x1p-20;
}

double av_diagnosis_rounding(const struct av_weight_sums *s)
{
    return av_diagnosis_rounding_of(s->wider);
}

bool av_diagnosis_level(const struct av_diagnoser *d)
{
    const double *w = d->weights;
    size_t positive = 0, n = d->at->n_k;
    double weight = 0;
    for (size_t j = 0; j < n; j++) {
        weight = weight > 0 ? weight : w[j];
        if (w[j] != 0 && !(w[j] > 0 && w[j] == weight)) {
            return false;
        }
        positive += w[j] > 0;
    }
    return 2 * positive > n;
}

bool av_diagnosis_keyless(const struct av_diagnoser *d, size_t query)
{
    size_t n = d->at->n_k;
    bool behind = false;
    for (size_t j = av_diagnosis_length(d, query); j < n; j++) {
        behind = behind || d->weights[j] > 0;
    }
    return behind && av_diagnosis_level(d);
}

/* What is seen of a row in one look. */
struct look {
    size_t positive, negative, first_negative, zeros; /* zeros: among seen keys */
    bool finite, nan;
    double sum, seen_sum, masked_sum, squares, largest; /* largest: of seen keys */
    double smallest;                                    /* of the positive ones; +infinity without */
    size_t argmax;
};

static struct look look_at(const double *w, size_t seen, size_t n)
{
    struct look l = { .finite = true, .smallest = (double)INFINITY };
    for (size_t j = 0; j < n; j++) {
        l.finite = l.finite && isfinite(w[j]);
        l.nan = l.nan || isnan(w[j]);
        l.positive += w[j] > 0;
        if (w[j] < 0 && l.negative++ == 0) {
            l.first_negative = j;
        }
        l.sum += w[j];
        l.squares += w[j] * w[j];
        l.smallest = w[j] > 0 && w[j] < l.smallest ? w[j] : l.smallest;
        if (j < seen) {
            l.zeros += w[j] == 0;
            l.seen_sum += w[j];
        } else {
            l.masked_sum += w[j];
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
    size_t *count = l->nan ? &s->empty_nan : &s->empty;
    if ((*count)++ == 0) {
        *(l->nan ? &s->first_empty_nan : &s->first_empty) = query;
    }
    s->longest_empty = !l->nan && seen > s->longest_empty ? seen : s->longest_empty;
}

/* Zeros of rows far from underflow are not its work. */
static void add_zeros(struct av_weight_sums *s, const struct look *l, size_t seen)
{
    double tiny = av_dtype_tiny(s->wider[AV_DTYPE_F16] ? AV_DTYPE_F32 : AV_DTYPE_F16);
    s->seen += seen;
    s->zeros += l->zeros;
    if (l->smallest >= CLEAR_UNDERFLOW * tiny) {
        s->clear += seen;
        s->clear_zeros += l->zeros;
    } else {
        s->underflowing += l->zeros > 0;
    }
}

static void add_sum(struct av_weight_sums *s, const struct look *l, size_t query, size_t n)
{
    double sum = l->sum;
    av_moments_add(&s->row_sums, &sum, 1);
    s->row_error = fmax(s->row_error, fabs(sum - 1));
    s->off_squares += (sum - 1) * (sum - 1);
    s->sum_max = fmax(s->sum_max, sum);
    double lacking = fmax(0, 1 - sum);
    s->squares += l->squares + lacking * lacking;
    if (!av_diagnosis_is_one(sum, n)) {
        s->above += sum > 1;
        if (s->off++ == 0) {
            s->first_off = query;
        }
    }
}

/* Are the masked keys' weights, each `behind`, e^0 over the sum of a softmax of
 * weights that were 0 there? Then ln (w / behind) of the others are those weights
 * and sum to 1. Rows too long for rounding's say do not tell. */
static void add_behind(struct av_diagnoser *d, double behind, size_t seen)
{
    struct av_weight_sums *s = &d->weight;
    double rounding = av_diagnosis_rounding(s), sum = 0, low = (double)INFINITY;
    if ((double)seen * rounding > BEHIND_SURE) {
        return;
    }
    for (size_t j = 0; j < seen; j++) {
        double p = d->logs[j] - log(behind);
        sum += p;
        low = fmin(low, p);
    }
    s->behind_rows++;
    s->behind_twice += low >= -2 * rounding && fabs(sum - 1) <= 2 * (double)seen * rounding + rounding;
}

double av_diagnosis_tiny(const struct av_weight_sums *s)
{
    return av_dtype_tiny(!s->wider[AV_DTYPE_F16]    ? AV_DTYPE_F16
                         : !s->wider[AV_DTYPE_BF16] ? AV_DTYPE_BF16
                                                    : AV_DTYPE_F32);
}

static void add_masked(struct av_diagnoser *d, const struct look *l, size_t query, size_t seen, size_t n)
{
    struct av_weight_sums *s = &d->weight;
    const double *w = d->weights;
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
    s->masked_share += l->masked_sum / l->sum;
    s->leaking += high > 0;
    bool level = low > 0 && high - low <= EVEN_RELATIVE * high + 2 * av_diagnosis_tiny(s);
    bool even = level && (seen == 0 || high < l->largest);
    s->level += level;
    s->even += even;
    if (even && high == low) {
        add_behind(d, low, seen);
    }
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

void av_diagnosis_log_weights(struct av_diagnoser *d, size_t query)
{
    const double *w = d->weights;
    size_t seen = av_diagnosis_length(d, query);
    for (size_t j = 0; j < seen; j++) {
        d->logs[j] = w[j] > 0 ? log(w[j]) : -(double)INFINITY;
    }
}

void av_diagnosis_add_weights(struct av_diagnoser *d, size_t query)
{
    struct av_weight_sums *s = &d->weight;
    size_t n = d->at->n_k, seen = av_diagnosis_length(d, query);
    const double *w = d->weights;
    struct look l = look_at(w, seen, n);
    av_diagnosis_log_weights(d, query);
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
    add_zeros(s, &l, seen);
    add_sum(s, &l, query, n);
    if (av_diagnosis_keyless(d, query)) {
        s->first_keyless = s->keyless++ == 0 ? query : s->first_keyless;
        return;
    }
    av_diagnosis_add_extent(d, query);
    if (seen < n) {
        add_masked(d, &l, query, seen, n);
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
