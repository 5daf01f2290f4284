/* files_tensors.c - the tensors of up to three files as one list, and what was found in it. */
#include "attnviz/mem.h"
#include "dump_parts.h"
#include "files_parts.h"
#include "find_parts.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_SHOWN = 120 };

/* What files hold in the order of their tensors' new names, where their places tell:
 * the second, the first, the third. */
static const char *const roles[] = { "keys", "queries", "scores" };
static const size_t places[] = { 1, 0, 2 };

void av_files_tensors_free(struct av_files_tensors *t)
{
    av_free(t->list);
    av_free(t->origin);
    memset(t, 0, sizeof *t);
}

/* Of several files the first has no keys to give, the second no queries, and the third
 * neither. */
static bool wanted(const struct av_files *f, size_t dump, const char *name, const struct av_find_options *o)
{
    char digits[AV_FIND_NAME_MAX];
    if (f->count < 2) {
        return true;
    }
    if (dump < 2 && o->q != NULL && o->k != NULL) {
        return av_find_matches(dump == 0 ? o->q : o->k, name, digits);
    }
    enum av_find_role role = av_find_role(name);
    if (dump == 2) {
        return role != AV_FIND_FUSED && role != AV_FIND_Q && role != AV_FIND_K;
    }
    return role != AV_FIND_FUSED && role != (dump == 0 ? AV_FIND_K : AV_FIND_Q);
}

static int by_name(const void *a, const void *b)
{
    const struct av_files_origin *x = a;
    const struct av_files_origin *y = b;
    return av_dump_compare(x->tensor->name, y->tensor->name);
}

/* Does each of several files hold one tensor that can be read, and nothing else to
 * choose from? */
static bool one_each(const struct av_files *f)
{
    size_t single = 0;
    for (size_t i = 0; i < f->count; i++) {
        single += av_dump_count(f->dumps[i]) == 1;
    }
    return f->count > 1 && single == f->count;
}

static enum av_status list_tensors(struct av_files *f, const struct av_find_options *o, struct av_error *e)
{
    struct av_files_tensors *t = &f->tensors;
    size_t most = 0;
    for (size_t i = 0; i < f->count; i++) {
        most += av_dump_count(f->dumps[i]);
    }
    t->list = av_alloc(most, sizeof *t->list);
    t->origin = av_alloc(most, sizeof *t->origin);
    if (t->list == NULL || t->origin == NULL) {
        return av_fail_nomem(e, f->name);
    }
    bool told = one_each(f);
    for (size_t d = 0; d < f->count; d++) {
        for (size_t i = 0; i < av_dump_count(f->dumps[d]); i++) {
            const struct av_dump_tensor *tensor = av_dump_tensor(f->dumps[d], i);
            if (told || wanted(f, d, tensor->name, o)) {
                t->origin[t->count++] = (struct av_files_origin){ tensor, d, i };
            }
        }
    }
    if (!told) {
        qsort(t->origin, t->count, sizeof *t->origin, by_name);
    }
    for (size_t i = 0; i < t->count; i++) {
        t->list[i] = *t->origin[i].tensor;
    }
    return AV_OK;
}

/* Weights or scores are named beside a tensor each of queries and keys: of a third file
 * they are the only tensor, of two there are none. */
static enum av_status check_named(const struct av_files *f, const struct av_find_options *o, struct av_error *e)
{
    char digits[AV_FIND_NAME_MAX];
    const char *pattern = o->weights != NULL ? o->weights : o->scores;
    const char *flag = o->weights != NULL ? "weights" : "scores";
    const char *third = f->count == 3 ? f->tensors.origin[2].tensor->name : NULL;
    if (o->weights != NULL && o->scores != NULL) {
        return av_fail(e, AV_USAGE, "--weights and --scores: beside a file each of queries and keys is one of both");
    }
    if (pattern == NULL || (third != NULL && av_find_matches(pattern, third, digits))) {
        return AV_OK;
    }
    if (third != NULL) {
        return av_fail(e, AV_USAGE, "--%s %s: the third file holds %s", flag, av_shown_cut(pattern, NAME_SHOWN).text,
                       av_shown_cut(third, NAME_SHOWN).text);
    }
    return av_fail(e, AV_USAGE,
                   "--%s %s: of two files the first is the queries, the second the keys. Give %s in a third, or all in "
                   "one: numpy.savez(\"x.npz\", q=q, k=k, attn_%s=x)",
                   flag, av_shown_cut(pattern, NAME_SHOWN).text, flag, flag);
}

/* Tensors of a file each are queries, keys and weights or scores, whatever they are
 * called: under names that differ, in the order of names. */
static enum av_status find_told(struct av_files *f, struct av_find_file *file, const struct av_find_options *o,
                                struct av_error *e)
{
    struct av_files_tensors *t = &f->tensors;
    const struct av_dump_tensor *q = t->origin[0].tensor;
    const struct av_dump_tensor *k = t->origin[1].tensor;
    enum av_status s = check_named(f, o, e);
    if (s != AV_OK) {
        return s;
    }
    bool split = o->layout != NULL || o->n_head > 0 || o->n_head_kv > 0 || o->d_k > 0;
    size_t d = q->rank > 0 ? q->shape[q->rank - 1] : 0;
    size_t k_d = k->rank > 0 ? k->shape[k->rank - 1] : 0;
    if (!split && q->no == NULL && k->no == NULL && d != k_d) {
        return av_fail(e, AV_FAILED, "%s has d_k %zu, %s has %zu: queries and keys must agree",
                       av_files_name(f, 0).text, d, av_files_name(f, 1).text, k_d);
    }
    struct av_files_origin given[AV_FILES_MOST];
    memcpy(given, t->origin, t->count * sizeof given[0]);
    for (size_t i = 0; i < t->count && i < AV_FILES_MOST; i++) {
        t->origin[i] = given[places[i]];
        t->list[i] = *t->origin[i].tensor;
        t->list[i].name = roles[i];
    }
    struct av_find_options told = *o;
    told.q = roles[1];
    told.k = roles[0];
    told.weights = told.scores = NULL;
    if (t->count > 2) {
        const bool scores =
            o->scores != NULL || (o->weights == NULL && av_find_role(given[2].tensor->name) == AV_FIND_SCORES);
        *(scores ? &told.scores : &told.weights) = roles[2];
    }
    return av_find(&f->found, file, &told, e);
}

/* What the first file that says so says. */
static size_t said(const struct av_files *f, const char *key)
{
    size_t x = 0;
    for (size_t i = 0; i < f->count && x == 0; i++) {
        x = av_find_said(f->dumps[i], key);
    }
    return x;
}

enum av_status av_files_tensors(struct av_files *f, const struct av_find_options *o, struct av_error *e)
{
    enum av_status s = list_tensors(f, o, e);
    if (s != AV_OK) {
        return s;
    }
    struct av_find_file file = { .path = f->count == 1 ? av_dump_path(f->dumps[0]) : f->name,
                                 .tensors = f->tensors.list,
                                 .count = f->tensors.count,
                                 .n_head = said(f, "n_head"),
                                 .n_head_kv = said(f, "n_head_kv"),
                                 .d_k = said(f, "d_k") };
    return one_each(f) ? find_told(f, &file, o, e) : av_find(&f->found, &file, o, e);
}
