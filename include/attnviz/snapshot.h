/* snapshot.h - the read-only view of the model that everything above it sees.
 *
 * All pointers belong to the model and are valid until its next update. */
#ifndef ATTNVIZ_SNAPSHOT_H
#define ATTNVIZ_SNAPSHOT_H

#include "attnviz/bend.h"
#include "attnviz/params.h"
#include "attnviz/rowstats.h"
#include "attnviz/source.h"
#include "attnviz/stats.h"
#include "attnviz/theory.h"

#include <stdbool.h>

/* What an update shall compute beyond what is always there. Costs are per
 * update from the stage that is stale; a view asks only for what it draws. */
enum av_need {
    AV_NEED_OTHER = 1, /* the same with scale toggled: `other`, `scaled_counts` of both */
    AV_NEED_DQ = 2,    /* dq_rms per row: about two more matrix products */
    AV_NEED_THEORY = 4,
    AV_NEED_HISTOGRAM = 8,
    AV_NEED_WHOLE_AXIS = 16, /* with AV_NEED_HISTOGRAM: an axis that leaves nothing out */
    AV_NEED_NONZERO = 32     /* nonzero_share_mean of the plain softmax: another look at all weights */
};

/* Limits that the verdicts and the gauges' alarms share. */
#define AV_LARGEST_ALARM 0.9  /* a row whose largest weight exceeds it is saturated */
#define AV_LARGEST_SHARE 0.25 /* more saturated rows are too many */
#define AV_DEAD_FRO 1e-3      /* a row whose jacobian_fro is below it is dead */
#define AV_DEAD_SHARE 0.25    /* so many dead rows are too many */

/* Sums over the rows that count (two or more keys seen, valid). NaN where no
 * row counts. Entropy is that of |w| / sum |w|: of the weights themselves
 * wherever they are on the simplex; rows whose weights are all 0 have none, and
 * its means leave them out. */
struct av_summary {
    bool scale;               /* is scale on in this state? */
    bool exact_zeros;         /* of narrow arithmetic, a sparse bend, or a file: elsewhere only underflow makes a 0 */
    double alpha;             /* multiplier in force, see struct av_snapshot */
    struct av_moments logits; /* over what valid rows see, offset and bias included, before any bend; without the
                                 constant that lsh has for a query's own key */
    double row_std;           /* standard deviation within a row: all that a softmax sees of it */
    size_t rows;              /* rows that count */
    size_t rows_without_keys;
    size_t rows_without_weight; /* of those that count: all weights are 0 */
    double max_mean, max_median;
    double one_minus_max_median; /* keeps its precision where max_median rounds to 1 */
    double share_max_gt_0_9, share_max_gt_0_999;
    double entropy_mean, entropy_norm_mean, effective_keys_mean; /* effective keys: mean of exp(entropy) */
    double sum_p2_mean;
    double row_sum_mean;
    double row_sum_error_max;  /* largest |sum - 1| of any valid row; NaN where the weights have no simplex */
    double nonzero_share_mean; /* of the keys a row sees, those whose weight is not 0 as stored; NaN: not asked for */
    double jacobian_fro_mean, jacobian_fro_median;
    double trace_mean, trace_median;
    double d_scores_rms_median;
    double dq_rms_mean, dq_rms_median; /* NaN unless AV_NEED_DQ */
    double share_fro_lt_1e_3;
};

/* Is the gradient dead: a median jacobian_fro below AV_DEAD_FRO, or more than
 * AV_DEAD_SHARE of the rows dead? */
bool av_summary_dead(const struct av_summary *s);

/* Histograms of the scores times 1 and times d_k^-exponent on one axis; of a
 * file's scores both times 1; of the state that glides, times the multiplier of the moment. Whatever the variant:
 * what it makes of the scores is in the logits. */
struct av_score_histogram {
    size_t bins;
    double lo, hi;                         /* the axis, the same for both */
    bool whole;                            /* holds four standard deviations of both; else see score_stats.h */
    double unscaled_beyond, scaled_beyond; /* share of the scores outside the axis */
    double unscaled_factor, scaled_factor; /* of the scores; while a state glides its own is on the way */
    const double *unscaled;                /* density per bin: counts / (count * bin width) */
    const double *scaled;
    const double *unscaled_curve; /* mean of the theoretical density per bin */
    const double *scaled_curve;
    bool exact; /* curves: true exact density, false normal approximation */
};

enum av_severity { AV_INFO, AV_WARN, AV_BAD };

struct av_verdict {
    const char *code; /* "saturated", ... */
    enum av_severity severity;
    char text[256];
};

enum { AV_VERDICTS_MAX = 16 };

