/* train_hook.c - a variant in training: from q and k of a sequence to weights, and back.
 *
 *   q^, k^ = normalise(q), normalise(k)    s = normalise(q^ k^T)
 *   z = alpha factor s + bias              w = bend(z)
 *
 * With `differential` there are two parts, the halves of the columns, which
 * have s, z and w each: the weights are w of the first less lambda times w of
 * the second. The way back begins with the way there: nothing is kept but the
 * scores of one sequence, whatever the batch. */
#include "train_hook.h"

#include "attnviz/mem.h"
#include "train_multiplier.h"
#include "variant_hooks.h"

#include <math.h>
#include <string.h>

enum { PARTS = 2 };

struct hook {
    struct av_attention_hook hook; /* what the pass sees, first */
    const struct av_kernels *kernels;
    struct av_params p;
    const struct av_variant_hooks *normalise, *bend;
    size_t len, d;
    size_t parts, part_d; /* columns of a part */
    double share[PARTS];  /* of a part's weights: 1 and -lambda */
    double eps;           /* of normalise */

    /* The pairs: a row is a query. */
    double *bias;   /* [len, len], -infinity: not seen */
    double *factor; /* [len] */
    size_t *keys;   /* [len] that a row sees */

    /* Of the sequence at hand. */
    double *q, *k;                 /* [len, d] normalised */
    double *k_t;                   /* [d, len] */
    double *s[PARTS], *d_s[PARTS]; /* [len, len] scores, normalised, and the gradient by them */

    struct av_bend_row row[PARTS];
    double *z[PARTS];
    double *d_w, *d_z; /* [len] */
    double *x, *u;     /* [len, len] or [d], of what is normalised at once */
    double *memory;
};

/* ---- Products ------------------------------------------------------------------- */

/* A matrix of rows; step: from one number of a row to the next. */
struct matrix {
    double *at;
    size_t pitch, step;
};

/* c [m, n] += a [m, k] b [k, n]; rows of b and c are contiguous. */
static void add_product(struct matrix c, struct matrix a, struct matrix b, size_t m, size_t n, size_t k)
{
    for (size_t i = 0; i < m; i++) {
        double *restrict to = c.at + i * c.pitch;
        for (size_t l = 0; l < k; l++) {
            const double factor = a.at[i * a.pitch + l * a.step];
            const double *restrict from = b.at + l * b.pitch;
            for (size_t j = 0; j < n; j++) {
                to[j] += factor * from[j];
            }
        }
    }
}

/* ---- Scores ---------------------------------------------------------------------- */

static void normalise_entries(const struct hook *h, double *out, const double *x)
{
    memcpy(out, x, h->len * h->d * sizeof *out);
    for (size_t i = 0; i < h->len && h->normalise->entries != NULL; i++) {
        h->normalise->entries->forward(out + i * h->d, out + i * h->d, h->d, h->eps);
    }
}

static bool is_seen(const struct hook *h, size_t pair)
{
    return h->bias[pair] > -(double)INFINITY;
}

/* What scores are normalised together: all pairs of a part, whatever is seen of
 * them, or those of a row that are seen. */
struct group {
    size_t from, to; /* pairs */
    bool seen_only;
};

static struct group group_of(const struct hook *h, size_t number)
{
    const bool by_head = h->normalise->scores == AV_SCORES_BY_HEAD;
    return by_head ? (struct group){ 0, h->len * h->len, false }
                   : (struct group){ number * h->len, (number + 1) * h->len, true };
}

static size_t groups(const struct hook *h)
{
    const size_t counts[] = { [AV_SCORES_RAW] = 0, [AV_SCORES_BY_ROW] = h->len, [AV_SCORES_BY_HEAD] = 1 };
    return counts[h->normalise->scores];
}

/* x becomes the entries of a group, one after the other; returns how many. */
static size_t gather(double *x, const double *pairs, const struct hook *h, struct group g)
{
    size_t n = 0;
    for (size_t i = g.from; i < g.to; i++) {
        if (!g.seen_only || is_seen(h, i)) {
            x[n++] = pairs[i];
        }
    }
    return n;
}

/* And back. */
static void scatter(double *pairs, const double *x, const struct hook *h, struct group g)
{
    for (size_t i = g.from; i < g.to; i++) {
        if (!g.seen_only || is_seen(h, i)) {
            pairs[i] = *x++;
        }
    }
}

static void normalise_scores(struct hook *h, double *s)
{
    for (size_t number = 0; number < groups(h); number++) {
        const struct group g = group_of(h, number);
        const size_t n = gather(h->x, s, h, g);
        av_normalise_layernorm.forward(h->x, h->x, n, h->eps);
        scatter(s, h->x, h, g);
    }
}

