/* train.c - the training experiment: batches, steps of the twin runs, and their records. */
#include "train_scalars.h"
#include "train_state.h"

#include <math.h>
#include <string.h>

/* What a step of a run consists of. */
enum part { FORWARD, BACKWARD, UPDATE, PARTS };

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Batches ------------------------------------------------------------------ */

/* Sequence number i of this epoch to place b of the batch. */
static void load_sequence(struct av_train *t, size_t b, size_t i)
{
    const size_t sequence = t->config.seq_len * t->pass.sizes.model_pitch;
    float *x = t->pass.x + b * sequence, *target = t->pass.target + b * sequence;
    if (t->config.fresh) {
        av_task_draw(&t->source, t->epoch, i, x, target, t->pass.sizes.model_pitch);
        return;
    }
    memcpy(x, t->x + t->order[i] * sequence, sequence * sizeof *x);
    if (t->target != NULL) {
        memcpy(target, t->target + t->order[i] * sequence, sequence * sizeof *target);
    }
}

/* The batch of the next step. */
static void load_batch(struct av_train *t)
{
    const struct av_train_config *c = &t->config;
    struct av_attention_sizes *s = &t->pass.sizes;
    const size_t from = t->step * c->batch;
    if (t->step == 0 && !c->fresh) {
        av_task_shuffle(c, t->epoch, t->order, c->sequences);
    }
    s->batch = smaller(c->batch, c->sequences - from);
    s->tokens = s->batch * s->seq_len;
    for (size_t b = 0; b < s->batch; b++) {
        load_sequence(t, b, from + b);
    }
    t->kernels->transpose(t->pass.x_t, s->token_pitch, t->pass.x, s->model_pitch, s->tokens, s->d_model);
}

/* ---- The beginning ------------------------------------------------------------ */

static void begin_run(struct av_train_run_state *r, const struct av_train *t, enum av_twin twin)
{
    struct av_learned *l = &r->learned;
    memset(l->mean, 0, l->n * sizeof *l->mean);
    memset(l->square, 0, l->n * sizeof *l->square);
    memset(&r->sum, 0, sizeof r->sum);
    memset(&r->shown.last, 0, sizeof r->shown.last);
    memset(l->scalars, 0, sizeof l->scalars);
    av_train_scalars_begin(r->shown.scalars, &t->config, twin);
    for (size_t i = 0; i < AV_TRAIN_SCALARS; i++) {
        l->scalars[i].at = r->shown.scalars[i];
    }
    r->shown.clipped = 0;
    r->shown.state = AV_TRAIN_RUNNING;
    r->shown.steps = 0;
    r->shown.epoch_count = r->shown.first_count = 0;
    /* A row of the arrays, of d_k numbers at least, serves as scratch. */
    av_train_draw_matrices(&t->config, t->kernels, l->w, t->pass.sizes.model_pitch, t->pass.d_a);
    if (t->effective != NULL) {
        av_spectra_begin(&r->spectra, l->w);
    }
}

static void draw_data(struct av_train *t)
{
    const size_t sequence = t->config.seq_len * t->pass.sizes.model_pitch;
    for (size_t i = 0; i < t->config.sequences; i++) {
        float *target = t->target != NULL ? t->target + i * sequence : NULL;
        av_task_draw(&t->source, 0, i, t->x + i * sequence, target, t->pass.sizes.model_pitch);
    }
}

void av_train_restart(struct av_train *t, uint64_t seed)
{
    t->config.seed = seed;
    t->epoch = t->step = 0;
    t->parts = 0;
    av_task_source_draw(&t->source);
    if (!t->config.fresh) {
        draw_data(t);
    }
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        if (t->config.runs[i]) {
            begin_run(&t->runs[i], t, i);
        }
    }
}

/* ---- Steps -------------------------------------------------------------------- */

