/* train_config.c - from parameters to a training experiment, and the names of what it measures. */
#include "attnviz/train.h"

const char *const av_train_listens[] = {
    "task",      "d_k",  "d_model", "seq_len",     "epochs", "batch",    "sequences",  "fresh",      "init",      "lr",
    "optimizer", "clip", "runs",    "learn_scale", "seed",   "exponent", "layer_norm", "input_mean", "input_std", NULL,
};

const struct av_train_field_info av_train_fields[AV_TRAIN_FIELDS] = {
    [AV_TRAIN_LOSS] = { "loss", "mean squared error" },
    [AV_TRAIN_GRAD_NORM] = { "grad_norm", "norm of the gradient of all learned parameters, before clipping" },
    [AV_TRAIN_GRAD_QK_NORM] = { "grad_qk_norm", "norm of the gradient of w_q and w_k" },
    [AV_TRAIN_ENTROPY_NORM] = { "entropy_norm", "mean entropy of the weights over ln seq_len" },
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
};

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
        .learn_scale = p->learn_scale != 0,
        .layer_norm = p->layer_norm != 0,
        .runs = { p->runs != AV_RUNS_OFF, p->runs != AV_RUNS_ON },
        .alpha = { av_params_multiplier(p, true), av_params_multiplier(p, false) },
        .lr = p->lr,
        .clip = p->clip,
        .input_mean = p->input_mean,
        .input_std = p->input_std,
        .seed = p->seed,
    };
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
