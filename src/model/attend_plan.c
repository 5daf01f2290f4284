/* attend_plan.c - from parameters and a head to multipliers and keys: normalised, averaged, hashed. */
#include "attend_state.h"

#include "attnviz/mem.h"
#include "attnviz/snapshot.h"

#include <math.h>
#include <string.h>

void av_attend_plan_free(struct av_attend_plan *plan)
{
    av_free(plan->keys_memory);
    av_free(plan->buckets);
    for (size_t h = 0; h < AV_HALVES; h++) {
        av_imitation_free(plan->imitation[h]);
    }
    memset(plan, 0, sizeof *plan);
}

/* ---- Multipliers ------------------------------------------------------------------ */

static bool multiplies(av_variant_value value)
{
    return (av_variant_flags(value) & AV_VARIANT_MULTIPLIES) != 0;
}

double av_attend_alpha(const struct av_params *p, size_t d, size_t n_k)
{
    const struct av_scale_at at = { .d = d, .n_k = n_k };
    if (!p->scale) {
        return 1;
    }
    for (enum av_variant_group g = AV_GROUP_SCALE; g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant_hooks *hooks = av_variant_hooks_of(p->variant, g);
        if (hooks->multiplier != NULL && !(g == AV_GROUP_SCALE && multiplies(p->variant))) {
            return hooks->multiplier(p, &at);
        }
    }
    return pow((double)d, -p->exponent);
}

/* The fewest keys that a row sees, of those that see any. */
static size_t least_keys(const struct av_params *p, size_t n_q, size_t n_k)
{
    const struct av_variant_hooks *pattern = av_variant_hooks_of(p->variant, AV_GROUP_PATTERN);
    const size_t columns = pattern->averages != NULL ? pattern->averages(p) : n_k;
    const size_t first = av_row_length((enum av_mask)p->mask, 0, n_q, n_k);
    const bool some_averages = columns < n_k && first < n_k; /* those that are wholly among the first keys */
    return pattern->hides || first == 0 || some_averages ? 1 : first < columns ? first : columns;
}

/* Every factor by rows rises or falls with keys and with position: where it is
 * the same at both ends it is the same between them. */
bool av_attend_factor(double *factor, const struct av_params *p, size_t n_q, size_t n_k)
{
    *factor = 1;
    if (!multiplies(p->variant)) {
        return true;
    }
    const struct av_variant_hooks *scale = av_variant_hooks_of(p->variant, AV_GROUP_SCALE);
    const struct av_variant_hooks *pattern = av_variant_hooks_of(p->variant, AV_GROUP_PATTERN);
    const size_t most = pattern->averages != NULL ? pattern->averages(p) : n_k;
    const struct av_scale_at first = { .keys = least_keys(p, n_q, n_k), .position = (int64_t)n_k - (int64_t)n_q };
    const struct av_scale_at last = { .keys = most, .position = (int64_t)n_k - 1 };
    const double low = scale->multiplier(p, &first), high = scale->multiplier(p, &last);
    if (low < high || low > high) {
        return false;
    }
    *factor = high;
    return true;
}

static void plan_multiplier(struct av_attend_plan *plan, double alpha)
{
    const struct av_params *p = &plan->p;
    const struct av_attend_head *head = &plan->head;
    double m = head->by_hand ? 1 : isnan(alpha) ? av_attend_alpha(p, head->d, head->n_k) : alpha;
    double factor;
    bool common = av_attend_factor(&factor, p, head->n_q, head->n_k);
    plan->row_multiplier = common ? NULL : av_variant_hooks_of(p->variant, AV_GROUP_SCALE)->multiplier;
    plan->multiplier = m * factor;
}