/* s = q^ k^T over the columns of a part. */
static void multiply_entries(struct hook *h, size_t part)
{
    const size_t len = h->len, first = part * h->part_d;
    memset(h->s[part], 0, len * len * sizeof *h->s[part]);
    add_product((struct matrix){ h->s[part], len, 1 }, (struct matrix){ h->q + first, h->d, 1 },
                (struct matrix){ h->k_t + first * len, len, 1 }, len, len, h->part_d);
}

static void make_scores(struct hook *h)
{
    normalise_entries(h, h->q, h->hook.q);
    normalise_entries(h, h->k, h->hook.k);
    for (size_t j = 0; j < h->len; j++) {
        for (size_t c = 0; c < h->d; c++) {
            h->k_t[c * h->len + j] = h->k[j * h->d + c];
        }
    }
    for (size_t part = 0; part < h->parts; part++) {
        multiply_entries(h, part);
        normalise_scores(h, h->s[part]);
    }
}

/* ---- A row of weights --------------------------------------------------------------- */

static double multiplier(const struct hook *h, size_t i)
{
    return h->hook.alpha * h->factor[i];
}

/* z = the logits of row i of a part; false: one of them is not finite. */
static bool make_logits(struct hook *h, size_t part, size_t i)
{
    double *z = h->z[part];
    bool finite = true;
    for (size_t j = 0; j < h->len; j++) {
        const size_t pair = i * h->len + j;
        const bool seen = is_seen(h, pair);
        z[j] = seen ? multiplier(h, i) * h->s[part][pair] + h->bias[pair] : -(double)INFINITY;
        finite = finite && (isfinite(z[j]) || !seen);
    }
    return finite;
}

/* Weights and form of row i of a part, from its logits. */
static void bend_row(struct hook *h, size_t part, size_t i, struct av_rowstats *stats)
{
    struct av_bend_params params = { 0 };
    h->p.of.sink_logit = h->hook.extra;
    if (h->bend->bend_params != NULL) {
        h->bend->bend_params(&params, &h->p, h->keys[i]);
    }
    (h->bend->bend != NULL ? h->bend->bend : av_bend_softmax)(&h->row[part], &params, h->kernels, stats);
}

/* All parts of row i; false, and nothing but logits, where one is not finite. */
static bool make_row(struct hook *h, size_t i, struct av_rowstats *stats)
{
    bool finite = true;
    for (size_t part = 0; part < h->parts; part++) {
        finite = make_logits(h, part, i) && finite;
    }
    for (size_t part = 0; finite && part < h->parts; part++) {
        bend_row(h, part, i, stats);
    }
    return finite;
}

/* ---- Forward -------------------------------------------------------------------------- */

/* Adds the spread of a row of logits. */
static void measure_logits(struct av_attention_rows *rows, const double *z, size_t n, size_t keys)
{
    double mean = 0;
    for (size_t j = 0; j < n; j++) {
        mean += z[j] > -(double)INFINITY ? z[j] / (double)keys : 0;
    }
    for (size_t j = 0; j < n; j++) {
        const double off = z[j] - mean;
        rows->squares += z[j] > -(double)INFINITY ? off * off : 0;
        rows->max_logit = fmax(rows->max_logit, z[j]);
    }
    rows->freedom += (double)keys - 1;
}

static void measure_row(struct hook *h, const struct av_rowstats *stats, size_t keys)
{
    struct av_attention_rows *rows = &h->hook.rows;
    if (keys > 1) {
        rows->count += 1;
        rows->entropy += stats->entropy / log((double)keys);
        rows->max_weight += stats->max;
        rows->row_sum += stats->row_sum;
        for (size_t part = 0; part < h->parts; part++) {
            measure_logits(rows, h->z[part], h->len, keys);
        }
    }
}

/* w of the first part less its share of w of the second, and what is known of that. */
static void subtract(struct hook *h, struct av_rowstats *stats)
{
    struct av_bend_row *first = &h->row[0];
    for (size_t j = 0; j < h->len; j++) {
        first->w[j] += h->share[1] * h->row[1].w[j];
    }
    av_form_stats(stats, first);
}

static void forward(struct av_attention_hook *hook)
{
    struct hook *h = (struct hook *)(void *)hook;
    make_scores(h);
    for (size_t i = 0; i < h->len; i++) {
        struct av_rowstats stats;
        double *p = h->hook.p + i * h->len;
        const bool finite = make_row(h, i, &stats);
        if (finite && h->parts == PARTS) {
            subtract(h, &stats);
        }
        for (size_t j = 0; j < h->len; j++) {
            p[j] = finite ? h->row[0].w[j] : (double)NAN;
        }
        if (finite) {
            measure_row(h, &stats, h->keys[i]);
        }
    }
}

/* ---- Backward ------------------------------------------------------------------------- */

