/* test_canvas.c - the grid of cells: clipping, text, heat, stand-ins. */
#include "attnviz/canvas.h"
#include "attnviz/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdio.h>
#include <string.h>

static struct av_canvas make(int cols, int rows, bool ascii)
{
    struct av_canvas c = { .ascii = ascii };
    assert_int_equal(av_canvas_resize(&c, cols, rows, NULL), AV_OK);
    return c;
}

/* A row as UTF-8. */
static const char *row(const struct av_canvas *c, int y, char *out)
{
    size_t n = 0;
    for (int x = 0; x < c->cols; x++) {
        n += av_utf8_put(out + n, av_canvas_at(c, x, y)->code);
    }
    out[n] = '\0';
    return out;
}

static void resize_keeps_the_old_grid_on_failure(void **state)
{
    (void)state;
    struct av_canvas c = make(4, 2, false);
    av_canvas_put(&c, 1, 1, 'x', AV_ROLE_TEXT);
    struct av_error e = { "" };
    assert_int_equal(av_canvas_resize(&c, 0, 5, &e), AV_USAGE);
    assert_int_equal(av_canvas_resize(&c, 5, -1, &e), AV_USAGE);
    assert_true(e.text[0] != '\0');
    assert_int_equal(av_canvas_resize(&c, INT_MAX, INT_MAX, &e), AV_NOMEM);
    assert_int_equal(c.cols, 4);
    assert_int_equal(c.rows, 2);
    assert_int_equal(av_canvas_at(&c, 1, 1)->code, 'x');
    assert_int_equal(av_canvas_resize(&c, 4, 2, &e), AV_OK);
    assert_int_equal(av_canvas_at(&c, 1, 1)->code, ' ');
    av_canvas_free(&c);
    assert_null(c.cells);
}

static void nothing_is_drawn_outside_canvas_or_clip(void **state)
{
    (void)state;
    struct av_canvas c = make(6, 4, false);
    static const int at[] = { INT_MIN, -1000, -1, 0, 1, 3, 4, 5, 6, 1000, INT_MAX };
    enum { COUNT = sizeof at / sizeof *at };
    av_canvas_clip(&c, (struct av_rect){ 1, 1, 3, 2 });
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < COUNT; j++) {
            av_canvas_put(&c, at[i], at[j], 'x', AV_ROLE_BAD);
            av_canvas_heat(&c, at[i], at[j], 11);
            av_canvas_mark(&c, (struct av_rect){ at[i], at[j], INT_MAX, INT_MAX });
        }
    }
    for (int y = -1; y <= 4; y++) {
        for (int x = -1; x <= 6; x++) {
            bool in = x >= 1 && x < 4 && y >= 1 && y < 3;
            const struct av_cell *cell = av_canvas_at(&c, x, y);
            if (!in) {
                assert_int_equal(cell->code, ' ');
                assert_false(cell->mark);
            }
        }
    }
    assert_true(av_canvas_at(&c, 1, 1)->mark);
    assert_true(av_canvas_at(&c, 3, 2)->mark);
    assert_int_equal(av_canvas_at(&c, 3, 1)->role, AV_ROLE_HEAT);
    av_canvas_free(&c);
}

static void clip_stays_within_the_canvas(void **state)
{
    (void)state;
    struct av_canvas c = make(6, 4, false);
    static const struct {
        struct av_rect given, used;
    } cases[] = {
        { { -2, -2, 4, 4 }, { 0, 0, 2, 2 } },
        { { 4, 3, 100, 100 }, { 4, 3, 2, 1 } },
        { { INT_MIN, INT_MIN, INT_MAX, INT_MAX }, { 0, 0, 0, 0 } },
        { { 1, 1, INT_MAX, INT_MAX }, { 1, 1, 5, 3 } },
        { { 2, 2, -1, 3 }, { 0, 2, 0, 2 } },
        { { 6, 0, 2, 2 }, { 0, 0, 0, 2 } },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        av_canvas_clip(&c, cases[i].given);
        assert_memory_equal(&c.clip, &cases[i].used, sizeof c.clip);
    }
    av_canvas_clear(&c);
    assert_int_equal(c.clip.w, 6);
    assert_int_equal(c.clip.h, 4);
    av_canvas_free(&c);
}

