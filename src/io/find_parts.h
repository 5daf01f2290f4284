/* find_parts.h - names and layouts of tensors, one at a time. */
#ifndef ATTNVIZ_FIND_PARTS_H
#define ATTNVIZ_FIND_PARTS_H

#include "attnviz/find.h"

enum av_find_role {
    AV_FIND_OTHER,
    AV_FIND_Q,
    AV_FIND_K,
    AV_FIND_FUSED,
    AV_FIND_LEARNED /* a matrix that makes queries, keys or all three */
};

enum { AV_FIND_NAME_MAX = 256 }; /* with the NUL */

/* What a name says. */
enum av_find_role av_find_role(const char *name);

/* The name of the keys that belong to these queries. false: none, or too long. */
bool av_find_keys_of(const char *name, char keys[AV_FIND_NAME_MAX]);

/* The first number that stands in the name as a word; AV_FIND_NONE without one. */
size_t av_find_number(const char *name);

/* Is this the name, each * in the pattern being some digits? digits: those of the
 * first, "" without a *. */
bool av_find_matches(const char *pattern, const char *name, char digits[AV_FIND_NAME_MAX]);

/* The name that a pattern stands for with these digits. false: too long. */
bool av_find_fill(const char *pattern, const char *digits, char name[AV_FIND_NAME_MAX]);

/* How many heads and entries are known; 0: not. */
struct av_find_sizes {
    size_t heads, kv_heads, d;
};

/* Where rows lie as the layout has them; rows->tensor stays. *layout NULL: the one
 * that fits best, set; *guessed becomes true when others fit as well. `part` of
 * what is fused: 0 queries, 1 keys; -1: not fused. heads: those of this part, 0:
 * not known. false: no layout fits. */
bool av_find_rows(struct av_find_rows *rows, const struct av_dump_tensor *t, const char **layout, int part,
                  const struct av_find_sizes *sizes, size_t heads, bool *guessed);

/* The value of a key in a dump's metadata, or of an array of one number; 0: none. */
size_t av_find_said(struct av_dump *d, const char *key);

/* Is there a layout of that name? */
bool av_find_is_layout(const char *layout);

#endif
