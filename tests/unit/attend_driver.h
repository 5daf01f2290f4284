/* attend_driver.h - one head for tests of attention: made, run by a variant, and forgotten. */
#ifndef ATTEND_DRIVER_H
#define ATTEND_DRIVER_H

#include "attnviz/attend.h"
#include "attnviz/snapshot.h"
#include "attnviz/variant.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { HEAD_MAX = 64 }; /* queries, keys and columns */

/* A head, and what comes out of it. */
struct head {
    size_t n_q, n_k, d;
    float q[HEAD_MAX * HEAD_MAX], k[HEAD_MAX * HEAD_MAX]; /* [n_q, d], [n_k, d] */
    double scores[HEAD_MAX * HEAD_MAX];                   /* [n_q, n_k] */
    double logits[HEAD_MAX * HEAD_MAX], weights[HEAD_MAX * HEAD_MAX];
    struct av_rowstats rows[HEAD_MAX];
    bool invalid[HEAD_MAX];
    double multiplier[HEAD_MAX], nonzero[HEAD_MAX], d_scores[HEAD_MAX], dq[HEAD_MAX];
};

/* Multiples of 1/64 in [-2, 2), as attend_reference.py has them. */
static inline void fill_entries(float *x, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = (seed * 1103515245u + 12345u) % (1u << 31);
        x[i] = (float)((seed >> 16) % 256) / 64 - 2;
    }
}

static inline struct head *new_head(size_t n_q, size_t n_k, size_t d, uint32_t seed)
{
    struct head *h = calloc(1, sizeof *h);
    assert_non_null(h);
    h->n_q = n_q, h->n_k = n_k, h->d = d;
    fill_entries(h->q, n_q * d, seed);
    fill_entries(h->k, n_k * d, seed + 66);
    return h;
}

/* Defaults of that variant and these assignments, with spaces between, at the
 * sizes of the head. */
static inline struct av_params params_of(const struct head *h, const char *variant, const char *assignments)
{
    struct av_params p;
    struct av_error e = { "" };
    av_params_default(&p);
    p.n_q = (int64_t)h->n_q, p.n_k = (int64_t)h->n_k, p.d_k = (int64_t)h->d;
    assert_int_equal(av_variant_parse(&p.variant, variant, &e), AV_OK);
    char text[400];
    assert_true(strlen(assignments) < sizeof text);
    strcpy(text, assignments);
    for (char *at = strtok(text, " "); at != NULL; at = strtok(NULL, " ")) {
        if (av_params_set_text(&p, at, &e) != AV_OK) {
            fail_msg("%s", e.text);
        }
    }
    return p;
}

static inline void make_scores(struct head *h, struct av_moments *m, enum av_mask mask)
{
    for (size_t i = 0; i < h->n_q; i++) {
        for (size_t j = 0; j < h->n_k; j++) {
            double *s = &h->scores[i * h->n_k + j];
            *s = 0;
            for (size_t c = 0; c < h->d; c++) {
                *s += (double)h->q[i * h->d + c] * (double)h->k[j * h->d + c];
            }
        }
        av_moments_add(m, h->scores + i * h->n_k, av_row_length(mask, i, h->n_q, h->n_k));
    }
}

/* Rows [from, to) of the head by an attention that has begun for it. */
static inline void run_some(struct av_attend *a, struct head *h, size_t from, size_t to)
{
    struct av_attend_rows some = { from,
                                   to,
                                   h->logits + from * h->n_k,
                                   h->weights + from * h->n_k,
                                   h->rows + from,
                                   h->invalid + from,
                                   h->multiplier + from,
                                   h->nonzero + from,
                                   h->d_scores + from,
                                   h->dq + from };
    av_attend_run(a, &some);
}

static inline void begin(struct av_attend *a, struct head *h, const struct av_params *p, struct av_moments *m,
                         double alpha)
{
    struct av_error e = { "" };
    if (av_variant_check(p->variant, p, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    *m = (struct av_moments)AV_MOMENTS_INIT;
    make_scores(h, m, (enum av_mask)p->mask);
    const struct av_attend_head head = {
        { .f32 = h->q, .pitch = h->d }, { .f32 = h->k, .pitch = h->d }, h->n_q, h->n_k, h->d, h->scores, m, false, 0
    };
    assert_int_equal(av_attend_begin(a, p, &head, alpha, &e), AV_OK);
}

static inline struct av_attend *new_attend(void)
{
    struct av_attend *a;
    struct av_error e = { "" };
    assert_int_equal(av_attend_new(&a, NULL, &e), AV_OK);
    return a;
}

/* The whole head by p. */
static inline void run_params(struct head *h, const struct av_params *p)
{
    struct av_attend *a = new_attend();
    struct av_moments m;
    begin(a, h, p, &m, (double)NAN);
    run_some(a, h, 0, h->n_q);
    av_attend_free(a);
}

static inline void run_variant(struct head *h, const char *variant, const char *assignments)
{
    const struct av_params p = params_of(h, variant, assignments);
    run_params(h, &p);
}

/* The largest distance of two arrays. */
static inline double largest_difference(const double *a, const double *b, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        const double off = a[i] == b[i] ? 0 : fabs(a[i] - b[i]); /* equal infinities are equal */
        largest = off > largest || isnan(off) ? off : largest;
    }
    return largest;
}

#endif
