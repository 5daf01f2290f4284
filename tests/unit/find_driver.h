/* find_driver.h - files of tensors for the tests of finding, as text, and what was found. */
#ifndef FIND_DRIVER_H
#define FIND_DRIVER_H

#include "attnviz/find.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

enum { TENSORS = 16 };

/* A file of tensors, in the order of their names: "NAME 8 128 8, NAME ...". */
struct file {
    char names[TENSORS][80];
    struct av_dump_tensor tensors[TENSORS];
    struct av_find_file file;
};

static inline void make(struct file *f, const char *text)
{
    memset(f, 0, sizeof *f);
    f->file = (struct av_find_file){ .path = "x", .tensors = f->tensors };
    while (*text != '\0') {
        size_t i = f->file.count++;
        int used = 0;
        assert_true(i < TENSORS);
        assert_int_equal(sscanf(text, " %79[^ ,]%n", f->names[i], &used), 1);
        text += used;
        struct av_dump_tensor *t = &f->tensors[i];
        t->name = f->names[i];
        t->type = "F32";
        t->count = 1;
        while (*text == ' ') {
            char *end;
            t->shape[t->rank] = strtoul(text, &end, 10);
            t->count *= t->shape[t->rank++];
            text = end;
        }
        text += *text == ',';
    }
}

/* "TENSOR batches heads n d @first/batch/head/row" */
static inline int describe_rows(char *to, size_t size, char role, const struct av_find_rows *r)
{
    if (r->tensor == AV_FIND_NONE) {
        return 0;
    }
    return snprintf(to, size, " %c%zu %zu %zu %zu %zu @%zu/%zu/%zu/%zu", role, r->tensor, r->batches, r->heads, r->n,
                    r->d, r->first, r->batch_stride, r->head_stride, r->row_stride);
}

/* "NUMBER q... k...; NUMBER ..." and a ? when it was guessed. */
static inline void describe(char *to, size_t size, const struct av_find *found)
{
    int len = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct av_find_layer *l = &found->layers[i];
        const struct av_find_rows *rows[] = { &l->q, &l->k, &l->weights, &l->scores };
        len += snprintf(to + len, size - (size_t)len, "%s%zu", i > 0 ? "; " : "", l->number);
        for (size_t k = 0; k < 4; k++) {
            len += describe_rows(to + len, size - (size_t)len, "qkws"[k], rows[k]);
        }
    }
    snprintf(to + len, size - (size_t)len, "%s", found->guessed ? "?" : "");
}

#endif
