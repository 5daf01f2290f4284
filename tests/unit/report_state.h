/* report_state.h - a state made by hand, its reports, and numbers in them. */
#ifndef REPORT_STATE_H
#define REPORT_STATE_H

#include "attnviz/report_io.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Two queries, three keys; the second query is selected. */
struct state {
    struct av_snapshot s;
    double weights[6];
    struct av_rowstats rows[2];
    bool invalid[2];
    double dq_rms[2];
    struct av_source source;
    struct av_source_layer layer;
    struct av_loaded_head loaded;
};

static inline void add_verdict(struct av_snapshot *s, const char *code, enum av_severity severity, const char *text)
{
    struct av_verdict *v = &s->verdicts[s->verdict_count++];
    v->code = code;
    v->severity = severity;
    snprintf(v->text, sizeof v->text, "%s", text);
}

static inline void make_state(struct state *st)
{
    static const double weights[6] = { 1, 0, 0, 1.0 / 3, 0.1, 0x1.2345678p-1000 };
    memset(st, 0, sizeof *st);
    struct av_snapshot *s = &st->s;
    av_params_default(&s->params);
    s->params.n_q = 2;
    s->params.n_k = 3;
    s->params.query = 1;
    s->params.scale = 0;
    s->params.mask = AV_MASK_CAUSAL;
    s->params.temperature = 0.1;
    s->params.seed = UINT64_MAX;
    s->alpha = 1;
    s->n_q = 2;
    s->n_k = 3;
    s->d_k = 64;
    memcpy(st->weights, weights, sizeof weights);
    s->weights = st->weights;
    st->rows[1] = (struct av_rowstats){ .keys = 3, .max = 1.0 / 3, .one_minus_max = 0.1, .entropy = 0.7 };
    s->rows = st->rows;
    s->invalid = st->invalid;
    s->dq_rms = st->dq_rms;
    st->dq_rms[1] = 2.0 / 3;
    s->score_moments = (struct av_moments){ .count = 5, .mean = 0.1, .m2 = 8, .min = -3, .max = 1e-300 };
    s->expected_mean = (double)NAN;
    s->now.max_median = 0.3;
    s->now.rows_without_keys = 7;
    s->now.dq_rms_mean = (double)NAN;
    s->theory_freezing = 1.5;
    add_verdict(s, "saturated", AV_WARN, "half of \"it\"");
    add_verdict(s, "nan_input", AV_BAD, "q\xFF");
}

/* The same with files, at one of their heads. */
static inline void make_head(struct state *st, size_t head)
{
    make_state(st);
    st->layer = (struct av_source_layer){ .number = 5, .n_head = 4, .n_head_kv = 1, .n_q = 2, .n_k = 3, .d = 64 };
    st->layer.part[AV_PART_Q] =
        (struct av_source_tensor){ .name = "q,1", .type = "<f4", .rank = 3, .shape = { 4, 2, 64 }, .there = true };
    st->layer.part[AV_PART_K] =
        (struct av_source_tensor){ .name = "k", .type = ">f8", .rank = 2, .shape = { 3, 64 }, .there = true };
    st->source = (struct av_source){ .name = "x", .layers = &st->layer, .layer_count = 1 };
    st->loaded.k_bad.nan_count = 9;
    st->s.from_files = true;
    st->s.source = &st->source;
    st->s.layer = &st->layer;
    st->s.loaded = &st->loaded;
    st->s.heads = 4;
    st->s.head = head;
    st->s.k_head = head / 2;
    st->s.params.head = (int64_t)head;
    st->s.now.max_median = 0.3 + (double)head;
}

/* As a model does, gives every head in the place of the one before. */
static inline const struct av_snapshot *head_of(void *ctx, size_t head, struct av_error *e)
{
    (void)e;
    make_head(ctx, head);
    return &((struct state *)ctx)->s;
}

static inline void write_report(struct av_str *out, enum av_format format, struct state *st, av_report_head head)
{
    struct av_error e = { "" };
    if (av_report_write(out, format, &st->s, head, st, NULL, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
}

/* Is text the number x to the last bit, or `none` where x is none? */
static inline void check_number(const char *what, const char *text, double x, const char *none)
{
    char *end;
    double read = strtod(text, &end);
    if (isfinite(x) ? read != x || *end != '\0' || end == text : strcmp(text, none) != 0) {
        fail_msg("%s is %s, not %.17g", what, text, x);
    }
}

#endif
