/* study_saturation.c - how entropy, weights and gradients go over d_k and
 * temperature: what still holds, and what is to be done next. */
#include "attnviz/mem.h"
#include "attnviz/study.h"
#include "saturation_state.h"

#include <string.h>

enum { POWERS = AV_SATURATION_OCTAVE, HALVES = AV_SATURATION_OCTAVE / 2 };

/* ---- what is to be done next ---------------------------------------------- */

/* A job that an item of the agenda has left. */
struct job {
    size_t d, column, stride;
    bool scale;
};

/* An item of the agenda: finds its next job, does it. */
struct item {
    bool (*find)(const struct av_saturation_state *s, size_t stride, struct job *job);
    double (*run)(struct av_saturation_state *s, const struct job *job);
    size_t stride; /* columns from one to the next */
};

static bool find_begun(const struct av_saturation_state *s, size_t stride, struct job *job)
{
    (void)stride;
    job->d = s->work.d;
    job->scale = s->work.scale;
    return s->work.on;
}

static bool find_undrawn(const struct av_saturation_state *s, size_t stride, struct job *job)
{
    (void)stride;
    (void)job;
    return s->sampled < s->buffers.rows + s->buffers.n_k;
}

/* A state of a point that is not known yet, the present one first. */
static bool find_in_point(const struct av_saturation_state *s, const struct av_saturation_point *point, struct job *job)
{
    bool now = s->result.params.scale != 0;
    job->d = point->d;
    job->scale = point->known[now] ? !now : now;
    return !point->known[job->scale];
}

static bool find_present(const struct av_saturation_state *s, size_t stride, struct job *job)
{
    (void)stride;
    return find_in_point(s, &s->result.at, job);
}

static bool find_point(const struct av_saturation_state *s, size_t stride, struct job *job)
{
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i += stride) {
        if (find_in_point(s, &s->result.points[i], job)) {
            return true;
        }
    }
    return false;
}

static bool find_in_plane(const struct av_saturation_state *s, size_t stride, bool scale, struct job *job)
{
    job->scale = scale;
    job->stride = stride;
    job->column = av_saturation_plane_next(s, scale, stride);
    return job->column < AV_SATURATION_COLUMNS;
}

static bool find_cells(const struct av_saturation_state *s, size_t stride, struct job *job)
{
    return find_in_plane(s, stride, s->result.params.scale != 0, job);
}

static bool find_other_cells(const struct av_saturation_state *s, size_t stride, struct job *job)
{
    return find_in_plane(s, stride, s->result.params.scale == 0, job);
}

static double run_sample(struct av_saturation_state *s, const struct job *job)
{
    (void)job;
    return av_saturation_sample(s);
}

static double run_measure(struct av_saturation_state *s, const struct job *job)
{
    return av_saturation_measure(s, job->d, job->scale);
}

static double run_column(struct av_saturation_state *s, const struct job *job)
{
    return av_saturation_plane_column(s, job->scale, job->stride, job->column);
}

/* In the order of their urgency: from the top, the first that has a job left.
 * Within a pass d_k ascends, so that the scores go on. */
static const struct item agenda[] = {
    { find_begun, run_measure, 0 },      { find_undrawn, run_sample, 0 },      { find_present, run_measure, 0 },
    { find_cells, run_column, 16 },      { find_cells, run_column, 8 },        { find_cells, run_column, 4 },
    { find_point, run_measure, POWERS }, { find_cells, run_column, 2 },        { find_cells, run_column, 1 },
    { find_point, run_measure, HALVES }, { find_other_cells, run_column, 16 }, { find_other_cells, run_column, 8 },
    { find_other_cells, run_column, 4 }, { find_other_cells, run_column, 2 },  { find_other_cells, run_column, 1 },
};

enum { ITEMS = sizeof agenda / sizeof agenda[0] };

static const struct item *next_item(const struct av_saturation_state *s, struct job *job)
{
    for (size_t i = 0; i < ITEMS; i++) {
        if (agenda[i].find(s, agenda[i].stride, job)) {
            return &agenda[i];
        }
    }
    return NULL;
}

