/* variant_pattern.c - biases, and which keys a query sees. */
#include "variant_hooks.h"

#include <math.h>

/* Positions from a query to a key. */
static int64_t distance(const struct av_pattern_row *row, size_t key)
{
    int64_t away = (int64_t)key - row->position;
    return away < 0 ? -away : away;
}

void av_pattern_alibi(double *add, size_t len, const struct av_params *p, const struct av_pattern_row *row)
{
    double slope = exp2(-8.0 * (double)(p->head + 1) / (double)p->n_head);
    for (size_t j = 0; j < len; j++) {
        add[j] -= slope * (double)distance(row, j);
    }
}

void av_pattern_window(double *add, size_t len, const struct av_params *p, const struct av_pattern_row *row)
{
    for (size_t j = 0; j < len; j++) {
        add[j] = distance(row, j) < p->of.window_size ? add[j] : -(double)INFINITY;
    }
}

size_t av_buckets_lsh(const struct av_params *p)
{
    return (size_t)p->of.lsh_buckets;
}

/* Keys that share a bucket with the query in any round. */
void av_pattern_lsh(double *add, size_t len, const struct av_params *p, const struct av_pattern_row *row)
{
    for (size_t j = 0; j < len; j++) {
        bool shared = false;
        for (size_t r = 0; r < (size_t)p->of.lsh_rounds; r++) {
            const uint16_t *buckets = row->buckets + r * row->n_k;
            shared = shared || buckets[j] == buckets[row->query];
        }
        add[j] = shared ? add[j] : -(double)INFINITY;
    }
}

size_t av_averages_linformer(const struct av_params *p)
{
    return (size_t)p->of.linformer_k;
}
