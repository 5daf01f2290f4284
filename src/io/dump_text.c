/* dump_text.c - rows of numbers, from a file or a pipe, as a dump of one matrix. */
#include "dump_parts.h"
#include "file_kind.h"
#include "shown.h"
#include "text_matrix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 16, TEXT_MAX_MIB = 256 };

/* No control characters where it begins, and nothing else that is known. */
static bool is_text(const unsigned char *head, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (head[i] == 0x7F || (head[i] < 0x20 && strchr("\t\n\r", head[i]) == NULL) || head[i] == '\0') {
            return false;
        }
    }
    return av_file_magic(head, size) == NULL;
}

/* The next block from where the bytes are; *got 0: there is no more. `at`: how
 * many have come. Of a pipe the head comes first. */
static enum av_status next_block(struct av_dump *d, size_t at, unsigned char *block, size_t *got, struct av_error *e)
{
    if (d->bytes != NULL) {
        *got = d->size - at < BLOCK ? d->size - at : BLOCK;
        return av_dump_copy(d, at, block, *got, e);
    }
    if (at == 0 && d->head_size > 0) {
        *got = d->head_size;
        memcpy(block, d->head, d->head_size);
        return AV_OK;
    }
    ssize_t n;
    do {
        n = read(d->fd, block, BLOCK);
    } while (n < 0 && errno == EINTR);
    *got = n > 0 ? (size_t)n : 0;
    return n < 0 ? av_fail_errno(e, d->path) : AV_OK;
}

static enum av_status read_all(struct av_dump *d, struct av_text_matrix *m, struct av_error *e)
{
    static const char byte_order_mark[] = "\xEF\xBB\xBF";
    unsigned char block[BLOCK];
    size_t got;
    size_t at = 0;
    do {
        enum av_status s = next_block(d, at, block, &got, e);
        size_t skip = at == 0 && got >= 3 && memcmp(block, byte_order_mark, 3) == 0 ? 3 : 0;
        if (s == AV_OK) {
            s = av_text_matrix_feed(m, block + skip, got - skip, e);
        }
        if (s != AV_OK) {
            return s;
        }
        at += got;
        if (at > (size_t)TEXT_MAX_MIB << 20) {
            return av_fail(e, AV_FAILED, "%s: more than %d MiB of text: save it as .npy", d->path, TEXT_MAX_MIB);
        }
    } while (got > 0);
    return av_text_matrix_end(m, e);
}

static enum av_status open_text(struct av_dump *d, struct av_error *e)
{
    struct av_text_matrix *m = calloc(1, sizeof *m);
    struct av_dump_item *item;
    d->state = m;
    if (m == NULL) {
        return av_fail_nomem(e, d->path);
    }
    m->name = d->path;
    enum av_status s = read_all(d, m, e);
    if (s == AV_OK) {
        s = av_dump_add(d, av_dump_base_name(d).text, "text", &item, e);
    }
    if (s == AV_OK) {
        item->type = av_number_type_of_dtype("F64");
        item->seen.wide = true;
        s = av_dump_shape(d, item, (uint64_t[]){ m->rows, m->columns }, 2, e);
    }
    return s;
}

static enum av_status read_text(struct av_dump *d, const struct av_dump_item *item, const struct av_dump_run *run,
                                struct av_numbers out, struct av_error *e)
{
    const struct av_text_matrix *m = d->state;
    (void)item;
    (void)e;
    for (size_t row = 0; row < run->rows; row++) {
        memcpy(out.f64 + row * run->count, m->values + run->first + row * run->stride, run->count * sizeof(double));
    }
    return AV_OK;
}

static void close_text(struct av_dump *d)
{
    struct av_text_matrix *m = d->state;
    if (m != NULL) {
        free(m->values);
        free(m);
    }
}

const struct av_dump_source av_dump_text = { .name = "text",
                                             .map = true,
                                             .single = true,
                                             .is = is_text,
                                             .open = open_text,
                                             .read = read_text,
                                             .close = close_text };
