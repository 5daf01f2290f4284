/* study_origin.c - the study `origin`: entries as drawn, then drawings of a
 * layer. A unit is some rows of entries, a block of columns of w, or the
 * measuring of a drawing. */
#include "attnviz/mem.h"
#include "attnviz/origin.h"
#include "attnviz/study.h"
#include "entries.h"
#include "origin_draws.h"

#include <math.h>
#include <string.h>

enum { UNIT_ENTRIES = 1 << 16, INITS = AV_INIT_COUNT };

struct state {
    const struct av_kernels *kernels;
    struct av_params p;
    bool begun;
    struct av_origin result;
    float q[AV_DIM_MAX], k[AV_DIM_MAX], scratch[AV_DIM_MAX]; /* one row of entries */
    double wide[AV_DIM_MAX];
    int64_t row; /* the next row of entries */

    struct av_origin_draws *draws;
    int drawing, init; /* the next unit: of this drawing and kind of init, */
    size_t column;     /* from this column of w on; d_k: to be measured */
    struct av_moments sums[INITS][2][AV_ORIGIN_QUANTITIES];
};

static const char *const listens[] = { "d_k",  "n_q",  "n_k",  "dist",    "q_std",      "k_std",     "q_mean", "k_mean",
                                       "corr", "seed", "head", "d_model", "input_mean", "input_std", NULL };
/* What each part of the result depends on. */
static const char *const of_entries[] = { "d_k",    "n_q",    "n_k",  "dist", "q_std", "k_std",
                                          "q_mean", "k_mean", "corr", "seed", "head",  NULL };
static const char *const of_layers[] = { "d_k", "seed", "d_model", "input_mean", "input_std", NULL };

static enum av_status open_state(void **state, const struct av_kernels *kernels, struct av_error *e)
{
    struct state *s = av_alloc(1, sizeof *s);
    *state = s;
    if (s == NULL) {
        return av_fail_nomem(e, "the study of the origin");
    }
    s->kernels = kernels;
    enum av_status status = av_origin_draws_new(&s->draws, kernels, e);
    if (status != AV_OK) {
        av_free(s);
        *state = NULL;
    }
    return status;
}

static void close_state(void *state)
{
    struct state *s = state;
    av_origin_draws_free(s->draws);
    av_free(s);
}

/* ---- Entries ------------------------------------------------------------------ */

static int64_t entry_rows(const struct av_params *p)
{
    return p->n_q > p->n_k ? p->n_q : p->n_k;
}

static void begin_entries(struct state *s)
{
    const struct av_moments none = AV_MOMENTS_INIT;
    s->row = 0;
    s->result.entries = (struct av_entry_moments){ none, none, none, false };
}

static void add_row(struct av_moments *m, double *wide, const float *x, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        wide[c] = (double)x[c];
    }
    av_moments_add(m, wide, n);
}

/* Row i of Q and of K, as far as there are. */
static void measure_row(struct state *s, int64_t i)
{
    const struct av_params *p = &s->p;
    struct av_entry_moments *out = &s->result.entries;
    size_t d = (size_t)p->d_k;
    if (i < p->n_q) {
        av_entries_query(s->kernels, p, (size_t)i, 0, d, s->q);
        add_row(&out->q, s->wide, s->q, d);
    }
    if (i < p->n_k) {
        av_entries_key(s->kernels, p, (size_t)i, 0, d, s->k, s->scratch);
        add_row(&out->k, s->wide, s->k, d);
    }
    double unit = p->q_std * p->k_std;
    if (i < p->n_q && i < p->n_k && unit > 0) {
        for (size_t c = 0; c < d; c++) {
            s->wide[c] = ((double)s->q[c] - p->q_mean) * ((double)s->k[c] - p->k_mean) / unit;
        }
        av_moments_add(&out->product, s->wide, d);
    }
}

static int64_t rows_per_unit(const struct av_params *p)
{
    return UNIT_ENTRIES / p->d_k;
}

