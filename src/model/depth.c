/* depth.c - a stack of layers, branch by branch: signal forward, white noise back.
 *
 * Of a branch only its input is kept. On the way back its matrices are drawn
 * again, and what is inside it is computed again, to the same bits. */
#include "attnviz/depth.h"

#include "attnviz/mem.h"
#include "depth_init.h"

#include <math.h>
#include <string.h>

struct av_depth_run {
    struct av_depth_config config;
    struct av_depth_branch branch;
    struct av_depth_stack stack;
    size_t per_layer, branches; /* of the whole stack */
    size_t forward, backward;   /* branches that are done */
    double factor;              /* of a branch, beside its input */
    double *x;                  /* [branches + 1][tokens, d_model]: inputs of the branches, and the top */
    double *d_x;                /* [tokens, d_model]: gradient of the input of the branch that was done last */
    double *s;                  /* [tokens]: of a LayerNorm */
    double *direction;          /* [d_model], scratch */
};

const struct av_depth_field_info av_depth_fields[AV_DEPTH_FIELDS] = {
    [AV_DEPTH_GRAD_QK] = { "grad_qk_norm", "of the gradient of w_q and w_k" },
    [AV_DEPTH_GRAD_Q] = { "grad_q_norm", "of the gradient of w_q" },
    [AV_DEPTH_GRAD_K] = { "grad_k_norm", "of the gradient of w_k" },
    [AV_DEPTH_GRAD_V] = { "grad_v_norm", "of the gradient of w_v" },
    [AV_DEPTH_GRAD_O] = { "grad_o_norm", "of the gradient of w_o" },
    [AV_DEPTH_GRAD_MLP] = { "grad_mlp_norm", "of the gradient of w_1 and w_2" },
    [AV_DEPTH_GRAD_X] = { "grad_x_norm", "of the gradient of the input x" },
    [AV_DEPTH_COSINE] = { "cosine", "mean, between tokens of the output" },
    [AV_DEPTH_SIZE] = { "size", "root mean square of the output" },
    [AV_DEPTH_LOGIT_STD] = { "logit_std", "standard deviation of the logits within rows" },
    [AV_DEPTH_ENTROPY_NORM] = { "entropy_norm", "mean entropy of the weights over ln tokens" },
};

const char *av_depth_kind_name(enum av_depth_kind kind)
{
    static const char *const names[] = { "", "value", "noise", "zero" };
    return names[kind];
}

enum av_depth_kind av_depth_kind(const struct av_depth_layer *layer, enum av_depth_field field, bool single)
{
    const double value = layer->at[field];
    if (!isfinite(value)) {
        return AV_DEPTH_UNKNOWN;
    }
    if (field >= AV_DEPTH_CANCEL) {
        return AV_DEPTH_NUMBER;
    }
    if (layer->one_hot && !(value > 0)) {
        return AV_DEPTH_ZERO;
    }
    const double noise = single ? AV_DEPTH_NOISE_F32 : AV_DEPTH_NOISE_F64;
    return value > noise * layer->uncancelled[field] ? AV_DEPTH_NUMBER : AV_DEPTH_NOISE;
}

/* ---- Memory ---------------------------------------------------------------------- */

static size_t branches_of(const struct av_depth_config *c)
{
    return c->layers * (c->mlp ? 2 : 1);
}

enum av_status av_depth_new(struct av_depth_run **out, const struct av_depth_config *c,
                            const struct av_kernels *kernels, struct av_error *e)
{
    const size_t tokens = c->tokens * c->d_model;
    const struct av_depth_branch sizes = {
        .n = c->tokens, .d = c->d_model, .d_k = c->d_k, .hidden = c->mlp ? 4 * c->d_model : 0
    };
    const double inputs = (double)(branches_of(c) + 2) * (double)(tokens * sizeof(double));
    const double bytes = av_depth_branch_bytes(&sizes) + inputs;
    *out = NULL;
    if (bytes > AV_DEPTH_BYTES_MAX) {
        return av_fail(
            e, AV_USAGE,
            "the stack would take %.0f MiB, and at most %d are allowed: lower layers, tokens, d_model or d_k",
            ceil(bytes / (1 << 20)), AV_DEPTH_BYTES_MAX >> 20);
    }
    struct av_depth_run *d = av_alloc(1, sizeof *d);
    if (d == NULL) {
        return av_fail_nomem(e, "the stack");
    }
    d->branch = sizes;
    d->x = av_alloc((branches_of(c) + 1) * tokens, sizeof *d->x);
    d->d_x = av_alloc(tokens, sizeof *d->d_x);
    d->s = av_alloc(c->tokens, sizeof *d->s);
    d->direction = av_alloc(c->d_model, sizeof *d->direction);
    enum av_status status = av_depth_branch_new(&d->branch, kernels != NULL ? kernels : av_kernels_best(), e);
    if (status == AV_OK && (d->x == NULL || d->d_x == NULL || d->s == NULL || d->direction == NULL)) {
        status = av_fail_nomem(e, "the stack");
    }
    if (status != AV_OK) {
        av_depth_free(d);
        return status;
    }
    av_depth_begin(d, c);
    *out = d;
    return AV_OK;
}

