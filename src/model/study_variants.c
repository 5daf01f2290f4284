/* study_variants.c - all variants side by side: what still holds, and what is to
 * be done next. */
#include "attnviz/mem.h"
#include "attnviz/model.h"
#include "listens.h"
#include "variants_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what is to be done next ---------------------------------------------- */

static double run_begun(struct av_variants_state *s)
{
    return s->work.on ? av_variants_measure_run(s) : 0;
}

static double run_head(struct av_variants_state *s)
{
    return av_variants_head_ready(&s->table) ? 0 : av_variants_head_run(s, &s->table, &s->result.params);
}

/* The row of the table that is wanted next: the present variant and the one it is
 * compared with, then, if the table is computed, from the top. */
static struct av_variant_row *next_row(struct av_variants_state *s, bool dq)
{
    struct av_variant_table *t = &s->result.table;
    const size_t first[] = { t->now, t->compare };
    const size_t count = (s->parts & AV_VARIANTS_TABLE) != 0 ? t->count + 2 : 2;
    for (size_t i = 0; i < count; i++) {
        struct av_variant_row *row = &t->rows[i < 2 ? first[i] : i - 2];
        if (av_variants_wanted(row->state, &row->measure, dq)) {
            return row;
        }
    }
    return NULL;
}

static double begin_row(struct av_variants_state *s, bool dq)
{
    enum { BEGIN = 2000 };
    struct av_variant_row *row = next_row(s, dq);
    if (row == NULL) {
        return 0;
    }
    av_variants_measure_begin(s, &s->table, &s->result.params, &row->of,
                              (struct av_variants_work){ .dq = dq,
                                                         .queries = s->result.table.queries,
                                                         .out = &row->measure,
                                                         .state = &row->state,
                                                         .why = row->why });
    return BEGIN;
}

static double run_row(struct av_variants_state *s)
{
    return begin_row(s, false);
}

static double run_row_dq(struct av_variants_state *s)
{
    return begin_row(s, true);
}

static double run_curves(struct av_variants_state *s)
{
    return av_variants_curves_run(s, false);
}

static double run_curves_dq(struct av_variants_state *s)
{
    return av_variants_curves_run(s, true);
}

/* In the order of their urgency: from the top, the first of what is computed that
 * has a part left. */
static const struct {
    double (*run)(struct av_variants_state *s);
    unsigned of;
} agenda[] = {
    { run_begun, AV_STUDY_ALL },
    { run_head, AV_VARIANTS_TABLE | AV_VARIANTS_PAIR },
    { run_row, AV_VARIANTS_TABLE | AV_VARIANTS_PAIR },
    { av_variants_pair_run, AV_VARIANTS_PAIR },
    { run_row_dq, AV_VARIANTS_TABLE | AV_VARIANTS_PAIR },
    { run_curves, AV_VARIANTS_CURVES },
    { run_curves_dq, AV_VARIANTS_CURVES },
};

static double run_next(struct av_variants_state *s)
{
    double cost = 0;
    for (size_t i = 0; i < sizeof agenda / sizeof agenda[0] && !(cost > 0); i++) {
        cost = (agenda[i].of & s->parts) != 0 ? agenda[i].run(s) : 0;
    }
    return cost;
}

static void limit(void *state, unsigned parts)
{
    struct av_variants_state *s = state;
    s->parts = parts;
}

static bool step(void *state)
{
    struct av_variants_state *s = state;
    double cost = run_next(s);
    double spent = cost;
    while (cost > 0 && spent < AV_VARIANTS_UNIT) {
        cost = run_next(s);
        spent += cost;
    }
    return spent > 0;
}

/* ---- how far it is ---------------------------------------------------------- */

struct count {
    double done, all;
};

/* A measure without dq is a quarter of one. */
static void count_state(struct count *n, enum av_variant_state state, const struct av_variant_measure *m)
{
    n->all += state == AV_VARIANT_WAITING || state == AV_VARIANT_MEASURED;
    n->done += state != AV_VARIANT_MEASURED ? 0 : m->has_dq ? 1 : 0.25;
}

static void count_table(struct count *n, const struct av_variants *r)
{
    for (size_t i = 0; i < r->table.count; i++) {
        count_state(n, r->table.rows[i].state, &r->table.rows[i].measure);
    }
}

/* Their weights, and, unless the table is counted, their rows of it. */
static void count_pair(struct count *n, const struct av_variants *r, bool rows)
{
    for (int side = 0; side < AV_VARIANT_SIDES; side++) {
        size_t at = side == AV_VARIANT_NOW ? r->table.now : r->table.compare;
        const struct av_variant_row *row = &r->table.rows[at];
        bool asked = r->pair.weights[side] != NULL && row->state != AV_VARIANT_REFUSED;
        n->all += asked;
        n->done += asked ? (double)r->pair.done[side] / (double)r->pair.n_q : 0;
        if (rows) {
            count_state(n, row->state, &row->measure);
        }
    }
}

