/* origin.c - the variance of q, k and s as the origin of q and k predicts it. */
#include "attnviz/origin.h"

#include "origin_draws.h"

#include <math.h>

double av_origin_weight_var(enum av_init init, const struct av_params *p)
{
    double in = (double)p->d_model;
    double out = (double)p->d_k;
    const double var[AV_INIT_COUNT] = {
        [AV_INIT_PYTORCH] = 1 / (3 * in), /* of U(-a, a): a^2 / 3 */
        [AV_INIT_UNIT] = 1 / in,
        [AV_INIT_XAVIER] = 2 / (in + out),
        [AV_INIT_KAIMING] = 2 / in,
    };
    return var[init];
}

/* E[V / (V + eps)] for V = scale chi^2 with `freedom` degrees: a sum over t, the
 * logarithm of chi^2 / freedom, whose density is proportional to
 * exp(freedom (t - e^t) / 2), over all t where that is above 1e-17 of its peak
 * at 0, in steps of a quarter of the peak's standard deviation. */
static double normalised_square(double freedom, double scale)
{
    if (freedom <= 0 || scale <= 0) {
        return 0;
    }
    double step = sqrt(2 / freedom) / 4;
    double lowest = -80 / freedom - 1;
    double highest = log1p(80 / freedom + sqrt(160 / freedom));
    int steps = (int)((highest - lowest) / step);
    double sum = 0;
    double weights = 0;
    for (int i = 0; i <= steps; i++) {
        double t = lowest + i * step;
        double weight = exp(freedom / 2 * (t - exp(t) + 1));
        double v = scale * freedom * exp(t);
        sum += weight * (v / (v + AV_LAYER_NORM_EPS));
        weights += weight;
    }
    return sum / weights;
}

void av_origin_predict(struct av_origin *o, const struct av_params *p)
{
    double in = (double)p->d_model;
    double out = (double)p->d_k;
    double spread = p->input_std * p->input_std;
    double normalised = normalised_square(in - 1, spread / in);
    for (int norm = 0; norm < 2; norm++) {
        double x = norm ? normalised : p->input_mean * p->input_mean + spread;
        double x_between = norm ? normalised : spread;
        for (int init = 0; init < AV_INIT_COUNT; init++) {
            struct av_estimate *at = o->at[init][norm];
            double w = av_origin_weight_var((enum av_init)init, p);
            double q = in * w * x;
            at[AV_ORIGIN_W].theory = w;
            at[AV_ORIGIN_X].theory = x;
            at[AV_ORIGIN_Q].theory = q;
            at[AV_ORIGIN_K].theory = q;
            at[AV_ORIGIN_S].theory = out * q * q;
            at[AV_ORIGIN_ROW].theory = out * q * (in * w * x_between);
            at[AV_ORIGIN_NORMED].theory = x > 0 ? out : 0;
        }
    }
}

int av_origin_drawings(const struct av_params *p)
{
    enum { MOST = 64, LEAST = 6 };
    const double entries = 1 << 27; /* of w, in all */
    double per_drawing = 2.0 * AV_INIT_COUNT * (double)p->d_model * (double)p->d_k;
    double n = entries / per_drawing;
    return n > MOST ? MOST : n < LEAST ? LEAST : (int)n;
}

double av_origin_limit(int n)
{
    const double z = 4.5;
    double freedom = n - 1;
    if (freedom < 1) {
        return (double)NAN;
    }
    double scaled = z * (8 * freedom + 3) / (8 * freedom + 1);
    return sqrt(freedom * expm1(scaled * scaled / freedom));
}

/* ---- Remedies -------------------------------------------------------------- */

/* A row: inputs and w as they are measured, w and s multiplied. */
static void fill(struct av_remedy *row, const struct av_estimate *at, double w_factor, double alpha)
{
    row->missing = av_estimate_times(&at[AV_ORIGIN_S], w_factor * w_factor * alpha * alpha);
    row->with_qk_norm = av_estimate_times(&at[AV_ORIGIN_NORMED], alpha * alpha);
}

void av_origin_remedies(struct av_remedy out[AV_REMEDIES], const struct av_origin *o, const struct av_params *p)
{
    static const struct av_remedy words[AV_REMEDIES] = {
        { .name = "nothing missing", .acts = "LayerNorm, init unit, 1/sqrt(d_k)", .controls = "Var[α s] = 1" },
        { .name = "no scale", .acts = "scores, at every step: 1/sqrt(d_k)", .controls = "the growth with d_k" },
        { .name = "no LayerNorm", .acts = "inputs x, before w_q and w_k", .controls = "mean and size of x" },
        { .name = "no initialisation",
          .acts = "w_q and w_k, before step 0 only",
          .controls = "the growth with d_model" },
        { .name = "as set", .acts = "init, layer_norm and scale", .controls = "as the parameters have them" },
    };
    double alpha = 1 / sqrt((double)p->d_k);
    const struct av_estimate *whole = o->at[AV_INIT_UNIT][1];
    for (int i = 0; i < AV_REMEDIES; i++) {
        out[i] = words[i];
    }
    fill(&out[0], whole, 1, alpha);
    fill(&out[1], whole, 1, 1);
    fill(&out[2], o->at[AV_INIT_UNIT][0], 1, alpha);
    fill(&out[3], whole, (double)p->d_model, alpha);
    fill(&out[4], o->at[p->init][p->layer_norm != 0], 1, av_params_alpha(p));
}
