/* train.c - the training experiment: batches, steps of the twin runs, and their records. */
#include "attnviz/train.h"

#include "attnviz/mem.h"
#include "train_optimizer.h"
#include "train_tasks.h"

#include <math.h>
#include <string.h>

/* What a step of a run consists of. */
enum part { FORWARD, BACKWARD, UPDATE, PARTS };

struct run {
    struct av_train_run shown;
    struct av_learned learned;
    struct av_train_record *epochs; /* [config.epochs] */
    struct av_train_record first[AV_TRAIN_FIRST_STEPS];
    struct av_train_record sum; /* over the steps of this epoch */
};

struct av_train {
    struct av_train_config config;
    const struct av_kernels *kernels;
    struct av_task_source source;
    struct av_attention pass; /* one step's arrays, which both runs use */
    size_t epoch, step;       /* of the next step: epoch, and step within it, from 0 */
    int parts;                /* of this step that are done: PARTS of each run */
    /* Data that are not fresh: [sequences * seq_len, d_model] each, as in pass. */
    float *x, *target; /* target: NULL where it is x */
    uint32_t *order;   /* [sequences] */
    struct run runs[AV_TWINS];
};

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Making room -------------------------------------------------------------- */

static size_t learned_count(const struct av_attention_sizes *s)
{
    return 4 * s->d_k * s->model_pitch;
}

static double bytes_needed(const struct av_train_config *c, const struct av_attention_sizes *s)
{
    const double runs = (c->runs[AV_TWIN_SCALED] ? 1 : 0) + (c->runs[AV_TWIN_UNSCALED] ? 1 : 0);
    const double learned = 3 * (double)sizeof(float) * (double)learned_count(s);
    const double records = (double)sizeof(struct av_train_record) * (double)c->epochs;
    const double tokens = (double)c->sequences * (double)c->seq_len;
    const double arrays = av_task_is_identity(c) ? 1 : 2;
    const double data = c->fresh ? 0 : arrays * (double)sizeof(float) * tokens * (double)s->model_pitch;
    const double order = c->fresh ? 0 : (double)sizeof(uint32_t) * (double)c->sequences;
    return (double)sizeof(struct av_train) + av_attention_bytes(s) + runs * (learned + records) + data + order;
}

static enum av_status make_run(struct run *r, const struct av_train *t, struct av_error *e)
{
    const struct av_train_config *c = &t->config;
    const size_t n = learned_count(&t->pass.sizes);
    r->learned = (struct av_learned){
        .w = av_alloc(n, sizeof(float)),
        .mean = av_alloc(n, sizeof(float)),
        .square = av_alloc(n, sizeof(float)),
        .n = n,
    };
    r->epochs = av_alloc(c->epochs, sizeof *r->epochs);
    if (r->learned.w == NULL || r->learned.mean == NULL || r->learned.square == NULL || r->epochs == NULL) {
        return av_fail_nomem(e, "a training run");
    }
    r->shown.epochs = r->epochs;
    r->shown.first = r->first;
    return AV_OK;
}

static enum av_status make_data(struct av_train *t, struct av_error *e)
{
    const struct av_train_config *c = &t->config;
    const size_t sequence = c->seq_len * t->pass.sizes.model_pitch;
    t->x = av_alloc(c->sequences * sequence, sizeof *t->x);
    t->target = av_task_is_identity(c) ? NULL : av_alloc(c->sequences * sequence, sizeof *t->target);
    t->order = av_alloc(c->sequences, sizeof *t->order);
    if (t->x == NULL || t->order == NULL || (t->target == NULL && !av_task_is_identity(c))) {
        return av_fail_nomem(e, "the sequences to train on");
    }
    return AV_OK;
}

static enum av_status fill(struct av_train *t, struct av_error *e)
{
    const struct av_train_config *c = &t->config;
    enum av_status s = av_task_source_new(&t->source, c, t->kernels, e);
    if (s == AV_OK && !c->fresh) {
        s = make_data(t, e);
    }
    for (enum av_twin i = 0; s == AV_OK && i < AV_TWINS; i++) {
        t->runs[i].shown.state = AV_TRAIN_DONE;
        if (c->runs[i]) {
            s = make_run(&t->runs[i], t, e);
        }
    }
    return s;
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

static struct av_attention_sizes sizes_of(const struct av_train_config *c)
{
    return av_attention_sizes(c->batch, c->seq_len, c->d_model, c->d_k, av_task_first(c));
}

enum av_status av_train_fits(const struct av_train_config *c, struct av_error *e)
{
    const struct av_attention_sizes sizes = sizes_of(c);
    const double bytes = bytes_needed(c, &sizes);
    if (bytes > AV_TRAIN_BYTES_MAX) {
        return av_fail(e, AV_USAGE,
                       "training would take %.0f MiB, and at most %d are allowed: lower d_k, d_model, seq_len, batch, "
                       "sequences or epochs",
                       ceil(bytes / (1 << 20)), AV_TRAIN_BYTES_MAX >> 20);
    }
    return AV_OK;
}

enum av_status av_train_new(struct av_train **out, const struct av_train_config *c, const struct av_kernels *kernels,
                            struct av_error *e)
{
    const struct av_attention_sizes sizes = sizes_of(c);
    enum av_status s = av_train_fits(c, e);
    *out = NULL;
    if (s != AV_OK) {
        return s;
    }
    struct av_train *t = av_alloc(1, sizeof *t);
    if (t == NULL) {
        return av_fail_nomem(e, "the training experiment");
    }
    t->config = *c;
    t->kernels = kernels != NULL ? kernels : av_kernels_best();
    s = av_attention_new(&t->pass, &sizes, e);
    if (s == AV_OK) {
        s = fill(t, e);
    }
    if (s != AV_OK) {
        av_train_free(t);
        return s;
    }
    if (av_task_is_identity(c)) {
        t->pass.target = t->pass.x;
    }
    av_train_restart(t, c->seed);
    *out = t;
    return AV_OK;
}

void av_train_free(struct av_train *t)
{
    if (t == NULL) {
        return;
    }
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        av_free(t->runs[i].learned.w);
        av_free(t->runs[i].learned.mean);
        av_free(t->runs[i].learned.square);
        av_free(t->runs[i].epochs);
    }
    av_free(t->x);
    av_free(t->target);
    av_free(t->order);
    av_task_source_free(&t->source);
    av_attention_free(&t->pass);
    av_free(t);
}