static void count_curves(struct count *n, const struct av_variants *r)
{
    for (size_t i = 0; i < r->curves.count; i++) {
        for (size_t j = 0; j < r->curves.points; j++) {
            count_state(n, r->curves.curves[i].state[j], &r->curves.curves[i].points[j]);
        }
    }
}

static double progress(const void *state)
{
    const struct av_variants_state *s = state;
    struct count n = { 0, 0 };
    bool table = (s->parts & AV_VARIANTS_TABLE) != 0;
    if (table) {
        count_table(&n, &s->result);
    }
    if ((s->parts & AV_VARIANTS_PAIR) != 0) {
        count_pair(&n, &s->result, !table);
    }
    if ((s->parts & AV_VARIANTS_CURVES) != 0) {
        count_curves(&n, &s->result);
    }
    return n.all > 0 ? n.done / n.all : 1;
}

/* ---- beginning, and what still holds ----------------------------------------- */

static const char *const of_entries[] = { "n_q",  "n_k",  "d_k",  "q_std", "k_std", "q_mean", "k_mean",
                                          "corr", "dist", "seed", "head",  "layer", NULL };
static const char *const of_mask[] = { "mask", NULL };
static const char *const of_rows[] = { "scale",      "exponent", "temperature", "offset",      "key",
                                       "key_offset", "mask",     "dtype",       "scale_order", "softmax_f32",
                                       "smooth_k",   "n_head",   NULL };

bool av_variants_owned_differ(av_variant_value value, const struct av_params *was, const struct av_params *now)
{
    size_t count;
    const struct av_param *table = av_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        bool owned = (table[i].flags & AV_PARAM_OWNED) != 0 && av_variant_owns(value, table[i].name);
        if (owned && av_param_differs(&table[i], was, now)) {
            return true;
        }
    }
    return false;
}

/* What the i-th row of the table is of. The last two are of values that no entry
 * has; false: they are not needed. */
static bool subject(struct av_variant_subject *of, const struct av_params *p, size_t i)
{
    size_t entries = av_variant_entries();
    memset(of, 0, sizeof *of);
    if (i < entries) {
        struct av_variant_entry entry = av_variant_entry(i);
        *of = (struct av_variant_subject){ .value = entry.value, .preset = entry.preset };
        snprintf(of->name, sizeof of->name, "%s", entry.name);
        return p->variants == 0 || (p->variants >> i & 1) != 0;
    }
    of->value = i == entries ? p->variant : p->compare;
    av_variant_format(of->value, of->name);
    return true;
}

/* Is a row of this value, with these parameters? */
static bool is_of(const struct av_variant_subject *of, av_variant_value value, const struct av_params *p)
{
    struct av_params own = av_variant_params_of(of, p);
    return of->value == value && !av_variants_owned_differ(value, &own, p);
}

/* The row that is of a value: an entry without a preset, else with one, else of
 * the last two the first. */
static size_t row_of(const struct av_variant_table *t, av_variant_value value, const struct av_params *p)
{
    size_t found = t->count;
    for (size_t i = 0; i < t->count; i++) {
        const struct av_variant_subject *of = &t->rows[i].of;
        bool plain = i < av_variant_entries() && of->preset == NULL;
        if (is_of(of, value, p) && (plain || found == t->count)) {
            found = i;
        }
    }
    return found;
}

/* Asks for a row, or says why it cannot be had. */
static void ask(struct av_variant_row *row, const struct av_params *p)
{
    struct av_error e = { "" };
    if (row->state == AV_VARIANT_ABSENT) {
        row->state = AV_VARIANT_WAITING;
    }
    if (av_variant_check(row->of.value, p, &e) != AV_OK) {
        const char *colon = strstr(e.text, ": ");
        snprintf(row->why, sizeof row->why, "%s", colon != NULL ? colon + 2 : e.text);
        row->state = AV_VARIANT_REFUSED;
    }
}

/* Rows that are of the same as before keep what is measured, unless all is stale
 * or a parameter of theirs has changed. */
static void begin_table(struct av_variants_state *s, bool all, const struct av_params *was)
{
    struct av_variant_table *t = &s->result.table;
    const struct av_params *p = &s->result.params;
    size_t entries = av_variant_entries();
    bool wanted[AV_VARIANT_ROWS_MAX] = { false };
    t->count = entries + 2;
    for (size_t i = 0; i < t->count; i++) {
        struct av_variant_row *row = &t->rows[i];
        struct av_variant_subject of;
        wanted[i] = subject(&of, p, i) && i < entries;
        bool holds = !all && row->of.value == of.value && !av_variants_owned_differ(of.value, was, p);
        row->of = of;
        row->state = holds && row->state == AV_VARIANT_MEASURED ? AV_VARIANT_MEASURED : AV_VARIANT_ABSENT;
    }
    t->now = row_of(t, p->variant, p);
    t->compare = row_of(t, p->compare, p);
    wanted[t->now] = wanted[t->compare] = true;
    for (size_t i = 0; i < t->count; i++) {
        t->rows[i].now = i == t->now || (i < entries && is_of(&t->rows[i].of, p->variant, p));
        if (wanted[i]) {
            ask(&t->rows[i], p);
        } else {
            t->rows[i].state = AV_VARIANT_ABSENT;
        }
    }
}

