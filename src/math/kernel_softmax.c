/* kernel_softmax.c - the softmax of one row of logits and its statistics.
 *
 * The formulas are derived in rowstats.h. Sums run in eight lanes, whatever
 * the machine's width, which are folded in one fixed order: so every
 * instruction set gives the same bits. */
#include "kernel_sets.h"
#include "lanes_exp.h"

#include <math.h>

enum { CHUNK = 1024 }; /* entries between two folds of the lanes: sums of long rows stay exact to 1e-14 */

/* ---- the two largest logits ------------------------------------------- */

struct top {
    double first, second; /* equal when two keys tie; second is -infinity with one key */
    size_t argmax;        /* where `first` stands first */
    size_t keys;          /* entries that are not masked */
};

struct top_lanes {
    struct lanes first, second;
    vi64 block[AV_LANE_PARTS];  /* number of the block where `first` stands first */
    vi64 masked[AV_LANE_PARTS]; /* minus the number of masked entries */
};

static inline void top_add(struct top_lanes *t, struct lanes z, size_t block)
{
    for (size_t u = 0; u < AV_LANE_PARTS; u++) {
        const vd x = z.part[u], first = t->first.part[u];
        const vi64 larger = x > first;
        t->block[u] = (larger & ((vi64){ 0 } + (int64_t)block)) | (~larger & t->block[u]);
        t->second.part[u] = vd_max(vd_min(x, first), t->second.part[u]);
        t->first.part[u] = vd_max(x, first);
        t->masked[u] += x == vd_splat(-(double)INFINITY);
    }
}

/* In `keys` stands minus the number of masked entries. */
static struct top top_fold(const struct top_lanes *t)
{
    double first[AV_LANES], second[AV_LANES];
    int64_t block[AV_LANES], masked[AV_LANES];
    lanes_store(first, t->first);
    lanes_store(second, t->second);
    memcpy(block, t->block, sizeof block);
    memcpy(masked, t->masked, sizeof masked);

    struct top top = { first[0], second[0], (size_t)block[0] * AV_LANES, (size_t)masked[0] };
    for (size_t l = 1; l < AV_LANES; l++) {
        const size_t at = (size_t)block[l] * AV_LANES + l;
        const double lower = first[l] < top.first ? first[l] : top.first;
        if (first[l] > top.first || (first[l] == top.first && at < top.argmax))
            top.argmax = at;
        top.first = first[l] > top.first ? first[l] : top.first;
        top.second = second[l] > top.second ? second[l] : top.second;
        top.second = lower > top.second ? lower : top.second;
        top.keys += (size_t)masked[l];
    }
    return top;
}

static struct top top_two(const double *z, size_t n)
{
    const struct lanes none = lanes_splat(-(double)INFINITY);
    struct top_lanes t = { none, none, { { 0 } }, { { 0 } } };
    const size_t blocks = n / AV_LANES, rest = n % AV_LANES;
    for (size_t b = 0; b < blocks; b++)
        top_add(&t, lanes_load(z + b * AV_LANES), b);
    if (rest > 0)
        top_add(&t, lanes_load_part(z + blocks * AV_LANES, rest, -(double)INFINITY), blocks);
    struct top top = top_fold(&t);
    top.keys += (blocks + (rest > 0)) * AV_LANES;
    return top;
}

/* ---- exponentials and their sums -------------------------------------- */

/* Over all keys but the argmax, x_j = z_j - second, e_j = exp(x_j): */
struct sums {
    double e;
    double e2;
    double e3;
    double ex; /* of e_j x_j, not positive */
};

struct sums_lanes {
    struct lanes e, e2, e3, ex;
};

/* Returns exp(z - second) and adds to the sums. Entries with x < -69, where
 * e < 2^-99, are left out of the last three sums, so that no power of e is
 * slow to compute for being denormal: beside the runner-up's e = 1, which is
 * in each formula that uses them, they are far below rounding. */
static inline struct lanes exp_add(struct sums_lanes *s, struct lanes z, double second)
{
    for (size_t u = 0; u < AV_LANE_PARTS; u++)
        z.part[u] -= second;
    const struct lanes e = lanes_exp_neg(z);
    for (size_t u = 0; u < AV_LANE_PARTS; u++) {
        const vd x = z.part[u];
        const vi64 large = x > vd_splat(-69.0);
        const vd f = (vd)(large & (vi64)e.part[u]), f2 = f * f;
        s->e.part[u] += e.part[u];
        s->e2.part[u] += f2;
        s->e3.part[u] += f2 * f;
        s->ex.part[u] += f * (vd)(large & (vi64)x);
    }
    return e;
}

/* The exponentials of at most CHUNK logits go to e and their sums are added
 * to s. The logit at `hole`, if there is one, counts as masked. */
