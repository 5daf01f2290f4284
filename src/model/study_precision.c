/* study_precision.c - the study `precision`: every dtype against f64, the first
 * d_k that overflows f16, numbers in the place of masks. */
#include "attnviz/mem.h"
#include "attnviz/study.h"
#include "entries.h"
#include "precision_state.h"

#include <math.h>
#include <string.h>

/* A unit of work, and what things take, estimated, in nanoseconds. They decide
 * where work is cut, not what comes out. */
enum { SCORE_ROWS = 16 };
enum { UNIT = 3000000, NS_DRAW = 2, NS_PAIR = 200, NS_SOFTMAX = 50, NS_KEYS = 8 };
#define NS_SCORES 2.6 /* a key and column, for SCORE_ROWS rows */
#define NS_TERM 0.3   /* a pair and column of imitated arithmetic */
#define NS_SEARCH 0.3 /* the same of the search for an overflow */

/* ---- phases that are not in files of their own ------------------------------------ */

static void draw(struct av_precision_state *s, bool scale, enum av_dtype dtype, size_t item)
{
    (void)scale;
    (void)dtype;
    struct av_precision_buffers *b = &s->buffers;
    const struct av_params *p = &s->result.params;
    if (item < b->n_q) {
        av_entries_query(s->kernels, p, item, 0, b->columns, b->q + item * b->columns);
    } else {
        size_t j = item - b->n_q;
        av_entries_key(s->kernels, p, j, 0, b->columns, b->k + j * b->columns, b->draw);
    }
}

/* Of rows that see nothing that is not finite. */
static void add_moments(struct av_precision_state *s, size_t i)
{
    const struct av_precision_buffers *b = &s->buffers;
    const double *row = b->scores + i * b->n_k;
    size_t len = av_row_length((enum av_mask)s->result.params.mask, i, b->n_q, b->n_k);
    size_t finite = 0;
    while (finite < len && isfinite(row[finite])) {
        finite++;
    }
    if (finite == len) {
        av_moments_add(&s->moments, row, len);
    }
}

/* Several rows, as the keys are prepared for all of them. */
static void score(struct av_precision_state *s, bool scale, enum av_dtype dtype, size_t item)
{
    (void)scale;
    (void)dtype;
    const struct av_precision_buffers *b = &s->buffers;
    size_t from = item * SCORE_ROWS;
    size_t to = from + SCORE_ROWS < b->n_q ? from + SCORE_ROWS : b->n_q;
    const struct av_block block = { from, to, 0, b->n_k, 0, s->head.d };
    s->kernels->scores(b->scores, b->n_k, &s->head.q, &s->head.k, &block, s->scores_scratch);
    for (size_t i = from; i < to; i++) {
        add_moments(s, i);
    }
}

static void scores_end(struct av_precision_state *s, bool scale, enum av_dtype dtype)
{
    (void)scale;
    (void)dtype;
    if (s->moments.count > 0) {
        s->result.score_max = fmax(fabs(s->moments.min), fabs(s->moments.max));
    }
}

bool av_precision_attend(struct av_precision_state *s, bool scale, enum av_dtype dtype, enum av_mask mask)
{
    struct av_params p = s->result.params;
    p.scale = scale;
    p.dtype = (int64_t)dtype;
    p.mask = (int64_t)mask;
    struct av_attend *a = dtype == AV_DTYPE_F64 ? s->exact : dtype == AV_DTYPE_INT8 ? s->whole : s->narrow;
    s->dtype = a;
    return av_attend_begin(a, &p, &s->head, (double)NAN, NULL) == AV_OK;
}

/* ---- the phases --------------------------------------------------------------------- */

static size_t entries(const struct av_precision_state *s)
{
    return s->buffers.sampled ? s->buffers.n_q + s->buffers.n_k : 0;
}

static size_t rows(const struct av_precision_state *s)
{
    return s->buffers.n_q;
}

