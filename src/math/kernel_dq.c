/* kernel_dq.c - the size of one query's gradient, |J K|_F.
 *
 * With x_j = k_j - k_m (m: the key of the largest weight), P the largest
 * weight among keys that differ from k_m, w_j = p_j / P and
 * delta = sum w_j x_j, the mean key is kbar = k_m + P delta and
 *
 *   dq^2 = sum_j p_j^2 |k_j - kbar|^2
 *        = P^2 [ (sum of p_j^2 over keys equal to k_m) |delta|^2
 *                + sum over the others of w_j^2 |x_j - P delta|^2 ],
 *
 * where the bracket is of the size of the keys however small P is, and no
 * term of it suffers: its first part bounds what x_j - P delta can lose.
 *
 * Some columns of all keys are widened at a time and serve many rows. Every
 * column is a sum of its own over ascending keys, and the columns' sums are
 * folded in one fixed order, so that the width of the vectors does not change
 * a bit. */
#include "kernel_sets.h"
#include "lanes.h"

#include <math.h>
#include <stdbool.h>

enum { COLUMNS = AV_DQ_COLUMNS, PARTS = COLUMNS / AV_LANES_D };

/* Keys with smaller w_j are left out: whatever finite floats the entries are,
 * they are below 2^-200 of the runner-up's part; and the squares of what is
 * left do not underflow, which would be slow. */
static const double W_MIN = 0x1p-500;

/* A key that counts: neither equal to k_m nor left out. */
struct term {
    double w;
    size_t key;
};

/* What is known of a row apart from its terms. */
struct row {
    size_t terms, m;
    double largest;   /* P */
    double winner_p2; /* sum of p^2 over keys equal to k_m */
    double bracket;   /* over the columns so far */
};

_Static_assert(sizeof(struct term) == 2 * sizeof(double), "AV_DQ_SCRATCH counts a term as two doubles");

static bool same_key(const struct av_entries *k, size_t i, size_t j, size_t d)
{
    const size_t a = i * k->pitch, b = j * k->pitch;
    size_t c = 0;
    if (k->f32 != NULL)
        while (c < d && k->f32[a + c] == k->f32[b + c])
            c++;
    else
        while (c < d && k->f64[a + c] == k->f64[b + c])
            c++;
    return c == d;
}

/* Finds the terms of a row, ascending by key. */
static struct row find_terms(struct term *terms, const struct av_dq_row *from, const struct av_entries *k, size_t d)
{
    struct row row = { .m = from->m };
    for (size_t j = 0; j < from->n; j++) {
        const double p = from->p[j];
        if (p > 0 && (j == from->m || same_key(k, j, from->m, d))) {
            row.winner_p2 += p * p;
        } else if (p > 0) {
            terms[row.terms++] = (struct term){ p, j };
            row.largest = p > row.largest ? p : row.largest;
        }
    }
    size_t kept = 0;
    for (size_t t = 0; t < row.terms; t++) {
        const double w = terms[t].w / row.largest;
        terms[kept] = (struct term){ w, terms[t].key };
        kept += w >= W_MIN;
    }
    row.terms = kept;
    return row;
}

/* x[j][c - first] = column c of key j, for COLUMNS columns, 0 from d on. */
static void widen(double *x, const struct av_entries *k, size_t n, size_t first, size_t d)
{
    const size_t count = d - first < COLUMNS ? d - first : COLUMNS;
    for (size_t j = 0, at = first; j < n; j++, at += k->pitch, x += COLUMNS) {
        for (size_t c = 0; c < count; c++)
            x[c] = k->f32 != NULL ? (double)k->f32[at + c] : k->f64[at + c];
        for (size_t c = count; c < COLUMNS; c++)
            x[c] = 0;
    }
}

/* Adds the part of some columns, widened in k, to the row's bracket. */
static void add_columns(struct row *row, const struct term *terms, const double *k)
{
    vd winner[PARTS], delta[PARTS], shift[PARTS], squares[PARTS];
    for (size_t u = 0; u < PARTS; u++) {
        winner[u] = vd_load(k + row->m * COLUMNS + u * AV_LANES_D);
        delta[u] = squares[u] = vd_splat(0);
    }
    for (size_t t = 0; t < row->terms; t++) {
        const double *key = k + terms[t].key * COLUMNS;
        for (size_t u = 0; u < PARTS; u++)
            delta[u] += terms[t].w * (vd_load(key + u * AV_LANES_D) - winner[u]);
    }
    for (size_t u = 0; u < PARTS; u++)
        shift[u] = row->largest * delta[u];
    for (size_t t = 0; t < row->terms; t++) {
        const double *key = k + terms[t].key * COLUMNS;
        for (size_t u = 0; u < PARTS; u++) {
            const vd x = terms[t].w * ((vd_load(key + u * AV_LANES_D) - winner[u]) - shift[u]);
            squares[u] += x * x;
        }
    }
    double sums[COLUMNS];
    for (size_t u = 0; u < PARTS; u++)
        vd_store(sums + u * AV_LANES_D, row->winner_p2 * (delta[u] * delta[u]) + squares[u]);
    for (size_t c = 0; c < COLUMNS; c += AV_LANES)
        row->bracket += lanes_sum(lanes_load(sums + c));
}

void AV_KERNEL(dq)(struct av_dq_row *rows, size_t count, const struct av_entries *k, size_t d, void *scratch)
{
    struct row known[AV_DQ_ROWS];
    struct term *terms[AV_DQ_ROWS];
    double *wide = scratch;
    size_t keys = 0;
    for (size_t i = 0; i < count; i++)
        keys = rows[i].n > keys ? rows[i].n : keys;
    for (size_t i = 0; i < count; i++) {
        terms[i] = (struct term *)(wide + keys * COLUMNS) + i * keys;
        known[i] = find_terms(terms[i], &rows[i], k, d);
    }
    for (size_t c = 0; c < d; c += COLUMNS) {
        widen(wide, k, keys, c, d);
        for (size_t i = 0; i < count; i++)
            add_columns(&known[i], terms[i], wide);
    }
    for (size_t i = 0; i < count; i++)
        rows[i].dq = known[i].largest * sqrt(known[i].bracket);
}
