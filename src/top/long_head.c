/* long_head.c - a head for the report, summed up in bounded memory. */
#include "long_head.h"

#include "attnviz/variant.h"
#include "interrupt.h"
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

bool av_long_head_is(const struct av_source *s, const struct av_params *p)
{
    const struct av_source_layer *l = &s->layers[p->layer];
    bool plain = av_variant_without(p->variant, AV_GROUP_TRAINING) == 0 && p->dtype == AV_DTYPE_F64;
    return plain && p->logits.n == 0 && l->d > 0 && l->n_q > AV_FUSED_PAIRS / l->n_k;
}

/* Processors that there are, as far as that is known. */
static size_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > AV_FUSED_THREADS_MAX ? AV_FUSED_THREADS_MAX : (size_t)count;
}

struct watch {
    const struct av_fused *fused;
    struct av_progress progress;
};

static bool tell_and_ask(void *context)
{
    struct watch *w = context;
    av_progress_share(&w->progress, av_fused_progress(w->fused));
    return av_interrupt_asked();
}

static enum av_status diagnose(struct av_long_head *h, const struct av_source *s, struct av_error *e)
{
    struct av_diagnoser *d = NULL;
    const struct av_snapshot *now = &h->snapshot;
    bool more = true;
    enum av_status status = av_diagnoser_new(&d, NULL, e);
    if (status == AV_OK) {
        status = av_diagnoser_begin(d, s, (size_t)now->params.layer, now->head, &now->params, e);
    }
    while (status == AV_OK && more) {
        status = av_interrupt_asked() ? AV_INTERRUPTED : av_diagnoser_step(d, &more, e);
    }
    if (status == AV_OK) {
        h->diagnosis = *av_diagnoser_result(d);
        h->snapshot.diagnosis = &h->diagnosis;
    }
    av_diagnoser_free(d);
    return status;
}

static enum av_status compute(struct av_long_head *h, const struct av_source *s, const struct av_params *p,
                              struct av_error *e)
{
    struct watch w;
    char what[64];
    snprintf(what, sizeof what, "layer %zu, head %zu", s->layers[p->layer].number, (size_t)p->head);
    av_interrupt_begin();
    enum av_status status = av_fused_begin(&h->fused, s, (size_t)p->layer, (size_t)p->head, p, processors(), NULL, e);
    if (status != AV_OK) {
        return status;
    }
    w.fused = h->fused;
    av_progress_begin(&w.progress, what);
    status = av_fused_run(h->fused, tell_and_ask, &w, e);
    av_progress_end(&w.progress);
    if (status != AV_OK) {
        return status;
    }
    h->snapshot = *av_fused_snapshot(h->fused);
    return diagnose(h, s, e);
}

const struct av_snapshot *av_long_head(struct av_long_head *h, const struct av_source *s, const struct av_params *p,
                                       enum av_status *status, struct av_error *e)
{
    const struct av_params *was = &h->snapshot.params;
    *status = AV_OK;
    if (h->fused != NULL && was->layer == p->layer && was->head == p->head) {
        return &h->snapshot;
    }
    av_long_head_free(h);
    *status = compute(h, s, p, e);
    if (*status != AV_OK) {
        av_long_head_free(h);
        return NULL;
    }
    return &h->snapshot;
}

void av_long_head_free(struct av_long_head *h)
{
    av_fused_free(h->fused);
    h->fused = NULL;
}
