/* test_find_layout.c - which layout is chosen, by weights beside, names and sizes; what
 * else fits; and what weights end up unused. */
#include "find_driver.h"

/* "LAYOUT BATCHESxHEADSxN" of the choice and of the others; "" when nothing was guessed. */
static void describe_choice(char *to, size_t size, const struct av_find *f)
{
    *to = '\0';
    int len = 0;
    for (size_t i = 0; i <= f->other_count && f->other_count > 0; i++) {
        const struct av_find_reading *r = i == 0 ? &f->as : &f->others[i - 1];
        len += snprintf(to + len, size - (size_t)len, "%s%s %zux%zux%zu",
                        i == 0   ? ""
                        : i == 1 ? "; or "
                                 : ", ",
                        r->layout, r->batches, r->heads, r->n);
    }
}

struct layout {
    const char *tensors;
    size_t n_head;
    const char *layout;
    const char *found, *choice, *unused; /* unused NULL: none */
};

static void check(const struct layout *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct layout *c = &cases[i];
        struct file f;
        struct av_find found;
        struct av_error e = { "" };
        char text[400], choice[200];
        make(&f, c->tensors);
        const struct av_find_options o = { .n_head = c->n_head, .layout = c->layout };
        if (av_find(&found, &f.file, &o, &e) != AV_OK) {
            fail_msg("%s: %s", c->tensors, e.text);
        }
        describe(text, sizeof text, &found);
        describe_choice(choice, sizeof choice, &found);
        const char *unused = found.unused == AV_FIND_NONE ? NULL : f.names[found.unused];
        const bool same = unused == NULL || c->unused == NULL ? unused == c->unused : strcmp(unused, c->unused) == 0;
        if (strcmp(text, c->found) != 0 || strcmp(choice, c->choice) != 0 || !same) {
            fail_msg("%s, %zu heads:\n%s | %s | %s\nnot\n%s | %s | %s", c->tensors, c->n_head, text, choice, unused,
                     c->found, c->choice, c->unused);
        }
        av_find_free(&found);
    }
}

#define BNC "0 q1 3 3 5 2 @0/30/2/6 k0 3 3 5 2 @0/30/2/6"
#define HND(q, k) "0 q" #q " 1 3 5 6 @0/0/30/6 k" #k " 1 3 5 6 @0/0/30/6"
#define OTHER "hnd 1x3x5; or bnc 3x3x5"

static void as_many_sequences_as_heads(void **state)
{
    static const struct layout cases[] = {
        /* It is told what else they could be, unless the name says it, or weights do. */
        { "k 3 5 6, q 3 5 6", 3, NULL, HND(1, 0) "?", OTHER, NULL },
        { "k_proj 3 5 6, q_proj 3 5 6", 3, NULL, BNC, "", NULL },
        { "l.1.k_proj.0 3 5 6, l.1.q_proj.0 3 5 6", 3, NULL, "1 q1 3 3 5 2 @0/30/2/6 k0 3 3 5 2 @0/30/2/6", "", NULL },
        { "k_proj 3 5 6, q_proj 3 5 6", 3, "hnd", HND(1, 0), "", NULL },
        { "k_proj 3 5 4, q_proj 3 5 4", 3, NULL, "0 q1 1 3 5 4 @0/0/20/4 k0 1 3 5 4 @0/0/20/4", "", NULL },
        { "attn 3 3 5 5, k 3 5 6, q 3 5 6", 3, NULL,
          "0 q2 3 3 5 2 @0/30/2/6 k1 3 3 5 2 @0/30/2/6 w0 3 3 5 5 @0/75/25/5", "", NULL },
        { "k 3 5 6, q 3 5 6, scores 3 3 5 5", 3, NULL,
          "0 q1 3 3 5 2 @0/30/2/6 k0 3 3 5 2 @0/30/2/6 s2 3 3 5 5 @0/75/25/5", "", NULL },
        { "attn 1 3 5 5, k 3 5 6, q 3 5 6", 3, NULL, HND(2, 1) " w0 1 3 5 5 @0/75/25/5", "", NULL },
        /* Those of its own layer decide. */
        { "a.0.attn 3 3 5 5, a.0.k 3 5 6, a.0.q 3 5 6, a.1.attn 1 3 5 5, a.1.k 3 5 6, a.1.q 3 5 6", 3, NULL,
          "0 q2 3 3 5 2 @0/30/2/6 k1 3 3 5 2 @0/30/2/6 w0 3 3 5 5 @0/75/25/5; "
          "1 q5 1 3 5 6 @0/0/30/6 k4 1 3 5 6 @0/0/30/6 w3 1 3 5 5 @0/75/25/5",
          "", NULL },
        /* What a module puts out is named like weights, and says nothing. */
        { "a.0.attn 3 5 6, a.0.k 3 5 6, a.0.q 3 5 6, weights.0 3 3 5 5", 3, NULL,
          "0 q2 3 3 5 2 @0/30/2/6 k1 3 3 5 2 @0/30/2/6 w3 3 3 5 5 @0/75/25/5", "", NULL },
        /* An axis of one sequence or one head changes nothing. */
        { "k 1 5 6, q 1 5 6", 1, NULL, "0 q1 1 1 5 6 @0/0/30/6 k0 1 1 5 6 @0/0/30/6", "", NULL },
    };
    (void)state;
    check(cases, LENGTH(cases));
}

