/* find_matrices.c - weights and scores, of layers with queries and keys and without. */
#include "find_parts.h"

#include <stdlib.h>
#include <string.h>

/* One of both, and how it is found. */
struct kind {
    enum av_find_role role;
    const char *flag;
    const char *pattern; /* NULL: by what names say */
    bool weights;
};

static struct av_find_rows *rows_of(struct av_find_layer *l, const struct kind *kind)
{
    return kind->weights ? &l->weights : &l->scores;
}

static const char *name_of(const struct av_find_search *s, size_t tensor)
{
    return s->file->tensors[tensor].name;
}

static bool is_matrix(const struct av_dump_tensor *t)
{
    return t->rank >= 2 && t->rank <= 4 && t->no == NULL && t->count > 0;
}

static bool is_square(const struct av_dump_tensor *t)
{
    return is_matrix(t) && t->shape[t->rank - 1] == t->shape[t->rank - 2];
}

/* ---- Layers ---------------------------------------------------------------------- */

/* Can the tensor be of this layer of queries and keys, by their numbers? */
static bool is_of_layer(const struct av_find_search *s, const struct av_find_layer *l, size_t tensor)
{
    size_t number = av_find_number(name_of(s, tensor));
    size_t own = av_find_number(name_of(s, l->q.tensor));
    return number == AV_FIND_NONE || own == AV_FIND_NONE ? s->pairs == 1 : number == own;
}

/* The layer of queries and keys that the tensor can be of; NULL: none. */
static struct av_find_layer *pair_of(const struct av_find_search *s, size_t tensor)
{
    for (size_t i = 0; i < s->pairs; i++) {
        if (is_of_layer(s, &s->out->layers[i], tensor)) {
            return &s->out->layers[i];
        }
    }
    return NULL;
}

/* The layer without queries and keys of the tensor's number, if need be a new one;
 * single: the only one. A name without a number has 0, but none beside queries and
 * keys, nor one that these were given when they were counted. NULL: none. */
static struct av_find_layer *apart_of(const struct av_find_search *s, size_t tensor, bool single)
{
    size_t number = av_find_number(name_of(s, tensor));
    number = s->pairs == 0 && number == AV_FIND_NONE ? 0 : number;
    for (size_t i = 0; i < s->out->count; i++) {
        struct av_find_layer *l = &s->out->layers[i];
        if (l->number == number || (single && s->pairs == 0 && s->out->count == 1)) {
            return i < s->pairs ? NULL : l;
        }
    }
    if (number == AV_FIND_NONE) {
        return NULL;
    }
    struct av_find_layer *layer = av_find_add_layer(s, name_of(s, tensor));
    layer->number = number;
    return layer;
}

/* ---- Named ----------------------------------------------------------------------- */

static enum av_status place(const struct av_find_search *s, struct av_find_rows *rows, size_t heads, size_t batches)
{
    const struct av_dump_tensor *t = &s->file->tensors[rows->tensor];
    if (t->no != NULL) {
        return av_find_no_numbers(s, t);
    }
    return av_find_matrix_rows(rows, t, heads, batches, &s->out->guessed) ? AV_OK : av_find_no_matrix(s, t);
}

static enum av_status find_named(const struct av_find_search *s, const struct kind *kind)
{
    char digits[AV_FIND_NAME_MAX];
    size_t matching = 0;
    size_t found = 0;
    for (size_t i = 0; i < s->file->count; i++) {
        if (!av_find_matches(kind->pattern, name_of(s, i), digits)) {
            continue;
        }
        matching++;
        struct av_find_layer *layer = pair_of(s, i);
        layer = layer != NULL ? layer : apart_of(s, i, strchr(kind->pattern, '*') == NULL);
        if (layer != NULL) {
            struct av_find_rows *rows = rows_of(layer, kind);
            rows->tensor = i;
            enum av_status status = place(s, rows, layer->q.heads, layer->q.batches);
            if (status != AV_OK) {
                return status;
            }
            found++;
        }
    }
    if (found > 0) {
        return AV_OK;
    }
    return matching > 0 ? av_find_no_layer(s, kind->flag, kind->pattern) : av_find_missing(s, kind->pattern);
}

/* ---- By what names say, beside queries and keys ------------------------------------- */

static bool fits(const struct av_find_layer *l, const struct av_find_rows *r)
{
    bool heads = r->heads == l->q.heads || r->heads == 1;
    return heads && r->batches == l->q.batches && r->n == l->q.n && r->d == l->k.n;
}

