/* kernel_softmax.c - the softmax of one row of logits, whole or part by part, and its statistics.
 *
 * The formulas are derived in rowstats.h. Sums run in eight lanes, whatever
 * the machine's width, which are folded in one fixed order: so every
 * instruction set gives the same bits. */
#include "kernel_sets.h"
#include "lanes_exp.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

enum { CHUNK = 1024 }; /* entries between two folds of the lanes: sums of long rows stay exact to 1e-14 */

/* ---- the two largest scores ------------------------------------------- */

struct top {
    double first, second; /* equal when two keys tie; second is -infinity with one key */
    double least;
    size_t argmax; /* where `first` stands first */
};

struct top_lanes {
    struct lanes first, second, least;
    struct lanes block; /* number of the block where `first` stands first */
};

static inline void top_add(struct top_lanes *t, struct lanes s, size_t block)
{
    const vd number = vd_splat((double)block);
    for (size_t u = 0; u < AV_LANE_PARTS; u++) {
        const vd x = s.part[u], first = t->first.part[u];
        t->block.part[u] = vd_where_greater(x, first, number, t->block.part[u]);
        t->second.part[u] = vd_max(vd_min(x, first), t->second.part[u]);
        t->first.part[u] = vd_max(x, first);
        t->least.part[u] = vd_min(x, t->least.part[u]);
    }
}

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* The second largest of two pairs is among their seconds and the smaller of
 * their firsts. */
static inline struct top top_fold(const struct top_lanes *t)
{
    vd firsts = t->first.part[0], seconds = t->second.part[0], leasts = t->least.part[0];
    for (size_t u = 1; u < AV_LANE_PARTS; u++) {
        const vd x = t->first.part[u];
        seconds = vd_max(vd_max(seconds, t->second.part[u]), vd_min(firsts, x));
        firsts = vd_max(firsts, x);
        leasts = vd_min(leasts, t->least.part[u]);
    }
    double first = firsts[0], second = seconds[0], least = leasts[0];
    for (size_t l = 1; l < AV_LANES_D; l++) {
        second = larger(larger(second, seconds[l]), smaller(first, firsts[l]));
        first = larger(first, firsts[l]);
        least = smaller(least, leasts[l]);
    }
    vd lane, at = vd_splat((double)INFINITY);
    for (size_t u = 0; u < AV_LANE_PARTS; u++) {
        for (size_t l = 0; l < AV_LANES_D; l++)
            lane[l] = (double)(u * AV_LANES_D + l);
        const vd here = t->block.part[u] * AV_LANES + lane;
        at = vd_min(at, vd_where_greater(vd_splat(first), t->first.part[u], vd_splat((double)INFINITY), here));
    }
    double argmax = at[0];
    for (size_t l = 1; l < AV_LANES_D; l++)
        argmax = smaller(argmax, at[l]);
    return (struct top){ first, second, least, (size_t)argmax };
}

static struct top top_two(const double *s, size_t n)
{
    const struct lanes none = lanes_splat(-(double)INFINITY);
    struct top_lanes t = { none, none, lanes_splat((double)INFINITY), { { { 0 } } } };
    const size_t blocks = n / AV_LANES, rest = n % AV_LANES;
    for (size_t b = 0; b < blocks; b++)
        top_add(&t, lanes_load(s + b * AV_LANES), b);
    if (rest == 0)
        return top_fold(&t);
    const struct lanes least = t.least;
    top_add(&t, lanes_load_part(s + blocks * AV_LANES, rest, -(double)INFINITY), blocks);
    t.least = least;
    struct top top = top_fold(&t);
    for (size_t j = n - rest; j < n; j++)
        top.least = smaller(s[j], top.least);
    return top;
}

static size_t count_keys(const double *s, size_t n)
{
    size_t keys = 0;
    for (size_t j = 0; j < n; j++)
        keys += s[j] > -(double)INFINITY;
    return keys;
}

/* ---- exponentials and their sums -------------------------------------- */

/* How scores become exponents: x_j = multiplier (s_j - second), but 0 for the
 * argmax. The difference comes first, as it is exact near the runner-up. */
struct frame {
    double multiplier, second;
    bool near; /* no x is below FAR */
};

/* Below, e_j = exp(x_j) < 2^-99. */
static const double FAR = -69;

struct sums_lanes {
    struct lanes e, e2, e3, ex;
};

static inline vd exponent(vd s, const struct frame *f)
{
    return (vd_min(s, vd_splat(f->second)) - f->second) * f->multiplier;
}

static inline struct lanes add_near(struct sums_lanes *sums, struct lanes s, const struct frame *frame)
{
    struct lanes all;
    for (size_t u = 0; u < AV_LANE_PARTS; u++) {
        const vd x = exponent(s.part[u], frame), e = vd_exp_near(x), e2 = e * e;
        sums->e.part[u] += e;
        sums->e2.part[u] += e2;
        sums->e3.part[u] += e2 * e;
        sums->ex.part[u] += e * x;
        all.part[u] = e;
    }
    return all;
}