static size_t portions(const struct av_precision_state *s)
{
    return (s->buffers.n_q + SCORE_ROWS - 1) / SCORE_ROWS;
}

static size_t blocks(const struct av_precision_state *s)
{
    return (s->buffers.columns + AV_PRECISION_BLOCK - 1) / AV_PRECISION_BLOCK;
}

/* What an item takes: this much for each column of the entries, for each key,
 * and for each column of that up to d_k, or up to all of them. */
struct cost {
    double column, key, term, any_term;
};

struct kind {
    size_t (*items)(const struct av_precision_state *s);
    av_precision_begin *begin;
    av_precision_run *run;
    av_precision_end *end;
    struct cost cost;
};

static const struct kind drawing = { .items = entries, .run = draw, .cost = { .column = NS_DRAW } };
static const struct kind scoring = {
    .items = portions, .run = score, .end = scores_end, .cost = { .term = NS_SCORES }
};
static const struct kind comparing = { rows,
                                       av_precision_compare_begin,
                                       av_precision_compare,
                                       av_precision_compare_end,
                                       { .key = NS_PAIR + NS_SOFTMAX, .term = NS_TERM } };
static const struct kind masking = { rows,
                                     av_precision_masks_begin,
                                     av_precision_masks,
                                     av_precision_masks_end,
                                     { .key = NS_PAIR + AV_MASK_VALUES * NS_SOFTMAX, .term = NS_TERM } };
static const struct kind preparing = { .items = blocks,
                                       .run = av_precision_overflow_keys,
                                       .cost = { .key = NS_KEYS * AV_PRECISION_BLOCK } };
static const struct kind searching = {
    .items = rows, .run = av_precision_overflow_row, .end = av_precision_overflow_end, .cost = { .any_term = NS_SEARCH }
};

static const struct phase {
    const struct kind *kind;
    bool toggled; /* under the other state of scale */
    enum av_dtype dtype;
} phases[] = {
    { &drawing, false, AV_DTYPE_F64 },    { &scoring, false, AV_DTYPE_F64 },    { &comparing, false, AV_DTYPE_F64 },
    { &comparing, false, AV_DTYPE_F32 },  { &comparing, false, AV_DTYPE_BF16 }, { &comparing, false, AV_DTYPE_F16 },
    { &comparing, false, AV_DTYPE_INT8 }, { &masking, false, AV_DTYPE_F16 },    { &masking, false, AV_DTYPE_BF16 },
    { &masking, false, AV_DTYPE_F32 },    { &masking, false, AV_DTYPE_F64 },    { &comparing, true, AV_DTYPE_F64 },
    { &comparing, true, AV_DTYPE_F32 },   { &comparing, true, AV_DTYPE_BF16 },  { &comparing, true, AV_DTYPE_F16 },
    { &comparing, true, AV_DTYPE_INT8 },  { &preparing, false, AV_DTYPE_F16 },  { &searching, false, AV_DTYPE_F16 },
};

enum { PHASES = sizeof phases / sizeof phases[0] };

static double cost_of(const struct av_precision_state *s, const struct kind *kind)
{
    const struct cost *cost = &kind->cost;
    double columns = (double)s->buffers.columns;
    double keys = (double)s->buffers.n_k;
    double d = (double)s->head.d;
    return cost->column * columns + keys * (cost->key + cost->term * d + cost->any_term * columns);
}

/* Does the next item, with what comes before and behind all of a phase. A phase
 * that cannot begin for want of memory is left out. */
static double run_item(struct av_precision_state *s)
{
    const struct phase *phase = &phases[s->phase];
    const struct kind *kind = phase->kind;
    bool scale = (s->result.params.scale != 0) != phase->toggled;
    size_t items = kind->items(s);
    double cost = cost_of(s, kind);
    if (s->item == 0 && kind->begin != NULL) {
        cost += (double)(s->buffers.n_k * s->head.d) * NS_KEYS;
    }
    bool begun = s->item > 0 || kind->begin == NULL || kind->begin(s, scale, phase->dtype);
    if (begun && s->item < items) {
        kind->run(s, scale, phase->dtype, s->item);
        s->item++;
    }
    if (!begun || s->item >= items) {
        if (begun && kind->end != NULL) {
            kind->end(s, scale, phase->dtype);
        }
        s->phase++;
        s->item = 0;
    }
    return cost;
}

