/* variant.h - the ways in which people scale, normalise or bend the softmax.
 *
 * A variant is at most one row from each group, written with `+` between them:
 * "mup+softcap", "qk_rms+alibi+sink"; "softmax" is none at all. What a row
 * does to its group's part of
 *
 *   q^, k^ = normalise(q), normalise(k)     s^ = q^ . k^
 *   z = (m s^ + bias + offset + [j = key] key_offset) / temperature
 *   w = bend(z)                             softmax where no row bends
 *
 * its hooks say (attend.h runs them). m is the multiplier: d_k^-exponent, or
 * what a row of `normalise` brings in its place; a row of `scale` replaces it,
 * or multiplies it. With scale off, 1 stands in the place of all that would
 * replace, and rows that multiply still do.
 *
 * A row's own parameters are rows of the parameter table whose names begin
 * with the row's and a dot: "softcap.c". */
#ifndef ATTNVIZ_VARIANT_H
#define ATTNVIZ_VARIANT_H

#include "attnviz/params.h"
#include "attnviz/status.h"
#include "attnviz/strbuf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum av_variant_group {
    AV_GROUP_SCALE,     /* the multiplier m */
    AV_GROUP_NORMALISE, /* queries and keys, or the scores */
    AV_GROUP_BEND,      /* from logits to weights */
    AV_GROUP_PATTERN,   /* a bias, and which keys a query sees */
    AV_GROUP_TRAINING,  /* the learned matrices; does nothing outside training */
    AV_VARIANT_GROUPS
};
extern const char *const av_variant_group_names[AV_VARIANT_GROUPS];

enum av_variant_flag {
    AV_VARIANT_MULTIPLIES = 1,    /* of scale: multiplies m, which others replace */
    AV_VARIANT_ENTRIES = 2,       /* makes queries and keys of its own: needs them */
    AV_VARIANT_SCORES = 4,        /* acts on whole rows of scores: needs queries and keys too */
    AV_VARIANT_NOT_SIMPLEX = 8,   /* weights are not >= 0 with sum 1 */
    AV_VARIANT_SHIFTS = 16,       /* a shift common to a row's logits changes its weights */
    AV_VARIANT_Q_INVARIANT = 32,  /* multiplying all of q by c > 0 changes no weight */
    AV_VARIANT_POSITIONAL = 64,   /* permuting tokens (rows of q and of k) does more than to permute weights */
    AV_VARIANT_FIXED_D = 128,     /* d_k cannot be extended: more columns change every score */
    AV_VARIANT_NOT_TRAINED = 256, /* has no backward pass: the training view refuses it */
    AV_VARIANT_SQUARE = 512,      /* needs n_q = n_k */
    AV_VARIANT_EVEN_D = 1024,     /* needs an even d_k */
    AV_VARIANT_PER_HEAD = 2048,   /* differs from head to head */
    AV_VARIANT_SPARSE = 4096      /* ordinary logits give some weights of exactly 0 */
};

struct av_variant {
    const char *name;
    enum av_variant_group group;
    unsigned flags;
    const char *formula;                  /* "c tanh(z / c)" */
    const char *source;                   /* "Riviere et al. 2024, Gemma 2" */
    const char *text;                     /* what it is for, in one line */
    const struct av_variant_hooks *hooks; /* what it does, for the model (variant_hooks.h); NULL: nothing here */
};

/* A model's attention: a variant together with its parameters. */
struct av_preset {
    const char *name;               /* "gemma-2" */
    const char *variant;            /* "fixed+softcap" */
    const char *const *assignments; /* "softcap.c=50" ..., NULL at the end */
    const char *text;
};

const struct av_variant *av_variants_table(size_t *count);
const struct av_preset *av_presets_table(size_t *count);
const struct av_variant *av_variant_find(const char *name); /* NULL: unknown */
const struct av_preset *av_preset_find(const char *name);

/* ---- The value of the parameter `variant` ----------------------------------- */

/* A byte a group: 0, or 1 + the row's place in the table. 0: softmax. */
typedef int64_t av_variant_value;

/* The row of that group, NULL: none. */
const struct av_variant *av_variant_of(av_variant_value value, enum av_variant_group group);

/* The value with that row in its group's place; the row alone is that of 0. */
av_variant_value av_variant_with(av_variant_value value, const struct av_variant *row);
av_variant_value av_variant_without(av_variant_value value, enum av_variant_group group);

/* Flags of all its rows together. */
unsigned av_variant_flags(av_variant_value value);

/* Does the name's part before a dot name a row of this value? */
bool av_variant_owns(av_variant_value value, const char *param_name);

/* "mup+softcap", "softmax"; at most AV_VARIANT_TEXT_MAX bytes with the NUL.
 * Writes to out and returns it. */
enum { AV_VARIANT_TEXT_MAX = 96 };
const char *av_variant_format(av_variant_value value, char out[AV_VARIANT_TEXT_MAX]);

/* Reads it back. AV_USAGE names what is unknown, or two rows of one group; it
 * does not say which parameter was meant. No preset. */
enum av_status av_variant_parse(av_variant_value *value, const char *text, struct av_error *e);

/* The value `count` steps on in the order softmax, then the rows of the table
 * one by one, and round again; a joined one counts as its first row. */
av_variant_value av_variant_step(av_variant_value value, int count);

/* Sets p->variant and the parameters of a preset. */
void av_preset_apply(const struct av_preset *preset, struct av_params *p);

/* Of a value what also acts on logits given by hand: no row that needs queries,
 * keys, scores or positions, and none that replaces the multiplier, which there
 * is not. */
av_variant_value av_variant_on_logits(av_variant_value value);

/* Can this variant be had with these parameters? Not if p->logits are given and
 * a row does not act on them; SQUARE and EVEN_D want their sizes, which are
 * p's. AV_USAGE says why not. */
enum av_status av_variant_check(av_variant_value value, const struct av_params *p, struct av_error *e);

/* What the formula of a row comes to with these parameters, p->variant and the
 * sizes among them: "m = 0.125, as softmax has at d_k 64"; "" where there is
 * nothing to say. Writes to out and returns it. */
enum { AV_VARIANT_HERE_MAX = 120 };
const char *av_variant_here(char out[AV_VARIANT_HERE_MAX], const struct av_variant *row, const struct av_params *p);

/* ---- The list of variants that the view `variants` compares -------------------- */

/* What can be listed, by place: softmax, then the rows of the table but those
 * of training, then the presets. */
size_t av_variant_entries(void);
struct av_variant_entry {
    const char *name;
    av_variant_value value;
    const struct av_preset *preset; /* NULL: a row, or softmax */
};
struct av_variant_entry av_variant_entry(size_t place);

/* The value of the parameter `variants`: bit `place` set: chosen; 0: all. As
 * text "all", or names with commas between. */
void av_variant_set_format(int64_t set, struct av_str *out);
enum av_status av_variant_set_parse(int64_t *set, const char *text, struct av_error *e);

#endif
