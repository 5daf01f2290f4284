/* fuzz_dump.h - what must hold of any bytes that are opened as a dump. */
#ifndef ATTNVIZ_FUZZ_DUMP_H
#define ATTNVIZ_FUZZ_DUMP_H

#include "attnviz/find.h"
#include "fuzz.h"

#include <string.h>

/* One line of printable text behind the file's name. */
static inline void fuzz_check_message(const char *text)
{
    FUZZ_CHECK(strncmp(text, "x: ", 3) == 0 && text[3] != '\0');
    for (const char *c = text; *c != '\0'; c++) {
        FUZZ_CHECK((unsigned char)*c >= 0x20 && *c != 0x7F);
    }
}

/* Reads the first entries, the last, and the first again. */
static inline void fuzz_read_tensor(struct av_dump *d, size_t i)
{
    const struct av_dump_tensor *t = av_dump_tensor(d, i);
    struct av_error e = { "" };
    double some[64];
    float narrow[64];
    size_t count = t->count < 64 ? t->count : 64;
    const struct av_dump_run runs[] = { { 0, count, 1, 0 }, { t->count - count, count, 1, 0 }, { 0, 1, count, 1 } };
    size_t product = 1;
    for (size_t k = 0; k < t->rank; k++) {
        product *= t->shape[k];
    }
    FUZZ_CHECK(t->no != NULL || product == t->count);
    for (size_t r = 0; r < sizeof runs / sizeof runs[0]; r++) {
        enum av_status s = av_dump_read(d, i, &runs[r], some, &e);
        enum av_status s32 = av_dump_read_f32(d, i, &runs[r], narrow, &e);
        FUZZ_CHECK(s == AV_OK || (s == AV_FAILED && e.text[0] == 'x'));
        FUZZ_CHECK(t->no == NULL || s == AV_FAILED);
        FUZZ_CHECK(!t->wide || s32 == AV_FAILED);
        for (size_t k = 0; k < count && s == AV_OK && s32 == AV_OK; k++) {
            FUZZ_CHECK((double)narrow[k] == some[k] || (some[k] != some[k] && narrow[k] != narrow[k]));
        }
    }
}

/* The rows of every head lie within their tensor. */
static inline void fuzz_rows(const struct av_dump *d, const struct av_find_rows *r)
{
    if (r->tensor == AV_FIND_NONE) {
        return;
    }
    FUZZ_CHECK(r->tensor < av_dump_count(d) && r->n > 0 && r->d > 0 && r->heads > 0 && r->batches > 0);
    struct av_dump_run last = av_find_run(r, r->batches - 1, r->heads - 1, r->n - 1, 1);
    FUZZ_CHECK(last.first <= av_dump_tensor(d, r->tensor)->count - last.count);
}

static inline void fuzz_find(struct av_dump *d)
{
    struct av_find found;
    struct av_error e = { "" };
    if (av_find_in_dump(&found, d, &(struct av_find_options){ 0 }, &e) != AV_OK) {
        fuzz_check_message(e.text);
        return;
    }
    FUZZ_CHECK(found.count > 0);
    for (size_t i = 0; i < found.count; i++) {
        const struct av_find_layer *l = &found.layers[i];
        const struct av_find_rows *const rows[] = { &l->q, &l->k, &l->weights, &l->scores };
        for (size_t part = 0; part < 4; part++) {
            fuzz_rows(d, rows[part]);
        }
    }
    av_find_free(&found);
}

/* Opens, lists, reads and finds; tensors of a file stand in order and differ in name. */
static inline void fuzz_dump(const uint8_t *data, size_t size)
{
    struct av_dump *d;
    struct av_error e = { "" };
    if (av_dump_parse(&d, "x", data, size, &e) != AV_OK) {
        FUZZ_CHECK(d == NULL);
        fuzz_check_message(e.text);
        return;
    }
    FUZZ_CHECK(av_dump_count(d) > 0);
    for (size_t i = 0; i < av_dump_count(d); i++) {
        FUZZ_CHECK(av_dump_find(d, av_dump_tensor(d, i)->name) == i);
        fuzz_read_tensor(d, i);
    }
    fuzz_find(d);
    av_dump_close(d);
}

#endif
