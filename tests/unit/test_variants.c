/* test_variants.c - the table of variants, their values, models and lists. */
#include "attnviz/variant.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static av_variant_value parse(const char *text)
{
    struct av_error e = { "" };
    av_variant_value value = -1;
    if (av_variant_parse(&value, text, &e) != AV_OK) {
        fail_msg("%s: %s", text, e.text);
    }
    return value;
}

static struct av_params with(const char *const *assignments)
{
    struct av_params p;
    struct av_error e = { "" };
    av_params_default(&p);
    for (; *assignments != NULL; assignments++) {
        if (av_params_set_text(&p, *assignments, &e) != AV_OK) {
            fail_msg("%s: %s", *assignments, e.text);
        }
    }
    return p;
}

static void says(const char *text, const char *piece)
{
    if (strstr(text, piece) == NULL) {
        fail_msg("'%s' lacks '%s'", text, piece);
    }
}

static void every_row_is_a_value_and_comes_back(void **state)
{
    (void)state;
    size_t count;
    const struct av_variant *rows = av_variants_table(&count);
    char text[AV_VARIANT_TEXT_MAX];
    for (size_t i = 0; i < count; i++) {
        av_variant_value value = parse(rows[i].name);
        assert_ptr_equal(av_variant_of(value, rows[i].group), &rows[i]);
        assert_string_equal(av_variant_format(value, text), rows[i].name);
        assert_int_equal(av_variant_flags(value), rows[i].flags);
        assert_true(strlen(rows[i].formula) > 0 && strlen(rows[i].source) > 0 && strlen(rows[i].text) > 0);
        assert_true(i == 0 || rows[i].group >= rows[i - 1].group); /* training comes last */
    }
}

static void the_longest_value_has_room(void **state)
{
    (void)state;
    size_t count;
    const struct av_variant *rows = av_variants_table(&count);
    av_variant_value value = 0;
    for (enum av_variant_group g = 0; g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant *longest = NULL;
        for (size_t i = 0; i < count; i++) {
            bool longer = longest == NULL || strlen(rows[i].name) > strlen(longest->name);
            longest = rows[i].group == g && longer ? &rows[i] : longest;
        }
        value = av_variant_with(value, longest);
    }
    char text[AV_VARIANT_TEXT_MAX];
    assert_int_equal(parse(av_variant_format(value, text)), value);
}

static void names_join_in_any_order(void **state)
{
    (void)state;
    char text[AV_VARIANT_TEXT_MAX];
    assert_string_equal(av_variant_format(parse("softcap+mup"), text), "mup+softcap");
    assert_string_equal(av_variant_format(parse("sink+qk_rms+alibi"), text), "qk_rms+sink+alibi");
    assert_int_equal(parse("softmax"), 0);
    assert_int_equal(parse("softmax+mup"), parse("mup"));
    assert_int_equal(av_variant_without(parse("mup+softcap"), AV_GROUP_BEND), parse("mup"));
    assert_int_equal(av_variant_with(parse("mup+softcap"), av_variant_find("sink")), parse("mup+sink"));
}

static void what_is_no_variant_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *text, *piece;
    } cases[] = {
        { "relu", "relu is unknown" },
        { "", "missing" },
        { "mup+", "missing" },
        { "+mup", "missing" },
        { "mup+sqrt", "mup and sqrt" },
        { "sparsemax+sink", "group bend" },
        { "gemma-2+sink", "gemma-2 is a model and stands alone: it is fixed+softcap" },
        { "sink+grok-1", "grok-1 is a model and stands alone" },
        { "qk_l2,softcap", "unknown" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_error e = { "" };
        av_variant_value value = 7;
        assert_int_equal(av_variant_parse(&value, cases[i].text, &e), AV_USAGE);
        assert_int_equal(value, 7);
        says(e.text, cases[i].piece);
    }
}

