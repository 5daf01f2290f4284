/* params.h - the parameter table: every knob of the instrument, one row each.
 *
 * A row is the only place where a parameter is named: command line, on-screen
 * list, help, report and manual are made from it. */
#ifndef ATTNVIZ_PARAMS_H
#define ATTNVIZ_PARAMS_H

#include "attnviz/dtype.h"
#include "attnviz/kernels.h"
#include "attnviz/status.h"
#include "attnviz/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AV_DIM_MAX = 4096, AV_KEYS_MAX = 2048, AV_LOGITS_MAX = 2048, AV_BINS_MAX = 400 };
enum { AV_LAYERS_MAX = 64, AV_TOKENS_MAX = 256 }; /* of a stack of layers */

enum av_mask { AV_MASK_NONE, AV_MASK_CAUSAL, AV_MASK_COUNT };

/* How learned matrices [d_model, d_k] are drawn; fan_in is d_model. */
enum av_init {
    AV_INIT_PYTORCH, /* U(-1/sqrt(fan_in), 1/sqrt(fan_in)) */
    AV_INIT_UNIT,    /* N(0, 1/fan_in) */
    AV_INIT_XAVIER,  /* U(-a, a), a = sqrt(6 / (fan_in + fan_out)) */
    AV_INIT_KAIMING, /* U(-a, a), a = sqrt(6 / fan_in) */
    AV_INIT_COUNT
};

/* What the training experiment learns, and how. The last one is no task but
 * the experiment of depth.h, which trains nothing. */
enum av_task {
    AV_TASK_RECONSTRUCT,
    AV_TASK_AVERAGE,
    AV_TASK_RECALL,
    AV_TASK_COPY_PREVIOUS,
    AV_TASK_DEPTH,
    AV_TASK_COUNT
};
enum av_optimizer { AV_OPTIMIZER_ADAM, AV_OPTIMIZER_SGD, AV_OPTIMIZER_COUNT };
enum av_fresh { AV_FRESH_AUTO, AV_FRESH_OFF, AV_FRESH_ON, AV_FRESH_COUNT }; /* auto: as the task has it */
enum av_runs { AV_RUNS_BOTH, AV_RUNS_ON, AV_RUNS_OFF, AV_RUNS_COUNT };

/* Where a stack of layers has its LayerNorm: before each branch, or behind
 * each sum. And the arithmetic of the stack. */
enum av_norm { AV_NORM_NONE, AV_NORM_PRE, AV_NORM_POST, AV_NORM_COUNT };
enum av_depth_dtype { AV_DEPTH_F64, AV_DEPTH_F32, AV_DEPTH_DTYPES };

enum { AV_HEADS_MAX = 16 }; /* that are sampled */

/* What entropies are shown in: entropy_unit.h. */
enum av_entropy_unit { AV_NATS, AV_BITS, AV_ENTROPY_UNITS };

/* In imitated arithmetic: where the multiplier goes, to the product q.k or to
 * the query before it. */
enum av_scale_order { AV_SCALE_PRODUCT, AV_SCALE_QUERY, AV_SCALE_ORDERS };

/* Which part of a layer of the files a head is made of, where it has several:
 * av_source_from. auto: queries and keys, else weights, else scores. */
enum av_from { AV_FROM_AUTO, AV_FROM_QK, AV_FROM_SCORES, AV_FROM_WEIGHTS, AV_FROM_COUNT };

/* What the curves of the view `variants` run over. */
enum av_curve_over { AV_CURVE_N_K, AV_CURVE_D_K, AV_CURVE_OVERS };

/* The stages in the order in which data flows; each needs those before it. */
enum av_stage {
    AV_STAGE_SAMPLE,  /* Q and K */
    AV_STAGE_SCORES,  /* Q K^T */
    AV_STAGE_MOMENTS, /* moments and histogram of the unmasked scores */
    AV_STAGE_LOGITS,  /* scale, offsets, temperature, mask */
    AV_STAGE_WEIGHTS, /* softmax */
    AV_STAGE_STATS,   /* entropy, gradient, theory */
    AV_STAGE_COUNT    /* as a "first stale stage": nothing is stale */
};

/* One row of logits given by hand, instead of sampled queries and keys. */
struct av_logit_list {
    int64_t n; /* 0: none given */
    double at[AV_LOGITS_MAX];
};

