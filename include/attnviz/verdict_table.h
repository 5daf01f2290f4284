/* verdict_table.h - every code that a verdict may have. */
#ifndef ATTNVIZ_VERDICT_TABLE_H
#define ATTNVIZ_VERDICT_TABLE_H

#include "attnviz/snapshot.h"

#include <stdbool.h>
#include <stddef.h>

/* A row; texts are one line each, without a full stop. */
struct av_verdict_row {
    const char *code;
    bool as[AV_BAD + 1]; /* severities that it may have */
    const char *rule;    /* when it is said; in full: verdicts.h, diagnosis.h */
    const char *remedy;  /* what to do about it */
};

/* In groups: of the softmax, of numbers, of weights, of masks, of the scale, of the settings. */
const struct av_verdict_row *av_verdict_table(size_t *count);

/* The code's place in the table; of none: behind all. */
size_t av_verdict_place(const char *code);

#endif