static bool step(void *state)
{
    struct av_precision_state *s = state;
    bool any = s->phase < PHASES;
    for (double spent = 0; s->phase < PHASES && spent < UNIT;) {
        spent += run_item(s);
    }
    return any;
}

static double progress(const void *state)
{
    const struct av_precision_state *s = state;
    double done = 0;
    double all = 0;
    for (size_t i = 0; i < PHASES; i++) {
        double items = (double)phases[i].kind->items(s);
        double cost = cost_of(s, phases[i].kind);
        all += items * cost;
        done += cost * (i < s->phase ? items : i == s->phase ? (double)s->item : 0);
    }
    return s->phase == PHASES || all <= 0 ? 1 : done / all;
}

/* ---- beginning --------------------------------------------------------------------------- */

/* Sizes of the files, or of what is sampled: more columns than d_k. */
static struct av_precision_buffers sizes_of(const struct av_precision_state *s, const struct av_params *p)
{
    if (s->source != NULL) {
        const struct av_loaded_head *h = &s->loaded;
        return (struct av_precision_buffers){ .n_q = h->n_q, .n_k = h->n_k, .columns = h->d };
    }
    return (struct av_precision_buffers){
        .n_q = (size_t)p->n_q, .n_k = (size_t)p->n_k, .columns = AV_DIM_MAX, .sampled = true
    };
}

static void set_head(struct av_precision_state *s)
{
    const struct av_precision_buffers *b = &s->buffers;
    const struct av_params *p = &s->result.params;
    s->head = (struct av_attend_head){ .n_q = b->n_q,
                                       .n_k = b->n_k,
                                       .d = b->sampled ? (size_t)p->d_k : b->columns,
                                       .scores = b->scores,
                                       .score_moments = &s->moments };
    if (b->sampled) {
        s->head.q = (struct av_entries){ .f32 = b->q, .pitch = b->columns };
        s->head.k = (struct av_entries){ .f32 = b->k, .pitch = b->columns };
    } else {
        s->head.q = s->loaded.q;
        s->head.k = s->loaded.k;
    }
}

static void set_multipliers(struct av_precision_state *s)
{
    struct av_params p = s->result.params;
    for (size_t c = 0; c < s->buffers.columns; c++) {
        p.d_k = (int64_t)(c + 1);
        s->buffers.multiplier[c] = av_dtype_round(AV_DTYPE_F32, av_params_multiplier(&p, true));
    }
}

/* Entries are not drawn yet: this is for the memory, so that no step needs any.
 * The state before the last one stays with it, hence twice. */
static enum av_status reserve(struct av_precision_state *s, const struct av_params *was, struct av_error *e)
{
    static const char *const sizes[] = { "n_q", "n_k", "d_k", "head", "variant", AV_ALL_OWNED, NULL };
    static const enum av_dtype each[] = { AV_DTYPE_F64, AV_DTYPE_F32, AV_DTYPE_INT8 };
    struct av_attend *const attends[] = { s->exact, s->narrow, s->whole };
    struct av_params p = s->result.params;
    enum av_status status = AV_OK;
    if (s->reserved && !av_params_differ(sizes, was, &p)) {
        return AV_OK;
    }
    s->reserved = false;
    for (size_t i = 0; i < 6 && status == AV_OK; i++) {
        p.dtype = (int64_t)each[i / 2];
        status = av_attend_begin(attends[i / 2], &p, &s->head, (double)NAN, e);
    }
    s->reserved = status == AV_OK;
    return status;
}

