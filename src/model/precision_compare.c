/* precision_compare.c - rows of a narrower dtype against those of f64. */
#include "precision_state.h"

#include "attnviz/imitate.h"
#include "attnviz/variant.h"

#include <math.h>

bool av_precision_compare_begin(struct av_precision_state *s, bool scale, enum av_dtype dtype)
{
    enum av_mask mask = (enum av_mask)s->result.params.mask;
    struct av_precision_cell *cell = &s->result.at[scale][dtype];
    *cell = (struct av_precision_cell){ .weight_error_max = (double)NAN, .weight_error_mean = (double)NAN };
    s->pairs = 0;
    s->error_sum = 0;
    return av_precision_attend(s, scale, AV_DTYPE_F64, mask) && av_precision_attend(s, scale, dtype, mask);
}

/* One row of that arithmetic. */
static bool run_row(struct av_attend *a, size_t i, double *logits, double *weights, struct av_rowstats *stats)
{
    bool invalid = false;
    const struct av_attend_rows rows = {
        .from = i, .to = i + 1, .logits = logits, .weights = weights, .rows = stats, .invalid = &invalid
    };
    av_attend_run(a, &rows);
    return !invalid;
}

/* Is the Jacobian not 0 in truth, be it less than a double can be? */
static bool has_gradient(const struct av_rowstats *row)
{
    return row->jacobian_fro > 0 || row->scaled.jacobian_fro > 0;
}

/* Is a key level with f64's first one or ahead, which f64 puts behind it? */
static bool overtaken(const double *w, const double *exact, size_t n, size_t first)
{
    for (size_t j = 0; j < n; j++) {
        if (exact[j] < exact[first] && w[j] >= w[first]) {
            return true;
        }
    }
    return false;
}

/* Of finite logits: how far they are from those of f64 on average. */
static double common_shift(const double *z, const double *exact, size_t n)
{
    double sum = 0;
    double count = 0;
    for (size_t j = 0; j < n; j++) {
        double difference = z[j] - exact[j];
        if (isfinite(difference)) {
            sum += difference;
            count++;
        }
    }
    return count > 0 ? sum / count : 0;
}

static double logit_error(const double *z, const double *exact, size_t n, double shift)
{
    double most = 0;
    for (size_t j = 0; j < n; j++) {
        if (!isinf(exact[j])) { /* a seen key */
            double error = fabs(z[j] - exact[j] - shift);
            most = isnan(error) ? (double)INFINITY : fmax(most, error);
        }
    }
    return most;
}

/* A row of the narrower dtype; is its Jacobian 0? */
static bool narrow_row(struct av_precision_state *s, size_t i)
{
    struct av_precision_buffers *b = &s->buffers;
    struct av_rowstats stats;
    return run_row(s->dtype, i, b->logits, b->weights, &stats) && stats.jacobian_fro == 0;
}

static bool any_nan(const double *w, const double *exact_logits, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        if (isnan(w[j]) && !isinf(exact_logits[j])) {
            return true;
        }
    }
    return false;
}

static void add_errors(struct av_precision_state *s, struct av_precision_cell *cell)
{
    const struct av_precision_buffers *b = &s->buffers;
    for (size_t j = 0; j < b->n_k; j++) {
        if (!isinf(b->exact_logits[j])) {
            double error = fabs(b->weights[j] - b->exact_weights[j]);
            cell->weight_error_max = fmax(cell->weight_error_max, error); /* that of NaN and a number: the number */
            s->error_sum += error;
            s->pairs++;
        }
    }
    cell->weight_error_mean = s->error_sum / s->pairs;
}

void av_precision_compare(struct av_precision_state *s, bool scale, enum av_dtype dtype, size_t i)
{
    struct av_precision_buffers *b = &s->buffers;
    struct av_precision_cell *cell = &s->result.at[scale][dtype];
    struct av_rowstats exact;
    bool valid = run_row(s->exact, i, b->exact_logits, b->exact_weights, &exact);
    if (!valid || exact.keys < 2) {
        return;
    }
    bool flat = narrow_row(s, i);
    cell->rows++;
    double shift = s->result.params.smooth_k ? common_shift(b->logits, b->exact_logits, b->n_k) : 0;
    cell->logit_error_max = fmax(cell->logit_error_max, logit_error(b->logits, b->exact_logits, b->n_k, shift));
    if (any_nan(b->weights, b->exact_logits, b->n_k)) {
        cell->nan_rows++;
        return;
    }
    cell->argmax_lost += overtaken(b->weights, b->exact_weights, b->n_k, exact.argmax);
    cell->dead_rows += flat && has_gradient(&exact);
    add_errors(s, cell);
}

void av_precision_compare_end(struct av_precision_state *s, bool scale, enum av_dtype dtype)
{
    s->result.at[scale][dtype].whole = true;
}
