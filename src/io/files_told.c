/* files_told.c - what has to be told of files beside their numbers: a layout that was
 * guessed, weights that are not used. */
#include "files_parts.h"

#include <stdio.h>
#include <string.h>

enum { NAME_SHOWN = 80 };

struct av_shape_text av_files_shape(const struct av_dump_tensor *t)
{
    uint64_t shape[AV_SHAPE_MAX];
    for (size_t i = 0; i < t->rank; i++) {
        shape[i] = t->shape[i];
    }
    return av_shape_text(shape, t->rank);
}

static const char *plural(size_t count)
{
    return count == 1 ? "" : "s";
}

/* "nbc: 4 sequences of 4 heads of 48 queries"; the queries only where they are not n. */
static int add_reading(char *to, size_t size, const struct av_find_reading *r, size_t n)
{
    int len = snprintf(to, size, "%s: ", r->layout);
    if (r->batches > 1) {
        len += snprintf(to + len, size - (size_t)len, "%zu sequences of ", r->batches);
    }
    len += snprintf(to + len, size - (size_t)len, "%zu head%s", r->heads, plural(r->heads));
    if (r->n != n) {
        len += snprintf(to + len, size - (size_t)len, " of %zu %s", r->n, r->n == 1 ? "query" : "queries");
    }
    return len;
}

static void tell_reading(struct av_files *f)
{
    const struct av_find *found = &f->found;
    char *to = f->reading;
    const size_t size = sizeof f->reading;
    if (found->other_count == 0) {
        snprintf(to, size, "as many sequences as heads: weights or scores are read as one matrix a sequence");
        return;
    }
    int len = snprintf(to, size, "read as ");
    len += add_reading(to + len, size - (size_t)len, &found->as, 0);
    for (size_t i = 0; i < found->other_count; i++) {
        len += snprintf(to + len, size - (size_t)len, "%s --layout ", i > 0 ? "," : "; or");
        len += add_reading(to + len, size - (size_t)len, &found->others[i], found->as.n);
    }
}

void av_files_tell(struct av_files *f)
{
    if (f->found.guessed) {
        tell_reading(f);
        f->source.reading = f->reading;
    }
    if (f->found.unused != AV_FIND_NONE) {
        const struct av_dump_tensor *t = f->tensors.origin[f->found.unused].tensor;
        snprintf(f->unused, sizeof f->unused, "%s %s fits no layer as read; --layout says how Q and K lie",
                 av_shown_cut(t->name, NAME_SHOWN).text, av_files_shape(t).text);
        f->source.unused = f->unused;
    }
}
