/* dump_npz.c - NumPy's .npz archives as dumps; the one file that sees libzip.
 *
 * A .npz file is a zip archive whose entries are .npy files, named for the
 * arrays: "q.npy". An array is a stream, of which as much is unpacked as is asked
 * for, and never more than its entry's size says, which is first compared with what
 * the array's own header says. Only arrays in Fortran order are unpacked whole. */
#include "block_cache.h"
#include "dump_parts.h"
#include "npy_header.h"
#include "whole_cache.h"

#include <string.h>

static bool is_zip(const unsigned char *head, size_t size)
{
    return size >= 4 && (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0);
}

#ifdef AV_HAVE_LIBZIP

#include <inttypes.h>
#include <stdlib.h>
#include <zip.h>

enum {
    ENTRIES_MAX = 1 << 14,
    STREAMS = 8,          /* open at a time */
    GAP = 1 << 12,        /* bytes that are sooner read over than jumped over */
    BLOCK = AV_BLOCK,     /* bytes unpacked at a time; a multiple of every number's size */
    DEFLATE_RATIO = 1032, /* no deflated byte makes more: a match of 258 bytes takes 2 bits */
    SLACK = 64            /* bytes that very short entries may have beyond it */
};

/* An entry that is being unpacked. */
struct stream {
    zip_file_t *file; /* NULL: this one is free */
    uint64_t index;
    uint64_t at;   /* bytes that have come */
    uint64_t used; /* the larger, the later */
};

struct archive {
    zip_t *zip;
    struct stream streams[STREAMS];
    uint64_t uses;
    struct av_block_cache cache;  /* of deflated entries */
    struct av_whole_cache wholes; /* of those in Fortran order */
};

static void close_stream(struct stream *s)
{
    if (s->file != NULL) {
        zip_fclose(s->file);
        s->file = NULL;
    }
}

static enum av_status damaged(const char *label, struct stream *s, const char *what, struct av_error *e)
{
    zip_error_t *error = zip_file_get_error(s->file);
    int code = zip_error_code_zip(error);
    if (code != ZIP_ER_OK && code != ZIP_ER_CRC) { /* a checksum is wrong of what ends too early as well */
        what = zip_error_strerror(error);
    }
    av_fail(e, AV_FAILED, "%s: damaged archive: %s", label, what);
    close_stream(s);
    return AV_FAILED;
}

/* The next `size` bytes to `to`. */
static enum av_status unpack(const char *label, struct stream *s, void *to, size_t size, struct av_error *e)
{
    unsigned char *bytes = to;
    while (size > 0) {
        zip_int64_t n = zip_fread(s->file, bytes, size);
        if (n <= 0) {
            return damaged(label, s, "ends too early", e);
        }
        bytes += n;
        s->at += (uint64_t)n;
        size -= (size_t)n;
    }
    return AV_OK;
}

/* All bytes have come: there are no more, and libzip finds their checksum right. */
static enum av_status check_end(const char *label, struct stream *s, struct av_error *e)
{
    unsigned char more;
    zip_int64_t n = zip_fread(s->file, &more, 1);
    return n == 0 ? AV_OK : damaged(label, s, n > 0 ? "holds more than it says" : "its checksum is wrong", e);
}

/* A byte of an unpacked entry. */
struct place {
    uint64_t index, at;
    bool stored; /* in the entry, every byte is as near as any other */
};

/* The stream that has the shortest way to there, or else one to be begun anew: a
 * free one, or that which was not used for the longest time. */
static struct stream *choose_stream(struct archive *a, const struct place *to)
{
    struct stream *near = NULL;
    struct stream *idle = &a->streams[0];
    for (size_t i = 0; i < STREAMS; i++) {
        struct stream *s = &a->streams[i];
        bool leads = s->file != NULL && s->index == to->index && (to->stored || s->at <= to->at);
        if (leads && (near == NULL || s->at > near->at)) {
            near = s;
        }
        if (idle->file != NULL && (s->file == NULL || s->used < idle->used)) {
            idle = s;
        }
    }
    if (near == NULL) {
        close_stream(idle);
    }
    return near != NULL ? near : idle;
}

/* A stream of the entry that is there, or a way before it. Small gaps are read
 * over, so that the checksum of an entry of which all is read gets its due. */
