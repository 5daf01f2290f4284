/* facts_training.c - measurements of training, and of stacks of layers. */
#include "attnviz/depth_study.h"
#include "facts_measures.h"
#include "trial.h"

#include <math.h>

/* ---- Training -------------------------------------------------------------------- */

/* Lesson at->x, with that seed; NULL while it is under way. */
static const struct av_lesson_outcome *lesson(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return av_lesson_learn(t->lessons, (enum av_lesson)at->x, seed, &t->part);
}

static double orders(double a, double b)
{
    return log10(a / b);
}

double av_measure_stall(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    const struct av_lesson_outcome *o = lesson(t, at, seed);
    return o != NULL ? orders(o->loss[AV_TWIN_UNSCALED], o->loss[AV_TWIN_SCALED]) : (double)NAN;
}

double av_measure_grad_qk(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    const struct av_lesson_outcome *o = lesson(t, at, seed);
    return o != NULL ? orders(o->grad_qk[AV_TWIN_UNSCALED], o->grad_qk[AV_TWIN_SCALED]) : (double)NAN;
}

double av_measure_d_q_median(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    const struct av_lesson_outcome *o = lesson(t, at, seed);
    return o != NULL ? orders(o->d_q_median[AV_TWIN_UNSCALED], o->d_q_median[AV_TWIN_SCALED]) : (double)NAN;
}

/* A twin's loss in this lesson over that of one that comes `before` it in the
 * table of lessons. */
static double against_smaller(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed, int before,
                              enum av_twin twin)
{
    struct av_fact_setting smaller = *at;
    double part = 0;
    smaller.x -= before;
    const struct av_lesson_outcome *o = lesson(t, &smaller, seed);
    if (o == NULL) {
        t->part /= 2;
        return (double)NAN;
    }
    const double loss = o->loss[twin];
    o = av_lesson_learn(t->lessons, (enum av_lesson)at->x, seed, &part);
    if (o == NULL) {
        t->part = (1 + part) / 2;
        return (double)NAN;
    }
    return orders(o->loss[twin], loss);
}

double av_measure_scaled_over_64(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return against_smaller(t, at, seed, 2, AV_TWIN_SCALED);
}

double av_measure_unscaled_over_64(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    return against_smaller(t, at, seed, 1, AV_TWIN_UNSCALED);
}

/* ---- Depth --------------------------------------------------------------------------- */

/* Recipe at->x with at->n_q layers; NULL while it is under way. */
static const struct av_depth_stack *stack(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    enum { UNIT = 2 };
    const struct av_depth_recipe *r = &av_depth_recipes[(size_t)at->x];
    if (!t->stack_under_way) {
        const struct av_depth_config c = {
            .layers = at->n_q,
            .tokens = AV_TRIAL_STACK_TOKENS,
            .d_model = AV_TRIAL_STACK_MODEL,
            .d_k = AV_TRIAL_STACK_D_K,
            .init = AV_INIT_UNIT,
            .norm = r->norm,
            .residual = r->residual,
            .residual_scale = r->residual_scale,
            .alpha = r->scale ? pow(AV_TRIAL_STACK_D_K, -0.5) : 1,
            .clip = at->clip,
            .seed = seed,
        };
        av_depth_begin(t->stack, &c);
        t->stack_under_way = true;
    }
    for (int i = 0; i < UNIT && av_depth_step(t->stack); i++) {
    }
    t->stack_under_way = av_depth_progress(t->stack) < 1;
    t->part = t->stack_under_way ? av_depth_progress(t->stack) : 0;
    return t->stack_under_way ? NULL : av_depth_stack(t->stack);
}

double av_measure_dead_layers(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    const struct av_depth_stack *s = stack(t, at, seed);
    return s != NULL ? (double)av_depth_find(s).dead / (double)s->count : (double)NAN;
}

double av_measure_uneven_layers(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    const struct av_depth_stack *s = stack(t, at, seed);
    return s != NULL ? log10(av_depth_find(s).ratio) : (double)NAN;
}
