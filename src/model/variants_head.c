/* variants_head.c - queries and keys, their scores and the moments of these, part by part. */
#include "attnviz/mem.h"
#include "entries.h"
#include "score_stats.h"
#include "variants_state.h"

#include <string.h>

#define NS_DRAW 2.0    /* an entry */
#define NS_SCORES 0.1  /* a pair and column */
#define NS_MOMENTS 3.0 /* a pair */

/* ---- Memory ---------------------------------------------------------------- */

void av_variants_head_free(struct av_variants_head *h)
{
    void *all[] = { h->q_drawn, h->k_drawn, h->draw, h->scores };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
    memset(h, 0, sizeof *h);
}

void av_variants_head_cut(struct av_variants_head *h, size_t n_q, size_t n_k, size_t d)
{
    h->n_q = n_q;
    h->n_k = n_k;
    h->d = d;
    h->summed = 0;
    av_variants_head_uncount(h);
}

void av_variants_head_uncount(struct av_variants_head *h)
{
    h->counted = 0;
    h->moments = (struct av_moments)AV_MOMENTS_INIT;
}

enum av_status av_variants_head_make(struct av_variants_head *h, size_t n_q, size_t n_k, size_t d, bool own,
                                     struct av_error *e)
{
    if (h->most_q == n_q && h->most_k == n_k && h->most_d == d && h->own == own) {
        return AV_OK;
    }
    struct av_variants_head fresh = { .most_q = n_q, .most_k = n_k, .most_d = d, .own = own };
    fresh.scores = av_alloc(n_q, n_k * sizeof *fresh.scores);
    if (own) {
        fresh.q_drawn = av_alloc(n_q, d * sizeof *fresh.q_drawn);
        fresh.k_drawn = av_alloc(n_k, d * sizeof *fresh.k_drawn);
        fresh.draw = av_alloc(d, sizeof *fresh.draw);
    }
    if (fresh.scores == NULL || (own && (fresh.q_drawn == NULL || fresh.k_drawn == NULL || fresh.draw == NULL))) {
        av_variants_head_free(&fresh);
        return av_fail_nomem(e, "variants");
    }
    av_variants_head_free(h);
    *h = fresh;
    h->q = (struct av_entries){ .f32 = h->q_drawn, .pitch = d };
    h->k = (struct av_entries){ .f32 = h->k_drawn, .pitch = d };
    av_variants_head_cut(h, n_q, n_k, d);
    return AV_OK;
}

/* ---- What is still wanted --------------------------------------------------- */

bool av_variants_head_ready(const struct av_variants_head *h)
{
    return h->summed == h->d && h->counted == h->n_q;
}

static double draw_row(const struct av_kernels *kernels, struct av_variants_head *h, const struct av_params *p)
{
    size_t at = h->drawn++;
    if (at < h->most_q) {
        av_entries_query(kernels, p, at, 0, h->most_d, h->q_drawn + at * h->most_d);
    } else {
        size_t j = at - h->most_q;
        av_entries_key(kernels, p, j, 0, h->most_d, h->k_drawn + j * h->most_d, h->draw);
    }
    return NS_DRAW * (double)h->most_d;
}

static double sum_columns(const struct av_kernels *kernels, struct av_variants_head *h, void *scratch)
{
    double cost = NS_SCORES * (double)h->n_q * (double)h->n_k;
    double fit = AV_VARIANTS_UNIT / cost;
    size_t left = h->d - h->summed;
    size_t columns = fit < 1 ? 1 : fit < (double)left ? (size_t)fit : left;
    const struct av_block block = { 0, h->n_q, 0, h->n_k, h->summed, h->summed + columns };
    kernels->scores(h->scores, h->n_k, &h->q, &h->k, &block, scratch);
    h->summed += columns;
    return cost * (double)columns;
}

static double count_row(struct av_variants_head *h, enum av_mask mask)
{
    size_t i = h->counted++;
    size_t len = av_row_length(mask, i, h->n_q, h->n_k);
    const double *scores = h->scores + i * h->n_k;
    if (av_all_finite(scores, len)) {
        struct av_moments row = AV_MOMENTS_INIT;
        av_moments_add(&row, scores, len);
        av_moments_merge(&h->moments, &row);
    }
    return NS_MOMENTS * (double)(len + 1); /* a row without keys is a job as well */
}

double av_variants_head_run(struct av_variants_state *s, struct av_variants_head *h, const struct av_params *p)
{
    if (h->own && h->drawn < h->most_q + h->most_k) {
        return draw_row(s->kernels, h, p);
    }
    if (h->summed < h->d) {
        return sum_columns(s->kernels, h, s->scores_scratch);
    }
    return count_row(h, (enum av_mask)p->mask);
}
