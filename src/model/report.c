/* report.c - the table of report fields. */
#include "attnviz/report.h"

#include "attnviz/entropy_unit.h"

#include <math.h>
#include <string.h>

/* Defines a getter that reads one expression of the snapshot s. */
#define GETTER(id, expression)                                                                                         \
    static double get_##id(const struct av_snapshot *s)                                                                \
    {                                                                                                                  \
        return (double)(expression);                                                                                   \
    }

/* A moment's value, NaN when nothing was counted. */
static double if_counted(const struct av_moments *m, double value)
{
    return m->count > 0 ? value : (double)NAN;
}

/* The statistics of the selected row, NULL when it has no valid weights. */
static const struct av_rowstats *selected(const struct av_snapshot *s)
{
    size_t i = (size_t)s->params.query;
    return s->invalid[i] || s->rows[i].keys == 0 ? NULL : &s->rows[i];
}

#define QUERY_GETTER(name) GETTER(query_##name, selected(s) != NULL ? (double)selected(s)->name : (double)NAN)
#define QUERY_LOG10_GETTER(name)                                                                                       \
    GETTER(query_log10_##name, selected(s) != NULL ? av_rowstats_log10_##name(selected(s)) : (double)NAN)

GETTER(count, s->score_moments.count)
GETTER(score_mean, if_counted(&s->score_moments, s->score_moments.mean))
GETTER(score_var, av_moments_var(&s->score_moments))
GETTER(score_min, if_counted(&s->score_moments, s->score_moments.min))
GETTER(score_max, if_counted(&s->score_moments, s->score_moments.max))
GETTER(kurtosis, av_moments_excess_kurtosis(&s->score_moments))
GETTER(expected_mean, s->expected_mean)
GETTER(expected_var, s->expected_var)

GETTER(logit_mean, if_counted(&s->now.logits, s->now.logits.mean))
GETTER(logit_std, av_moments_std(&s->now.logits))
GETTER(logit_row_std, s->now.row_std)
GETTER(logit_min, if_counted(&s->now.logits, s->now.logits.min))
GETTER(logit_max, if_counted(&s->now.logits, s->now.logits.max))

GETTER(max_mean, s->now.max_mean)
GETTER(max_median, s->now.max_median)
GETTER(share_9, s->now.share_max_gt_0_9)
GETTER(share_999, s->now.share_max_gt_0_999)
GETTER(entropy_mean, s->now.entropy_mean)
GETTER(entropy_norm, s->now.entropy_norm_mean)
GETTER(effective_keys, s->now.effective_keys_mean)
GETTER(sum_p2, s->now.sum_p2_mean)
GETTER(row_sum_error, s->now.row_sum_error_max)
GETTER(row_sum, s->now.row_sum_mean)
GETTER(nonzero_share, s->now.nonzero_share_mean)
GETTER(without_keys, s->now.rows_without_keys)

GETTER(fro_mean, s->now.jacobian_fro_mean)
GETTER(fro_median, s->now.jacobian_fro_median)
GETTER(trace_mean, s->now.trace_mean)
GETTER(trace_median, s->now.trace_median)
GETTER(d_scores, s->now.d_scores_rms_median)
GETTER(dq_mean, s->now.dq_rms_mean)
GETTER(dq_median, s->now.dq_rms_median)
GETTER(share_dead, s->now.share_fro_lt_1e_3)

GETTER(theory_std, s->theory_std)
GETTER(theory_freezing, s->theory_freezing)
GETTER(theory_entropy, s->theory.entropy)
GETTER(theory_sum_p2, s->theory.sum_p2)
GETTER(theory_trace, s->theory.trace)

GETTER(query_index, s->params.query)
GETTER(query_dq_rms, s->dq_rms != NULL && selected(s) != NULL ? s->dq_rms[s->params.query] : (double)NAN)
QUERY_GETTER(argmax)
QUERY_GETTER(max)
QUERY_GETTER(one_minus_max)
QUERY_LOG10_GETTER(one_minus_max)
QUERY_GETTER(entropy)
QUERY_LOG10_GETTER(entropy)
QUERY_GETTER(trace)
QUERY_LOG10_GETTER(trace)
QUERY_GETTER(jacobian_fro)
QUERY_LOG10_GETTER(jacobian_fro)

/* clang-format off */
static const struct av_field FIELDS[] = {
    { "scores", "count", "pairs", "unmasked pairs of valid rows", get_count, true },
    { "scores", "mean", "", "mean of the scores q.k", get_score_mean, false },
    { "scores", "var", "", "variance of the scores (over N - 1)", get_score_var, false },
    { "scores", "min", "", "smallest score", get_score_min, false },
    { "scores", "max", "", "largest score", get_score_max, false },
    { "scores", "excess_kurtosis", "", "excess kurtosis of the scores", get_kurtosis, false },
    { "scores", "expected_mean", "", "mean that the parameters predict", get_expected_mean, false },
    { "scores", "expected_var", "", "variance that the parameters predict", get_expected_var, false },
    { "logits", "mean", "", "mean of what the softmax gets, or what a variant has in its place", get_logit_mean,
      false },
    { "logits", "std", "", "standard deviation of the logits", get_logit_std, false },
    { "logits", "row_std", "", "the same within a row: a common shift changes no weight", get_logit_row_std, false },
    { "logits", "min", "", "smallest logit", get_logit_min, false },
    { "logits", "max", "", "largest logit", get_logit_max, false },
    { "weights", "max_mean", "", "mean over rows of the largest weight", get_max_mean, false },
    { "weights", "max_median", "", "median over rows of the largest weight", get_max_median, false },
    { "weights", "share_max_gt_0_9", "", "share of rows whose largest weight exceeds 0.9", get_share_9, false },
    { "weights", "share_max_gt_0_999", "", "share of rows whose largest weight exceeds 0.999", get_share_999, false },
    { "weights", "entropy_mean", AV_UNIT_NATS, "mean entropy of a row: of |w| / sum |w| where the variant has no simplex; null where all w are 0",
      get_entropy_mean, false },
    { "weights", "entropy_norm_mean", "", "mean of entropy / ln(keys seen)", get_entropy_norm, false },
    { "weights", "effective_keys_mean", "keys", "mean of exp(entropy)", get_effective_keys, false },
    { "weights", "sum_p2_mean", "", "mean of the sum of squared weights", get_sum_p2, false },
    { "weights", "row_sum_error_max", "", "largest |sum of a row - 1|; null where the variant has no simplex",
      get_row_sum_error, false },
    { "weights", "row_sum_mean", "", "mean sum of a row", get_row_sum, false },
    { "weights", "nonzero_share_mean", "", "mean share of the keys seen whose weight, as stored, is not 0",
      get_nonzero_share, false },
    { "weights", "rows_without_keys", "rows", "rows with every key masked", get_without_keys, true },
    { "gradient", "jacobian_fro_mean", "", "mean Frobenius norm of the Jacobian of weights over logits",
      get_fro_mean, false },
    { "gradient", "jacobian_fro_median", "", "median Frobenius norm of the Jacobian of weights over logits",
      get_fro_median, false },
    { "gradient", "trace_mean", "", "mean trace of the Jacobian: sum p (1 - p) of the softmax", get_trace_mean, false },
    { "gradient", "trace_median", "", "median trace of the Jacobian", get_trace_median, false },
    { "gradient", "d_scores_rms_median", "", "median of |dw/ds|, s the scores: of the softmax alpha / T * jacobian_fro",
      get_d_scores, false },
    { "gradient", "dq_rms_mean", "", "mean RMS gradient of a query under white noise", get_dq_mean, false },
    { "gradient", "dq_rms_median", "", "median RMS gradient of a query under white noise", get_dq_median, false },
    { "gradient", "share_fro_lt_1e_3", "", "share of dead rows: jacobian_fro < 1e-3", get_share_dead, false },
    { "theory", "logit_std", "", "standard deviation of a row's logits in theory", get_theory_std, false },
    { "theory", "freezing_std", "", "sqrt(2 ln n): beyond it few keys take most weight", get_theory_freezing, false },
    { "theory", "entropy_mean", AV_UNIT_NATS, "exact mean entropy of Gaussian logits", get_theory_entropy, false },
    { "theory", "sum_p2_mean", "", "exact mean of the sum of squared weights", get_theory_sum_p2, false },
    { "theory", "trace_mean", "", "exact mean of sum p (1 - p)", get_theory_trace, false },
    { "query", "index", "", "the selected query", get_query_index, true },
    { "query", "argmax", "", "key with the largest weight", get_query_argmax, true },
    { "query", "max", "", "largest weight", get_query_max, false },
    { "query", "one_minus_max", "", "1 - the largest: the sum of all others on the simplex",
      get_query_one_minus_max, false },
    { "query", "log10_one_minus_max", "log10", "its logarithm, below the smallest double too",
      get_query_log10_one_minus_max, false },
    { "query", "entropy", AV_UNIT_NATS, "entropy of the row: of |w| / sum |w| where the variant has no simplex",
      get_query_entropy, false },
    { "query", "log10_entropy", AV_UNIT_LOG10_NATS, "its logarithm", get_query_log10_entropy, false },
    { "query", "trace", "", "trace of the row's Jacobian: sum p (1 - p) of the softmax", get_query_trace, false },
    { "query", "log10_trace", "log10", "its logarithm", get_query_log10_trace, false },
    { "query", "jacobian_fro", "", "Frobenius norm of the row's Jacobian of weights over logits",
      get_query_jacobian_fro, false },
    { "query", "log10_jacobian_fro", "log10", "its logarithm", get_query_log10_jacobian_fro, false },
    { "query", "dq_rms", "", "RMS gradient of the query under white noise", get_query_dq_rms, false },
};
/* clang-format on */

enum { FIELD_COUNT = sizeof FIELDS / sizeof FIELDS[0] };

const struct av_field *av_report_fields(size_t *count)
{
    *count = FIELD_COUNT;
    return FIELDS;
}

const struct av_field *av_report_field(const char *block, const char *name)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (strcmp(FIELDS[i].block, block) == 0 && strcmp(FIELDS[i].name, name) == 0) {
            return &FIELDS[i];
        }
    }
    return NULL;
}

static bool has_unit(const struct av_field *field, const char *unit)
{
    return strcmp(field->unit, unit) == 0;
}

double av_report_value(const struct av_field *field, const struct av_snapshot *s)
{
    double x = field->get(s);
    return has_unit(field, AV_UNIT_NATS)         ? av_entropy_shown(&s->params, x)
           : has_unit(field, AV_UNIT_LOG10_NATS) ? av_entropy_log10_shown(&s->params, x)
                                                 : x;
}

const char *av_report_unit(const struct av_field *field, const struct av_params *p)
{
    return has_unit(field, AV_UNIT_NATS)         ? av_entropy_unit(p)
           : has_unit(field, AV_UNIT_LOG10_NATS) ? av_entropy_log10_unit(p)
                                                 : field->unit;
}

bool av_report_has_block(const struct av_snapshot *s, const char *block)
{
    if (strcmp(block, "theory") == 0) {
        return s->has_theory;
    }
    bool scores = strcmp(block, "scores") == 0, logits = strcmp(block, "logits") == 0;
    return s->from == AV_PART_WEIGHTS ? !scores && !logits : !scores || !s->from_logits;
}
