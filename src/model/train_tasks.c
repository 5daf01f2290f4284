/* train_tasks.c - what is learned: sequences and their targets, by counters. */
#include "train_tasks.h"

#include "attnviz/mem.h"

#include <math.h>
#include <string.h>

/* Streams of random numbers, apart from those of other experiments. */
enum { TENSOR_CODE = 32, TENSOR_DATA = 1 << 16 /* and the epoch's number */ };

#define LAYER_NORM_EPS 1e-5

const char *const av_task_texts[AV_TASK_COUNT] = {
    [AV_TASK_RECONSTRUCT] = "output the input: each token may attend to itself alone",
    [AV_TASK_AVERAGE] = "output at each position the mean of all: attention must be even",
    [AV_TASK_RECALL] = "the last token holds the key of an earlier one: output its value",
    [AV_TASK_COPY_PREVIOUS] = "output the token before, told by codes added to positions",
    [AV_TASK_DEPTH] = "no training: gradients through a stack of layers at initialisation",
};

/* ---- Whole random numbers ----------------------------------------------------- */

/* The output function of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x += 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

enum purpose { PICK_KEY, PICK_ORDER };

/* 0 .. n - 1 as a function of (seed, purpose, epoch, i); n < 2^32 */
static size_t pick(const struct av_train_config *c, enum purpose purpose, size_t epoch, size_t i, size_t n)
{
    uint64_t word = mix(mix(mix(mix(c->seed) + (uint64_t)purpose) + epoch) + i);
    return (size_t)(((word >> 32) * n) >> 32);
}

void av_task_shuffle(const struct av_train_config *c, size_t epoch, uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        order[i] = (uint32_t)i;
    }
    for (size_t i = n; i-- > 1;) {
        size_t j = pick(c, PICK_ORDER, epoch, i, i + 1);
        uint32_t at_i = order[i];
        order[i] = order[j];
        order[j] = at_i;
    }
}

/* ---- Targets ------------------------------------------------------------------ */

/* A sequence being made: x holds N(mean, std^2) to begin with. */
struct sequence {
    float *x, *target;
    size_t len, d, pitch;
    size_t key;        /* recall: which earlier token is asked for */
    const float *code; /* copy_previous */
};

static void copy_rows(const struct sequence *s)
{
    for (size_t i = 0; i < s->len; i++) {
        memcpy(s->target + i * s->pitch, s->x + i * s->pitch, s->d * sizeof *s->x);
    }
}

static void average_rows(const struct sequence *s)
{
    for (size_t c = 0; c < s->d; c++) {
        double sum = 0;
        for (size_t i = 0; i < s->len; i++) {
            sum += (double)s->x[i * s->pitch + c];
        }
        for (size_t i = 0; i < s->len; i++) {
            s->target[i * s->pitch + c] = (float)(sum / (double)s->len);
        }
    }
}

static void ask_for_value(const struct sequence *s)
{
    size_t half = s->d / 2;
    float *last = s->x + (s->len - 1) * s->pitch;
    const float *asked = s->x + s->key * s->pitch;
    for (size_t i = 0; i < s->len; i++) {
        memset(s->target + i * s->pitch, 0, s->d * sizeof *s->target);
    }
    memcpy(s->target + (s->len - 1) * s->pitch + half, asked + half, (s->d - half) * sizeof *s->target);
    memcpy(last, asked, half * sizeof *last);
    memset(last + half, 0, (s->d - half) * sizeof *last);
}

static void ask_for_previous(const struct sequence *s)
{
    for (size_t i = 0; i < s->len; i++) {
        size_t before = (i + s->len - 1) % s->len;
        memcpy(s->target + i * s->pitch, s->x + before * s->pitch, s->d * sizeof *s->x);
    }
    for (size_t i = 0; i < s->len; i++) {
        for (size_t c = 0; c < s->d; c++) {
            s->x[i * s->pitch + c] += s->code[i * s->d + c];
        }
    }
}

static void (*const TARGETS[AV_TASK_COUNT])(const struct sequence *s) = {
    [AV_TASK_RECONSTRUCT] = copy_rows,
    [AV_TASK_AVERAGE] = average_rows,
    [AV_TASK_RECALL] = ask_for_value,
    [AV_TASK_COPY_PREVIOUS] = ask_for_previous,
};

size_t av_task_first(const struct av_train_config *c)
{
    return c->task == AV_TASK_RECALL ? c->seq_len - 1 : 0;
}

bool av_task_is_identity(const struct av_train_config *c)
{
    return c->task == AV_TASK_RECONSTRUCT && !c->layer_norm;
}

/* ---- Sequences ---------------------------------------------------------------- */

void av_task_source_draw(const struct av_task_source *s)
{
    const struct av_train_config *c = s->config;
    for (size_t i = 0; s->code != NULL && i < c->seq_len; i++) {
        struct av_stream stream = { c->seed, TENSOR_CODE, (uint32_t)i };
        s->kernels->draw(s->code + i * c->d_model, 0, c->d_model, AV_DIST_NORMAL, stream);
    }
}

enum av_status av_task_source_new(struct av_task_source *s, const struct av_train_config *c,
                                  const struct av_kernels *kernels, struct av_error *e)
{
    *s = (struct av_task_source){ c, kernels, NULL };
    if (c->task != AV_TASK_COPY_PREVIOUS) {
        return AV_OK;
    }
    s->code = av_alloc(c->seq_len * c->d_model, sizeof *s->code);
    if (s->code == NULL) {
        return av_fail_nomem(e, "the codes of the positions");
    }
    av_task_source_draw(s);
    return AV_OK;
}

void av_task_source_free(struct av_task_source *s)
{
    av_free(s->code);
    s->code = NULL;
}

/* LayerNorm without gain and bias. */
static void layer_norm(float *x, size_t n)
{
    double mean = 0, var = 0;
    for (size_t c = 0; c < n; c++) {
        mean += (double)x[c];
    }
    mean /= (double)n;
    for (size_t c = 0; c < n; c++) {
        var += ((double)x[c] - mean) * ((double)x[c] - mean);
    }
    double factor = 1 / sqrt(var / (double)n + LAYER_NORM_EPS);
    for (size_t c = 0; c < n; c++) {
        x[c] = (float)(((double)x[c] - mean) * factor);
    }
}

void av_task_draw(const struct av_task_source *s, size_t epoch, size_t i, float *x, float *target, size_t pitch)
{
    const struct av_train_config *c = s->config;
    const float mean = (float)c->input_mean, std = (float)c->input_std;
    struct av_stream stream = { c->seed, TENSOR_DATA + (uint32_t)epoch, (uint32_t)i };
    for (size_t t = 0; t < c->seq_len; t++) {
        float *row = x + t * pitch;
        s->kernels->draw(row, t * c->d_model, c->d_model, AV_DIST_NORMAL, stream);
        for (size_t k = 0; k < c->d_model; k++) {
            row[k] = mean + std * row[k];
        }
    }
    if (av_task_is_identity(c)) {
        return;
    }
    struct sequence sequence = { x, target, c->seq_len, c->d_model, pitch, 0, s->code };
    if (c->task == AV_TASK_RECALL) {
        sequence.key = pick(c, PICK_KEY, epoch, i, c->seq_len - 1);
    }
    TARGETS[c->task](&sequence);
    for (size_t t = 0; c->layer_norm && t < c->seq_len; t++) {
        layer_norm(x + t * pitch, c->d_model);
    }
}
