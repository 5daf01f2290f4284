/* study_heads.c - the study `heads`: every head of every layer, one after the other. */
#include "attnviz/mem.h"
#include "attnviz/study.h"
#include "heads_state.h"
#include "listens.h"

#include <string.h>

static const char *const of_weights[] = { AV_OF_WEIGHTS, NULL };
static const char *const of_entries[] = { AV_OF_ENTRIES, NULL };
static const char *const listens[] = { "n_head", AV_OF_ENTRIES, AV_OF_WEIGHTS, NULL };

/* ---- Beginning ------------------------------------------------------------------- */

/* Do the heads that are measured stay as they are? */
static bool holds(const struct av_heads_state *s, const struct av_params *p)
{
    const struct av_params *was = &s->result.params;
    return s->begun && !av_params_differ(of_weights, was, p) &&
           (s->file != NULL || !av_params_differ(of_entries, was, p));
}

static enum av_part taken_from(const struct av_source_layer *l)
{
    return l->part[AV_PART_Q].there && l->part[AV_PART_K].there ? AV_PART_Q
           : l->part[AV_PART_WEIGHTS].there                     ? AV_PART_WEIGHTS
                                                                : AV_PART_SCORES;
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static struct av_head waiting(const struct av_source_layer *l, size_t layer, size_t head)
{
    return (struct av_head){
        .layer = layer,
        .head = head,
        .number = l->number,
        .n_q = l->n_q,
        .n_k = l->n_k,
        .d = l->d,
        .from = taken_from(l),
        .queries = at_most(l->n_q, AV_HEADS_QUERIES),
        .kind = AV_HEAD_PLAIN,
        .map = { .rows = at_most(l->n_q, AV_HEADS_MAP), .cols = at_most(l->n_k, AV_HEADS_MAP) },
    };
}

/* The list of heads, the first s->result.done as they were. */
static enum av_status list_heads(struct av_heads_state *s, struct av_error *e)
{
    struct av_heads *r = &s->result;
    if (r->count > s->kept) {
        struct av_head *heads = av_alloc(r->count, sizeof *heads);
        if (heads == NULL) {
            return av_fail_nomem(e, "the list of heads");
        }
        if (r->done > 0) {
            memcpy(heads, s->heads, r->done * sizeof *heads);
        }
        av_free(s->heads);
        s->heads = heads;
        s->kept = r->count;
    }
    size_t at = 0;
    for (size_t layer = 0; layer < r->layers; layer++) {
        const struct av_source_layer *l = &s->source->layers[layer];
        for (size_t head = 0; head < l->n_head && at < r->count; head++, at++) {
            if (at >= r->done) {
                s->heads[at] = waiting(l, layer, head);
            }
        }
    }
    r->heads = s->heads;
    return AV_OK;
}

static void count_heads(struct av_heads *r, const struct av_source *source)
{
    r->layers = source->layer_count;
    r->widest = r->all = 0;
    for (size_t i = 0; i < r->layers; i++) {
        size_t heads = source->layers[i].n_head;
        r->widest = heads > r->widest ? heads : r->widest;
        r->all += heads;
    }
    r->count = at_most(r->all, AV_HEADS_MEASURED);
}

static enum av_status begin(void *state, const struct av_params *p, struct av_error *e)
{
    struct av_heads_state *s = state;
    struct av_heads *r = &s->result;
    bool kept = holds(s, p);
    enum av_status status = AV_OK;
    s->begun = false;
    r->params = *p;
    r->params.logits.n = 0;
    r->source = s->file;
    s->source = s->file;
    if (s->file == NULL) {
        status = av_heads_draw(&s->drawn, s->kernels, &r->params, e);
        s->source = &s->drawn.source;
    }
    if (status == AV_OK) {
        count_heads(r, s->source);
        r->done = kept ? at_most(r->done, r->count) : 0;
        s->phase = AV_HEADS_BEGIN;
        s->row = 0;
        status = list_heads(s, e);
    }
    status = status == AV_OK ? av_heads_make_room(s, e) : status;
    s->begun = status == AV_OK;
    return status;
}

/* ---- Going on ------------------------------------------------------------------------ */

static bool whole(const void *state)
{
    return ((const struct av_heads_state *)state)->phase == AV_HEADS_BEGIN;
}

/* A unit ends with its head, so that a step is one. */
static bool step(void *state)
{
    struct av_heads_state *s = state;
    double spent = 0;
    if (s->result.done == s->result.count) {
        return false;
    }
    do {
        spent += av_heads_work(s);
    } while (!whole(s) && spent < AV_HEADS_UNIT);
    return true;
}

static double progress(const void *state)
{
    const struct av_heads_state *s = state;
    const struct av_heads *r = &s->result;
    if (r->done == r->count) {
        return 1;
    }
    double part = s->phase == AV_HEADS_WEIGH ? (double)s->row / (double)r->heads[r->done].queries : 0;
    return ((double)r->done + part) / (double)r->count;
}

static const void *result(const void *state)
{
    return &((const struct av_heads_state *)state)->result;
}

/* ---- The study ------------------------------------------------------------------------- */

static void close_state(void *state)
{
    struct av_heads_state *s = state;
    if (s != NULL) {
        av_heads_free_room(&s->room);
        av_attend_free(s->attend);
        av_free(s->scores_scratch);
        av_free(s->drawn.scratch);
        av_free(s->heads);
        av_free(s);
    }
}

static enum av_status open_state(void **state, const struct av_kernels *kernels, struct av_error *e)
{
    struct av_heads_state *s = av_alloc(1, sizeof *s);
    if (s == NULL) {
        return av_fail_nomem(e, "heads");
    }
    s->kernels = kernels;
    s->scores_scratch = av_alloc(1, AV_SCORES_SCRATCH);
    enum av_status status =
        s->scores_scratch == NULL ? av_fail_nomem(e, "heads") : av_attend_new(&s->attend, kernels, e);
    if (status != AV_OK) {
        close_state(s);
        return status;
    }
    *state = s;
    return AV_OK;
}

static void use_source(void *state, const struct av_source *source)
{
    ((struct av_heads_state *)state)->file = source;
}

const struct av_study av_study_heads = {
    .name = "heads",
    .listens = listens,
    .open = open_state,
    .close = close_state,
    .use_source = use_source,
    .any_length = true,
    .begin = begin,
    .step = step,
    .whole = whole,
    .progress = progress,
    .result = result,
};
