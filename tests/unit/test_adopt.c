/* test_adopt.c - what is taken over from weights beside Q and K, and what is not. */
#include "attnviz/adopt.h"
#include "diagnosis_driver.h"

static const struct av_adoption ALL = { true, true };

/* Of weights that are the softmax of this multiple of q.k: the parameters that are
 * adopted, from the defaults. */
static struct av_params adopted(struct made *m, double multiplier, struct av_adoption allowed,
                                char words[AV_ADOPTED_MAX])
{
    struct av_params p;
    make_logits(m, multiplier);
    plain_weights(m);
    give_weights(m);
    av_params_default(&p);
    struct av_diagnosis r = diagnose_with(m, &p);
    av_params_adopt(&p, &r, &m->layer, allowed, words);
    return p;
}

static double multiplier_of(const struct av_params *p, double d)
{
    return (p->scale != 0 ? pow(d, -p->exponent) : 1) / p->temperature;
}

static void the_multiplier_is_that_of_the_weights(void **state)
{
    (void)state;
    const struct {
        double power_d, power_heads;
        const char *words;
    } cases[] = {
        { -0.5, 0, "" },
        { 0, 0, "scale off" },
        { -1, 0, "exponent 1" },
        { -0.5, -0.5, "exponent 0.7236" }, /* (1 + ln 6 / ln 55) / 2 */
        { 0.5, 0, "temperature 1/55" },
    };
    struct made m;
    char words[AV_ADOPTED_MAX];
    made_new(&m, 48, 55, false, 3);
    m.layer.n_head = m.layer.n_head_kv = 6;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double multiplier = pow(55, cases[i].power_d) * pow(6, cases[i].power_heads);
        struct av_params p = adopted(&m, multiplier, ALL, words);
        assert_true(fabs(multiplier_of(&p, 55) / multiplier - 1) < 1e-12);
        assert_string_equal(words, cases[i].words);
        assert_int_equal(p.mask, AV_MASK_NONE);
        struct av_params same;
        av_params_default(&same);
        p = adopted(&m, multiplier, (struct av_adoption){ false, false }, words);
        assert_memory_equal(&p, &same, offsetof(struct av_params, logits));
        assert_string_equal(words, "");
    }
    made_free(&m);
}

static void what_cannot_be_set_is_left(void **state)
{
    (void)state;
    struct made m;
    char words[AV_ADOPTED_MAX];
    made_new(&m, 48, 2, false, 3);
    m.layer.n_head = m.layer.n_head_kv = 6; /* 1/sqrt(12) is below 1/2 = d_k^-1 */
    struct av_params p = adopted(&m, 1 / sqrt(12), ALL, words);
    assert_true(p.scale == 1 && p.exponent == 0.5);
    assert_string_equal(words, "");
    made_free(&m);
    made_new(&m, 48, 128, false, 3); /* temperature 1/128 is out of range */
    p = adopted(&m, sqrt(128), ALL, words);
    assert_true(p.temperature == 1 && p.scale == 1);
    p = adopted(&m, 0.3, ALL, words); /* none of those that have a name */
    assert_string_equal(words, "");
    made_free(&m);
}

static void a_causal_mask_is_seen(void **state)
{
    (void)state;
    struct made m;
    char words[AV_ADOPTED_MAX];
    made_new(&m, 40, 16, true, 5);
    struct av_params p = adopted(&m, 1, ALL, words);
    assert_int_equal(p.mask, AV_MASK_CAUSAL);
    assert_int_equal(p.scale, 0);
    assert_string_equal(words, "scale off, mask causal");
    p = adopted(&m, 1, (struct av_adoption){ .mask = true }, words);
    assert_int_equal(p.scale, 1);
    assert_string_equal(words, "mask causal");
    p = adopted(&m, 1, (struct av_adoption){ .multiplier = true }, words);
    assert_int_equal(p.mask, AV_MASK_NONE);
    assert_string_equal(words, "scale off");
    made_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_multiplier_is_that_of_the_weights),
        cmocka_unit_test(what_cannot_be_set_is_left),
        cmocka_unit_test(a_causal_mask_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
