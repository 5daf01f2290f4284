/* study_heads.c - the study `heads`: every head of every layer, one after the
 * other, those first that are looked at. */
#include "attnviz/mem.h"
#include "attnviz/study.h"
#include "heads_state.h"
#include "listens.h"

#include <float.h>
#include <math.h>
#include <string.h>

static const char *const of_weights[] = { AV_OF_WEIGHTS, NULL };
static const char *const of_entries[] = { AV_OF_ENTRIES, NULL };
static const char *const listens[] = { "n_head", "from", AV_OF_ENTRIES, AV_OF_WEIGHTS, NULL };

/* ---- Beginning ------------------------------------------------------------------- */

/* Are the heads of every layer of the files made of the same parts? */
static bool same_parts(const struct av_source *file, const struct av_params *was, const struct av_params *p)
{
    for (size_t i = 0; i < file->layer_count; i++) {
        const struct av_source_layer *l = &file->layers[i];
        if (av_source_from(l, (enum av_from)was->from) != av_source_from(l, (enum av_from)p->from)) {
            return false;
        }
    }
    return true;
}

/* Do the heads that are measured stay as they are? */
static bool holds(const struct av_heads_state *s, const struct av_params *p)
{
    const struct av_params *was = &s->result.params;
    return s->begun && !av_params_differ(of_weights, was, p) &&
           (s->file != NULL ? same_parts(s->file, was, p) : !av_params_differ(of_entries, was, p));
}

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most;
}

static struct av_head waiting(const struct av_source_layer *l, size_t layer, size_t head, enum av_from from)
{
    return (struct av_head){
        .layer = layer,
        .head = head,
        .number = l->number,
        .n_q = l->n_q,
        .n_k = l->n_k,
        .d = l->d,
        .from = av_source_from(l, from),
        .queries = at_most(l->n_q, AV_HEADS_QUERIES),
        .kind = AV_HEAD_PLAIN,
        .map = { .rows = at_most(l->n_q, AV_HEADS_MAP), .cols = at_most(l->n_k, AV_HEADS_MAP) },
    };
}

/* The list of heads; the first `kept` as they were. */
static enum av_status list_heads(struct av_heads_state *s, size_t kept, struct av_error *e)
{
    struct av_heads *r = &s->result;
    if (r->count > s->kept) {
        struct av_head *heads = av_alloc(r->count, sizeof *heads);
        if (heads == NULL) {
            return av_fail_nomem(e, "the list of heads");
        }
        if (kept > 0) {
            memcpy(heads, s->heads, kept * sizeof *heads);
        }
        av_free(s->heads);
        s->heads = heads;
        s->kept = r->count;
    }
    size_t at = 0;
    for (size_t layer = 0; layer < r->layers; layer++) {
        const struct av_source_layer *l = &s->source->layers[layer];
        for (size_t head = 0; head < l->n_head && at < r->count; head++, at++) {
            if (at >= kept) {
                s->heads[at] = waiting(l, layer, head, (enum av_from)r->params.from);
            }
        }
    }
    r->heads = s->heads;
    return AV_OK;
}

/* What is over, and what it has cost. */
static void take_stock(struct av_heads_state *s)
{
    struct av_heads *r = &s->result;
    r->done = r->diagnosed = 0;
    s->spent = s->all = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct av_head *h = &s->heads[i];
        double costs[] = { av_heads_cost(h), r->diagnoses ? av_heads_diagnosis_cost(h) : 0 };
        bool over[] = { h->state != AV_HEAD_WAITING, h->diagnosis != AV_HEAD_WAITING };
        r->done += over[0];
        r->diagnosed += over[1];
        s->all += costs[0] + costs[1];
        s->spent += (over[0] ? costs[0] : 0) + (over[1] ? costs[1] : 0);
    }
    s->from[0] = s->from[1] = 0;
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
    size_t kept = holds(s, p) ? r->count : 0;
    enum av_status status = AV_OK;
    s->begun = false;
    r->params = *p;
    r->params.logits.n = 0;
    r->source = s->file;
    r->diagnoses = s->file != NULL;
    s->source = s->file;
    if (s->file == NULL) {
        status = av_heads_draw(&s->drawn, s->kernels, &r->params, e);
        s->source = &s->drawn.source;
    }
    if (status == AV_OK) {
        count_heads(r, s->source);
        s->phase = AV_HEADS_BEGIN;
        s->at = s->row = 0;
        status = list_heads(s, at_most(kept, r->count), e);
    }
    status = status == AV_OK ? av_heads_make_room(s, e) : status;
    s->begun = status == AV_OK;
    if (s->begun) {
        take_stock(s);
    }
    return status;
}

