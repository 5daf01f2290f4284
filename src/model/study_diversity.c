/* study_diversity.c - the study `diversity`: the present state, then curves
 * towards flat heads and towards heads on one key, coarse to fine. */
#include "attnviz/mem.h"
#include "attnviz/model.h"
#include "attnviz/study.h"
#include "attnviz/variant.h"
#include "diversity_state.h"
#include "listens.h"

#include <math.h>
#include <string.h>

enum { OVERS = AV_DIVERSITY_OVERS, POINTS = AV_DIVERSITY_POINTS, ORDER = OVERS * POINTS, COARSE = 8 };

static const double factor_decades = 2, raised_most = 30;
static const double nearly = 0.99; /* of all work, when what it takes was estimated too low */

double av_diversity_x(enum av_diversity_over over, size_t point)
{
    double part = (double)point / (POINTS - 1);
    return over == AV_DIVERSITY_FACTOR ? pow(10, factor_decades * (2 * part - 1)) : raised_most * part;
}

/* ---- The order of work
 * ------------------------------------------------------------ */

/* The n-th of all points to be measured: coarse to fine, both curves together.
 */
static struct av_diversity_point *ordered(struct av_diversity_state *s, size_t n, enum av_diversity_over *over)
{
    size_t at = n / OVERS;
    size_t from = 0;
    size_t step = COARSE;
    while (from + step * at >= POINTS) { /* it is in a later pass: those half-way between */
        at -= (POINTS - 1 - from) / step + 1;
        step = from == 0 ? COARSE : from;
        from = step / 2;
    }
    *over = (enum av_diversity_over)(n % OVERS);
    return &s->result.curves[*over][from + step * at];
}

static size_t batches(void)
{
    return 1 + (ORDER + AV_DIVERSITY_BATCH - 1) / AV_DIVERSITY_BATCH;
}

/* The first of the points of a batch, in their order, and how many there are.
 */
static size_t batch_begin(size_t batch)
{
    return (batch - 1) * AV_DIVERSITY_BATCH;
}

static size_t batch_states(size_t batch)
{
    size_t left = batch > 0 ? ORDER - batch_begin(batch) : 1;
    return left < AV_DIVERSITY_BATCH ? left : AV_DIVERSITY_BATCH;
}

/* The parameters of the state at hand. */
static struct av_params state_params(struct av_diversity_state *s)
{
    struct av_params p = s->result.params;
    if (s->batch > 0) {
        enum av_diversity_over over;
        double x = ordered(s, batch_begin(s->batch) + s->place, &over)->x;
        if (over == AV_DIVERSITY_FACTOR) {
            p.temperature /= x;
        } else {
            p.key_offset = x * p.temperature;
        }
    }
    return p;
}

static void put_state(struct av_diversity_state *s)
{
    enum av_diversity_over over;
    if (s->batch == 0) {
        av_diversity_put_present(s);
    } else {
        av_diversity_put_point(s, ordered(s, batch_begin(s->batch) + s->place, &over));
    }
}

/* ---- Jobs
 * -------------------------------------------------------------------------- */

static bool finished(const struct av_diversity_state *s)
{
    return s->result.heads < 2 || s->batch == batches();
}

/* Each does one job of its phase, returns what it took, and goes on to what
 * comes next. */
static double draw(struct av_diversity_state *s)
{
    double cost = s->row < av_diversity_draws(s) ? av_diversity_draw(s) : 0;
    if (s->row >= av_diversity_draws(s)) {
        s->row = 0;
        s->moments = (struct av_moments)AV_MOMENTS_INIT;
        s->phase = AV_DIVERSITY_SCORE;
    }
    return cost;
}

static double score(struct av_diversity_state *s)
{
    double cost = av_diversity_score(s);
    if (s->row == av_diversity_scored(s)) {
        s->row = s->place = 0;
        s->phase = AV_DIVERSITY_WEIGH;
    }
    return cost;
}

static double weigh(struct av_diversity_state *s)
{
    double cost = 0;
    if (s->row == 0) {
        const struct av_params p = state_params(s);
        s->lost = av_diversity_begin_state(s, &p, NULL) != AV_OK;
        cost = s->begin_cost;
    }
    cost += av_diversity_weigh(s);
    if (s->row == av_diversity_rows(s)) {
        s->row = 0;
        s->place++;
    }
    if (s->place == batch_states(s->batch)) {
        s->place = 0;
        s->head++;
        s->phase = AV_DIVERSITY_DRAW;
    }
    if (s->head == s->result.heads) {
        s->head = 0;
        s->phase = AV_DIVERSITY_COMPARE;
    }
    return cost;
}

static double compare(struct av_diversity_state *s)
{
    double cost = av_diversity_compare(s);
    s->head++;
    if (s->head == s->result.heads) {
        s->head = 0;
        s->row++;
    }
    if (s->row == av_diversity_rows(s)) {
        put_state(s);
        s->row = 0;
        s->place++;
    }
    if (s->place == batch_states(s->batch)) {
        s->place = 0;
        s->batch++;
        s->phase = AV_DIVERSITY_DRAW;
    }
    return cost;
}

static bool step(void *state)
{
    static double (*const jobs[])(struct av_diversity_state * s) = { draw, score, weigh, compare };
    struct av_diversity_state *s = state;
    if (finished(s)) {
        return false;
    }
    for (double spent = 0; !finished(s) && spent < AV_DIVERSITY_UNIT;) {
        double cost = jobs[s->phase](s);
        spent += cost;
        s->spent += cost;
    }
    return true;
}

/* ---- Beginning
 * ----------------------------------------------------------------------- */

static size_t at_most(size_t n, size_t most)
{
    return n < most ? n : most > 0 ? most : 1;
}