static void exp_chunk(double *e, const double *z, size_t n, size_t hole, double second, struct sums *s)
{
    struct sums_lanes lanes = { 0 };
    for (size_t j = 0; j < n; j += AV_LANES) {
        const size_t left = n - j;
        if (left >= AV_LANES && hole - j >= AV_LANES) {
            lanes_store(e + j, exp_add(&lanes, lanes_load(z + j), second));
            continue;
        }
        double x[AV_LANES];
        lanes_store(x, lanes_load_part(z + j, left, -(double)INFINITY));
        if (hole - j < AV_LANES)
            x[hole - j] = -(double)INFINITY;
        lanes_store_part(e + j, left, exp_add(&lanes, lanes_load(x), second));
    }
    s->e += lanes_sum(lanes.e);
    s->e2 += lanes_sum(lanes.e2);
    s->e3 += lanes_sum(lanes.e3);
    s->ex += lanes_sum(lanes.ex);
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

static struct gap gap_between(double first, double second)
{
    const double a = 0.5 * first, b = 0.5 * second;
    const double half = a - b;
    /* What the difference lost in rounding, exactly (Knuth's two-sum): at
     * D = 700 half a unit is 6e-14 of exp(-D). */
    const double b_seen = a - half, a_seen = half + b_seen;
    const double lost = (a - a_seen) - (b - b_seen);
    const struct lanes root = lanes_exp_neg(lanes_splat(-half));
    return (struct gap){ half, root.part[0][0] * (1 - lost) };
}

/* Fills in everything but row_sum, for two keys or more, and returns the
 * factor that makes e_j a weight. Names as in rowstats.h. */
static double row_quantities(struct av_rowstats *out, struct top top, const struct sums *s)
{
    const struct gap gap = gap_between(top.first, top.second);
    const double g = gap.root, g2 = g * g;
    const double S = s->e * g * g, p_a = 1 / (1 + S);
    const double f = g2 * p_a;

    /* Each over exp(-D), or exp(-2D) when squared. */
    const double others = s->e * p_a;
    const double winner = others * p_a, cross = f * p_a * s->e2;
    const double trace = winner + p_a * (s->e - f * s->e2);
    const double fro2 = winner * winner + cross * cross + p_a * p_a * (2 * p_a * p_a * s->e2 + (s->e2 - 2 * f * s->e3));
    const double fro = sqrt(fro2);
    /* Entropy over 1 - max: the mean of m - z over the others, and what the
     * log of the partition sum adds. Half of it, for D may overflow. */
    const double log_term = S > 0 ? (1 + S) * (log1p(S) / S) : 1;
    const double half_surprise = gap.half + 0.5 * (log_term - s->ex / s->e);

    out->keys = top.keys;
    out->argmax = top.argmax;
    out->max_logit = top.first;
    out->max = p_a;
    out->one_minus_max = others * g * g;
    out->entropy = others * g * half_surprise * (2 * g);
    out->sum_p2 = p_a * p_a + f * f * s->e2;
    out->trace = trace * g * g;
    out->jacobian_fro = fro * g * g;

    const double log10_e = 0x1.bcb7b1526e50ep-2, ln2 = 0x1.62e42fefa39efp-1;
    const double log10_g2 = -gap.half * (2 * log10_e);
    out->log10_one_minus_max = log10_g2 + log10_e * log(others);
    out->log10_entropy = log10_g2 + log10_e * (log(others) + (log(half_surprise) + ln2));
    out->log10_trace = log10_g2 + log10_e * log(trace);
    out->log10_jacobian_fro = log10_g2 + log10_e * (0.5 * log(fro2));
    return f;
}

/* A row with one key, which ignores its logit, or with none. */
static void row_without_choice(double *p, size_t n, struct top top, struct av_rowstats *out)
{
    *out = (struct av_rowstats){ 0 };
    if (p != NULL)
        memset(p, 0, n * sizeof *p);
    if (top.keys == 0)
        return;
    if (p != NULL)
        p[top.argmax] = 1;
    out->keys = 1;
    out->argmax = top.argmax;
    out->max_logit = top.first;
    out->max = out->sum_p2 = out->row_sum = 1;
    out->log10_one_minus_max = out->log10_entropy = -(double)INFINITY;
    out->log10_trace = out->log10_jacobian_fro = -(double)INFINITY;
}

void AV_KERNEL(softmax)(double *p, const double *z, size_t n, struct av_rowstats *out)
{
    const struct top top = top_two(z, n);
    if (top.keys < 2) {
        row_without_choice(p, n, top, out);
        return;
    }
    double local[CHUNK]; /* where exponentials stay that nobody wants */
    struct sums sums = { 0 };
    for (size_t j = 0; j < n; j += CHUNK) {
        const size_t count = n - j < CHUNK ? n - j : CHUNK;
        exp_chunk(p != NULL ? p + j : local, z + j, count, top.argmax - j, top.second, &sums);
    }
    const double f = row_quantities(out, top, &sums);
    out->row_sum = out->max;
    for (size_t j = 0; j < n; j += CHUNK) {
        const size_t count = n - j < CHUNK ? n - j : CHUNK;
        if (p == NULL && n > CHUNK) /* forgotten since */
            exp_chunk(local, z + j, count, top.argmax - j, top.second, &(struct sums){ 0 });
        out->row_sum += scale_chunk(p != NULL ? p + j : local, count, f);
    }
    if (p != NULL)
        p[top.argmax] = out->max;
}