/* Parameters of the rows of variants.c: softcap_c is softcap.c. A real one that
 * may be `auto` is NaN then, and follows from the others. */
struct av_variant_params {
    double mup_factor, fixed_scalar;
    int64_t inverse_layer_layer; /* from 1 */
    double learned_gain, learned_gain_last;
    double mixed_exponent, mixed_exponent_last, mixed_temperature, mixed_temperature_last;
    double logn_L, ssmax_sigma, yarn_S;
    int64_t llama4_floor;
    double llama4_scale;
    int64_t llama4_start;
    double qk_l2_g, qk_l2_L; /* both may be auto */
    double cosine_g;
    double swin2_tau; /* may be auto */
    double qk_rms_eps, qk_layernorm_eps, score_layernorm_eps, score_batchnorm_eps;
    double softcap_c, sink_logit;
    double sigmoid_b;                  /* may be auto */
    double clipped_eta, clipped_gamma; /* gamma may be auto */
    double softpick_eps;
    double differential_lambda; /* may be auto */
    int64_t differential_depth;
    int64_t window_size, lsh_buckets, lsh_rounds, linformer_k;
    double sigma_reparam_gamma, qk_clip_tau;
};

/* Values of all parameters. A plain value: copy it, compare it by table. Each
 * value of a row is 8 bytes wide, so that rows can be copied and compared
 * without knowing their kind; the list of logits alone is longer, and last. */
struct av_params {
    int64_t d_k, n_q, n_k;
    int64_t scale; /* bool */
    double exponent;
    double temperature;
    double offset;
    int64_t key;
    double key_offset;
    int64_t query;
    double q_std, k_std, q_mean, k_mean;
    double corr;
    int64_t dist;           /* enum av_dist */
    int64_t mask;           /* enum av_mask */
    int64_t variant, dtype; /* variant: see variant.h; dtype: enum av_dtype */
    int64_t samples, bins;
    uint64_t seed;
    int64_t n_head;                     /* with files: theirs */
    int64_t head, layer;                /* which head, and layer of the files read */
    int64_t from;                       /* which part of it: enum av_from */
    int64_t d_k_1, d_k_2, d_k_3, d_k_4; /* of the panels of the distributions view */
    double x_range;                     /* of the sensitivity sweep */
    int64_t d_model, init, layer_norm;  /* init: enum av_init; layer_norm: bool */
    double input_mean, input_std;
    int64_t task, epochs, batch, sequences, fresh; /* of training; task: enum av_task, fresh: enum av_fresh */
    int64_t seq_len, optimizer;                    /* enum av_optimizer */
    double lr;
    int64_t learn_scale; /* bool */
    double clip;
    int64_t runs;                                                /* enum av_runs */
    int64_t layers, tokens, residual, norm, residual_scale, mlp; /* of a stack; norm: enum av_norm, else bools */
    int64_t depth_dtype;                                         /* enum av_depth_dtype */
    int64_t scale_order, softmax_f32, smooth_k; /* of imitated arithmetic; enum av_scale_order, bools */
    int64_t compare, variants, curve_over;      /* of the view `variants`: see variant.h; enum av_curve_over */
    int64_t entropy_unit;                       /* enum av_entropy_unit */
    struct av_variant_params of;                /* of the variants, named as they are */
    int64_t layer_count;                        /* of the files read, 0 without; no row, it follows from them */
    struct av_logit_list logits;
};

enum av_param_kind {
    AV_PARAM_INT,
    AV_PARAM_REAL,
    AV_PARAM_CHOICE,
    AV_PARAM_SEED,
    AV_PARAM_LOGITS,
    AV_PARAM_VARIANT,    /* av_variant_value */
    AV_PARAM_VARIANT_SET /* places of variants, a bit each */
};

/* How large a step is. */
enum av_grain { AV_GRAIN_FINE, AV_GRAIN_STEP, AV_GRAIN_COARSE, AV_GRAIN_COUNT };