/* The gradient by the scores of row i of a part, that by alpha, and that by the
 * sink's logit b: with w_0 = 1 - sum w, dw_j/db = -w_j w_0 = -rest_j. */
static void row_backward(struct hook *h, size_t part, size_t i)
{
    const struct av_form *form = &h->row[part].form;
    const double *s = h->s[part] + i * h->len;
    double *d_s = h->d_s[part] + i * h->len;
    double sum = 0;
    for (size_t j = 0; j < h->len; j++) {
        h->d_w[j] = h->share[part] * h->hook.d_p[i * h->len + j];
        h->hook.d_extra -= h->d_w[j] * form->rest[j];
    }
    av_form_backward(h->d_z, h->d_w, form, h->len);
    for (size_t j = 0; j < h->len; j++) {
        sum += h->d_z[j] * s[j];
        d_s[j] = multiplier(h, i) * h->d_z[j];
    }
    h->hook.d_alpha += h->factor[i] * sum;
}

static void rows_backward(struct hook *h)
{
    for (size_t i = 0; i < h->len; i++) {
        struct av_rowstats stats;
        const bool finite = make_row(h, i, &stats);
        for (size_t part = 0; part < h->parts; part++) {
            if (finite) {
                row_backward(h, part, i);
            } else {
                h->d_s[part][i * h->len] = (double)NAN; /* it goes everywhere from here */
            }
        }
    }
}

/* d_s becomes the gradient by the scores before they are normalised. */
static void scores_backward(struct hook *h, size_t part)
{
    multiply_entries(h, part);
    for (size_t number = 0; number < groups(h); number++) {
        const struct group g = group_of(h, number);
        size_t n = gather(h->x, h->s[part], h, g);
        const struct av_tangent tangent = av_normalise_layernorm.tangent(h->u, h->x, n, h->eps);
        n = gather(h->x, h->d_s[part], h, g);
        av_normalise_backward(h->x, h->x, &tangent, h->u, n);
        scatter(h->d_s[part], h->x, h, g);
    }
}

/* d_x [len, d], by normalised entries, becomes that by the entries x. */
static void entries_backward(struct hook *h, double *d_x, const double *x)
{
    for (size_t i = 0; i < h->len && h->normalise->entries != NULL; i++) {
        const struct av_tangent tangent = h->normalise->entries->tangent(h->u, x + i * h->d, h->d, h->eps);
        av_normalise_backward(d_x + i * h->d, d_x + i * h->d, &tangent, h->u, h->d);
    }
}

static void backward(struct av_attention_hook *hook)
{
    struct hook *h = (struct hook *)(void *)hook;
    const size_t len = h->len, d = h->d;
    make_scores(h);
    rows_backward(h);
    memset(h->hook.d_q, 0, len * d * sizeof *h->hook.d_q);
    memset(h->hook.d_k, 0, len * d * sizeof *h->hook.d_k);
    for (size_t part = 0; part < h->parts; part++) {
        const size_t first = part * h->part_d;
        if (groups(h) > 0) {
            scores_backward(h, part);
        }
        /* d_q^ [len, d] = d_s [len, len] k^, and d_k^ = d_s^T q^ */
        add_product((struct matrix){ h->hook.d_q + first, d, 1 }, (struct matrix){ h->d_s[part], len, 1 },
                    (struct matrix){ h->k + first, d, 1 }, len, h->part_d, len);
        add_product((struct matrix){ h->hook.d_k + first, d, 1 }, (struct matrix){ h->d_s[part], 1, len },
                    (struct matrix){ h->q + first, d, 1 }, len, h->part_d, len);
    }
    entries_backward(h, h->hook.d_q, h->hook.q);
    entries_backward(h, h->hook.d_k, h->hook.k);
}

/* ---- Making one -------------------------------------------------------------------------- */

static const struct av_variant_hooks *hooks_of(const struct av_train_config *c, enum av_variant_group group)
{
    return av_variant_hooks_of(c->attention.variant, group);
}

static bool is_wanted(const struct av_train_config *c)
{
    const struct av_variant_hooks *normalise = hooks_of(c, AV_GROUP_NORMALISE);
    return normalise->entries != NULL || normalise->scores != AV_SCORES_RAW || av_train_rows_differ(c) ||
           av_variant_of(c->attention.variant, AV_GROUP_BEND) != NULL ||
           av_variant_of(c->attention.variant, AV_GROUP_PATTERN) != NULL;
}

/* Counts n numbers, and points `to` at them once there is memory. */
static void place(double **to, double *memory, size_t *used, size_t n)
{
    const size_t line = AV_ALIGN / sizeof(double);
    *to = memory != NULL ? memory + *used : NULL;
    *used += (n + line - 1) / line * line;
}

