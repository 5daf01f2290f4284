/* test_attend_flags.c - what the flags of the table of variants say, of every row: it has the property, or lacks it. */
#include "attend_driver.h"

#include <stdio.h>

enum { N = 6, D = 8 };
#define AGREE 1e-12 /* weights that are the same */
#define APART 1e-6  /* weights that are not */

/* Parameters at which each row shows what it does, with so few keys. */
#define SHOWING                                                                                                        \
    "window.size=2 llama4.floor=2 llama4.scale=0.5 logn.L=2 lsh.buckets=4 linformer.k=2 softcap.c=3 sink.logit=0.5 "   \
    "clipped.gamma=-0.02 n_head=2 learned.gain_last=2 qk_rms.eps=0.1 qk_layernorm.eps=0.1 score_layernorm.eps=0.1 "    \
    "score_batchnorm.eps=0.1"

/* The largest change of a weight between two heads. */
typedef double change(const struct av_variant *row);

static void for_every_row(unsigned flag, bool flag_means_change, change *by)
{
    size_t count;
    const struct av_variant *rows = av_variants_table(&count);
    for (size_t v = 0; v < count; v++) {
        const double changed = by(&rows[v]);
        const bool has = (rows[v].flags & flag) != 0;
        if (has == flag_means_change ? !(changed > APART) : !(changed <= AGREE)) {
            fail_msg("%s %s the flag %u, and weights change by %g", rows[v].name, has ? "has" : "lacks", flag, changed);
        }
    }
}

static struct head *shown(const struct av_variant *row, const char *more)
{
    struct head *h = new_head(N, N, D, 3);
    char text[400];
    snprintf(text, sizeof text, "%s %s", SHOWING, more);
    run_variant(h, row->name, text);
    return h;
}

/* How far weights of b are from those of a, both of which are freed. */
static double distance(struct head *a, struct head *b)
{
    const double d = largest_difference(a->weights, b->weights, N * N);
    free(a);
    free(b);
    return d;
}

/* ---- A shift of the logits ------------------------------------------------------ */

/* Imitated arithmetic adds the offset whether it matters or not. */
static double change_by_shift(const struct av_variant *row)
{
    const double rounding = 1e-5;
    const double d = distance(shown(row, "dtype=f32"), shown(row, "dtype=f32 offset=0.75"));
    return d <= rounding ? 0 : d;
}

static double change_by_offset(const struct av_variant *row)
{
    return distance(shown(row, "offset=0"), shown(row, "offset=0.75"));
}

static void shifts(void **state)
{
    (void)state;
    for_every_row(AV_VARIANT_SHIFTS, true, change_by_shift);
    for_every_row(AV_VARIANT_SHIFTS, true, change_by_offset);
}

/* ---- Larger queries --------------------------------------------------------------- */

static double change_by_longer_queries(const struct av_variant *row)
{
    struct head *h = new_head(N, N, D, 3);
    for (size_t i = 0; i < N * D; i++) {
        h->q[i] *= 4;
    }
    run_variant(h, row->name, SHOWING);
    return distance(shown(row, ""), h);
}

static void invariance_to_the_size_of_q(void **state)
{
    (void)state;
    for_every_row(AV_VARIANT_Q_INVARIANT, false, change_by_longer_queries);
}

/* ---- Tokens in another order ---------------------------------------------------------- */

static double change_by_order(const struct av_variant *row)
{
    static const size_t order[N] = { 3, 0, 5, 1, 4, 2 };
    struct head *a = shown(row, ""), *b = new_head(N, N, D, 3), *back = new_head(N, N, D, 3);
    for (size_t i = 0; i < N; i++) {
        memcpy(b->q + i * D, a->q + order[i] * D, D * sizeof *b->q);
        memcpy(b->k + i * D, a->k + order[i] * D, D * sizeof *b->k);
    }
    run_variant(b, row->name, SHOWING);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) {
            back->weights[order[i] * N + order[j]] = b->weights[i * N + j];
        }
    }
    free(b);
    return distance(a, back);
}

