/* study_depth.c - the study `depth`: a stack with and without the scale, then seven
 * others, each over five seeds.
 *
 * A unit is one branch of one stack. The first seed of the twins comes first,
 * then their other seeds, then the table, seed by seed. */
#include "attnviz/depth_study.h"
#include "attnviz/mem.h"
#include "attnviz/study.h"

#include <math.h>
#include <string.h>

enum { TWINS = 2, CELLS = TWINS + AV_DEPTH_STACKS * AV_DEPTH_DEPTHS };

const struct av_depth_recipe av_depth_recipes[AV_DEPTH_STACKS] = {
    { "no residual, no norm", true, false, false, AV_NORM_NONE },
    { "no residual, no norm", false, false, false, AV_NORM_NONE },
    { "residual, no norm", true, true, false, AV_NORM_NONE },
    { "residual, pre-norm", true, true, false, AV_NORM_PRE },
    { "residual, post-norm", true, true, false, AV_NORM_POST },
    { "residual, pre-norm", false, true, false, AV_NORM_PRE },
    { "pre-norm, 1/sqrt(2L)", true, true, true, AV_NORM_PRE },
};

/* A cell that is shown, and what it is the median of. */
struct cell {
    struct av_depth_cell shown;
    struct av_depth_stack seeds[AV_DEPTH_SEEDS];
};

struct state {
    const struct av_kernels *kernels;
    struct av_depth_run *depth;
    struct av_depth_config room; /* what depth has room for */
    struct cell *cells;          /* [CELLS]: twins, then the table, row by row */
    size_t count;                /* cells in use: the table's second half may be its first */
    struct av_depth_study result;
    bool under_way; /* a stack of the next job */
};

/* ---- Jobs ------------------------------------------------------------------------ */

/* The cell to go on with, NULL at the end: the one with the fewest seeds done,
 * among the twins first. */
static struct cell *next_cell(const struct state *s)
{
    const size_t ends[] = { TWINS, s->count };
    for (size_t part = 0, from = 0; part < 2; from = ends[part++]) {
        struct cell *least = NULL;
        for (size_t i = from; i < ends[part]; i++) {
            struct cell *cell = &s->cells[i];
            const size_t done = cell->shown.done;
            if (done < AV_DEPTH_SEEDS && (least == NULL || done < least->shown.done)) {
                least = cell;
            }
        }
        if (least != NULL) {
            return least;
        }
    }
    return NULL;
}

static void keep(struct state *s, struct cell *cell)
{
    const struct av_depth_stack *found = av_depth_stack(s->depth);
    cell->seeds[cell->shown.done++] = *found;
    cell->shown.overflows += found->overflow != AV_DEPTH_NO_OVERFLOW;
    av_depth_median(&cell->shown.median, cell->seeds, cell->shown.done);
    s->under_way = false;
}

static bool step(void *state)
{
    struct state *s = state;
    struct cell *cell = next_cell(s);
    if (cell == NULL) {
        return false;
    }
    if (!s->under_way) {
        struct av_depth_config c = cell->shown.config;
        c.seed += cell->shown.done;
        av_depth_begin(s->depth, &c);
        s->under_way = true;
    }
    av_depth_step(s->depth);
    if (av_depth_progress(s->depth) >= 1) {
        keep(s, cell);
    }
    return true;
}

static double progress(const void *state)
{
    const struct state *s = state;
    const struct cell *next = next_cell(s);
    double done = 0;
    double all = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct av_depth_cell *cell = &s->cells[i].shown;
        const double cost = (double)cell->config.layers * (cell->config.mlp ? 3 : 1);
        const double part = s->under_way && &s->cells[i] == next ? av_depth_progress(s->depth) : 0;
        done += cost * ((double)cell->done + part);
        all += cost * AV_DEPTH_SEEDS;
    }
    return next == NULL ? 1 : done / all;
}

/* ---- Beginning, and what still holds ------------------------------------------------ */

static bool same(const struct av_depth_config *a, const struct av_depth_config *b)
{
    return a->layers == b->layers && a->tokens == b->tokens && a->d_model == b->d_model && a->d_k == b->d_k &&
           a->init == b->init && a->norm == b->norm && a->residual == b->residual &&
           a->residual_scale == b->residual_scale && a->mlp == b->mlp && a->single == b->single &&
           memcmp(&a->alpha, &b->alpha, sizeof a->alpha) == 0 && memcmp(&a->clip, &b->clip, sizeof a->clip) == 0 &&
           a->seed == b->seed;
}

