/* train_hook.c - a variant in training: its memory, and what follows from places alone. */
#include "train_hook.h"

#include "attnviz/mem.h"
#include "train_hook_state.h"
#include "train_multiplier.h"

static const struct av_variant_hooks *hooks_of(const struct av_train_config *c, enum av_variant_group group)
{
    return av_variant_hooks_of(c->attention.variant, group);
}

static bool is_wanted(const struct av_train_config *c)
{
    const struct av_variant_hooks *normalise = hooks_of(c, AV_GROUP_NORMALISE);
    return normalise->entries != NULL || normalise->scores != AV_SCORES_RAW || av_train_rows_differ(c) ||
           av_variant_of(c->attention.variant, AV_GROUP_BEND) != NULL ||
           av_variant_of(c->attention.variant, AV_GROUP_PATTERN) != NULL;
}

/* Counts n numbers, and points `to` at them once there is memory. */
static void place(double **to, double *memory, size_t *used, size_t n)
{
    const size_t line = AV_ALIGN / sizeof(double);
    *to = memory != NULL ? memory + *used : NULL;
    *used += (n + line - 1) / line * line;
}

static void lay_out_part(struct av_train_hook *h, size_t part, double *memory, size_t *used)
{
    struct av_bend_row *row = &h->row[part];
    place(&h->s[part], memory, used, h->len * h->len);
    place(&h->d_s[part], memory, used, h->len * h->len);
    place(&h->z[part], memory, used, h->len);
    place(&row->w, memory, used, h->len);
    place(&row->form.diag, memory, used, h->len);
    place(&row->form.u, memory, used, h->len);
    place(&row->form.v, memory, used, h->len);
    place(&row->form.rest, memory, used, h->len);
    place(&row->scratch, memory, used, AV_BEND_SCRATCH(h->len));
    row->n = h->len;
    row->z = h->z[part];
}

_Static_assert(sizeof(size_t) <= sizeof(double), "numbers of keys take the room of doubles");

/* Points all arrays into memory, and returns how many numbers they take. */
static size_t lay_out(struct av_train_hook *h, double *memory)
{
    const size_t entries = h->len * h->d, pairs = h->len * h->len;
    size_t used = 0;
    double *keys;
    double **const of_entries[] = { &h->hook.q, &h->hook.k, &h->hook.d_q, &h->hook.d_k, &h->q, &h->k, &h->k_t };
    for (size_t i = 0; i < sizeof of_entries / sizeof of_entries[0]; i++) {
        place(of_entries[i], memory, &used, entries);
    }
    place(&h->hook.p, memory, &used, pairs);
    place(&h->hook.d_p, memory, &used, pairs);
    place(&h->bias, memory, &used, pairs);
    place(&h->x, memory, &used, pairs);
    place(&h->u, memory, &used, pairs > h->d ? pairs : h->d);
    place(&h->factor, memory, &used, h->len);
    place(&keys, memory, &used, h->len);
    place(&h->d_w, memory, &used, h->len);
    place(&h->d_z, memory, &used, h->len);
    h->keys = (size_t *)(void *)keys;
    for (size_t part = 0; part < h->parts; part++) {
        lay_out_part(h, part, memory, &used);
    }
    return used;
}

/* Everything but memory and pairs. */
static struct av_train_hook hook_of(const struct av_train_config *c)
{
    const struct av_variant_hooks *normalise = hooks_of(c, AV_GROUP_NORMALISE), *bend = hooks_of(c, AV_GROUP_BEND);
    const size_t parts = bend->subtracted != NULL ? AV_HOOK_PARTS : 1;
    return (struct av_train_hook){
        .hook = { .forward = av_train_hook_forward,
                  .backward = av_train_hook_backward,
                  .extra = c->attention.of.sink_logit },
        .p = c->attention,
        .normalise = normalise,
        .bend = bend,
        .len = c->seq_len,
        .d = c->d_k,
        .parts = parts,
        .part_d = c->d_k / parts,
        .share = { 1, parts == AV_HOOK_PARTS ? -bend->subtracted(&c->attention) : 0 },
        .eps = normalise->eps != NULL ? normalise->eps(&c->attention) : 0,
    };
}

/* What follows from places alone. */
static void fill_pairs(struct av_train_hook *h, const struct av_train_config *c)
{
    const struct av_variant_hooks *pattern = hooks_of(c, AV_GROUP_PATTERN);
    for (size_t i = 0; i < h->len; i++) {
        const struct av_pattern_row row = { .query = i, .position = (int64_t)i, .n_k = h->len };
        if (pattern->pattern != NULL) {
            pattern->pattern(h->bias + i * h->len, h->len, &h->p, &row);
        }
        for (size_t j = 0; j < h->len; j++) {
            h->keys[i] += av_train_pair_is_seen(h, i * h->len + j);
        }
        h->factor[i] = av_train_row_factor(c, h->keys[i], i);
    }
}

double av_train_hook_bytes(const struct av_train_config *c)
{
    struct av_train_hook h = hook_of(c);
    return is_wanted(c) ? (double)sizeof h + (double)sizeof(double) * (double)lay_out(&h, NULL) : 0;
}

enum av_status av_train_hook_new(struct av_attention_hook **out, const struct av_train_config *c,
                                 const struct av_kernels *kernels, struct av_error *e)
{
    *out = NULL;
    if (!is_wanted(c)) {
        return AV_OK;
    }
    struct av_train_hook *h = av_alloc(1, sizeof *h);
    if (h == NULL) {
        return av_fail_nomem(e, "the variant in training");
    }
    *h = hook_of(c);
    h->kernels = kernels;
    h->memory = av_alloc(lay_out(h, NULL), sizeof *h->memory);
    if (h->memory == NULL) {
        av_free(h);
        return av_fail_nomem(e, "the variant in training");
    }
    lay_out(h, h->memory);
    fill_pairs(h, c);
    *out = &h->hook;
    return AV_OK;
}

void av_train_hook_free(struct av_attention_hook *hook)
{
    struct av_train_hook *h = (struct av_train_hook *)(void *)hook;
    if (h != NULL) {
        av_free(h->memory);
        av_free(h);
    }
}