static void positions(void **state)
{
    (void)state;
    for_every_row(AV_VARIANT_POSITIONAL, true, change_by_order);
}

/* ---- Weights that are shares ------------------------------------------------------------ */

static double distance_to_simplex(const struct av_variant *row)
{
    struct head *h = shown(row, "");
    double off = 0;
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t j = 0; j < N; j++) {
            sum += h->weights[i * N + j];
            off = fmax(off, -h->weights[i * N + j]);
        }
        assert_true(fabs(sum - h->rows[i].row_sum) <= 1e-14);
        off = fmax(off, fabs(sum - 1));
    }
    free(h);
    return off;
}

static void simplex(void **state)
{
    (void)state;
    for_every_row(AV_VARIANT_NOT_SIMPLEX, true, distance_to_simplex);
}

/* ---- Weights of exactly 0 ------------------------------------------------------------------ */

/* Share of weights that are 0 though their logit is of ordinary size. */
static double share_of_zeros(const struct av_variant *row)
{
    struct head *h = shown(row, "");
    size_t zeros = 0;
    for (size_t i = 0; i < N * N; i++) {
        zeros += h->weights[i] == 0 && fabs(h->logits[i]) < 100;
    }
    free(h);
    return (double)zeros / (N * N);
}

static void sparsity(void **state)
{
    (void)state;
    for_every_row(AV_VARIANT_SPARSE, true, share_of_zeros);
}

/* ---- Products of columns ------------------------------------------------------------------ */

/* Other queries and keys with the same product in every column, in another
 * order: scores that are sums over columns, to which more can be added, know
 * no difference. */
static double change_by_columns(const struct av_variant *row)
{
    struct head *a = shown(row, ""), *b = new_head(N, N, D, 3);
    for (size_t i = 0; i < N; i++) {
        for (size_t c = 0; c < D; c++) {
            const float factor = c % 3 == 0 ? 8 : c % 3 == 1 ? 0.25f : 1;
            b->q[i * D + D - 1 - c] = a->q[i * D + c] * factor;
            b->k[i * D + D - 1 - c] = a->k[i * D + c] / factor;
        }
    }
    run_variant(b, row->name, SHOWING);
    return distance(a, b);
}

static void more_columns(void **state)
{
    (void)state;
    for_every_row(AV_VARIANT_FIXED_D, true, change_by_columns);
}

/* ---- What a row acts on ---------------------------------------------------------------------- */

/* With scores at hand that are not those of the queries and keys. */
static double change_by_scores_at_hand(const struct av_variant *row)
{
    struct head *a = shown(row, ""), *b = new_head(N, N, D, 3);
    const struct av_params p = params_of(b, row->name, SHOWING);
    struct av_attend *attend = new_attend();
    struct av_moments m;
    begin(attend, b, &p, &m, (double)NAN);
    for (size_t i = 0; i < N * N; i++) {
        b->scores[i] = (double)(i * i % 7);
    }
    run_some(attend, b, 0, N);
    av_attend_free(attend);
    return distance(a, b);
}

static void entries_of_their_own(void **state)
{
    (void)state;
    for_every_row(AV_VARIANT_ENTRIES, false, change_by_scores_at_hand);
}

/* Of the logits of all keys but one, whose entries change. */
static double change_by_another_key(const struct av_variant *row)
{
    struct head *a = shown(row, ""), *b = new_head(N, N, D, 3);
    for (size_t c = 0; c < D; c++) {
        b->k[c] = a->k[c] + 1;
    }
    run_variant(b, row->name, SHOWING);
    for (size_t i = 0; i < N; i++) {
        a->logits[i * N] = b->logits[i * N] = 0;
    }
    memcpy(a->weights, a->logits, sizeof a->weights);
    memcpy(b->weights, b->logits, sizeof b->weights);
    return distance(a, b);
}