static void text_is_clipped_by_code_points(void **state)
{
    (void)state;
    char out[64];
    struct av_canvas c = make(6, 2, false);
    assert_int_equal(av_canvas_text(&c, -2, 0, AV_ROLE_TEXT, "ab√dk·×…zz"), 8);
    assert_string_equal(row(&c, 0, out), "√dk·×…");
    assert_int_equal(av_canvas_text(&c, 2, 1, AV_ROLE_TITLE, ""), 2);
    assert_int_equal(av_canvas_text(&c, 4, 1, AV_ROLE_TITLE, "σσσ"), 7);
    assert_string_equal(row(&c, 1, out), "    σσ");
    assert_int_equal(av_canvas_at(&c, 5, 1)->role, AV_ROLE_TITLE);
    assert_int_equal(av_canvas_text(&c, 0, 99, AV_ROLE_TITLE, "abc"), 3);
    av_canvas_free(&c);
}

static void text_ends_at_the_right(void **state)
{
    (void)state;
    char out[64];
    struct av_canvas c = make(8, 1, false);
    av_canvas_text_right(&c, 7, 0, AV_ROLE_TEXT, "√64");
    assert_string_equal(row(&c, 0, out), "    √64 ");
    assert_int_equal(av_canvas_textf(&c, 0, 0, AV_ROLE_TEXT, "%d·", 12), 3);
    assert_string_equal(row(&c, 0, out), "12· √64 ");
    av_canvas_free(&c);
}

static void long_formatted_text_does_not_overrun(void **state)
{
    (void)state;
    struct av_canvas c = make(3, 1, false);
    assert_int_equal(av_canvas_textf(&c, 0, 0, AV_ROLE_TEXT, "%*d", 10000, 7), 4095);
    av_canvas_free(&c);
}

static void what_takes_no_cell_is_replaced_or_left_out(void **state)
{
    (void)state;
    char out[64];
    struct av_canvas c = make(8, 1, false);
    /* escape, newline, from right to left, a combining accent, a byte that is no UTF-8 */
    assert_int_equal(av_canvas_text(&c, 0, 0, AV_ROLE_TEXT, "\033\nקe\xCC\x81\xFFz"), 6);
    assert_string_equal(row(&c, 0, out), "\uFFFD\uFFFD\uFFFDe\uFFFDz  ");
    av_canvas_put(&c, 7, 0, 0x0301, AV_ROLE_TEXT);
    assert_int_equal(av_canvas_at(&c, 7, 0)->code, AV_GLYPH_UNKNOWN);
    av_canvas_free(&c);
}

/* A row as text, the right half of a wide character as '<', so that one cell is
 * one character. */
static const char *halves(const struct av_canvas *c, char *out)
{
    size_t n = 0;
    for (int x = 0; x < c->cols; x++) {
        uint32_t code = av_canvas_at(c, x, 0)->code;
        n += av_utf8_put(out + n, code == AV_GLYPH_REST ? '<' : code);
    }
    out[n] = '\0';
    return out;
}

static void wide_characters_take_two_cells(void **state)
{
    (void)state;
    char out[64];
    for (int ascii = 0; ascii <= 1; ascii++) {
        struct av_canvas c = make(9, 1, ascii);
        assert_int_equal(av_canvas_text(&c, 1, 0, AV_ROLE_BAD, "注a意Ｂ"), 8);
        assert_string_equal(halves(&c, out), ascii ? " ? a? B  " : " 注<a意<Ｂ< ");
        for (int x = 0; x < 9; x++) {
            assert_int_equal(av_canvas_at(&c, x, 0)->role, x > 0 && x < 8 ? AV_ROLE_BAD : AV_ROLE_TEXT);
        }
        av_canvas_text_right(&c, 8, 0, AV_ROLE_BAD, "力x");
        assert_string_equal(halves(&c, out), ascii ? " ? a?? x " : " 注<a 力<x ");
        av_canvas_free(&c);
    }
}

/* What is left of it within the clip rectangle is a blank. */
static void wide_characters_are_clipped_whole(void **state)
{
    (void)state;
    static const struct {
        int x;
        const char *row;
    } cases[] = { { INT_MIN, "abcdefgh" }, { -1, "abcdefgh" }, { 0, "abcdefgh" },      { 1, "ab defgh" },
                  { 2, "ab力<efgh" },      { 4, "abcd力<gh" }, { 5, "abcde gh" },      { 6, "abcdefgh" },
                  { 7, "abcdefgh" },       { 8, "abcdefgh" },  { INT_MAX, "abcdefgh" } };
    char out[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct av_canvas c = make(8, 1, false);
        av_canvas_text(&c, 0, 0, AV_ROLE_TEXT, "abcdefgh");
        av_canvas_clip(&c, (struct av_rect){ 2, 0, 4, 1 });
        av_canvas_put(&c, cases[i].x, 0, 0x529B, AV_ROLE_TEXT);
        av_canvas_put(&c, 3, 1, 0x529B, AV_ROLE_TEXT); /* no such row */
        assert_string_equal(halves(&c, out), cases[i].row);
        av_canvas_free(&c);
    }
    struct av_canvas c = make(4, 1, false); /* at the canvas' own edges */
    assert_int_equal(av_canvas_text(&c, -1, 0, AV_ROLE_TEXT, "注意力"), 5);
    assert_string_equal(halves(&c, out), " 意< ");
    av_canvas_free(&c);
}

