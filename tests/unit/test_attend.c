/* test_attend.c - every variant against 120 digits: logits, weights, and how they follow scores and queries. */
#include "attend_driver.h"
#include "attend_reference.h"

#include <stdio.h>

/* As SETUPS of attend_reference.py. */
static const struct {
    size_t n_q, n_k, d;
    const char *assignments;
} SETUPS[] = {
    { 4, 4, 6, "mask=none" },
    { 3, 5, 4, "mask=causal n_head=4 head=2 temperature=1.3 offset=0.3 key=1 key_offset=0.7" },
    { 5, 5, 8, "mask=causal scale=off n_head=2 head=1 temperature=2.5" },
    { 4, 4, 2, "temperature=2" },
};

static void close_to(const char *what, const struct reference *r, size_t row, double got, double want, double size)
{
    if (!(fabs(got - want) <= 1e-12 * size)) {
        fail_msg("%s %s, setup %d, row %zu: %s is %.17g, not %.17g", r->variant, r->assignments, r->setup, row, what,
                 got, want);
    }
}

static void check_row(const struct reference *r, const struct head *h, size_t i)
{
    const struct reference_row *want = &r->rows[i];
    double logits = 0, weights = 0, size_z = 0, size_w = 0;
    int seen = 0;
    for (size_t j = 0; j < h->n_k; j++) {
        const double z = h->logits[i * h->n_k + j], w = h->weights[i * h->n_k + j], factor = sqrt((double)j + 2);
        if (z > -HUGE_VAL) {
            logits += factor * z, size_z += factor * fabs(z);
            weights += factor * w, size_w += factor * fabs(w);
            seen++;
        } else {
            assert_true(w == 0);
        }
    }
    assert_int_equal(seen, want->keys);
    assert_int_equal(h->rows[i].keys, want->keys);
    assert_false(h->invalid[i]);
    if (seen > 0) {
        close_to("multiplier", r, i, h->multiplier[i], want->multiplier, fabs(want->multiplier));
    }
    close_to("logits", r, i, logits, want->logits, size_z);
    close_to("weights", r, i, weights, want->weights, size_w);
    close_to("jacobian_fro", r, i, h->rows[i].jacobian_fro, want->fro, want->fro);
    close_to("d_scores", r, i, h->d_scores[i], want->d_scores, want->d_scores);
    close_to("dq", r, i, h->dq[i], want->dq, want->dq);
}

static void as_its_formula_has_it(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof REFERENCE / sizeof REFERENCE[0]; c++) {
        const struct reference *r = &REFERENCE[c];
        const size_t s = (size_t)r->setup;
        struct head *h = new_head(SETUPS[s].n_q, SETUPS[s].n_k, SETUPS[s].d, 11 + (uint32_t)s);
        char assignments[200];
        snprintf(assignments, sizeof assignments, "%s %s", SETUPS[s].assignments, r->assignments);
        run_variant(h, r->variant, assignments);
        for (size_t i = 0; i < h->n_q; i++) {
            check_row(r, h, i);
        }
        free(h);
    }
}

/* Each row of the table but those of training stands in the reference. */
static void the_reference_knows_every_row(void **state)
{
    (void)state;
    size_t count;
    const struct av_variant *rows = av_variants_table(&count);
    for (size_t v = 0; v < count; v++) {
        bool known = rows[v].group == AV_GROUP_TRAINING;
        for (size_t c = 0; c < sizeof REFERENCE / sizeof REFERENCE[0]; c++) {
            known = known || strcmp(REFERENCE[c].variant, rows[v].name) == 0;
        }
        if (!known) {
            fail_msg("%s", rows[v].name);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_its_formula_has_it),
        cmocka_unit_test(the_reference_knows_every_row),
    };
    return cmocka_run_group_tests_name("attend", tests, NULL, NULL);
}