/* Everything but the keys. */
static void plan_rows(struct av_attend_plan *plan, const struct av_params *p, const struct av_attend_head *head,
                      double alpha)
{
    plan->p = *p;
    plan->head = *head;
    plan->p.variant = head->by_hand ? av_variant_on_logits(p->variant) : p->variant;
    av_variant_value value = plan->p.variant;
    plan->normalise = av_variant_hooks_of(value, AV_GROUP_NORMALISE);
    plan->bend = av_variant_hooks_of(value, AV_GROUP_BEND);
    plan->pattern = av_variant_hooks_of(value, AV_GROUP_PATTERN);
    plan_multiplier(plan, alpha);
    plan->eps = plan->normalise->eps != NULL ? plan->normalise->eps(p) : 0;
    plan->halves = plan->bend->subtracted != NULL ? 2 : 1;
    plan->half_d = head->d / plan->halves;
    plan->share[0] = 1;
    plan->share[1] = plan->halves == 2 ? -plan->bend->subtracted(p) : 0;
    plan->imitated = p->dtype != AV_DTYPE_F64;
    plan->left_out = plan->imitated || (av_variant_flags(value) & AV_VARIANT_SHIFTS) != 0 ? 0 : p->offset;
    plan->score_mean = 0;
    plan->score_std = 1;
    if (plan->normalise->scores == AV_SCORES_BY_HEAD) {
        const struct av_moments *m = head->score_moments;
        plan->score_mean = m->mean;
        plan->score_std = hypot(sqrt(m->m2 / (double)m->count), sqrt(plan->eps));
    }
    plan->own_keys =
        plan->normalise->entries != NULL || plan->pattern->buckets != NULL || plan->pattern->averages != NULL;
    plan->own_scores = plan->own_keys || plan->halves > 1 || head->scores == NULL;
    plan->columns = plan->pattern->averages != NULL ? plan->pattern->averages(p) : head->n_k;
}

/* ---- Keys --------------------------------------------------------------------------- */

void av_attend_load(double *x, const struct av_entries *e, size_t i, size_t d)
{
    const size_t at = i * e->pitch;
    for (size_t c = 0; c < d; c++) {
        x[c] = e->f32 != NULL ? (double)e->f32[at + c] : e->f64[at + c];
    }
}

struct av_entries av_attend_half(const struct av_attend_plan *plan, struct av_entries e, size_t row, size_t half)
{
    const size_t at = row * e.pitch + half * plan->half_d;
    return (struct av_entries){ e.f32 != NULL ? e.f32 + at : NULL, e.f64 != NULL ? e.f64 + at : NULL, e.pitch };
}

/* The first key of an average, of n keys into `averages`. */
static size_t first_of(size_t average, size_t averages, size_t n)
{
    return average * n / averages;
}

/* Means of keys (of one each, if there are no averages), which are normalised
 * first; the keys of lsh are normalised queries, of length 1. row [d]: scratch. */
static void make_keys(struct av_attend_plan *plan, double *row)
{
    const size_t d = plan->head.d, n = plan->head.n_k;
    const bool shared = plan->pattern->buckets != NULL;
    const struct av_entries *from = shared ? &plan->head.q : &plan->head.k;
    for (size_t b = 0; b < plan->columns; b++) {
        const size_t first = first_of(b, plan->columns, n), last = first_of(b + 1, plan->columns, n);
        double *key = plan->keys_memory + b * d;
        memset(key, 0, d * sizeof *key);
        for (size_t j = first; j < last; j++) {
            av_attend_load(row, from, j, d);
            if (plan->normalise->entries != NULL) {
                plan->normalise->entries->forward(row, row, d, plan->eps);
            }
            if (shared) {
                av_normalise_l2.forward(row, row, d, 0);
            }
            for (size_t c = 0; c < d; c++) {
                key[c] += row[c];
            }
        }
        for (size_t c = 0; c < d; c++) {
            key[c] /= (double)(last - first);
        }
    }
}

/* Makes room for `size` numbers, whatever they were. */
static bool make_room(void **memory, size_t *room, size_t size, size_t of)
{
    if (*room < size) {
        void *fresh = av_alloc(size, of);
        if (fresh == NULL) {
            return false;
        }
        av_free(*memory);
        *memory = fresh;
        *room = size;
    }
    return true;
}

static enum av_status plan_keys(struct av_attend_plan *plan, struct av_error *e)
{
    const size_t d = plan->head.d;
    plan->k = plan->head.k;
    if (!plan->own_keys) {
        return AV_OK;
    }
    void *memory = plan->keys_memory;
    bool room = make_room(&memory, &plan->keys_size, (plan->columns + 1) * d, sizeof *plan->keys_memory);
    plan->keys_memory = memory;
    if (!room) {
        return av_fail_nomem(e, "keys of attention");
    }
    make_keys(plan, plan->keys_memory + plan->columns * d);
    plan->k = (struct av_entries){ .f64 = plan->keys_memory, .pitch = d };
    return AV_OK;
}

