/* variants_curves.c - a few variants over the number of keys, or over d_k. */
#include "variants_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { N_FIRST = 16, COARSEST = 8 };

/* ---- Which variants ------------------------------------------------------------- */

/* Those that differ most, when none are chosen. */
static const char *const usual[] = { "softmax", "none", "logn", "ssmax", "qk_l2", "sparsemax", "softpick" };

static bool has(const struct av_variant_curves *c, const struct av_variant_subject *of)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->curves[i].of.value == of->value && c->curves[i].of.preset == of->preset) {
            return true;
        }
    }
    return false;
}

static void add(struct av_variant_curves *c, const struct av_variant_subject *of)
{
    if (has(c, of)) {
        return;
    }
    if (c->count == AV_VARIANT_CURVES_MAX) {
        c->left_out++;
        return;
    }
    c->curves[c->count++].of = *of;
}

static bool is_usual(const char *name)
{
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++) {
        if (strcmp(usual[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* The present one, then the chosen or the usual ones in the table's order. */
static void list(struct av_variant_curves *c, const struct av_variant_table *t, int64_t chosen)
{
    add(c, &t->rows[t->now].of);
    for (size_t i = 0; i < t->count; i++) {
        const struct av_variant_subject *of = &t->rows[i].of;
        bool entry = i < av_variant_entries();
        if (entry && (chosen != 0 ? (chosen >> i & 1) != 0 : is_usual(of->name))) {
            add(c, of);
        }
    }
}

/* ---- Points ------------------------------------------------------------------------ */

/* Powers of two up to `most`, and `have` where that is less. */
static void make_points(struct av_variant_curves *c, size_t first, size_t most, size_t have)
{
    size_t last = have < most ? have : most;
    c->points = 0;
    for (size_t at = first; at < last; at *= 2) {
        c->at[c->points++] = at;
    }
    c->at[c->points++] = last;
}

static void shape_at(const struct av_variant_curves *c, size_t point, size_t *n_q, size_t *n_k, size_t *d)
{
    bool over_n = c->over == AV_CURVE_N_K;
    *n_k = over_n ? c->at[point] : c->n_k;
    *d = over_n ? c->d : c->at[point];
    *n_q = c->n_q < *n_k ? c->n_q : *n_k;
}

/* The parameters at a point: a probed key beyond the last one is not there. */
static struct av_params params_at(const struct av_variants *r, size_t point)
{
    struct av_params p = r->params;
    size_t n_q, n_k, d;
    shape_at(&r->curves, point, &n_q, &n_k, &d);
    p.n_q = (int64_t)n_q;
    p.n_k = (int64_t)n_k;
    p.d_k = (int64_t)d;
    p.mask = AV_MASK_NONE;
    p.query = 0;
    if (p.key >= p.n_k) {
        p.key = 0;
        p.key_offset = 0;
    }
    return p;
}

static void shape(struct av_variants_state *s)
{
    struct av_variants *r = &s->result;
    struct av_variant_curves *c = &r->curves;
    const struct av_params *p = &r->params;
    bool over_n = p->curve_over == AV_CURVE_N_K;
    c->over = (enum av_curve_over)p->curve_over;
    if (over_n) {
        make_points(c, N_FIRST, AV_KEYS_MAX, r->from_files ? (size_t)p->n_k : AV_KEYS_MAX);
    } else {
        make_points(c, 1, AV_DIM_MAX, r->from_files ? (size_t)p->d_k : AV_DIM_MAX);
    }
    size_t last = c->at[c->points - 1];
    c->n_k = over_n ? last : (size_t)p->n_k;
    c->d = over_n ? (size_t)p->d_k : last;
    c->n_q = r->from_files && (size_t)p->n_q < AV_VARIANT_CURVE_QUERIES ? (size_t)p->n_q : AV_VARIANT_CURVE_QUERIES;
}

/* ---- Beginning ------------------------------------------------------------------------ */

/* What entries and all points depend on, besides the rows' own parameters; over
 * n_k not on n_k, over d_k not on d_k, and never on n_q or the mask. */
static const char *const of_both[] = { "curve_over",  "q_std",    "k_std", "q_mean",     "k_mean", "corr",
                                       "dist",        "seed",     "head",  "n_head",     "scale",  "exponent",
                                       "temperature", "offset",   "key",   "key_offset", "dtype",  "scale_order",
                                       "softmax_f32", "smooth_k", NULL };
static const char *const over_n_k[] = { "d_k", NULL };
static const char *const over_d_k[] = { "n_k", NULL };

static bool stale(const struct av_params *was, const struct av_params *now)
{
    return av_params_differ(of_both, was, now) ||
           av_params_differ(now->curve_over == AV_CURVE_N_K ? over_n_k : over_d_k, was, now);
}

/* The curve of the same subject, if it still holds. */
static const struct av_variant_curve *kept(const struct av_variants_state *s, const struct av_variant_subject *of,
                                           const struct av_params *was)
{
    const struct av_variant_curves *before = &s->curves_were;
    for (size_t i = 0; i < before->count; i++) {
        const struct av_variant_subject *old = &before->curves[i].of;
        if (old->value == of->value && old->preset == of->preset &&
            !av_variants_owned_differ(of->value, was, &s->result.params)) {
            return &before->curves[i];
        }
    }
    return NULL;
}

static void begin_curve(const struct av_variants *r, struct av_variant_curve *curve)
{
    for (size_t i = 0; i < r->curves.points; i++) {
        struct av_params p = params_at(r, i);
        bool refused = av_variant_check(curve->of.value, &p, NULL) != AV_OK;
        curve->state[i] = refused ? AV_VARIANT_REFUSED : AV_VARIANT_WAITING;
    }
}

static void make_theory(struct av_variants_state *s)
{
    struct av_variant_curves *c = &s->result.curves;
    const struct av_params *all = &s->result.params;
    c->has_theory = !s->result.from_files && all->dist == AV_DIST_NORMAL && all->corr == 0 && all->q_mean == 0 &&
                    all->key_offset == 0 && all->dtype == AV_DTYPE_F64;
    for (size_t i = 0; i < c->points && c->has_theory; i++) {
        struct av_params p = params_at(&s->result, i);
        struct av_theory_rows rows = { 1, (size_t)p.n_k, (size_t)p.d_k, false };
        struct av_theory_means means;
        double sigma = av_params_alpha(&p) * sqrt((double)p.d_k) * p.q_std * p.k_std / p.temperature;
        c->has_theory = av_theory_means(s->theory, &rows, sigma, &means);
        c->theory[i] = means.entropy;
    }
}

/* The entries that the head is made of: its own, or those of the files, of whose
 * queries evenly spaced ones are taken. */
static bool make_head(struct av_variants_state *s)
{
    const struct av_variants *r = &s->result;
    const struct av_variant_curves *c = &r->curves;
    struct av_variants_head *h = &s->curve;
    if (av_variants_head_make(h, c->n_q, c->n_k, c->d, !r->from_files, NULL) != AV_OK) {
        return false;
    }
    if (r->from_files) {
        h->q = s->table.q;
        h->k = s->table.k;
        h->q.pitch *= (size_t)r->params.n_q / c->n_q;
    }
    return true;
}

void av_variants_curves_begin(struct av_variants_state *s, bool all, const struct av_params *was)
{
    struct av_variants *r = &s->result;
    struct av_variant_curves *c = &r->curves;
    bool anew = all || stale(was, &r->params) || !c->kept;
    s->curves_were = *c;
    memset(c, 0, sizeof *c);
    shape(s);
    list(c, &r->table, r->params.variants);
    c->kept = make_head(s);
    if (anew) {
        s->curve.drawn = 0;
        s->point = AV_VARIANT_POINTS_MAX;
    }
    for (size_t i = 0; i < c->count && c->kept; i++) {
        const struct av_variant_curve *old = anew ? NULL : kept(s, &c->curves[i].of, was);
        if (old != NULL) {
            c->curves[i] = *old;
        } else {
            begin_curve(r, &c->curves[i]);
        }
    }
    make_theory(s);
}

/* ---- Running ------------------------------------------------------------------------------ */

/* The first curve that a point is wanted of. */
static struct av_variant_curve *wanted_at(struct av_variant_curves *c, size_t point, bool dq)
{
    for (size_t i = 0; i < c->count; i++) {
        if (av_variants_wanted(c->curves[i].state[point], &c->curves[i].points[point], dq)) {
            return &c->curves[i];
        }
    }
    return NULL;
}

/* The next point, coarse to fine. */
static struct av_variant_curve *find(struct av_variant_curves *c, bool dq, size_t *point)
{
    for (size_t stride = COARSEST; stride > 0; stride /= 2) {
        for (size_t i = 0; i < c->points; i += stride) {
            struct av_variant_curve *curve = wanted_at(c, i, dq);
            if (curve != NULL) {
                *point = i;
                return curve;
            }
        }
    }
    return NULL;
}

double av_variants_curves_run(struct av_variants_state *s, bool dq)
{
    enum { BEGIN = 2000 };
    struct av_variant_curves *c = &s->result.curves;
    size_t point = 0;
    struct av_variant_curve *curve = c->kept ? find(c, dq, &point) : NULL;
    if (curve == NULL) {
        return 0;
    }
    struct av_params p = params_at(&s->result, point);
    if (s->point != point) {
        av_variants_head_cut(&s->curve, (size_t)p.n_q, (size_t)p.n_k, (size_t)p.d_k);
        s->point = point;
    }
    if (!av_variants_head_ready(&s->curve)) {
        return av_variants_head_run(s, &s->curve, &p);
    }
    av_variants_measure_begin(
        s, &s->curve, &p, &curve->of,
        (struct av_variants_work){
            .dq = dq, .queries = (size_t)p.n_q, .out = &curve->points[point], .state = &curve->state[point] });
    return BEGIN;
}
