/* test_base.c - messages, memory, strings and UTF-8. */
#include "attnviz/mem.h"
#include "attnviz/status.h"
#include "attnviz/strbuf.h"
#include "attnviz/utf8.h"
#include "attnviz/wrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void a_long_message_is_cut_at_a_character(void **state)
{
    (void)state;
    /* Whatever the phase of the two-byte characters against the buffer's end. */
    for (size_t lead = 0; lead < 4; lead++) {
        char text[2 * AV_ERROR_MAX];
        memset(text, 'x', lead);
        for (size_t i = lead; i + 2 < sizeof text; i += 2) {
            memcpy(text + i, "\xC3\xA9", 3);
        }
        struct av_error e;
        assert_int_equal(av_fail(&e, AV_USAGE, "%s", text), AV_USAGE);
        assert_in_range(strlen(e.text), AV_ERROR_MAX - 3, AV_ERROR_MAX - 1);
        const char *at = e.text;
        for (uint32_t code = av_utf8_next(&at); code != 0; code = av_utf8_next(&at)) {
            assert_int_not_equal(code, 0xFFFD);
        }
    }
}

static void a_whole_message_is_kept(void **state)
{
    (void)state;
    struct av_error e;
    assert_int_equal(av_fail_nomem(&e, "weights \xC3\xA9"), AV_NOMEM);
    assert_string_equal(e.text, "weights \xC3\xA9: out of memory");
    assert_int_equal(av_fail(NULL, AV_FAILED, "nobody listens"), AV_FAILED);
}

static void memory_is_zeroed_aligned_and_checked(void **state)
{
    (void)state;
    for (size_t n = 0; n < 200; n += 7) {
        unsigned char *p = av_alloc(n, 3);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % AV_ALIGN, 0);
        for (size_t i = 0; i < 3 * n; i++) {
            assert_int_equal(p[i], 0);
        }
        av_free(p);
    }
    assert_null(av_alloc(SIZE_MAX / 2, 3));
    assert_null(av_alloc(SIZE_MAX, 1));
    av_free(NULL);
    assert_true(av_mem_physical() > (size_t)1 << 24);
}

static void strings_grow_and_stay_terminated(void **state)
{
    (void)state;
    struct av_str s = AV_STR_INIT;
    assert_string_equal(av_str_text(&s), "");
    for (int i = 0; i < 1000; i++) {
        av_str_addf(&s, "%d,", i);
    }
    av_str_add(&s, "end");
    av_str_utf8(&s, 0x221A);
    assert_false(s.failed);
    assert_int_equal(s.len, strlen(s.text));
    assert_int_equal(s.len, 10 * 2 + 90 * 3 + 900 * 4 + 3 + 3);
    assert_string_equal(s.text + s.len - 6, "end\xE2\x88\x9A");
    av_str_clear(&s);
    assert_string_equal(av_str_text(&s), "");
    av_str_free(&s);
    assert_null(s.text);
}

static void utf8_round_trips_and_refuses_what_is_not(void **state)
{
    (void)state;
    static const uint32_t codes[] = { 1, 0x7F, 0x80, 0x7FF, 0x800, 0x2588, 0xFFFF, 0x10000, 0x10FFFF };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        char bytes[5] = "";
        size_t n = av_utf8_put(bytes, codes[i]);
        const char *at = bytes;
        assert_int_equal(av_utf8_next(&at), codes[i]);
        assert_ptr_equal(at, bytes + n);
    }
    /* Lone continuation, overlong '/', surrogate, beyond the last plane, cut short. */
    static const char *const bad[] = { "\x80", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x96", "\xFF" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *at = bad[i];
        assert_int_equal(av_utf8_next(&at), 0xFFFD);
        assert_ptr_equal(at, bad[i] + 1);
    }
    assert_int_equal(av_utf8_len("a\xE2\x88\x9A z"), 4);
}

static void text_is_cut_into_lines(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int cells;
        size_t piece;
    } expected[] = {
        { "", 9, 0 },
        { "one", 3, 3 },
        { "one two", 6, 3 },
        { "one two", 7, 7 },
        { "one two x", 7, 7 },
        { "overlong", 4, 4 },
        { "a overlong", 4, 1 },
        { "\xE2\x88\x9A\xE2\x88\x9A x", 2, 6 },
        { "\xE2\x88\x9Axyz", 1, 3 },
        { "注意力", 6, 9 },
        { "注意力", 5, 6 },
        { "注意力", 1, 3 },
        { "注 意力", 4, 3 },
        { "e\u0301 bc", 3, 3 }, /* a mark takes no column, and stays with its letter */
        { "e\u0301e\u0301", 1, 3 },
        { "one", 0, 1 },
        { "\xE2\x88\x9Axyz", -5, 3 },
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        assert_int_equal(av_wrap_piece(expected[i].text, expected[i].cells), expected[i].piece);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_message_is_cut_at_a_character),     cmocka_unit_test(a_whole_message_is_kept),
        cmocka_unit_test(memory_is_zeroed_aligned_and_checked),     cmocka_unit_test(strings_grow_and_stay_terminated),
        cmocka_unit_test(utf8_round_trips_and_refuses_what_is_not), cmocka_unit_test(text_is_cut_into_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
