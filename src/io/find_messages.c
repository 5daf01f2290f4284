/* find_messages.c - what cannot be found, what there is instead, and what to say. */
#include "attnviz/strbuf.h"
#include "find_parts.h"
#include "shape.h"
#include "shown.h"

#include <stdio.h>
#include <string.h>

enum { LISTED = 6, NAME_SHOWN = 40, PATH_SHOWN = 100 };

static struct av_shape_text shape_of(const struct av_dump_tensor *t)
{
    uint64_t shape[AV_SHAPE_MAX];
    for (size_t k = 0; k < t->rank; k++) {
        shape[k] = t->shape[k];
    }
    return av_shape_text(shape, t->rank);
}

static struct av_shown path_of(const struct av_find_search *s)
{
    return av_shown_cut(s->file->path, PATH_SHOWN);
}

/* "NAME [8, 128, 8], NAME ... and 12 more" */
static void list_tensors(const struct av_find_search *s, struct av_str *text)
{
    size_t listed = 0;
    for (; listed < s->file->count && listed < LISTED; listed++) {
        const struct av_dump_tensor *t = &s->file->tensors[listed];
        av_str_addf(text, "%s%s %s", listed > 0 ? ", " : "", av_shown_cut(t->name, NAME_SHOWN).text, shape_of(t).text);
    }
    if (listed < s->file->count) {
        av_str_addf(text, " and %zu more", s->file->count - listed);
    }
}

/* Tensors that could be anything that is looked for. */
struct candidates {
    const struct av_dump_tensor *first, *second;
    size_t count;
};

static struct candidates candidates(const struct av_find_search *s)
{
    struct candidates c = { NULL, NULL, 0 };
    for (size_t i = 0; i < s->file->count; i++) {
        const struct av_dump_tensor *t = &s->file->tensors[i];
        if (t->rank < 2 || t->rank > 4 || t->no != NULL || t->count == 0) {
            continue;
        }
        c.first = c.count == 0 ? t : c.first;
        c.second = c.count == 1 ? t : c.second;
        c.count++;
    }
    return c;
}

/* There is one tensor, and no name that says what it is. */
static enum av_status only_one(const struct av_find_search *s, const struct av_dump_tensor *t)
{
    struct av_shown name = av_shown_cut(t->name, NAME_SHOWN);
    const char *n = name.text;
    if (t->shape[t->rank - 1] == t->shape[t->rank - 2]) {
        return av_fail(s->e, AV_FAILED,
                       "%s: holds %s %s alone, as wide as high: if it is weights, say --weights %s, if scores, "
                       "--scores %s. Queries and keys are two tensors, or two files",
                       path_of(s).text, n, shape_of(t).text, n, n);
    }
    return av_fail(s->e, AV_FAILED,
                   "%s: holds %s %s alone. Queries and keys are two tensors, or two files, or side by side: --q %s "
                   "--k %s --n-head N. If it is weights or scores, say --weights %s or --scores %s",
                   path_of(s).text, n, shape_of(t).text, n, n, n, n);
}

enum av_status av_find_undecided(const struct av_find_search *s)
{
    for (size_t i = 0; i < s->file->count; i++) {
        const struct av_dump_tensor *t = &s->file->tensors[i];
        enum av_find_role role = av_find_role(t->name);
        if (t->no != NULL && (role != AV_FIND_OTHER || s->file->count == 1)) {
            return av_find_no_numbers(s, t);
        }
        if (t->no == NULL && t->count == 0 && s->file->count == 1) {
            return av_find_no_layout(s, t, 0);
        }
        if (role == AV_FIND_LEARNED) {
            return av_fail(s->e, AV_FAILED,
                           "%s: %s is a learned matrix: queries and keys are what it makes of an input, dump these",
                           av_shown_cut(s->file->path, 140).text, av_shown_cut(t->name, 100).text);
        }
    }
    struct candidates c = candidates(s);
    if (c.count == 1) {
        return only_one(s, c.first);
    }
    bool pair = c.count == 2 && c.first->shape[c.first->rank - 1] == c.second->shape[c.second->rank - 1];
    struct av_str text = AV_STR_INIT;
    av_str_addf(&text, "%s: which are queries and keys? Say --q %s --k %s", path_of(s).text,
                pair ? av_shown_cut(c.first->name, NAME_SHOWN).text : "NAME",
                pair ? av_shown_cut(c.second->name, NAME_SHOWN).text : "NAME");
    av_str_add(&text, pair ? ", or the other way round; or " : " (a * stands for the layer's number), ");
    av_str_add(&text, "--weights NAME or --scores NAME. There are: ");
    list_tensors(s, &text);
    enum av_status status = av_fail(s->e, AV_FAILED, "%s", av_str_text(&text));
    av_str_free(&text);
    return status;
}

