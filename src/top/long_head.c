/* long_head.c - a head for the report, summed up in bounded memory. */
#include "long_head.h"

#include "attnviz/variant.h"
#include "interrupt.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

bool av_long_head_is(const struct av_source *s, const struct av_params *p)
{
    const struct av_source_layer *l = &s->layers[p->layer];
    bool of_entries = av_source_from(l, (enum av_from)p->from) == AV_PART_Q;
    bool plain = av_variant_without(p->variant, AV_GROUP_TRAINING) == 0 && p->dtype == AV_DTYPE_F64;
    return plain && p->logits.n == 0 && of_entries && l->n_q > AV_FUSED_PAIRS / l->n_k;
}

/* Processors that there are, as far as that is known. */
static size_t processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > AV_FUSED_THREADS_MAX ? AV_FUSED_THREADS_MAX : (size_t)count;
}

/* ---- A source that several threads read, one at a time --------------------------- */

struct shared {
    struct av_source source; /* whose state is this */
    const struct av_source *of;
    pthread_mutex_t lock;
};

static enum av_status read_alone(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                                 float *out_f32, double *out_f64, struct av_error *e)
{
    struct shared *s = state;
    pthread_mutex_lock(&s->lock);
    enum av_status status = s->of->read(s->of->state, layer, part, head, first, rows, out_f32, out_f64, e);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* ---- The diagnosis, in a thread of its own ----------------------------------------- */

/* It does what one thread can do; the rows' sums, which are shared among all
 * processors, take what it leaves of them. */
struct diagnosing {
    struct av_diagnoser *diagnoser;
    pthread_t thread;
    bool started;
    atomic_bool stop;
    _Atomic double share; /* that is done */
    enum av_status status;
    struct av_error error;
};

static void *diagnose(void *context)
{
    struct diagnosing *d = context;
    bool more = true;
    while (more && d->status == AV_OK && !atomic_load(&d->stop)) {
        d->status = av_diagnoser_step(d->diagnoser, &more, &d->error);
        atomic_store(&d->share, av_diagnoser_progress(d->diagnoser));
    }
    if (d->status != AV_OK) {
        atomic_store(&d->stop, true);
    }
    return NULL;
}

/* ---- Both ------------------------------------------------------------------------- */

struct work {
    struct shared shared;
    struct diagnosing diagnosing;
    const struct av_fused *fused;
    struct av_heads_progress *progress;
};

static enum av_status begin(struct work *w, struct av_long_head *h, const struct av_params *p, struct av_error *e)
{
    const struct av_source *s = &w->shared.source;
    size_t layer = (size_t)p->layer, head = (size_t)p->head;
    enum av_status status = av_fused_begin(&h->fused, s, layer, head, p, processors(), NULL, e);
    w->fused = h->fused;
    if (status == AV_OK) {
        status = av_diagnoser_new(&w->diagnosing.diagnoser, NULL, e);
    }
    return status == AV_OK ? av_diagnoser_begin(w->diagnosing.diagnoser, s, layer, head, p, e) : status;
}

/* Tells how far both are; is an end asked for? */
static bool tell_and_ask(void *context)
{
    struct work *w = context;
    double fused = av_fused_progress(w->fused), diagnosing = atomic_load(&w->diagnosing.share);
    av_heads_progress_share(w->progress, (fused + diagnosing) / 2);
    return av_interrupt_asked() || atomic_load(&w->diagnosing.stop);
}

/* Waits for the diagnosis, or makes it when its thread could not be started. */
static void finish_diagnosis(struct work *w, enum av_status status)
{
    struct diagnosing *d = &w->diagnosing;
    while (status == AV_OK && d->started && atomic_load(&d->share) < 1 && !tell_and_ask(w)) {
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    }
    if (status != AV_OK || av_interrupt_asked()) {
        atomic_store(&d->stop, true);
    }
    if (d->started) {
        pthread_join(d->thread, NULL);
    } else {
        diagnose(d);
    }
}

static void start(struct diagnosing *d)
{
    d->started = pthread_create(&d->thread, NULL, diagnose, d) == 0;
}

/* Both at once; of a stream one after the other, for two that read it in different
 * places would have it begin anew all the time. */
static enum av_status run(struct work *w, struct av_long_head *h, struct av_error *e)
{
    struct diagnosing *d = &w->diagnosing;
    bool at_once = !w->shared.of->streamed;
    if (at_once) {
        start(d);
    }
    enum av_status status = av_fused_run(h->fused, tell_and_ask, w, e);
    if (!at_once && status == AV_OK) {
        start(d);
    }
    finish_diagnosis(w, status);
    if (d->status != AV_OK) {
        return av_fail(e, d->status, "%s", d->error.text);
    }
    return status != AV_OK ? status : av_diagnoser_result(d->diagnoser) == NULL ? AV_INTERRUPTED : AV_OK;
}

const struct av_snapshot *av_long_head(struct av_long_head *h, const struct av_source *s, const struct av_params *p,
                                       struct av_heads_progress *progress, enum av_status *status, struct av_error *e)
{
    struct work w = { .shared = { .source = *s, .of = s }, .progress = progress };
    w.shared.source.read = read_alone;
    w.shared.source.state = &w.shared;
    pthread_mutex_init(&w.shared.lock, NULL);
    av_long_head_free(h);
    av_interrupt_begin();
    *status = begin(&w, h, p, e);
    if (*status == AV_OK) {
        *status = run(&w, h, e);
    }
    av_interrupt_end();
    if (*status == AV_OK) {
        h->snapshot = *av_fused_snapshot(h->fused);
        h->snapshot.source = s;
        h->diagnosis = *av_diagnoser_result(w.diagnosing.diagnoser);
        av_diagnosis_complete(&h->diagnosis, &h->snapshot);
        h->snapshot.diagnosis = &h->diagnosis;
    } else {
        av_long_head_free(h);
    }
    av_diagnoser_free(w.diagnosing.diagnoser);
    pthread_mutex_destroy(&w.shared.lock);
    return *status == AV_OK ? &h->snapshot : NULL;
}

void av_long_head_free(struct av_long_head *h)
{
    av_fused_free(h->fused);
    h->fused = NULL;
}