/* Everything that is known of the step before its update. */
static struct av_train_record measure(struct av_train *t)
{
    const struct av_attention *a = &t->pass;
    struct av_attention_observed *o = &t->observed;
    const size_t matrix = a->sizes.d_k * a->sizes.model_pitch;
    const double squares_qk = t->kernels->sum_squares(a->d_w, 2 * matrix);
    const double squares_vo = t->kernels->sum_squares(a->d_w + 2 * matrix, 2 * matrix);
    double squares = squares_qk + squares_vo;
    for (enum av_train_scalar i = 0; i < AV_TRAIN_SCALARS; i++) {
        squares += av_train_learns(&t->config, i) ? t->gradient.scalars[i] * t->gradient.scalars[i] : 0;
    }
    t->kernels->observe(a, o);
    return (struct av_train_record){ {
        [AV_TRAIN_LOSS] = a->loss,
        [AV_TRAIN_GRAD_NORM] = sqrt(squares),
        [AV_TRAIN_GRAD_QK_NORM] = sqrt(squares_qk),
        [AV_TRAIN_ENTROPY_NORM] = o->entropy_norm,
        [AV_TRAIN_MAX_WEIGHT] = o->max_weight,
        [AV_TRAIN_LOGIT_STD] = o->logit_std,
        [AV_TRAIN_ALPHA] = t->alpha,
        [AV_TRAIN_D_Q_MEAN] = o->d_q_mean,
        [AV_TRAIN_D_Q_MEDIAN] = o->d_q_median,
        [AV_TRAIN_D_K_MEAN] = o->d_k_mean,
        [AV_TRAIN_D_K_MEDIAN] = o->d_k_median,
        [AV_TRAIN_Q_MEAN] = o->q_mean,
        [AV_TRAIN_Q_VAR] = o->q_var,
        [AV_TRAIN_K_MEAN] = o->k_mean,
        [AV_TRAIN_K_VAR] = o->k_var,
        [AV_TRAIN_ROW_SUM] = o->row_sum,
    } };
}

/* Keeps the record of a step; at the end of an epoch the means. */
static void keep(struct av_train_run_state *r, const struct av_train_record *record, bool epoch_ends,
                 double epoch_steps)
{
    r->shown.last = *record;
    if (r->shown.first_count < AV_TRAIN_FIRST_STEPS) {
        r->first[r->shown.first_count++] = *record;
    }
    for (size_t f = 0; f < AV_TRAIN_FIELDS; f++) {
        r->sum.at[f] += record->at[f];
    }
    if (epoch_ends) {
        struct av_train_record *mean = &r->epochs[r->shown.epoch_count++];
        for (size_t f = 0; f < AV_TRAIN_FIELDS; f++) {
            mean->at[f] = r->sum.at[f] / epoch_steps;
        }
        memset(&r->sum, 0, sizeof r->sum);
    }
}

static enum av_twin twin_of(const struct av_train *t, const struct av_train_run_state *r)
{
    return (enum av_twin)(r - t->runs);
}

/* The gammas of a run's matrices. */
static void gammas_of(double gamma[AV_MATRICES], const struct av_train_run_state *r)
{
    for (size_t i = 0; i < AV_MATRICES; i++) {
        gamma[i] = r->learned.scalars[AV_SCALAR_GAMMA + i].at;
    }
}

/* The matrices that a run's passes use. */
static float *matrices_of(const struct av_train *t, const struct av_train_run_state *r)
{
    double gamma[AV_MATRICES];
    if (t->effective == NULL) {
        return r->learned.w;
    }
    gammas_of(gamma, r);
    av_spectra_apply(&r->spectra, t->effective, r->learned.w, gamma);
    return t->effective;
}

/* Makes a pass that of a run as it now is. */
static void load_learned(struct av_attention *a, double *alpha, const struct av_train *t,
                         const struct av_train_run_state *r)
{
    const struct av_learned_scalar *scalars = r->learned.scalars;
    *alpha = av_train_alpha(&t->config, twin_of(t, r), scalars[AV_SCALAR_ALPHA].at);
    a->w = matrices_of(t, r);
    a->alpha = (float)*alpha;
    if (a->hook != NULL) {
        a->hook->extra = scalars[AV_SCALAR_SINK].at;
    }
}

static void forward(struct av_train *t, struct av_train_run_state *r)
{
    load_learned(&t->pass, &t->alpha, t, r);
    t->kernels->forward(&t->pass);
}

static void backward(struct av_train *t, struct av_train_run_state *r)
{
    struct av_learned_gradient *d = &t->gradient;
    const double x = r->learned.scalars[AV_SCALAR_ALPHA].at;
    double gamma[AV_MATRICES];
    t->kernels->backward(&t->pass);
    d->w = t->pass.d_w;
    d->scalars[AV_SCALAR_ALPHA] = t->pass.d_alpha * av_train_alpha_slope(&t->config, twin_of(t, r), x);
    d->scalars[AV_SCALAR_SINK] = t->pass.hook != NULL ? t->pass.hook->d_extra : 0;
    if (t->effective != NULL) {
        gammas_of(gamma, r);
        av_spectra_backward(&r->spectra, t->pass.d_w, &d->scalars[AV_SCALAR_GAMMA], r->learned.w, gamma);
    }
}

/* What else is done to the matrices behind an update, by variants. */
static void follow_up(const struct av_train *t, struct av_train_run_state *r)
{
    const struct av_train_config *c = &t->config;
    if (av_train_clips(c)) {
        r->shown.clipped +=
            av_qk_clip(r->learned.w, &t->pass.sizes, t->observed.max_logit, c->attention.of.qk_clip_tau);
    }
    if (t->effective != NULL) {
        av_spectra_follow(&r->spectra, r->learned.w);
    }
    for (size_t i = 0; i < AV_TRAIN_SCALARS; i++) {
        r->shown.scalars[i] = r->learned.scalars[i].at;
    }
}

