/* depth.h - a stack of attention layers at initialisation: signal forward, white noise back.
 *
 * x_0 [tokens, d_model] ~ N(0, 1); layer l makes x_l+1 of x_l by one branch,
 * attention, or two, attention and then an MLP. With f a branch, n LayerNorm
 * (no gain, no bias, eps 1e-5), r the branch's factor, 1 or 1/sqrt(2 layers):
 *
 *   norm none: x + r f(x)     pre: x + r f(n(x))     post: n(x + r f(x))
 *
 * the "x +" being left out without residual. Attention has one head and no mask:
 *
 *   q k v = x w_q, x w_k, x w_v   [tokens, d_k]
 *   f(x)  = softmax(alpha q k^T) v w_o
 *
 * The MLP is f(x) = gelu(x w_1) w_2, w_1 [d_model, 4 d_model]. The gradient at
 * the top, dL/dx_layers, is white noise, N(0, 1). Nothing is trained.
 *
 * What cancels. Where all tokens are alike, the gradient of w_q and w_k is 0:
 * every row of dL/dp is constant, and the softmax ignores constants. In floating
 * point, rounding errors are left. Beside each such norm stands the norm of
 * the same sums with nothing cancelled: those of d_s = alpha p dL/dp, without
 * the mean over the row. A norm below AV_DEPTH_NOISE_F64 (F32) times that is told
 * as noise, not as a number: subtracting the mean leaves errors of that size.
 * Where all rows are one-hot it is 0, for what other keys get is less than a
 * double can be, and told as 0. */
#ifndef ATTNVIZ_DEPTH_H
#define ATTNVIZ_DEPTH_H

#include "attnviz/params.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct av_depth_config {
    size_t layers, tokens, d_model, d_k;
    enum av_init init;
    enum av_norm norm;
    bool residual, residual_scale, mlp;
    /* Every number is rounded to single precision when it is made; sums run in
     * double, as in the accumulators of matrix units. */
    bool single;
    double alpha; /* multiplier of the scores */
    double clip;  /* largest norm of the gradient of all learned matrices; 0: any */
    uint64_t seed;
};

/* What is known of a layer: NaN where it is not. */
enum av_depth_field {
    AV_DEPTH_GRAD_QK, /* norms of gradients, after clipping: of w_q and w_k together, of each, ... */
    AV_DEPTH_GRAD_Q,
    AV_DEPTH_GRAD_K,
    AV_DEPTH_GRAD_V,
    AV_DEPTH_GRAD_O,
    AV_DEPTH_GRAD_MLP,     /* of w_1 and w_2 together */
    AV_DEPTH_GRAD_X,       /* of the layer's input, which clipping leaves alone */
    AV_DEPTH_COSINE,       /* mean cosine between tokens of its output; needs two tokens */
    AV_DEPTH_SIZE,         /* root mean square of its output */
    AV_DEPTH_LOGIT_STD,    /* within rows */
    AV_DEPTH_ENTROPY_NORM, /* mean entropy of the weights over ln tokens */
    AV_DEPTH_FIELDS,
    AV_DEPTH_CANCEL = AV_DEPTH_GRAD_V /* the fields before it are those that may be noise */
};

struct av_depth_field_info {
    const char *name; /* "grad_qk_norm" */
    const char *text;
};
extern const struct av_depth_field_info av_depth_fields[AV_DEPTH_FIELDS];

struct av_depth_layer {
    double at[AV_DEPTH_FIELDS];
    double uncancelled[AV_DEPTH_CANCEL]; /* what the first fields would be */
    bool one_hot;                        /* every weight is 0 or 1 */
};

#define AV_DEPTH_NOISE_F64 1e-12
#define AV_DEPTH_NOISE_F32 1e-7

enum av_depth_kind {
    AV_DEPTH_UNKNOWN, /* not computed, or behind an overflow */
    AV_DEPTH_NUMBER,
    AV_DEPTH_NOISE, /* rounding errors of a value that is 0, or too small to tell */
    AV_DEPTH_ZERO   /* 0: in truth less than a double can be, or with one token 0 */
};
enum av_depth_kind av_depth_kind(const struct av_depth_layer *layer, enum av_depth_field field, bool single);

/* "", "value", "noise", "zero". */
const char *av_depth_kind_name(enum av_depth_kind kind);

enum av_depth_pass { AV_DEPTH_FORWARD, AV_DEPTH_BACKWARD, AV_DEPTH_NO_OVERFLOW };

/* What a stack did. After an overflow, the layers that were not reached are
 * unknown; after one on the way forward there are no gradients. */
struct av_depth_stack {
    size_t count; /* of layers */
    bool single;
    enum av_depth_pass overflow; /* where a number was too large for the arithmetic ... */
    size_t overflow_layer;       /* ... and in which layer */
    double norm;                 /* of the gradient of all learned matrices, before clipping; NaN: unknown */
    double clipped;              /* the factor that clipping multiplied it by: 1 without */
    struct av_depth_layer layers[AV_LAYERS_MAX];
};

struct av_depth_run;

/* Work that a layer may take in multiplications on its way forward, and the
 * most memory. */
enum { AV_DEPTH_WORK_MAX = 1 << 26, AV_DEPTH_BYTES_MAX = 64 << 20 };

/* From parameters whose ranges hold. AV_USAGE for layers of more work than
 * that. */
enum av_status av_depth_configure(struct av_depth_config *c, const struct av_params *p, bool scale, struct av_error *e);

/* Makes room for this stack and any with as many layers or less and the same
 * tokens, d_model, d_k; with an MLP if this one has it. kernels: NULL for the
 * best, borrowed. AV_USAGE when it would take more than AV_DEPTH_BYTES_MAX. The
 * caller frees it; NULL is fine there. */
enum av_status av_depth_new(struct av_depth_run **out, const struct av_depth_config *c,
                            const struct av_kernels *kernels, struct av_error *e);
void av_depth_free(struct av_depth_run *d);

/* Begins a stack that there is room for. Neither allocates nor fails. */
void av_depth_begin(struct av_depth_run *d, const struct av_depth_config *c);

/* One branch, forward or, when all have been, backward; false, and nothing
 * done, at the end. */
bool av_depth_step(struct av_depth_run *d);
double av_depth_progress(const struct av_depth_run *d); /* 0 .. 1 */

/* Valid until the stack is begun anew; complete at the end. */
const struct av_depth_stack *av_depth_stack(const struct av_depth_run *d);

#endif