struct av_snapshot {
    struct av_params params; /* sizes are those of the files when there are any */
    bool from_files;         /* from a source, that is */
    bool from_logits;        /* one row, given by hand */
    /* AV_PART_Q: made of queries and keys, sampled or a file's, or of logits by
     * hand. AV_PART_SCORES: a file's scores are the logits, over temperature and
     * with offsets, of a variant what acts on logits. AV_PART_WEIGHTS: a file's
     * weights as they are; nothing but the mask acts. params.variant and
     * params.dtype are what acts. */
    enum av_part from;
    bool probed; /* key_offset is not 0 */
    /* The multiplier of the current state: d_k^-exponent, or 1 with scale off
     * and for logits given by hand or by a file, NaN of weights alone; what a variant brings in its place, with
     * all factors that every row of the head shares (av_attend_multiplier
     * times temperature). by_row: each row multiplies by a factor of its own as
     * well, which alpha leaves out. */
    double alpha;
    bool by_row;
    bool gliding;         /* alpha is on its way between two states */
    bool varied;          /* the weights are by params.variant or dtype, not the plain softmax in double */
    bool simplex;         /* weights are >= 0 and sum to 1, rounding apart; of a file's weights as found */
    bool patterned;       /* keys that params.mask leaves may be unseen: by a variant, or a score of -infinity */
    size_t n_q, n_k, d_k; /* d_k 0: no queries and keys */

    /* [n_q, n_k], row-major, pitch n_k. What a row does not see, by mask or by
     * a variant's pattern, has the logit -infinity and the weight 0: readers of
     * logits and weights go by that. scores are Q K^T whatever the variant, and
     * hold a value everywhere, -infinity where a file masks. NULL scores when
     * from_logits; NULL scores and logits of weights alone. */
    const double *scores, *logits, *weights;
    const double *query_weights;    /* [n_k], of the selected row, where the weights of all are not held; else NULL */
    const struct av_rowstats *rows; /* [n_q] */
    const bool *invalid;            /* [n_q]: no weights, for a score or logit, as the dtype has it, is not finite */
    /* [n_q]: a score that `mask` leaves is not finite in double, nor -infinity in a
     * file's scores; of weights alone, a weight. */
    const bool *invalid_scores;
    const double *dq_rms; /* [n_q], alpha / T included; NULL unless AV_NEED_DQ, and without queries and keys */
    /* [n_k] each: the Jacobian of the only row, in the form of bend.h; NULL but
     * when from_logits and varied. */
    const struct av_form *form;

    /* Over the pairs that `mask` leaves in rows whose scores are finite, seen
     * by the variant or not, without those of -infinity; so the histogram. None
     * when from_logits or of weights alone. */
    struct av_moments score_moments;
    double score_row_std;                /* spread of the scores within rows, see struct av_spread */
    double expected_mean, expected_var;  /* of one unmasked pair picked at random; NaN with files */
    double expected_kurtosis;            /* excess; NaN where not known */
    struct av_score_histogram histogram; /* bins 0 unless AV_NEED_HISTOGRAM */

    struct av_summary now;
    /* With scale toggled; rows 0 and NULL unless AV_NEED_OTHER, and without queries and keys. */
    struct av_summary other;
    const struct av_rowstats *other_rows; /* [n_q] */
    const bool *other_invalid;            /* [n_q] */

    /* Independent normal entries with q_mean 0, no probed key, not varied:
     * theory and theory_std hold only then. theory_freezing is sqrt(2 ln n),
     * mean over the rows that see two keys or more; NaN where the variant
     * bends logits or adds a bias, for it is a statement about a softmax of
     * independent ones. */
    bool has_theory;
    double theory_std, theory_freezing;
    struct av_theory_means theory;

    const struct av_source *source;       /* NULL without files */
    const struct av_source_layer *layer;  /* the one shown; NULL without files */
    const struct av_loaded_head *loaded;  /* the head shown; NULL without files */
    const struct av_diagnosis *diagnosis; /* of that head, diagnosis.h; NULL unless av_model_diagnose made it */
    size_t heads, head, k_head;           /* number of query heads, the one shown, its key head; 0 when from_logits */

    struct av_verdict verdicts[AV_VERDICTS_MAX];
    size_t verdict_count;

    uint64_t runs[AV_STAGE_COUNT]; /* how often each stage has run */
};

/* Number of unmasked keys of a row by the mask alone. Causal: key j is
 * masked when j > i + (n_k - n_q). */
size_t av_row_length(enum av_mask mask, size_t i, size_t n_q, size_t n_k);

/* The freezing point sqrt(2 ln n) (theory.h), averaged over the rows with two
 * unmasked keys or more; NaN when there is none. */
double av_rows_freezing(enum av_mask mask, size_t n_q, size_t n_k);

/* Does row i take part in means, medians and shares: does it see two keys or
 * more, and is it valid? rows: s->rows or s->other_rows. */
bool av_row_counts(const struct av_snapshot *s, const struct av_rowstats *rows, size_t i);

#endif
