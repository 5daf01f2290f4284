/* expected.c - expected moments of the scores. */
#include "expected.h"

#include "attnviz/snapshot.h"

#include <math.h>

/* By enum av_dist. */
static const double KAPPA[AV_DIST_COUNT] = {
    [AV_DIST_NORMAL] = 0,
    [AV_DIST_UNIFORM] = -1.2,
    [AV_DIST_RADEMACHER] = -2,
    [AV_DIST_LAPLACE] = 3,
};

double av_expected_kappa(enum av_dist dist)
{
    return KAPPA[dist];
}

double av_expected_kappa_key(const struct av_params *p)
{
    double c2 = p->corr * p->corr;
    return KAPPA[p->dist] * (c2 * c2 + (1 - c2) * (1 - c2));
}

/* Share of the unmasked pairs that have i = j. */
static double share_paired(const struct av_params *p)
{
    double pairs = 0;
    double paired = 0;
    for (int64_t i = 0; i < p->n_q; i++) {
        size_t len = av_row_length((enum av_mask)p->mask, (size_t)i, (size_t)p->n_q, (size_t)p->n_k);
        pairs += (double)len;
        paired += (size_t)i < len ? 1 : 0;
    }
    return pairs > 0 ? paired / pairs : 0;
}

struct av_expected av_expected_scores(const struct av_params *p)
{
    double d = (double)p->d_k;
    double kappa = KAPPA[p->dist];
    double c = p->corr;
    double sq = p->q_std * p->q_std;
    double sk = p->k_std * p->k_std;
    double cross = p->q_std * p->k_std;
    double apart = d * (sq * sk + sq * p->k_mean * p->k_mean + sk * p->q_mean * p->q_mean);
    double together = apart + d * (sq * sk * c * c * (1 + kappa) + 2 * c * cross * p->q_mean * p->k_mean);
    double share = share_paired(p);
    double shift = d * c * cross;
    struct av_expected out = {
        .mean = d * p->q_mean * p->k_mean + share * shift,
        .var = share * together + (1 - share) * apart + share * (1 - share) * shift * shift,
        .kurtosis = (double)NAN,
        .share = share,
        .shift = shift,
        .apart = apart,
        .together = together,
    };
    bool centred = p->q_mean == 0 && p->k_mean == 0 && c == 0;
    if (centred && out.var > 0) {
        out.kurtosis = ((3 + kappa) * (3 + kappa) - 3) / d;
    }
    return out;
}
