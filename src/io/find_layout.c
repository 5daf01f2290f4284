/* find_layout.c - where the rows of a head lie in a tensor. */
#include "find_parts.h"

#include <string.h>

/* In the order of preference among those of a rank. */
static const char *const layouts[] = { "nc",  "nd",  "nf",  "hnd",  "nhd",  "bnc",
                                       "bnf", "nbc", "nbf", "bhnd", "bnhd", "nbhd" };

enum { LAYOUTS = sizeof layouts / sizeof layouts[0], PAIRS = LAYOUTS * LAYOUTS };

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
    const bool whole = strpbrk(layout, "hcf") == NULL; /* one head */
    return fits && t->count > 0 && (!whole || agrees(heads, 1));
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

/* ---- Pairs ------------------------------------------------------------------------ */

/* A way to read both. */
struct pairing {
    struct av_find_rows q, k;
    const char *by; /* the queries' layout */
    int worth;      /* 0: they do not go together */
};

enum { TOKENS = 4, OUTPUT = 8 }; /* what more than one token, and columns of a projection, are worth */

/* How well two go together. What a projection puts out has its heads side by side;
 * next there is more than one token, then as many queries as keys, and then the longer
 * of four axes is that of the tokens. */
static int worth(const struct pairing *p, const struct av_dump_tensor *q)
{
    if (p->q.heads % p->k.heads != 0 || p->q.batches != p->k.batches) {
        return 0;
    }
    const bool output = q->rank == 3 && strchr(p->by, 'c') != NULL && av_find_is_projection(q->name);
    return 1 + (q->rank == 4 && p->q.heads <= p->q.n) + 2 * (p->q.n == p->k.n) + TOKENS * (p->q.n > 1 || p->k.n > 1) +
           OUTPUT * output;
}

static bool puts_tokens_first(const char *by)
{
    return strncmp(by, "nb", 2) == 0;
}

/* The place of one row among many: a stride between one and no other says nothing. */
static bool is_same(const struct av_find_rows *a, const struct av_find_rows *b)
{
    return a->batches == b->batches && a->heads == b->heads && a->n == b->n && a->d == b->d && a->first == b->first &&
           a->row_stride == b->row_stride && (a->heads == 1 || a->head_stride == b->head_stride) &&
           (a->batches == 1 || a->batch_stride == b->batch_stride);
}

/* Are the weights or scores beside them of their sizes? */
static bool suits(const struct pairing *p, const struct av_find_place *place)
{
    struct av_find_rows rows = { .tensor = 0 };
    bool unsure = false;
    return av_find_matrix_rows(&rows, place->beside, p->q.heads, p->q.batches, &unsure) &&
           (rows.heads == p->q.heads || (rows.heads == 1 && !place->heads_told)) && rows.batches == p->q.batches &&
           rows.n == p->q.n && rows.d == p->k.n;
}

/* Both have tokens before sequences or neither, and the sizes of what is beside them. By
 * themselves tokens go before sequences only where there would be more of these else. */
static bool is_likely(const struct pairing *p, const char *k_by, const struct av_find_place *place)
{
    if (puts_tokens_first(p->by) != puts_tokens_first(k_by)) {
        return false;
    }
    if (place->beside != NULL) {
        return suits(p, place);
    }
    return place->layout != NULL || !puts_tokens_first(p->by) || p->q.n > p->q.batches;
}

/* All likely ways to read both; how many. */
static size_t pairings(struct pairing list[PAIRS], size_t *q_ways, const struct av_dump_tensor *q,
                       const struct av_dump_tensor *k, const struct av_find_place *place)
{
    struct av_find_rows qs[LAYOUTS] = { { 0 } };
    struct av_find_rows ks[LAYOUTS] = { { 0 } };
    const char *q_by[LAYOUTS], *k_by[LAYOUTS];
    const bool fused = q == k;
    struct av_find_sizes sizes = place->sizes;
    size_t count = 0;
    sizes.kv_heads = fused && sizes.kv_heads == 0 ? sizes.heads : sizes.kv_heads;
    *q_ways = ways(qs, q_by, q, place->layout, fused ? 0 : -1, &sizes, sizes.heads);
    for (size_t i = 0; i < *q_ways; i++) {
        sizes.d = qs[i].d;
        const char *same = k->rank == q->rank ? q_by[i] : place->layout; /* one head of keys may lack its axis */
        const size_t k_ways = ways(ks, k_by, k, same, fused ? 1 : -1, &sizes, sizes.kv_heads);
        for (size_t j = 0; j < k_ways; j++) {
            struct pairing *p = &list[count];
            *p = (struct pairing){ qs[i], ks[j], q_by[i], 0 };
            p->worth = worth(p, q);
            count += is_likely(p, k_by[j], place);
        }
    }
    return count;
}

static struct av_find_reading reading_of(const struct pairing *p)
{
    return (struct av_find_reading){ p->by, p->q.batches, p->q.heads, p->q.n };
}

enum av_find_fit av_find_pair(struct av_find_layer *layer, struct av_find_choice *choice,
                              const struct av_dump_tensor *q, const struct av_dump_tensor *k,
                              const struct av_find_place *place)
{
    struct pairing list[PAIRS];
    size_t q_ways, best = 0;
    const size_t count = pairings(list, &q_ways, q, k, place);
    memset(choice, 0, sizeof *choice);
    if (count == 0) {
        return q_ways == 0 ? AV_FIND_NO_Q : AV_FIND_NO_K;
    }
    for (size_t i = 1; i < count; i++) {
        best = list[i].worth > list[best].worth ? i : best;
    }
    for (size_t i = 0; i < count && choice->count < AV_FIND_OTHERS; i++) {
        const struct pairing *p = &list[i];
        const bool known = list[best].worth > OUTPUT && p->worth <= OUTPUT; /* by its name */
        if (p->worth > 0 && !known && !(is_same(&p->q, &list[best].q) && is_same(&p->k, &list[best].k))) {
            choice->others[choice->count++] = reading_of(p);
        }
    }
    choice->as = reading_of(&list[best]);
    list[best].q.tensor = layer->q.tensor;
    list[best].k.tensor = layer->k.tensor;
    layer->q = list[best].q;
    layer->k = list[best].k;
    return list[best].worth > 0 ? AV_FIND_FITS : AV_FIND_APART;
}

/* ---- Weights and scores ------------------------------------------------------------- */

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
