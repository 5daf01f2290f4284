/* train_hook_pass.c - a variant in training: from q and k of a sequence to weights, and back. */
#include "train_hook_state.h"

#include <string.h>

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

static void normalise_entries(const struct av_train_hook *h, double *out, const double *x)
{
    memcpy(out, x, h->len * h->d * sizeof *out);
    for (size_t i = 0; i < h->len && h->normalise->entries != NULL; i++) {
        h->normalise->entries->forward(out + i * h->d, out + i * h->d, h->d, h->eps);
    }
}

/* What scores are normalised together: all pairs of a part, whatever is seen of
 * them, or those of a row that are seen. */
struct group {
    size_t from, to; /* pairs */
    bool seen_only;
};

static struct group group_of(const struct av_train_hook *h, size_t number)
{
    const bool by_head = h->normalise->scores == AV_SCORES_BY_HEAD;
    return by_head ? (struct group){ 0, h->len * h->len, false }
                   : (struct group){ number * h->len, (number + 1) * h->len, true };
}

static size_t groups(const struct av_train_hook *h)
{
    const size_t counts[] = { [AV_SCORES_RAW] = 0, [AV_SCORES_BY_ROW] = h->len, [AV_SCORES_BY_HEAD] = 1 };
    return counts[h->normalise->scores];
}

/* x becomes the entries of a group, one after the other; returns how many. */
static size_t gather(double *x, const double *pairs, const struct av_train_hook *h, struct group g)
{
    size_t n = 0;
    for (size_t i = g.from; i < g.to; i++) {
        if (!g.seen_only || av_train_pair_is_seen(h, i)) {
            x[n++] = pairs[i];
        }
    }
    return n;
}

/* And back. */
static void scatter(double *pairs, const double *x, const struct av_train_hook *h, struct group g)
{
    for (size_t i = g.from; i < g.to; i++) {
        if (!g.seen_only || av_train_pair_is_seen(h, i)) {
            pairs[i] = *x++;
        }
    }
}

static void normalise_scores(struct av_train_hook *h, double *s)
{
    for (size_t number = 0; number < groups(h); number++) {
        const struct group g = group_of(h, number);
        const size_t n = gather(h->x, s, h, g);
        av_normalise_layernorm.forward(h->x, h->x, n, h->eps);
        scatter(s, h->x, h, g);
    }
}

/* s = q^ k^T over the columns of a part. */
static void multiply_entries(struct av_train_hook *h, size_t part)
{
    const size_t len = h->len, first = part * h->part_d;
    memset(h->s[part], 0, len * len * sizeof *h->s[part]);
    add_product((struct matrix){ h->s[part], len, 1 }, (struct matrix){ h->q + first, h->d, 1 },
                (struct matrix){ h->k_t + first * len, len, 1 }, len, len, h->part_d);
}

static void make_scores(struct av_train_hook *h)
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

static double multiplier(const struct av_train_hook *h, size_t i)
{
    return h->hook.alpha * h->factor[i];
}

/* z = the logits of row i of a part; false: one of them is not finite. */
static bool make_logits(struct av_train_hook *h, size_t part, size_t i)
{
    double *z = h->z[part];
    bool finite = true;
    for (size_t j = 0; j < h->len; j++) {
        const size_t pair = i * h->len + j;
        const bool seen = av_train_pair_is_seen(h, pair);
        z[j] = seen ? multiplier(h, i) * h->s[part][pair] + h->bias[pair] : -(double)INFINITY;
        finite = finite && (isfinite(z[j]) || !seen);
    }
    return finite;
}

/* Weights and form of row i of a part, from its logits. */
static void bend_row(struct av_train_hook *h, size_t part, size_t i, struct av_rowstats *stats)
{
    struct av_bend_params params = { 0 };
    h->p.of.sink_logit = h->hook.extra;
    if (h->bend->bend_params != NULL) {
        h->bend->bend_params(&params, &h->p, h->keys[i]);
    }
    (h->bend->bend != NULL ? h->bend->bend : av_bend_softmax)(&h->row[part], &params, h->kernels, stats);
}

/* All parts of row i; false, and nothing but logits, where one is not finite. */
static bool make_row(struct av_train_hook *h, size_t i, struct av_rowstats *stats)
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
static void measure_spread(struct av_attention_rows *rows, const double *z, size_t n, size_t keys)
{
    double mean = 0;
    for (size_t j = 0; j < n; j++) {
        mean += z[j] > -(double)INFINITY ? z[j] / (double)keys : 0;
    }
    for (size_t j = 0; j < n; j++) {
        const double off = z[j] - mean;
        rows->squares += z[j] > -(double)INFINITY ? off * off : 0;
    }
    rows->freedom += (double)keys - 1;
}

static void measure_row(struct av_train_hook *h, const struct av_rowstats *stats, size_t keys)
{
    struct av_attention_rows *rows = &h->hook.rows;
    for (size_t part = 0; part < h->parts; part++) {
        for (size_t j = 0; j < h->len; j++) {
            rows->max_logit = fmax(rows->max_logit, h->z[part][j]);
        }
        if (keys > 1) {
            measure_spread(rows, h->z[part], h->len, keys);
        }
    }
    if (keys > 1) {
        rows->count += 1;
        rows->entropy += stats->entropy / log((double)keys);
        rows->max_weight += stats->max;
        rows->row_sum += stats->row_sum;
    }
}

/* w of the first part less its share of w of the second, and what is known of that. */
static void subtract(struct av_train_hook *h, struct av_rowstats *stats)
{
    struct av_bend_row *first = &h->row[0];
    for (size_t j = 0; j < h->len; j++) {
        first->w[j] += h->share[1] * h->row[1].w[j];
    }
    av_form_stats(stats, first);
}

void av_train_hook_forward(struct av_attention_hook *hook)
{
    struct av_train_hook *h = (struct av_train_hook *)(void *)hook;
    make_scores(h);
    for (size_t i = 0; i < h->len; i++) {
        struct av_rowstats stats;
        double *p = h->hook.p + i * h->len;
        const bool finite = make_row(h, i, &stats);
        if (finite && h->parts == AV_HOOK_PARTS) {
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
static void row_backward(struct av_train_hook *h, size_t part, size_t i)
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

static void rows_backward(struct av_train_hook *h)
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
static void scores_backward(struct av_train_hook *h, size_t part)
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
static void entries_backward(struct av_train_hook *h, double *d_x, const double *x)
{
    for (size_t i = 0; i < h->len && h->normalise->entries != NULL; i++) {
        const struct av_tangent tangent = h->normalise->entries->tangent(h->u, x + i * h->d, h->d, h->eps);
        av_normalise_backward(d_x + i * h->d, d_x + i * h->d, &tangent, h->u, h->d);
    }
}

void av_train_hook_backward(struct av_attention_hook *hook)
{
    struct av_train_hook *h = (struct av_train_hook *)(void *)hook;
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
