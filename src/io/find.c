/* find.c - which tensors of a file are queries and keys, layer by layer. */
#include "attnviz/find.h"

#include "attnviz/strbuf.h"
#include "dump_parts.h"
#include "find_parts.h"
#include "shape.h"
#include "shown.h"

#include <stdlib.h>
#include <string.h>

enum { LISTED = 6, NAME_SHOWN = 40 };

/* All that a search needs to know. */
struct search {
    const struct av_find_file *file;
    const struct av_find_options *options;
    struct av_find_sizes sizes;
    struct av_find *out;
    struct av_error *e;
};

/* ---- Messages ------------------------------------------------------------------ */

/* "NAME [8, 128, 8], NAME ... and 12 more" */
static void list_tensors(const struct search *s, struct av_str *text)
{
    size_t listed = 0;
    for (size_t i = 0; i < s->file->count && listed < LISTED; i++) {
        const struct av_dump_tensor *t = &s->file->tensors[i];
        uint64_t shape[AV_SHAPE_MAX];
        for (size_t k = 0; k < t->rank; k++) {
            shape[k] = t->shape[k];
        }
        av_str_addf(text, "%s%s %s", listed > 0 ? ", " : "", av_shown_cut(t->name, NAME_SHOWN).text,
                    av_shape_text(shape, t->rank).text);
        listed++;
    }
    if (listed < s->file->count) {
        av_str_addf(text, " and %zu more", s->file->count - listed);
    }
}

static enum av_status undecided(const struct search *s)
{
    size_t learned = AV_FIND_NONE;
    for (size_t i = 0; i < s->file->count && learned == AV_FIND_NONE; i++) {
        learned = av_find_role(s->file->tensors[i].name) == AV_FIND_LEARNED ? i : AV_FIND_NONE;
    }
    if (learned != AV_FIND_NONE) {
        return av_fail(s->e, AV_FAILED,
                       "%s: %s is a learned matrix: queries and keys are what it makes of an input, dump these",
                       av_shown_cut(s->file->path, 140).text, av_shown_cut(s->file->tensors[learned].name, 100).text);
    }
    struct av_str text = AV_STR_INIT;
    list_tensors(s, &text);
    enum av_status status = av_fail(s->e, AV_FAILED,
                                    "%s: which are queries and keys? Say --q NAME --k NAME (a * stands for the "
                                    "layer's number). There are: %s",
                                    av_shown_cut(s->file->path, 100).text, av_str_text(&text));
    av_str_free(&text);
    return status;
}

/* A name was given that no tensor has. */
static enum av_status missing(const struct search *s, const char *name)
{
    struct av_str text = AV_STR_INIT;
    list_tensors(s, &text);
    enum av_status status =
        av_fail(s->e, AV_FAILED, "%s: there is no tensor %s. There are: %s", av_shown_cut(s->file->path, 100).text,
                av_shown_cut(name, NAME_SHOWN).text, av_str_text(&text));
    av_str_free(&text);
    return status;
}

static enum av_status no_layout(const struct search *s, const struct av_dump_tensor *t)
{
    uint64_t shape[AV_SHAPE_MAX];
    for (size_t k = 0; k < t->rank; k++) {
        shape[k] = t->shape[k];
    }
    return av_fail(s->e, AV_FAILED, "%s: %s %s: no layout fits%s: say --layout, --n-head, --n-head-kv or --d-k",
                   av_shown_cut(s->file->path, 100).text, av_shown_cut(t->name, 80).text,
                   av_shape_text(shape, t->rank).text,
                   s->sizes.heads == 0 ? ", and the number of heads is not known" : "");
}

/* ---- One layer ----------------------------------------------------------------- */

