/* attention.c - sizes and memory of an attention head that can be trained. */
#include "attnviz/attention.h"

#include "attnviz/mem.h"

#include <string.h>

enum { LINE = 16 }; /* floats of a cache line, and of the widest vector */

/* Rows of n numbers, any of which may be the first of a vector that is read. */
static size_t pitch_of(size_t n)
{
    size_t lines = (n + LINE - 1 + LINE - 1) / LINE;
    return (lines | 1) * LINE;
}

struct av_attention_sizes av_attention_sizes(size_t batch, size_t seq_len, size_t d_model, size_t d_k, size_t first)
{
    return (struct av_attention_sizes){
        .batch = batch,
        .seq_len = seq_len,
        .d_model = d_model,
        .d_k = d_k,
        .tokens = batch * seq_len,
        .first = first,
        .model_pitch = pitch_of(d_model),
        .token_pitch = pitch_of(batch * seq_len),
        .k_pitch = pitch_of(d_k),
    };
}

double av_attention_bytes(const struct av_attention_sizes *s)
{
    double bytes = 0;
#define ARRAY(type, name, rows, pitch) bytes += (double)sizeof(type) * (double)(rows) * (double)(pitch);
    AV_ATTENTION_ARRAYS(ARRAY, float)
#undef ARRAY
    return bytes;
}

enum av_status av_attention_new(struct av_attention *a, const struct av_attention_sizes *s, struct av_error *e)
{
    memset(a, 0, sizeof *a);
    a->sizes = *s;
    char *at = a->memory = av_alloc(1, (size_t)av_attention_bytes(s));
    if (at == NULL) {
        return av_fail_nomem(e, "the arrays of a training step");
    }
    /* Pitches are whole cache lines, and so every row is aligned. */
#define ARRAY(type, name, rows, pitch)                                                                                 \
    a->name = (type *)(void *)at;                                                                                      \
    at += sizeof(type) * (rows) * (pitch);
    AV_ATTENTION_ARRAYS(ARRAY, float)
#undef ARRAY
    return AV_OK;
}

void av_attention_free(struct av_attention *a)
{
    av_free(a->memory);
    memset(a, 0, sizeof *a);
}
