/* report_text_heads.c - a report for people: what all heads come to, then each, then one in full. */
#include "attnviz/verdict_table.h"
#include "attnviz/wrap.h"
#include "report_text.h"
#include "shown.h"

#include <math.h>
#include <string.h>

void av_report_text_wrap(struct av_str *out, const char *text, int x, int indent)
{
    while (true) {
        size_t n = av_wrap_piece(text, x < AV_REPORT_TEXT_W ? AV_REPORT_TEXT_W - x : 1);
        av_str_addn(out, text, n);
        av_str_add(out, "\n");
        text += n + strspn(text + n, " ");
        if (*text == '\0') {
            return;
        }
        av_str_addf(out, "%*s", indent, "");
        x = indent;
    }
}

/* ---- What was read ---------------------------------------------------------------- */

/* The least and the largest of something over the layers. */
struct range {
    size_t least, most;
};

static void widen(struct range *r, size_t x)
{
    r->least = x < r->least ? x : r->least;
    r->most = x > r->most ? x : r->most;
}

/* "128 tokens", "1 token", "4 .. 6 tokens" */
static void add_range(struct av_str *out, const char *before, struct range r, const char *one, const char *many)
{
    av_str_addf(out, "%s%zu", before, r.least);
    if (r.most > r.least) {
        av_str_addf(out, " .. %zu", r.most);
    }
    av_str_addf(out, " %s", r.most == 1 ? one : many);
}

static void add_sizes(struct av_str *out, const struct av_source *source)
{
    const struct range none = { SIZE_MAX, 0 };
    struct range heads = none, k_heads = none, n_q = none, n_k = none, d = none;
    bool square = true;
    for (size_t i = 0; i < source->layer_count; i++) {
        const struct av_source_layer *l = &source->layers[i];
        widen(&heads, l->n_head);
        widen(&k_heads, l->n_head_kv);
        widen(&n_q, l->n_q);
        widen(&n_k, l->n_k);
        if (l->d > 0) {
            widen(&d, l->d);
        }
        square = square && l->n_q == l->n_k;
    }
    add_range(out, "", (struct range){ source->layer_count, source->layer_count }, "layer", "layers");
    add_range(out, " of ", heads, "head", "heads");
    if (k_heads.most < heads.most) {
        add_range(out, " on ", k_heads, "key head", "key heads");
    }
    add_range(out, ", ", n_q, square ? "token" : "query", square ? "tokens" : "queries");
    if (!square) {
        add_range(out, ", ", n_k, "key", "keys");
    }
    if (d.most > 0) {
        av_str_addf(out, d.most > d.least ? ", d_k %zu .. %zu" : ", d_k %zu", d.least, d.most);
    }
}

/* Of any layer. */
static void add_roles(struct av_str *out, const struct av_source *source)
{
    static const char *const roles[AV_PARTS] = { "queries", "keys", "scores", "weights" };
    const char *before = "  read: ";
    for (size_t part = 0; part < AV_PARTS; part++) {
        bool there = false;
        for (size_t i = 0; i < source->layer_count; i++) {
            there = there || source->layers[i].part[part].there;
        }
        if (there) {
            av_str_addf(out, "%s%s", before, roles[part]);
            before = ", ";
        }
    }
}

/* Is the mask in force another one than that of the file's weights, by more than a leak? */
static bool masked_otherwise(const struct av_diagnosis *d)
{
    for (size_t i = 0; i < d->finding_count; i++) {
        const struct av_verdict *v = &d->findings[i];
        bool other = strcmp(v->code, "mask_other") == 0;
        bool leak = strcmp(v->code, "mask_leak") == 0 || strcmp(v->code, "masked_weight") == 0;
        if (other || (leak && v->severity == AV_BAD)) { /* bad: more than 1% of the weight */
            return true;
        }
    }
    return false;
}

