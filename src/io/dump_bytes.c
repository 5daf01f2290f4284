/* dump_bytes.c - reading tensors whose bytes are mapped or in memory. */
#include "dump_parts.h"
#include "guarded.h"

#include <string.h>

/* What is done while the mapping is guarded: from the file to memory of ours. */
struct copying {
    const unsigned char *from;
    void *to;
    size_t size;
};

static void copy(void *ctx)
{
    const struct copying *c = ctx;
    memcpy(c->to, c->from, c->size);
}

struct reading {
    const unsigned char *entries;
    const struct av_dump_item *item;
    const struct av_dump_run *run;
    struct av_numbers out;
};

/* Where in the file entry i in C order stands: the first index runs fastest. */
static size_t fortran_place(const struct av_dump_tensor *t, size_t i)
{
    size_t place = 0;
    size_t below = t->count;
    for (size_t k = t->rank; k-- > 0;) {
        below /= t->shape[k];
        place += i % t->shape[k] * below;
        i /= t->shape[k];
    }
    return place;
}

void av_dump_read_entries(const unsigned char *entries, const struct av_dump_item *item, const struct av_dump_run *run,
                          struct av_numbers out)
{
    size_t size = item->type->size;
    for (size_t row = 0; row < run->rows; row++) {
        size_t first = run->first + row * run->stride;
        size_t at = row * run->count;
        if (!item->fortran) {
            av_number_read_run(item->type, entries + first * size, item->big_endian, run->count, out, at);
            continue;
        }
        for (size_t i = 0; i < run->count; i++) {
            const unsigned char *entry = entries + fortran_place(&item->seen, first + i) * size;
            av_number_read_run(item->type, entry, item->big_endian, 1, out, at + i);
        }
    }
}

static void read_entries(void *ctx)
{
    const struct reading *r = ctx;
    av_dump_read_entries(r->entries, r->item, r->run, r->out);
}

static enum av_status guarded(const struct av_dump *d, void (*work)(void *ctx), void *ctx, struct av_error *e)
{
    if (d->map == NULL) {
        work(ctx);
        return AV_OK;
    }
    return av_guarded(work, ctx, d->map, d->size) ? AV_OK
                                                  : av_fail(e, AV_FAILED, "%s: became shorter while read", d->path);
}

enum av_status av_dump_copy(const struct av_dump *d, uint64_t at, void *to, size_t size, struct av_error *e)
{
    return guarded(d, copy, &(struct copying){ d->bytes + at, to, size }, e);
}

enum av_status av_dump_read_bytes(struct av_dump *d, const struct av_dump_item *item, const struct av_dump_run *run,
                                  struct av_numbers out, struct av_error *e)
{
    return guarded(d, read_entries, &(struct reading){ d->bytes + item->at, item, run, out }, e);
}
