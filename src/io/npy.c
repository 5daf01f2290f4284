/* npy.c - reading NumPy's .npy files. */
#include "attnviz/npy.h"

#include "attnviz/mem.h"
#include "npy_header.h"
#include "regular.h"
#include "shown.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Where the bytes come from: a file, or memory when fd is -1. */
struct source {
    const char *name; /* printable */
    int fd;
    const unsigned char *memory;
    uint64_t size;
};

/* Bytes [at, at + size) to `to`. */
static enum av_status fetch(const struct source *in, uint64_t at, unsigned char *to, size_t size, struct av_error *e)
{
    if (in->fd < 0) {
        if (size > 0) {
            memcpy(to, in->memory + at, size);
        }
        return AV_OK;
    }
    while (size > 0) {
        ssize_t n = pread(in->fd, to, size, (off_t)at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return av_fail(e, AV_FAILED, "%s: %s", in->name, n < 0 ? strerror(errno) : "became shorter while read");
        }
        to += n;
        at += (uint64_t)n;
        size -= (size_t)n;
    }
    return AV_OK;
}

/* The shape as heads of rows. */
static enum av_status take_shape(struct av_tensor *t, const struct av_npy_header *h, const char *name,
                                 struct av_error *e)
{
    size_t count;
    if (h->rank != 2 && h->rank != 3) {
        return av_fail(e, AV_FAILED, "%s: shape %s is not supported, only [n, d] or [heads, n, d]", name,
                       av_shape_text(h->shape, h->rank).text);
    }
    bool fits = av_shape_count(h->shape, h->rank, &count);
    if (count == 0 || !fits) {
        return av_fail(e, AV_FAILED, "%s: shape %s %s", name, av_shape_text(h->shape, h->rank).text,
                       fits ? "holds no entries" : "is larger than any memory");
    }
    t->rank = h->rank;
    t->heads = h->rank == 3 ? (size_t)h->shape[0] : 1;
    t->n = (size_t)h->shape[h->rank - 2];
    t->d = (size_t)h->shape[h->rank - 1];
    return AV_OK;
}

/* Index in the tensor, [heads, n, d] row-major, of the i-th entry in the file. */
static size_t place(const struct av_tensor *t, bool fortran, size_t i)
{
    if (!fortran) {
        return i;
    }
    size_t head = i % t->heads;
    size_t row = i / t->heads % t->n;
    size_t column = i / t->heads / t->n;
    return (head * t->n + row) * t->d + column;
}

/* Reads all entries, a chunk at a time so that the file is never in memory
 * beside the tensor. The chunk held the header before. */
static enum av_status read_entries(struct av_tensor *t, const struct av_npy_header *h, const struct source *in,
                                   unsigned char *chunk, struct av_error *e)
{
    size_t size = h->type->size;
    size_t count = t->heads * t->n * t->d;
    size_t some = AV_NPY_HEAD_MAX / size;
    for (size_t first = 0; first < count; first += some) {
        some = count - first < some ? count - first : some;
        enum av_status s = fetch(in, h->data + (uint64_t)first * size, chunk, some * size, e);
        if (s != AV_OK) {
            return s;
        }
        for (size_t i = 0; i < some; i++) {
            double x = av_number_read(h->type, chunk + i * size, h->big_endian);
            if (t->f64 != NULL) {
                t->f64[place(t, h->fortran, first + i)] = x;
            } else {
                t->f32[place(t, h->fortran, first + i)] = (float)x;
            }
        }
    }
    return AV_OK;
}

static enum av_status allocate(struct av_tensor *t, const struct av_npy_header *h, const char *name, struct av_error *e)
{
    size_t count = t->heads * t->n * t->d;
    size_t size = h->type->wide ? sizeof(double) : sizeof(float);
    if (count > av_mem_physical() / size) {
        return av_fail(e, AV_FAILED, "%s: needs %.1f GiB, this machine has %.1f GiB of memory", name,
                       (double)count * (double)size / 0x1p30, (double)av_mem_physical() / 0x1p30);
    }
    void *entries = av_alloc(count, size);
    if (entries == NULL) {
        return av_fail_nomem(e, name);
    }
    if (h->type->wide) {
        t->f64 = entries;
    } else {
        t->f32 = entries;
    }
    return AV_OK;
}

static enum av_status read_source(struct av_tensor *t, const struct source *in, struct av_error *e)
{
    unsigned char chunk[AV_NPY_HEAD_MAX];
    struct av_npy_header h;
    enum av_status s = fetch(in, 0, chunk, in->size < sizeof chunk ? (size_t)in->size : sizeof chunk, e);
    if (s == AV_OK) {
        s = av_npy_header_read(&h, in->name, chunk, in->size, e);
    }
    if (s == AV_OK && h.type == NULL) {
        return av_fail(e, AV_FAILED, "%s: %s", in->name, av_npy_type_reason(&h).text);
    }
    if (s == AV_OK) {
        s = take_shape(t, &h, in->name, e);
    }
    if (s == AV_OK) {
        s = av_npy_check_size(&h, in->name, t->heads * t->n * t->d, in->size, e);
    }
    if (s == AV_OK) {
        s = allocate(t, &h, in->name, e);
    }
    if (s == AV_OK) {
        s = read_entries(t, &h, in, chunk, e);
    }
    if (s != AV_OK) {
        av_tensor_free(t);
        return s;
    }
    const char *slash = strrchr(in->name, '/');
    snprintf(t->name, sizeof t->name, "%s", slash != NULL ? slash + 1 : in->name);
    snprintf(t->dtype, sizeof t->dtype, "%.15s", h.descr);
    av_tensor_count_invalid(t);
    return AV_OK;
}

enum av_status av_npy_parse(struct av_tensor *t, const char *name, const unsigned char *data, size_t size,
                            struct av_error *e)
{
    memset(t, 0, sizeof *t);
    struct av_shown shown = av_shown(name);
    return read_source(t, &(struct source){ .name = shown.text, .fd = -1, .memory = data, .size = size }, e);
}

enum av_status av_npy_read(struct av_tensor *t, const char *path, struct av_error *e)
{
    memset(t, 0, sizeof *t);
    struct av_shown shown = av_shown(path);
    struct source in = { .name = shown.text };
    enum av_status s = av_regular_open(path, &in.fd, &in.size, e);
    if (s == AV_OK) {
        s = read_source(t, &in, e);
        close(in.fd);
    }
    return s;
}
