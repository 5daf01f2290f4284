/* find_dump.c - queries and keys of a dump, with what its metadata say of them. */
#include "find_parts.h"

#include <stdlib.h>
#include <string.h>

static const double largest = 1 << 24; /* of a number of heads, or of entries */

size_t av_find_said(struct av_dump *d, const char *key)
{
    const char *text = av_dump_meta(d, key);
    double x = 0;
    if (text != NULL) {
        char *stop;
        x = strtod(text, &stop);
        x = *stop == '\0' ? x : 0;
    } else {
        size_t i = av_dump_find(d, key);
        if (i < av_dump_count(d) && av_dump_tensor(d, i)->count == 1 &&
            av_dump_read(d, i, &(struct av_dump_run){ 0, 1, 1, 0 }, &x, NULL) != AV_OK) {
            x = 0;
        }
    }
    return x >= 1 && x <= largest ? (size_t)x : 0;
}

enum av_status av_find_in_dump(struct av_find *out, struct av_dump *d, const struct av_find_options *options,
                               struct av_error *e)
{
    size_t count = av_dump_count(d);
    struct av_dump_tensor *tensors = calloc(count + 1, sizeof *tensors);
    memset(out, 0, sizeof *out);
    if (tensors == NULL) {
        return av_fail_nomem(e, av_dump_path(d));
    }
    for (size_t i = 0; i < count; i++) {
        tensors[i] = *av_dump_tensor(d, i);
    }
    struct av_find_file file = { .path = av_dump_path(d),
                                 .tensors = tensors,
                                 .count = count,
                                 .n_head = av_find_said(d, "n_head"),
                                 .n_head_kv = av_find_said(d, "n_head_kv"),
                                 .d_k = av_find_said(d, "d_k") };
    enum av_status s = av_find(out, &file, options, e);
    free(tensors);
    return s;
}
