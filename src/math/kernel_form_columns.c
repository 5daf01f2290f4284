/* kernel_form_columns.c - what a row's Jacobian does to some columns of the keys.
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
#include "lanes_size.h"

#include <math.h>
#include <stddef.h>

enum { COLUMNS = AV_FORM_COLUMNS, PARTS = COLUMNS / AV_LANES_D };

/* Squares are taken as they are of what is not much smaller than 1: keys with u
 * and rest below LEAST left out, whose squares would underflow, which is slow.
 * Whatever finite floats the keys are, what is left out is below 2^-200 of a
 * sum that is at least ENOUGH; a smaller sum is made again of all keys, lifted. */
static const double LEAST = 0x1p-510, ENOUGH = 0x1p-500;

/* J without its diagonal: V, x_m and delta. */
struct means {
    double total;
    vd winner[PARTS], delta[PARTS];
};

static struct means find_means(const struct av_form *f, const double *x, size_t n)
{
    struct means means = { .total = 0 };
    const double *winner = x + find_size(f->v, n, largest_size(f->v, n)) * COLUMNS;
    for (size_t p = 0; p < PARTS; p++)
        means.winner[p] = vd_load(winner + p * AV_LANES_D);
    for (size_t j = 0; j < n; j++, x += COLUMNS) {
        const double v = f->v[j];
        if (!(fabs(v) > 0))
            continue;
        means.total += v;
        for (size_t p = 0; p < PARTS; p++)
            means.delta[p] += v * (vd_load(x + p * AV_LANES_D) - means.winner[p]);
    }
    return means;
}

/* Sum of squares of J x times lift, without keys whose u and rest are no
 * larger than `least`. */
static double squares(const struct av_form *f, const struct means *means, const double *x, size_t n, double least,
                      double lift)
{
    vd sum[PARTS] = { { 0 } };
    for (size_t j = 0; j < n; j++, x += COLUMNS) {
        const double u = f->u[j], rest = f->rest[j];
        if (!(fabs(u) > least || fabs(rest) > least))
            continue;
        for (size_t p = 0; p < PARTS; p++) {
            const vd key = vd_load(x + p * AV_LANES_D), y = key - means->winner[p];
            const vd product = (rest * key + u * (means->total * y - means->delta[p])) * lift;
            sum[p] += product * product;
        }
    }
    double sums[COLUMNS], total = 0;
    for (size_t p = 0; p < PARTS; p++)
        vd_store(sums + p * AV_LANES_D, sum[p]);
    for (size_t c = 0; c < COLUMNS; c += AV_LANES)
        total += lanes_sum(lanes_load(sums + c));
    return total;
}

void AV_KERNEL(form_columns)(struct av_form_squares *sum, const struct av_form *f, const double *x, size_t n)
{
    const struct means means = find_means(f, x, n);
    const double large = squares(f, &means, x, n, LEAST, 1);
    if (large >= ENOUGH)
        sum->large += large;
    else
        sum->small += squares(f, &means, x, n, 0, AV_FORM_LIFT);
}