static void steps_go_round_and_pass_over_what_cannot_be_had(void **state)
{
    (void)state;
    size_t count;
    av_variants_table(&count);
    const struct av_param *row = av_param_find("variant");
    struct av_params p = with((const char *[]){ "n_q=4", NULL }); /* no lsh */
    size_t seen = 0;
    do {
        av_param_step(row, &p, 1, AV_GRAIN_STEP);
        assert_int_not_equal(p.variant, parse("lsh"));
        seen++;
    } while (p.variant != 0);
    assert_int_equal(seen, count); /* one passed over, softmax counted */
    av_param_step(row, &p, -1, AV_GRAIN_STEP);
    assert_int_equal(p.variant, parse("qk_clip"));
    p.variant = parse("mup+softcap");
    av_param_step(row, &p, 1, AV_GRAIN_STEP);
    assert_int_equal(p.variant, parse("fixed"));
}

static void owned_parameters_belong_to_rows(void **state)
{
    (void)state;
    size_t count;
    const struct av_param *params = av_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        const char *dot = strchr(params[i].name, '.');
        assert_int_equal((params[i].flags & AV_PARAM_OWNED) != 0, dot != NULL);
        if (dot != NULL) {
            char owner[40];
            snprintf(owner, sizeof owner, "%.*s", (int)(dot - params[i].name), params[i].name);
            assert_non_null(av_variant_find(owner));
            assert_true(av_variant_owns(parse(owner), params[i].name));
            assert_false(av_variant_owns(parse("none"), params[i].name));
        }
    }
    assert_true(av_variant_owns(parse("mup+softcap"), "softcap.c"));
    assert_false(av_variant_owns(parse("softmax1"), "softcap.c"));
    assert_false(av_variant_owns(parse("qk_l2"), "qk_layernorm.eps"));
}

static void models_bring_their_parameters(void **state)
{
    (void)state;
    struct av_params p = with((const char *[]){ "softcap.c=7", "variant=gemma-2", NULL });
    assert_int_equal(p.variant, parse("fixed+softcap"));
    assert_true(p.of.softcap_c == 50 && p.of.fixed_scalar == 256);
    p = with((const char *[]){ "variant=gpt-oss", NULL });
    assert_int_equal(p.variant, parse("yarn+sink+window"));
    assert_true(p.of.yarn_S == 32 && p.of.window_size == 128);
    p = with((const char *[]){ "compare=grok-1", NULL });
    assert_int_equal(p.compare, parse("sqrt+softcap"));
    assert_true(p.of.softcap_c == 50); /* only the present variant brings them */
    size_t count;
    const struct av_preset *presets = av_presets_table(&count);
    for (size_t i = 0; i < count; i++) {
        struct av_params each;
        struct av_error e = { "" };
        av_params_default(&each);
        assert_int_equal(av_params_set_text(&each, "variant=softmax", &e), AV_OK);
        av_preset_apply(&presets[i], &each);
        assert_int_equal(each.variant, parse(presets[i].variant));
        for (const char *const *a = presets[i].assignments; *a != NULL; a++) {
            char name[40];
            snprintf(name, sizeof name, "%.*s", (int)strcspn(*a, "="), *a);
            assert_true(av_variant_owns(each.variant, name));
            struct av_params again = each;
            assert_int_equal(av_params_set_text(&again, *a, &e), AV_OK);
            assert_false(av_param_differs(av_param_find(name), &each, &again));
        }
    }
}

