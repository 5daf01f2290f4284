/* find.c - which tensors of a file are queries and keys, layer by layer. */
#include "attnviz/find.h"

#include "dump_parts.h"
#include "find_parts.h"
#include "shown.h"

#include <stdlib.h>
#include <string.h>

/* ---- One layer ----------------------------------------------------------------- */

/* What was chosen among several ways, of the first layer. */
static void tell(struct av_find *out, const struct av_find_choice *choice)
{
    if (choice->count > 0 && out->other_count == 0) {
        out->guessed = true;
        out->as = choice->as;
        memcpy(out->others, choice->others, sizeof out->others);
        out->other_count = choice->count;
    }
}

/* Weights or scores along decide between layouts: queries and keys are of their sizes.
 * Where the number of heads is not known, they tell it too. */
static bool place_beside(const struct av_find_search *s, struct av_find_layer *layer, const struct av_dump_tensor *q,
                         const struct av_dump_tensor *k)
{
    struct av_find_place place = { s->options->layout, s->sizes, av_find_beside(s, layer), false };
    struct av_find_choice choice;
    if (place.beside == NULL) {
        return false;
    }
    if (place.sizes.heads == 0) {
        place.heads_told = true;
        place.sizes.heads = place.beside->shape[place.beside->rank - 3];
    }
    if (av_find_pair(layer, &choice, q, k, &place) != AV_FIND_FITS) {
        return false;
    }
    tell(s->out, &choice);
    return true;
}

static enum av_status place_pair(const struct av_find_search *s, struct av_find_layer *layer)
{
    const struct av_dump_tensor *q = &s->file->tensors[layer->q.tensor];
    const struct av_dump_tensor *k = &s->file->tensors[layer->k.tensor];
    const struct av_find_place place = { s->options->layout, s->sizes, NULL, false };
    struct av_find_choice choice;
    if (place_beside(s, layer, q, k)) {
        return AV_OK;
    }
    enum av_find_fit fit = av_find_pair(layer, &choice, q, k, &place);
    if (fit == AV_FIND_NO_Q || fit == AV_FIND_NO_K) {
        return fit == AV_FIND_NO_Q ? av_find_no_layout(s, q, s->sizes.heads)
                                   : av_find_no_layout(s, k, s->sizes.kv_heads);
    }
    if (fit == AV_FIND_APART) {
        return av_fail(s->e, AV_FAILED,
                       "%s: %s has %zu heads in %zu sequences, %s %zu in %zu: not queries and keys of each other",
                       av_shown_cut(s->file->path, 100).text, av_shown_cut(q->name, 80).text, layer->q.heads,
                       layer->q.batches, av_shown_cut(k->name, 80).text, layer->k.heads, layer->k.batches);
    }
    tell(s->out, &choice);
    return AV_OK;
}

struct av_find_layer *av_find_add_layer(const struct av_find_search *s, const char *name)
{
    struct av_find_layer *layer = &s->out->layers[s->out->count];
    size_t number = av_find_number(name);
    memset(layer, 0, sizeof *layer);
    layer->number = number != AV_FIND_NONE ? number : s->out->count;
    layer->q.tensor = layer->k.tensor = layer->weights.tensor = layer->scores.tensor = AV_FIND_NONE;
    s->out->count++;
    return layer;
}

/* Another layer of this pair. */
static enum av_status add_pair(const struct av_find_search *s, size_t q, size_t k)
{
    struct av_find_layer *layer = av_find_add_layer(s, s->file->tensors[q].name);
    layer->q.tensor = q;
    layer->k.tensor = k;
    for (size_t i = 0; i < 2; i++) {
        const struct av_dump_tensor *one = &s->file->tensors[i == 0 ? q : k];
        if (one->no != NULL) {
            return av_find_no_numbers(s, one);
        }
    }
    return place_pair(s, layer);
}

/* ---- All layers ------------------------------------------------------------------ */

/* The index of the tensor of that name; AV_FIND_NONE when there is none. */
static size_t look_up(const struct av_find_search *s, const char *name)
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
static enum av_status try_named(const struct av_find_search *s, size_t q)
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
static enum av_status try_told(const struct av_find_search *s, size_t q)
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

static enum av_status find_pairs(const struct av_find_search *s)
{
    enum av_status status = AV_OK;
    for (size_t i = 0; i < s->file->count && status == AV_OK; i++) {
        status = s->options->q != NULL ? try_named(s, i) : try_told(s, i);
    }
    return status == AV_OK && s->options->q != NULL && s->out->count == 0 ? av_find_missing(s, s->options->q) : status;
}

static enum av_status check_options(const struct av_find_options *o, struct av_error *e)
{
    if ((o->q == NULL) != (o->k == NULL)) {
        return av_fail(e, AV_USAGE, "--q and --k belong together");
    }
    if (o->layout != NULL && !av_find_is_layout(o->layout)) {
        return av_fail(e, AV_USAGE, "--layout %s: one of nd, nc, nf, hnd, nhd, bnc, bnf, nbc, nbf, bhnd, bnhd, nbhd",
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
    struct av_find_search s = { .file = file, .options = options, .out = out, .e = e };
    s.sizes.heads = options->n_head > 0 ? options->n_head : file->n_head;
    s.sizes.kv_heads = options->n_head_kv > 0 ? options->n_head_kv : file->n_head_kv;
    s.sizes.d = options->d_k > 0 ? options->d_k : file->d_k;
    out->layers = calloc(file->count + 1, sizeof *out->layers);
    if (out->layers == NULL) {
        return av_fail_nomem(e, file->path);
    }
    out->unused = AV_FIND_NONE;
    status = find_pairs(&s);
    s.pairs = out->count;
    if (status == AV_OK) {
        status = av_find_matrices(&s);
    }
    if (status == AV_OK && out->count == 0) {
        status = av_find_undecided(&s);
    }
    /* The only tensor may bear its file's name, whose digits are a step's or a date's. */
    if (status == AV_OK && file->count == 1 && !av_find_counts(file->tensors[0].name)) {
        out->layers[0].number = 0;
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