static void half_a_wide_character_is_none(void **state)
{
    (void)state;
    static const struct {
        int x;
        uint32_t code; /* 0: heat */
        const char *row;
    } cases[] = { { 0, 'x', "x注<意< " },    { 1, 'x', " x 意< " },     { 2, 'x', "  x意< " },
                  { 2, 0, "  █意< " },       { 3, 0, " 注<█  " },       { 2, 0x529B, "  力<  " },
                  { 1, 0x529B, " 力<意< " }, { 0, 0x529B, "力< 意< " }, { 4, 0x529B, " 注< 力<" } };
    char out[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct av_canvas c = make(6, 1, false);
        av_canvas_text(&c, 1, 0, AV_ROLE_TEXT, "注意");
        if (cases[i].code != 0) {
            av_canvas_put(&c, cases[i].x, 0, cases[i].code, AV_ROLE_TEXT);
        } else {
            av_canvas_heat(&c, cases[i].x, 0, AV_HEAT_LEVELS - 1);
        }
        assert_string_equal(halves(&c, out), cases[i].row);
        av_canvas_free(&c);
    }
    struct av_canvas c = make(6, 1, false);
    av_canvas_text(&c, 1, 0, AV_ROLE_TEXT, "注意");
    av_canvas_clip(&c, (struct av_rect){ 2, 0, 1, 1 });
    av_canvas_put(&c, 2, 0, 'x', AV_ROLE_TEXT); /* the other half goes outside too */
    assert_string_equal(halves(&c, out), "  x意< ");
    av_canvas_free(&c);
}

static void wide_characters_are_marked_whole(void **state)
{
    (void)state;
    for (int x = 1; x <= 2; x++) {
        struct av_canvas c = make(4, 1, false);
        av_canvas_put(&c, 1, 0, 0x529B, AV_ROLE_TEXT);
        av_canvas_mark(&c, (struct av_rect){ x, 0, 1, 1 });
        for (int i = 0; i < 4; i++) {
            assert_int_equal(av_canvas_at(&c, i, 0)->mark, i == 1 || i == 2);
        }
        av_canvas_free(&c);
    }
}

static void a_cell_drawn_again_is_new(void **state)
{
    (void)state;
    struct av_canvas c = make(2, 1, false);
    av_canvas_heat(&c, 0, 0, 5);
    av_canvas_mark(&c, (struct av_rect){ 0, 0, 2, 1 });
    assert_true(av_canvas_at(&c, 1, 0)->mark);
    av_canvas_put(&c, 0, 0, 'a', AV_ROLE_TEXT);
    assert_false(av_canvas_at(&c, 0, 0)->mark);
    assert_int_equal(av_canvas_at(&c, 0, 0)->level, 0);
    av_canvas_free(&c);
}

static void heat_glyphs_grow_with_the_level(void **state)
{
    (void)state;
    static const struct {
        bool ascii;
        const char *ladder;
    } sets[] = { { false, " ░▒▓█" }, { true, " .:-=+*#%@" } };
    for (size_t i = 0; i < 2; i++) {
        struct av_canvas c = make(AV_HEAT_LEVELS, 1, sets[i].ascii);
        for (int level = 0; level < AV_HEAT_LEVELS; level++) {
            av_canvas_heat(&c, level, 0, level);
            assert_int_equal(av_canvas_at(&c, level, 0)->level, level);
        }
        /* The ends have their own glyphs; between, each in turn and none left out. */
        const char *ladder = sets[i].ladder;
        uint32_t now = av_utf8_next(&ladder);
        assert_int_equal(av_canvas_at(&c, 0, 0)->code, now);
        for (int level = 1; level < AV_HEAT_LEVELS; level++) {
            uint32_t code = av_canvas_at(&c, level, 0)->code;
            if (code != now || level == 1 || level == AV_HEAT_LEVELS - 1) {
                now = av_utf8_next(&ladder);
            }
            assert_int_equal(code, now);
        }
        assert_int_equal(av_utf8_next(&ladder), 0);
        av_canvas_heat(&c, 0, 0, -7);
        assert_int_equal(av_canvas_at(&c, 0, 0)->level, 0);
        av_canvas_heat(&c, 0, 0, 99);
        assert_int_equal(av_canvas_at(&c, 0, 0)->level, AV_HEAT_LEVELS - 1);
        av_canvas_free(&c);
    }
}

