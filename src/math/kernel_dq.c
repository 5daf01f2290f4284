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
 * Every column is a sum of its own over ascending keys, so that the compiler
 * may use vectors of any width over columns without changing a bit. */
#include "kernel_sets.h"

#include <math.h>
#include <stdbool.h>

enum { COLUMNS = 512 }; /* at a time: their sums stay in the first-level cache */

/* Keys with smaller w_j are left out: whatever finite floats the entries are,
 * they are below 2^-200 of the runner-up's part; and the squares of what is
 * left do not underflow, which would be slow. */
static const double W_MIN = 0x1p-500;

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

/* Fills w as above, 0 for keys that are equal to k_m or left out, and the sum
 * of p^2 over keys equal to k_m. Returns P. */
static double relative_weights(double *w, double *winner_p2, const double *p, const struct av_entries *k, size_t n,
                               size_t d, size_t m)
{
    double largest = 0;
    *winner_p2 = 0;
    for (size_t j = 0; j < n; j++) {
        w[j] = p[j];
        if (p[j] > 0 && (j == m || same_key(k, j, m, d))) {
            *winner_p2 += p[j] * p[j];
            w[j] = 0;
        }
        largest = w[j] > largest ? w[j] : largest;
    }
    for (size_t j = 0; largest > 0 && j < n; j++)
        w[j] = w[j] / largest >= W_MIN ? w[j] / largest : 0;
    return largest;
}

/* ---- one key, some columns -------------------------------------------- */

/* delta[c] += w (k_jc - k_mc); a and b are the entries of keys j and m. */
static void add_delta_f32(double *restrict delta, const float *a, const float *b, size_t columns, double w)
{
    for (size_t c = 0; c < columns; c++)
        delta[c] += w * ((double)a[c] - (double)b[c]);
}

static void add_delta_f64(double *restrict delta, const double *a, const double *b, size_t columns, double w)
{
    for (size_t c = 0; c < columns; c++)
        delta[c] += w * (a[c] - b[c]);
}

/* squares[c] += (w ((k_jc - k_mc) - shift[c]))^2, where shift is P delta. */
static void add_squares_f32(double *restrict squares, const double *restrict shift, const float *a, const float *b,
                            size_t columns, double w)
{
    for (size_t c = 0; c < columns; c++) {
        const double x = w * (((double)a[c] - (double)b[c]) - shift[c]);
        squares[c] += x * x;
    }
}

static void add_squares_f64(double *restrict squares, const double *restrict shift, const double *a, const double *b,
                            size_t columns, double w)
{
    for (size_t c = 0; c < columns; c++) {
        const double x = w * ((a[c] - b[c]) - shift[c]);
        squares[c] += x * x;
    }
}

/* ---- all keys --------------------------------------------------------- */

struct row {
    const struct av_entries *k;
    size_t n, m;
    const double *w;
    double largest;   /* P */
    double winner_p2; /* sum of p^2 over keys equal to k_m */
};

/* The part of columns [first, first + columns), at most COLUMNS, in the
 * bracket. */
static double sum_columns(const struct row *r, size_t first, size_t columns)
{
    double delta[COLUMNS] = { 0 }, squares[COLUMNS] = { 0 };
    const struct av_entries *k = r->k;
    const size_t m = r->m * k->pitch + first;
    for (size_t j = 0, at = first; j < r->n; j++, at += k->pitch) {
        if (r->w[j] == 0)
            continue;
        if (k->f32 != NULL)
            add_delta_f32(delta, k->f32 + at, k->f32 + m, columns, r->w[j]);
        else
            add_delta_f64(delta, k->f64 + at, k->f64 + m, columns, r->w[j]);
    }
    double delta2 = 0;
    for (size_t c = 0; c < columns; c++) {
        delta2 += delta[c] * delta[c];
        delta[c] *= r->largest;
    }
    for (size_t j = 0, at = first; j < r->n; j++, at += k->pitch) {
        if (r->w[j] == 0)
            continue;
        if (k->f32 != NULL)
            add_squares_f32(squares, delta, k->f32 + at, k->f32 + m, columns, r->w[j]);
        else
            add_squares_f64(squares, delta, k->f64 + at, k->f64 + m, columns, r->w[j]);
    }
    double sum = r->winner_p2 * delta2;
    for (size_t c = 0; c < columns; c++)
        sum += squares[c];
    return sum;
}

double AV_KERNEL(dq)(const double *p, const struct av_entries *k, size_t n, size_t d, size_t m, double *scratch)
{
    struct row row = { .k = k, .n = n, .m = m, .w = scratch };
    row.largest = relative_weights(scratch, &row.winner_p2, p, k, n, d, m);
    if (row.largest == 0)
        return 0;
    double sum = 0;
    for (size_t c = 0; c < d; c += COLUMNS)
        sum += sum_columns(&row, c, d - c < COLUMNS ? d - c : COLUMNS);
    return row.largest * sqrt(sum);
}