/* How one step changes a value; `step` is the row's. */
enum av_param_step {
    AV_STEP_LINEAR, /* by step; fine: a fifth of it, at least 1 for whole numbers; coarse: ten */
    AV_STEP_DOUBLE, /* times 2; fine: by step; coarse: times 8 */
    AV_STEP_RATIO,  /* times 1 + step; fine: a fifth of that; coarse: ten times */
    AV_STEP_SIGNED  /* by step near 0, by a tenth of the leading digit's unit when larger; fine: a tenth; coarse: ten */
};

/* Which parameters belong on the on-screen list, in files, and so on. */
enum av_param_flag {
    AV_PARAM_HIDDEN = 1, /* not walked to on the screen: no view changes with it */
    AV_PARAM_FILES = 2,  /* has a meaning only with files (layer, from) */
    AV_PARAM_SIZE = 4,   /* a size of Q and K: files bring their own */
    AV_PARAM_VIEW = 8,   /* on the list only in views that listen to it */
    AV_PARAM_OWNED = 16, /* of a variant's row: has a meaning only while that row is chosen */
    AV_PARAM_AUTO = 32   /* may be `auto`, NaN: then it follows from others */
};

struct av_param {
    const char *name;
    enum av_param_kind kind;
    size_t offset; /* of the value in struct av_params */
    double min, max, def;
    enum av_stage stale; /* first stage that a change makes stale */
    enum av_param_step how;
    double step;
    int flags;
    const char *const *choices; /* AV_PARAM_CHOICE: NULL-terminated names */
    const char *text;           /* meaning, one line */
};

/* The table, and its number of rows. */
const struct av_param *av_params_table(size_t *count);
const struct av_param *av_param_find(const char *name); /* NULL: unknown */

void av_params_default(struct av_params *p);

/* The value of a numeric or choice row as a double (seeds lose digits). */
double av_param_get(const struct av_param *row, const struct av_params *p);

/* Sets a value without a range check (see av_params_check). Integers, choices
 * and seeds are rounded. */
void av_param_set(const struct av_param *row, struct av_params *p, double value);

/* Largest value now: key, query, head and layer end at n_k - 1, n_q - 1, n_head - 1,
 * layer_count - 1. */
double av_param_max(const struct av_param *row, const struct av_params *p);

/* Reads "VALUE" into p. AV_USAGE with name, value and what it takes when it
 * is not a value of that kind. Ranges of numbers are checked by
 * av_params_check, after all are set. */
enum av_status av_param_parse(const struct av_param *row, struct av_params *p, const char *value, struct av_error *e);

/* The same for "NAME=VALUE", AV_USAGE for unknown names too. */
enum av_status av_params_set_text(struct av_params *p, const char *assignment, struct av_error *e);

/* Checks every range. sizes_free: the sizes come from files, so n_q, n_k and
 * d_k may exceed theirs. AV_USAGE names the name, the value and the range. */
enum av_status av_params_check(const struct av_params *p, bool sizes_free, struct av_error *e);

/* Moves key, query and other dependent values into range. */
void av_params_clamp(struct av_params *p);

/* Moves one value by `count` steps (negative: down) of that size, clamped
 * to its range; choices go round. */
void av_param_step(const struct av_param *row, struct av_params *p, int count, enum av_grain grain);

/* The value as text that av_param_parse reads back to the same bits. */
void av_param_format(const struct av_param *row, const struct av_params *p, struct av_str *out);

/* The value for the screen, with at most six significant digits, of a list its
 * length: "3 given". Writes to out and returns it. */
enum { AV_PARAM_SHORT_MAX = 32 };
const char *av_param_format_short(const struct av_param *row, const struct av_params *p, char out[AV_PARAM_SHORT_MAX]);

/* Has the value of this row changed? */
bool av_param_differs(const struct av_param *row, const struct av_params *was, const struct av_params *now);

/* Has one of these? Names, NULL at the end; AV_ALL_OWNED stands for all rows of
 * AV_PARAM_OWNED. */
#define AV_ALL_OWNED "*.*"
bool av_params_differ(const char *const *names, const struct av_params *was, const struct av_params *now);

/* First stage that must run again when `was` becomes `now`. */
enum av_stage av_params_stale(const struct av_params *was, const struct av_params *now);

/* The multiplier of the scores with scale on (d_k^-exponent) or off (1). */
double av_params_multiplier(const struct av_params *p, bool scale);

/* The one in force: with scale as the parameters have it. */
double av_params_alpha(const struct av_params *p);

#endif