void av_depth_free(struct av_depth_run *d)
{
    if (d == NULL) {
        return;
    }
    av_depth_branch_free(&d->branch);
    av_free(d->x);
    av_free(d->d_x);
    av_free(d->s);
    av_free(d->direction);
    av_free(d);
}

void av_depth_begin(struct av_depth_run *d, const struct av_depth_config *c)
{
    d->config = *c;
    d->per_layer = c->mlp ? 2 : 1;
    d->branches = branches_of(c);
    d->forward = d->backward = 0;
    d->factor = c->residual_scale ? 1 / sqrt(2 * (double)c->layers) : 1;
    d->branch.alpha = c->alpha;
    d->branch.math.single = c->single;
    d->stack.count = c->layers;
    d->stack.single = c->single;
    d->stack.overflow = AV_DEPTH_NO_OVERFLOW;
    d->stack.overflow_layer = 0;
    d->stack.norm = (double)NAN;
    d->stack.clipped = 1;
    for (size_t i = 0; i < c->layers; i++) {
        struct av_depth_layer *layer = &d->stack.layers[i];
        layer->one_hot = false;
        for (size_t f = 0; f < AV_DEPTH_FIELDS; f++) {
            layer->at[f] = (double)NAN;
        }
        for (size_t f = 0; f < AV_DEPTH_CANCEL; f++) {
            layer->uncancelled[f] = (double)NAN;
        }
    }
    av_depth_draw_input(&d->branch, c->seed, d->x);
}

/* ---- One branch --------------------------------------------------------------------- */

static size_t size_of(const struct av_depth_run *d)
{
    return d->branch.n * d->branch.d;
}

/* Input of branch number i; of the number behind the last, the top. */
static double *input_of(const struct av_depth_run *d, size_t i)
{
    return d->x + i * size_of(d);
}

static bool is_mlp(const struct av_depth_run *d, size_t i)
{
    return d->per_layer == 2 && i % 2 == 1;
}

/* From input x to output next; false where a number is too large. */
static bool branch_forward(struct av_depth_run *d, size_t i, double *next)
{
    struct av_depth_branch *b = &d->branch;
    const struct av_depth_math *m = &b->math;
    const double *x = input_of(d, i);
    const bool mlp = is_mlp(d, i);
    const size_t n = size_of(d);
    bool finite = true;
    av_depth_draw_matrices(b, &d->config, i / d->per_layer, mlp ? AV_W_1 : AV_W_Q, mlp ? AV_DEPTH_MATRICES : AV_W_1);
    memcpy(b->h, x, n * sizeof *x);
    if (d->config.norm == AV_NORM_PRE) {
        av_depth_norm_forward(m, b->h, d->s, b->h, b->n, b->d);
    }
    if (mlp) {
        av_depth_mlp_forward(b);
    } else {
        finite = av_depth_attention_forward(b);
    }
    if (!finite) {
        return false;
    }
    memset(next, 0, n * sizeof *next);
    av_depth_add(m, next, d->config.residual ? 1 : 0, x, n);
    av_depth_add(m, next, d->factor, b->y, n);
    if (d->config.norm == AV_NORM_POST) {
        av_depth_norm_forward(m, next, d->s, next, b->n, b->d);
    }
    return isfinite(av_depth_norm(next, n));
}

/* d_x, the gradient of the branch's output, becomes that of its input. `next`
 * is the output; s and the branch are as branch_forward has left them. */
static void branch_backward(struct av_depth_run *d, size_t i, const double *next)
{
    struct av_depth_branch *b = &d->branch;
    const struct av_depth_math *m = &b->math;
    const size_t n = size_of(d);
    if (d->config.norm == AV_NORM_POST) {
        av_depth_norm_backward(m, d->d_x, d->d_x, next, d->s, b->n, b->d);
    }
    memset(b->d_y, 0, n * sizeof *b->d_y);
    av_depth_add(m, b->d_y, d->factor, d->d_x, n);
    (is_mlp(d, i) ? av_depth_mlp_backward : av_depth_attention_backward)(b);
    if (d->config.norm == AV_NORM_PRE) {
        av_depth_norm_backward(m, b->d_h, b->d_h, b->h, d->s, b->n, b->d);
    }
    if (!d->config.residual) {
        memset(d->d_x, 0, n * sizeof *d->d_x);
    }
    av_depth_add(m, d->d_x, 1, b->d_h, n);
}

/* ---- What is known of a layer ---------------------------------------------------------- */

static void measure_forward(struct av_depth_run *d, size_t i, const double *next)
{
    const struct av_depth_branch *b = &d->branch;
    struct av_depth_layer *layer = &d->stack.layers[i / d->per_layer];
    if (!is_mlp(d, i)) {
        layer->at[AV_DEPTH_LOGIT_STD] = b->logit_std;
        layer->at[AV_DEPTH_ENTROPY_NORM] = b->entropy_norm;
        layer->one_hot = b->one_hot;
    }
    layer->at[AV_DEPTH_COSINE] = av_depth_cosine(next, b->n, b->d, d->direction);
    layer->at[AV_DEPTH_SIZE] = av_depth_norm(next, size_of(d)) / sqrt((double)size_of(d));
}

