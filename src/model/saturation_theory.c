/* saturation_theory.c - what is known of saturation without measuring. */
#include "saturation_state.h"

#include <math.h>

size_t av_saturation_d(size_t column)
{
    return (size_t)lround(exp2((double)column / AV_SATURATION_OCTAVE));
}

double av_saturation_temperature(size_t row)
{
    return 0.01 * pow(10, (double)row / AV_SATURATION_DECADE);
}

double av_saturation_multiplier(const struct av_params *p, bool scale, double d)
{
    return scale ? pow(d, -p->exponent) : 1;
}

double av_saturation_std(const struct av_params *p, bool scale, double d, double temperature)
{
    return av_saturation_multiplier(p, scale, d) * sqrt(d) * hypot(p->q_mean, p->q_std) * p->k_std / temperature;
}

double av_saturation_contour(const struct av_saturation *r, bool scale, double d)
{
    return av_saturation_std(&r->params, scale, d, 1) / r->freezing_std;
}

bool av_saturation_means(struct av_saturation_state *s, bool scale, size_t d, double temperature,
                         struct av_theory_means *out)
{
    const struct av_params *p = &s->result.params;
    struct av_theory_rows rows = { (size_t)p->n_q, (size_t)p->n_k, d, p->mask == AV_MASK_CAUSAL };
    return av_theory_means(s->theory, &rows, av_saturation_std(p, scale, (double)d, temperature), out);
}

/* The standard deviation is std(1) d^(1/2 - exponent): solved for d. Logits
 * that are all equal freeze nowhere. */
static double freezing_d(const struct av_saturation *r, bool scale)
{
    double power = 0.5 - (scale ? r->params.exponent : 0);
    double ratio = r->freezing_std / av_saturation_std(&r->params, scale, 1, r->params.temperature);
    return fabs(power) < 1e-12 || isinf(ratio) ? (double)NAN : pow(ratio, 1 / power);
}

void av_saturation_theory(struct av_saturation_state *s)
{
    struct av_saturation *r = &s->result;
    const struct av_params *p = &r->params;
    r->has_theory = p->dist == AV_DIST_NORMAL && p->corr == 0 && p->q_mean == 0;
    r->freezing_std = av_rows_freezing((enum av_mask)p->mask, (size_t)p->n_q, (size_t)p->n_k);
    for (int scale = 0; scale < 2; scale++) {
        r->freezing_d[scale] = freezing_d(r, scale);
        r->at_std[scale] = av_saturation_std(p, scale, (double)r->at.d, p->temperature);
        for (size_t i = 0; i < AV_SATURATION_COLUMNS && r->has_theory; i++) {
            r->has_theory = av_saturation_means(s, scale, av_saturation_d(i), p->temperature, &r->theory[scale][i]);
        }
        if (r->has_theory) {
            av_saturation_means(s, scale, r->at.d, p->temperature, &r->at_theory[scale]);
        }
    }
}
