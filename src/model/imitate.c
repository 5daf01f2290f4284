/* imitate.c - scores, logits and softmax as narrower arithmetic computes them. */
#include "attnviz/imitate.h"

#include "attnviz/mem.h"

#include <math.h>
#include <string.h>

/* Keys side by side, whose sums run together: a few vectors of any machine. */
enum { KEYS = 16 };

/* Memory for so many keys and columns. Products are summed in f32 or, of int8
 * and f64, in double, where whole numbers of that size are exact. */
struct memory {
    size_t groups, d;       /* of KEYS keys */
    bool wide;              /* double, not f32 */
    float *panel_f32;       /* [groups, d, KEYS], one of the two */
    double *panel_f64;      /* the same */
    double *key_scale;      /* [groups, KEYS], of int8 */
    double *row, *mean_key; /* [d] */
    float *row_f32;         /* [d] */
};

struct av_imitation {
    enum av_dtype dtype, logits, softmax; /* what entries, logits and softmax are rounded to */
    enum av_scale_order order;
    size_t n_k;
    struct memory at;
};

/* ---- memory ---------------------------------------------------------------- */

static void memory_free(struct memory *a)
{
    void *all[] = { a->panel_f32, a->panel_f64, a->key_scale, a->row, a->mean_key, a->row_f32 };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        av_free(all[i]);
    }
    memset(a, 0, sizeof *a);
}

static enum av_status memory_make(struct memory *a, size_t groups, size_t d, bool wide, struct av_error *e)
{
    if (a->row != NULL && a->groups == groups && a->d == d && a->wide == wide) {
        return AV_OK;
    }
    struct memory fresh = { .groups = groups, .d = d, .wide = wide };
    size_t key_size = KEYS * (wide ? sizeof *fresh.panel_f64 : sizeof *fresh.panel_f32);
    void *panel = d > 0 && groups > SIZE_MAX / d ? NULL : av_alloc(groups * d, key_size);
    fresh.panel_f32 = wide ? NULL : panel;
    fresh.panel_f64 = wide ? panel : NULL;
    fresh.key_scale = av_alloc(groups, KEYS * sizeof *fresh.key_scale);
    fresh.row = av_alloc(d, sizeof *fresh.row);
    fresh.mean_key = av_alloc(d, sizeof *fresh.mean_key);
    fresh.row_f32 = av_alloc(d, sizeof *fresh.row_f32);
    if (panel == NULL || fresh.key_scale == NULL || fresh.row == NULL || fresh.mean_key == NULL ||
        fresh.row_f32 == NULL) {
        memory_free(&fresh);
        return av_fail_nomem(e, "imitated arithmetic");
    }
    memory_free(a);
    *a = fresh;
    return AV_OK;
}

enum av_status av_imitation_new(struct av_imitation **out, struct av_error *e)
{
    *out = av_alloc(1, sizeof **out);
    return *out != NULL ? AV_OK : av_fail_nomem(e, "imitated arithmetic");
}

void av_imitation_free(struct av_imitation *m)
{
    if (m != NULL) {
        memory_free(&m->at);
        av_free(m);
    }
}

/* ---- keys ------------------------------------------------------------------ */

static void load(double *x, const struct av_entries *e, size_t i, size_t d)
{
    for (size_t c = 0; c < d; c++) {
        x[c] = e->f64 != NULL ? e->f64[i * e->pitch + c] : (double)e->f32[i * e->pitch + c];
    }
}

static void find_mean(double *mean, double *row, const struct av_entries *k, size_t n_k, size_t d)
{
    memset(mean, 0, d * sizeof *mean);
    for (size_t j = 0; j < n_k; j++) {
        load(row, k, j, d);
        for (size_t c = 0; c < d; c++) {
            mean[c] += row[c];
        }
    }
    for (size_t c = 0; c < d; c++) {
        mean[c] /= (double)n_k;
    }
}

/* Entries as the dtype holds them; of int8 whole numbers, and their scale. */
static double hold(const struct av_imitation *m, double *x, size_t d)
{
    if (m->dtype == AV_DTYPE_INT8) {
        return av_dtype_round(AV_DTYPE_F32, av_quantise(x, x, d));
    }
    av_dtype_round_all(m->dtype, x, d);
    return 1;
}

static void put_key(struct memory *a, size_t j)
{
    size_t first = j / KEYS * a->d * KEYS + j % KEYS;
    for (size_t c = 0; c < a->d; c++) {
        if (a->wide) {
            a->panel_f64[first + c * KEYS] = a->row[c];
        } else {
            a->panel_f32[first + c * KEYS] = (float)a->row[c];
        }
    }
}