static void whole_rows_of_scores(void **state)
{
    (void)state;
    for_every_row(AV_VARIANT_SCORES, true, change_by_another_key);
}

/* Of the multipliers, from 1, with scale off. */
static double multiplier_without_scale(const struct av_variant *row)
{
    struct head *h = shown(row, "scale=off");
    double off = 0;
    for (size_t i = 0; i < N; i++) {
        off = fmax(off, fabs(h->multiplier[i] - 1));
    }
    free(h);
    return off;
}

static void multipliers_that_stay(void **state)
{
    (void)state;
    for_every_row(AV_VARIANT_MULTIPLIES, true, multiplier_without_scale);
}

static double change_by_head(const struct av_variant *row)
{
    return distance(shown(row, "head=0"), shown(row, "head=1"));
}

static void heads_that_differ(void **state)
{
    (void)state;
    for_every_row(AV_VARIANT_PER_HEAD, true, change_by_head);
}

/* ---- Sizes ---------------------------------------------------------------------------------------- */

static void sizes_that_are_refused(void **state)
{
    (void)state;
    size_t count;
    const struct av_variant *rows = av_variants_table(&count);
    for (size_t v = 0; v < count; v++) {
        struct av_params p;
        struct av_error e;
        av_params_default(&p);
        const av_variant_value value = av_variant_with(0, &rows[v]);
        assert_int_equal(av_variant_check(value, &p, &e), AV_OK);
        p.d_k = 7;
        assert_int_equal(av_variant_check(value, &p, &e) != AV_OK, (rows[v].flags & AV_VARIANT_EVEN_D) != 0);
        p.d_k = 8;
        p.n_q = p.n_k - 1;
        assert_int_equal(av_variant_check(value, &p, &e) != AV_OK, (rows[v].flags & AV_VARIANT_SQUARE) != 0);
    }
}

static void told(const char *variant, const char *assignment, const char *piece)
{
    struct av_params p;
    struct av_error e = { "" };
    av_params_default(&p);
    assert_int_equal(av_variant_parse(&p.variant, variant, &e), AV_OK);
    assert_true(assignment == NULL || av_params_set_text(&p, assignment, &e) == AV_OK);
    const enum av_status status = av_variant_check(p.variant, &p, &e);
    assert_int_equal(status, piece != NULL ? AV_USAGE : AV_OK);
    if (piece != NULL && strstr(e.text, piece) == NULL) {
        fail_msg("\"%s\" does not say \"%s\"", e.text, piece);
    }
}

static void parameters_and_rows_that_do_not_fit(void **state)
{
    (void)state;
    told("lsh", "lsh.buckets=7", "lsh.buckets=7: it takes 1 or an even number");
    told("lsh", "lsh.buckets=1", NULL);
    told("lsh", "lsh.buckets=6", NULL);
    told("linformer", "linformer.k=33", "linformer.k=33: it takes n_k at most, which is 32");
    told("linformer", "linformer.k=32", NULL);
    told("score_batchnorm+differential", NULL, "score_batchnorm");
    told("score_batchnorm+linformer", NULL, "score_batchnorm");
    told("score_batchnorm+window", NULL, NULL);
    told("score_layernorm+differential", NULL, NULL);
    told("softcap", "lsh.buckets=7", NULL); /* of a row that is not there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shifts),
        cmocka_unit_test(invariance_to_the_size_of_q),
        cmocka_unit_test(positions),
        cmocka_unit_test(simplex),
        cmocka_unit_test(sparsity),
        cmocka_unit_test(more_columns),
        cmocka_unit_test(entries_of_their_own),
        cmocka_unit_test(whole_rows_of_scores),
        cmocka_unit_test(multipliers_that_stay),
        cmocka_unit_test(heads_that_differ),
        cmocka_unit_test(sizes_that_are_refused),
        cmocka_unit_test(parameters_and_rows_that_do_not_fit),
    };
    return cmocka_run_group_tests_name("attend_flags", tests, NULL, NULL);
}
