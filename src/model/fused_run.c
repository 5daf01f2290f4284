/* fused_run.c - a head's tiles one after the other, or shared among threads. */
#include "fused_state.h"

#include <time.h>

/* Multiply-adds of a step. */
static const uint64_t STEP = UINT64_C(1) << 26;

enum { PATIENCE = 20000000 }; /* ns between two questions whether to stop while others work */

enum av_status av_fused_step(struct av_fused *f, struct av_error *e)
{
    uint64_t until = atomic_load(&f->done) + STEP / f->snapshot.d_k;
    size_t at = 0; /* workers that threads have left with a block have their turn too */
    while (at < f->threads && atomic_load(&f->done) <= until) {
        bool more;
        enum av_status status = av_fused_tile(&f->workers[at], &more, e);
        if (status != AV_OK) {
            return status;
        }
        at += !more;
    }
    av_fused_finish(f);
    return AV_OK;
}

static void *run_thread(void *worker)
{
    struct av_fused_worker *w = worker;
    bool more = true;
    w->status = AV_OK;
    while (more && w->status == AV_OK && !atomic_load(&w->of->stop)) {
        w->status = av_fused_tile(w, &more, &w->error);
    }
    if (w->status != AV_OK) {
        atomic_store(&w->of->stop, true);
    }
    return NULL;
}

/* Works in this thread, also on what a thread that was not started has been
 * left with, until there is nothing more for it to do. */
static enum av_status run_here(struct av_fused *f, bool (*stop)(void *context), void *context, struct av_error *e)
{
    for (size_t at = 0; at < f->threads;) {
        struct av_fused_worker *w = &f->workers[at];
        bool more = false;
        if (atomic_load(&f->stop)) {
            return AV_OK;
        }
        if (stop != NULL && stop(context)) {
            return AV_INTERRUPTED;
        }
        enum av_status status = w->started ? AV_OK : av_fused_tile(w, &more, e);
        if (status != AV_OK) {
            return status;
        }
        at += !more;
    }
    return AV_OK;
}

/* Waits for the others' last tiles. */
static enum av_status wait_here(struct av_fused *f, bool (*stop)(void *context), void *context)
{
    while (atomic_load(&f->done) < f->pairs && !atomic_load(&f->stop)) {
        if (stop != NULL && stop(context)) {
            return AV_INTERRUPTED;
        }
        nanosleep(&(struct timespec){ 0, PATIENCE }, NULL);
    }
    return AV_OK;
}

enum av_status av_fused_run(struct av_fused *f, bool (*stop)(void *context), void *context, struct av_error *e)
{
    atomic_store(&f->stop, false);
    for (size_t i = 1; i < f->threads; i++) {
        struct av_fused_worker *w = &f->workers[i];
        w->started = pthread_create(&w->thread, NULL, run_thread, w) == 0;
    }
    enum av_status status = run_here(f, stop, context, e);
    if (status == AV_OK) {
        status = wait_here(f, stop, context);
    }
    if (status != AV_OK) {
        atomic_store(&f->stop, true);
    }
    for (size_t i = 1; i < f->threads; i++) {
        struct av_fused_worker *w = &f->workers[i];
        if (w->started) {
            pthread_join(w->thread, NULL);
            w->started = false;
            if (status == AV_OK && w->status != AV_OK) {
                status = av_fail(e, w->status, "%s", w->error.text);
            }
        }
    }
    av_fused_finish(f);
    return f->finished ? AV_OK : status; /* a thread may have finished after all */
}
