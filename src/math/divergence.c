/* divergence.c - how far two distributions are from each other. */
#include "attnviz/divergence.h"

#include <math.h>

/* g of divergence.h for 0 <= x <= 1: by its series where the logarithms would
 * cancel, to beyond the last bit there. */
static double g(double x)
{
    static const double near = 0.25;
    /* 1 / (k (2k - 1)) for k = 1 .. 12 */
    static const double series[] = { 1,        1.0 / 6,   1.0 / 15,  1.0 / 28,  1.0 / 45,  1.0 / 66,
                                     1.0 / 91, 1.0 / 120, 1.0 / 153, 1.0 / 190, 1.0 / 231, 1.0 / 276 };
    enum { TERMS = sizeof series / sizeof series[0] };
    if (x < near) {
        double square = x * x;
        double sum = series[TERMS - 1];
        for (size_t k = TERMS - 1; k-- > 0;) {
            sum = sum * square + series[k];
        }
        return sum * square;
    }
    return (1 + x) * log(1 + x) + (x < 1 ? (1 - x) * log(1 - x) : 0);
}

double av_js_divergence(const double *p, const double *q, size_t n)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        double both = p[j] + q[j];
        sum += both > 0 ? both * g(fabs(p[j] - q[j]) / both) : both;
    }
    return sum / 4;
}
