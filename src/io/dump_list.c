/* dump_list.c - the list of tensors and metadata that a file holds. */
#include "attnviz/mem.h"
#include "dump_parts.h"
#include "shape.h"
#include "shown.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SHOWN = 140, NAME_SHOWN = 100 };

struct av_dump_label av_dump_label(const struct av_dump *d, const char *tensor)
{
    struct av_dump_label label;
    if (d->source->single) {
        memcpy(label.text, d->path, sizeof label.text);
        return label;
    }
    snprintf(label.text, sizeof label.text, "%.*s: %.*s", PATH_SHOWN, av_shown_cut(d->path, PATH_SHOWN).text,
             NAME_SHOWN, av_shown_cut(tensor, NAME_SHOWN).text);
    return label;
}

struct av_dump_label av_dump_base_name(const struct av_dump *d)
{
    const char *slash = strrchr(d->path, '/');
    const char *base = d->standard_input ? "-" : slash != NULL ? slash + 1 : d->path;
    const char *dot = strrchr(base, '.');
    int len = (int)(dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base));
    struct av_dump_label label;
    snprintf(label.text, sizeof label.text, "%.*s", len, base);
    return label;
}

/* Room for one more of `size` bytes each. NULL: no memory, the old ones stand. */
static void *grown(void *old, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return old;
    }
    size_t more = *room == 0 ? 16 : 2 * *room;
    void *p = more > SIZE_MAX / size ? NULL : realloc(old, more * size);
    if (p != NULL) {
        *room = more;
    }
    return p;
}

enum av_status av_dump_add(struct av_dump *d, const char *name, const char *type, struct av_dump_item **item,
                           struct av_error *e)
{
    struct av_dump_item *items = grown(d->items, d->count, &d->room, sizeof *items);
    if (items == NULL) {
        return av_fail_nomem(e, d->path);
    }
    d->items = items;
    *item = &items[d->count];
    memset(*item, 0, sizeof **item);
    (*item)->name = strdup(av_shown(name).text);
    (*item)->type_text = strdup(av_shown_cut(type, 32).text);
    d->count++;
    (*item)->seen.name = (*item)->name;
    (*item)->seen.type = (*item)->type_text;
    return (*item)->name == NULL || (*item)->type_text == NULL ? av_fail_nomem(e, d->path) : AV_OK;
}

enum av_status av_dump_refuse(const struct av_dump *d, struct av_dump_item *item, const char *reason,
                              struct av_error *e)
{
    if (item->no == NULL) {
        item->no = strdup(reason);
    }
    item->seen.no = item->no;
    return item->no == NULL ? av_fail_nomem(e, d->path) : AV_OK;
}

enum av_status av_dump_shape(const struct av_dump *d, struct av_dump_item *item, const uint64_t *shape, size_t rank,
                             struct av_error *e)
{
    if (rank > AV_DUMP_RANK_MAX) {
        char reason[64];
        snprintf(reason, sizeof reason, "has %zu dimensions, at most %d are supported", rank, AV_DUMP_RANK_MAX);
        return av_dump_refuse(d, item, reason, e);
    }
    if (!av_shape_count(shape, rank, &item->seen.count)) {
        return av_fail(e, AV_FAILED, "%s: shape %s is larger than any memory", av_dump_label(d, item->name).text,
                       av_shape_text(shape, rank).text);
    }
    item->seen.rank = rank;
    for (size_t i = 0; i < rank; i++) {
        item->seen.shape[i] = (size_t)shape[i];
    }
    return AV_OK;
}

enum av_status av_dump_add_meta(struct av_dump *d, const char *key, const char *text, struct av_error *e)
{
    struct av_dump_meta *metas = grown(d->metas, d->meta_count, &d->meta_room, sizeof *metas);
    if (metas == NULL) {
        return av_fail_nomem(e, d->path);
    }
    d->metas = metas;
    struct av_dump_meta *meta = &metas[d->meta_count++];
    *meta = (struct av_dump_meta){ strdup(key), strdup(text) };
    return meta->key == NULL || meta->text == NULL ? av_fail_nomem(e, d->path) : AV_OK;
}

/* ---- Order ------------------------------------------------------------------- */

static size_t digits(const char *s)
{
    size_t n = 0;
    while (isdigit((unsigned char)s[n])) {
        n++;
    }
    return n;
}

int av_dump_compare(const char *a, const char *b)
{
    const char *x = a;
    const char *y = b;
    while (*x != '\0' && *y != '\0') {
        if (digits(x) > 0 && digits(y) > 0) {
            x += strspn(x, "0");
            y += strspn(y, "0");
            size_t nx = digits(x);
            size_t ny = digits(y);
            int order = nx != ny ? (nx < ny ? -1 : 1) : memcmp(x, y, nx);
            if (order != 0) {
                return order;
            }
            x += nx;
            y += ny;
        } else if (*x != *y) {
            break;
        } else {
            x++;
            y++;
        }
    }
    int order = (unsigned char)*x - (unsigned char)*y;
    return order != 0 ? order : strcmp(a, b);
}

static int compare_items(const void *a, const void *b)
{
    return av_dump_compare(((const struct av_dump_item *)a)->name, ((const struct av_dump_item *)b)->name);
}

static int compare_metas(const void *a, const void *b)
{
    return strcmp(((const struct av_dump_meta *)a)->key, ((const struct av_dump_meta *)b)->key);
}

enum av_status av_dump_sort(struct av_dump *d, struct av_error *e)
{
    if (d->count > 0) {
        qsort(d->items, d->count, sizeof d->items[0], compare_items);
    }
    if (d->meta_count > 0) {
        qsort(d->metas, d->meta_count, sizeof d->metas[0], compare_metas);
    }
    for (size_t i = 1; i < d->count; i++) {
        if (strcmp(d->items[i - 1].name, d->items[i].name) == 0) {
            return av_fail(e, AV_FAILED, "%s: two tensors have this name", av_dump_label(d, d->items[i].name).text);
        }
    }
    for (size_t i = 1; i < d->meta_count; i++) {
        if (strcmp(d->metas[i - 1].key, d->metas[i].key) == 0) {
            return av_fail(e, AV_FAILED, "%s: stands twice in the metadata", av_dump_label(d, d->metas[i].key).text);
        }
    }
    return AV_OK;
}

void av_dump_free_lists(struct av_dump *d)
{
    for (size_t i = 0; i < d->count; i++) {
        free(d->items[i].name);
        free(d->items[i].type_text);
        free(d->items[i].no);
    }
    for (size_t i = 0; i < d->meta_count; i++) {
        free(d->metas[i].key);
        free(d->metas[i].text);
    }
    free(d->items);
    free(d->metas);
}
