/* trial.c - queries, keys and their softmax for one measurement of a claim. */
#include "trial.h"

#include "attnviz/mem.h"
#include "entries.h"
#include "summary.h"

#include <math.h>

void av_trial_free(struct av_trial *t)
{
    if (t == NULL) {
        return;
    }
    av_free(t->q);
    av_free(t->k);
    av_free(t->draw);
    av_free(t->scores);
    av_free(t->weights);
    av_free(t->kept);
    av_free(t->column);
    av_free(t->scratch);
    av_free(t->rows);
    av_free(t->invalid);
    av_free(t->params);
    av_free(t->snapshot);
    av_lessons_free(t->lessons);
    av_depth_free(t->stack);
    av_free(t);
}

void av_trial_stop(struct av_trial *t)
{
    av_lessons_stop(t->lessons);
    t->stack_under_way = false;
    t->part = 0;
}

/* Everything but the last two; false without memory. */
static bool make_arrays(struct av_trial *t)
{
    t->q = av_alloc(AV_TRIAL_ENTRIES, sizeof *t->q);
    t->k = av_alloc(AV_TRIAL_ENTRIES, sizeof *t->k);
    t->draw = av_alloc(AV_DIM_MAX, sizeof *t->draw);
    t->scores = av_alloc(AV_TRIAL_SCORES, sizeof *t->scores);
    t->weights = av_alloc(AV_TRIAL_SCORES, sizeof *t->weights);
    t->kept = av_alloc(AV_TRIAL_SCORES, sizeof *t->kept);
    t->column = av_alloc(AV_TRIAL_KEYS, sizeof *t->column);
    t->scratch = av_alloc(AV_SCORES_SCRATCH, 1);
    t->rows = av_alloc(AV_TRIAL_ROWS, sizeof *t->rows);
    t->invalid = av_alloc(AV_TRIAL_ROWS, sizeof *t->invalid);
    return t->q != NULL && t->k != NULL && t->draw != NULL && t->scores != NULL && t->weights != NULL &&
           t->kept != NULL && t->column != NULL && t->scratch != NULL && t->rows != NULL && t->invalid != NULL;
}

enum av_status av_trial_new(struct av_trial **out, const struct av_kernels *kernels, struct av_error *e)
{
    struct av_trial *t = av_alloc(1, sizeof *t);
    *out = NULL;
    if (t != NULL) {
        t->kernels = kernels;
        t->params = av_alloc(1, sizeof *t->params);
        t->snapshot = av_alloc(1, sizeof *t->snapshot);
    }
    if (t == NULL || !make_arrays(t) || t->params == NULL || t->snapshot == NULL) {
        av_trial_free(t);
        return av_fail_nomem(e, "the facts");
    }
    const struct av_depth_config most = {
        .layers = AV_LAYERS_MAX,
        .tokens = AV_TRIAL_STACK_TOKENS,
        .d_model = AV_TRIAL_STACK_MODEL,
        .d_k = AV_TRIAL_STACK_D_K,
    };
    enum av_status s = av_lessons_new(&t->lessons, kernels, e);
    if (s == AV_OK) {
        s = av_depth_new(&t->stack, &most, kernels, e);
    }
    if (s != AV_OK) {
        av_trial_free(t);
        return s;
    }
    av_params_default(t->params);
    t->snapshot->params.temperature = 1;
    t->snapshot->invalid = t->invalid;
    *out = t;
    return AV_OK;
}

void av_trial_draw(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    struct av_params *p = t->params;
    size_t d = at->d_k;
    p->seed = seed;
    p->dist = at->dist;
    p->q_std = at->q_std;
    p->k_std = at->k_std;
    p->q_mean = p->k_mean = at->mean;
    for (size_t i = 0; i < at->n_q; i++) {
        av_entries_query(t->kernels, p, i, 0, d, t->q + i * d);
    }
    for (size_t j = 0; j < at->n_k; j++) {
        av_entries_key(t->kernels, p, j, 0, d, t->k + j * d, t->draw);
    }
    struct av_entries q = { .f32 = t->q, .pitch = d };
    struct av_entries k = { .f32 = t->k, .pitch = d };
    struct av_block all = { 0, at->n_q, 0, at->n_k, 0, d };
    t->kernels->scores(t->scores, at->n_k, &q, &k, &all, t->scratch);
    t->n_q = at->n_q;
    t->n_k = at->n_k;
    t->d_k = d;
}

struct av_summary av_trial_softmax(struct av_trial *t, double multiplier, size_t n_k)
{
    for (size_t i = 0; i < t->n_q; i++) {
        t->kernels->softmax(t->weights + i * t->n_k, t->scores + i * t->n_k, multiplier, n_k, &t->rows[i]);
    }
    t->snapshot->n_q = t->n_q;
    struct av_summary out = { .alpha = multiplier };
    av_summary_make(&out, t->snapshot, t->rows, t->column);
    return out;
}

double av_trial_multiplier(const struct av_fact_setting *at)
{
    return pow((double)at->d_k, -at->exponent);
}
