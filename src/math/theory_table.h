/* theory_table.h - the n-independent part of the theory, at fixed sigmas. */
#ifndef ATTNVIZ_THEORY_TABLE_H
#define ATTNVIZ_THEORY_TABLE_H

#include <stddef.h>

/* Means are tabulated and interpolated over position(sigma) in [-1, 1], -1 at
 * sigma = 0, 1 at infinity, after multiplication by hypot(1, sigma): the
 * products are even in sigma about 0 and power series in 1 / sigma at infinity,
 * both of which the position respects. */
enum {
    AV_THEORY_NODES = 36,  /* sigmas; position(node k) = -cos(2 pi k / (2 NODES - 1)), so node 0 is sigma = 0 */
    AV_THEORY_POINTS = 160 /* no sigma needs more points u (148) */
};

/* Weights of G^(n-2) in the integrals of theory.h, n (n - 1) apart, by the
 * trapezoidal rule: times step and hypot(1, sigma). Points ascend in u, G falls. */
struct av_theory_node {
    size_t count;
    double log_g[AV_THEORY_POINTS];
    double trace[AV_THEORY_POINTS];   /* B^2 */
    double entropy[AV_THEORY_POINTS]; /* B C */
};

/* position(sigma) */
double av_theory_position(double sigma);

/* Fills nodes[1 .. AV_THEORY_NODES - 1]; nodes[0], sigma = 0, has closed forms
 * and stays empty. */
void av_theory_table(struct av_theory_node nodes[AV_THEORY_NODES]);

/* For rows of n >= 2 keys (n need not be whole): hypot(1, sigma) times the
 * mean trace and the mean entropy at every node. */
void av_theory_curves(const struct av_theory_node nodes[AV_THEORY_NODES], double n, double trace[AV_THEORY_NODES],
                      double entropy[AV_THEORY_NODES]);

#endif
