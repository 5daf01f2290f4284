/* dump_safetensors.c - safetensors files as dumps; the one file that sees cJSON.
 *
 * The format: 8 bytes, little endian, the length of the header; the header, an
 * object in JSON, padded with blanks; then the entries of all tensors, little
 * endian, one behind the other without a gap. A member of the header is a tensor,
 *
 *   "layers.0.q": {"dtype": "F32", "shape": [8, 128, 8], "data_offsets": [0, 32768]}
 *
 * whose offsets, begin and end, count from behind the header, or "__metadata__",
 * an object of strings. As in the reference implementation a header of more than
 * 100 MB is refused, and so is a byte that belongs to no tensor or to two; empty
 * dimensions are allowed, and [] is a single number. */
#include "dump_parts.h"
#include "json_bounds.h"
#include "shape.h"
#include "shown.h"

enum { LENGTH = 8, HEADER_MAX = 100000000 };

/* A text file has no bytes like these where the length stands. */
static bool is_safetensors(const unsigned char *head, size_t size)
{
    bool binary = false;
    for (size_t i = 0; i < LENGTH && i < size; i++) {
        binary = binary || head[i] < 0x09 || head[i] > 0x7E;
    }
    return binary && size > LENGTH && head[LENGTH] == '{';
}

#ifdef AV_HAVE_CJSON

#include <cjson/cJSON.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPE_TEXT = 64, DEPTH_MAX = 16, VALUES_MAX = 1 << 21 };

static const double exact_max = 9007199254740992; /* 2^53: whole numbers up to it are exact as JSON has them */

/* The members of a tensor that count here, as they stand in the header. */
struct members {
    const cJSON *dtype, *shape, *offsets;
};

static enum av_status bad(const struct av_dump *d, const char *tensor, const char *what, struct av_error *e)
{
    return av_fail(e, AV_FAILED, "%s: %s", av_dump_label(d, tensor).text, what);
}

/* false: one is missing, and e says so. */
static bool find_members(const struct av_dump *d, const cJSON *tensor, struct members *m, struct av_error *e)
{
    const struct {
        const char *name;
        const cJSON **place;
    } wanted[] = { { "dtype", &m->dtype }, { "shape", &m->shape }, { "data_offsets", &m->offsets } };
    const cJSON *member;
    cJSON_ArrayForEach(member, tensor)
    {
        for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
            if (member->string == NULL || strcmp(member->string, wanted[i].name) != 0) {
                continue;
            }
            if (*wanted[i].place != NULL) {
                av_fail(e, AV_FAILED, "%s: \"%s\" stands there twice", av_dump_label(d, tensor->string).text,
                        wanted[i].name);
                return false;
            }
            *wanted[i].place = member;
        }
    }
    if (m->dtype == NULL || !cJSON_IsString(m->dtype) || !cJSON_IsArray(m->shape) || !cJSON_IsArray(m->offsets)) {
        bad(d, tensor->string, "no \"dtype\" (a string), \"shape\" and \"data_offsets\" (arrays)", e);
        return false;
    }
    return true;
}

/* Sizes or offsets: whole numbers from 0 to 2^53. Keeps the first `room` of them. */
static enum av_status read_sizes(const struct av_dump *d, const char *tensor, const cJSON *array, uint64_t *sizes,
                                 size_t room, size_t *count, struct av_error *e)
{
    const cJSON *x;
    *count = 0;
    cJSON_ArrayForEach(x, array)
    {
        bool whole = cJSON_IsNumber(x) && x->valuedouble >= 0 && x->valuedouble <= exact_max &&
                     (double)(uint64_t)x->valuedouble >= x->valuedouble;
        if (!whole) {
            return av_fail(e, AV_FAILED, "%s: \"%s\" holds something else than whole numbers from 0 to 2^53",
                           av_dump_label(d, tensor).text, array->string);
        }
        if (*count < room) {
            sizes[*count] = (uint64_t)x->valuedouble;
        }
        ++*count;
    }
    return AV_OK;
}

