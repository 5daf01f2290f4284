/* precision_masks.c - what becomes of finite numbers that stand in for masks. */
#include "precision_state.h"

#include "attnviz/imitate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const av_mask_value_names[AV_MASK_VALUES] = {
    [AV_MASK_1E4] = "-1e4",
    [AV_MASK_1E8] = "-1e8",
    [AV_MASK_1E9] = "-1e9",
    [AV_MASK_MIN] = "finfo.min",
    [AV_MASK_TWICE_MIN] = "2 finfo.min",
};

/* In doubles; twice the least of them is -infinity there too. */
static double mask_value(enum av_mask_value value, enum av_dtype dtype)
{
    static const double values[AV_MASK_VALUES] = { [AV_MASK_1E4] = -1e4, [AV_MASK_1E8] = -1e8, [AV_MASK_1E9] = -1e9 };
    double min = -av_dtype_max(dtype);
    return value == AV_MASK_MIN ? min : value == AV_MASK_TWICE_MIN ? 2 * min : values[value];
}

bool av_precision_masks_begin(struct av_precision_state *s, bool scale, enum av_dtype dtype)
{
    for (int v = 0; v < AV_MASK_VALUES; v++) {
        double held = av_dtype_round(dtype, mask_value((enum av_mask_value)v, dtype));
        s->result.masks[dtype][v] = (struct av_mask_trial){ .held = held };
    }
    return av_precision_attend(s, scale, dtype, AV_MASK_NONE);
}

/* ---- measuring ------------------------------------------------------------------ */

static void add_mask(double *out, const double *z, size_t n, size_t seen, enum av_dtype dtype, double held)
{
    for (size_t j = 0; j < n; j++) {
        out[j] = j < seen ? z[j] : av_dtype_round(dtype, z[j] + held);
    }
}

/* Softmax in the dtype, or in f32 if that is asked for. */
static void softmax(const struct av_precision_state *s, enum av_dtype dtype, double *w, const double *z, size_t n)
{
    bool f32 = s->result.params.softmax_f32 && dtype != AV_DTYPE_F64;
    av_imitate_softmax(w, z, n, f32 ? AV_DTYPE_F32 : dtype, dtype);
}

/* A NaN among weights is in all of them. */
static void try_causal(struct av_precision_state *s, enum av_dtype dtype, struct av_mask_trial *t, size_t seen)
{
    struct av_precision_buffers *b = &s->buffers;
    t->rows++;
    add_mask(b->masked, b->logits, b->n_k, seen, dtype, t->held);
    softmax(s, dtype, b->weights, b->masked, b->n_k);
    if (isnan(b->weights[0])) {
        t->nan_rows++;
        softmax(s, dtype, b->plain, b->logits, seen);
        t->overflown += isnan(b->plain[0]) ? 1 : 0;
        return;
    }
    double leak = 0;
    for (size_t j = seen; j < b->n_k; j++) {
        leak += b->weights[j];
    }
    t->leak = fmax(t->leak, leak);
}

static int compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;
    return (*x > *y) - (*x < *y);
}

/* How many different numbers; sorts them. */
static size_t count_different(double *x, size_t n)
{
    qsort(x, n, sizeof *x, compare);
    size_t count = 1;
    for (size_t j = 1; j < n; j++) {
        count += x[j] > x[j - 1];
    }
    return count;
}

static void try_full(struct av_precision_state *s, enum av_dtype dtype, struct av_mask_trial *t)
{
    struct av_precision_buffers *b = &s->buffers;
    softmax(s, dtype, b->plain, b->logits, b->n_k);
    add_mask(b->masked, b->logits, b->n_k, 0, dtype, t->held);
    softmax(s, dtype, b->weights, b->masked, b->n_k);
    double least = b->weights[0];
    double most = b->weights[0];
    t->full_error = 0;
    for (size_t j = 0; j < b->n_k; j++) {
        double error = fabs(b->weights[j] - b->plain[j]);
        t->full_error = isnan(t->full_error) || error <= t->full_error ? t->full_error : error;
        least = fmin(least, b->weights[j]);
        most = fmax(most, b->weights[j]);
    }
    t->full_spread = most - least;
    t->full_keys = b->n_k;
    t->full_left = count_different(b->masked, b->n_k);
    memcpy(b->masked, b->logits, b->n_k * sizeof *b->masked);
    t->full_logits = count_different(b->masked, b->n_k);
}

void av_precision_masks(struct av_precision_state *s, bool scale, enum av_dtype dtype, size_t i)
{
    (void)scale;
    const struct av_precision_buffers *b = &s->buffers;
    const struct av_params *p = &s->result.params;
    struct av_rowstats stats;
    bool invalid; /* the logits are what they are */
    const struct av_attend_rows rows = {
        .from = i, .to = i + 1, .logits = b->logits, .rows = &stats, .invalid = &invalid
    };
    av_attend_run(s->dtype, &rows);
    size_t seen = av_row_length(AV_MASK_CAUSAL, i, b->n_q, b->n_k);
    size_t selected = (size_t)p->query < b->n_q ? (size_t)p->query : b->n_q - 1;
    for (int v = 0; v < AV_MASK_VALUES; v++) {
        struct av_mask_trial *t = &s->result.masks[dtype][v];
        if (seen > 0 && seen < b->n_k) {
            try_causal(s, dtype, t, seen);
        }
        if (i == selected) {
            try_full(s, dtype, t);
        }
    }
}

void av_precision_masks_end(struct av_precision_state *s, bool scale, enum av_dtype dtype)
{
    (void)scale;
    s->result.masks_whole[dtype] = true;
}
