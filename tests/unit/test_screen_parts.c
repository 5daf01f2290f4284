/* test_screen_parts.c - what the live terminal is made of, without curses: the
 * colour pairs of a theme, characters, and the shadow that finds what has changed. */
#include "../../src/out/charset.h"
#include "../../src/out/palette.h"
#include "../../src/out/shadow.h"
#include "attnviz/theme_files.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- Colour pairs --------------------------------------------------------------- */

static void each_cell(const struct av_theme *t, enum av_depth depth, const struct av_palette *p)
{
    static const uint32_t glyphs[] = { ' ', 'x', 0x2591, 0x2592, 0x2593, 0x2588, '.', '-', '%', '@' };
    for (int role = 0; role < AV_ROLE_COUNT; role++) {
        for (int level = 0; level < AV_HEAT_LEVELS; level++) {
            for (size_t g = 0; g < sizeof glyphs / sizeof glyphs[0]; g++) {
                for (int mark = 0; mark < 2; mark++) {
                    struct av_cell cell = { glyphs[g], (uint8_t)role, (uint8_t)level, mark != 0 };
                    struct av_style s = av_style_reduce(av_theme_style(t, &cell), depth);
                    bool own = s.fg == AV_COLOR_DEFAULT && s.bg == AV_COLOR_DEFAULT;
                    int number = av_palette_pair(p, &s);
                    assert_true(own ? number == 0 : number > 0);
                }
            }
        }
    }
}

/* Every cell of every theme has its pair, within the 63 of eight colours. */
static void themes_fit_their_pairs(void **state)
{
    (void)state;
    static const enum av_depth depths[] = { AV_DEPTH_8, AV_DEPTH_16, AV_DEPTH_256, AV_DEPTH_TRUE };
    struct av_theme_entry entries[AV_THEME_LIST_MAX];
    size_t count = av_theme_list(entries, AV_THEME_LIST_MAX);
    for (size_t i = 0; i < count; i++) {
        struct av_theme t;
        struct av_error e;
        assert_int_equal(av_theme_load(&t, entries[i].name, &e), AV_OK);
        for (size_t d = 0; d < sizeof depths / sizeof depths[0]; d++) {
            struct av_palette p;
            av_palette_make(&p, &t, depths[d], 63);
            each_cell(&t, depths[d], &p);
        }
    }
}

static void a_short_table_is_kept_to(void **state)
{
    (void)state;
    struct av_theme t;
    struct av_palette p;
    av_theme_default(&t);
    av_palette_make(&p, &t, AV_DEPTH_256, 5);
    assert_int_equal(p.count, 5);
    av_palette_make(&p, &t, AV_DEPTH_256, 0);
    assert_int_equal(p.count, 0);
    av_palette_make(&p, &t, AV_DEPTH_256, -1); /* a terminal without pairs */
    assert_int_equal(p.count, 0);
}

/* ---- Characters --------------------------------------------------------------------- */

/* In the locale C, where the tests run, every character beyond ASCII is lacking. */
static void characters_that_the_locale_lacks_have_stand_ins(void **state)
{
    (void)state;
    const char *locale = setlocale(LC_CTYPE, NULL);
    assert_string_equal(locale, "C");
    static const uint32_t codes[] = { 'a', 0x2588, 0x529B, 0xFF21, AV_GLYPH_REST, AV_GLYPH_UNKNOWN };
    static const uint32_t stand_ins[] = { 'a', '#', '?', 'A', ' ', '?' };
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        assert_int_equal(av_charset_character(false, codes[i]), stand_ins[i]);
        assert_int_equal(av_charset_character(true, codes[i]), stand_ins[i]);
    }
    assert_false(av_charset_utf8(false));
    if (!av_charset_utf8(true)) {
        print_message("there is no locale of UTF-8 on this machine\n");
        return;
    }
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        bool rest = codes[i] == AV_GLYPH_REST;
        assert_int_equal(av_charset_character(true, codes[i]), rest ? ' ' : codes[i]);
    }
    setlocale(LC_CTYPE, "C");
}