/* ---- Buckets ---------------------------------------------------------------------------- */

enum { TENSOR_ROTATION = 128, ROTATIONS = 512 /* of a round, at most */ };

/* The place of the largest of [x, -x], the first of equals. */
static uint16_t bucket_of(const double *x, size_t n)
{
    size_t best = 0;
    bool negative = false;
    for (size_t b = 0; b < n; b++) {
        if (fabs(x[b]) > fabs(x[best])) {
            best = b;
        }
    }
    negative = x[best] < 0;
    return (uint16_t)(best + (negative ? n : 0));
}

/* One round of hashing all keys, by `half` directions. */
static void hash_round(struct av_attend_plan *plan, const struct av_kernels *kernels, size_t round, float *directions,
                       double *products, void *scores_scratch)
{
    const size_t d = plan->head.d, n = plan->head.n_k, half = plan->pattern->buckets(&plan->p) / 2;
    for (size_t b = 0; b < half; b++) {
        const struct av_stream stream = { plan->p.seed, TENSOR_ROTATION, (uint32_t)(ROTATIONS * round + b) };
        kernels->draw(directions + b * d, 0, d, AV_DIST_NORMAL, stream);
    }
    const struct av_entries to = { .f32 = directions, .pitch = d };
    const struct av_block block = { 0, n, 0, half, 0, d };
    kernels->scores(products, half, &plan->k, &to, &block, scores_scratch);
    for (size_t j = 0; j < n; j++) {
        plan->buckets[round * n + j] = bucket_of(products + j * half, half);
    }
}

static enum av_status plan_buckets(struct av_attend_plan *plan, const struct av_kernels *kernels, void *scores_scratch,
                                   struct av_error *e)
{
    if (plan->pattern->buckets == NULL) {
        return AV_OK;
    }
    const size_t n = plan->head.n_k, d = plan->head.d, rounds = (size_t)plan->p.of.lsh_rounds;
    const size_t half = plan->pattern->buckets(&plan->p) / 2;
    void *buckets = plan->buckets;
    bool room = make_room(&buckets, &plan->buckets_size, rounds * n, sizeof *plan->buckets);
    plan->buckets = buckets;
    float *directions = av_alloc(half * d, sizeof *directions);
    double *products = av_alloc(half * n, sizeof *products);
    enum av_status s = room && directions != NULL && products != NULL ? AV_OK : av_fail_nomem(e, "buckets of keys");
    if (s == AV_OK) {
        memset(plan->buckets, 0, rounds * n * sizeof *plan->buckets);
        for (size_t r = 0; r < rounds && half > 0; r++) { /* one bucket: there is nothing to ask */
            hash_round(plan, kernels, r, directions, products, scores_scratch);
        }
    }
    av_free(directions);
    av_free(products);
    return s;
}

/* ---- Narrower arithmetic ------------------------------------------------------------------- */

static enum av_status plan_imitation(struct av_attend_plan *plan, struct av_error *e)
{
    enum av_status s = AV_OK;
    for (size_t h = 0; h < plan->halves && plan->imitated && s == AV_OK; h++) {
        struct av_imitation **m = &plan->imitation[h];
        s = *m == NULL ? av_imitation_new(m, e) : AV_OK;
        if (s == AV_OK) {
            struct av_entries k = plan->head.by_hand ? plan->k : av_attend_half(plan, plan->k, 0, h);
            s = av_imitation_begin(*m, &plan->p, &k, plan->head.by_hand ? 0 : plan->columns, plan->half_d, e);
        }
    }
    return s;
}

enum av_status av_attend_plan_make(struct av_attend_plan *plan, const struct av_kernels *kernels, void *scores_scratch,
                                   const struct av_params *p, const struct av_attend_head *head, double alpha,
                                   struct av_error *e)
{
    plan_rows(plan, p, head, alpha);
    enum av_status s = plan_keys(plan, e);
    s = s == AV_OK ? plan_buckets(plan, kernels, scores_scratch, e) : s;
    return s == AV_OK ? plan_imitation(plan, e) : s;
}
