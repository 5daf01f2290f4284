/* tensor.c - queries or keys that came from a file. */
#include "attnviz/tensor.h"

#include "attnviz/mem.h"

#include <math.h>
#include <string.h>

void av_tensor_free(struct av_tensor *t)
{
    av_free(t->f32);
    av_free(t->f64);
    memset(t, 0, sizeof *t);
}

struct av_entries av_tensor_head(const struct av_tensor *t, size_t head)
{
    size_t first = head * t->n * t->d;
    return (struct av_entries){
        .f32 = t->f32 != NULL ? t->f32 + first : NULL,
        .f64 = t->f64 != NULL ? t->f64 + first : NULL,
        .pitch = t->d,
    };
}

/* Counts one more of its kind and, if it is the first, keeps its place. */
static void note(const struct av_tensor *t, size_t i, uint64_t *count, size_t first[3])
{
    if ((*count)++ == 0) {
        first[0] = i / (t->n * t->d);
        first[1] = i / t->d % t->n;
        first[2] = i % t->d;
    }
}

void av_tensor_count_invalid(struct av_tensor *t)
{
    t->nan_count = 0;
    t->inf_count = 0;
    size_t count = t->heads * t->n * t->d;
    for (size_t i = 0; i < count; i++) {
        double x = t->f64 != NULL ? t->f64[i] : (double)t->f32[i];
        if (isnan(x)) {
            note(t, i, &t->nan_count, t->first_nan);
        } else if (isinf(x)) {
            note(t, i, &t->inf_count, t->first_inf);
        }
    }
}
