/* study_training.c - the study `training`: twin runs, a pass at a time, and a
 * look at their weights now and then. */
#include "attnviz/mem.h"
#include "attnviz/study.h"
#include "training_history.h"

struct state {
    struct av_training result;
    struct av_training_store store;
    const struct av_kernels *kernels;
    struct av_train *train; /* NULL: nothing is begun */
    enum av_twin look;      /* whose weights are to be looked at next; AV_TWINS: no one's */
};

/* ---- Beginning ------------------------------------------------------------------ */

/* The mean square of an entry of the target: those of x are N(mean, std^2). */
static double zero_loss(const struct av_train_config *c)
{
    const double mean2 = c->input_mean * c->input_mean, var = c->input_std * c->input_std;
    const size_t key_half = c->d_model / 2;
    switch (c->task) {
    case AV_TASK_AVERAGE:
        return mean2 + var / (double)c->seq_len;
    case AV_TASK_RECALL:
        return (double)(c->d_model - key_half) / (double)c->d_model * (mean2 + var);
    default:
        return mean2 + var;
    }
}

static void forget(struct av_training *t)
{
    const struct av_training_ghost ghost = t->ghost;
    av_training_moments_free(t);
    *t = (struct av_training){ .ghost = ghost };
}

/* What there is before the first step. */
static void describe(struct state *s, const struct av_params *p)
{
    struct av_training *t = &s->result;
    t->params = *p;
    t->config = *av_train_config(s->train);
    t->total = av_train_steps_total(s->train);
    t->epoch_steps = av_train_epoch_steps(s->train);
    t->zero_loss = zero_loss(&t->config);
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        t->runs[i].asked = t->config.runs[i];
        t->runs[i].curves[AV_TRAINING_EPOCHS].stride = 1;
        av_training_follow(t, &s->store, i, av_train_run(s->train, i));
    }
}

static bool running(const struct state *s)
{
    return av_train_run(s->train, AV_TWIN_SCALED)->state == AV_TRAIN_RUNNING ||
           av_train_run(s->train, AV_TWIN_UNSCALED)->state == AV_TRAIN_RUNNING;
}

/* ---- Looking at the weights -------------------------------------------------------- */

/* The weights that both runs now give are those that the next step finds, and
 * those after an epoch when one has just ended. */
static void file(struct state *s)
{
    struct av_training *t = &s->result;
    const size_t steps = (size_t)t->steps;
    t->looked_steps = t->steps;
    if (steps < AV_TRAIN_FIRST_STEPS && running(s)) {
        av_training_moments_add(t, AV_TRAINING_STEPS, steps + 1);
    }
    if (steps > 0 && steps % t->epoch_steps == 0) {
        av_training_moments_add(t, AV_TRAINING_EPOCHS, steps / t->epoch_steps);
    }
}

static void look(struct state *s)
{
    const size_t len = s->result.config.seq_len;
    if (s->result.runs[s->look].asked) {
        av_train_weights(s->train, s->look, s->result.looked + s->look * len * len);
    }
    if (++s->look == AV_TWINS) {
        file(s);
    }
}

static bool look_is_due(const struct state *s)
{
    const struct av_training *t = &s->result;
    return t->steps > t->looked_steps && (t->steps < AV_TRAIN_FIRST_STEPS || t->steps % AV_TRAINING_LOOK == 0 ||
                                          t->steps % t->epoch_steps == 0 || t->over);
}

/* ---- The study --------------------------------------------------------------------- */

static enum av_status begin(void *state, const struct av_params *p, struct av_error *e)
{
    struct state *s = state;
    struct av_train_config config;
    av_training_leave(&s->result, &s->store);
    av_train_free(s->train);
    s->train = NULL;
    forget(&s->result);
    enum av_status status = av_train_configure(&config, p, e);
    if (status == AV_OK) {
        status = av_train_new(&s->train, &config, s->kernels, e);
    }
    if (status != AV_OK) {
        return status;
    }
    describe(s, p);
    status = av_training_moments_make(&s->result, e);
    if (status != AV_OK) {
        av_train_free(s->train);
        s->train = NULL;
        return status;
    }
    s->look = 0;
    while (s->look < AV_TWINS) {
        look(s);
    }
    return AV_OK;
}

static bool step(void *state)
{
    struct state *s = state;
    if (s->look < AV_TWINS) {
        look(s);
        return true;
    }
    if (!av_train_advance(s->train)) {
        return false;
    }
    if (av_train_whole(s->train)) {
        for (enum av_twin i = 0; i < AV_TWINS; i++) {
            av_training_follow(&s->result, &s->store, i, av_train_run(s->train, i));
        }
        s->result.over = !running(s);
        s->look = look_is_due(s) ? 0 : AV_TWINS;
    }
    return true;
}

static bool whole(const void *state)
{
    const struct state *s = state;
    return s->look == AV_TWINS && av_train_whole(s->train);
}

/* A last look is not nothing. */
static double progress(const void *state)
{
    const struct state *s = state;
    const struct av_training *t = &s->result;
    const double looks = s->look < AV_TWINS ? 0.5 : 0;
    return t->over && looks == 0 ? 1 : ((double)t->steps - looks) / (double)t->total;
}

static const void *result(const void *state)
{
    return &((const struct state *)state)->result;
}

static void close_state(void *state)
{
    struct state *s = state;
    if (s != NULL) {
        av_training_moments_free(&s->result);
        av_train_free(s->train);
        av_free(s);
    }
}

static enum av_status open_state(void **state, const struct av_kernels *kernels, struct av_error *e)
{
    struct state *s = av_alloc(1, sizeof *s);
    if (s == NULL) {
        return av_fail_nomem(e, "training");
    }
    s->kernels = kernels;
    *state = s;
    return AV_OK;
}

const struct av_study av_study_training = {
    .name = "training",
    .listens = av_train_listens,
    .open = open_state,
    .close = close_state,
    .begin = begin,
    .step = step,
    .whole = whole,
    .progress = progress,
    .result = result,
};
