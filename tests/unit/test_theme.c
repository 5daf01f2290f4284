/* test_theme.c - themes: the text form, styles of cells. */
#include "builtin_theme.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

static bool same_style(struct av_style a, struct av_style b)
{
    return a.fg == b.fg && a.bg == b.bg && a.fg16 == b.fg16 && a.bg16 == b.bg16 && a.bold == b.bold &&
           a.underline == b.underline && a.reverse == b.reverse;
}

/* ---- the built-in themes ------------------------------------------------- */

static void names_are_the_promised_ones(void **state)
{
    (void)state;
    static const char *const names[] = { "dark", "light", "high-contrast", "mono", "redgreen-safe", "blueyellow-safe" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct av_theme t = builtin(names[i]);
        assert_string_equal(t.name, names[i]);
        assert_int_equal(t.light, strcmp(names[i], "light") == 0);
    }
    struct av_theme t, dark = builtin("dark");
    memset(&t, 0xA5, sizeof t);
    av_theme_default(&t);
    assert_memory_equal(&t, &dark, sizeof t);
    assert_null(av_theme_builtin_text("no-such-theme"));
}

/* ---- the text form ------------------------------------------------------- */

static void values_arrive(void **state)
{
    (void)state;
    struct av_theme t;
    const char *text = "# a comment\r\n"
                       "\n"
                       "ground=231/15# paper\n"
                       "  text =  236/0\t\r\n"
                       "title = 117/14 bold underline\n"
                       "warn = 214/11 on 235/0 reverse\n"
                       "select = - on -\n"
                       "axis = 7\n"
                       "ramp = 0 1 2 3 4 5 6 7 8 9 254 255\n"
                       "ramp16 = 0 1 2 3 4 5 6 7 8 9 14 15";
    assert_int_equal(av_theme_parse(&t, "mine", text, "mine.theme", NULL), AV_OK);
    assert_string_equal(t.name, "mine");
    assert_true(t.light);
    static const struct {
        enum av_role role;
        struct av_style style;
    } expected[] = {
        { AV_ROLE_TEXT, { 236, 231, 0, 15, false, false, false } },
        { AV_ROLE_TITLE, { 117, 231, 14, 15, true, true, false } },
        { AV_ROLE_WARN, { 214, 235, 11, 0, false, false, true } },
        { AV_ROLE_SELECT, { -1, -1, -1, -1, false, false, false } },
        { AV_ROLE_AXIS, { 7, 231, 7, 15, false, false, false } },
        { AV_ROLE_BAD, { 236, 231, 0, 15, false, false, false } }, /* left out: as text */
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(same_style(t.roles[expected[i].role], expected[i].style));
    }
    assert_int_equal(t.ground.fg, 236);
    assert_int_equal(t.ground.bg16, 15);
    assert_int_equal(t.ramp[11], 255);
    assert_int_equal(t.ramp16[10], 14);
}

static void an_empty_theme_is_the_terminal_itself(void **state)
{
    (void)state;
    struct av_theme t;
    assert_int_equal(av_theme_parse(&t, "empty", "", "empty", NULL), AV_OK);
    const struct av_style own = { -1, -1, -1, -1, false, false, false };
    for (int r = 0; r < AV_ROLE_COUNT; r++) {
        assert_true(same_style(t.roles[r], own));
    }
    assert_int_equal(t.ramp[5], AV_COLOR_DEFAULT);
    assert_false(t.light);
}

