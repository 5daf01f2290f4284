/* kernels.c - picks the set of kernels for the processor it runs on. */
#include "kernel_sets.h"

#include <string.h>

static int can_run_base(void)
{
    return 1;
}

#if defined __x86_64__
static int can_run_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int can_run_avx512(void)
{
    return can_run_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
}
#endif

/* Slowest first, as the Makefile lists them. */
static const struct {
    struct av_kernels kernels;
    int (*can_run)(void);
} sets[] = {
#define X(set)                                                                                                         \
    { { #set,                                                                                                          \
        av_draw_##set,                                                                                                 \
        av_scores_##set,                                                                                               \
        av_softmax_##set,                                                                                              \
        av_running_add_##set,                                                                                          \
        av_running_stats_##set,                                                                                        \
        av_dq_##set,                                                                                                   \
        av_exp_##set,                                                                                                  \
        av_form_fro_##set,                                                                                             \
        av_form_stats_##set,                                                                                           \
        av_form_columns_##set,                                                                                         \
        av_dot_##set,                                                                                                  \
        av_product_##set,                                                                                              \
        av_transpose_##set,                                                                                            \
        av_forward_##set,                                                                                              \
        av_backward_##set,                                                                                             \
        av_observe_##set,                                                                                              \
        av_sum_squares_##set,                                                                                          \
        av_adam_##set,                                                                                                 \
        av_multiply_add_##set },                                                                                       \
      can_run_##set },
    AV_ISAS
#undef X
};

enum { SETS = sizeof sets / sizeof sets[0] };

const struct av_kernels *av_kernels_best(void)
{
    const struct av_kernels *best = NULL;
    for (size_t i = 0; i < SETS; i++) {
        best = sets[i].can_run() ? &sets[i].kernels : best;
    }
    return best;
}

const struct av_kernels *av_kernels_named(const char *name)
{
    for (size_t i = 0; i < SETS; i++) {
        if (strcmp(sets[i].kernels.name, name) == 0 && sets[i].can_run()) {
            return &sets[i].kernels;
        }
    }
    return NULL;
}

const char *const *av_kernels_names(void)
{
#define X(set) #set,
    static const char *const names[] = { AV_ISAS NULL };
#undef X
    return names;
}