static void tokens_before_sequences(void **state)
{
    static const struct layout cases[] = {
        /* nn.MultiheadAttention's default, with weights and without. */
        { "attn_weights 1 2 5 5, qkv 5 1 24", 2, NULL,
          "0 q1 1 2 5 4 @0/24/4/24 k1 1 2 5 4 @8/24/4/24 w0 1 2 5 5 @0/50/25/5", "", NULL },
        { "attn_weights 1 2 5 5, qkv 5 1 24", 0, NULL,
          "0 q1 1 2 5 4 @0/24/4/24 k1 1 2 5 4 @8/24/4/24 w0 1 2 5 5 @0/50/25/5", "", NULL },
        { "attn_weights 3 5 5, qkv 5 3 24", 2, NULL,
          "0 q1 3 2 5 4 @0/24/4/72 k1 3 2 5 4 @8/24/4/72 w0 3 1 5 5 @0/25/0/5", "", NULL },
        { "attn 3 2 5 7, k 7 3 8, q 5 3 8", 2, NULL,
          "0 q2 3 2 5 4 @0/8/4/24 k1 3 2 7 4 @0/8/4/24 w0 3 2 5 7 @0/70/35/7", "", NULL },
        { "attn 3 2 5 5, k 5 3 2 4, q 5 3 2 4", 2, NULL,
          "0 q2 3 2 5 4 @0/8/4/24 k1 3 2 5 4 @0/8/4/24 w0 3 2 5 5 @0/50/25/5", "", NULL },
        { "qkv 5 1 24", 2, NULL, "0 q0 1 2 5 4 @0/24/4/24 k0 1 2 5 4 @8/24/4/24?", "nbf 1x2x5; or bnf 5x2x1", NULL },
        { "k_proj 5 1 8, q_proj 5 1 8", 2, NULL, "0 q1 1 2 5 4 @0/8/4/8 k0 1 2 5 4 @0/8/4/8?",
          "nbc 1x2x5; or bnc 5x2x1", NULL },
        /* More sequences than tokens are unlikely, fewer are not asked about. */
        { "qkv 5 3 24", 2, NULL, "0 q0 5 2 3 4 @0/72/4/24 k0 5 2 3 4 @8/72/4/24?", "bnf 5x2x3; or nbf 3x2x5", NULL },
        { "qkv 3 5 24", 2, NULL, "0 q0 3 2 5 4 @0/120/4/24 k0 3 2 5 4 @8/120/4/24", "", NULL },
        { "qkv 3 5 24", 2, "nbf", "0 q0 5 2 3 4 @0/24/4/120 k0 5 2 3 4 @8/24/4/120", "", NULL },
        { "k 3 5 2 4, q 3 5 2 4", 0, "nbhd", "0 q1 5 2 3 4 @0/8/4/40 k0 5 2 3 4 @0/8/4/40", "", NULL },
        /* One query of each sequence, with many keys. */
        { "k 5 9 8, q 5 1 8", 2, NULL, "0 q1 5 2 1 4 @0/8/4/8 k0 5 2 9 4 @0/72/4/8", "", NULL },
    };
    (void)state;
    check(cases, LENGTH(cases));
}

static void weights_that_fit_nothing(void **state)
{
    static const struct layout cases[] = {
        { "attn 3 3 5 5, k 3 5 6, q 3 5 6", 3, "hnd", HND(2, 1), "", "attn" },
        { "attn 4 4, k 3 5 6, q 3 5 6", 3, "hnd", HND(2, 1), "", "attn" },
        { "k 3 7 6, q 3 5 6, scores 2 3 5 7", 3, "hnd", "0 q1 1 3 5 6 @0/0/30/6 k0 1 3 7 6 @0/0/42/6", "", "scores" },
        /* What a module puts out bears such a name too; a second one fits, though not taken. */
        { "attn 3 5 6, k 3 5 6, q 3 5 6", 3, "hnd", HND(2, 1), "", NULL },
        { "attn 3 5 5, k 3 5 6, probs 3 5 5, q 3 5 6", 3, "hnd", HND(3, 1) " w0 1 3 5 5 @0/0/25/5", "", NULL },
    };
    (void)state;
    check(cases, LENGTH(cases));
}

/* --n-head is no head of all columns. */
static void heads_that_do_not_divide(void **state)
{
    (void)state;
    static const char *const files[] = { "k 5 24, q 5 24", "k 1 5 24, q 1 5 24", "qkv 2 5 24" };
    for (size_t i = 0; i < LENGTH(files); i++) {
        struct file f;
        struct av_find found;
        struct av_error e = { "" };
        make(&f, files[i]);
        assert_int_equal(av_find(&found, &f.file, &(struct av_find_options){ .n_head = 7 }, &e), AV_FAILED);
        assert_non_null(strstr(e.text, "]: no layout fits, 7 heads do not divide 24 columns: say --layout"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_sequences_as_heads),
        cmocka_unit_test(tokens_before_sequences),
        cmocka_unit_test(weights_that_fit_nothing),
        cmocka_unit_test(heads_that_do_not_divide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
