/* variants_driver.h - the study "variants", asked and run. */
#ifndef VARIANTS_DRIVER_H
#define VARIANTS_DRIVER_H

#include "attnviz/study.h"
#include "attnviz/variant_study.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* The default parameters with these settings, "name=value", NULL at the end. */
static inline struct av_params with(const char *const *settings)
{
    struct av_params p;
    av_params_default(&p);
    for (; *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&p, *settings, NULL), AV_OK);
    }
    assert_int_equal(av_params_check(&p, false, NULL), AV_OK);
    return p;
}

#define WITH(...) with((const char *const[]){ __VA_ARGS__, NULL })

static inline const struct av_study *variants(void)
{
    return av_study_find("variants");
}

/* The caller closes it. */
static inline void *opened(void)
{
    void *state = NULL;
    assert_int_equal(variants()->open(&state, av_kernels_best(), NULL), AV_OK);
    return state;
}

static inline const struct av_variants *begun(void *state, struct av_params p)
{
    assert_int_equal(variants()->begin(state, &p, NULL), AV_OK);
    return variants()->result(state);
}

/* Rows of the table that something is still to come of. */
static inline size_t rows_left(const struct av_variants *v)
{
    size_t left = 0;
    for (size_t i = 0; i < v->table.count; i++) {
        const struct av_variant_row *row = &v->table.rows[i];
        left += row->state == AV_VARIANT_WAITING || (row->state == AV_VARIANT_MEASURED && !row->measure.has_dq);
    }
    return left;
}

/* Up to where the table and the pair are there. */
static inline const struct av_variants *measured(void *state, struct av_params p)
{
    const struct av_variants *v = begun(state, p);
    while (rows_left(v) > 0) {
        assert_true(variants()->step(state));
    }
    return v;
}

/* All of it. */
static inline const struct av_variants *finished(void *state, struct av_params p)
{
    const struct av_variants *v = begun(state, p);
    while (variants()->step(state)) {
    }
    return v;
}

/* The row of that name. */
static inline const struct av_variant_row *row_named(const struct av_variants *v, const char *name)
{
    for (size_t i = 0; i < v->table.count; i++) {
        const struct av_variant_row *row = &v->table.rows[i];
        bool extra = i >= av_variant_entries();
        if (strcmp(row->of.name, name) == 0 && !(extra && row->state == AV_VARIANT_ABSENT)) {
            return row;
        }
    }
    fail_msg("there is no row %s", name);
    return NULL;
}

#endif
