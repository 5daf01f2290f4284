/* depth_io.c - stacks of layers as CSV, as JSON, and for people. */
#include "attnviz/depth_io.h"

#include "attnviz/facts.h"
#include "report_formats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The twins in the order in which they are written: with the scale first. */
static bool is_written(const struct av_depth_study *study, bool scale)
{
    return study->params.runs != (scale ? AV_RUNS_OFF : AV_RUNS_ON);
}

static const char *on_off(bool on)
{
    return on ? "on" : "off";
}

/* What the gradient of w_q and w_k is at a layer, in a word. */
static const char *kind_word(const struct av_depth_stack *s, size_t layer)
{
    if (s->overflow != AV_DEPTH_NO_OVERFLOW && s->overflow_layer == layer) {
        return "overflow";
    }
    return av_depth_kind_name(av_depth_kind(&s->layers[layer], AV_DEPTH_GRAD_QK, s->single));
}

/* A field as a number: NaN where it is none. */
static double number_of(const struct av_depth_stack *s, size_t layer, enum av_depth_field field)
{
    const enum av_depth_kind kind = av_depth_kind(&s->layers[layer], field, s->single);
    return kind == AV_DEPTH_NUMBER || kind == AV_DEPTH_ZERO ? s->layers[layer].at[field] : (double)NAN;
}

/* ---- CSV --------------------------------------------------------------------- */

static void add_csv_row(struct av_str *out, int run, bool scale, size_t layer, const struct av_depth_stack *s)
{
    av_str_addf(out, "%d,%s,%zu", run, on_off(scale), layer);
    for (enum av_depth_field f = 0; f < AV_DEPTH_FIELDS; f++) {
        const double value = number_of(s, layer, f);
        if (isfinite(value)) {
            av_str_addf(out, ",%.17g", value);
        } else {
            av_str_add(out, ",");
        }
    }
    av_str_addf(out, ",%s\n", kind_word(s, layer));
}

static void write_csv(struct av_str *out, const struct av_depth_study *study)
{
    av_str_add(out, "run,scale,layer");
    for (enum av_depth_field f = 0; f < AV_DEPTH_FIELDS; f++) {
        av_str_addf(out, ",%s", av_depth_fields[f].name);
    }
    av_str_add(out, ",grad_qk\n");
    for (size_t layer = 0; layer < study->twins[0]->config.layers; layer++) {
        int run = 0;
        for (int k = 0; k < 2; k++) {
            const struct av_depth_stack *s = &study->twins[k == 0]->median;
            run += is_written(study, k == 0);
            if (is_written(study, k == 0) && layer < s->count) {
                add_csv_row(out, run, k == 0, layer, s);
            }
        }
    }
}

/* ---- JSON --------------------------------------------------------------------- */

static const char *const params[] = { "task", "layers",         "tokens", "d_model",
                                      "d_k",  "init",           "clip",   "residual",
                                      "norm", "residual_scale", "mlp",    "depth_dtype",
                                      "runs", "exponent",       "seed",   NULL };

static void write_overflow(struct av_json *j, const struct av_depth_stack *s)
{
    static const char *const passes[] = { "forward", "backward" };
    if (s->overflow == AV_DEPTH_NO_OVERFLOW) {
        av_json_null(j, "overflow");
        return;
    }
    av_json_object(j, "overflow");
    av_json_string(j, "pass", passes[s->overflow]);
    av_json_unsigned(j, "layer", s->overflow_layer);
    av_json_close(j, '}');
}

static void write_layers(struct av_json *j, const struct av_depth_stack *s)
{
    av_json_array(j, "layers");
    for (size_t layer = 0; layer < s->count; layer++) {
        av_json_object(j, NULL);
        av_json_unsigned(j, "layer", layer);
        for (enum av_depth_field f = 0; f < AV_DEPTH_FIELDS; f++) {
            av_json_number(j, av_depth_fields[f].name, number_of(s, layer, f));
        }
        av_json_string(j, "grad_qk", kind_word(s, layer));
        av_json_close(j, '}');
    }
    av_json_close(j, ']');
}

static void write_run(struct av_json *j, int run, bool scale, const struct av_depth_cell *cell)
{
    char words[AV_DEPTH_WORDS];
    av_json_object(j, NULL);
    av_json_integer(j, "run", run);
    av_json_string(j, "scale", on_off(scale));
    av_json_unsigned(j, "seeds", cell->done);
    av_json_string(j, "fate", av_depth_fate_name(av_depth_find(&cell->median).fate));
    av_json_string(j, "words", av_depth_words(words, cell));
    av_json_number(j, "norm", cell->median.norm);
    av_json_number(j, "clipped", cell->median.clipped);
    write_overflow(j, &cell->median);
    write_layers(j, &cell->median);
    av_json_close(j, '}');
}

static void write_json(struct av_str *out, const struct av_depth_study *study)
{
    struct av_json j;
    int run = 0;
    av_json_begin(&j, out);
    av_json_object(&j, NULL);
    av_json_string(&j, "version", AV_VERSION);
    av_json_object(&j, "params");
    for (const char *const *name = params; *name != NULL; name++) {
        av_report_json_param(&j, av_param_find(*name), &study->params);
    }
    av_json_close(&j, '}');
    av_json_array(&j, "runs");
    for (int k = 0; k < 2; k++) {
        if (is_written(study, k == 0)) {
            write_run(&j, ++run, k == 0, study->twins[k == 0]);
        }
    }
    av_json_close(&j, ']');
    av_json_close(&j, '}');
}