/* The head of the source that is asked for, unless it is there. */
static enum av_status load(struct av_precision_state *s, const struct av_params *p, struct av_error *e)
{
    struct av_loaded_head *h = &s->loaded;
    size_t layer = (size_t)p->layer;
    size_t head = (size_t)p->head;
    if (s->source == NULL || (h->memory != NULL && h->layer == layer && h->head == head)) {
        return AV_OK;
    }
    av_loaded_head_free(h);
    enum av_status status = av_source_load(h, s->source, layer, head, e);
    if (status != AV_OK) {
        av_loaded_head_free(h);
    }
    return status;
}

static enum av_status begin(void *state, const struct av_params *asked, struct av_error *e)
{
    struct av_precision_state *s = state;
    struct av_precision *r = &s->result;
    const struct av_params was = r->params;
    s->phase = PHASES;
    enum av_status status = load(s, asked, e);
    if (status != AV_OK) {
        return status;
    }
    const struct av_precision_buffers sizes = sizes_of(s, asked);
    status = av_precision_buffers_make(&s->buffers, &sizes, e);
    if (status != AV_OK) {
        return status;
    }
    memset(r, 0, sizeof *r);
    r->params = *asked;
    r->params.logits.n = 0;
    r->params.n_q = (int64_t)sizes.n_q;
    r->params.n_k = (int64_t)sizes.n_k;
    r->rows = sizes.n_q;
    r->score_max = (double)NAN;
    r->overflow.columns = sizes.columns;
    s->moments = (struct av_moments)AV_MOMENTS_INIT;
    set_head(s);
    r->params.d_k = (int64_t)s->head.d;
    set_multipliers(s);
    status = reserve(s, &was, e);
    s->phase = status == AV_OK ? 0 : PHASES;
    s->item = 0;
    return status;
}

/* ---- the study ------------------------------------------------------------------------------ */

static void close_state(void *state)
{
    struct av_precision_state *s = state;
    if (s != NULL) {
        av_precision_buffers_free(&s->buffers);
        av_loaded_head_free(&s->loaded);
        av_attend_free(s->exact);
        av_attend_free(s->narrow);
        av_attend_free(s->whole);
        av_free(s->scores_scratch);
        av_free(s);
    }
}

static enum av_status open_state(void **state, const struct av_kernels *kernels, struct av_error *e)
{
    struct av_precision_state *s = av_alloc(1, sizeof *s);
    if (s == NULL) {
        return av_fail_nomem(e, "precision");
    }
    s->kernels = kernels;
    s->phase = PHASES;
    s->scores_scratch = av_alloc(1, AV_SCORES_SCRATCH);
    enum av_status status = s->scores_scratch != NULL ? AV_OK : av_fail_nomem(e, "precision");
    struct av_attend **const attends[] = { &s->exact, &s->narrow, &s->whole };
    for (size_t i = 0; i < 3 && status == AV_OK; i++) {
        status = av_attend_new(attends[i], kernels, e);
    }
    if (status != AV_OK) {
        close_state(s);
        return status;
    }
    *state = s;
    return AV_OK;
}

static void use_source(void *state, const struct av_source *source)
{
    struct av_precision_state *s = state;
    s->source = source;
}

static const void *result(const void *state)
{
    return &((const struct av_precision_state *)state)->result;
}

static const char *const listens[] = { "d_k",         "n_q",      "n_k",        "scale", "exponent",   "temperature",
                                       "offset",      "key",      "key_offset", "query", "q_std",      "k_std",
                                       "q_mean",      "k_mean",   "corr",       "dist",  "mask",       "variant",
                                       "seed",        "n_head",   "head",       "layer", AV_ALL_OWNED, "scale_order",
                                       "softmax_f32", "smooth_k", NULL };

const struct av_study av_study_precision = {
    .name = "precision",
    .listens = listens,
    .open = open_state,
    .close = close_state,
    .use_source = use_source,
    .of_entries = true,
    .begin = begin,
    .step = step,
    .progress = progress,
    .result = result,
};
