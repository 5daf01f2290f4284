/* sweep_io.c - the reports of a sweep, a value after another, as one text. */
#include "attnviz/sweep_io.h"

#include "report_formats.h"

#include <math.h>
#include <string.h>

/* ---- Text: a table for people ------------------------------------------------ */

/* Defines a getter that reads one expression of the snapshot s. */
#define GETTER(id, expression)                                                                                         \
    static double get_##id(const struct av_snapshot *s)                                                                \
    {                                                                                                                  \
        return expression;                                                                                             \
    }

GETTER(logit_std, av_moments_std(&s->now.logits))
GETTER(entropy, s->now.entropy_norm_mean)
GETTER(theory, s->has_theory ? s->theory.entropy_norm : (double)NAN)
GETTER(largest, s->now.max_median)
GETTER(share, s->now.share_max_gt_0_9)
GETTER(fro, s->now.jacobian_fro_median)
GETTER(dead, s->now.share_fro_lt_1e_3)
GETTER(dq, s->now.dq_rms_median)

static const struct column {
    const char *heading[2]; /* one above the other */
    const char *text;
    double (*get)(const struct av_snapshot *s);
    int width;
} COLUMNS[] = {
    { { "logit", "std" }, "standard deviation of the logits", get_logit_std, 9 },
    { { "H", "/ ln n" }, "mean of entropy / ln(unmasked keys)", get_entropy, 9 },
    { { "in", "theory" }, "the same for Gaussian logits, exact; - where it is not known", get_theory, 9 },
    { { "largest", "median" }, "median over rows of the largest weight", get_largest, 9 },
    { { "share", "> 0.9" }, "share of rows whose largest weight exceeds 0.9", get_share, 7 },
    { { "fro", "median" }, "median Frobenius norm of the softmax Jacobian", get_fro, 9 },
    { { "share", "dead" }, "share of dead rows, whose Frobenius norm is below 1e-3", get_dead, 7 },
    { { "dq_rms", "median" }, "median RMS gradient of a query under white noise", get_dq, 9 },
};

enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0], VALUE_WIDTH_MIN = 8 };

/* Of the first column: values of six digits and names up to `temperature` fit. */
static int value_width(const struct av_sweep_out *w)
{
    int name = (int)strlen(w->over->row->name);
    return name > VALUE_WIDTH_MIN ? name : VALUE_WIDTH_MIN;
}

/* What is swept, and which parameters beside it are not at their defaults. */
static void add_setting(struct av_sweep_out *w, const struct av_params *p)
{
    struct av_params defaults;
    size_t count;
    const struct av_param *rows = av_params_table(&count);
    av_params_default(&defaults);
    av_str_addf(w->out, "over %s, %zu values", w->over->row->name, av_over_count(w->over));
    for (size_t i = 0; i < count; i++) {
        if (&rows[i] != w->over->row && av_param_differs(&rows[i], &defaults, p)) {
            char value[AV_PARAM_SHORT_MAX];
            av_str_addf(w->out, ", %s %s", rows[i].name, av_param_format_short(&rows[i], p, value));
        }
    }
    av_str_add(w->out, "\n\n");
}

static void begin_text(struct av_sweep_out *w, const struct av_params *p)
{
    add_setting(w, p);
    for (int line = 0; line < 2; line++) {
        av_str_addf(w->out, "%*s", value_width(w), line == 1 ? w->over->row->name : "");
        for (size_t i = 0; i < COLUMN_COUNT; i++) {
            av_str_addf(w->out, "%*s", COLUMNS[i].width, COLUMNS[i].heading[line]);
        }
        av_str_add(w->out, "\n");
    }
}

static void add_text(struct av_sweep_out *w, const struct av_snapshot *s)
{
    char value[AV_PARAM_SHORT_MAX];
    av_str_addf(w->out, "%*s", value_width(w), av_param_format_short(w->over->row, &s->params, value));
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        double x = COLUMNS[i].get(s);
        if (isnan(x)) {
            av_str_addf(w->out, "%*s", COLUMNS[i].width, "-");
        } else {
            av_str_addf(w->out, "%*.3g", COLUMNS[i].width, x);
        }
    }
    av_str_add(w->out, "\n");
}

static void end_text(struct av_sweep_out *w)
{
    av_str_add(w->out, "\n");
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        const struct column *c = &COLUMNS[i];
        struct av_str heading = AV_STR_INIT;
        av_str_addf(&heading, "%s %s", c->heading[0], c->heading[1]);
        av_str_addf(w->out, "%-15s %s\n", av_str_text(&heading), c->text);
        av_str_free(&heading);
    }
}

/* ---- JSON and CSV: reports ------------------------------------------------------ */

static void begin_json(struct av_sweep_out *w, const struct av_params *p)
{
    (void)p;
    av_json_begin(&w->json, w->out);
    av_json_array(&w->json, NULL);
}

static void add_json(struct av_sweep_out *w, const struct av_snapshot *s)
{
    av_json_object(&w->json, NULL);
    av_report_json_members(&w->json, s);
    av_json_close(&w->json, '}');
}

static void end_json(struct av_sweep_out *w)
{
    av_json_close(&w->json, ']');
}

static void begin_csv(struct av_sweep_out *w, const struct av_params *p)
{
    (void)p;
    av_report_csv_header(w->out, false);
}

static void add_csv(struct av_sweep_out *w, const struct av_snapshot *s)
{
    av_report_csv_row(w->out, s);
}

static void end_csv(struct av_sweep_out *w)
{
    (void)w;
}

/* ---- All three --------------------------------------------------------------- */

static const struct {
    void (*begin)(struct av_sweep_out *w, const struct av_params *p);
    void (*add)(struct av_sweep_out *w, const struct av_snapshot *s);
    void (*end)(struct av_sweep_out *w);
} FORMATS[AV_FORMAT_COUNT] = {
    [AV_FORMAT_TEXT] = { begin_text, add_text, end_text },
    [AV_FORMAT_JSON] = { begin_json, add_json, end_json },
    [AV_FORMAT_CSV] = { begin_csv, add_csv, end_csv },
};

static enum av_status checked(const struct av_sweep_out *w, struct av_error *e)
{
    return w->out->failed ? av_fail_nomem(e, "the sweep") : AV_OK;
}

void av_sweep_begin(struct av_sweep_out *w, struct av_str *out, enum av_format format, const struct av_over *over,
                    const struct av_params *p)
{
    *w = (struct av_sweep_out){ .out = out, .format = format, .over = over };
    FORMATS[format].begin(w, p);
}

enum av_status av_sweep_add(struct av_sweep_out *w, const struct av_snapshot *s, struct av_error *e)
{
    FORMATS[w->format].add(w, s);
    return checked(w, e);
}

enum av_status av_sweep_end(struct av_sweep_out *w, struct av_error *e)
{
    FORMATS[w->format].end(w);
    return checked(w, e);
}
