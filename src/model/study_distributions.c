/* study_distributions.c - the scores of independent pairs at four d_k.
 *
 * Every pair is drawn once, at the largest d_k, and its score taken on the way
 * at every smaller one. All scores of the panels are kept, so that other bins
 * need no new pairs, and more samples go on behind those that stand. */
#include "attnviz/density.h"
#include "attnviz/distributions.h"
#include "attnviz/mem.h"
#include "attnviz/stats.h"
#include "attnviz/study.h"
#include "entries.h"
#include "expected.h"
#include "pair_sums.h"

#include <math.h>
#include <string.h>

/* A unit: entries to be drawn, or pairs whose scores are only to be counted. */
enum { UNIT_ENTRIES = 2000000, UNIT_COUNTED = 300000 };

/* What a pair costs beside its entries, and the least that is drawn of a row,
 * in entries. */
enum { PAIR_COST = 64, ROW_LEAST = 64 };

struct state {
    const struct av_kernels *kernels;
    struct av_params params;
    size_t ends[AV_VARIANCE_POINTS];      /* the d_k at which scores are taken, ascending */
    double log_ends[AV_VARIANCE_POINTS];  /* their logarithms */
    size_t panel_point[AV_DISTRIBUTIONS]; /* which of them is a panel's */
    size_t capacity;                      /* pairs that there is room for */
    double *scores[AV_DISTRIBUTIONS];     /* [capacity] each; NULL: nothing is drawn */
    uint32_t counts[AV_DISTRIBUTIONS][AV_BINS_MAX];
    struct av_pair_sums sums;
    struct av_distributions result;
    float query[AV_DIM_MAX], key[AV_DIM_MAX], scratch[AV_DIM_MAX];
};

static const char *const listens[] = { "d_k_1",  "d_k_2", "d_k_3", "d_k_4",   "dist", "q_std",    "k_std", "q_mean",
                                       "k_mean", "corr",  "seed",  "samples", "bins", "exponent", NULL };
/* What decides the pairs and their scores; the others what is made of them. */
static const char *const of_pairs[] = { "d_k_1", "d_k_2",  "d_k_3",  "d_k_4", "dist", "q_std",
                                        "k_std", "q_mean", "k_mean", "corr",  "seed", NULL };

static size_t panel_d_k(const struct av_params *p, size_t panel)
{
    const int64_t d_k[AV_DISTRIBUTIONS] = { p->d_k_1, p->d_k_2, p->d_k_3, p->d_k_4 };
    return (size_t)d_k[panel];
}

/* ---- what is known before a pair is drawn ---------------------------------- */

/* A score taken at d, unless there is one; ends stay ascending. */
static size_t insert_end(struct state *s, size_t points, size_t d)
{
    size_t at = 0;
    while (at < points && s->ends[at] < d) {
        at++;
    }
    if (at < points && s->ends[at] == d) {
        return points;
    }
    memmove(&s->ends[at + 1], &s->ends[at], (points - at) * sizeof s->ends[0]);
    s->ends[at] = d;
    return points + 1;
}

static void make_ends(struct state *s)
{
    size_t points = 0;
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        points = insert_end(s, points, panel_d_k(&s->params, i));
    }
    size_t last = s->ends[points - 1];
    for (size_t d = 1; d < last; d *= 2) {
        points = insert_end(s, points, d);
    }
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        s->panel_point[i] = 0;
        while (s->ends[s->panel_point[i]] != panel_d_k(&s->params, i)) {
            s->panel_point[i]++;
        }
    }
    for (size_t i = 0; i < points; i++) {
        s->log_ends[i] = log((double)s->ends[i]);
    }
    s->result.points = points;
}

/* Moments of one pair, whose query and key are of one row. */
static struct av_expected expected_pair(const struct av_params *p, size_t d_k)
{
    struct av_params one = *p;
    one.d_k = (int64_t)d_k;
    one.n_q = one.n_k = 1;
    one.mask = AV_MASK_NONE;
    return av_expected_scores(&one);
}

/* Below this, entries of single precision are 0. */
static const double LEAST_SPREAD = 1e-60;

/* Four standard deviations; where single precision could not resolve them
 * beside the mean, any axis that shows the mean will do. */
static double reach_of(const struct av_expected *e)
{
    double spread = 4 * sqrt(e->var);
    double mean = fabs(e->mean);
    return spread > 1e-5 * mean + LEAST_SPREAD ? spread : fmax(1, mean);
}