static enum av_status place_pair(const struct search *s, struct av_find_layer *layer, bool fused)
{
    const struct av_dump_tensor *q = &s->file->tensors[layer->q.tensor];
    const struct av_dump_tensor *k = &s->file->tensors[layer->k.tensor];
    const char *layout = s->options->layout;
    struct av_find_sizes sizes = s->sizes;
    if (fused && sizes.kv_heads == 0) {
        sizes.kv_heads = sizes.heads;
    }
    if (!av_find_rows(&layer->q, q, &layout, fused ? 0 : -1, &sizes, sizes.heads, &s->out->guessed)) {
        return no_layout(s, q);
    }
    sizes.d = layer->q.d;
    layout = k->rank == q->rank ? layout : s->options->layout; /* one kv head may lack its axis */
    if (!av_find_rows(&layer->k, k, &layout, fused ? 1 : -1, &sizes, sizes.kv_heads, &s->out->guessed)) {
        return no_layout(s, k);
    }
    if (layer->q.heads % layer->k.heads != 0 || layer->q.batches != layer->k.batches) {
        return av_fail(s->e, AV_FAILED,
                       "%s: %s has %zu heads in %zu sequences, %s %zu in %zu: not queries and keys of each other",
                       av_shown_cut(s->file->path, 100).text, av_shown_cut(q->name, 80).text, layer->q.heads,
                       layer->q.batches, av_shown_cut(k->name, 80).text, layer->k.heads, layer->k.batches);
    }
    return AV_OK;
}

static void start_layer(struct av_find_layer *layer)
{
    memset(layer, 0, sizeof *layer);
    layer->q.tensor = layer->k.tensor = layer->weights.tensor = layer->scores.tensor = AV_FIND_NONE;
}

/* Another layer of this pair. There is room for one of every tensor. */
static enum av_status add_pair(const struct search *s, size_t q, size_t k)
{
    const struct av_dump_tensor *t = &s->file->tensors[q];
    struct av_find_layer *layer = &s->out->layers[s->out->count];
    size_t number = av_find_number(t->name);
    start_layer(layer);
    layer->number = number != AV_FIND_NONE ? number : s->out->count;
    layer->q.tensor = q;
    layer->k.tensor = k;
    s->out->count++;
    for (size_t i = 0; i < 2; i++) {
        const struct av_dump_tensor *one = &s->file->tensors[i == 0 ? q : k];
        if (one->no != NULL) {
            return av_fail(s->e, AV_FAILED, "%s: %s: %s", av_shown_cut(s->file->path, 140).text,
                           av_shown_cut(one->name, 100).text, one->no);
        }
    }
    return place_pair(s, layer, q == k);
}

/* ---- All layers ------------------------------------------------------------------ */

/* The index of the tensor of that name; AV_FIND_NONE when there is none. */
static size_t look_up(const struct search *s, const char *name)
{
    size_t low = 0;
    size_t high = s->file->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = av_dump_compare(s->file->tensors[middle].name, name);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return AV_FIND_NONE;
}

/* Adds tensor q, if it is queries by the names given, with its keys. */
static enum av_status try_named(const struct search *s, size_t q)
{
    char digits[AV_FIND_NAME_MAX];
    char keys[AV_FIND_NAME_MAX];
    const char *name = s->file->tensors[q].name;
    if (!av_find_matches(s->options->q, name, digits)) {
        return AV_OK;
    }
    size_t k = av_find_fill(s->options->k, digits, keys) ? look_up(s, keys) : AV_FIND_NONE;
    if (k == AV_FIND_NONE) {
        return av_fail(s->e, AV_FAILED, "%s: %s: there are no keys %s", av_shown_cut(s->file->path, 140).text,
                       av_shown_cut(name, 100).text, av_shown_cut(keys, 100).text);
    }
    return add_pair(s, q, k);
}

/* The same by what the names say. */
static enum av_status try_told(const struct search *s, size_t q)
{
    char keys[AV_FIND_NAME_MAX];
    const char *name = s->file->tensors[q].name;
    if (s->file->tensors[q].rank < 2) { /* n_q, the number of queries, for example */
        return AV_OK;
    }
    if (av_find_role(name) == AV_FIND_FUSED) {
        return add_pair(s, q, q);
    }
    size_t k = av_find_keys_of(name, keys) ? look_up(s, keys) : AV_FIND_NONE;
    return k != AV_FIND_NONE ? add_pair(s, q, k) : AV_OK;
}

static enum av_status find_pairs(const struct search *s)
{
    enum av_status status = AV_OK;
    for (size_t i = 0; i < s->file->count && status == AV_OK; i++) {
        status = s->options->q != NULL ? try_named(s, i) : try_told(s, i);
    }
    return status == AV_OK && s->options->q != NULL && s->out->count == 0 ? missing(s, s->options->q) : status;
}