/* Are the weights or scores that come along those of the multiplier and mask in force? */
static bool follows(const struct av_snapshot *s)
{
    const double here = s->alpha / s->params.temperature;
    return s->diagnosis != NULL && !masked_otherwise(s->diagnosis) &&
           s->diagnosis->evidence.multiplier.r2 >= AV_SLOPE_GOOD_R2 &&
           fabs(s->diagnosis->evidence.multiplier.slope / here - 1) <= AV_SLOPE_TOLERANCE;
}

/* Of a layer with several parts: which one the numbers are of. */
static void add_choice(struct av_str *out, const struct av_snapshot *s)
{
    const enum av_from from = (enum av_from)s->params.from;
    const char *asked = av_param_find("from")->choices[from];
    const char *beside = s->layer->part[AV_PART_WEIGHTS].there ? "weights" : "scores";
    if (!av_source_has(s->layer, from)) {
        av_str_addf(out, "  from=%s: layer %zu has none, so numbers are as by from=auto\n", asked, s->layer->number);
    }
    if (!av_source_has_choice(s->layer)) {
        return;
    }
    if (s->from == AV_PART_Q) {
        av_str_addf(out, "  numbers are of q.k so multiplied; the file's %s %s\n", beside,
                    follows(s) ? "follow the same" : "do not: verdicts that name them are of them");
        av_str_addf(out, "  --set from=%s: numbers of the file's %s instead\n", beside, beside);
    } else {
        av_str_addf(out, "  numbers are of the file's %s; --set from=qk|scores|weights chooses\n",
                    s->from == AV_PART_WEIGHTS ? "weights" : "scores");
    }
}

/* What they were read as: a mask or a scale that is not the model's makes every
 * number below another one. */
static void add_setting(struct av_str *out, const struct av_snapshot *s)
{
    const struct av_source *source = s->source;
    const struct av_params *p = &s->params;
    bool said = source->masked && (int64_t)source->mask == p->mask;
    bool untold = p->mask == AV_MASK_NONE && !source->masked && s->layer->d > 0 &&
                  !s->layer->part[AV_PART_WEIGHTS].there && !s->layer->part[AV_PART_SCORES].there;
    av_str_addf(out, "; mask %s%s", p->mask == AV_MASK_CAUSAL ? "causal" : "none",
                said     ? ", as the file says"
                : untold ? " (if it is causal: -s mask=causal)"
                         : "");
    if (s->from == AV_PART_Q) {
        av_str_addf(out, "; scale %s: q.k times %.6g", p->scale != 0 ? "on" : "off", s->alpha / p->temperature);
    }
    av_str_add(out, "\n");
    add_choice(out, s);
    if (source->sequences > 1) {
        av_str_addf(out, "  sequence %zu of %zu; --batch says which\n", source->sequence, source->sequences);
    }
}

static void add_summary(struct av_str *out, const struct av_snapshot *s)
{
    struct av_str line = AV_STR_INIT;
    av_str_addf(&line, "%s: ", av_shown(s->source->name).text);
    add_sizes(&line, s->source);
    av_report_text_wrap(out, av_str_text(&line), 0, 2);
    out->failed = out->failed || line.failed;
    av_str_free(&line);
    add_roles(out, s->source);
    add_setting(out, s);
    av_report_text_told(out, s->source);
}

/* ---- What was found --------------------------------------------------------------- */

/* What to do about a warning, as the list of verdicts has it. */
static void add_remedy(struct av_str *out, const struct av_verdict *v)
{
    size_t count, place = av_verdict_place(v->code);
    const struct av_verdict_row *rows = av_verdict_table(&count);
    if (v->severity > AV_INFO && place < count) {
        av_str_addf(out, "%*s-> ", AV_REPORT_TEXT_AT, "");
        av_report_text_wrap(out, rows[place].remedy, AV_REPORT_TEXT_AT + 3, AV_REPORT_TEXT_AT + 3);
    }
}

