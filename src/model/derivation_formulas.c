/* derivation_formulas.c - corrected formulas of the scores' moments in words. */
#include "derivation_formulas.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

void av_chain_say(char out[AV_CHAIN_TEXT], const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    vsnprintf(out, AV_CHAIN_TEXT, fmt, args);
    va_end(args);
}

/* The next free line of details. */
static char *detail(struct av_chain_step *step)
{
    size_t i = 0;
    while (i + 1 < AV_CHAIN_DETAILS && step->detail[i][0] != '\0') {
        i++;
    }
    return step->detail[i];
}

void av_chain_explain_mean(struct av_chain_step *step, const struct av_params *p, const struct av_expected *e)
{
    av_chain_say(step->instead, "%g×%.3g×%.3g", (double)p->d_k, p->q_mean, p->k_mean);
    if (p->corr != 0) {
        av_chain_say(detail(step), "+ %.4g = d_k Cov where i = j, %.3g%% of pairs; Cov = corr q_std k_std", e->shift,
                     100 * e->share);
    }
}

/* Of pairs i != j, of pairs i = j, of both together. */
void av_chain_explain_var(struct av_chain_step *step, const struct av_params *p, const struct av_expected *e)
{
    double d = (double)p->d_k;
    double q2 = p->q_std * p->q_std;
    double k2 = p->k_std * p->k_std;
    if (p->q_mean != 0 || p->k_mean != 0) {
        av_chain_say(detail(step), "d_k (Var[q]Var[k] + Var[q]E[k]^2 + Var[k]E[q]^2) = %g (%.3g + %.3g + %.3g)", d,
                     q2 * k2, q2 * p->k_mean * p->k_mean, k2 * p->q_mean * p->q_mean);
    } else if (p->corr == 0) {
        av_chain_say(step->instead, "%g×%.3g×%.3g", d, q2, k2);
    }
    if (p->corr != 0) {
        bool means = p->q_mean * p->k_mean != 0;
        double more = e->together - e->apart;
        double share = 100 * e->share;
        av_chain_say(detail(step), "i = j: + d_k %sCov^2 (1 + ex. kurtosis of q)%s = %.4g", means ? "(" : "",
                     means ? " + 2 Cov E[q]E[k])" : "", more);
        av_chain_say(detail(step), "together: %.4g %+.3g×%.3g%% + %.3g^2×%.3g%%×%.3g%%", e->apart, more, share,
                     e->shift, share, 100 - share);
    }
}

void av_chain_explain_kurtosis(struct av_chain_step *step, const struct av_params *p)
{
    double kappa = av_expected_kappa((enum av_dist)p->dist);
    double square = (3 + kappa) * (3 + kappa) - 3;
    if (p->corr != 0) {
        av_chain_say(step->instead, "no short form");
        av_chain_say(detail(step), "no true value: pairs i = j and i != j are a mixture of two kinds");
        return;
    }
    if (p->q_mean == 0 && p->k_mean == 0) {
        av_chain_say(step->instead, "%.4g/d_k", square);
        return;
    }
    char mixed[32] = "";
    char own[32] = "";
    if (kappa > -2) {
        snprintf(mixed, sizeof mixed, " + %.4g V (A+B)", 6 * (2 + kappa));
    }
    if (kappa < 0 || kappa > 0) {
        snprintf(own, sizeof own, " %c %.4g (A^2+B^2)", kappa < 0 ? '-' : '+', kappa < 0 ? -kappa : kappa);
    }
    av_chain_say(step->instead, "d_k (%.4g V^2%s%s) / Var[s]^2", square, mixed, own);
    av_chain_say(detail(step), "V = Var[q]Var[k], A = Var[q]E[k]^2, B = Var[k]E[q]^2");
}

void av_chain_explain_product(struct av_chain_step *step, double factor, double var)
{
    bool whole = var >= 1e4 && var < 1e6; /* shorter than with a power of ten */
    av_chain_say(step->instead, whole ? "%.3g^2×%.0f" : "%.3g^2×%.4g", factor, var);
}
