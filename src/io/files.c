/* files.c - files opened as a source: their dumps, what was found in them, and labels. */
#include "attnviz/files.h"

#include "attnviz/mem.h"
#include "files_parts.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SHOWN = 120 };

/* ---- Layers ------------------------------------------------------------------- */

/* The parts of a layer as they were found, in the order of enum av_part. */
static const struct av_find_rows *rows_of(const struct av_find_layer *l, enum av_part part)
{
    const struct av_find_rows *const rows[AV_PARTS] = { &l->q, &l->k, &l->scores, &l->weights };
    return rows[part];
}

static void take_part(struct av_source_layer *to, struct av_files *f, const struct av_find_rows *rows,
                      enum av_part part)
{
    struct av_source_tensor *out = &to->part[part];
    if (rows->tensor == AV_FIND_NONE) {
        return;
    }
    const struct av_dump_tensor *t = f->tensors.origin[rows->tensor].tensor;
    *out = (struct av_source_tensor){ .name = t->name, .type = t->type, .rank = t->rank, .there = true };
    out->wide = t->wide;
    f->source.streamed = f->source.streamed || t->streamed;
    memcpy(out->shape, t->shape, t->rank * sizeof t->shape[0]);
}

static enum av_status check_batch(const struct av_files *f, const struct av_find_rows *rows, const char *tensor,
                                  struct av_error *e)
{
    if (rows->tensor == AV_FIND_NONE || f->batch < rows->batches) {
        return AV_OK;
    }
    const struct av_dump_tensor *t = f->tensors.origin[rows->tensor].tensor;
    return av_fail(e, AV_USAGE, "--batch %zu: %s %s holds %zu sequence%s, counted from 0%s", f->batch,
                   av_shown_cut(tensor, NAME_SHOWN).text, av_files_shape(t).text, rows->batches,
                   rows->batches == 1 ? "" : "s", t->rank > 2 ? ", as read; --layout says which axis they are" : "");
}

/* Scores and weights are as large as the layer's queries and keys make them; of a
 * layer without these they say how large it is. */
static enum av_status take_matrices(struct av_source_layer *to, const struct av_find_layer *l,
                                    const struct av_find_rows *rows, const char *name, struct av_error *e)
{
    if (rows->tensor == AV_FIND_NONE) {
        return AV_OK;
    }
    if (to->n_q == 0) {
        to->n_q = rows->n;
        to->n_k = rows->d;
        to->n_head = to->n_head_kv = rows->heads;
    }
    to->n_head = to->d == 0 && to->n_head == 1 ? rows->heads : to->n_head;
    const bool beside = l->q.tensor != AV_FIND_NONE;
    const bool heads = rows->heads == to->n_head || rows->heads == 1;
    if (rows->n == to->n_q && rows->d == to->n_k && heads && (!beside || rows->batches == l->q.batches)) {
        return AV_OK;
    }
    const struct av_shown shown = av_shown_cut(name, NAME_SHOWN);
    if (!beside) {
        return av_fail(e, AV_FAILED, "%s: %zu heads of [%zu, %zu], but the layer has %zu of [%zu, %zu]", shown.text,
                       rows->heads, rows->n, rows->d, to->n_head, to->n_q, to->n_k);
    }
    return av_fail(e, AV_FAILED,
                   "%s has %zu x %zu (sequences x heads) of [%zu, %zu], but Q and K as read %zu x %zu of [%zu, %zu]: "
                   "--layout and --n-head say how they lie",
                   shown.text, rows->batches, rows->heads, rows->n, rows->d, l->q.batches, to->n_head, to->n_q,
                   to->n_k);
}

static enum av_status take_layer(struct av_source_layer *to, struct av_files *f, const struct av_find_layer *l,
                                 struct av_error *e)
{
    enum av_status s = AV_OK;
    to->number = l->number;
    if (l->q.tensor != AV_FIND_NONE) {
        to->n_head = l->q.heads;
        to->n_head_kv = l->k.heads;
        to->n_q = l->q.n;
        to->n_k = l->k.n;
        to->d = l->q.d;
    }
    for (int i = 0; i < AV_PARTS && s == AV_OK; i++) {
        const struct av_find_rows *rows = rows_of(l, (enum av_part)i);
        take_part(to, f, rows, (enum av_part)i);
        s = check_batch(f, rows, to->part[i].name, e);
        if (rows->tensor != AV_FIND_NONE && rows->batches > f->source.sequences) {
            f->source.sequences = rows->batches;
        }
        if (s == AV_OK && i >= AV_PART_SCORES) {
            s = take_matrices(to, l, rows, to->part[i].name, e);
        }
    }
    return s;
}