static void lay_out_part(struct hook *h, size_t part, double *memory, size_t *used)
{
    struct av_bend_row *row = &h->row[part];
    place(&h->s[part], memory, used, h->len * h->len);
    place(&h->d_s[part], memory, used, h->len * h->len);
    place(&h->z[part], memory, used, h->len);
    place(&row->w, memory, used, h->len);
    place(&row->form.diag, memory, used, h->len);
    place(&row->form.u, memory, used, h->len);
    place(&row->form.v, memory, used, h->len);
    place(&row->form.rest, memory, used, h->len);
    place(&row->scratch, memory, used, AV_BEND_SCRATCH(h->len));
    row->n = h->len;
    row->z = h->z[part];
}

_Static_assert(sizeof(size_t) <= sizeof(double), "numbers of keys take the room of doubles");

/* Points all arrays into memory, and returns how many numbers they take. */
static size_t lay_out(struct hook *h, double *memory)
{
    const size_t entries = h->len * h->d, pairs = h->len * h->len;
    size_t used = 0;
    double *keys;
    double **const of_entries[] = { &h->hook.q, &h->hook.k, &h->hook.d_q, &h->hook.d_k, &h->q, &h->k, &h->k_t };
    for (size_t i = 0; i < sizeof of_entries / sizeof of_entries[0]; i++) {
        place(of_entries[i], memory, &used, entries);
    }
    place(&h->hook.p, memory, &used, pairs);
    place(&h->hook.d_p, memory, &used, pairs);
    place(&h->bias, memory, &used, pairs);
    place(&h->x, memory, &used, pairs);
    place(&h->u, memory, &used, pairs > h->d ? pairs : h->d);
    place(&h->factor, memory, &used, h->len);
    place(&keys, memory, &used, h->len);
    place(&h->d_w, memory, &used, h->len);
    place(&h->d_z, memory, &used, h->len);
    h->keys = (size_t *)(void *)keys;
    for (size_t part = 0; part < h->parts; part++) {
        lay_out_part(h, part, memory, &used);
    }
    return used;
}

/* Everything but memory and pairs. */
static struct hook hook_of(const struct av_train_config *c)
{
    const struct av_variant_hooks *normalise = hooks_of(c, AV_GROUP_NORMALISE), *bend = hooks_of(c, AV_GROUP_BEND);
    const size_t parts = bend->subtracted != NULL ? PARTS : 1;
    return (struct hook){
        .hook = { .forward = forward, .backward = backward, .extra = c->attention.of.sink_logit },
        .p = c->attention,
        .normalise = normalise,
        .bend = bend,
        .len = c->seq_len,
        .d = c->d_k,
        .parts = parts,
        .part_d = c->d_k / parts,
        .share = { 1, parts == PARTS ? -bend->subtracted(&c->attention) : 0 },
        .eps = normalise->eps != NULL ? normalise->eps(&c->attention) : 0,
    };
}

/* What follows from places alone. */
static void fill_pairs(struct hook *h, const struct av_train_config *c)
{
    const struct av_variant_hooks *pattern = hooks_of(c, AV_GROUP_PATTERN);
    for (size_t i = 0; i < h->len; i++) {
        const struct av_pattern_row row = { .query = i, .position = (int64_t)i, .n_k = h->len };
        if (pattern->pattern != NULL) {
            pattern->pattern(h->bias + i * h->len, h->len, &h->p, &row);
        }
        for (size_t j = 0; j < h->len; j++) {
            h->keys[i] += is_seen(h, i * h->len + j);
        }
        h->factor[i] = av_train_row_factor(c, h->keys[i], i);
    }
}

double av_train_hook_bytes(const struct av_train_config *c)
{
    struct hook h = hook_of(c);
    return is_wanted(c) ? (double)sizeof h + (double)sizeof(double) * (double)lay_out(&h, NULL) : 0;
}

enum av_status av_train_hook_new(struct av_attention_hook **out, const struct av_train_config *c,
                                 const struct av_kernels *kernels, struct av_error *e)
{
    *out = NULL;
    if (!is_wanted(c)) {
        return AV_OK;
    }
    struct hook *h = av_alloc(1, sizeof *h);
    if (h == NULL) {
        return av_fail_nomem(e, "the variant in training");
    }
    *h = hook_of(c);
    h->kernels = kernels;
    h->memory = av_alloc(lay_out(h, NULL), sizeof *h->memory);
    if (h->memory == NULL) {
        av_free(h);
        return av_fail_nomem(e, "the variant in training");
    }
    lay_out(h, h->memory);
    fill_pairs(h, c);
    *out = &h->hook;
    return AV_OK;
}

void av_train_hook_free(struct av_attention_hook *hook)
{
    struct hook *h = (struct hook *)(void *)hook;
    if (h != NULL) {
        av_free(h->memory);
        av_free(h);
    }
}
