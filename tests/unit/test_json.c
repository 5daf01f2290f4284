/* test_json.c - commas, lines and escapes of the JSON writer. */
#include "attnviz/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void whole_document(void **state)
{
    (void)state;
    struct av_str out = AV_STR_INIT;
    struct av_json j;
    av_json_begin(&j, &out);
    av_json_object(&j, NULL);
    av_json_string(&j, "name", "q");
    av_json_array(&j, "shape");
    av_json_unsigned(&j, NULL, UINT64_MAX);
    av_json_integer(&j, NULL, INT64_MIN);
    av_json_number(&j, NULL, (double)NAN);
    av_json_close(&j, ']');
    av_json_array(&j, "heads");
    for (int i = 0; i < 2; i++) {
        av_json_object(&j, NULL);
        av_json_integer(&j, "head", i);
        av_json_array(&j, "p");
        av_json_number(&j, NULL, 0.5);
        av_json_close(&j, ']');
        av_json_close(&j, '}');
    }
    av_json_close(&j, ']');
    av_json_array(&j, "words");
    av_json_string(&j, NULL, "a");
    av_json_string(&j, NULL, "b");
    av_json_close(&j, ']');
    av_json_array(&j, "none");
    av_json_close(&j, ']');
    av_json_object(&j, "empty");
    av_json_close(&j, '}');
    av_json_null(&j, "theory");
    av_json_bool(&j, "guessed", true);
    av_json_array(&j, "seen");
    av_json_bool(&j, NULL, false);
    av_json_bool(&j, NULL, true);
    av_json_close(&j, ']');
    av_json_close(&j, '}');
    assert_string_equal(av_str_text(&out), "{\n"
                                           "  \"name\": \"q\",\n"
                                           "  \"shape\": [18446744073709551615, -9223372036854775808, null],\n"
                                           "  \"heads\": [\n"
                                           "    {\n"
                                           "      \"head\": 0,\n"
                                           "      \"p\": [0.5]\n"
                                           "    },\n"
                                           "    {\n"
                                           "      \"head\": 1,\n"
                                           "      \"p\": [0.5]\n"
                                           "    }\n"
                                           "  ],\n"
                                           "  \"words\": [\n"
                                           "    \"a\",\n"
                                           "    \"b\"\n"
                                           "  ],\n"
                                           "  \"none\": [],\n"
                                           "  \"empty\": {},\n"
                                           "  \"theory\": null,\n"
                                           "  \"guessed\": true,\n"
                                           "  \"seen\": [\n"
                                           "    false,\n"
                                           "    true\n"
                                           "  ]\n"
                                           "}\n");
    av_str_free(&out);
}

/* Whatever stands in an array that began with a number stays on its line. */
static void arrays_in_an_array_of_numbers(void **state)
{
    (void)state;
    struct av_str out = AV_STR_INIT;
    struct av_json j;
    av_json_begin(&j, &out);
    av_json_array(&j, NULL);
    av_json_number(&j, NULL, 1);
    av_json_array(&j, NULL);
    av_json_number(&j, NULL, 2);
    av_json_number(&j, NULL, 3);
    av_json_close(&j, ']');
    av_json_object(&j, NULL);
    av_json_null(&j, "x");
    av_json_close(&j, '}');
    av_json_close(&j, ']');
    assert_string_equal(av_str_text(&out), "[1, [2, 3], {\"x\": null}]\n");
    av_str_free(&out);
}

static void check_number(double x, const char *text)
{
    struct av_str out = AV_STR_INIT;
    struct av_json j;
    av_json_begin(&j, &out);
    av_json_number(&j, NULL, x);
    assert_string_equal(av_str_text(&out), text);
    av_str_free(&out);
}

static void numbers_read_back_to_the_bit(void **state)
{
    static const double xs[] = { 0.1, 1.0 / 3, 0x1.fffffffffffffp1023, 0x1p-1074, -1e22, 1.97193530875195e-304 };
    (void)state;
    for (size_t i = 0; i < sizeof xs / sizeof xs[0]; i++) {
        struct av_str out = AV_STR_INIT;
        struct av_json j;
        av_json_begin(&j, &out);
        av_json_number(&j, NULL, xs[i]);
        assert_true(strtod(av_str_text(&out), NULL) == xs[i]);
        av_str_free(&out);
    }
    check_number(1, "1");
    check_number(-0.0, "-0");
    check_number((double)NAN, "null");
    check_number((double)INFINITY, "null");
    check_number(-(double)INFINITY, "null");
}

static void check_string(const char *text, const char *json)
{
    struct av_str out = AV_STR_INIT;
    struct av_json j;
    av_json_begin(&j, &out);
    av_json_string(&j, NULL, text);
    assert_string_equal(av_str_text(&out), json);
    av_str_free(&out);
}

static void strings_are_escaped(void **state)
{
    (void)state;
    check_string("", "\"\"");
    check_string("say \"a\\b\"", "\"say \\\"a\\\\b\\\"\"");
    check_string("a\nb\tc\x01\x1f\x7f", "\"a\\nb\\tc\\u0001\\u001f\\u007f\"");
    check_string("\xC3\xA9 \xE2\x88\x9A \xF0\x9F\x98\x80", "\"\xC3\xA9 \xE2\x88\x9A \xF0\x9F\x98\x80\"");
    /* A stray byte, a surrogate, an overlong slash, a cut sequence. */
    check_string("\xFF", "\"\xEF\xBF\xBD\"");
    check_string("\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
    check_string("\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
    check_string("\xE2\x88", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_document),
        cmocka_unit_test(arrays_in_an_array_of_numbers),
        cmocka_unit_test(numbers_read_back_to_the_bit),
        cmocka_unit_test(strings_are_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
