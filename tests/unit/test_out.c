/* test_out.c - a canvas as text and ANSI: read back, it is the canvas. */
#include "attnviz/out.h"
#include "attnviz/utf8.h"
#include "builtin_theme.h"
#include "sample_canvas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

/* ---- text ---------------------------------------------------------------- */

static void text_is_rows_without_trailing_blanks(void **state)
{
    (void)state;
    struct av_canvas c = { .ascii = false };
    struct av_str out = AV_STR_INIT;
    assert_int_equal(av_canvas_resize(&c, 6, 3, NULL), AV_OK);
    av_canvas_text(&c, 1, 0, AV_ROLE_TEXT, "√dk");
    av_canvas_text(&c, 0, 2, AV_ROLE_TEXT, "123456");
    av_out_text(&out, &c);
    assert_string_equal(out.text, " √dk\n\n123456\n");
    av_str_free(&out);
    av_canvas_free(&c);
}

/* ---- ANSI: a small terminal ---------------------------------------------- */

struct terminal {
    int fg, bg; /* -1, an index, or 0x1000000 + RGB */
    bool bold, underline, reverse;
};

static const struct terminal fresh = { .fg = -1, .bg = -1 };

static int read_extended(const int *p, int *used)
{
    *used = p[1] == 5 ? 3 : 5;
    return p[1] == 5 ? p[2] : 0x1000000 + (p[2] << 16) + (p[3] << 8) + p[4];
}

static void apply(struct terminal *t, const int *p, int count)
{
    for (int i = 0; i < count;) {
        int used = 1;
        if (p[i] == 0) {
            *t = fresh;
        } else if (p[i] == 1) {
            t->bold = true;
        } else if (p[i] == 4) {
            t->underline = true;
        } else if (p[i] == 7) {
            t->reverse = true;
        } else if (p[i] == 38) {
            t->fg = read_extended(p + i, &used);
        } else if (p[i] == 48) {
            t->bg = read_extended(p + i, &used);
        } else if ((p[i] >= 30 && p[i] < 38) || p[i] == 39) {
            t->fg = p[i] == 39 ? -1 : p[i] - 30;
        } else if ((p[i] >= 40 && p[i] < 48) || p[i] == 49) {
            t->bg = p[i] == 49 ? -1 : p[i] - 40;
        } else if (p[i] >= 90 && p[i] < 98) {
            t->fg = p[i] - 90 + 8;
        } else if (p[i] >= 100 && p[i] < 108) {
            t->bg = p[i] - 100 + 8;
        } else {
            fail_msg("SGR parameter %d", p[i]);
        }
        i += used;
    }
}

/* Takes an SGR sequence off *s; false when there is none. It must change
 * something, or the bytes were for nothing. */
static bool take_sgr(const char **s, struct terminal *t)
{
    if (**s != '\033') {
        return false;
    }
    assert_int_equal((*s)[1], '[');
    *s += 1;
    int p[32] = { 0 }, count = 0;
    do {
        char *end;
        assert_in_range(count, 0, 19);
        p[count++] = (int)strtol(*s + 1, &end, 10);
        *s = end;
    } while (**s == ';');
    assert_int_equal(**s, 'm');
    *s += 1;
    struct terminal before = *t;
    apply(t, p, count);
    assert_true(t->fg != before.fg || t->bg != before.bg || t->bold != before.bold ||
                t->underline != before.underline || t->reverse != before.reverse);
    return true;
}

static int expected_color(int index, enum av_depth depth)
{
    return depth == AV_DEPTH_TRUE && index >= 0 ? 0x1000000 + (int)av_color_rgb(index) : index;
}

/* Compares what is seen of a cell: of a blank only its background. */
static void check_cell(const struct terminal *t, uint32_t code, const struct av_cell *cell,
                       const struct av_theme *theme_, enum av_depth depth)
{
    struct av_style s = av_style_reduce(av_theme_style(theme_, cell), depth);
    assert_int_equal(code, cell->code);
    assert_int_equal(t->bg, expected_color(s.bg, depth));
    assert_int_equal(t->reverse, s.reverse);
    assert_int_equal(t->underline, s.underline);
    if (code != ' ' || s.reverse || s.underline) {
        assert_int_equal(t->fg, expected_color(s.fg, depth));
        assert_int_equal(t->bold, s.bold);
    }
}

