/* precision_words.c - what is said of narrower arithmetic: the rules behind the words. */
#include "attnviz/precision_study.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* ---- masks ----------------------------------------------------------------------- */

static const double SLIGHT = 1e-3; /* of a row's weight */

/* With one digit, 4e-5, or as it is when it is large: 0.31. */
static const char *small(char out[AV_MASK_WORDS_MAX], double x)
{
    if (x >= SLIGHT) {
        snprintf(out, AV_MASK_WORDS_MAX, "%.2g", x);
        return out;
    }
    double exponent = floor(log10(x));
    snprintf(out, AV_MASK_WORDS_MAX, "%.0fe%.0f", floor(x / pow(10, exponent)), exponent);
    return out;
}

const char *av_mask_words_causal(char out[AV_MASK_WORDS_MAX], const struct av_mask_trial *t, enum av_severity *how)
{
    *how = AV_BAD;
    if (t->nan_rows > t->overflown) {
        snprintf(out, AV_MASK_WORDS_MAX, "NaN: %zu/%zu", t->nan_rows, t->rows);
    } else if (t->nan_rows > 0) {
        snprintf(out, AV_MASK_WORDS_MAX, "overflow");
    } else if (t->leak > 0) {
        *how = t->leak < SLIGHT ? AV_WARN : AV_BAD;
        small(out, t->leak);
    } else {
        *how = AV_INFO;
        snprintf(out, AV_MASK_WORDS_MAX, "%s", t->rows > 0 ? "0" : "no such row");
    }
    return out;
}

const char *av_mask_words_full(char out[AV_MASK_WORDS_MAX], const struct av_mask_trial *t, enum av_severity *how)
{
    char error[AV_MASK_WORDS_MAX];
    *how = AV_WARN;
    if (isnan(t->full_error)) {
        *how = AV_BAD;
        snprintf(out, AV_MASK_WORDS_MAX, "NaN");
    } else if (t->full_spread <= 0) {
        snprintf(out, AV_MASK_WORDS_MAX, "uniform");
    } else if (t->full_left < t->full_logits) {
        snprintf(out, AV_MASK_WORDS_MAX, "%zu/%zu as is", t->full_left, t->full_logits);
    } else if (t->full_error > 0) {
        snprintf(out, AV_MASK_WORDS_MAX, "as is ±%.40s", small(error, t->full_error));
    } else {
        snprintf(out, AV_MASK_WORDS_MAX, "as is");
    }
    return out;
}

/* ---- dtypes ------------------------------------------------------------------------ */

size_t av_precision_rows(const struct av_precision_cell *cell)
{
    return cell->rows - cell->nan_rows;
}

enum av_severity av_precision_judge(const struct av_precision_cell *cell)
{
    return cell->nan_rows > 0 ? AV_BAD : cell->argmax_lost > 0 || cell->dead_rows > 0 ? AV_WARN : AV_INFO;
}

struct list {
    struct av_precision_finding *out;
    size_t count;
};

static void say(struct list *list, enum av_severity severity, const char *fmt, ...) AV_PRINTF(3, 4);

static void say(struct list *list, enum av_severity severity, const char *fmt, ...)
{
    struct av_precision_finding *finding = &list->out[list->count++];
    va_list args;
    va_start(args, fmt);
    finding->severity = severity;
    finding->figure = false;
    vsnprintf(finding->text, sizeof finding->text, fmt, args);
    va_end(args);
}

static const char *name_of(enum av_dtype dtype)
{
    return av_param_find("dtype")->choices[dtype];
}

enum { NUMBER = 32 };

static const char *number(char out[NUMBER], double x)
{
    snprintf(out, NUMBER, x >= 100 && x < 1e6 ? "%.0f" : "%.2g", x);
    return out;
}

typedef size_t count_of(const struct av_precision_cell *cell);

static size_t nan_rows(const struct av_precision_cell *cell)
{
    return cell->nan_rows;
}

static size_t argmax_lost(const struct av_precision_cell *cell)
{
    return cell->argmax_lost;
}

static size_t dead_rows(const struct av_precision_cell *cell)
{
    return cell->dead_rows;
}