static bool step(void *state)
{
    struct av_saturation_state *s = state;
    struct job job = { 0 };
    const struct item *item = next_item(s, &job);
    bool any = item != NULL;
    for (double spent = 0; item != NULL && spent < AV_SATURATION_UNIT; item = next_item(s, &job)) {
        spent += item->run(s, &job);
    }
    return any;
}

/* ---- how far it is ---------------------------------------------------------- */

struct costs {
    double done, all;
};

static void add_point(struct costs *costs, const struct av_saturation_state *s, const struct av_saturation_point *point)
{
    const struct av_saturation_work *w = &s->work;
    double cost = av_saturation_measure_cost(s, point->d, 0);
    for (int scale = 0; scale < 2; scale++) {
        bool begun = w->on && w->d == point->d && w->scale == (scale != 0);
        costs->all += cost;
        costs->done += point->known[scale] ? cost : begun ? cost - av_saturation_measure_cost(s, w->d, w->row) : 0;
    }
}

static void add_plane(struct costs *costs, const struct av_saturation_state *s, int scale)
{
    double cost = av_saturation_cell_cost(s);
    for (size_t j = 0; j < AV_SATURATION_ROWS; j++) {
        for (size_t i = 0; i < AV_SATURATION_COLUMNS; i++) {
            costs->done += s->cell_known[scale][j][i] ? cost : 0;
        }
    }
    costs->all += cost * AV_SATURATION_ROWS * AV_SATURATION_COLUMNS;
}

static double progress(const void *state)
{
    const struct av_saturation_state *s = state;
    struct job job = { 0 };
    if (next_item(s, &job) == NULL) {
        return 1;
    }
    struct costs costs = { (double)s->sampled * AV_SATURATION_NS_DRAW,
                           (double)(s->buffers.rows + s->buffers.n_k) * AV_SATURATION_NS_DRAW };
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i += HALVES) {
        add_point(&costs, s, &s->result.points[i]);
    }
    add_point(&costs, s, &s->result.at);
    add_plane(&costs, s, 0);
    add_plane(&costs, s, 1);
    return costs.done / costs.all;
}

/* ---- beginning, and what still holds ----------------------------------------- */

static const char *const of_entries[] = { "n_q",  "n_k",  "q_std", "k_std", "q_mean", "k_mean",
                                          "corr", "dist", "seed",  "head",  NULL };
static const char *const of_theory[] = { "n_q", "n_k", "q_std", "k_std", "mask", NULL };
static const char *const of_points[] = { "mask", "temperature", NULL };
static const char *const of_mask[] = { "mask", NULL };
static const char *const of_scaled[] = { "exponent", NULL };

static void forget_points(struct av_saturation_state *s, bool scale)
{
    struct av_saturation *r = &s->result;
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i++) {
        r->points[i].known[scale] = false;
    }
    r->at.known[scale] = false;
    s->work.on = s->work.on && s->work.scale != scale;
}

/* Forgets what the change from `was` (NULL: from nothing) has made stale. The
 * result has its new parameters and its theory already. */
static void forget(struct av_saturation_state *s, const struct av_params *was, bool had_theory)
{
    const struct av_saturation *r = &s->result;
    const struct av_params *now = &r->params;
    bool entries = was == NULL || av_params_differ(of_entries, was, now);
    bool points = entries || av_params_differ(of_points, was, now);
    bool planes = r->has_theory ? was == NULL || !had_theory || av_params_differ(of_theory, was, now)
                                : entries || had_theory || av_params_differ(of_mask, was, now);
    bool scaled = was == NULL || av_params_differ(of_scaled, was, now);
    if (entries) {
        s->sampled = 0;
        s->scores_d = 0;
    }
    for (int scale = 0; scale < 2; scale++) {
        if (points || (scaled && scale)) {
            forget_points(s, scale);
        }
        if (planes || (scaled && scale)) {
            av_saturation_plane_forget(s, scale);
        }
    }
}

/* The present d_k may be one of the columns. */
static void move_to(struct av_saturation_state *s, size_t d)
{
    struct av_saturation *r = &s->result;
    if (r->at.d != d) {
        r->at = (struct av_saturation_point){ .d = d };
    }
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i += HALVES) {
        for (int scale = 0; scale < 2; scale++) {
            if (r->points[i].d == d && r->points[i].known[scale]) {
                memcpy(r->at.value[scale], r->points[i].value[scale], sizeof r->at.value[scale]);
                r->at.known[scale] = true;
            }
        }
    }
}