static double matrix_norm(const struct av_depth_branch *b, enum av_depth_matrix which)
{
    return av_depth_norm(b->d_w[which], av_depth_rows(b, which) * av_depth_columns(b, which));
}

/* False where a number is too large. */
static bool measure_backward(struct av_depth_run *d, size_t i)
{
    const struct av_depth_branch *b = &d->branch;
    struct av_depth_layer *layer = &d->stack.layers[i / d->per_layer];
    double found[AV_DEPTH_FIELDS];
    memcpy(found, layer->at, sizeof found);
    if (is_mlp(d, i)) {
        found[AV_DEPTH_GRAD_MLP] = hypot(matrix_norm(b, AV_W_1), matrix_norm(b, AV_W_2));
    } else {
        found[AV_DEPTH_GRAD_Q] = matrix_norm(b, AV_W_Q);
        found[AV_DEPTH_GRAD_K] = matrix_norm(b, AV_W_K);
        found[AV_DEPTH_GRAD_QK] = hypot(found[AV_DEPTH_GRAD_Q], found[AV_DEPTH_GRAD_K]);
        found[AV_DEPTH_GRAD_V] = matrix_norm(b, AV_W_V);
        found[AV_DEPTH_GRAD_O] = matrix_norm(b, AV_W_O);
    }
    found[AV_DEPTH_GRAD_X] = av_depth_norm(d->d_x, size_of(d));
    for (enum av_depth_field f = 0; f <= AV_DEPTH_GRAD_X; f++) {
        const bool of_mlp = f == AV_DEPTH_GRAD_MLP;
        if ((f == AV_DEPTH_GRAD_X || of_mlp == is_mlp(d, i)) && !isfinite(found[f])) {
            return false;
        }
    }
    memcpy(layer->at, found, sizeof found);
    if (!is_mlp(d, i)) {
        memcpy(layer->uncancelled, b->uncancelled, sizeof layer->uncancelled);
    }
    return true;
}

/* The norm of everything, and all norms as clipping leaves them. */
static void clip(struct av_depth_run *d)
{
    struct av_depth_stack *s = &d->stack;
    s->norm = 0;
    for (size_t i = 0; i < s->count; i++) {
        const double *at = s->layers[i].at;
        const double attention = hypot(at[AV_DEPTH_GRAD_QK], hypot(at[AV_DEPTH_GRAD_V], at[AV_DEPTH_GRAD_O]));
        s->norm = hypot(s->norm, hypot(attention, d->config.mlp ? at[AV_DEPTH_GRAD_MLP] : 0));
    }
    if (d->config.clip > 0 && s->norm > d->config.clip) {
        s->clipped = d->config.clip / s->norm;
    }
    for (size_t i = 0; i < s->count && s->clipped < 1; i++) {
        for (enum av_depth_field f = 0; f < AV_DEPTH_GRAD_X; f++) {
            s->layers[i].at[f] *= s->clipped;
        }
        for (size_t f = 0; f < AV_DEPTH_CANCEL; f++) {
            s->layers[i].uncancelled[f] *= s->clipped;
        }
    }
}

/* ---- Steps ------------------------------------------------------------------------------- */

static void overflow(struct av_depth_run *d, size_t i, enum av_depth_pass pass)
{
    d->stack.overflow = pass;
    d->stack.overflow_layer = i / d->per_layer;
    d->forward = d->backward = d->branches;
}

static void step_forward(struct av_depth_run *d)
{
    const size_t i = d->forward++;
    double *next = input_of(d, i + 1);
    if (!branch_forward(d, i, next)) {
        overflow(d, i, AV_DEPTH_FORWARD);
        return;
    }
    measure_forward(d, i, next);
    if (d->forward == d->branches) {
        av_depth_draw_top(&d->branch, d->config.seed, d->d_x);
    }
}

static void step_backward(struct av_depth_run *d)
{
    const size_t i = d->branches - 1 - d->backward++;
    double *next = input_of(d, i + 1);
    branch_forward(d, i, next); /* leaves what is inside the branch; next is the same again */
    branch_backward(d, i, next);
    if (!measure_backward(d, i)) {
        overflow(d, i, AV_DEPTH_BACKWARD);
    } else if (d->backward == d->branches) {
        clip(d);
    }
}

bool av_depth_step(struct av_depth_run *d)
{
    const bool ahead = d->forward < d->branches;
    if (!ahead && d->backward == d->branches) {
        return false;
    }
    (ahead ? step_forward : step_backward)(d);
    return true;
}

double av_depth_progress(const struct av_depth_run *d)
{
    return (double)(d->forward + 2 * d->backward) / (double)(3 * d->branches);
}

const struct av_depth_stack *av_depth_stack(const struct av_depth_run *d)
{
    return &d->stack;
}