enum av_status av_imitation_begin(struct av_imitation *m, const struct av_params *p, const struct av_entries *k,
                                  size_t n_k, size_t d, struct av_error *e)
{
    enum av_dtype dtype = (enum av_dtype)p->dtype;
    bool whole = dtype == AV_DTYPE_INT8;
    struct memory *a = &m->at;
    enum av_status status = memory_make(a, (n_k + KEYS - 1) / KEYS, d, whole || dtype == AV_DTYPE_F64, e);
    if (status != AV_OK) {
        return status;
    }
    m->dtype = dtype;
    m->logits = whole ? AV_DTYPE_F32 : dtype;
    m->softmax = whole || (p->softmax_f32 && dtype != AV_DTYPE_F64) ? AV_DTYPE_F32 : dtype;
    m->order = (enum av_scale_order)p->scale_order;
    m->n_k = n_k;
    bool smooth = p->smooth_k && dtype != AV_DTYPE_F64;
    if (smooth) {
        find_mean(a->mean_key, a->row, k, n_k, d);
    }
    for (size_t j = 0; j < n_k; j++) {
        load(a->row, k, j, d);
        for (size_t c = 0; smooth && c < d; c++) {
            a->row[c] -= a->mean_key[c];
        }
        av_dtype_round_all(m->logits, a->row, d);
        a->key_scale[j] = hold(m, a->row, d);
        put_key(a, j);
    }
    return AV_OK;
}

/* ---- a query ---------------------------------------------------------------- */

/* A factor as libraries keep it. */
static double factor(const struct av_imitation *m, double x)
{
    return m->dtype == AV_DTYPE_F64 ? x : av_dtype_round(AV_DTYPE_F32, x);
}

static double prepare_query(struct av_imitation *m, const struct av_entries *q, size_t i, double multiplier)
{
    struct memory *a = &m->at;
    load(a->row, q, i, a->d);
    av_dtype_round_all(m->logits, a->row, a->d);
    if (m->order == AV_SCALE_QUERY) {
        for (size_t c = 0; c < a->d; c++) {
            a->row[c] *= factor(m, multiplier);
        }
        av_dtype_round_all(m->logits, a->row, a->d);
    }
    double scale = hold(m, a->row, a->d);
    for (size_t c = 0; !a->wide && c < a->d; c++) {
        a->row_f32[c] = (float)a->row[c];
    }
    return scale;
}

/* One sum a key, over ascending columns, side by side. */
static void sum_f32(double out[KEYS], const float *panel, const float *q, size_t d)
{
    float sum[KEYS] = { 0 };
    for (size_t c = 0; c < d; c++) {
        for (size_t l = 0; l < KEYS; l++) {
            sum[l] += q[c] * panel[c * KEYS + l];
        }
    }
    for (size_t l = 0; l < KEYS; l++) {
        out[l] = (double)sum[l];
    }
}

static void sum_f64(double out[KEYS], const double *panel, const double *q, size_t d)
{
    double sum[KEYS] = { 0 };
    for (size_t c = 0; c < d; c++) {
        for (size_t l = 0; l < KEYS; l++) {
            sum[l] += q[c] * panel[c * KEYS + l];
        }
    }
    memcpy(out, sum, sizeof sum);
}

void av_imitation_logits(struct av_imitation *m, double *out, const struct av_entries *q, size_t i, size_t len,
                         double multiplier, double temperature, const double *add)
{
    const struct memory *a = &m->at;
    const enum av_dtype logits = m->logits;
    double query_scale = prepare_query(m, q, i, multiplier);
    double times = factor(m, m->order == AV_SCALE_QUERY ? 1 / temperature : multiplier / temperature);
    for (size_t first = 0; first < len; first += KEYS) {
        double sum[KEYS];
        if (a->wide) {
            sum_f64(sum, a->panel_f64 + first * a->d, a->row, a->d);
        } else {
            sum_f32(sum, a->panel_f32 + first * a->d, a->row_f32, a->d);
        }
        for (size_t j = first; j < len && j < first + KEYS; j++) {
            double score = av_dtype_round(logits, sum[j - first]);
            if (m->dtype == AV_DTYPE_INT8) {
                score = av_dtype_round(logits, av_dtype_round(logits, score * query_scale) * a->key_scale[j]);
            }
            out[j] = av_dtype_round(logits, score * times);
            if (add != NULL) {
                double more = av_dtype_round(logits, add[j] / temperature);
                out[j] = isinf(add[j]) ? add[j] : av_dtype_round(logits, out[j] + more);
            }
        }
    }
}

/* ---- softmax ---------------------------------------------------------------- */

void av_imitate_softmax(double *w, const double *z, size_t n, enum av_dtype inside, enum av_dtype outside)
{
    double max = z[0];
    for (size_t j = 1; j < n; j++) {
        max = z[j] > max ? z[j] : max;
    }
    for (size_t j = 0; j < n; j++) {
        w[j] = exp(av_dtype_round(inside, z[j] - max));
    }
    av_dtype_round_all(inside, w, n);
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        sum = av_dtype_round(inside, sum + w[j]);
    }
    for (size_t j = 0; j < n; j++) {
        w[j] /= sum;
    }
    av_dtype_round_all(inside, w, n);
    av_dtype_round_all(outside, w, n);
}

void av_imitation_softmax(const struct av_imitation *m, double *w, const double *z, size_t n)
{
    av_imitate_softmax(w, z, n, m->softmax, m->logits);
}

enum av_dtype av_imitation_logit_dtype(const struct av_imitation *m)
{
    return m->logits;
}
