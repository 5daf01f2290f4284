/* test_utf8_width.c - columns of characters and of text. */
#include "attnviz/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

/* Made by tests/reference/width_reference.py. */
static void widths_are_those_of_unicode(void **state)
{
    (void)state;
    static const struct {
        uint32_t code;
        int width;
    } expected[] = {
        { 0x0009, -1 },  { 0x0020, 1 },  { 0x0041, 1 },  { 0x007E, 1 },  { 0x007F, -1 }, { 0x009F, -1 },
        { 0x00A0, 1 },   { 0x00AD, 0 },  { 0x00E9, 1 },  { 0x0301, 0 },  { 0x042F, 1 },  { 0x0591, 0 },
        { 0x05E7, -1 },  { 0x060A, 1 },  { 0x060B, -1 }, { 0x060F, 1 },  { 0x0610, 0 },  { 0x0645, -1 },
        { 0x065F, 0 },   { 0x0660, -1 }, { 0x0663, -1 }, { 0x066A, 1 },  { 0x066B, -1 }, { 0x0830, -1 },
        { 0x0915, 1 },   { 0x093F, 1 },  { 0x0A02, 0 },  { 0x0A03, 1 },  { 0x0A71, 0 },  { 0x0A72, 1 },
        { 0x0A75, 0 },   { 0x0A76, 1 },  { 0x0B3F, 0 },  { 0x0B40, 1 },  { 0x0C3C, 0 },  { 0x0E01, 1 },
        { 0x0F37, 0 },   { 0x0F38, 1 },  { 0x1060, 0 },  { 0x1061, 1 },  { 0x108C, 1 },  { 0x108D, 0 },
        { 0x109D, 0 },   { 0x109E, 1 },  { 0x1100, 2 },  { 0x1161, 0 },  { 0x11FF, 0 },  { 0x1200, 1 },
        { 0x1751, 1 },   { 0x1752, 0 },  { 0x1772, 0 },  { 0x17B3, 1 },  { 0x17B4, 0 },  { 0x1940, 1 },
        { 0x1A64, 1 },   { 0x1A65, 0 },  { 0x1BE5, 1 },  { 0x1BE6, 0 },  { 0x200B, 0 },  { 0x200D, 0 },
        { 0x2026, 1 },   { 0x2027, 1 },  { 0x2028, -1 }, { 0x221A, 1 },  { 0x231A, 2 },  { 0x2423, 1 },
        { 0x2500, 1 },   { 0x2588, 1 },  { 0x26A1, 2 },  { 0x26A2, 1 },  { 0x2764, 1 },  { 0x2794, 1 },
        { 0x2795, 2 },   { 0x27AF, 1 },  { 0x27B0, 2 },  { 0x2B55, 2 },  { 0x2B56, 1 },  { 0x3000, 2 },
        { 0x3001, 2 },   { 0x3042, 2 },  { 0x3099, 0 },  { 0x30AB, 2 },  { 0x529B, 2 },  { 0x610F, 2 },
        { 0x6CE8, 2 },   { 0xA801, 1 },  { 0xA802, 0 },  { 0xA824, 1 },  { 0xA825, 0 },  { 0xA92D, 0 },
        { 0xA92E, 1 },   { 0xA982, 0 },  { 0xA983, 1 },  { 0xA9E5, 0 },  { 0xA9E6, 1 },  { 0xAA32, 0 },
        { 0xAA33, 1 },   { 0xAAB0, 0 },  { 0xAAB1, 1 },  { 0xABE4, 1 },  { 0xABE5, 0 },  { 0xD55C, 2 },
        { 0xE000, -1 },  { 0xFB01, 1 },  { 0xFD3D, -1 }, { 0xFD3E, 1 },  { 0xFE0F, 0 },  { 0xFE2F, 0 },
        { 0xFE30, 2 },   { 0xFF21, 2 },  { 0xFF61, 1 },  { 0xFFE9, 1 },  { 0xFFFD, 1 },  { 0x10F85, 0 },
        { 0x10F86, -1 }, { 0x110B8, 1 }, { 0x110B9, 0 }, { 0x11172, 1 }, { 0x11173, 0 }, { 0x11181, 0 },
        { 0x11182, 1 },  { 0x1123D, 1 }, { 0x1123E, 0 }, { 0x114B8, 0 }, { 0x114B9, 1 }, { 0x1163C, 1 },
        { 0x1163D, 0 },  { 0x1193B, 0 }, { 0x11A38, 0 }, { 0x11A39, 1 }, { 0x11A5B, 0 }, { 0x11A5C, 1 },
        { 0x11A96, 0 },  { 0x11A97, 1 }, { 0x11D97, 0 }, { 0x11D98, 1 }, { 0x14400, 1 }, { 0x16F4F, 0 },
        { 0x16F50, 1 },  { 0x1D400, 1 }, { 0x1D9FF, 1 }, { 0x1DA00, 0 }, { 0x1DA75, 0 }, { 0x1DA76, 1 },
        { 0x1F1E9, -1 }, { 0x1F320, 2 }, { 0x1F321, 1 }, { 0x1F32C, 1 }, { 0x1F32D, 2 }, { 0x1F336, 1 },
        { 0x1F337, 2 },  { 0x1F393, 2 }, { 0x1F394, 1 }, { 0x1F3FD, 0 }, { 0x1F567, 2 }, { 0x1F568, 1 },
        { 0x1F600, 2 },  { 0x1F6D2, 2 }, { 0x1F6D3, 1 }, { 0x20000, 2 }, { 0xE0041, 0 }, { 0x10FFFD, -1 },
    };
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        if (av_utf8_width(expected[i].code) != expected[i].width) {
            fail_msg("U+%04X: %d, not %d", (unsigned)expected[i].code, av_utf8_width(expected[i].code),
                     expected[i].width);
        }
    }
    assert_int_equal(av_utf8_width(0), -1);
    assert_int_equal(av_utf8_width(0x110000), -1); /* no code point at all */
    assert_int_equal(av_utf8_width(UINT32_MAX), -1);
}