static void what_cannot_be_had_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *assignments[4];
        const char *piece; /* NULL: it can be had */
    } cases[] = {
        { { "n_q=4", "variant=lsh" }, "n_q = n_k" },
        { { "d_k=7", "variant=differential" }, "even d_k" },
        { { "logits=1,2", "variant=qk_rms" }, "qk_rms" },
        { { "logits=1,2", "variant=mup" }, "mup" },
        { { "logits=1,2", "variant=alibi" }, "alibi" },
        { { "logits=1,2", "variant=score_layernorm" }, "score_layernorm" },
        { { "logits=1,2", "variant=ssmax+sparsemax" }, NULL },
        { { "variant=lsh" }, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_params p = with(cases[i].assignments);
        struct av_error e = { "" };
        enum av_status s = av_variant_check(p.variant, &p, &e);
        assert_int_equal(s, cases[i].piece == NULL ? AV_OK : AV_USAGE);
        says(e.text, cases[i].piece != NULL ? cases[i].piece : "");
    }
    assert_int_equal(av_variant_on_logits(parse("mup+qk_rms+sink+alibi")), parse("sink"));
    assert_int_equal(av_variant_on_logits(parse("logn+softcap")), parse("logn+softcap"));
}

static void auto_is_a_value(void **state)
{
    (void)state;
    struct av_params p = with((const char *[]){ NULL });
    const struct av_param *row = av_param_find("qk_l2.g");
    char text[AV_PARAM_SHORT_MAX];
    struct av_error e = { "" };
    assert_true(isnan(p.of.qk_l2_g));
    assert_string_equal(av_param_format_short(row, &p, text), "auto");
    av_param_step(row, &p, 1, AV_GRAIN_STEP);
    assert_true(p.of.qk_l2_g == 1);
    assert_int_equal(av_params_set_text(&p, "qk_l2.g=auto", &e), AV_OK);
    assert_true(isnan(p.of.qk_l2_g));
    assert_int_equal(av_params_set_text(&p, "softcap.c=auto", &e), AV_USAGE);
    assert_int_equal(av_params_set_text(&p, "qk_l2.g=nan", &e), AV_USAGE);
    struct av_params other = with((const char *[]){ NULL });
    assert_false(av_params_differ((const char *[]){ AV_ALL_OWNED, NULL }, &p, &other));
    p.of.softcap_c = 30;
    assert_true(av_params_differ((const char *[]){ "seed", AV_ALL_OWNED, NULL }, &p, &other));
}

static void lists_of_variants_come_back(void **state)
{
    (void)state;
    struct av_params p = with((const char *[]){ "variants=softmax,logn,gemma-2", NULL });
    struct av_str text = AV_STR_INIT;
    av_param_format(av_param_find("variants"), &p, &text);
    assert_string_equal(av_str_text(&text), "softmax,logn,gemma-2");
    av_str_free(&text);
    assert_true(av_variant_entries() <= 53); /* bits of a double */
    for (size_t i = 0; i < av_variant_entries(); i++) {
        int64_t set = 0;
        assert_int_equal(av_variant_set_parse(&set, av_variant_entry(i).name, NULL), AV_OK);
        assert_true(set == (int64_t)1 << i);
    }
    struct av_error e = { "" };
    assert_int_equal(av_params_set_text(&p, "variants=all", &e), AV_OK);
    assert_int_equal(p.variants, 0);
    assert_int_equal(av_params_set_text(&p, "variants=softmax,nothing", &e), AV_USAGE);
    says(e.text, "nothing is unknown");
    assert_int_equal(av_params_set_text(&p, "variants=", &e), AV_USAGE);
    assert_int_equal(av_params_set_text(&p, "variants=sigma_reparam", &e), AV_USAGE); /* nothing to see there */
    char name[AV_VARIANT_TEXT_MAX];
    assert_string_equal(av_variant_format(p.compare, name), "sparsemax");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_a_value_and_comes_back),
        cmocka_unit_test(the_longest_value_has_room),
        cmocka_unit_test(names_join_in_any_order),
        cmocka_unit_test(what_is_no_variant_is_named),
        cmocka_unit_test(steps_go_round_and_pass_over_what_cannot_be_had),
        cmocka_unit_test(owned_parameters_belong_to_rows),
        cmocka_unit_test(models_bring_their_parameters),
        cmocka_unit_test(what_cannot_be_had_is_told),
        cmocka_unit_test(auto_is_a_value),
        cmocka_unit_test(lists_of_variants_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
