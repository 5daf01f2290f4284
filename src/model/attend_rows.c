/* attend_rows.c - rows of queries to logits, weights and statistics. */
#include "attend_state.h"
#include "attnviz/snapshot.h"

#include <math.h>
#include <string.h>

static const double SELF_LOGIT = -5e4; /* of lsh: of a query's own key */

/* ---- Scores of a portion --------------------------------------------------------- */

/* Queries [from, from + count), normalised if the variant has it so; count of
 * them from row 0 on. */
static struct av_entries portion_queries(struct av_attend *a, size_t from, size_t count)
{
    const struct av_attend_plan *plan = &a->now;
    const struct av_normaliser *normaliser = plan->normalise->entries;
    const size_t d = plan->head.d;
    if (normaliser == NULL) {
        const struct av_entries *q = &plan->head.q;
        const size_t at = from * q->pitch;
        return (struct av_entries){ q->f32 != NULL ? q->f32 + at : NULL, q->f64 != NULL ? q->f64 + at : NULL,
                                    q->pitch };
    }
    for (size_t r = 0; r < count; r++) {
        double *row = a->work.q + r * d;
        av_attend_load(row, &plan->head.q, from + r, d);
        normaliser->forward(row, row, d, plan->eps);
    }
    return (struct av_entries){ .f64 = a->work.q, .pitch = d };
}

void av_attend_scores(struct av_attend *a, const struct av_entries *q, size_t count)
{
    const struct av_attend_plan *plan = &a->now;
    for (size_t h = 0; h < plan->halves; h++) {
        const struct av_entries half_q = av_attend_half(plan, *q, 0, h), half_k = av_attend_half(plan, plan->k, 0, h);
        const struct av_block block = { 0, count, 0, plan->columns, 0, plan->half_d };
        a->kernels->scores(a->work.scores[h], a->work.n_k, &half_q, &half_k, &block, a->scores_scratch);
    }
}

/* ---- Which keys a row sees -------------------------------------------------------- */

static int64_t position_of(const struct av_attend_head *head, size_t query)
{
    return (int64_t)query + (int64_t)head->n_k - (int64_t)head->n_q;
}

/* Keys that the mask leaves: the first so many; of averages those that are
 * wholly among them, average c - 1 ending before key floor(c n_k / averages). */
static size_t reach(const struct av_attend_plan *plan, size_t query)
{
    const size_t len = av_row_length((enum av_mask)plan->p.mask, query, plan->head.n_q, plan->head.n_k);
    return ((len + 1) * plan->columns - 1) / plan->head.n_k;
}

/* The scores of a row that the head brings along. */
static const double *head_scores(const struct av_attend_head *head, size_t query)
{
    return head->scores + (query - head->scores_from) * head->n_k;
}

/* A key whose given logit is -infinity is masked. */
static void hide_masked(double *add, const double *logits, size_t len)
{
    for (size_t j = 0; j < len; j++) {
        add[j] = logits[j] > -(double)INFINITY || isnan(logits[j]) ? add[j] : -(double)INFINITY;
    }
}

/* work.add [len]: what is added to the logits of a row before temperature,
 * -infinity where it does not see the key. */
static void add_biases(struct av_attend *a, size_t query, size_t len)
{
    const struct av_attend_plan *plan = &a->now;
    const struct av_pattern_row at = { query, position_of(&plan->head, query), plan->buckets, plan->head.n_k };
    double *add = a->work.add;
    for (size_t j = 0; j < len; j++) {
        add[j] = plan->p.offset - plan->left_out;
    }
    if ((size_t)plan->p.key < len) {
        add[plan->p.key] += plan->p.key_offset;
    }
    if (plan->pattern->pattern != NULL) {
        plan->pattern->pattern(add, len, &plan->p, &at);
    }
    if (plan->head.by_hand) {
        hide_masked(add, head_scores(&plan->head, query), len);
    }
}

size_t av_attend_constant(const struct av_attend *a, size_t query)
{
    return a->now.pattern->buckets != NULL ? query : SIZE_MAX;
}

