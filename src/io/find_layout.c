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
    bool fits = strlen(layout) == t->rank && (strchr(layout, 'f') != NULL) == (part >= 0);
    *r = (struct av_find_rows){ .tensor = r->tensor, .batches = 1, .heads = 1 };
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

/* Every way in which rows can lie in a tensor; returns how many there are. */
static size_t ways(struct av_find_rows found[LAYOUTS], const char *by[LAYOUTS], const struct av_dump_tensor *t,
                   const char *layout, int part, const struct av_find_sizes *sizes, size_t heads)
{
    size_t count = 0;
    for (size_t i = 0; i < LAYOUTS; i++) {
        if ((layout == NULL || strcmp(layout, layouts[i]) == 0) &&
            apply(&found[count], t, layouts[i], part, sizes, heads)) {
            by[count++] = layouts[i];
        }
    }
    return count;
}

/* How well two go together: 0 not at all; better when there are as many queries as
 * keys, and next when, of four axes, the longer one is that of the tokens. */
static int worth(const struct av_find_rows *q, const struct av_find_rows *k, size_t rank)
{
    if (q->heads % k->heads != 0 || q->batches != k->batches) {
        return 0;
    }
    return 1 + 2 * (q->n == k->n) + (rank == 4 && q->heads <= q->n);
}

static bool is_same(const struct av_find_rows *a, const struct av_find_rows *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

enum av_find_fit av_find_pair(struct av_find_layer *layer, const struct av_dump_tensor *q,
                              const struct av_dump_tensor *k, const char *layout, const struct av_find_sizes *known,
                              bool *guessed)
{
    struct av_find_rows qs[LAYOUTS] = { { 0 } };
    struct av_find_rows ks[LAYOUTS] = { { 0 } };
    const char *q_by[LAYOUTS], *k_by[LAYOUTS];
    const bool fused = q == k;
    const size_t q_tensor = layer->q.tensor;
    const size_t k_tensor = layer->k.tensor;
    struct av_find_sizes sizes = *known;
    sizes.kv_heads = fused && sizes.kv_heads == 0 ? sizes.heads : sizes.kv_heads;
    const size_t q_ways = ways(qs, q_by, q, layout, fused ? 0 : -1, &sizes, sizes.heads);
    int best = -1;
    bool several = false;
    for (size_t i = 0; i < q_ways; i++) {
        sizes.d = qs[i].d;
        const char *same = k->rank == q->rank ? q_by[i] : layout; /* one head of keys may lack its axis */
        const size_t k_ways = ways(ks, k_by, k, same, fused ? 1 : -1, &sizes, sizes.kv_heads);
        for (size_t j = 0; j < k_ways; j++) {
            int here = worth(&qs[i], &ks[j], q->rank);
            const bool other = !(is_same(&layer->q, &qs[i]) && is_same(&layer->k, &ks[j]));
            several = several || (here > 0 && best > 0 && other && agrees(sizes.heads, qs[i].heads));
            if (here > best) {
                best = here;
                layer->q = qs[i];
                layer->k = ks[j];
            }
        }
    }
    layer->q.tensor = q_tensor;
    layer->k.tensor = k_tensor;
    *guessed = *guessed || several;
    return best > 0 ? AV_FIND_FITS : best == 0 ? AV_FIND_APART : q_ways == 0 ? AV_FIND_NO_Q : AV_FIND_NO_K;
}

bool av_find_matrix_rows(struct av_find_rows *rows, const struct av_dump_tensor *t, size_t heads, size_t batches,
                         bool *guessed)
{
    static const char *const by_rank[] = { "nd", "hnd", "bhnd" };
    const struct av_find_sizes any = { 0, 0, 0 };
    if (t->rank < 2 || t->rank > 4) {
        return false;
    }
    const char *layout = by_rank[t->rank - 2];
    const size_t outer = t->rank == 3 ? t->shape[0] : 0;
    if (outer > 1 && outer == batches) {
        *guessed = *guessed || outer == heads;
        layout = "bnd"; /* one for all heads */
    }
    if (!apply(rows, t, layout, -1, &any, 0)) {
        return false;
    }
    if (outer > 0 && heads > 1 && batches > 1 && outer == heads * batches) {
        rows->heads = heads;
        rows->batches = batches;
        rows->batch_stride = heads * rows->head_stride;
    }
    return true;
}