static bool step_entries(struct state *s)
{
    int64_t rows = entry_rows(&s->p);
    if (s->row == rows) {
        return false;
    }
    for (int64_t n = rows_per_unit(&s->p); n > 0 && s->row < rows; n--) {
        measure_row(s, s->row++);
    }
    s->result.entries.whole = s->row == rows;
    return true;
}

/* ---- Drawings of a layer -------------------------------------------------------- */

static void begin_layers(struct state *s)
{
    const struct av_moments none = AV_MOMENTS_INIT;
    struct av_origin *o = &s->result;
    s->drawing = s->init = 0;
    s->column = 0;
    o->drawings = 0;
    o->planned = av_origin_drawings(&s->p);
    o->limit = av_origin_limit(0);
    av_origin_predict(o, &s->p);
    for (int init = 0; init < INITS; init++) {
        for (int k = 0; k < 2 * AV_ORIGIN_QUANTITIES; k++) {
            int norm = k / AV_ORIGIN_QUANTITIES;
            int quantity = k % AV_ORIGIN_QUANTITIES;
            struct av_estimate *at = &o->at[init][norm][quantity];
            s->sums[init][norm][quantity] = none;
            at->measured = at->error = (double)NAN;
        }
    }
}

static void take_drawing(struct state *s)
{
    double values[2][AV_ORIGIN_QUANTITIES];
    av_origin_measure(s->draws, &s->p, values);
    for (int norm = 0; norm < 2; norm++) {
        for (int k = 0; k < AV_ORIGIN_QUANTITIES; k++) {
            struct av_moments *sum = &s->sums[s->init][norm][k];
            struct av_estimate *at = &s->result.at[s->init][norm][k];
            av_moments_add(sum, &values[norm][k], 1);
            at->measured = sum->mean;
            at->error = av_moments_std(sum) / sqrt((double)sum->count);
        }
    }
}

/* All four kinds of init go forward together. */
static bool step_layers(struct state *s)
{
    size_t d = (size_t)s->p.d_k;
    if (s->drawing == s->result.planned) {
        return false;
    }
    if (s->column < d) {
        av_origin_draw_block(s->draws, &s->p, (enum av_init)s->init, s->drawing, s->column);
        size_t next = s->column + av_origin_block(&s->p);
        s->column = next < d ? next : d;
        return true;
    }
    take_drawing(s);
    s->column = 0;
    s->init++;
    if (s->init == INITS) {
        s->init = 0;
        s->drawing++;
        s->result.drawings = s->drawing;
        s->result.limit = av_origin_limit(s->drawing);
    }
    return true;
}

/* ---- The study -------------------------------------------------------------------- */

static enum av_status begin(void *state, const struct av_params *p, struct av_error *e)
{
    (void)e;
    struct state *s = state;
    struct av_params was = s->p;
    s->p = *p;
    if (!s->begun || av_params_differ(of_entries, &was, p)) {
        begin_entries(s);
    }
    if (!s->begun || av_params_differ(of_layers, &was, p)) {
        begin_layers(s);
    }
    s->begun = true;
    return AV_OK;
}

static bool step(void *state)
{
    return step_entries(state) || step_layers(state);
}

/* In entries drawn. */
static double progress(const void *state)
{
    const struct state *s = state;
    const struct av_params *p = &s->p;
    double d = (double)p->d_k;
    double w = 2 * d * (double)p->d_model;
    double all = 2 * d * (double)entry_rows(p) + INITS * w * s->result.planned;
    double done = 2 * d * (double)s->row + w * (INITS * s->drawing + s->init) + w * (double)s->column / d;
    return done < all ? done / all : 1;
}

static const void *result(const void *state)
{
    const struct state *s = state;
    return &s->result;
}

const struct av_study av_study_origin = {
    .name = "origin",
    .listens = listens,
    .open = open_state,
    .close = close_state,
    .begin = begin,
    .step = step,
    .progress = progress,
    .result = result,
};