/* ---- Going on ------------------------------------------------------------------------ */

static void want(void *state, const size_t *places, size_t count)
{
    struct av_heads_state *s = state;
    s->wanted_count = at_most(count, AV_HEADS_WANTED);
    if (s->wanted_count > 0) {
        memcpy(s->wanted, places, s->wanted_count * sizeof *places);
    }
}

/* What can be done to a head; is it still to be done to that one? */
enum task { MEASURE, DIAGNOSE };

static bool to_do(const struct av_heads_state *s, size_t place, enum task task)
{
    if (place >= s->result.count) {
        return false;
    }
    const struct av_head *h = &s->heads[place];
    return task == MEASURE ? h->state == AV_HEAD_WAITING
                           : s->result.diagnoses && h->state == AV_HEAD_MEASURED && h->diagnosis == AV_HEAD_WAITING;
}

/* The next head: the first `most` that are wanted, in that order. */
static bool take_wanted(struct av_heads_state *s, size_t most, enum task task)
{
    for (size_t i = 0; i < at_most(most, s->wanted_count); i++) {
        if (to_do(s, s->wanted[i], task)) {
            s->at = s->wanted[i];
            return true;
        }
    }
    return false;
}

/* The next head of all. What is behind it stays to be done: heads are measured
 * before the first is diagnosed. */
static bool take_next(struct av_heads_state *s, enum task task)
{
    while (s->from[task] < s->result.count && !to_do(s, s->from[task], task)) {
        s->from[task]++;
    }
    s->at = s->from[task];
    return s->at < s->result.count;
}

/* Those that are looked at, the findings of the first of them; then the same of all. */
static bool take_head(struct av_heads_state *s)
{
    return take_wanted(s, AV_HEADS_WANTED, MEASURE) || take_wanted(s, 1, DIAGNOSE) || take_next(s, MEASURE) ||
           take_wanted(s, AV_HEADS_WANTED, DIAGNOSE) || take_next(s, DIAGNOSE);
}

static bool whole(const void *state)
{
    return ((const struct av_heads_state *)state)->phase == AV_HEADS_BEGIN;
}

/* A unit ends with its head, so that a step is one. */
static bool step(void *state)
{
    struct av_heads_state *s = state;
    double spent = 0;
    if (s->phase == AV_HEADS_BEGIN && !take_head(s)) {
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
    const struct av_head *h = &r->heads[s->at];
    if (r->done == r->count && (!r->diagnoses || r->diagnosed == r->count)) {
        return 1;
    }
    double part = s->phase == AV_HEADS_WEIGH      ? av_heads_cost(h) * (double)s->row / (double)h->queries
                  : s->phase == AV_HEADS_DIAGNOSE ? av_heads_diagnosis_cost(h) * av_diagnoser_progress(s->diagnoser)
                                                  : 0;
    return fmin((s->spent + part) / s->all, 1 - DBL_EPSILON); /* sums are rounded */
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
        av_diagnoser_free(s->diagnoser);
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
    status = status == AV_OK ? av_diagnoser_new(&s->diagnoser, kernels, e) : status;
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
    .want = want,
    .whole = whole,
    .progress = progress,
    .result = result,
};