static void ascii_canvas_holds_ascii_alone(void **state)
{
    (void)state;
    char out[64];
    struct av_canvas c = make(16, 1, true);
    av_canvas_text(&c, 0, 0, AV_ROLE_TEXT, "│─┼█░·×→‹64›…é漢");
    assert_string_equal(row(&c, 0, out), "|-+#:.x><64>.e? ");
    for (uint32_t code = 0; code < 0x11000; code++) {
        av_canvas_put(&c, 0, 0, code, AV_ROLE_TEXT);
        uint32_t got = av_canvas_at(&c, 0, 0)->code;
        assert_true(got >= 0x20 && got < 0x7F);
    }
    av_canvas_free(&c);
}

static void every_glyph_of_the_program_has_a_stand_in(void **state)
{
    (void)state;
    const char *drawn = "▁▂▃▄▅▆▇█▏▎▍▌▋▊▉▀▐▔▕░▒▓─│┌┐└┘├┤┬┴┼╵╷╴╶╌┊┆→↓←↑·√×÷…‹›ασπΣ∞±≤≥≈²³ᵀ–—−▸◂◇●▲◐✓✗";
    for (uint32_t code; (code = av_utf8_next(&drawn)) != 0;) {
        assert_int_not_equal(av_glyph_ascii(code), '?');
        assert_int_equal(av_utf8_width(code), 1);
    }
    assert_int_equal(av_glyph_ascii('~'), '~');
    assert_int_equal(av_glyph_ascii(0x2588), '#');
    assert_int_equal(av_glyph_ascii(0x6F22), '?');
}

/* Theory's dots and the marks of gauges are told from the tops of bars, and the
 * body of shaded bars from the least heat. */
static void marks_stand_out_in_ascii(void **state)
{
    (void)state;
    static const uint32_t marks[] = { 0x2022, 0x25C7, 0x25B3, 0x25CF, 0x2502 };
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        for (size_t j = 0; j < i; j++) {
            assert_int_not_equal(av_glyph_ascii(marks[i]), av_glyph_ascii(marks[j]));
        }
    }
    for (uint32_t n = 1; n <= 8; n++) {
        assert_int_not_equal(av_glyph_ascii(marks[0]), av_glyph_ascii(0x2580 + n));
        assert_int_not_equal(av_glyph_ascii(marks[1]), av_glyph_ascii(0x2580 + n));
    }
    assert_int_not_equal(av_glyph_ascii(0x2591), '.');
}

static void eighths_grow_in_ascii_too(void **state)
{
    (void)state;
    /* Lower blocks and left blocks of the same size look the same, the
     * thinnest left one apart: it is a line. */
    for (uint32_t n = 2; n <= 7; n++) {
        assert_int_equal(av_glyph_ascii(0x2580 + n), av_glyph_ascii(0x2590 - n));
        for (uint32_t m = 1; m < n; m++) {
            assert_int_not_equal(av_glyph_ascii(0x2580 + n), av_glyph_ascii(0x2580 + m));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resize_keeps_the_old_grid_on_failure),
        cmocka_unit_test(nothing_is_drawn_outside_canvas_or_clip),
        cmocka_unit_test(clip_stays_within_the_canvas),
        cmocka_unit_test(text_is_clipped_by_code_points),
        cmocka_unit_test(text_ends_at_the_right),
        cmocka_unit_test(long_formatted_text_does_not_overrun),
        cmocka_unit_test(what_takes_no_cell_is_replaced_or_left_out),
        cmocka_unit_test(wide_characters_take_two_cells),
        cmocka_unit_test(wide_characters_are_clipped_whole),
        cmocka_unit_test(half_a_wide_character_is_none),
        cmocka_unit_test(wide_characters_are_marked_whole),
        cmocka_unit_test(a_cell_drawn_again_is_new),
        cmocka_unit_test(heat_glyphs_grow_with_the_level),
        cmocka_unit_test(ascii_canvas_holds_ascii_alone),
        cmocka_unit_test(every_glyph_of_the_program_has_a_stand_in),
        cmocka_unit_test(marks_stand_out_in_ascii),
        cmocka_unit_test(eighths_grow_in_ascii_too),
    };
    return cmocka_run_group_tests_name("canvas", tests, NULL, NULL);
}