static void add_findings(struct av_str *out, const struct av_findings *found)
{
    av_str_addf(out, "\nfindings in %zu heads\n", found->heads);
    for (size_t i = 0; i < found->count; i++) {
        const struct av_finding *f = &found->at[i];
        av_str_addf(out, "  %-4s %s: %zu of %zu heads, %s layer %zu, head %zu:\n%*s",
                    av_report_severity(f->verdict.severity), f->verdict.code, f->heads, found->heads,
                    f->heads == 1 ? "in" : "first in", f->layer, f->head, AV_REPORT_TEXT_AT, "");
        av_report_text_wrap(out, av_shown(f->verdict.text).text, AV_REPORT_TEXT_AT, AV_REPORT_TEXT_AT);
        add_remedy(out, &f->verdict);
    }
    if (found->count == 0) {
        av_str_add(out, "  none\n");
    }
}

/* ---- The table of heads ------------------------------------------------------------ */

static const struct column {
    const char *heading[2]; /* one above the other */
    const char *block, *name;
} COLUMNS[] = {
    { { "logit std", "in a row" }, "logits", "row_std" }, /* which the verdicts are about */
    { { "largest w", "median" }, "weights", "max_median" },
    { { "entropy", "/ ln keys" }, "weights", "entropy_norm_mean" },
    { { "jacobian", "median" }, "gradient", "jacobian_fro_median" },
    { { "share of", "dead rows" }, "gradient", "share_fro_lt_1e_3" },
};

enum { COLUMN_COUNT = sizeof COLUMNS / sizeof COLUMNS[0], COLUMN_W = 9 };

static void add_headings(struct av_str *out)
{
    av_str_add(out, "\nheads\n");
    for (int line = 0; line < 2; line++) {
        av_str_add(out, line == 0 ? "                    " : "  layer  head k_head");
        for (size_t i = 0; i < COLUMN_COUNT; i++) {
            av_str_addf(out, "  %*s", COLUMN_W, COLUMNS[i].heading[line]);
        }
        av_str_add(out, line == 0 ? "\n" : "  verdicts\n");
    }
}

/* Of what is more than information. */
static void add_codes(struct av_str *out, const struct av_snapshot *s)
{
    const struct av_verdict *verdicts[AV_REPORT_VERDICTS];
    size_t count = av_report_codes(s, verdicts);
    for (size_t i = 0; i < count && verdicts[i]->severity > AV_INFO; i++) {
        av_str_addf(out, "%s%s", i == 0 ? "  " : " ", verdicts[i]->code);
    }
    av_str_add(out, "\n");
}

static void write_row(struct av_str *out, const struct av_snapshot *s, size_t i)
{
    (void)i; /* the snapshot says which layer and head it is of */
    av_str_addf(out, "  %5zu %5zu", s->layer->number, s->head);
    if (s->from == AV_PART_Q) {
        av_str_addf(out, " %6zu", s->k_head);
    } else {
        av_str_addf(out, " %6s", "-");
    }
    for (size_t k = 0; k < COLUMN_COUNT; k++) {
        const struct av_field *field = av_report_field(COLUMNS[k].block, COLUMNS[k].name);
        double x = field != NULL ? field->get(s) : (double)NAN;
        if (isnan(x)) {
            av_str_addf(out, "  %*s", COLUMN_W, "-");
        } else {
            av_str_addf(out, "  %*.4g", COLUMN_W, x);
        }
    }
    add_codes(out, s);
}

/* ---- All of it ---------------------------------------------------------------------- */

static void write_state(struct av_report_sheet *sheet, const struct av_snapshot *s)
{
    if (s->from_files) {
        add_summary(&sheet->first, s);
        av_str_add(&sheet->state, "\n");
    }
    av_report_text_state(&sheet->state, s);
}

static void join(struct av_str *out, const struct av_report_sheet *sheet)
{
    av_str_addn(out, av_str_text(&sheet->first), sheet->first.len);
    if (sheet->has_heads && sheet->found.heads > 1) { /* of one head the state says it all */
        add_findings(out, &sheet->found);
        add_headings(out);
        av_str_addn(out, av_str_text(&sheet->rows), sheet->rows.len);
    }
    av_str_addn(out, av_str_text(&sheet->state), sheet->state.len);
}

const struct av_report_writer av_report_text = { write_state, write_row, join };