/* What is there: of files their sizes, and no logits given by hand. */
static struct av_params within(const struct av_variants_state *s, const struct av_params *asked)
{
    struct av_params p = *asked;
    p.logits.n = 0;
    if (s->source != NULL) {
        av_params_from_source(&p, s->source);
    }
    return p;
}

/* How many queries are measured. */
static size_t queries(const struct av_params *p)
{
    size_t most = (size_t)(AV_VARIANT_MEASURED_PAIRS / p->n_k);
    most = most > 0 ? most : 1;
    return (size_t)p->n_q < most ? (size_t)p->n_q : most;
}

static enum av_status make_memory(struct av_variants_state *s, const struct av_params *p, struct av_error *e)
{
    enum { PAIRS_LEAST = 1 << 15 }; /* so that many short rows go at once */
    size_t n_q = (size_t)p->n_q, n_k = (size_t)p->n_k;
    size_t rows = queries(p);
    rows = rows > AV_VARIANT_CURVE_QUERIES ? rows : AV_VARIANT_CURVE_QUERIES;
    enum av_status status = av_variants_rows_make(&s->rows, rows, n_k > PAIRS_LEAST ? n_k : PAIRS_LEAST, e);
    if (status == AV_OK) {
        status = av_variants_head_make(&s->table, n_q, n_k, (size_t)p->d_k, s->source == NULL, e);
    }
    if (status == AV_OK) {
        av_variants_pair_make(s, n_q, n_k);
    }
    return status;
}

/* Those of the source, unless they are there. */
static enum av_status take_entries(struct av_variants_state *s, const struct av_params *p, bool others,
                                   struct av_error *e)
{
    if (s->source == NULL || !others) {
        return AV_OK;
    }
    av_loaded_head_free(&s->loaded);
    return av_source_load(&s->loaded, s->source, (size_t)p->layer, (size_t)p->head, e);
}

static enum av_status begin(void *state, const struct av_params *asked, struct av_error *e)
{
    struct av_variants_state *s = state;
    struct av_variants *r = &s->result;
    const struct av_params was = r->params;
    const struct av_params now = within(s, asked);
    const bool first = !s->begun;
    const bool entries = first || av_params_differ(of_entries, &was, &now);
    const bool rows = entries || av_params_differ(of_rows, &was, &now);
    s->begun = false;
    s->work.on = false;
    enum av_status status = take_entries(s, &now, entries, e);
    if (status == AV_OK) {
        status = make_memory(s, &now, e);
    }
    if (status != AV_OK) {
        return status;
    }
    if (s->source != NULL) {
        s->table.q = s->loaded.q;
        s->table.k = s->loaded.k;
    }
    r->params = now;
    r->from_files = s->source != NULL;
    r->table.queries = queries(&now);
    if (entries) {
        s->table.drawn = 0;
        av_variants_head_cut(&s->table, (size_t)now.n_q, (size_t)now.n_k, (size_t)now.d_k);
    } else if (av_params_differ(of_mask, &was, &now)) {
        av_variants_head_uncount(&s->table);
    }
    begin_table(s, rows, &was);
    av_variants_pair_begin(s, rows, &was);
    av_variants_curves_begin(s, first, &was);
    s->sides.running = -1;
    s->begun = true;
    return AV_OK;
}

/* ---- the study --------------------------------------------------------------- */

static void close_state(void *state)
{
    struct av_variants_state *s = state;
    av_variants_head_free(&s->table);
    av_variants_head_free(&s->curve);
    av_variants_rows_free(&s->rows);
    av_loaded_head_free(&s->loaded);
    av_variants_pair_free(s);
    av_theory_free(s->theory);
    av_attend_free(s->attend);
    av_free(s->scores_scratch);
    av_free(s);
}

static enum av_status open_state(void **state, const struct av_kernels *kernels, struct av_error *e)
{
    struct av_variants_state *s = av_alloc(1, sizeof *s);
    if (s == NULL) {
        return av_fail_nomem(e, "variants");
    }
    s->kernels = kernels;
    s->parts = AV_STUDY_ALL;
    s->scores_scratch = av_alloc(1, AV_SCORES_SCRATCH);
    enum av_status status = s->scores_scratch == NULL ? av_fail_nomem(e, "variants") : av_theory_new(&s->theory, e);
    if (status == AV_OK) {
        status = av_attend_new(&s->attend, kernels, e);
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
    struct av_variants_state *s = state;
    s->source = source;
}

static const void *result(const void *state)
{
    return &((const struct av_variants_state *)state)->result;
}

static const char *const listens[] = { "n_head",  "head",     "layer",      AV_OF_ENTRIES, AV_OF_WEIGHTS,
                                       "compare", "variants", "curve_over", NULL };

const struct av_study av_study_variants = {
    .name = "variants",
    .listens = listens,
    .open = open_state,
    .close = close_state,
    .use_source = use_source,
    .of_entries = true,
    .limit = limit,
    .begin = begin,
    .step = step,
    .progress = progress,
    .result = result,
};