static void broken_themes_name_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } broken[] = {
        { "\n\nwhat = 1\n", "x:3: 'what' is no role" },
        { "text = 1\nTitle = 2\n", "x:2: 'Title' is no role" },
        { "= 3", "x:1: '' is no role" },
        { "text", "x:1: a line should be: name = value" },
        { "text =", "x:1: a colour is missing" },
        { "text = /3", "x:1: a colour is missing" },
        { "text = bold", "x:1: 'bold' is no colour (0 to 255, or -)" },
        { "text = 256/1", "x:1: '256' is no colour (0 to 255, or -)" },
        { "text = -2/1", "x:1: '-2' is no colour (0 to 255, or -)" },
        { "text = 99999999999999999999/1", "x:1: '99999999999999999999' is no colour (0 to 255, or -)" },
        { "text = 200", "x:1: '200' needs a colour of 0 to 15 (or -) behind a slash" },
        { "text = 200/16", "x:1: '200/16' needs a colour of 0 to 15 (or -) behind a slash" },
        { "text = 200/", "x:1: '200/' needs a colour of 0 to 15 (or -) behind a slash" },
        { "text = 1 on", "x:1: a colour is missing" },
        { "text = 1 blink", "x:1: 'blink' is none of: on bold underline reverse" },
        { "text = 1\n#\ntext = 2", "x:3: 'text' was given in line 1 already" },
        { "ground = 1 bold", "x:1: 'bold' behind the colour of ground" },
        { "ramp = 1 2 3", "x:1: 3 colours where a ramp has 12" },
        { "ramp = 1 2 3 4 5 6 7 8 9 10 11 12 13", "x:1: 13 colours where a ramp has 12" },
        { "ramp = 1 2 3 4 5 6 7 8 9 10 11 x", "x:1: 'x' is no colour (0 to 255, or -)" },
        { "ramp16 = 1 2 3 4 5 6 7 8 9 10 11 16", "x:1: '16' is no colour (0 to 15, or -)" },
        { "ramp = 1 2 3 4 5 6 7 8 9 10 11 -", "x:1: a ramp has colours or - but not both" },
        { "\n\033[31m = 2", "x:2: a control character: this is no theme" },
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct av_theme t, before;
        memset(&t, 0x5A, sizeof t);
        before = t;
        struct av_error e = { "" };
        assert_int_equal(av_theme_parse(&t, "x", broken[i].text, "x", &e), AV_FAILED);
        assert_string_equal(e.text, broken[i].message);
        assert_memory_equal(&t, &before, sizeof t);
    }
}

/* Anything is either a theme with colours in range or one line of message. */
static void check_any(const char *text)
{
    struct av_theme t;
    struct av_error e = { "" };
    if (av_theme_parse(&t, "any", text, "any", &e) != AV_OK) {
        assert_memory_equal(e.text, "any:", 4);
        assert_null(strchr(e.text, '\n'));
        return;
    }
    for (int r = 0; r < AV_ROLE_COUNT; r++) {
        assert_in_range(t.roles[r].fg + 1, 0, 256);
        assert_in_range(t.roles[r].bg + 1, 0, 256);
        assert_in_range(t.roles[r].fg16 + 1, 0, 16);
        assert_in_range(t.roles[r].bg16 + 1, 0, 16);
    }
}

static void check_prefixes(const struct av_theme *t)
{
    const char *text = av_theme_builtin_text(t->name);
    size_t len = strlen(text);
    for (size_t n = 0; n <= len; n++) {
        char *part = malloc(n + 1); /* exactly, so that a sanitizer sees the end */
        assert_non_null(part);
        memcpy(part, text, n);
        part[n] = '\0';
        check_any(part);
        free(part);
    }
}

static void every_prefix_parses_or_fails_cleanly(void **state)
{
    (void)state;
    for_each_builtin(check_prefixes);
}

static void mutations_parse_or_fail_cleanly(void **state)
{
    (void)state;
    static const char pieces[] = " \t\r\n#=/-0123456789onbdx\x01\x7F\xC3";
    const char *text = av_theme_builtin_text("dark");
    size_t len = strlen(text);
    uint32_t x = 12345;
    for (int round = 0; round < 3000; round++) {
        char *copy = malloc(len + 1);
        assert_non_null(copy);
        memcpy(copy, text, len + 1);
        for (int i = 0; i <= round % 4; i++) {
            x = x * 1664525U + 1013904223U;
            copy[(x >> 8) % len] = pieces[(x >> 4) % (sizeof pieces - 1)];
        }
        check_any(copy);
        free(copy);
    }
}

/* ---- styles -------------------------------------------------------------- */

/* Place of a colour in the ramp. */
static double place(const struct av_theme *t, int color)
{
    int i = 0;
    while (t->ramp[i] != color) {
        i++;
        assert_in_range(i, 0, AV_HEAT_LEVELS - 1);
    }
    return i;
}