static void check_ansi(const struct av_canvas *c, const struct av_theme *t, enum av_depth depth)
{
    struct av_str out = AV_STR_INIT;
    av_out_ansi(&out, c, t, depth);
    const char *s = out.text;
    struct terminal now = fresh;
    const struct av_cell blank = { .code = ' ', .role = AV_ROLE_TEXT };
    for (int y = 0; y < c->rows; y++) {
        for (int x = 0; x < c->cols; x++) {
            const struct av_cell *cell = av_canvas_at(c, x, y);
            if (cell->code == AV_GLYPH_REST) { /* the terminal is there by itself */
                continue;
            }
            if (*s == '\n') {
                check_cell(&fresh, ' ', cell, t, depth);
                continue;
            }
            bool changed = take_sgr(&s, &now);
            if (*s == '\n') { /* back to the default before the end of the line */
                assert_true(changed);
                check_cell(&fresh, ' ', cell, t, depth);
                continue;
            }
            check_cell(&now, av_utf8_next(&s), cell, t, depth);
        }
        take_sgr(&s, &now);
        check_cell(&now, ' ', &blank, &(struct av_theme){ .roles[AV_ROLE_TEXT] = { -1, -1, -1, -1, 0, 0, 0 } }, depth);
        assert_int_equal(now.fg, -1);
        assert_false(now.bold);
        assert_int_equal(*s++, '\n');
    }
    assert_int_equal(*s, '\0');
    av_str_free(&out);
}

static void ansi_read_back_is_the_canvas(void **state)
{
    (void)state;
    static const enum av_depth depths[] = { AV_DEPTH_NONE, AV_DEPTH_8, AV_DEPTH_16, AV_DEPTH_256, AV_DEPTH_TRUE };
    const char *name;
    for (size_t i = 0; (name = av_theme_builtin_name(i)) != NULL; i++) {
        struct av_theme t = builtin(name);
        for (size_t d = 0; d < sizeof depths / sizeof *depths; d++) {
            for (int ascii = 0; ascii < 2; ascii++) {
                struct av_canvas c = sample_canvas(ascii != 0);
                check_ansi(&c, &t, depths[d]);
                av_canvas_free(&c);
            }
        }
    }
}

static void ansi_changes_style_only_where_it_changes(void **state)
{
    (void)state;
    struct av_theme dark = builtin("dark"), mono = builtin("mono");
    struct av_canvas c = { .ascii = false };
    assert_int_equal(av_canvas_resize(&c, 8, 1, NULL), AV_OK);
    av_canvas_text(&c, 0, 0, AV_ROLE_TITLE, "ab c");
    av_canvas_text(&c, 4, 0, AV_ROLE_BAR, "d");
    static const struct {
        enum av_depth depth;
        const char *dark, *mono;
    } expected[] = {
        { AV_DEPTH_NONE, "\033[1mab c\033[0md\n", "\033[1mab c\033[0md\n" },
        { AV_DEPTH_8, "\033[1;36;40mab c\033[0;36;40md   \033[0m\n", "\033[1mab c\033[0md\n" },
        { AV_DEPTH_16, "\033[1;96;40mab c\033[0;36;40md   \033[0m\n", "\033[1mab c\033[0md\n" },
        { AV_DEPTH_256, "\033[1;38;5;117;48;5;234mab c\033[0;38;5;110;48;5;234md   \033[0m\n",
          "\033[1mab c\033[0md\n" },
        { AV_DEPTH_TRUE,
          "\033[1;38;2;135;215;255;48;2;28;28;28mab c\033[0;38;2;135;175;215;48;2;28;28;28md   \033[0m\n",
          "\033[1mab c\033[0md\n" },
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct av_str out = AV_STR_INIT;
        av_out_ansi(&out, &c, &dark, expected[i].depth);
        assert_string_equal(out.text, expected[i].dark);
        av_str_clear(&out);
        av_out_ansi(&out, &c, &mono, expected[i].depth);
        assert_string_equal(out.text, expected[i].mono);
        av_str_free(&out);
    }
    av_canvas_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_rows_without_trailing_blanks),
        cmocka_unit_test(ansi_read_back_is_the_canvas),
        cmocka_unit_test(ansi_changes_style_only_where_it_changes),
    };
    return cmocka_run_group_tests_name("out", tests, NULL, NULL);
}
