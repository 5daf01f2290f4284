/* kernel_form.c - what a row's Jacobian does to some columns of the keys.
 *
 * With m the key of the largest |v|, y_j = x_j - x_m, V = sum v and
 * delta = sum v_l y_l, the form of bend.h gives
 *
 *   (J x)_j = rest_j x_j + u_j sum_l v_l (x_j - x_l)
 *           = rest_j x_j + u_j (V y_j - delta)
 *
 * where delta and y keep their digits however small all v but one are. Every
 * column is a sum of its own over ascending keys, and the columns' sums are
 * folded in one fixed order: the same bits on every instruction set. */
#include "attnviz/bend.h"
#include "kernel_sets.h"
#include "lanes.h"

#include <math.h>
#include <stddef.h>

enum { COLUMNS = AV_FORM_COLUMNS, PARTS = COLUMNS / AV_LANES_D };

/* The bounds of struct av_form_squares. */
static const double LARGE = 0x1p-500, LIFT = 0x1p600;

static size_t largest_v(const struct av_form *f, size_t n)
{
    size_t m = 0;
    for (size_t j = 1; j < n; j++)
        m = fabs(f->v[j]) > fabs(f->v[m]) ? j : m;
    return m;
}

/* delta of every column; returns V. */
static double mean_differences(vd delta[PARTS], const struct av_form *f, const double *x, const double *x_m, size_t n)
{
    double total = 0;
    for (size_t u = 0; u < PARTS; u++)
        delta[u] = vd_splat(0);
    for (size_t j = 0; j < n; j++, x += COLUMNS) {
        const double v = f->v[j];
        if (!(v < 0 || v > 0))
            continue;
        total += v;
        for (size_t u = 0; u < PARTS; u++)
            delta[u] += v * (vd_load(x + u * AV_LANES_D) - vd_load(x_m + u * AV_LANES_D));
    }
    return total;
}

static double fold(const vd parts[PARTS])
{
    double sums[COLUMNS], total = 0;
    for (size_t u = 0; u < PARTS; u++)
        vd_store(sums + u * AV_LANES_D, parts[u]);
    for (size_t c = 0; c < COLUMNS; c += AV_LANES)
        total += lanes_sum(lanes_load(sums + c));
    return total;
}

void AV_KERNEL(form_columns)(struct av_form_squares *sum, const struct av_form *f, const double *x, size_t n)
{
    const double *x_m = x + largest_v(f, n) * COLUMNS;
    vd delta[PARTS], large[PARTS], small[PARTS];
    const double total = mean_differences(delta, f, x, x_m, n);
    for (size_t p = 0; p < PARTS; p++)
        large[p] = small[p] = vd_splat(0);
    for (size_t j = 0; j < n; j++, x += COLUMNS) {
        const double u = f->u[j], rest = f->rest[j];
        if (!(u < 0 || u > 0 || rest < 0 || rest > 0))
            continue;
        for (size_t p = 0; p < PARTS; p++) {
            const vd key = vd_load(x + p * AV_LANES_D), y = key - vd_load(x_m + p * AV_LANES_D);
            const vd product = rest * key + u * (total * y - delta[p]);
            const vi64 is_large = (product >= vd_splat(LARGE)) | (product <= vd_splat(-LARGE));
            const vd far = (vd)(is_large & (vi64)product), near = (vd)(~is_large & (vi64)product) * LIFT;
            large[p] += far * far;
            small[p] += near * near;
        }
    }
    sum->large += fold(large);
    sum->small += fold(small);
}