/* ---- The shadow -------------------------------------------------------------------- */

static int cells_to_send(struct av_shadow *s, const struct av_canvas *c)
{
    int sent = 0;
    for (int y = 0; y < c->rows; y++) {
        int x = 0;
        for (int n = 0; (n = av_shadow_run(s, c, &x, y)) > 0; x += n) {
            sent += n;
        }
    }
    return sent;
}

static void only_changes_are_sent(void **state)
{
    (void)state;
    struct av_canvas c = { .cells = NULL };
    struct av_shadow s = { .cells = NULL };
    assert_int_equal(av_canvas_resize(&c, 20, 5, NULL), AV_OK);
    assert_int_equal(av_shadow_resize(&s, 20, 5, NULL), AV_OK);
    assert_int_equal(cells_to_send(&s, &c), 100); /* blanks are cells */
    assert_int_equal(cells_to_send(&s, &c), 0);
    av_canvas_text(&c, 3, 2, AV_ROLE_TEXT, "ab");
    av_canvas_put(&c, 19, 2, 'z', AV_ROLE_TEXT);
    int x = 0;
    assert_int_equal(av_shadow_run(&s, &c, &x, 2), 2);
    assert_int_equal(x, 3);
    x += 2;
    assert_int_equal(av_shadow_run(&s, &c, &x, 2), 1);
    assert_int_equal(x, 19);
    x++;
    assert_int_equal(av_shadow_run(&s, &c, &x, 2), 0);
    av_shadow_forget_row(&s, 2);
    av_shadow_forget_row(&s, 5); /* there is none */
    assert_int_equal(cells_to_send(&s, &c), 20);
    /* The same glyph in another colour, at another level, marked. */
    av_canvas_put(&c, 3, 2, 'a', AV_ROLE_BAD);
    assert_int_equal(cells_to_send(&s, &c), 1);
    av_canvas_heat(&c, 0, 0, 0);
    assert_int_equal(cells_to_send(&s, &c), 1);
    av_canvas_mark(&c, (struct av_rect){ 0, 0, 2, 1 });
    assert_int_equal(cells_to_send(&s, &c), 2);
    av_shadow_forget(&s);
    assert_int_equal(cells_to_send(&s, &c), 100);
    /* Wide characters whole, for one another, over others and away again. */
    static const char *const texts[] = { "a注意b", "a力意b", "ab力cd", "a力意b", "abcdef", "a注b意" };
    static const int sent[] = { 6, 2, 5, 5, 5, 5 };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        av_canvas_text(&c, 4, 4, AV_ROLE_TEXT, texts[i]);
        assert_int_equal(cells_to_send(&s, &c), sent[i]);
    }
    av_canvas_free(&c);
    av_shadow_free(&s);
}

/* A canvas of another size than the screen: what both have is sent. */
static void sizes_may_differ(void **state)
{
    (void)state;
    struct av_canvas c = { .cells = NULL };
    struct av_shadow s = { .cells = NULL };
    assert_int_equal(cells_to_send(&s, &c), 0);
    assert_int_equal(av_canvas_resize(&c, 20, 5, NULL), AV_OK);
    assert_int_equal(cells_to_send(&s, &c), 0); /* without memory there is no screen */
    assert_int_equal(av_shadow_resize(&s, 7, 9, NULL), AV_OK);
    assert_int_equal(cells_to_send(&s, &c), 35);
    assert_int_equal(av_shadow_resize(&s, 30, 2, NULL), AV_OK);
    assert_int_equal(cells_to_send(&s, &c), 40);
    av_canvas_free(&c);
    av_shadow_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(themes_fit_their_pairs),
        cmocka_unit_test(a_short_table_is_kept_to),
        cmocka_unit_test(characters_that_the_locale_lacks_have_stand_ins),
        cmocka_unit_test(only_changes_are_sent),
        cmocka_unit_test(sizes_may_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
