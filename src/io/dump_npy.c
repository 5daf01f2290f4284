/* dump_npy.c - a .npy file as a dump of one array. */
#include "dump_parts.h"
#include "npy_header.h"
#include "whole_cache.h"

static enum av_status check(const struct av_dump *d, struct av_dump_item *item, const struct av_npy_header *h,
                            const char *label, uint64_t size, bool stream, struct av_error *e)
{
    enum av_status s = AV_OK;
    if (h->type == NULL) {
        return av_dump_refuse(d, item, av_npy_type_reason(h).text, e);
    }
    if (item->seen.no == NULL) {
        s = av_npy_check_size(h, label, item->seen.count, size, e);
    }
    if (s == AV_OK && stream && item->fortran && item->seen.count > AV_WHOLE_MAX / h->type->size) {
        s = av_dump_refuse(d, item,
                           "is in Fortran order and larger than 128 MiB: in an archive save it as "
                           "numpy.ascontiguousarray gives it",
                           e);
    }
    return s;
}

enum av_status av_dump_add_npy(struct av_dump *d, const char *name, const unsigned char *head, uint64_t size,
                               uint64_t index, bool stream, struct av_error *e)
{
    struct av_npy_header h;
    struct av_dump_item *item;
    struct av_dump_label label = av_dump_label(d, name);
    enum av_status s = av_npy_header_read(&h, label.text, head, size, e);
    if (s == AV_OK) {
        s = av_dump_add(d, name, *h.descr == '[' ? "records" : h.descr, &item, e);
    }
    if (s == AV_OK) {
        item->type = h.type;
        item->big_endian = h.big_endian;
        item->fortran = h.fortran && h.rank > 1;
        item->at = h.data;
        item->index = index;
        item->seen.wide = h.type != NULL && h.type->wide;
        s = av_dump_shape(d, item, h.shape, h.rank, e);
    }
    return s == AV_OK ? check(d, item, &h, label.text, size, stream, e) : s;
}

static enum av_status open_npy(struct av_dump *d, struct av_error *e)
{
    unsigned char head[AV_NPY_HEAD_MAX];
    enum av_status s = av_dump_copy(d, 0, head, d->size < sizeof head ? d->size : sizeof head, e);
    if (s == AV_OK) {
        s = av_dump_add_npy(d, av_dump_base_name(d).text, head, d->size, 0, false, e);
    }
    /* There is nothing else in the file. */
    if (s == AV_OK && d->items[0].no != NULL) {
        s = av_fail(e, AV_FAILED, "%s: %s", d->path, d->items[0].no);
    }
    return s;
}

const struct av_dump_source av_dump_npy = {
    .name = "npy", .map = true, .single = true, .is = av_npy_is, .open = open_npy, .read = av_dump_read_bytes
};