/* The cell is of that stack from now on; it keeps what it knows if it was. */
static void set(struct cell *cell, const struct av_depth_config *c)
{
    if (!same(&cell->shown.config, c)) {
        memset(cell, 0, sizeof *cell);
        cell->shown.config = *c;
        cell->shown.median.overflow = AV_DEPTH_NO_OVERFLOW;
    }
}

static struct av_depth_config of_recipe(const struct av_params *p, const struct av_depth_recipe *r,
                                        const struct av_depth_config *twin, size_t layers)
{
    struct av_depth_config c = *twin;
    c.layers = layers;
    c.init = AV_INIT_UNIT;
    c.norm = r->norm;
    c.residual = r->residual;
    c.residual_scale = r->residual_scale;
    c.mlp = false;
    c.alpha = av_params_multiplier(p, r->scale);
    c.clip = 0;
    return c;
}

static void set_table(struct state *s, const struct av_params *p, const struct av_depth_config *twin)
{
    const size_t depths = twin->layers == AV_DEPTH_SHALLOW ? 1 : AV_DEPTH_DEPTHS;
    s->count = TWINS + AV_DEPTH_STACKS * depths;
    for (size_t i = 0; i < AV_DEPTH_STACKS * AV_DEPTH_DEPTHS; i++) {
        const size_t depth = i / AV_DEPTH_STACKS;
        const size_t row = i % AV_DEPTH_STACKS;
        struct cell *cell = &s->cells[TWINS + row + (depth < depths ? depth : 0) * AV_DEPTH_STACKS];
        const size_t layers = depth == 0 ? AV_DEPTH_SHALLOW : twin->layers;
        const struct av_depth_config c = of_recipe(p, &av_depth_recipes[row], twin, layers);
        set(cell, &c);
        s->result.table[row][depth] = &cell->shown;
    }
}

/* Room for all stacks of these parameters. */
static enum av_status make_room(struct state *s, const struct av_depth_config *twin, struct av_error *e)
{
    struct av_depth_config most = *twin;
    most.layers = twin->layers > AV_DEPTH_SHALLOW ? twin->layers : AV_DEPTH_SHALLOW;
    if (s->depth != NULL && s->room.layers >= most.layers && s->room.tokens == most.tokens &&
        s->room.d_model == most.d_model && s->room.d_k == most.d_k && s->room.mlp == most.mlp) {
        return AV_OK;
    }
    av_depth_free(s->depth);
    s->depth = NULL;
    enum av_status status = av_depth_new(&s->depth, &most, s->kernels, e);
    s->room = most;
    return status;
}

static enum av_status begin(void *state, const struct av_params *p, struct av_error *e)
{
    struct state *s = state;
    struct av_depth_config twins[TWINS];
    enum av_status status = AV_OK;
    s->under_way = false;
    for (int scale = 0; status == AV_OK && scale < TWINS; scale++) {
        status = av_depth_configure(&twins[scale], p, scale != 0, e);
    }
    if (status == AV_OK) {
        status = make_room(s, &twins[0], e);
    }
    if (status != AV_OK) {
        return status;
    }
    s->result.params = *p;
    for (int scale = 0; scale < TWINS; scale++) {
        set(&s->cells[scale], &twins[scale]);
        s->result.twins[scale] = &s->cells[scale].shown;
    }
    set_table(s, p, &twins[0]);
    return AV_OK;
}

/* ---- The study ------------------------------------------------------------------------ */

static void close_state(void *state)
{
    struct state *s = state;
    av_depth_free(s->depth);
    av_free(s->cells);
    av_free(s);
}

static enum av_status open_state(void **state, const struct av_kernels *kernels, struct av_error *e)
{
    struct state *s = av_alloc(1, sizeof *s);
    if (s == NULL) {
        return av_fail_nomem(e, "depth");
    }
    s->kernels = kernels;
    s->cells = av_alloc(CELLS, sizeof *s->cells);
    if (s->cells == NULL) {
        close_state(s);
        return av_fail_nomem(e, "depth");
    }
    *state = s;
    return AV_OK;
}

static const void *result(const void *state)
{
    return &((const struct state *)state)->result;
}

static const char *const listens[] = { "layers",         "tokens", "d_model", "d_k",      "init", "residual",    "norm",
                                       "residual_scale", "mlp",    "clip",    "exponent", "seed", "depth_dtype", NULL };

const struct av_study av_study_depth = {
    .name = "depth",
    .listens = listens,
    .open = open_state,
    .close = close_state,
    .begin = begin,
    .step = step,
    .progress = progress,
    .result = result,
};
