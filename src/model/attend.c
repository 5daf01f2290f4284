/* attend.c - an attention that any variant makes: its memory, its beginning, its costs. */
#include "attend_state.h"

#include "attnviz/mem.h"

#include <math.h>
#include <string.h>

enum av_status av_attend_new(struct av_attend **out, const struct av_kernels *kernels, struct av_error *e)
{
    *out = NULL;
    struct av_attend *a = av_alloc(1, sizeof *a);
    void *scratch = av_alloc(1, AV_SCORES_SCRATCH);
    if (a == NULL || scratch == NULL) {
        av_free(a);
        av_free(scratch);
        return av_fail_nomem(e, "attention");
    }
    a->kernels = kernels != NULL ? kernels : av_kernels_best();
    a->scores_scratch = scratch;
    *out = a;
    return AV_OK;
}

void av_attend_free(struct av_attend *a)
{
    if (a != NULL) {
        av_attend_plan_free(&a->now);
        av_attend_plan_free(&a->next);
        av_free(a->work.memory);
        av_free(a->scores_scratch);
        av_free(a);
    }
}

/* ---- Memory of a portion ------------------------------------------------------- */

/* Counts n numbers, and points `to` at them once there is memory. */
static void place(double **to, double *memory, size_t *used, size_t n)
{
    const size_t line = AV_ALIGN / sizeof(double);
    *to = memory != NULL ? memory + *used : NULL;
    *used += (n + line - 1) / line * line;
}

/* Points all arrays into memory, and returns how many numbers they take. */
static size_t lay_out(struct av_attend_work *w, double *memory)
{
    size_t used = 0, n = w->n_k, d = w->d;
    place(&w->q, memory, &used, w->portion * d);
    place(&w->add, memory, &used, n);
    place(&w->bend_scratch, memory, &used, AV_BEND_SCRATCH(n));
    place(&w->wide, memory, &used, n * AV_FORM_COLUMNS);
    place(&w->gathered, memory, &used, n * AV_FORM_COLUMNS);
    place(&w->key, memory, &used, n > d ? n : d);
    place(&w->direction, memory, &used, d);
    for (size_t h = 0; h < w->halves; h++) {
        place(&w->scores[h], memory, &used, w->portion * n);
        place(&w->logits[h], memory, &used, n);
        place(&w->weights[h], memory, &used, n);
        place(&w->sum[h], memory, &used, d);
        place(&w->anchor[h], memory, &used, d);
    }
    for (size_t r = 0; r < w->portion; r++) {
        struct av_attend_row *row = &w->rows[r];
        double *keys;
        place(&keys, memory, &used, n);
        row->keys = (size_t *)(void *)keys;
        for (size_t h = 0; h < w->halves; h++) {
            struct av_attend_part *part = &row->part[h];
            place(&part->form.diag, memory, &used, n);
            place(&part->form.u, memory, &used, n);
            place(&part->form.v, memory, &used, n);
            place(&part->form.rest, memory, &used, n);
            place(&part->along, memory, &used, n);
        }
    }
    return used;
}

_Static_assert(sizeof(size_t) <= sizeof(double), "numbers of keys take the room of doubles");

enum av_status av_attend_work_make(struct av_attend_work *w, size_t n_k, size_t d, size_t halves, struct av_error *e)
{
    if (w->memory != NULL && w->n_k >= n_k && w->d >= d && w->halves >= halves) {
        return AV_OK;
    }
    struct av_attend_work fresh = { .n_k = n_k, .d = d, .halves = halves, .portion = AV_ATTEND_PORTION };
    while (fresh.portion > 1 && fresh.portion > AV_ATTEND_PAIRS / n_k) {
        fresh.portion--;
    }
    fresh.memory = av_alloc(lay_out(&fresh, NULL), sizeof *fresh.memory);
    if (fresh.memory == NULL) {
        return av_fail_nomem(e, "rows of attention");
    }
    lay_out(&fresh, fresh.memory);
    av_free(w->memory);
    *w = fresh;
    return AV_OK;
}

/* ---- Beginning ------------------------------------------------------------------- */

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

enum av_status av_attend_begin(struct av_attend *a, const struct av_params *p, const struct av_attend_head *head,
                               double alpha, struct av_error *e)
{
    struct av_attend_plan *next = &a->next;
    enum av_status s = av_attend_plan_make(next, a->kernels, a->scores_scratch, p, head, alpha, e);
    if (s == AV_OK) {
        const struct av_attend_work *w = &a->work; /* what it has room for already stays */
        s = av_attend_work_make(&a->work, larger(w->n_k, head->n_k), larger(w->d, head->d),
                                larger(w->halves, next->halves), e);
    }
    if (s == AV_OK) {
        struct av_attend_plan old = a->now;
        a->now = *next;
        *next = old;
    }
    return s;
}

double av_attend_multiplier(const struct av_attend *a)
{
    return a->now.multiplier / a->now.p.temperature;
}

double av_attend_row_cost(const struct av_attend *a, bool dq)
{
    enum { BEND = 40, DQ = 3, BY_ROW = 4 }; /* multiply-adds a key, the others a key and column */
    const struct av_attend_plan *plan = &a->now;
    double n = (double)plan->columns, d = (double)plan->head.d;
    double cost = n * BEND * (double)plan->halves;
    cost += plan->own_scores || plan->imitated ? n * d : 0;
    cost += dq ? n * d * DQ : 0;
    cost += dq && plan->normalise->entries != NULL ? n * d : 0;
    cost += dq && plan->normalise->scores == AV_SCORES_BY_ROW ? n * d * BY_ROW : 0;
    return cost;
}