/* Where the entries stand, and that so many are there. `data`: where the first
 * tensor's begin in the file. */
static enum av_status read_range(const struct av_dump *d, struct av_dump_item *item, const cJSON *offsets,
                                 uint64_t data, struct av_error *e)
{
    uint64_t range[2];
    size_t count;
    enum av_status s = read_sizes(d, item->name, offsets, range, 2, &count, e);
    if (s != AV_OK) {
        return s;
    }
    if (count != 2 || range[0] > range[1]) {
        return bad(d, item->name, "\"data_offsets\" are not [begin, end]", e);
    }
    if (range[1] > d->size - data) {
        return av_fail(e, AV_FAILED, "%s: cut short: ends at byte %" PRIu64 " of the data, which has %" PRIu64,
                       av_dump_label(d, item->name).text, range[1], d->size - data);
    }
    item->at = data + range[0];
    item->size = range[1] - range[0];
    return AV_OK;
}

static enum av_status check_size(const struct av_dump *d, const struct av_dump_item *item, const uint64_t *shape,
                                 struct av_error *e)
{
    if (item->no != NULL || item->size == (uint64_t)item->seen.count * item->type->size) {
        return AV_OK;
    }
    return av_fail(e, AV_FAILED, "%s: %s of %s takes %" PRIu64 " bytes, its offsets are %" PRIu64 " apart",
                   av_dump_label(d, item->name).text, av_shape_text(shape, item->seen.rank).text, item->seen.type,
                   (uint64_t)item->seen.count * item->type->size, item->size);
}

static enum av_status add_tensor(struct av_dump *d, const cJSON *tensor, uint64_t data, struct av_error *e)
{
    struct members m = { NULL, NULL, NULL };
    struct av_dump_item *item;
    uint64_t shape[AV_SHAPE_MAX];
    size_t rank;
    if (!find_members(d, tensor, &m, e)) {
        return AV_FAILED;
    }
    enum av_status s = av_dump_add(d, tensor->string, m.dtype->valuestring, &item, e);
    if (s == AV_OK) {
        s = read_sizes(d, item->name, m.shape, shape, AV_SHAPE_MAX, &rank, e);
    }
    if (s == AV_OK) {
        s = read_range(d, item, m.offsets, data, e);
    }
    if (s == AV_OK) {
        s = av_dump_shape(d, item, shape, rank, e);
    }
    if (s != AV_OK) {
        return s;
    }
    item->type = av_number_type_of_dtype(m.dtype->valuestring);
    item->seen.wide = item->type != NULL && item->type->wide;
    if (item->type == NULL) {
        struct av_error why;
        av_fail(&why, AV_FAILED, "type %s is not supported", item->type_text);
        s = av_dump_refuse(d, item, why.text, e);
    }
    return s == AV_OK ? check_size(d, item, shape, e) : s;
}

static enum av_status add_metadata(struct av_dump *d, const cJSON *object, struct av_error *e)
{
    const cJSON *member;
    if (!cJSON_IsObject(object)) {
        return bad(d, object->string, "is not an object", e);
    }
    cJSON_ArrayForEach(member, object)
    {
        enum av_status s = cJSON_IsString(member) ? av_dump_add_meta(d, member->string, member->valuestring, e)
                                                  : bad(d, member->string, "metadata that is not a string", e);
        if (s != AV_OK) {
            return s;
        }
    }
    return AV_OK;
}

static int compare_places(const void *a, const void *b)
{
    const struct av_dump_item *x = a;
    const struct av_dump_item *y = b;
    if (x->at != y->at) {
        return x->at < y->at ? -1 : 1;
    }
    return (x->size > y->size) - (x->size < y->size); /* the empty ones first */
}