/* The layer that a tensor of weights or scores belongs to: that of its number; the
 * only one; a new one where there are no queries and keys. NULL: none. */
static struct av_find_layer *layer_of(const struct search *s, const char *name, bool pairs)
{
    size_t number = av_find_number(name);
    for (size_t i = 0; i < s->out->count; i++) {
        if (s->out->layers[i].number == number || (pairs && s->out->count == 1)) {
            return &s->out->layers[i];
        }
    }
    if (pairs) {
        return NULL;
    }
    struct av_find_layer *layer = &s->out->layers[s->out->count];
    start_layer(layer);
    layer->number = number != AV_FIND_NONE ? number : s->out->count;
    s->out->count++;
    return layer;
}

/* Weights, or scores: [n, m], [heads, n, m] or [batch, heads, n, m]. */
static enum av_status find_matrices(const struct search *s, const char *pattern, bool weights, bool pairs)
{
    static const char *const by_rank[] = { "nd", "hnd", "bhnd" };
    const struct av_find_sizes any = { 0, 0, 0 };
    char digits[AV_FIND_NAME_MAX];
    size_t matching = 0;
    size_t found = 0;
    for (size_t i = 0; i < s->file->count && pattern != NULL; i++) {
        const struct av_dump_tensor *t = &s->file->tensors[i];
        if (!av_find_matches(pattern, t->name, digits)) {
            continue;
        }
        matching++;
        struct av_find_layer *layer = layer_of(s, t->name, pairs);
        const char *layout = t->rank >= 2 && t->rank <= 4 ? by_rank[t->rank - 2] : "";
        bool guessed = false; /* there is one layout of each rank */
        if (layer != NULL) {
            struct av_find_rows *rows = weights ? &layer->weights : &layer->scores;
            rows->tensor = i;
            if (t->no != NULL || !av_find_rows(rows, t, &layout, -1, &any, 0, &guessed)) {
                return no_layout(s, t);
            }
            found++;
        }
    }
    if (pattern == NULL || found > 0) {
        return AV_OK;
    }
    return matching > 0 ? undecided(s) : missing(s, pattern);
}

static enum av_status check_options(const struct av_find_options *o, struct av_error *e)
{
    if ((o->q == NULL) != (o->k == NULL)) {
        return av_fail(e, AV_USAGE, "--q and --k belong together");
    }
    if (o->layout != NULL && !av_find_is_layout(o->layout)) {
        return av_fail(e, AV_USAGE, "--layout %s: one of nd, nc, nf, hnd, nhd, bnc, bnf, bhnd, bnhd",
                       av_shown_cut(o->layout, 40).text);
    }
    return AV_OK;
}

enum av_status av_find(struct av_find *out, const struct av_find_file *file, const struct av_find_options *options,
                       struct av_error *e)
{
    memset(out, 0, sizeof *out);
    enum av_status status = check_options(options, e);
    if (status != AV_OK) {
        return status;
    }
    struct search s = { .file = file, .options = options, .out = out, .e = e };
    s.sizes.heads = options->n_head > 0 ? options->n_head : file->n_head;
    s.sizes.kv_heads = options->n_head_kv > 0 ? options->n_head_kv : file->n_head_kv;
    s.sizes.d = options->d_k > 0 ? options->d_k : file->d_k;
    out->layers = calloc(file->count + 1, sizeof *out->layers);
    if (out->layers == NULL) {
        return av_fail_nomem(e, file->path);
    }
    status = find_pairs(&s);
    bool pairs = out->count > 0;
    if (status == AV_OK) {
        status = find_matrices(&s, options->weights, true, pairs);
    }
    if (status == AV_OK) {
        status = find_matrices(&s, options->scores, false, pairs);
    }
    if (status == AV_OK && out->count == 0) {
        status = undecided(&s);
    }
    if (status != AV_OK) {
        av_find_free(out);
    }
    return status;
}

void av_find_free(struct av_find *found)
{
    free(found->layers);
    memset(found, 0, sizeof *found);
}

struct av_dump_run av_find_run(const struct av_find_rows *rows, size_t batch, size_t head, size_t first, size_t count)
{
    return (struct av_dump_run){
        .first = rows->first + batch * rows->batch_stride + head * rows->head_stride + first * rows->row_stride,
        .count = rows->d,
        .rows = count,
        .stride = rows->row_stride,
    };
}
