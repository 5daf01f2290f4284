/* dump.c - files that hold tensors: opened, listed, read. */
#include "attnviz/dump.h"

#include "dump_parts.h"
#include "file_kind.h"
#include "regular.h"
#include "shown.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The first that recognises a file takes it. */
static const struct av_dump_source *const sources[] = {
    &av_dump_npy,
    &av_dump_npz,
    &av_dump_safetensors,
    &av_dump_text,
};

enum { SOURCES = sizeof sources / sizeof sources[0] };

/* ---- Opening ----------------------------------------------------------------- */

/* Reads what a file begins with, from its start; of a pipe, what comes first. */
static enum av_status read_head(struct av_dump *d, bool pipe, struct av_error *e)
{
    while (d->head_size < AV_DUMP_HEAD) {
        unsigned char *to = d->head + d->head_size;
        size_t room = AV_DUMP_HEAD - d->head_size;
        ssize_t n = pipe ? read(d->fd, to, room) : pread(d->fd, to, room, (off_t)d->head_size);
        if (n < 0 && errno != EINTR) {
            return av_fail_errno(e, d->path);
        }
        if (n == 0) {
            break;
        }
        d->head_size += n > 0 ? (size_t)n : 0;
    }
    return AV_OK;
}

static enum av_status choose_source(struct av_dump *d, bool pipe, struct av_error *e)
{
    if (d->head_size == 0) {
        return av_fail(e, AV_FAILED, "%s: %s", d->path, pipe ? "nothing came" : "empty file");
    }
    for (size_t i = 0; i < SOURCES && d->source == NULL; i++) {
        d->source = sources[i]->is(d->head, d->head_size) ? sources[i] : NULL;
    }
    if (d->source == NULL) {
        const char *kind = av_file_kind(d->head, d->head_size);
        return av_fail(e, AV_FAILED, "%s: neither safetensors, .npz, .npy nor rows of numbers%s%s", d->path,
                       kind != NULL ? ", looks like " : "", kind != NULL ? kind : "");
    }
    if (d->source->lacks != NULL) {
        return av_fail(e, AV_FAILED, "%s: a %s file, and this was built without %s and build again", d->path,
                       d->source->name, d->source->lacks);
    }
    if (pipe && d->source != &av_dump_text) {
        return av_fail(e, AV_FAILED, "%s: %s comes from a file, only text through a pipe", d->path, d->source->name);
    }
    return AV_OK;
}

static enum av_status map(struct av_dump *d, struct av_error *e)
{
    void *bytes = mmap(NULL, d->size, PROT_READ, MAP_PRIVATE, d->fd, 0);
    if (bytes == MAP_FAILED) {
        return av_fail_errno(e, d->path);
    }
    d->map = bytes;
    d->bytes = bytes;
    return AV_OK;
}

static enum av_status read_list(struct av_dump *d, bool pipe, struct av_error *e)
{
    enum av_status s = choose_source(d, pipe, e);
    if (s == AV_OK && d->bytes == NULL && d->source->map && !pipe) {
        s = map(d, e);
    }
    if (s == AV_OK) {
        s = d->source->open(d, e);
    }
    if (s == AV_OK) {
        s = av_dump_sort(d, e);
    }
    return s;
}

/* Standard input: a file from its start on is read as one, the rest as a pipe. */
static enum av_status open_standard_input(struct av_dump *d, bool *pipe, struct av_error *e)
{
    struct stat st;
    snprintf(d->path, sizeof d->path, "standard input");
    d->standard_input = true;
    d->fd = dup(STDIN_FILENO);
    if (d->fd < 0 || fstat(d->fd, &st) != 0) {
        return av_fail_errno(e, d->path);
    }
    if (S_ISDIR(st.st_mode)) {
        return av_fail(e, AV_FAILED, "%s: %s", d->path, av_regular_not(st.st_mode));
    }
    *pipe = !S_ISREG(st.st_mode) || lseek(d->fd, 0, SEEK_CUR) != 0;
    d->size = *pipe ? 0 : (size_t)st.st_size;
    return AV_OK;
}

static enum av_status open_path(struct av_dump *d, const char *path, struct av_error *e)
{
    uint64_t size = 0;
    memcpy(d->path, av_shown(path).text, sizeof d->path);
    enum av_status s = av_regular_open(path, &d->fd, &size, e);
    d->size = (size_t)size;
    return s == AV_OK && size > SIZE_MAX ? av_fail(e, AV_FAILED, "%s: larger than the address space", d->path) : s;
}

static struct av_dump *new_dump(void)
{
    struct av_dump *d = calloc(1, sizeof *d);
    if (d != NULL) {
        d->fd = -1;
    }
    return d;
}