static size_t rows_counting(const struct av_saturation_state *s)
{
    size_t rows = 0;
    for (size_t r = 0; r < s->buffers.rows; r++) {
        rows += av_saturation_row_length(s, r) >= 2;
    }
    return rows;
}

/* What av_summary_make reads: rows that are all valid. */
static void point_summary(struct av_saturation_state *s)
{
    s->summary.n_q = s->result.rows;
    s->summary.params.temperature = s->result.params.temperature;
    s->summary.invalid = s->buffers.invalid;
    s->summary.rows = s->buffers.stats;
    s->summary.dq_rms = s->buffers.dq;
}

/* The coarse picture of theory. */
static void begin_plane(struct av_saturation_state *s)
{
    struct job job = { 0 };
    for (size_t stride = 16; stride >= 8 && s->result.has_theory; stride /= 2) {
        while (find_cells(s, stride, &job)) {
            run_column(s, &job);
        }
    }
}

/* Files may be larger than a sample can be. */
static struct av_params within_range(const struct av_params *asked)
{
    struct av_params p = *asked;
    p.n_q = p.n_q < AV_KEYS_MAX ? p.n_q : AV_KEYS_MAX;
    p.n_k = p.n_k < AV_KEYS_MAX ? p.n_k : AV_KEYS_MAX;
    p.d_k = p.d_k < AV_DIM_MAX ? p.d_k : AV_DIM_MAX;
    return p;
}

static enum av_status begin(void *state, const struct av_params *asked, struct av_error *e)
{
    struct av_saturation_state *s = state;
    struct av_saturation *r = &s->result;
    struct av_params was = r->params;
    struct av_params now = within_range(asked);
    bool begun = s->begun;
    bool had_theory = r->has_theory;
    size_t most = (size_t)(AV_SATURATION_PAIRS / now.n_k);
    size_t rows = (size_t)now.n_q < most ? (size_t)now.n_q : most;
    s->begun = false;
    enum av_status status = av_saturation_buffers_make(&s->buffers, rows, (size_t)now.n_k, e);
    if (status != AV_OK) {
        return status;
    }
    r->params = now;
    r->rows = rows;
    r->rows_counting = rows_counting(s);
    point_summary(s);
    move_to(s, (size_t)now.d_k);
    av_saturation_theory(s);
    forget(s, begun ? &was : NULL, had_theory);
    begin_plane(s);
    s->begun = true;
    return AV_OK;
}

/* ---- the study --------------------------------------------------------------- */

static void close_state(void *state)
{
    struct av_saturation_state *s = state;
    if (s != NULL) {
        av_saturation_buffers_free(&s->buffers);
        av_theory_free(s->theory);
        av_free(s->scores_scratch);
        av_free(s);
    }
}

static enum av_status open_state(void **state, const struct av_kernels *kernels, struct av_error *e)
{
    struct av_saturation_state *s = av_alloc(1, sizeof *s);
    if (s == NULL) {
        return av_fail_nomem(e, "saturation");
    }
    s->kernels = kernels;
    s->scores_scratch = av_alloc(1, AV_SCORES_SCRATCH);
    enum av_status status = s->scores_scratch == NULL ? av_fail_nomem(e, "saturation") : av_theory_new(&s->theory, e);
    if (status != AV_OK) {
        close_state(s);
        return status;
    }
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i++) {
        s->result.points[i].d = av_saturation_d(i);
    }
    *state = s;
    return AV_OK;
}

static const void *result(const void *state)
{
    return &((const struct av_saturation_state *)state)->result;
}

static const char *const listens[] = { "n_q",    "n_k",    "d_k",  "scale", "exponent", "temperature", "q_std", "k_std",
                                       "q_mean", "k_mean", "corr", "dist",  "mask",     "seed",        "head",  NULL };

const struct av_study av_study_saturation = {
    .name = "saturation",
    .listens = listens,
    .open = open_state,
    .close = close_state,
    .begin = begin,
    .step = step,
    .progress = progress,
    .result = result,
};