/* The keys that a row sees, and its multiplier. */
static void find_keys(struct av_attend *a, struct av_attend_row *row, size_t len)
{
    const struct av_attend_plan *plan = &a->now;
    const size_t constant = av_attend_constant(a, row->query);
    row->n = 0;
    row->self = SIZE_MAX;
    for (size_t j = 0; j < len; j++) {
        row->keys[row->n] = j;
        row->self = j == constant ? row->n : row->self;
        row->n += a->work.add[j] > -(double)INFINITY;
    }
    const struct av_scale_at at = { plan->head.d, plan->head.n_k, row->n, position_of(&plan->head, row->query) };
    row->multiplier = plan->multiplier;
    if (plan->row_multiplier != NULL && row->n > 0) {
        row->multiplier *= plan->row_multiplier(&plan->p, &at);
    }
}

/* x [len] becomes that of the keys seen, x [n]. */
static void gather(double *x, const struct av_attend_row *row)
{
    for (size_t j = 0; j < row->n; j++) {
        x[j] = x[row->keys[j]];
    }
}

/* ---- Logits ------------------------------------------------------------------------ */

/* s [n] scores of keys seen, normalised in place; what the way back needs. */
static void normalise_scores(const struct av_attend_plan *plan, struct av_attend_part *part, double *s, size_t n)
{
    if (plan->normalise->scores == AV_SCORES_BY_ROW) {
        part->tangent = av_normalise_layernorm.tangent(part->along, s, n, plan->eps);
        av_normalise_layernorm.forward(s, s, n, plan->eps);
    } else if (plan->normalise->scores == AV_SCORES_BY_HEAD) {
        for (size_t t = 0; t < n; t++) {
            s[t] = (s[t] - plan->score_mean) / plan->score_std;
        }
    }
}

/* As the arithmetic that is imitated holds a logit or a weight. */
static double rounded(const struct av_attend_plan *plan, double x)
{
    return plan->imitated ? av_dtype_round(av_imitation_logit_dtype(plan->imitation[0]), x) : x;
}

/* z [n] from scores in z. */
static void scores_to_logits(const struct av_attend *a, const struct av_attend_row *row, double *z)
{
    const struct av_attend_plan *plan = &a->now;
    const double t = plan->p.temperature, factor = row->multiplier / t;
    for (size_t j = 0; j < row->n; j++) {
        const double product = rounded(plan, factor * rounded(plan, z[j]));
        z[j] = rounded(plan, product + rounded(plan, a->work.add[j] / t));
    }
}

/* Logits [0, len) in narrower arithmetic, with what is in work.add; or, if they
 * are to be normalised first, which is done in double, only scores. */
static void imitate(struct av_attend *a, const struct av_attend_row *row, const struct av_entries *q, size_t len,
                    size_t h)
{
    const struct av_attend_plan *plan = &a->now;
    const struct av_entries half = av_attend_half(plan, *q, row->place, h);
    if (plan->normalise->scores == AV_SCORES_RAW) {
        av_imitation_logits(plan->imitation[h], a->work.logits[h], &half, 0, len, row->multiplier, plan->p.temperature,
                            a->work.add);
    } else {
        av_imitation_logits(plan->imitation[h], a->work.logits[h], &half, 0, len, 1, 1, NULL);
    }
}

/* work.logits [len] of a half, as far as they can be made key by key: scores,
 * or logits already? */
static bool by_key(struct av_attend *a, const struct av_attend_row *row, const struct av_entries *q, size_t len,
                   size_t h)
{
    const struct av_attend_plan *plan = &a->now;
    if (plan->imitated && !plan->head.by_hand) {
        imitate(a, row, q, len, h);
        return plan->normalise->scores == AV_SCORES_RAW;
    }
    const double *scores =
        plan->own_scores ? a->work.scores[h] + row->place * a->work.n_k : head_scores(&plan->head, row->query);
    memcpy(a->work.logits[h], scores, len * sizeof *scores);
    return false;
}

static bool all_finite(const double *x, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        if (!isfinite(x[j])) {
            return false;
        }
    }
    return true;
}

/* Can a row of weights be made of these? In narrower arithmetic a number that
 * overflowed to -infinity gives its key a weight of 0, and the others theirs. */