/* Which heads are compared, and in how many rows. */
static void plan(struct av_diversity *r)
{
    const struct av_params *p = &r->params;
    size_t n_q = (size_t)p->n_q;
    size_t n_k = (size_t)p->n_k;
    r->heads = at_most((size_t)p->n_head, AV_DIVERSITY_HEADS);
    size_t pairs = r->heads > 1 ? r->heads * (r->heads - 1) / 2 : 1;
    size_t held = AV_DIVERSITY_WEIGHTS / (r->heads * n_k);
    r->rows = at_most(at_most(n_q, held), AV_DIVERSITY_COMPARISONS / (pairs * n_k));
    r->curve_rows = at_most(at_most(n_q, held / AV_DIVERSITY_BATCH), AV_DIVERSITY_CURVE_COMPARISONS / (pairs * n_k));
}

static void begin_curves(struct av_diversity *r)
{
    r->at[AV_DIVERSITY_FACTOR] = 1;
    r->at[AV_DIVERSITY_RAISED] = r->params.key_offset / r->params.temperature;
    for (enum av_diversity_over over = 0; over < AV_DIVERSITY_OVERS; over++) {
        for (size_t i = 0; i < POINTS; i++) {
            r->curves[over][i] = (struct av_diversity_point){ .x = av_diversity_x(over, i) };
        }
    }
}

/* What all batches will take, as the jobs count it. */
static double whole_cost(struct av_diversity_state *s)
{
    const struct av_diversity *r = &s->result;
    const struct av_diversity_buffers *b = &s->buffers;
    double entries = (double)b->n_k * (double)b->d;
    double pairs = 0.5 * (double)(r->heads * (r->heads - 1));
    double whole = 0;
    for (s->batch = 0; s->batch < batches(); s->batch++) {
        double rows = (double)av_diversity_rows(s);
        double states = (double)batch_states(s->batch);
        double head = (double)av_diversity_draws(s) * (double)b->d * AV_DIVERSITY_NS_DRAW;
        head += entries * (AV_DIVERSITY_NS_PREPARE + (double)av_diversity_scored(s) * AV_DIVERSITY_NS_SCORE);
        head += states * (s->begin_cost + rows * s->row_cost);
        whole += (double)r->heads * head + states * rows * pairs * (double)b->n_k * AV_DIVERSITY_NS_COMPARE;
    }
    s->batch = 0;
    return whole;
}

/* The engine takes what memory it needs, for entries that are not drawn yet. */
static enum av_status begin_work(struct av_diversity_state *s, struct av_error *e)
{
    const struct av_params *p = &s->result.params;
    s->batch = s->head = s->place = s->row = s->column = 0;
    s->phase = AV_DIVERSITY_DRAW;
    s->spent = 0;
    s->moments = (struct av_moments)AV_MOMENTS_INIT;
    memset(&s->sums, 0, sizeof s->sums);
    enum av_status status = av_diversity_begin_state(s, p, e);
    if (status == AV_OK) {
        bool prepares = (av_variant_flags(p->variant) & AV_VARIANT_ENTRIES) != 0;
        s->row_cost = AV_DIVERSITY_NS_ATTEND * av_attend_row_cost(s->attend, false);
        s->begin_cost = prepares ? AV_DIVERSITY_NS_PREPARE * (double)p->n_k * (double)p->d_k : 0;
        s->whole = whole_cost(s);
        step(s);
    }
    return status;
}

static enum av_status begin(void *state, const struct av_params *asked, struct av_error *e)
{
    struct av_diversity_state *s = state;
    struct av_diversity *r = &s->result;
    memset(r, 0, sizeof *r);
    r->params = *asked;
    r->params.logits.n = 0;
    if (s->source != NULL) {
        av_params_from_source(&r->params, s->source);
    }
    r->simplex = (av_variant_flags(r->params.variant) & AV_VARIANT_NOT_SIMPLEX) == 0;
    plan(r);
    begin_curves(r);
    enum av_status status = av_variant_check(r->params.variant, &r->params, e);
    if (status == AV_OK && r->heads > 1) {
        status = av_diversity_make_room(s, e);
        status = status == AV_OK ? begin_work(s, e) : status;
    }
    return status;
}

/* ---- The study
 * -------------------------------------------------------------------------- */

static void close_state(void *state)
{
    struct av_diversity_state *s = state;
    if (s != NULL) {
        av_diversity_free_room(s);
        av_attend_free(s->attend);
        av_free(s->scores_scratch);
        av_free(s);
    }
}

static enum av_status open_state(void **state, const struct av_kernels *kernels, struct av_error *e)
{
    struct av_diversity_state *s = av_alloc(1, sizeof *s);
    if (s == NULL) {
        return av_fail_nomem(e, "the diversity of heads");
    }
    s->kernels = kernels;
    s->scores_scratch = av_alloc(1, AV_SCORES_SCRATCH);
    enum av_status status =
        s->scores_scratch == NULL ? av_fail_nomem(e, "the diversity of heads") : av_attend_new(&s->attend, kernels, e);
    if (status != AV_OK) {
        close_state(s);
        return status;
    }
    *state = s;
    return AV_OK;
}

static void use_source(void *state, const struct av_source *source)
{
    struct av_diversity_state *s = state;
    s->source = source;
}

static double progress(const void *state)
{
    const struct av_diversity_state *s = state;
    return finished(s) ? 1 : fmin(s->spent / s->whole, nearly);
}

static const void *result(const void *state)
{
    return &((const struct av_diversity_state *)state)->result;
}

static const char *const listens[] = { "n_head", "layer", AV_OF_ENTRIES, AV_OF_WEIGHTS, NULL };

const struct av_study av_study_diversity = {
    .name = "diversity",
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