static enum av_status find_stream(struct archive *a, const char *label, const struct place *to, struct stream **out,
                                  struct av_error *e)
{
    struct stream *s = *out = choose_stream(a, to);
    s->used = ++a->uses;
    if (s->file == NULL) {
        s->file = zip_fopen_index(a->zip, to->index, 0);
        s->index = to->index;
        s->at = 0;
    }
    if (s->file == NULL) {
        return av_fail(e, AV_FAILED, "%s: damaged archive: %s", label, zip_strerror(a->zip));
    }
    if (to->stored && (s->at > to->at || to->at - s->at > GAP)) {
        if (zip_fseek(s->file, (zip_int64_t)to->at, SEEK_SET) != 0) {
            return damaged(label, s, "ends too early", e);
        }
        s->at = to->at;
    }
    return AV_OK;
}

/* ---- Opening ----------------------------------------------------------------- */

/* What an entry says of itself, before anything of it is unpacked. */
static enum av_status check_entry(const char *label, const zip_stat_t *st, struct av_error *e)
{
    const char *why = NULL;
    if (st->encryption_method != ZIP_EM_NONE) {
        why = "encrypted";
    } else if (st->comp_method != ZIP_CM_STORE && st->comp_method != ZIP_CM_DEFLATE) {
        why = "packed by another method than deflate";
    } else if (st->comp_method == ZIP_CM_STORE && st->size != st->comp_size) {
        why = "damaged archive: stored in another size than its own";
    } else if (st->size > SLACK && (st->size - SLACK) / DEFLATE_RATIO > st->comp_size) {
        why = "damaged archive: unpacks to more than any deflated data can";
    }
    return why == NULL ? AV_OK : av_fail(e, AV_FAILED, "%s: %s", label, why);
}

static enum av_status add_entry(struct av_dump *d, const char *name, const zip_stat_t *st, struct av_error *e)
{
    struct archive *a = d->state;
    struct stream *stream;
    unsigned char head[AV_NPY_HEAD_MAX];
    struct av_dump_label label = av_dump_label(d, name);
    enum av_status s = check_entry(label.text, st, e);
    if (s == AV_OK) {
        s = find_stream(a, label.text, &(struct place){ st->index, 0, false }, &stream, e);
    }
    if (s != AV_OK) {
        return s;
    }
    size_t start = st->size < AV_NPY_START ? (size_t)st->size : AV_NPY_START;
    size_t size = 0;
    s = unpack(label.text, stream, head, start, e);
    if (s == AV_OK) {
        size = av_npy_head_size(head, start);
        size = size < st->size ? size : (size_t)st->size;
        s = size > start ? unpack(label.text, stream, head + start, size - start, e) : AV_OK;
    }
    if (s == AV_OK) {
        s = av_dump_add_npy(d, name, head, st->size, st->index, true, e);
    }
    if (s == AV_OK) {
        d->items[d->count - 1].seen.streamed = st->comp_method != ZIP_CM_STORE;
    }
    return s;
}

/* Entries that are no arrays are passed over; *pickle: one is PyTorch's. */
static enum av_status visit(struct av_dump *d, uint64_t index, bool *pickle, struct av_error *e)
{
    static const char ending[] = ".npy";
    struct archive *a = d->state;
    zip_stat_t st;
    const zip_uint64_t known =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(a->zip, index, 0, &st) != 0 || (st.valid & known) != known) {
        return av_fail(e, AV_FAILED, "%s: damaged archive: %s", d->path, zip_strerror(a->zip));
    }
    size_t len = strlen(st.name);
    size_t end = sizeof ending - 1;
    *pickle = *pickle || (len >= 8 && strcmp(st.name + len - 8, "data.pkl") == 0);
    if (len <= end || strcmp(st.name + len - end, ending) != 0) {
        return AV_OK;
    }
    if (d->count == ENTRIES_MAX) {
        return av_fail(e, AV_FAILED, "%s: holds more than %d arrays", d->path, ENTRIES_MAX);
    }
    char *name = strndup(st.name, len - end);
    enum av_status s = name == NULL ? av_fail_nomem(e, d->path) : add_entry(d, name, &st, e);
    free(name);
    return s;
}

