/* train_memory.c - what a training experiment takes, and making and freeing it. */
#include "attnviz/mem.h"
#include "train_hook.h"
#include "train_state.h"

#include <math.h>

static size_t learned_count(const struct av_attention_sizes *s)
{
    return 4 * s->d_k * s->model_pitch;
}

static double bytes_needed(const struct av_train_config *c, const struct av_attention_sizes *s)
{
    const double runs = (c->runs[AV_TWIN_SCALED] ? 1 : 0) + (c->runs[AV_TWIN_UNSCALED] ? 1 : 0);
    const double learned = 3 * (double)sizeof(float) * (double)learned_count(s);
    const bool reparam = av_train_learns(c, AV_SCALAR_GAMMA);
    const double effective = reparam ? (double)sizeof(float) * (double)learned_count(s) : 0;
    const double spectra = reparam ? av_spectra_bytes(s) : 0;
    const double records = (double)sizeof(struct av_train_record) * (double)c->epochs;
    const double tokens = (double)c->sequences * (double)c->seq_len;
    const double arrays = av_task_is_identity(c) ? 1 : 2;
    const double data = c->fresh ? 0 : arrays * (double)sizeof(float) * tokens * (double)s->model_pitch;
    const double order = c->fresh ? 0 : (double)sizeof(uint32_t) * (double)c->sequences;
    return (double)sizeof(struct av_train) + av_attention_bytes(s) + av_train_hook_bytes(c) + effective +
           runs * (learned + spectra + records) + data + order;
}

static enum av_status make_run(struct av_train_run_state *r, const struct av_train *t, struct av_error *e)
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
    return av_train_learns(c, AV_SCALAR_GAMMA) ? av_spectra_new(&r->spectra, &t->pass.sizes, e) : AV_OK;
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
    if (s == AV_OK) {
        s = av_train_hook_new(&t->pass.hook, c, t->kernels, e);
    }
    if (s == AV_OK && av_train_learns(c, AV_SCALAR_GAMMA)) {
        t->effective = av_alloc(learned_count(&t->pass.sizes), sizeof *t->effective);
        s = t->effective != NULL ? AV_OK : av_fail_nomem(e, "the matrices in use");
    }
    for (enum av_twin i = 0; s == AV_OK && i < AV_TWINS; i++) {
        t->runs[i].shown.state = AV_TRAIN_DONE;
        if (c->runs[i]) {
            s = make_run(&t->runs[i], t, e);
        }
    }
    return s;
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
        av_spectra_free(&t->runs[i].spectra);
    }
    av_free(t->effective);
    av_free(t->x);
    av_free(t->target);
    av_free(t->order);
    av_task_source_free(&t->source);
    av_train_hook_free(t->pass.hook);
    av_attention_free(&t->pass);
    av_free(t);
}