static void heat_is_true_to_its_level(void **state)
{
    (void)state;
    struct av_theme t = builtin("dark");
    struct av_canvas c = { .ascii = false };
    assert_int_equal(av_canvas_resize(&c, AV_HEAT_LEVELS, 1, NULL), AV_OK);
    /* Part of a cell that a glyph covers, as fonts draw it. */
    static const struct {
        uint32_t code;
        double part;
    } covers[] = { { ' ', 0 }, { 0x2591, 0.25 }, { 0x2592, 0.5 }, { 0x2593, 0.75 }, { 0x2588, 1 } };
    double before = -1;
    for (int level = 0; level < AV_HEAT_LEVELS; level++) {
        av_canvas_heat(&c, level, 0, level);
        const struct av_cell *cell = av_canvas_at(&c, level, 0);
        struct av_style s = av_theme_style(&t, cell);
        size_t i = 0;
        while (covers[i].code != cell->code) {
            i++;
        }
        double shown = covers[i].part * place(&t, s.fg) + (1 - covers[i].part) * place(&t, s.bg);
        /* Half of the cell or more has the level's own colour, and what is
         * seen from afar still rises. */
        assert_int_equal(covers[i].part <= 0.5 ? s.bg : s.fg, t.ramp[level]);
        assert_true(shown > before);
        before = shown;
        if (level < AV_HEAT_LEVELS - 1) {
            assert_int_not_equal(s.fg, s.bg);
        }
    }
    av_canvas_free(&c);
}

static void marks_are_seen(void **state)
{
    (void)state;
    struct av_theme dark = builtin("dark"), mono = builtin("mono");
    struct av_cell cell = { .code = 'x', .role = AV_ROLE_TEXT, .mark = true };
    assert_true(av_theme_style(&dark, &cell).reverse);
    assert_true(av_theme_style(&mono, &cell).reverse);
    cell.role = AV_ROLE_HEAT;
    assert_int_equal(av_theme_style(&dark, &cell).bg, dark.roles[AV_ROLE_SELECT].bg);
    assert_true(av_theme_style(&mono, &cell).reverse);
    /* Without colours the glyph stays what it is, and the mark too. */
    struct av_style s = av_style_reduce(av_theme_style(&dark, &cell), AV_DEPTH_NONE);
    assert_true(s.reverse);
    assert_int_equal(s.fg, AV_COLOR_DEFAULT);
}

static void an_odd_cell_has_a_style(void **state)
{
    (void)state;
    struct av_theme dark = builtin("dark");
    struct av_cell cell = { .code = 'x', .role = 255, .level = 255 };
    assert_true(same_style(av_theme_style(&dark, &cell), dark.roles[AV_ROLE_TEXT]));
    cell.role = AV_ROLE_HEAT;
    assert_int_equal(av_theme_style(&dark, &cell).bg, dark.ramp[AV_HEAT_LEVELS - 1]);
}

static void fewer_colours_keep_the_look(void **state)
{
    (void)state;
    const struct av_style s = { 117, 234, 14, 8, false, true, false };
    const struct av_style turned = { 117, 234, 14, 8, false, false, true };
    const struct av_style own = { -1, 234, -1, 0, false, false, true };
    static const struct {
        enum av_depth depth;
        struct av_style plain, turned, own;
    } expected[] = {
        { AV_DEPTH_NONE,
          { -1, -1, -1, -1, false, true, false },
          { -1, -1, -1, -1, false, false, true },
          { -1, -1, -1, -1, false, false, true } },
        { AV_DEPTH_8,
          { 6, 0, 6, 0, true, true, false },
          { 0, 6, 0, 6, true, false, false },
          { -1, 0, -1, 0, false, false, true } },
        { AV_DEPTH_16,
          { 14, 8, 14, 8, false, true, false },
          { 8, 14, 8, 14, false, false, false },
          { -1, 0, -1, 0, false, false, true } },
        { AV_DEPTH_256,
          { 117, 234, 117, 234, false, true, false },
          { 234, 117, 234, 117, false, false, false },
          { -1, 234, -1, 234, false, false, true } },
        { AV_DEPTH_TRUE,
          { 117, 234, 117, 234, false, true, false },
          { 234, 117, 234, 117, false, false, false },
          { -1, 234, -1, 234, false, false, true } },
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_true(same_style(av_style_reduce(s, expected[i].depth), expected[i].plain));
        assert_true(same_style(av_style_reduce(turned, expected[i].depth), expected[i].turned));
        assert_true(same_style(av_style_reduce(own, expected[i].depth), expected[i].own));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_the_promised_ones),
        cmocka_unit_test(values_arrive),
        cmocka_unit_test(an_empty_theme_is_the_terminal_itself),
        cmocka_unit_test(broken_themes_name_the_line),
        cmocka_unit_test(every_prefix_parses_or_fails_cleanly),
        cmocka_unit_test(mutations_parse_or_fail_cleanly),
        cmocka_unit_test(heat_is_true_to_its_level),
        cmocka_unit_test(marks_are_seen),
        cmocka_unit_test(an_odd_cell_has_a_style),
        cmocka_unit_test(fewer_colours_keep_the_look),
    };
    return cmocka_run_group_tests_name("theme", tests, NULL, NULL);
}