static bool is_taken(const struct av_find_search *s, size_t tensor)
{
    for (size_t i = 0; i < s->out->count; i++) {
        const struct av_find_layer *l = &s->out->layers[i];
        if (l->q.tensor == tensor || l->k.tensor == tensor || l->weights.tensor == tensor ||
            l->scores.tensor == tensor) {
            return true;
        }
    }
    return false;
}

static size_t common(const struct av_find_search *s, const struct av_find_layer *l, size_t tensor)
{
    return av_find_common(name_of(s, tensor), name_of(s, l->q.tensor));
}

/* The layer whose name is most like the tensor's of those that it fits; NULL: none. */
static struct av_find_layer *best_layer(const struct av_find_search *s, struct av_find_rows *rows, bool *guessed)
{
    const struct av_dump_tensor *t = &s->file->tensors[rows->tensor];
    struct av_find_layer *best = NULL;
    struct av_find_rows best_rows = *rows;
    for (size_t i = 0; i < s->pairs; i++) {
        struct av_find_layer *l = &s->out->layers[i];
        bool unsure = false;
        if (is_of_layer(s, l, rows->tensor) && av_find_matrix_rows(rows, t, l->q.heads, l->q.batches, &unsure) &&
            fits(l, rows) && (best == NULL || common(s, l, rows->tensor) > common(s, best, rows->tensor))) {
            best = l;
            best_rows = *rows;
            *guessed = unsure;
        }
    }
    *rows = best_rows;
    return best;
}

/* Of several of a layer, that whose name is most like the queries' is taken, of equals
 * the first. */
static void find_beside(const struct av_find_search *s, const struct kind *kind)
{
    for (size_t i = 0; i < s->file->count; i++) {
        const struct av_dump_tensor *t = &s->file->tensors[i];
        if (av_find_role(t->name) != kind->role || !is_matrix(t) || is_taken(s, i)) {
            continue;
        }
        struct av_find_rows rows = { .tensor = i };
        bool guessed = false;
        struct av_find_layer *l = best_layer(s, &rows, &guessed);
        struct av_find_rows *to = l != NULL ? rows_of(l, kind) : NULL;
        if (to != NULL && (to->tensor == AV_FIND_NONE || common(s, l, i) > common(s, l, to->tensor))) {
            *to = rows;
            s->out->guessed = s->out->guessed || guessed;
        }
    }
}

/* Could it be of these queries and keys, whichever of their axes is the tokens'? What a
 * module of attention puts out bears such names too. */
static bool is_of_axes(const struct av_find_search *s, const struct av_find_layer *l, const struct av_dump_tensor *t)
{
    const struct av_dump_tensor *sides[] = { &s->file->tensors[l->q.tensor], &s->file->tensors[l->k.tensor] };
    size_t found = 0;
    for (size_t side = 0; side < 2; side++) {
        const size_t size = t->shape[t->rank - 2 + side];
        size_t axis = 0;
        while (axis + 1 < sides[side]->rank && sides[side]->shape[axis] != size) {
            axis++;
        }
        found += axis + 1 < sides[side]->rank;
    }
    return found == 2;
}

/* The first that by its name is weights or scores of queries and keys, and by its sizes
 * of none, as they are read. */
static size_t find_unused(const struct av_find_search *s, const struct kind *kind)
{
    for (size_t i = 0; i < s->file->count; i++) {
        const struct av_dump_tensor *t = &s->file->tensors[i];
        if (av_find_role(t->name) != kind->role || !is_matrix(t) || is_taken(s, i)) {
            continue;
        }
        struct av_find_rows rows = { .tensor = i };
        bool guessed;
        const struct av_find_layer *l = pair_of(s, i);
        if (l != NULL && best_layer(s, &rows, &guessed) == NULL && (is_square(t) || is_of_axes(s, l, t))) {
            return i;
        }
    }
    return AV_FIND_NONE;
}

/* ---- By what names say, without queries and keys ------------------------------------ */

/* Are scores and weights of the layer of the same sizes, where it has both? */
static bool go_together(const struct av_find_layer *l)
{
    const struct av_find_rows *w = &l->weights;
    const struct av_find_rows *z = &l->scores;
    bool both = w->tensor != AV_FIND_NONE && z->tensor != AV_FIND_NONE;
    return !both || (w->n == z->n && w->heads == z->heads && w->batches == z->batches);
}

/* Layers of which the file has no queries and keys, though it has those of others. Of
 * several of a layer the first is taken. */
