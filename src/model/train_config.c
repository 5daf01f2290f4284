/* train_config.c - from parameters to a training experiment, and the names of what it measures. */
#include "attnviz/train.h"

#include "train_multiplier.h"
#include "train_scalars.h"

#include <string.h>

const char *const av_train_listens[] = {
    "task",       "d_k",        "d_model",   "seq_len", "epochs",     "batch",       "sequences", "fresh",
    "init",       "lr",         "optimizer", "clip",    "runs",       "learn_scale", "seed",      "exponent",
    "layer_norm", "input_mean", "input_std", "variant", AV_ALL_OWNED, NULL,
};

const struct av_train_field_info av_train_fields[AV_TRAIN_FIELDS] = {
    [AV_TRAIN_LOSS] = { "loss", "mean squared error" },
    [AV_TRAIN_GRAD_NORM] = { "grad_norm", "norm of the gradient of all learned parameters, before clipping" },
    [AV_TRAIN_GRAD_QK_NORM] = { "grad_qk_norm", "norm of the gradient of w_q and w_k" },
    [AV_TRAIN_ENTROPY_NORM] = { "entropy_norm", "mean over rows of the entropy of |w| / sum |w| over ln(keys seen)" },
    [AV_TRAIN_MAX_WEIGHT] = { "max_weight", "mean largest weight of a query" },
    [AV_TRAIN_LOGIT_STD] = { "logit_std", "standard deviation of the logits within rows" },
    [AV_TRAIN_ALPHA] = { "alpha", "multiplier of the scores" },
    [AV_TRAIN_D_Q_MEAN] = { "d_q_mean", "mean over queries that count of the norm of the gradient of q" },
    [AV_TRAIN_D_Q_MEDIAN] = { "d_q_median", "median over queries that count of the norm of the gradient of q" },
    [AV_TRAIN_D_K_MEAN] = { "d_k_mean", "mean over tokens of the norm of the gradient of k" },
    [AV_TRAIN_D_K_MEDIAN] = { "d_k_median", "median over tokens of the norm of the gradient of k" },
    [AV_TRAIN_Q_MEAN] = { "q_mean", "mean of the entries of q" },
    [AV_TRAIN_Q_VAR] = { "q_var", "variance of the entries of q" },
    [AV_TRAIN_K_MEAN] = { "k_mean", "mean of the entries of k" },
    [AV_TRAIN_K_VAR] = { "k_var", "variance of the entries of k" },
    [AV_TRAIN_ROW_SUM] = { "row_sum", "mean sum of a row of weights" },
};

/* What the task refuses. */
static enum av_status check_task(const struct av_train_config *c, struct av_error *e)
{
    if (c->task == AV_TASK_DEPTH) {
        return av_fail(e, AV_USAGE, "task=depth trains nothing: see the view depth");
    }
    if (c->seq_len < 2 && (c->task == AV_TASK_RECALL || c->task == AV_TASK_COPY_PREVIOUS)) {
        return av_fail(e, AV_USAGE, "seq_len=1: the task %s needs an earlier token; set seq_len to 2 or more",
                       av_param_find("task")->choices[c->task]);
    }
    if (c->d_model < 2 && c->task == AV_TASK_RECALL) {
        return av_fail(e, AV_USAGE, "d_model=1: the task recall needs a key half and a value half");
    }
    return AV_OK;
}

static bool has(const struct av_params *p, enum av_variant_group group, const char *name)
{
    const struct av_variant *row = av_variant_of(p->variant, group);
    return row != NULL && strcmp(row->name, name) == 0;
}

/* What the variant refuses. */
static enum av_status check_variant(const struct av_train_config *c, struct av_error *e)
{
    const av_variant_value variant = c->attention.variant;
    for (int g = 0; g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant *row = av_variant_of(variant, (enum av_variant_group)g);
        if (row != NULL && (row->flags & AV_VARIANT_NOT_TRAINED) != 0) {
            return av_fail(e, AV_USAGE, "variant=%s: it has no backward pass here, and so it cannot be trained",
                           row->name);
        }
    }
    const struct av_variant *normalise = av_variant_of(variant, AV_GROUP_NORMALISE);
    if (av_train_clips(c) && normalise != NULL) {
        return av_fail(e, AV_USAGE, "variant=%s+qk_clip: %s undoes what qk_clip does to the size of w_q and w_k",
                       normalise->name, normalise->name);
    }
    if (has(&c->attention, AV_GROUP_NORMALISE, "score_batchnorm") &&
        has(&c->attention, AV_GROUP_BEND, "differential")) {
        return av_fail(e, AV_USAGE,
                       "variant=score_batchnorm+differential: the scores of both halves together have no backward pass "
                       "here");
    }
    return av_variant_check(variant, &c->attention, e);
}

/* Those of a head whose queries and keys are a sequence's. */
static struct av_params attention_of(const struct av_params *p)
{
    struct av_params a = *p;
    a.n_q = a.n_k = p->seq_len;
    a.n_head = 1;
    a.head = 0;
    a.mask = AV_MASK_NONE;
    a.temperature = 1;
    a.offset = a.key_offset = 0;
    a.logits.n = 0;
    return a;
}

enum av_status av_train_configure(struct av_train_config *c, const struct av_params *p, struct av_error *e)
{
    const bool fresh_by_task = p->task != AV_TASK_RECONSTRUCT;
    *c = (struct av_train_config){
        .seq_len = (size_t)p->seq_len,
        .d_model = (size_t)p->d_model,
        .d_k = (size_t)p->d_k,
        .epochs = (size_t)p->epochs,
        .batch = (size_t)(p->batch < p->sequences ? p->batch : p->sequences),
        .sequences = (size_t)p->sequences,
        .task = (enum av_task)p->task,
        .optimizer = (enum av_optimizer)p->optimizer,
        .init = (enum av_init)p->init,
        .fresh = p->fresh == AV_FRESH_AUTO ? fresh_by_task : p->fresh == AV_FRESH_ON,
        .learn_scale = p->learn_scale != 0 || has(p, AV_GROUP_SCALE, "learned"),
        .learn_sink = p->learn_scale != 0 && has(p, AV_GROUP_BEND, "sink"),
        .layer_norm = p->layer_norm != 0,
        .runs = { p->runs != AV_RUNS_OFF, p->runs != AV_RUNS_ON },
        .lr = p->lr,
        .clip = p->clip,
        .input_mean = p->input_mean,
        .input_std = p->input_std,
        .seed = p->seed,
        .attention = attention_of(p),
    };
    enum av_status s = check_task(c, e);
    s = s == AV_OK ? check_variant(c, e) : s;
    if (s == AV_OK) {
        av_train_multipliers(c);
    }
    return s;
}