static void update(struct av_train *t, struct av_train_run_state *r)
{
    const struct av_train_config *c = &t->config;
    const size_t epoch_steps = av_train_epoch_steps(t);
    const struct av_train_record record = measure(t);
    const double norm = record.at[AV_TRAIN_GRAD_NORM];
    if (!isfinite(record.at[AV_TRAIN_LOSS]) || !isfinite(norm)) {
        r->shown.state = AV_TRAIN_DIVERGED;
        return;
    }
    r->shown.steps++;
    av_optimizer_step(&r->learned, c, t->kernels, &t->gradient, av_clip_factor(norm, c->clip), r->shown.steps);
    follow_up(t, r);
    keep(r, &record, t->step + 1 == epoch_steps, (double)epoch_steps);
    if (r->shown.epoch_count == c->epochs) {
        r->shown.state = AV_TRAIN_DONE;
    }
}

static bool running(const struct av_train *t, int run)
{
    return t->runs[run].shown.state == AV_TRAIN_RUNNING;
}

bool av_train_whole(const struct av_train *t)
{
    return t->parts == 0;
}

/* Parts of a run that is at its end are passed over. */
static void pass_over(struct av_train *t)
{
    while (t->parts < AV_TWINS * PARTS && !running(t, t->parts / PARTS)) {
        t->parts += PARTS - t->parts % PARTS;
    }
}

bool av_train_advance(struct av_train *t)
{
    static void (*const parts[PARTS])(struct av_train *, struct av_train_run_state *) = {
        [FORWARD] = forward,
        [BACKWARD] = backward,
        [UPDATE] = update,
    };
    if (av_train_whole(t)) {
        if (!running(t, 0) && !running(t, 1)) {
            return false;
        }
        load_batch(t);
        pass_over(t);
    }
    parts[t->parts % PARTS](t, &t->runs[t->parts / PARTS]);
    t->parts++;
    pass_over(t);
    if (t->parts == AV_TWINS * PARTS) {
        t->parts = 0;
        if (++t->step == av_train_epoch_steps(t)) {
            t->step = 0;
            t->epoch++;
        }
    }
    return true;
}

bool av_train_step(struct av_train *t)
{
    bool any = av_train_advance(t);
    while (any && !av_train_whole(t)) {
        av_train_advance(t);
    }
    return any;
}

/* ---- What is known ------------------------------------------------------------ */

const struct av_train_config *av_train_config(const struct av_train *t)
{
    return &t->config;
}

const struct av_train_run *av_train_run(const struct av_train *t, enum av_twin twin)
{
    return &t->runs[twin].shown;
}

uint64_t av_train_steps(const struct av_train *t)
{
    return (uint64_t)t->epoch * av_train_epoch_steps(t) + t->step;
}

size_t av_train_epoch_steps(const struct av_train *t)
{
    return (t->config.sequences + t->config.batch - 1) / t->config.batch;
}

uint64_t av_train_steps_total(const struct av_train *t)
{
    return (uint64_t)t->config.epochs * av_train_epoch_steps(t);
}

void av_train_weights(struct av_train *t, enum av_twin twin, float *weights)
{
    const size_t len = t->config.seq_len;
    struct av_attention a = t->pass; /* every step loads its own batch into these arrays */
    a.sizes.batch = 1;
    a.sizes.tokens = len;
    av_task_draw(&t->source, 0, 0, a.x, a.target, a.sizes.model_pitch);
    t->kernels->transpose(a.x_t, a.sizes.token_pitch, a.x, a.sizes.model_pitch, len, a.sizes.d_model);
    double alpha;
    load_learned(&a, &alpha, t, &t->runs[twin]);
    t->kernels->forward(&a);
    for (size_t i = 0; i < len; i++) {
        memcpy(weights + i * len, a.p + i * a.sizes.token_pitch, len * sizeof *weights);
    }
}

void av_train_matrix(const struct av_train *t, enum av_twin twin, int which, float *matrix)
{
    const struct av_attention_sizes *s = &t->pass.sizes;
    const float *w = matrices_of(t, &t->runs[twin]) + (size_t)which * s->d_k * s->model_pitch;
    const bool last = which == 3;
    for (size_t r = 0; r < s->d_k; r++) {
        for (size_t c = 0; c < s->d_model; c++) {
            matrix[last ? r * s->d_model + c : c * s->d_k + r] = w[r * s->model_pitch + c];
        }
    }
}
