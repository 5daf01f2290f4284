/* test_entropy_unit.c - entropies shown in bits are those in nats over ln 2. */
#include "attnviz/entropy_unit.h"

#include "attnviz/report.h"
#include "report_state.h"

static void of_known_entropies(void **state)
{
    (void)state;
    /* ln n is log2 n bits; and mpmath's for 0.7. */
    static const double nats[] = { 0, 0.69314718055994531, 4.1588830833596715, 0.7 };
    static const double bits[] = { 0, 1, 6, 1.0098865286222743 };
    struct av_params p;
    av_params_default(&p);
    for (size_t i = 0; i < 4; i++) {
        assert_true(av_entropy_shown(&p, nats[i]) == nats[i]);
    }
    assert_true(av_entropy_log10_shown(&p, -400) == -400);
    assert_string_equal(av_entropy_unit(&p), "nats");
    assert_int_equal(av_params_set_text(&p, "entropy_unit=bits", NULL), AV_OK);
    for (size_t i = 0; i < 4; i++) {
        assert_true(fabs(av_entropy_shown(&p, nats[i]) - bits[i]) <= 0x1p-51 * bits[i]);
    }
    assert_true(av_entropy_log10_shown(&p, -400) == -399.84082546104514); /* below the smallest double too */
    assert_string_equal(av_entropy_unit(&p), "bits");
    assert_string_equal(av_entropy_log10_unit(&p), "log10 bits");
}

/* It makes nothing stale. */
static void nothing_is_computed_again(void **state)
{
    (void)state;
    struct av_params was, now;
    av_params_default(&was);
    now = was;
    now.entropy_unit = AV_BITS;
    assert_int_equal(av_params_stale(&was, &now), AV_STAGE_COUNT);
}

static void fields_of_the_report(void **state)
{
    (void)state;
    struct state nats, bits;
    make_state(&nats);
    make_state(&bits);
    nats.s.now.entropy_mean = bits.s.now.entropy_mean = 2;
    nats.s.theory.entropy = bits.s.theory.entropy = 3;
    bits.s.params.entropy_unit = AV_BITS;
    size_t count, changed = 0;
    const struct av_field *fields = av_report_fields(&count);
    for (size_t i = 0; i < count; i++) {
        const double x = av_report_value(&fields[i], &nats.s), y = av_report_value(&fields[i], &bits.s);
        const char *unit = av_report_unit(&fields[i], &bits.s.params);
        assert_string_equal(av_report_unit(&fields[i], &nats.s.params), fields[i].unit);
        if (strcmp(unit, "bits") == 0) {
            assert_true(fabs(y - x / log(2)) <= 0x1p-51 * y);
            changed++;
        } else if (strcmp(unit, "log10 bits") == 0) {
            assert_true(fabs(y - log10(pow(10, x) / log(2))) < 1e-15);
            changed++;
        } else {
            assert_string_equal(unit, fields[i].unit);
            assert_true(x == y || (isnan(x) && isnan(y)));
        }
    }
    assert_int_equal(changed, 4); /* weights', theory's, the query's and its logarithm */
}

/* In every format. */
static void in_a_whole_report(void **state)
{
    (void)state;
    static const char *const parts[AV_FORMAT_COUNT] = { [AV_FORMAT_TEXT] = "  entropy                    1.00989 bits ",
                                                        [AV_FORMAT_JSON] = "\"entropy\": 1.00988652862227",
                                                        [AV_FORMAT_CSV] = ",1.00988652862227" };
    struct state st;
    make_state(&st);
    st.s.params.entropy_unit = AV_BITS;
    for (int format = 0; format < AV_FORMAT_COUNT; format++) {
        struct av_str out = AV_STR_INIT;
        write_report(&out, (enum av_format)format, &st, NULL);
        if (strstr(out.text, parts[format]) == NULL) {
            fail_msg("no %s in %s", parts[format], out.text);
        }
        assert_null(strstr(out.text, "nats"));
        av_str_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_known_entropies),
        cmocka_unit_test(nothing_is_computed_again),
        cmocka_unit_test(fields_of_the_report),
        cmocka_unit_test(in_a_whole_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
