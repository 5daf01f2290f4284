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

/* The outcomes of this lesson and of the one that comes `before` it in the
 * table of lessons; false while one is under way. */
static bool pair(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed, int before,
                 struct av_lesson_outcome out[2])
{
    struct av_fact_setting smaller = *at;
    double part = 0;
    smaller.x -= before;
    const struct av_lesson_outcome *o = lesson(t, &smaller, seed);
    if (o == NULL) {
        t->part /= 2;
        return false;
    }
    out[0] = *o;
    o = av_lesson_learn(t->lessons, (enum av_lesson)at->x, seed, &part);
    if (o == NULL) {
        t->part = (1 + part) / 2;
        return false;
    }
    out[1] = *o;
    return true;
}

double av_measure_steps_over_64(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    struct av_lesson_outcome o[2];
    return pair(t, at, seed, 2, o) ? o[1].steps[AV_TWIN_SCALED] / o[0].steps[AV_TWIN_SCALED] : (double)NAN;
}

double av_measure_unscaled_over_64(struct av_trial *t, const struct av_fact_setting *at, uint64_t seed)
{
    struct av_lesson_outcome o[2];
    return pair(t, at, seed, 1, o) ? orders(o[1].loss[AV_TWIN_UNSCALED], o[0].loss[AV_TWIN_UNSCALED]) : (double)NAN;
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