static bool usable(const struct av_attend_plan *plan, const double *z, size_t n)
{
    bool some = false;
    for (size_t j = 0; j < n; j++) {
        bool finite = isfinite(z[j]);
        if (!finite && !(plan->imitated && z[j] < 0)) {
            return false;
        }
        some = some || finite;
    }
    return some;
}

/* Logits of all halves, of the keys seen. Are they, and the scores, usable? */
static bool make_logits(struct av_attend *a, struct av_attend_row *row, const struct av_entries *q, size_t len)
{
    const struct av_attend_plan *plan = &a->now;
    const struct av_attend_work *w = &a->work;
    bool fit = true, done = false;
    for (size_t h = 0; h < plan->halves; h++) {
        done = by_key(a, row, q, len, h);
        gather(w->logits[h], row);
    }
    gather(w->add, row);
    for (size_t h = 0; h < plan->halves; h++) {
        double *z = w->logits[h];
        fit = fit && usable(plan, z, row->n);
        if (!done) {
            normalise_scores(plan, &row->part[h], z, row->n);
            scores_to_logits(a, row, z);
        }
        if (row->self < row->n) {
            z[row->self] = rounded(plan, SELF_LOGIT + w->add[row->self] / plan->p.temperature);
        }
        fit = fit && usable(plan, z, row->n);
    }
    return fit;
}

/* ---- Weights ------------------------------------------------------------------------ */

/* Weights of one half, with form and statistics. Are they finite? */
static bool bend_half(struct av_attend *a, struct av_attend_row *row, size_t h, struct av_rowstats *stats)
{
    const struct av_attend_plan *plan = &a->now;
    const struct av_attend_work *w = &a->work;
    const struct av_variant_hooks *hooks = plan->bend;
    struct av_bend_row bend = { row->n, w->logits[h], w->weights[h], row->part[h].form, w->bend_scratch };
    struct av_bend_params params = { 0 };
    const bool plain = hooks->bend == NULL;
    if (plain && plan->imitated) {
        av_imitation_softmax(plan->imitation[h], bend.w, bend.z, row->n);
        if (!all_finite(bend.w, row->n)) {
            return false;
        }
        av_form_of_weights(&bend.form, bend.w, row->n);
        av_form_stats(stats, &bend);
        return true;
    }
    if (hooks->bend_params != NULL) {
        hooks->bend_params(&params, &plan->p, row->n);
    }
    (plain ? av_bend_softmax : hooks->bend)(&bend, &params, a->kernels, stats);
    if (plan->imitated) {
        for (size_t j = 0; j < row->n; j++) {
            bend.w[j] = rounded(plan, bend.w[j]);
        }
        av_form_stats(stats, &bend);
    }
    return all_finite(bend.w, row->n);
}

static void times(double *x, double factor, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        x[j] *= factor;
    }
}

/* The halves' weights together, in the place of the first one's; J = [J1,
 * -lambda J2], and trace that of J1 - lambda J2. */
static void add_halves(struct av_attend *a, struct av_attend_row *row, struct av_rowstats *first,
                       const struct av_rowstats *second)
{
    const struct av_attend_work *w = &a->work;
    const double share = a->now.share[1];
    struct av_form *f = &row->part[1].form;
    for (size_t j = 0; j < row->n; j++) {
        w->weights[0][j] = rounded(&a->now, w->weights[0][j] + share * w->weights[1][j]);
    }
    double *scaled[] = { f->diag, f->u, f->rest };
    for (size_t i = 0; i < sizeof scaled / sizeof scaled[0]; i++) {
        times(scaled[i], share, row->n);
    }
    const struct av_bend_row both = { row->n, w->logits[0], w->weights[0], row->part[0].form, w->bend_scratch };
    const double fro = hypot(first->jacobian_fro, share * second->jacobian_fro);
    const double trace = first->trace + share * second->trace;
    av_form_stats(first, &both);
    first->jacobian_fro = first->scaled.jacobian_fro = fro;
    first->trace = trace;
    first->scaled.trace = fabs(trace);
}

/* A query's own key of lsh is constant: nothing follows from its logit. */
static void freeze(struct av_form *f, size_t key, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        f->rest[j] += j == key ? -f->diag[key] : f->u[j] * f->v[key];
    }
    f->diag[key] = f->v[key] = 0;
}