/* The same, bit by bit, where no x is far. What is far is left out of the last
 * three sums, so that no power of e is slow to compute for being denormal:
 * beside the runner-up's e = 1, which is in each formula that uses them, it is
 * far below rounding. */
static inline struct lanes add_any(struct sums_lanes *sums, struct lanes s, const struct frame *frame)
{
    struct lanes all;
    for (size_t u = 0; u < AV_LANE_PARTS; u++) {
        const vd x = exponent(s.part[u], frame), e = vd_exp_neg(x);
        const vi64 large = x >= vd_splat(FAR);
        const vd f = (vd)(large & (vi64)e), f2 = f * f;
        sums->e.part[u] += e;
        sums->e2.part[u] += f2;
        sums->e3.part[u] += f2 * f;
        sums->ex.part[u] += f * (vd)(large & (vi64)x);
        all.part[u] = e;
    }
    return all;
}

/* The exponentials of at most CHUNK scores go to e and their sums are added to
 * `sums`, the argmax's too. */
static void exp_chunk(double *e, const double *s, size_t n, const struct frame *frame, struct av_row_sums *sums)
{
    const struct lanes none = lanes_splat(0);
    struct sums_lanes lanes = { none, none, none, none };
    const size_t whole = n - n % AV_LANES;
    if (frame->near)
        for (size_t j = 0; j < whole; j += AV_LANES)
            lanes_store(e + j, add_near(&lanes, lanes_load(s + j), frame));
    else
        for (size_t j = 0; j < whole; j += AV_LANES)
            lanes_store(e + j, add_any(&lanes, lanes_load(s + j), frame));
    if (whole < n) {
        const struct lanes rest = lanes_load_part(s + whole, n - whole, -(double)INFINITY);
        lanes_store_part(e + whole, n - whole, add_any(&lanes, rest, frame));
    }
    sums->e += lanes_sum(lanes.e);
    sums->e2 += lanes_sum(lanes.e2);
    sums->e3 += lanes_sum(lanes.e3);
    sums->ex += lanes_sum(lanes.ex);
}

/* Multiplies at most CHUNK numbers by f and returns the sum of the products. */
static double scale_chunk(double *e, size_t n, double f)
{
    struct lanes sum = { 0 };
    const size_t whole = n - n % AV_LANES;
    for (size_t j = 0; j < whole; j += AV_LANES) {
        struct lanes p = lanes_load(e + j);
        for (size_t u = 0; u < AV_LANE_PARTS; u++) {
            p.part[u] *= f;
            sum.part[u] += p.part[u];
        }
        lanes_store(e + j, p);
    }
    double rest = 0;
    for (size_t j = whole; j < n; j++) {
        e[j] *= f;
        rest += e[j];
    }
    return lanes_sum(sum) + rest;
}

/* ---- the row's quantities --------------------------------------------- */

/* The gap D between the two largest logits: half of it, which cannot overflow;
 * and exp(-D) as the square of a root that does not underflow before exp(-D)
 * times a number near 1 does. */
struct gap {
    double half;
    double root;
};

static struct gap gap_between(double first, double second, double multiplier)
{
    const double a = 0.5 * first, b = 0.5 * second;
    const double difference = a - b, product = multiplier * difference;
    const double half = product < DBL_MAX ? product : DBL_MAX;
    /* What the difference lost in rounding, exactly (Knuth's two-sum): at
     * D = 700 half a unit is 6e-14 of exp(-D). */
    const double b_seen = a - difference, a_seen = difference + b_seen;
    const double lost = multiplier * ((a - a_seen) - (b - b_seen));
    return (struct gap){ half, vd_exp_neg(vd_splat(-half))[0] * (1 - lost) };
}

/* Fills in what the sums tell, for two keys or more, and returns the factor
 * that makes e_j a weight. Names as in rowstats.h. */
static double row_quantities(struct av_rowstats *out, struct gap gap, const struct av_row_sums *s)
{
    const double g = gap.root, g2 = g * g;
    const double S = s->e * g * g, total = 1 + S, p_a = 1 / total;
    const double f = g2 * p_a;

    /* Each over exp(-D), or exp(-2D) when squared. */
    const double others = s->e * p_a;
    const double winner = others * p_a, cross = f * p_a * s->e2;
    const double trace = winner + p_a * (s->e - f * s->e2);
    const double fro2 = winner * winner + cross * cross + p_a * p_a * (2 * p_a * p_a * s->e2 + (s->e2 - 2 * f * s->e3));
    const double fro = sqrt(fro2);
    /* Entropy over 1 - max: the mean of m - z over the others, and what the
     * log of the partition sum adds. Half of it, for D may overflow. The same
     * rounded `total` above and below: the quotient hardly depends on it. */
    const double log_term = total > 1 ? total * (log(total) / (total - 1)) : 1;
    const double half_surprise = gap.half + 0.5 * (log_term - s->ex / s->e);

    out->max = p_a;
    out->one_minus_max = others * g * g;
    out->entropy = others * g * half_surprise * (2 * g);
    out->sum_p2 = p_a * p_a + f * f * s->e2;
    out->trace = trace * g * g;
    out->jacobian_fro = fro * g * g;
    out->scaled = (struct av_rowstats_scaled){ gap.half, others, half_surprise, trace, fro };
    return f;
}

