/* find_layout.c - where the rows of a head lie in a tensor. */
#include "find_parts.h"

#include <string.h>

/* In the order of preference among those of a rank. */
static const char *const layouts[] = { "nc", "nd", "nf", "hnd", "nhd", "bnc", "bnf", "bhnd", "bnhd" };

enum { LAYOUTS = sizeof layouts / sizeof layouts[0] };

bool av_find_is_layout(const char *layout)
{
    for (size_t i = 0; i < LAYOUTS; i++) {
        if (strcmp(layouts[i], layout) == 0) {
            return true;
        }
    }
    return false;
}

static bool agrees(size_t known, size_t size)
{
    return known == 0 || known == size;
}

/* Takes the innermost axis apart that holds several heads, or several of all
 * three, side by side; sets heads, d and first. false: it does not come out even. */
static bool split(struct av_find_rows *r, size_t size, int part, const struct av_find_sizes *sizes, size_t heads)
{
    if (part < 0 && heads == 0 && sizes->d > 0) {
        heads = size / sizes->d;
    }
    size_t all = part < 0 ? heads : sizes->heads + 2 * sizes->kv_heads;
    if (heads == 0 || all == 0 || size % all != 0) {
        return false;
    }
    r->heads = heads;
    r->d = size / all;
    r->head_stride = r->d;
    r->first = part == 1 ? sizes->heads * r->d : 0;
    return agrees(sizes->d, r->d);
}

/* Rows by this layout; false: it does not fit. */
static bool apply(struct av_find_rows *r, const struct av_dump_tensor *t, const char *layout, int part,
                  const struct av_find_sizes *sizes, size_t heads)
{
    size_t stride = 1;
    size_t tensor = r->tensor;
    bool fits = strlen(layout) == t->rank && (strchr(layout, 'f') != NULL) == (part >= 0);
    *r = (struct av_find_rows){ .tensor = tensor, .batches = 1, .heads = 1 };
    for (size_t i = t->rank; i-- > 0 && fits;) {
        size_t size = t->shape[i];
        switch (layout[i]) {
        case 'b':
            r->batches = size;
            r->batch_stride = stride;
            break;
        case 'h':
            r->heads = size;
            r->head_stride = stride;
            fits = agrees(heads, size);
            break;
        case 'n':
            r->n = size;
            r->row_stride = stride;
            break;
        case 'd':
            r->d = size;
            fits = agrees(sizes->d, size);
            break;
        default: /* c, f */
            fits = split(r, size, part, sizes, heads);
            break;
        }
        stride *= size;
    }
    return fits && t->count > 0;
}

bool av_find_rows(struct av_find_rows *rows, const struct av_dump_tensor *t, const char **layout, int part,
                  const struct av_find_sizes *sizes, size_t heads, bool *guessed)
{
    struct av_find_rows found[LAYOUTS];
    const char *by[LAYOUTS];
    size_t count = 0;
    for (size_t i = 0; i < LAYOUTS; i++) {
        found[count].tensor = rows->tensor;
        if ((*layout == NULL || strcmp(*layout, layouts[i]) == 0) &&
            apply(&found[count], t, layouts[i], part, sizes, heads)) {
            by[count++] = layouts[i];
        }
    }
    if (count == 0) {
        return false;
    }
    bool swap = count > 1 && strcmp(by[0], "bhnd") == 0 && found[0].heads > found[0].n;
    *guessed = *guessed || count > 1;
    *layout = by[swap];
    *rows = found[swap];
    return true;
}
