/* find_parts.h - a search for tensors, step by step. */
#ifndef ATTNVIZ_FIND_PARTS_H
#define ATTNVIZ_FIND_PARTS_H

#include "attnviz/find.h"

enum av_find_role {
    AV_FIND_OTHER,
    AV_FIND_Q,
    AV_FIND_K,
    AV_FIND_FUSED,
    AV_FIND_WEIGHTS,
    AV_FIND_SCORES,
    AV_FIND_LEARNED /* a matrix that makes queries, keys or all three */
};

enum { AV_FIND_NAME_MAX = 256 }; /* with the NUL */

/* What a name says. */
enum av_find_role av_find_role(const char *name);

/* The name of the keys that belong to these queries. false: none, or too long. */
bool av_find_keys_of(const char *name, char keys[AV_FIND_NAME_MAX]);

/* The layer's number: the first behind a word such as layer or block, else the first
 * that stands alone, else the first that is glued to letters. AV_FIND_NONE: none. */
size_t av_find_number(const char *name);

/* Does it have a number behind such a word? */
bool av_find_counts(const char *name);

/* Is it what a projection puts out: its last word is proj? */
bool av_find_is_projection(const char *name);

/* How many bytes the names have in common from their start. */
size_t av_find_common(const char *a, const char *b);

/* Is this the name, each * in the pattern being some digits? digits: those of the
 * first, "" without a *. */
bool av_find_matches(const char *pattern, const char *name, char digits[AV_FIND_NAME_MAX]);

/* The name that a pattern stands for with these digits. false: too long. */
bool av_find_fill(const char *pattern, const char *digits, char name[AV_FIND_NAME_MAX]);

/* How many heads and entries are known; 0: not. */
struct av_find_sizes {
    size_t heads, kv_heads, d;
};

/* All that a search needs to know. */
struct av_find_search {
    const struct av_find_file *file;
    const struct av_find_options *options;
    struct av_find_sizes sizes;
    size_t pairs;        /* layers of queries and keys, once they are found; they come first */
    struct av_find *out; /* with room for a layer of every tensor */
    struct av_error *e;
};

/* Another layer, without anything yet; its number that of the name, else counted. */
struct av_find_layer *av_find_add_layer(const struct av_find_search *s, const char *name);

/* ---- find_matrices.c: weights and scores ------------------------------------------- */

/* That which can tell how queries and keys of a layer lie, by their layer's number or else by its
 * name; NULL: there is none. */
const struct av_dump_tensor *av_find_beside(const struct av_find_search *s, const struct av_find_layer *l);

/* Those that are named by the options, and those whose names say so; and all layers
 * in order. */
enum av_status av_find_matrices(const struct av_find_search *s);

/* ---- find_messages.c ------------------------------------------------------------------ */

/* What the tensors are cannot be decided. */
enum av_status av_find_undecided(const struct av_find_search *s);

/* A name was given that no tensor has. */
enum av_status av_find_missing(const struct av_find_search *s, const char *name);

/* Of the tensors that the option names none belongs to a layer. */
enum av_status av_find_no_layer(const struct av_find_search *s, const char *flag, const char *name);

/* No layout fits this one of queries or keys, which have so many heads, 0: not known; no number of axes that weights
 * and scores have; it holds no numbers. */
enum av_status av_find_no_layout(const struct av_find_search *s, const struct av_dump_tensor *t, size_t heads);
enum av_status av_find_no_matrix(const struct av_find_search *s, const struct av_dump_tensor *t);
enum av_status av_find_no_numbers(const struct av_find_search *s, const struct av_dump_tensor *t);

/* ---- find_layout.c --------------------------------------------------------------------- */

enum av_find_fit {
    AV_FIND_FITS,
    AV_FIND_APART, /* each fits a layout, but heads or sequences do not go together */
    AV_FIND_NO_Q,  /* no layout fits the queries, */
    AV_FIND_NO_K   /* or the keys beside them */
};

/* What is known of queries and keys. */
struct av_find_place {
    const char *layout; /* NULL: that which fits best */
    struct av_find_sizes sizes;
    const struct av_dump_tensor *beside; /* weights or scores that must be of their sizes; NULL: none */
    bool heads_told;                     /* by these, which then have as many heads, not one for all */
};

/* The layout chosen, and others that fit as well. */
struct av_find_choice {
    struct av_find_reading as, others[AV_FIND_OTHERS];
    size_t count; /* of others */
};

/* Where the rows of queries and keys lie, tensors stay; both in the same tensor: fused.
 * The layer is set for AV_FIND_FITS and AV_FIND_APART. */
enum av_find_fit av_find_pair(struct av_find_layer *layer, struct av_find_choice *choice,
                              const struct av_dump_tensor *q, const struct av_dump_tensor *k,
                              const struct av_find_place *place);

/* Where those of weights or scores lie: [n, m], [heads, n, m], [batch, n, m] (one for all
 * heads), [batch heads, n, m] or [batch, heads, n, m]. Heads and batches: those of
 * the queries, 0: not known. false: of another rank, or empty. */
bool av_find_matrix_rows(struct av_find_rows *rows, const struct av_dump_tensor *t, size_t heads, size_t batches,
                         bool *guessed);

/* The value of a key in a dump's metadata, or of an array of one number; 0: none. */
size_t av_find_said(struct av_dump *d, const char *key);

/* Is there a layout of that name? */
bool av_find_is_layout(const char *layout);

#endif