static enum av_status take_layers(struct av_files *f, struct av_error *e)
{
    f->layers = av_alloc(f->found.count, sizeof *f->layers);
    if (f->layers == NULL) {
        return av_fail_nomem(e, f->name);
    }
    enum av_status s = AV_OK;
    for (size_t i = 0; i < f->found.count && s == AV_OK; i++) {
        s = take_layer(&f->layers[i], f, &f->found.layers[i], e);
    }
    return s;
}

/* ---- Reading -------------------------------------------------------------------- */

static enum av_status read_rows(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                                float *out_f32, double *out_f64, struct av_error *e)
{
    struct av_files *f = state;
    const struct av_find_rows *from = rows_of(&f->found.layers[layer], part);
    if (from->tensor == AV_FIND_NONE) {
        return av_fail(e, AV_FAILED, "%s: layer %zu has no such tensor", f->name, f->layers[layer].number);
    }
    const struct av_files_origin *o = &f->tensors.origin[from->tensor];
    const struct av_dump_run run = av_find_run(from, f->batch, from->heads == 1 ? 0 : head, first, rows);
    return out_f32 != NULL ? av_dump_read_f32(f->dumps[o->dump], o->index, &run, out_f32, e)
                           : av_dump_read(f->dumps[o->dump], o->index, &run, out_f64, e);
}

/* ---- The mask that a file names ---------------------------------------------------- */

static void take_mask(struct av_files *f)
{
    const char *const *names = av_param_find("mask")->choices;
    for (size_t i = 0; i < f->count; i++) {
        const char *said = av_dump_meta(f->dumps[i], "mask");
        for (int m = 0; said != NULL && names[m] != NULL; m++) {
            if (strcmp(said, names[m]) == 0) {
                f->source.masked = true;
                f->source.mask = (enum av_mask)m;
            }
        }
    }
}

/* ---- Life ----------------------------------------------------------------------------- */

struct av_shown av_files_name(const struct av_files *f, size_t i)
{
    const char *path = av_dump_path(f->dumps[i]);
    const char *slash = strrchr(path, '/');
    return av_shown_cut(slash != NULL && slash[1] != '\0' ? slash + 1 : path, NAME_SHOWN);
}

static void name_files(struct av_files *f)
{
    char *at = f->name;
    for (size_t i = 0; i < f->count; i++) {
        at += sprintf(at, "%s%s", i == 0 ? "" : i == 1 ? " × " : ", ", av_files_name(f, i).text);
    }
}

static enum av_status find_all(struct av_files *f, const struct av_files_options *o, struct av_error *e)
{
    enum av_status s = av_files_tensors(f, &o->find, e);
    if (s == AV_OK) {
        s = take_layers(f, e);
    }
    if (s == AV_OK && o->tokens != NULL) {
        s = av_files_tokens(&f->source, &f->labels, f->layers, f->found.count, o->tokens, e);
    }
    return s;
}

enum av_status av_files_open(struct av_files **out, const char *const *paths, size_t count,
                             const struct av_files_options *options, struct av_error *e)
{
    struct av_files *f = av_alloc(1, sizeof *f);
    *out = NULL;
    if (f == NULL) {
        return av_fail_nomem(e, "files");
    }
    enum av_status s = AV_OK;
    f->batch = options->batch;
    for (size_t i = 0; i < count && s == AV_OK; i++) {
        s = av_dump_open(&f->dumps[i], paths[i], e);
        f->count += s == AV_OK;
    }
    if (s == AV_OK) {
        name_files(f);
        s = find_all(f, options, e);
    }
    if (s != AV_OK) {
        av_files_close(f);
        return s;
    }
    f->source.name = f->name;
    f->source.layers = f->layers;
    f->source.layer_count = f->found.count;
    f->source.guessed = f->found.guessed;
    f->source.sequence = f->batch;
    av_files_tell(f);
    f->source.read = read_rows;
    f->source.state = f;
    take_mask(f);
    *out = f;
    return AV_OK;
}

void av_files_close(struct av_files *f)
{
    if (f != NULL) {
        av_find_free(&f->found);
        av_files_tensors_free(&f->tensors);
        av_files_labels_free(&f->labels);
        av_free(f->layers);
        for (size_t i = 0; i < f->count; i++) {
            av_dump_close(f->dumps[i]);
        }
        av_free(f);
    }
}

const struct av_source *av_files_source(const struct av_files *f)
{
    return &f->source;
}