/* A row with one key, which ignores its logit, or with none. */
static void row_without_choice(double *p, size_t n, struct av_rowstats *out)
{
    const double one = out->keys == 1 ? 1 : 0;
    *out = (struct av_rowstats){ .keys = out->keys,
                                 .argmax = out->keys == 1 ? out->argmax : 0,
                                 .max_logit = out->keys == 1 ? out->max_logit : 0,
                                 .max = one,
                                 .sum_p2 = one,
                                 .row_sum = one };
    if (p != NULL) {
        memset(p, 0, n * sizeof *p);
        p[out->argmax] = one;
    }
}

void AV_KERNEL(softmax)(double *p, const double *s, double multiplier, size_t n, struct av_rowstats *out)
{
    const struct top top = top_two(s, n);
    const bool masked = !(top.least > -(double)INFINITY);
    out->keys = masked ? count_keys(s, n) : n;
    out->argmax = top.argmax;
    out->max_logit = multiplier * top.first;
    if (out->keys < 2) {
        row_without_choice(p, n, out);
        return;
    }
    const struct frame frame = { multiplier, top.second, multiplier * (top.least - top.second) >= FAR };
    double local[CHUNK];                         /* where exponentials stay that nobody wants */
    struct av_row_sums sums = { -1, -1, -1, 0 }; /* the argmax's e, which counts no less than the runner-up's e = 1 */
    for (size_t j = 0; j < n; j += CHUNK) {
        const size_t count = n - j < CHUNK ? n - j : CHUNK;
        exp_chunk(p != NULL ? p + j : local, s + j, count, &frame, &sums);
    }
    const double f = row_quantities(out, gap_between(top.first, top.second, multiplier), &sums);
    out->row_sum = out->max - f; /* which the argmax's e = 1 becomes below */
    for (size_t j = 0; j < n; j += CHUNK) {
        const size_t count = n - j < CHUNK ? n - j : CHUNK;
        double *e = p != NULL ? p + j : local;
        if (p == NULL && n > CHUNK) /* forgotten since */
            exp_chunk(e, s + j, count, &frame, &(struct av_row_sums){ 0 });
        out->row_sum += scale_chunk(e, count, f);
    }
    if (p != NULL)
        p[top.argmax] = out->max;
}

/* ---- a row part by part ------------------------------------------------- */

/* The sums relative to a runner-up that lies higher, at `second`: e_j shrinks
 * by r = exp(-rise), x_j by rise. */
static void raise_second(struct av_running_row *row, double second, double multiplier)
{
    const double rise = multiplier * (second - row->second);
    const double r = vd_exp_neg(vd_splat(-rise))[0];
    struct av_row_sums *s = &row->sums;
    s->ex = r > 0 ? r * (s->ex - rise * s->e) : 0;
    s->e *= r;
    s->e2 *= r * r;
    s->e3 *= r * r * r;
    row->second = second;
}

/* Adds one key that is not the argmax and not above the runner-up. */
static void add_one(struct av_running_row *row, double score, double multiplier)
{
    const double x = multiplier * (score - row->second), e = vd_exp_neg(vd_splat(x))[0];
    row->sums.e += e;
    row->sums.e2 += e * e;
    row->sums.e3 += e * e * e;
    row->sums.ex += e > 0 ? e * x : 0;
}

void AV_KERNEL(running_add)(struct av_running_row *row, const double *s, double multiplier, size_t n)
{
    const struct top top = top_two(s, n);
    const bool wins = row->keys == 0 || top.first > row->first;
    const double beaten = wins ? row->first : top.first;
    const struct av_running_row before = *row;
    row->keys += n;
    if (wins) {
        row->first = top.first;
        row->argmax = before.keys + top.argmax;
    }
    if (row->keys == 1) { /* whose e is in no sum */
        row->second = -(double)INFINITY;
        return;
    }
    const double second = before.keys > 0 ? larger(beaten, larger(before.second, top.second)) : top.second;
    if (before.keys < 2)
        row->second = second;
    else if (second > before.second)
        raise_second(row, second, multiplier);
    if (wins && before.keys > 0)
        add_one(row, before.first, multiplier);
    const struct frame frame = { multiplier, second, multiplier * (top.least - second) >= FAR };
    double local[CHUNK];
    for (size_t j = 0; j < n; j += CHUNK)
        exp_chunk(local, s + j, n - j < CHUNK ? n - j : CHUNK, &frame, &row->sums);
    if (wins) { /* it is among them, with e = 1 */
        row->sums.e -= 1;
        row->sums.e2 -= 1;
        row->sums.e3 -= 1;
    }
}

void AV_KERNEL(running_stats)(struct av_rowstats *out, const struct av_running_row *row, double multiplier)
{
    *out = (struct av_rowstats){ .keys = row->keys, .argmax = row->argmax, .max_logit = multiplier * row->first };
    if (row->keys < 2) {
        row_without_choice(NULL, 0, out);
        return;
    }
    row_quantities(out, gap_between(row->first, row->second, multiplier), &row->sums);
    out->row_sum = out->max + out->one_minus_max;
}