/* Axis and curves of the scores with scale off. */
static void make_unscaled(struct av_distribution *d, const struct av_params *p, const struct av_expected *e,
                          const struct av_distributions *r, size_t d_k)
{
    double reach = reach_of(e);
    d->factor = 1;
    d->lo = e->mean - reach;
    d->hi = e->mean + reach;
    d->mean.theory = e->mean;
    d->variance.theory = e->var;
    av_density_normal_bins(e->mean, sqrt(e->var), d->lo, d->hi, r->bins, d->normal);
    if (r->has_exact) {
        av_density_bins(d_k, p->q_std * p->k_std, d->lo, d->hi, r->bins, d->exact);
    }
}

/* The same of the scores times f: axes grow with them, densities fall. */
static void make_scaled(struct av_distribution *d, const struct av_distribution *unscaled, double f, size_t bins)
{
    d->factor = f;
    d->lo = f * unscaled->lo;
    d->hi = f * unscaled->hi;
    d->mean.theory = f * unscaled->mean.theory;
    d->variance.theory = f * f * unscaled->variance.theory;
    for (size_t b = 0; b < bins; b++) {
        d->normal[b] = unscaled->normal[b] / f;
        d->exact[b] = unscaled->exact[b] / f;
    }
}

static void make_theory(struct state *s)
{
    const struct av_params *p = &s->params;
    struct av_distributions *r = &s->result;
    bool centred = p->q_mean == 0 && p->k_mean == 0 && p->corr == 0;
    r->samples = (size_t)p->samples;
    r->bins = (size_t)p->bins;
    r->has_exact = p->dist == AV_DIST_NORMAL && centred && p->q_std * p->k_std > LEAST_SPREAD;
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        struct av_distribution_panel *panel = &r->panels[i];
        panel->d_k = panel_d_k(p, i);
        struct av_expected e = expected_pair(p, panel->d_k);
        make_unscaled(&panel->by_scale[0], p, &e, r, panel->d_k);
        make_scaled(&panel->by_scale[1], &panel->by_scale[0], pow((double)panel->d_k, -p->exponent), r->bins);
        panel->kurtosis.theory = e.kurtosis;
    }
    for (size_t i = 0; i < r->points; i++) {
        double var = expected_pair(p, s->ends[i]).var;
        r->point[i].d_k = s->ends[i];
        r->point[i].variance[0].theory = var;
        r->point[i].variance[1].theory = var * pow((double)s->ends[i], -2 * p->exponent);
    }
    r->slope[0].theory = 1; /* the columns are independent and alike */
    r->slope[1].theory = 1 - 2 * p->exponent;
}

/* ---- what the pairs so far say ---------------------------------------------- */

/* What was measured and its error, times factor; the theory stays. */
static void set_estimate(struct av_estimate *to, const struct av_estimate *from, double factor)
{
    to->measured = factor * from->measured;
    to->error = factor * from->error;
}

/* A score times f falls into the bin times f: the counts serve both scales. */
static void set_density(struct av_distribution *d, const uint32_t *counts, size_t bins, size_t counted)
{
    double unit = (double)counted * (d->hi - d->lo) / (double)bins;
    d->peak = 0;
    for (size_t b = 0; b < bins; b++) {
        d->density[b] = counts[b] / unit;
        d->peak = fmax(d->peak, d->density[b]);
    }
}

static double share_beyond(const uint32_t *counts, size_t bins, size_t counted)
{
    size_t inside = 0;
    for (size_t b = 0; b < bins; b++) {
        inside += counts[b];
    }
    return (double)(counted - inside) / (double)counted;
}

static void set_result(struct state *s)
{
    struct av_distributions *r = &s->result;
    struct av_pair_estimates found;
    av_pair_sums_estimate(&s->sums, s->log_ends, &found);
    r->pairs = s->sums.pairs;
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        struct av_distribution_panel *panel = &r->panels[i];
        size_t point = s->panel_point[i];
        for (size_t on = 0; on < 2; on++) {
            struct av_distribution *d = &panel->by_scale[on];
            set_estimate(&d->mean, &found.mean[point], d->factor);
            set_estimate(&d->variance, &found.variance[point], d->factor * d->factor);
            set_density(d, s->counts[i], r->bins, r->counted);
        }
        set_estimate(&panel->kurtosis, &found.kurtosis[point], 1);
        panel->beyond = share_beyond(s->counts[i], r->bins, r->counted);
    }
    for (size_t i = 0; i < r->points; i++) {
        set_estimate(&r->point[i].variance[0], &found.variance[i], 1);
        set_estimate(&r->point[i].variance[1], &found.variance[i], exp(-2 * s->params.exponent * s->log_ends[i]));
    }
    /* ln (f^2 var) = ln var - 2 exponent ln d_k: the slope shifts, its error stays. */
    set_estimate(&r->slope[0], &found.slope, 1);
    found.slope.measured -= 2 * s->params.exponent;
    set_estimate(&r->slope[1], &found.slope, 1);
}

