/* source_given.c - a head whose scores or weights are given in the place of queries and keys. */
#include "source_given.h"

#include "attnviz/mem.h"
#include "attnviz/variant.h"

#include <string.h>

enum { READ_PAIRS = 1 << 18 }; /* of a tensor in single precision, read at a time */

/* What there has to be, of queries and keys both; auto stands for none. */
static const enum av_part parts[AV_FROM_COUNT] = {
    [AV_FROM_QK] = AV_PART_Q, [AV_FROM_SCORES] = AV_PART_SCORES, [AV_FROM_WEIGHTS] = AV_PART_WEIGHTS
};

bool av_source_has(const struct av_source_layer *l, enum av_from from)
{
    bool keys = from != AV_FROM_QK || l->part[AV_PART_K].there;
    return from == AV_FROM_AUTO || (keys && l->part[parts[from]].there);
}

enum av_part av_source_from(const struct av_source_layer *l, enum av_from from)
{
    return from != AV_FROM_AUTO && av_source_has(l, from) ? parts[from]
           : av_source_has(l, AV_FROM_QK)                 ? AV_PART_Q
           : av_source_has(l, AV_FROM_WEIGHTS)            ? AV_PART_WEIGHTS
                                                          : AV_PART_SCORES;
}

bool av_source_has_choice(const struct av_source_layer *l)
{
    int count = 0;
    for (int from = AV_FROM_AUTO + 1; from < AV_FROM_COUNT; from++) {
        count += av_source_has(l, (enum av_from)from);
    }
    return count > 1;
}

bool av_source_acts(enum av_part from, const struct av_param *row)
{
    static const char *const on_weights[] = { "mask", "query", "key", "head", "layer", "from" };
    static const char *const on_scores[] = { "temperature", "offset", "key_offset", "variant", "dtype", "bins" };
    bool scores = from == AV_PART_SCORES;
    bool found = from == AV_PART_Q || (scores && (row->flags & AV_PARAM_OWNED) != 0);
    for (size_t i = 0; i < sizeof on_weights / sizeof on_weights[0]; i++) {
        found = found || strcmp(row->name, on_weights[i]) == 0;
    }
    for (size_t i = 0; scores && i < sizeof on_scores / sizeof on_scores[0]; i++) {
        found = found || strcmp(row->name, on_scores[i]) == 0;
    }
    return found;
}

void av_source_limit(struct av_params *p, const struct av_source_layer *l)
{
    enum av_part from = av_source_from(l, (enum av_from)p->from);
    if (from == AV_PART_SCORES) {
        p->variant = av_variant_on_logits(p->variant);
    } else if (from == AV_PART_WEIGHTS) {
        p->variant = 0;
        p->dtype = AV_DTYPE_F64;
    }
}

enum av_status av_source_check(const struct av_source_layer *layers, size_t count, const struct av_params *p,
                               struct av_error *e)
{
    bool variant = false, dtype = false;
    for (size_t i = 0; i < count; i++) {
        struct av_params left = *p;
        av_source_limit(&left, &layers[i]);
        variant = variant || left.variant == p->variant;
        dtype = dtype || left.dtype == p->dtype;
    }
    enum av_part from = av_source_from(&layers[0], (enum av_from)p->from);
    const char *holds = from == AV_PART_WEIGHTS ? "weights" : "scores";
    bool alone = !av_source_has_choice(&layers[0]);
    char name[AV_VARIANT_TEXT_MAX];
    if (!variant) {
        return av_fail(e, AV_USAGE, "variant=%s: it does not act on the file's %s, which %s%s",
                       av_variant_format(p->variant, name), holds,
                       alone ? "are all that it holds" : "are taken by from=",
                       alone ? "" : av_param_find("from")->choices[p->from]);
    }
    return dtype ? AV_OK
                 : av_fail(e, AV_USAGE, "dtype=%s: the file's weights are taken as they are",
                           av_param_find("dtype")->choices[p->dtype]);
}

static enum av_status read_wide(double *to, const struct av_source *s, const struct av_loaded_head *h,
                                struct av_error *e)
{
    return s->read(s->state, h->layer, h->from, h->head, 0, h->n_q, NULL, to, e);
}

/* Some rows at a time, each widened. */
static enum av_status read_narrow(double *to, const struct av_source *s, const struct av_loaded_head *h,
                                  struct av_error *e)
{
    size_t fit = READ_PAIRS / h->n_k + 1;
    size_t rows = fit < h->n_q ? fit : h->n_q;
    float *read = av_alloc(rows * h->n_k, sizeof *read);
    enum av_status status = AV_OK;
    if (read == NULL) {
        return av_fail_nomem(e, "rows of a head");
    }
    for (size_t i = 0; status == AV_OK && i < h->n_q; i += rows) {
        size_t count = rows < h->n_q - i ? rows : h->n_q - i;
        status = s->read(s->state, h->layer, h->from, h->head, i, count, read, NULL, e);
        for (size_t at = 0; status == AV_OK && at < count * h->n_k; at++) {
            to[i * h->n_k + at] = (double)read[at];
        }
    }
    av_free(read);
    return status;
}

enum av_status av_source_load_from(struct av_loaded_head *out, const struct av_source *s, size_t layer, size_t head,
                                   enum av_part from, struct av_error *e)
{
    const struct av_source_layer *l = &s->layers[layer];
    if (from == AV_PART_Q) {
        return av_source_load(out, s, layer, head, e);
    }
    *out = (struct av_loaded_head){
        .layer = layer, .head = head, .k_head = head, .n_q = l->n_q, .n_k = l->n_k, .from = from
    };
    double bytes = (double)l->n_q * (double)l->n_k * sizeof(double);
    if (bytes > 0.8 * (double)av_mem_physical()) {
        return av_fail(e, AV_NOMEM, "%s: a head of layer %zu needs %.1f GiB, more than this machine's memory", s->name,
                       l->number, bytes / 0x1p30);
    }
    double *given = av_alloc(l->n_q * l->n_k, sizeof *given);
    if (given == NULL) {
        return av_fail_nomem(e, "a head's rows");
    }
    out->memory = given;
    out->given = given;
    enum av_status status = (l->part[from].wide ? read_wide : read_narrow)(given, s, out, e);
    if (status == AV_OK) {
        const struct av_entries rows = { .f64 = given, .pitch = l->n_k };
        av_source_count(&out->given_bad, &rows, l->n_q, l->n_k, from == AV_PART_SCORES);
    }
    return status;
}