/* ---- Text ---------------------------------------------------------------------- */

/* "noise", "overflow", "-" for what is not known. */
static void add_field(struct av_str *out, const struct av_depth_stack *s, size_t layer, enum av_depth_field field,
                      int width)
{
    char text[AV_FACT_NUMBER];
    const enum av_depth_kind kind = av_depth_kind(&s->layers[layer], field, s->single);
    if (kind == AV_DEPTH_NUMBER || kind == AV_DEPTH_ZERO) {
        /* fewer digits where a long exponent would touch the column before */
        int digits = AV_FACT_DIGITS;
        while (strlen(av_fact_number(text, s->layers[layer].at[field], digits)) >= (size_t)width && digits > 1) {
            digits--;
        }
    } else if (kind == AV_DEPTH_NOISE) {
        snprintf(text, sizeof text, "noise");
    } else {
        const bool here = s->overflow != AV_DEPTH_NO_OVERFLOW && s->overflow_layer == layer;
        snprintf(text, sizeof text, "%s", here ? "overflow" : "-");
    }
    av_str_addf(out, "%*s", width, text);
}

static void add_layer(struct av_str *out, bool scale, size_t layer, const struct av_depth_stack *s)
{
    static const struct {
        enum av_depth_field field;
        int width;
    } columns[] = { { AV_DEPTH_GRAD_QK, 13 }, { AV_DEPTH_GRAD_V, 9 }, { AV_DEPTH_GRAD_O, 9 },   { AV_DEPTH_GRAD_X, 9 },
                    { AV_DEPTH_COSINE, 9 },   { AV_DEPTH_SIZE, 9 },   { AV_DEPTH_LOGIT_STD, 9 } };
    av_str_addf(out, "%5zu %-5s", layer, on_off(scale));
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        add_field(out, s, layer, columns[i].field, columns[i].width);
    }
    av_str_add(out, "\n");
}

static void add_setting(struct av_str *out, const struct av_depth_study *study)
{
    static const char *const norms[AV_NORM_COUNT] = { "no norm", "pre-norm", "post-norm" };
    const struct av_depth_config *c = &study->twins[1]->config;
    av_str_addf(out, "%zu layers at initialisation: %s, %s%s%s\n", c->layers, c->residual ? "residual" : "no residual",
                norms[c->norm], c->residual_scale ? ", 1/sqrt(2L)" : "", c->mlp ? ", mlp" : "");
    av_str_addf(out, "%zu tokens, d_model %zu, d_k %zu, %s, init %s", c->tokens, c->d_model, c->d_k,
                c->single ? "f32" : "f64", av_param_find("init")->choices[c->init]);
    if (c->clip > 0) {
        av_str_addf(out, ", clip %g", c->clip);
    }
    av_str_addf(out, "\nmedians of %zu seeds from %llu on\n", study->twins[1]->done, (unsigned long long)c->seed);
}

static void write_text(struct av_str *out, const struct av_depth_study *study)
{
    add_setting(out, study);
    av_str_addf(out, "\n%5s %-5s%13s%9s%9s%9s%9s%9s%9s\n", "layer", "scale", "grad_w_q_w_k", "grad_w_v", "grad_w_o",
                "grad_x", "cosine", "size", "logits");
    for (size_t layer = 0; layer < study->twins[0]->config.layers; layer++) {
        for (int k = 0; k < 2; k++) {
            const struct av_depth_stack *s = &study->twins[k == 0]->median;
            if (is_written(study, k == 0) && layer < s->count) {
                add_layer(out, k == 0, layer, s);
            }
        }
    }
    av_str_add(out, "\nNorms of gradients of white noise at the top; cosine: mean between tokens; size:\n"
                    "of the output; logits: their standard deviation. noise: lost in rounding, below\n");
    av_str_addf(out, "%s of the terms that cancel; 0: every row is one-hot.\n\n",
                study->twins[1]->config.single ? "1e-7" : "1e-12");
    for (int k = 0; k < 2; k++) {
        const struct av_depth_cell *cell = study->twins[k == 0];
        char words[AV_DEPTH_WORDS];
        if (is_written(study, k == 0)) {
            av_str_addf(out, "scale %s:\n  %s\n", on_off(k == 0), av_depth_words(words, cell));
        }
        if (is_written(study, k == 0) && cell->median.clipped < 1) {
            av_str_addf(out, "  clipped to a norm of %g, each gradient times %.3g\n", cell->config.clip,
                        cell->median.clipped);
        }
    }
}

enum av_status av_depth_write(struct av_str *out, enum av_format format, const struct av_depth_study *study,
                              struct av_error *e)
{
    static void (*const writers[AV_FORMAT_COUNT])(struct av_str *, const struct av_depth_study *) = {
        [AV_FORMAT_TEXT] = write_text,
        [AV_FORMAT_JSON] = write_json,
        [AV_FORMAT_CSV] = write_csv,
    };
    writers[format](out, study);
    return out->failed ? av_fail_nomem(e, "the layers") : AV_OK;
}