/* Weights, forms and statistics of the keys seen. */
static bool make_weights(struct av_attend *a, struct av_attend_row *row, struct av_rowstats *stats)
{
    const struct av_attend_plan *plan = &a->now;
    struct av_rowstats of[AV_HALVES];
    for (size_t h = 0; h < plan->halves; h++) {
        if (!bend_half(a, row, h, &of[h])) {
            return false;
        }
    }
    if (plan->halves > 1) {
        add_halves(a, row, &of[0], &of[1]);
    }
    *stats = of[0];
    for (size_t h = 0; h < plan->halves && row->self < row->n; h++) {
        freeze(&row->part[h].form, row->self, row->n);
    }
    return true;
}

/* ---- Rows ----------------------------------------------------------------------------- */

/* to [n_k] = from at the keys seen, `empty` at all others. */
static void scatter(double *to, const double *from, const struct av_attend_row *row, size_t n_k, double empty)
{
    for (size_t j = 0; j < n_k; j++) {
        to[j] = empty;
    }
    for (size_t j = 0; j < row->n; j++) {
        to[row->keys[j]] = from[j];
    }
}

static double share_nonzero(const double *w, size_t n)
{
    size_t count = 0;
    for (size_t j = 0; j < n; j++) {
        count += w[j] != 0;
    }
    return n > 0 ? (double)count / (double)n : 0;
}

/* What has been found of the row, put where it is wanted, in place `at`. */
static void put_row(struct av_attend *a, const struct av_attend_rows *rows, size_t at, const struct av_attend_row *row,
                    bool valid)
{
    const struct av_attend_plan *plan = &a->now;
    const size_t n_k = plan->head.n_k;
    double *z = a->work.logits[0], *w = a->work.weights[0];
    rows->invalid[at] = !valid;
    for (size_t j = 0; j < row->n; j++) {
        z[j] += plan->left_out / plan->p.temperature;
        w[j] = valid ? w[j] : (double)NAN;
    }
    if (rows->logits != NULL) {
        scatter(rows->logits + at * n_k, z, row, n_k, -(double)INFINITY);
    }
    if (rows->weights != NULL) {
        scatter(rows->weights + at * n_k, w, row, n_k, 0);
    }
    if (rows->multiplier != NULL) {
        rows->multiplier[at] = row->multiplier / plan->p.temperature;
    }
    if (rows->nonzero != NULL) {
        rows->nonzero[at] = valid ? share_nonzero(w, row->n) : 0;
    }
}

static void run_row(struct av_attend *a, const struct av_attend_rows *rows, size_t at, const struct av_entries *q,
                    struct av_attend_row *row)
{
    const struct av_attend_plan *plan = &a->now;
    const size_t len = reach(plan, row->query);
    struct av_rowstats *stats = &rows->rows[at];
    add_biases(a, row->query, len);
    find_keys(a, row, len);
    const bool valid = row->n == 0 || (make_logits(a, row, q, len) && make_weights(a, row, stats));
    put_row(a, rows, at, row, valid);
    if (row->n == 0 || !valid) {
        *stats = (struct av_rowstats){ .keys = row->n };
        row->n = 0;
    } else {
        stats->argmax = row->keys[stats->argmax];
        stats->max_logit += plan->left_out / plan->p.temperature;
    }
    if (rows->d_scores != NULL) {
        rows->d_scores[at] = row->n > 0 ? av_attend_d_scores(a, row) : 0;
    }
}

void av_attend_run(struct av_attend *a, const struct av_attend_rows *rows)
{
    for (size_t from = rows->from; from < rows->to; from += a->work.portion) {
        const size_t left = rows->to - from, count = left < a->work.portion ? left : a->work.portion;
        const struct av_entries q = portion_queries(a, from, count);
        if (a->now.own_scores && !a->now.imitated) {
            av_attend_scores(a, &q, count);
        }
        for (size_t r = 0; r < count; r++) {
            struct av_attend_row *row = &a->work.rows[r];
            row->place = r;
            row->query = from + r;
            run_row(a, rows, from + r - rows->from, &q, row);
        }
        if (rows->dq != NULL) {
            av_attend_dq(a, rows->dq + (from - rows->from), count);
        }
    }
}