/* ---- the work ---------------------------------------------------------------- */

/* Draws pair r and takes its scores. */
static void draw_pair(struct state *s, size_t r)
{
    size_t points = s->result.points;
    size_t d = s->ends[points - 1];
    double scores[AV_VARIANCE_POINTS];
    av_entries_query(s->kernels, &s->params, r, 0, d, s->query);
    av_entries_key(s->kernels, &s->params, r, 0, d, s->key, s->scratch);
    s->kernels->dot(scores, s->query, s->key, s->ends, points);
    av_pair_sums_add(&s->sums, scores);
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        s->scores[i][r] = scores[s->panel_point[i]];
    }
}

static size_t pairs_of_unit(const struct state *s)
{
    size_t d = s->ends[s->result.points - 1];
    size_t rows = s->params.corr != 0 ? 3 : 2;
    return UNIT_ENTRIES / (rows * (d > ROW_LEAST ? d : ROW_LEAST) + PAIR_COST);
}

/* Counts pairs that are drawn already, or draws more of them and counts those. */
static bool step(void *state)
{
    struct state *s = state;
    struct av_distributions *r = &s->result;
    size_t from = r->counted;
    if (from == r->samples) {
        return false;
    }
    bool drawn = from < s->sums.pairs;
    size_t end = drawn ? s->sums.pairs : r->samples;
    size_t most = drawn ? (size_t)UNIT_COUNTED : pairs_of_unit(s);
    end = end - from < most ? end : from + most;
    for (size_t i = s->sums.pairs; i < end; i++) {
        draw_pair(s, i);
    }
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        const struct av_distribution *d = &r->panels[i].by_scale[0];
        av_histogram_add(s->counts[i], r->bins, d->lo, d->hi, s->scores[i] + from, end - from, 1);
    }
    r->counted = end;
    set_result(s);
    return true;
}

static double progress(const void *state)
{
    const struct av_distributions *r = &((const struct state *)state)->result;
    return (double)r->counted / (double)r->samples;
}

static const void *result(const void *state)
{
    return &((const struct state *)state)->result;
}

/* ---- beginning and end -------------------------------------------------------- */

static enum av_status open_state(void **state, const struct av_kernels *kernels, struct av_error *e)
{
    struct state *s = av_alloc(1, sizeof *s);
    *state = s;
    if (s == NULL) {
        return av_fail_nomem(e, "the distributions");
    }
    s->kernels = kernels;
    return AV_OK;
}

static void free_scores(struct state *s)
{
    for (size_t i = 0; i < AV_DISTRIBUTIONS; i++) {
        av_free(s->scores[i]);
        s->scores[i] = NULL;
    }
    s->capacity = 0;
    s->sums.pairs = 0;
}

static void close_state(void *state)
{
    free_scores(state);
    av_free(state);
}

/* Room for `samples` pairs; those drawn stay. False, and nothing kept, when
 * memory is out. */
static bool make_room(struct state *s, size_t samples)
{
    bool done = true;
    for (size_t i = 0; i < AV_DISTRIBUTIONS && samples > s->capacity; i++) {
        double *more = av_alloc(samples, sizeof *more);
        if (more != NULL && s->sums.pairs > 0) {
            memcpy(more, s->scores[i], s->sums.pairs * sizeof *more);
        }
        av_free(s->scores[i]);
        s->scores[i] = more;
        done = done && more != NULL;
    }
    if (!done) {
        free_scores(s);
    } else if (samples > s->capacity) {
        s->capacity = samples;
    }
    return done;
}

/* Do the pairs that are drawn, if any, belong to these parameters? */
static bool pairs_hold(const struct state *s, const struct av_params *p)
{
    bool wanted = s->sums.pairs > 0 && s->sums.pairs <= (size_t)p->samples;
    return wanted && !av_params_differ(of_pairs, &s->params, p);
}

static enum av_status begin(void *state, const struct av_params *p, struct av_error *e)
{
    struct state *s = state;
    bool hold = pairs_hold(s, p);
    s->params = *p;
    s->params.head = 0; /* pairs have no head: theirs are the entries of the first */
    memset(&s->result, 0, sizeof s->result);
    make_ends(s);
    if (!hold) {
        av_pair_sums_clear(&s->sums, s->result.points);
    }
    if (!make_room(s, (size_t)p->samples)) {
        return av_fail_nomem(e, "the scores of the pairs");
    }
    make_theory(s);
    memset(s->counts, 0, sizeof s->counts);
    step(s);
    return AV_OK;
}

const struct av_study av_study_distributions = {
    .name = "distributions",
    .listens = listens,
    .open = open_state,
    .close = close_state,
    .begin = begin,
    .step = step,
    .progress = progress,
    .result = result,
};