static enum av_status open_archive(struct av_dump *d, struct archive *a, struct av_error *e)
{
    zip_error_t error;
    zip_error_init(&error);
    if (d->bytes != NULL) {
        zip_source_t *source = zip_source_buffer_create(d->bytes, d->size, 0, &error);
        a->zip = source != NULL ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
        if (a->zip == NULL) {
            zip_source_free(source);
        }
    } else {
        int code;
        a->zip = zip_fdopen(d->fd, 0, &code);
        if (a->zip != NULL) {
            d->fd = -1; /* closed by now: libzip has made its own */
        } else {
            zip_error_init_with_code(&error, code);
        }
    }
    enum av_status s =
        a->zip != NULL ? AV_OK : av_fail(e, AV_FAILED, "%s: damaged archive: %s", d->path, zip_error_strerror(&error));
    zip_error_fini(&error);
    return s;
}

static enum av_status open_npz(struct av_dump *d, struct av_error *e)
{
    struct archive *a = calloc(1, sizeof *a);
    bool pickle = false;
    d->state = a;
    if (a == NULL) {
        return av_fail_nomem(e, d->path);
    }
    enum av_status s = open_archive(d, a, e);
    zip_int64_t entries = s == AV_OK ? zip_get_num_entries(a->zip, 0) : 0;
    for (zip_int64_t i = 0; i < entries && s == AV_OK; i++) {
        s = visit(d, (uint64_t)i, &pickle, e);
    }
    if (s == AV_OK && d->count == 0) {
        s = av_fail(e, AV_FAILED, "%s: a zip archive without .npy files in it%s", d->path,
                    pickle ? ": PyTorch's own format is not read, save safetensors or .npz" : "");
    }
    return s;
}

static void close_npz(struct av_dump *d)
{
    struct archive *a = d->state;
    if (a == NULL) {
        return;
    }
    for (size_t i = 0; i < STREAMS; i++) {
        close_stream(&a->streams[i]);
    }
    if (a->zip != NULL) {
        zip_discard(a->zip);
    }
    av_block_cache_free(&a->cache);
    av_whole_cache_free(&a->wholes);
    free(a);
}

/* ---- Reading ----------------------------------------------------------------- */

/* What is being read. */
struct reading {
    struct archive *archive;
    struct av_dump_label label;
    const struct av_dump_item *item;
    unsigned char *block; /* BLOCK bytes */
};

static uint64_t end_of(const struct av_dump_item *item)
{
    return item->at + (uint64_t)item->seen.count * item->type->size;
}

/* Bytes [at, at + size) of the entry from a stream to `to`. */
static enum av_status take(struct reading *r, uint64_t at, unsigned char *to, size_t size, struct av_error *e)
{
    const struct place from = { r->item->index, at, !r->item->seen.streamed };
    struct stream *stream;
    enum av_status s = find_stream(r->archive, r->label.text, &from, &stream, e);
    while (s == AV_OK && stream->at < at) {
        unsigned char over[BLOCK];
        uint64_t gap = at - stream->at;
        s = unpack(r->label.text, stream, over, gap < BLOCK ? (size_t)gap : BLOCK, e);
    }
    if (s == AV_OK) {
        s = unpack(r->label.text, stream, to, size, e);
    }
    return s == AV_OK && stream->at == end_of(r->item) ? check_end(r->label.text, stream, e) : s;
}

/* A block of the entry, out of the cache, or unpacked into it. */
static enum av_status find_block(struct reading *r, uint64_t number, const unsigned char **out, struct av_error *e)
{
    struct av_block_cache *cache = &r->archive->cache;
    *out = av_block_find(cache, r->item->index, number);
    if (*out != NULL) {
        return AV_OK;
    }
    struct av_cached_block *block = av_block_put(cache, r->item->index, number);
    if (block == NULL) {
        return av_fail_nomem(e, r->label.text);
    }
    uint64_t left = end_of(r->item) - number * BLOCK;
    enum av_status s = take(r, number * BLOCK, block->bytes, left < BLOCK ? (size_t)left : BLOCK, e);
    if (s == AV_OK) {
        av_block_keep(cache, block);
        *out = block->bytes;
    }
    return s;
}