enum av_status av_find_missing(const struct av_find_search *s, const char *name)
{
    struct av_str text = AV_STR_INIT;
    list_tensors(s, &text);
    enum av_status status = av_fail(s->e, AV_FAILED, "%s: there is no tensor %s. There are: %s", path_of(s).text,
                                    av_shown_cut(name, NAME_SHOWN).text, av_str_text(&text));
    av_str_free(&text);
    return status;
}

enum av_status av_find_no_layer(const struct av_find_search *s, const char *flag, const char *name)
{
    return av_fail(s->e, AV_FAILED,
                   "%s: %s %s: of which layer? It has no number that one of the %zu layers has. A * stands for the "
                   "number: %s 'layers.*.NAME'",
                   path_of(s).text, flag, av_shown_cut(name, NAME_SHOWN).text, s->out->count, flag);
}

static enum av_status is_empty(const struct av_find_search *s, const struct av_dump_tensor *t)
{
    return av_fail(s->e, AV_FAILED, "%s: %s %s is empty", path_of(s).text, av_shown_cut(t->name, 80).text,
                   shape_of(t).text);
}

enum av_status av_find_no_layout(const struct av_find_search *s, const struct av_dump_tensor *t, size_t heads)
{
    const char *layout = s->options->layout;
    char why[80] = "";
    if (t->count == 0) {
        return is_empty(s, t);
    }
    if (layout != NULL && strlen(layout) != t->rank) {
        return av_fail(s->e, AV_USAGE, "%s: --layout %s has %zu axes, but %s %s has %zu", path_of(s).text, layout,
                       strlen(layout), av_shown_cut(t->name, 80).text, shape_of(t).text, t->rank);
    }
    const size_t columns = t->rank > 0 ? t->shape[t->rank - 1] : 0;
    if (s->sizes.heads == 0) {
        snprintf(why, sizeof why, ", and the number of heads is not known");
    } else if (t->rank < 4 && heads > 0 && columns % heads != 0) {
        snprintf(why, sizeof why, ", %zu heads do not divide %zu columns", heads, columns);
    }
    return av_fail(s->e, AV_FAILED, "%s: %s %s: no layout fits%s: say --layout, --n-head, --n-head-kv or --d-k",
                   path_of(s).text, av_shown_cut(t->name, 80).text, shape_of(t).text, why);
}

enum av_status av_find_no_matrix(const struct av_find_search *s, const struct av_dump_tensor *t)
{
    if (t->count == 0) {
        return is_empty(s, t);
    }
    return av_fail(s->e, AV_FAILED,
                   "%s: %s %s: weights and scores are [queries, keys], [heads, queries, keys] or "
                   "[batch, heads, queries, keys]",
                   path_of(s).text, av_shown_cut(t->name, 80).text, shape_of(t).text);
}

enum av_status av_find_no_numbers(const struct av_find_search *s, const struct av_dump_tensor *t)
{
    return av_fail(s->e, AV_FAILED, "%s: %s: %s", av_shown_cut(s->file->path, 140).text,
                   av_shown_cut(t->name, 100).text, t->no);
}