/* Hands the dump over, or takes away what there is of it. */
static enum av_status finish(struct av_dump **out, struct av_dump *d, enum av_status s)
{
    if (d->fd >= 0) {
        close(d->fd);
        d->fd = -1;
    }
    if (s != AV_OK) {
        av_dump_close(d);
        d = NULL;
    }
    *out = d;
    return s;
}

enum av_status av_dump_open(struct av_dump **out, const char *path, struct av_error *e)
{
    bool pipe = false;
    struct av_dump *d = *out = new_dump();
    if (d == NULL) {
        return av_fail_nomem(e, av_shown(path).text);
    }
    enum av_status s = strcmp(path, "-") == 0 ? open_standard_input(d, &pipe, e) : open_path(d, path, e);
    if (s == AV_OK) {
        s = read_head(d, pipe, e);
    }
    if (s == AV_OK) {
        s = read_list(d, pipe, e);
    }
    return finish(out, d, s);
}

enum av_status av_dump_parse(struct av_dump **out, const char *name, const unsigned char *data, size_t size,
                             struct av_error *e)
{
    struct av_dump *d = *out = new_dump();
    if (d == NULL) {
        return av_fail_nomem(e, av_shown(name).text);
    }
    memcpy(d->path, av_shown(name).text, sizeof d->path);
    d->bytes = data;
    d->size = size;
    d->head_size = size < AV_DUMP_HEAD ? size : AV_DUMP_HEAD;
    if (d->head_size > 0) {
        memcpy(d->head, data, d->head_size);
    }
    return finish(out, d, read_list(d, false, e));
}

void av_dump_close(struct av_dump *d)
{
    if (d == NULL) {
        return;
    }
    if (d->source != NULL && d->source->close != NULL) {
        d->source->close(d);
    }
    if (d->map != NULL) {
        munmap(d->map, d->size);
    }
    av_dump_free_lists(d);
    free(d);
}

/* ---- What is in it ----------------------------------------------------------- */

bool av_dump_reads(const char *format)
{
    for (size_t i = 0; i < SOURCES; i++) {
        if (strcmp(sources[i]->name, format) == 0) {
            return sources[i]->lacks == NULL;
        }
    }
    return false;
}

const char *av_dump_path(const struct av_dump *d)
{
    return d->path;
}

const char *av_dump_format(const struct av_dump *d)
{
    return d->source->name;
}

size_t av_dump_count(const struct av_dump *d)
{
    return d->count;
}

const struct av_dump_tensor *av_dump_tensor(const struct av_dump *d, size_t i)
{
    return &d->items[i].seen;
}

size_t av_dump_find(const struct av_dump *d, const char *name)
{
    size_t i = 0;
    while (i < d->count && strcmp(d->items[i].name, name) != 0) {
        i++;
    }
    return i;
}

const char *av_dump_meta(const struct av_dump *d, const char *key)
{
    for (size_t i = 0; i < d->meta_count; i++) {
        if (strcmp(d->metas[i].key, key) == 0) {
            return d->metas[i].text;
        }
    }
    return NULL;
}

/* ---- Reading ----------------------------------------------------------------- */

static bool is_within(const struct av_dump_run *run, size_t count)
{
    if (run->count == 0 || run->rows == 0 || run->count > count || run->first > count - run->count) {
        return false;
    }
    return run->rows == 1 || run->stride <= (count - run->count - run->first) / (run->rows - 1);
}

static enum av_status read_run(struct av_dump *d, size_t tensor, const struct av_dump_run *run, struct av_numbers out,
                               struct av_error *e)
{
    if (tensor >= d->count) {
        return av_fail(e, AV_FAILED, "%s: holds %zu tensors, none with index %zu", d->path, d->count, tensor);
    }
    const struct av_dump_item *item = &d->items[tensor];
    const char *no = item->no;
    if (no == NULL && !is_within(run, item->seen.count)) {
        no = "what is to be read lies outside it";
    }
    if (no == NULL && out.f32 != NULL && item->seen.wide) {
        no = "its numbers do not fit single precision";
    }
    if (no != NULL) {
        return av_fail(e, AV_FAILED, "%s: %s", av_dump_label(d, item->name).text, no);
    }
    return d->source->read(d, item, run, out, e);
}

enum av_status av_dump_read(struct av_dump *d, size_t tensor, const struct av_dump_run *run, double *out,
                            struct av_error *e)
{
    return read_run(d, tensor, run, (struct av_numbers){ .f64 = out }, e);
}

enum av_status av_dump_read_f32(struct av_dump *d, size_t tensor, const struct av_dump_run *run, float *out,
                                struct av_error *e)
{
    return read_run(d, tensor, run, (struct av_numbers){ .f32 = out }, e);
}