/* Entries [first, first + count), as the archive has them, to the block. */
static enum av_status fetch(struct reading *r, size_t first, size_t count, struct av_error *e)
{
    const size_t size = count * r->item->type->size;
    const uint64_t at = r->item->at + (uint64_t)first * r->item->type->size;
    enum av_status s = AV_OK;
    if (!r->item->seen.streamed) {
        return take(r, at, r->block, size, e);
    }
    for (size_t done = 0; done < size && s == AV_OK;) {
        const unsigned char *bytes;
        size_t within = (size_t)((at + done) % BLOCK);
        size_t some = size - done < BLOCK - within ? size - done : BLOCK - within;
        s = find_block(r, (at + done) / BLOCK, &bytes, e);
        if (s == AV_OK) {
            memcpy(r->block + done, bytes + within, some);
        }
        done += some;
    }
    return s;
}

/* One run of any length. */
static enum av_status read_long(struct reading *r, size_t first, size_t count, struct av_numbers out, size_t place,
                                struct av_error *e)
{
    const struct av_dump_item *item = r->item;
    enum av_status s = AV_OK;
    for (size_t done = 0; done < count && s == AV_OK;) {
        size_t most = BLOCK / item->type->size;
        size_t some = count - done < most ? count - done : most;
        s = fetch(r, first + done, some, e);
        if (s == AV_OK) {
            av_number_read_run(item->type, r->block, item->big_endian, some, out, place + done);
        }
        done += some;
    }
    return s;
}

/* Runs `row` to `row + rows` that lie within one block, with the gaps between. */
static enum av_status read_near(struct reading *r, const struct av_dump_run *run, size_t row, size_t rows,
                                struct av_numbers out, struct av_error *e)
{
    const struct av_dump_item *item = r->item;
    enum av_status s = fetch(r, run->first + row * run->stride, (rows - 1) * run->stride + run->count, e);
    for (size_t i = 0; i < rows && s == AV_OK; i++) {
        const unsigned char *at = r->block + i * run->stride * item->type->size;
        av_number_read_run(item->type, at, item->big_endian, run->count, out, (row + i) * run->count);
    }
    return s;
}

/* How many runs at least come with one block; 0 or 1: better each by itself. */
static size_t runs_in_block(const struct av_dump_item *item, const struct av_dump_run *run)
{
    const size_t most = BLOCK / item->type->size;
    const size_t gap = run->stride > run->count ? run->stride - run->count : 0;
    if (run->count > most || (!item->seen.streamed && gap * item->type->size > GAP)) {
        return 0;
    }
    return run->stride == 0 ? run->rows : (most - run->count) / run->stride + 1;
}

/* Of an entry in Fortran order, where the entries of a run lie far apart. */
static enum av_status read_whole(struct reading *r, const struct av_dump_run *run, struct av_numbers out,
                                 struct av_error *e)
{
    const size_t size = r->item->seen.count * r->item->type->size;
    struct av_whole *whole = av_whole_get(&r->archive->wholes, r->item->index, size);
    if (whole == NULL) {
        return av_fail_nomem(e, r->label.text);
    }
    enum av_status s = whole->used > 0 ? AV_OK : take(r, r->item->at, whole->bytes, size, e);
    if (s == AV_OK) {
        av_whole_keep(&r->archive->wholes, whole);
        av_dump_read_entries(whole->bytes, r->item, run, out);
    }
    return s;
}

static enum av_status read_npz(struct av_dump *d, const struct av_dump_item *item, const struct av_dump_run *run,
                               struct av_numbers out, struct av_error *e)
{
    unsigned char block[BLOCK];
    struct reading r = { d->state, av_dump_label(d, item->name), item, block };
    const size_t near = runs_in_block(item, run);
    enum av_status s = AV_OK;
    if (item->fortran) {
        return read_whole(&r, run, out, e);
    }
    if (run->stride == run->count) {
        return read_long(&r, run->first, run->rows * run->count, out, 0, e);
    }
    for (size_t row = 0; row < run->rows && s == AV_OK;) {
        size_t rows = near < run->rows - row ? near : run->rows - row;
        if (rows > 1) {
            s = read_near(&r, run, row, rows, out, e);
        } else {
            rows = 1;
            s = read_long(&r, run->first + row * run->stride, run->count, out, row * run->count, e);
        }
        row += rows;
    }
    return s;
}

const struct av_dump_source av_dump_npz = {
    .name = "npz", .is = is_zip, .open = open_npz, .read = read_npz, .close = close_npz
};

#else

const struct av_dump_source av_dump_npz = { .name = "npz", .lacks = "libzip: install libzip-dev", .is = is_zip };

#endif