/* Every byte of the data belongs to one tensor. */
static enum av_status check_cover(struct av_dump *d, uint64_t data, struct av_error *e)
{
    uint64_t end = data;
    if (d->count > 0) {
        qsort(d->items, d->count, sizeof d->items[0], compare_places);
    }
    for (size_t i = 0; i < d->count; i++) {
        const struct av_dump_item *item = &d->items[i];
        if (item->at != end) {
            return av_fail(e, AV_FAILED, "%s: %s %" PRIu64 " of the data", av_dump_label(d, item->name).text,
                           item->at < end ? "overlaps another tensor, from byte"
                                          : "no tensor holds what is before byte",
                           item->at - data);
        }
        end += item->size;
    }
    return end == d->size ? AV_OK
                          : av_fail(e, AV_FAILED, "%s: too long: %" PRIu64 " bytes behind the last tensor", d->path,
                                    d->size - end);
}

static enum av_status read_header(struct av_dump *d, const cJSON *header, uint64_t data, struct av_error *e)
{
    const cJSON *member;
    bool seen = false;
    cJSON_ArrayForEach(member, header)
    {
        enum av_status s;
        if (strcmp(member->string, "__metadata__") != 0) {
            s = add_tensor(d, member, data, e);
        } else if (seen) {
            s = bad(d, member->string, "stands there twice", e);
        } else {
            s = add_metadata(d, member, e);
            seen = true;
        }
        if (s != AV_OK) {
            return s;
        }
    }
    if (d->count == 0) {
        return av_fail(e, AV_FAILED, "%s: holds no tensors", d->path);
    }
    enum av_status s = av_dump_sort(d, e); /* names first: of two alike, entries overlap as well */
    return s == AV_OK ? check_cover(d, data, e) : s;
}

/* The text has size bytes and a NUL behind them. */
static enum av_status parse_header(struct av_dump *d, const char *text, size_t size, struct av_error *e)
{
    static const struct av_json_bounds bounds = { DEPTH_MAX, VALUES_MAX };
    size_t at;
    const char *wrong = av_json_bounds(text, size, &bounds, &at);
    if (wrong != NULL) {
        return av_fail(e, AV_FAILED, "%s: bad safetensors header: %s, at byte %zu", d->path, wrong, at + 1);
    }
    const char *end = text;
    errno = 0; /* malloc's is all that tells a lack of memory from broken text */
    cJSON *header = cJSON_ParseWithOpts(text, &end, false);
    if (header == NULL && errno == ENOMEM) {
        return av_fail_nomem(e, d->path);
    }
    if (header == NULL || strspn(end, " \t\r\n") != strlen(end)) {
        cJSON_Delete(header);
        return av_fail(e, AV_FAILED, "%s: bad safetensors header: not JSON from byte %td on", d->path, end - text + 1);
    }
    enum av_status s = read_header(d, header, LENGTH + (uint64_t)size, e);
    cJSON_Delete(header);
    return s;
}

static enum av_status open_safetensors(struct av_dump *d, struct av_error *e)
{
    uint64_t length = 0;
    for (size_t i = LENGTH; i-- > 0;) {
        length = length << 8 | d->head[i];
    }
    if (length > HEADER_MAX) {
        return av_fail(e, AV_FAILED, "%s: bad safetensors header: %" PRIu64 " bytes long, at most 100 MB are accepted",
                       d->path, length);
    }
    if (length > d->size - LENGTH) {
        return av_fail(e, AV_FAILED, "%s: cut short: the header takes %" PRIu64 " bytes, found %zu", d->path, length,
                       d->size - LENGTH);
    }
    size_t size = (size_t)length;
    char *text = malloc(size + 1);
    if (text == NULL) {
        return av_fail_nomem(e, d->path);
    }
    text[size] = '\0';
    enum av_status s = av_dump_copy(d, LENGTH, text, size, e);
    if (s == AV_OK) {
        s = parse_header(d, text, size, e);
    }
    free(text);
    return s;
}

const struct av_dump_source av_dump_safetensors = {
    .name = "safetensors", .map = true, .is = is_safetensors, .open = open_safetensors, .read = av_dump_read_bytes
};

#else

const struct av_dump_source av_dump_safetensors = { .name = "safetensors",
                                                    .lacks = "cJSON: install libcjson-dev",
                                                    .is = is_safetensors };

#endif