static const struct {
    const char *text;
    int columns;
    const char *drawn;
} texts[] = {
    { "", 0, "" },
    { "plain √64", 9, "plain √64" },
    { "注意力", 6, "注意力" },
    { "カタカナ ｶﾅ", 11, "カタカナ ｶﾅ" },
    { "주의 a", 6, "주의 a" },
    { "e\u0301te\u0301\u0323!", 4, "ete!" }, /* marks go */
    { "\u0301a", 2, "\uFFFDa" },             /* one on nothing does not */
    { "\U0001F469\u200D\U0001F4BB", 4, "\U0001F469\U0001F4BB" },
    { "\U0001F44D\U0001F3FD", 2, "\U0001F44D" },
    { "\u2764\uFE0F", 1, "\u2764" },
    { "\t\x7F\u05D0\uE000", 4, "\uFFFD\uFFFD\uFFFD\uFFFD" },
    { "\xFF\xE6\xB3", 3, "\uFFFD\uFFFD\uFFFD" },
};

static void text_takes_the_columns_of_what_is_drawn(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char drawn[64];
        size_t len = 0;
        int columns, sum = 0;
        const char *at = texts[i].text;
        for (uint32_t code; (code = av_utf8_drawn(&at, &columns)) != 0; sum += columns) {
            assert_in_range(columns, 1, 2);
            len += av_utf8_put(drawn + len, code);
        }
        drawn[len] = '\0';
        assert_int_equal(columns, 0);
        assert_int_equal(*at, '\0');
        assert_string_equal(drawn, texts[i].drawn);
        assert_int_equal(sum, texts[i].columns);
        assert_int_equal(av_utf8_columns(texts[i].text), texts[i].columns);
    }
}

/* What fits is whole characters with their marks, and nothing more would fit. */
static void the_longest_beginning_fits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *text = texts[i].text;
        for (int room = -1; room <= texts[i].columns + 1; room++) {
            char kept[64] = "";
            int columns = 0;
            size_t n = av_utf8_fit(text, room);
            memcpy(kept, text, n);
            assert_true(av_utf8_columns(kept) <= (room > 0 ? room : 0));
            const char *more = text + n;
            av_utf8_drawn(&more, &columns);
            assert_true(text[n] == '\0' || av_utf8_columns(kept) + columns > room);
        }
        assert_int_equal(av_utf8_fit(text, texts[i].columns), strlen(text));
    }
    assert_int_equal(av_utf8_fit("注意力", 5), strlen("注意"));
    assert_int_equal(av_utf8_fit("e\u0301a", 1), strlen("e\u0301"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(widths_are_those_of_unicode),
        cmocka_unit_test(text_takes_the_columns_of_what_is_drawn),
        cmocka_unit_test(the_longest_beginning_fits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