/* The dtype with the most, if that is more than f64 has; else f64. */
static enum av_dtype worst(const struct av_precision_cell *cells, count_of *count)
{
    enum av_dtype most = AV_DTYPE_F64;
    for (int t = AV_DTYPE_F32; t < AV_DTYPES; t++) {
        most = count(&cells[t]) > count(&cells[most]) ? (enum av_dtype)t : most;
    }
    return most;
}

/* Where f16 overflows only because the scale comes too late. */
static void say_order(struct list *list, const struct av_precision *r)
{
    const struct av_params *p = &r->params;
    const size_t *first = r->overflow.first;
    size_t d = (size_t)p->d_k;
    bool late = p->scale != 0 && p->scale_order == AV_SCALE_PRODUCT && r->overflow.whole;
    if (late && first[AV_SCALE_PRODUCT] > 0 && first[AV_SCALE_PRODUCT] <= d &&
        (first[AV_SCALE_QUERY] == 0 || first[AV_SCALE_QUERY] > d)) {
        say(list, AV_WARN, "f16 scores overflow before they are scaled: scale_order=query keeps them finite here");
    }
}

/* Weights of 0 and 1 are the same in every arithmetic, whatever the logits. */
static void say_one_hot(struct list *list, const struct av_precision *r, bool scale)
{
    const struct av_precision_cell *cells = r->at[scale];
    enum av_dtype t = worst(cells, dead_rows);
    if (cells[t].whole && 2 * cells[t].dead_rows > av_precision_rows(&cells[t]) && cells[t].weight_error_max < SLIGHT) {
        say(list, AV_INFO, "%s: small weight errors are no merit here: most rows are one-hot, and so in any dtype",
            scale ? "scaled" : "unscaled");
        list->out[list->count - 1].figure = true;
    }
}

size_t av_precision_findings(struct av_precision_finding out[AV_PRECISION_FINDINGS], const struct av_precision *r)
{
    const struct av_precision_cell *cells = r->at[r->params.scale != 0];
    const struct av_precision_cell *bf16[2] = { &r->at[0][AV_DTYPE_BF16], &r->at[1][AV_DTYPE_BF16] };
    struct list list = { out, 0 };
    bool whole = true;
    for (int t = 0; t < AV_DTYPES; t++) {
        whole = whole && cells[t].whole;
    }
    enum av_dtype t = worst(cells, nan_rows);
    if (t != AV_DTYPE_F64) {
        say(&list, AV_BAD, "%s: %zu of %zu rows are NaN: a logit is infinite", name_of(t), cells[t].nan_rows,
            cells[t].rows);
    }
    say_order(&list, r);
    t = worst(cells, dead_rows);
    if (t != AV_DTYPE_F64) {
        say(&list, AV_WARN, "%s: %zu of %zu rows have lost all gradient (f64: %zu): weights exactly 1 and 0",
            name_of(t), cells[t].dead_rows, av_precision_rows(&cells[t]), cells[AV_DTYPE_F64].dead_rows);
    }
    t = worst(cells, argmax_lost);
    if (t != AV_DTYPE_F64) {
        say(&list, AV_WARN, "%s: in %zu of %zu rows another key is level with the first, or ahead", name_of(t),
            cells[t].argmax_lost, av_precision_rows(&cells[t]));
    }
    if (whole && list.count == 0 && cells[AV_DTYPE_F64].rows > 0) {
        say(&list, AV_INFO, "every dtype keeps each row's largest weight where it is, and a gradient");
    }
    say_one_hot(&list, r, r->params.scale != 0);
    say_one_hot(&list, r, r->params.scale == 0);
    if (bf16[0]->whole && bf16[1]->whole && isfinite(bf16[0]->logit_error_max) && bf16[1]->logit_error_max > 0 &&
        bf16[0]->logit_error_max > bf16[1]->logit_error_max) {
        char off[2][NUMBER];
        say(&list, AV_INFO, "bf16 logits: off by %s unscaled, %s scaled: rounding goes with size",
            number(off[0], bf16[0]->logit_error_max), number(off[1], bf16[1]->logit_error_max));
        out[list.count - 1].figure = true;
    }
    return list.count;
}