static void find_apart(const struct av_find_search *s, const struct kind *kind)
{
    for (size_t i = 0; i < s->file->count; i++) {
        const struct av_dump_tensor *t = &s->file->tensors[i];
        if (av_find_role(t->name) != kind->role || !is_square(t) || is_taken(s, i) || pair_of(s, i) != NULL) {
            continue;
        }
        struct av_find_layer *l = apart_of(s, i, false);
        if (l == NULL || rows_of(l, kind)->tensor != AV_FIND_NONE) {
            continue;
        }
        struct av_find_layer with = *l;
        struct av_find_rows *rows = rows_of(&with, kind);
        rows->tensor = i;
        if (av_find_matrix_rows(rows, t, 0, 0, &s->out->guessed) && go_together(&with)) {
            *l = with;
        }
    }
}

/* In a file without any queries and keys. */
static enum av_status find_alone(const struct av_find_search *s, const struct kind *kind)
{
    for (size_t i = 0; i < s->file->count; i++) {
        const struct av_dump_tensor *t = &s->file->tensors[i];
        if (av_find_role(t->name) != kind->role || !is_square(t)) {
            continue;
        }
        struct av_find_layer *layer = apart_of(s, i, false);
        struct av_find_rows *rows = rows_of(layer, kind);
        if (rows->tensor != AV_FIND_NONE) {
            return av_find_undecided(s);
        }
        rows->tensor = i;
        enum av_status status = place(s, rows, s->sizes.heads, 0);
        if (status != AV_OK) {
            return status;
        }
        if (!go_together(layer)) {
            return av_find_undecided(s);
        }
    }
    return AV_OK;
}

/* Weights or scores by an option, or else by what the name says? */
static bool is_either(const struct av_find_search *s, const char *name)
{
    char digits[AV_FIND_NAME_MAX];
    const struct av_find_options *o = s->options;
    const enum av_find_role role = av_find_role(name);
    const char *pattern = role == AV_FIND_SCORES ? o->scores : o->weights;
    return ((role == AV_FIND_WEIGHTS || role == AV_FIND_SCORES) && pattern == NULL) ||
           (o->weights != NULL && av_find_matches(o->weights, name, digits)) ||
           (o->scores != NULL && av_find_matches(o->scores, name, digits));
}

const struct av_dump_tensor *av_find_beside(const struct av_find_search *s, const struct av_find_layer *l)
{
    const struct av_dump_tensor *best = NULL;
    const size_t own = av_find_number(name_of(s, l->q.tensor));
    size_t best_alike = 0;
    for (size_t i = 0; i < s->file->count; i++) {
        const struct av_dump_tensor *t = &s->file->tensors[i];
        if (i == l->q.tensor || !is_matrix(t) || !is_either(s, t->name) || !(is_square(t) || is_of_axes(s, l, t))) {
            continue;
        }
        /* To tell heads there must be some: a first axis of one may be that of a single sequence. */
        if (s->sizes.heads == 0 && (t->rank == 2 || (t->rank == 3 && t->shape[0] == 1))) {
            continue;
        }
        size_t alike = common(s, l, i);
        alike += av_find_number(t->name) == own ? AV_FIND_NAME_MAX : 0;
        if (best == NULL || alike > best_alike) {
            best = t;
            best_alike = alike;
        }
    }
    return best;
}

/* By number, of equals that of the earlier queries. */
static int by_number(const void *a, const void *b)
{
    const struct av_find_layer *x = a;
    const struct av_find_layer *y = b;
    return x->number != y->number ? (x->number < y->number ? -1 : 1)
                                  : (x->q.tensor > y->q.tensor) - (x->q.tensor < y->q.tensor);
}

enum av_status av_find_matrices(const struct av_find_search *s)
{
    const struct kind kinds[] = {
        { AV_FIND_WEIGHTS, "--weights", s->options->weights, true },
        { AV_FIND_SCORES, "--scores", s->options->scores, false },
    };
    const bool named = s->options->weights != NULL || s->options->scores != NULL;
    enum av_status status = AV_OK;
    for (size_t i = 0; i < 2 && status == AV_OK; i++) {
        if (kinds[i].pattern != NULL) {
            status = find_named(s, &kinds[i]);
        }
    }
    for (size_t i = 0; i < 2 && status == AV_OK; i++) {
        if (s->pairs > 0 && kinds[i].pattern == NULL) {
            find_beside(s, &kinds[i]);
            find_apart(s, &kinds[i]);
            s->out->unused = s->out->unused == AV_FIND_NONE ? find_unused(s, &kinds[i]) : s->out->unused;
        } else if (s->pairs == 0 && !named) {
            status = find_alone(s, &kinds[i]);
        }
    }
    if (s->pairs > 0 && s->out->count > s->pairs) {
        qsort(s->out->layers, s->out->count, sizeof *s->out->layers, by_number);
    }
    return status;
}