/* ---- The beginning ------------------------------------------------------------ */

static void begin_run(struct run *r, const struct av_train *t, enum av_twin twin)
{
    struct av_learned *l = &r->learned;
    memset(l->mean, 0, l->n * sizeof *l->mean);
    memset(l->square, 0, l->n * sizeof *l->square);
    memset(&r->sum, 0, sizeof r->sum);
    memset(&r->shown.last, 0, sizeof r->shown.last);
    l->alpha = t->config.alpha[twin];
    l->alpha_mean = l->alpha_square = 0;
    r->shown.state = AV_TRAIN_RUNNING;
    r->shown.steps = 0;
    r->shown.epoch_count = r->shown.first_count = 0;
    /* A row of the arrays, of d_k numbers at least, serves as scratch. */
    av_train_draw_matrices(&t->config, t->kernels, l->w, t->pass.sizes.model_pitch, t->pass.d_a);
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
static struct av_train_record measure(const struct av_train *t, double alpha)
{
    const struct av_attention *a = &t->pass;
    const size_t matrix = a->sizes.d_k * a->sizes.model_pitch;
    const double squares_qk = t->kernels->sum_squares(a->d_w, 2 * matrix);
    const double squares_vo = t->kernels->sum_squares(a->d_w + 2 * matrix, 2 * matrix);
    const double squares_alpha = t->config.learn_scale ? a->d_alpha * a->d_alpha : 0;
    struct av_attention_observed o;
    t->kernels->observe(a, &o);
    return (struct av_train_record){ {
        [AV_TRAIN_LOSS] = a->loss,
        [AV_TRAIN_GRAD_NORM] = sqrt(squares_qk + squares_vo + squares_alpha),
        [AV_TRAIN_GRAD_QK_NORM] = sqrt(squares_qk),
        [AV_TRAIN_ENTROPY_NORM] = o.entropy_norm,
        [AV_TRAIN_MAX_WEIGHT] = o.max_weight,
        [AV_TRAIN_LOGIT_STD] = o.logit_std,
        [AV_TRAIN_ALPHA] = alpha,
        [AV_TRAIN_D_Q_MEAN] = o.d_q_mean,
        [AV_TRAIN_D_Q_MEDIAN] = o.d_q_median,
        [AV_TRAIN_D_K_MEAN] = o.d_k_mean,
        [AV_TRAIN_D_K_MEDIAN] = o.d_k_median,
        [AV_TRAIN_Q_MEAN] = o.q_mean,
        [AV_TRAIN_Q_VAR] = o.q_var,
        [AV_TRAIN_K_MEAN] = o.k_mean,
        [AV_TRAIN_K_VAR] = o.k_var,
    } };
}

/* Keeps the record of a step; at the end of an epoch the means. */
static void keep(struct run *r, const struct av_train_record *record, bool epoch_ends, double epoch_steps)
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

static void forward(struct av_train *t, struct run *r)
{
    t->pass.w = r->learned.w;
    t->pass.alpha = (float)r->learned.alpha;
    t->kernels->forward(&t->pass);
}

static void backward(struct av_train *t, struct run *r)
{
    (void)r;
    t->kernels->backward(&t->pass);
}

static void update(struct av_train *t, struct run *r)
{
    const struct av_train_config *c = &t->config;
    const size_t epoch_steps = av_train_epoch_steps(t);
    const struct av_train_record record = measure(t, r->learned.alpha);
    const double norm = record.at[AV_TRAIN_GRAD_NORM];
    if (!isfinite(record.at[AV_TRAIN_LOSS]) || !isfinite(norm)) {
        r->shown.state = AV_TRAIN_DIVERGED;
        return;
    }
    r->shown.steps++;
    av_optimizer_step(&r->learned, c, t->kernels, t->pass.d_w, t->pass.d_alpha, av_clip_factor(norm, c->clip),
                      r->shown.steps);
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
    static void (*const parts[PARTS])(struct av_train *, struct run *) = {
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
    a.w = t->runs[twin].learned.w;
    a.alpha = (float)t->runs[twin].learned.alpha;
    t->kernels->forward(&a);
    for (size_t i = 0; i < len; i++) {
        memcpy(weights + i * len, a.p + i * a.sizes.token_pitch, len * sizeof *weights);
    }
}

void av_train_matrix(const struct av_train *t, enum av_twin twin, int which, float *matrix)
{
    const struct av_attention_sizes *s = &t->pass.sizes;
    const float *w = t->runs[twin].learned.w + (size_t)which * s->d_k * s->model_pitch;
    const bool last = which == 3;
    for (size_t r = 0; r < s->d_k; r++) {
        for (size_t c = 0; c < s->d_model; c++) {
            matrix[last ? r * s->d_model + c : c * s->d_k + r] = w[r * s->model_pitch + c];
        }
    }
}
