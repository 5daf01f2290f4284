/* test_svg.c - a canvas as a picture: sound XML that holds every character. */
#include "attnviz/out.h"
#include "attnviz/utf8.h"
#include "builtin_theme.h"
#include "sample_canvas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct element {
    char name[16];
    const char *attributes; /* behind the name, up to the '>' */
    size_t length;
    bool opens; /* content and an end tag follow */
};

/* Value of an attribute, at most size - 1 bytes; "" when it is not there. */
static void attribute(const struct element *e, const char *name, char *out, size_t size)
{
    char start[32];
    snprintf(start, sizeof start, " %s=\"", name);
    const char *at = strstr(e->attributes, start);
    out[0] = '\0';
    if (at != NULL && at < e->attributes + e->length) {
        at += strlen(start);
        size_t len = strcspn(at, "\"");
        assert_true(len < size);
        memcpy(out, at, len);
        out[len] = '\0';
    }
}

static int number(const struct element *e, const char *name)
{
    char text[32];
    attribute(e, name, text, sizeof text);
    char *end;
    long v = strtol(text, &end, 10);
    assert_true(end != text && *end == '\0');
    return (int)v;
}

/* Reads ` name="value"`s up to '>' or '/>', strictly. */
static const char *check_attributes(const char *s)
{
    while (*s == ' ') {
        s++;
        assert_true(isalpha((unsigned char)*s));
        s += strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-");
        assert_memory_equal(s, "=\"", 2);
        s += 2;
        s += strcspn(s, "\"<&");
        assert_int_equal(*s++, '"');
    }
    return s;
}

static const char *read_tag(const char *s, struct element *e)
{
    assert_int_equal(*s, '<');
    size_t len = strcspn(++s, " />");
    assert_in_range(len, 1, sizeof e->name - 1);
    memcpy(e->name, s, len);
    e->name[len] = '\0';
    s += len;
    e->attributes = s;
    s = check_attributes(s);
    e->length = (size_t)(s - e->attributes);
    e->opens = *s != '/';
    s += !e->opens;
    assert_int_equal(*s, '>');
    return s + 1;
}

/* One character of content, entities resolved. */
static uint32_t read_character(const char **s)
{
    static const struct {
        const char *text;
        uint32_t code;
    } entities[] = { { "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' } };
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        size_t len = strlen(entities[i].text);
        if (strncmp(*s, entities[i].text, len) == 0) {
            *s += len;
            return entities[i].code;
        }
    }
    uint32_t code = av_utf8_next(s);
    assert_true(code != '&' && code != '<' && code != '>');
    assert_true(code == '\n' || code >= 0x20);
    return code;
}

struct seen {
    uint32_t code[SAMPLE_ROWS][SAMPLE_COLS];
    char title[64];
    int ends; /* of elements */
};

/* The characters of a <text>, each at its own x. */
static const char *read_text(const char *s, const struct element *e, struct seen *seen)
{
    char xs[512];
    attribute(e, "x", xs, sizeof xs);
    int row = number(e, "y") / 16;
    assert_in_range(row, 0, SAMPLE_ROWS - 1);
    uint32_t before = ' ';
    char *at = xs;
    while (*s != '<') {
        uint32_t code = read_character(&s);
        assert_false(code == ' ' && before == ' '); /* XML would make them one */
        before = code;
        long x = strtol(at, &at, 10);
        assert_int_equal(x % 8, av_utf8_width(code) == 2); /* in the middle of its two cells */
        assert_in_range(x / 8, 0, SAMPLE_COLS - 1);
        seen->code[row][x / 8] = code;
    }
    assert_int_not_equal(before, ' ');
    assert_int_equal(*at, '\0'); /* as many places as characters */
    return s;
}

static void check_rect(const struct element *e, int cols, int rows)
{
    int x = number(e, "x"), y = number(e, "y"), w = number(e, "width"), h = number(e, "height");
    char fill[16];
    attribute(e, "fill", fill, sizeof fill);
    assert_int_equal(strlen(fill), 7);
    assert_true(w > 0 && h > 0 && x >= -8 && y >= -8);
    assert_true(x + w <= cols * 8 + 8 && y + h <= rows * 16 + 8);
}

static void read_svg(const char *s, struct seen *seen, int cols, int rows)
{
    char open[8][16];
    int depth = 0;
    do {
        if (s[0] == '<' && s[1] == '/') {
            assert_true(depth > 0);
            size_t len = strlen(open[--depth]);
            assert_memory_equal(s + 2, open[depth], len);
            assert_int_equal(s[2 + len], '>');
            s += len + 3;
            seen->ends++;
        } else if (*s == '<') {
            struct element e;
            s = read_tag(s, &e);
            if (e.opens) {
                assert_in_range(depth, 0, 7);
                memcpy(open[depth++], e.name, sizeof e.name);
            }
            if (strcmp(e.name, "text") == 0) {
                s = read_text(s, &e, seen);
            } else if (strcmp(e.name, "rect") == 0) {
                check_rect(&e, cols, rows);
            } else if (strcmp(e.name, "title") == 0) {
                size_t n = 0;
                while (*s != '<') {
                    n += av_utf8_put(seen->title + n, read_character(&s));
                    assert_in_range(n, 0, sizeof seen->title - 5);
                }
            }
        } else {
            assert_int_equal(*s++, '\n');
        }
    } while (depth > 0);
    assert_string_equal(s, "\n");
}

static bool drawn_as_shape(uint32_t code)
{
    return code == ' ' || code == AV_GLYPH_REST || (code >= 0x2500 && code < 0x25A0);
}

static void check_svg(const struct av_canvas *c, const struct av_theme *t)
{
    struct av_str out = AV_STR_INIT;
    av_out_svg(&out, c, t, "a <b> & \"c\" \x01√");
    assert_false(out.failed);
    struct seen seen = { .title = "" };
    read_svg(out.text, &seen, c->cols, c->rows);
    assert_string_equal(seen.title, "a <b> & \"c\"  √");
    for (int y = 0; y < c->rows; y++) {
        for (int x = 0; x < c->cols; x++) {
            uint32_t code = av_canvas_at(c, x, y)->code;
            uint32_t got = seen.code[y][x] != 0 ? seen.code[y][x] : ' ';
            assert_int_equal(got, drawn_as_shape(code) ? ' ' : code);
        }
    }
    assert_null(strstr(out.text, "href"));
    assert_null(strstr(out.text, "url("));
    assert_null(strstr(out.text, "<script"));
    assert_null(strstr(strstr(out.text, "http") + 1, "http")); /* the name space alone */
    av_str_free(&out);
}

static void svg_is_well_formed_and_has_every_character(void **state)
{
    (void)state;
    const char *name;
    for (size_t i = 0; (name = av_theme_builtin_name(i)) != NULL; i++) {
        struct av_theme t = builtin(name);
        for (int ascii = 0; ascii < 2; ascii++) {
            struct av_canvas c = sample_canvas(ascii != 0);
            check_svg(&c, &t);
            av_canvas_free(&c);
        }
    }
}

static int occurrences(const char *text, const char *part)
{
    int n = 0;
    while ((text = strstr(text, part)) != NULL) {
        text++;
        n++;
    }
    return n;
}

static void svg_joins_equal_neighbours(void **state)
{
    (void)state;
    struct av_theme t = builtin("dark");
    struct av_canvas c = { .ascii = false };
    assert_int_equal(av_canvas_resize(&c, 20, 2, NULL), AV_OK);
    av_canvas_text(&c, 2, 0, AV_ROLE_BAR, "████████");
    av_canvas_text(&c, 2, 1, AV_ROLE_AXIS, "────┬───");
    struct av_str out = AV_STR_INIT;
    av_out_svg(&out, &c, &t, "t");
    assert_int_equal(occurrences(out.text, "<rect"), 2); /* the paper and the bar */
    assert_non_null(strstr(out.text, "<rect x=\"16\" y=\"0\" width=\"64\" height=\"16\" fill=\"#87afd7\"/>"));
    assert_int_equal(occurrences(out.text, "<path"), 1);
    assert_int_equal(occurrences(out.text, "<text"), 0);
    av_str_free(&out);
    av_canvas_free(&c);
}

static void svg_blocks_cover_their_eighths(void **state)
{
    (void)state;
    struct av_theme t = builtin("dark");
    static const struct {
        const char *glyph, *geometry;
    } blocks[] = {
        { "▁", "x=\"8\" y=\"14\" width=\"8\" height=\"2\"" },  { "▅", "x=\"8\" y=\"6\" width=\"8\" height=\"10\"" },
        { "█", "x=\"8\" y=\"0\" width=\"8\" height=\"16\"" },  { "▏", "x=\"8\" y=\"0\" width=\"1\" height=\"16\"" },
        { "▊", "x=\"8\" y=\"0\" width=\"6\" height=\"16\"" },  { "▀", "x=\"8\" y=\"0\" width=\"8\" height=\"8\"" },
        { "▐", "x=\"12\" y=\"0\" width=\"4\" height=\"16\"" }, { "▕", "x=\"15\" y=\"0\" width=\"1\" height=\"16\"" },
        { "▔", "x=\"8\" y=\"0\" width=\"8\" height=\"2\"" },   { "▒", "x=\"8\" y=\"0\" width=\"8\" height=\"16\"" },
    };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        struct av_canvas c = { .ascii = false };
        struct av_str out = AV_STR_INIT;
        assert_int_equal(av_canvas_resize(&c, 3, 1, NULL), AV_OK);
        av_canvas_text(&c, 1, 0, AV_ROLE_BAR, blocks[i].glyph);
        av_out_svg(&out, &c, &t, "t");
        assert_non_null(strstr(out.text, blocks[i].geometry));
        av_str_free(&out);
        av_canvas_free(&c);
    }
}

static void svg_mixes_shades_into_the_cell(void **state)
{
    (void)state;
    struct av_theme t = builtin("mono"); /* black on white */
    struct av_canvas c = { .ascii = false };
    struct av_str out = AV_STR_INIT;
    assert_int_equal(av_canvas_resize(&c, 4, 1, NULL), AV_OK);
    av_canvas_text(&c, 0, 0, AV_ROLE_HEAT, "█▓▒░");
    av_out_svg(&out, &c, &t, "t");
    /* Each lighter than the one before, none the paper's white. */
    const char *at = strstr(out.text, "<g ");
    long before = -1;
    for (int i = 0; i < 4; i++) {
        at = strstr(at, "height=\"16\" fill=\"#");
        assert_non_null(at);
        at += strlen("height=\"16\" fill=\"#");
        long fill = strtol(at, NULL, 16);
        assert_true(fill > before && fill < 0xFFFFFF);
        before = fill;
    }
    av_str_free(&out);
    av_canvas_free(&c);
}

/* A bar of light shade is dots in its series' own colour on the ground. */
static void svg_dots_light_shade(void **state)
{
    (void)state;
    struct av_theme t = builtin("dark");
    struct av_canvas c = { .ascii = false };
    struct av_str out = AV_STR_INIT;
    assert_int_equal(av_canvas_resize(&c, 6, 1, NULL), AV_OK);
    av_canvas_text(&c, 1, 0, AV_ROLE_UNSCALED, "░░░");
    av_out_svg(&out, &c, &t, "t");
    char color[32];
    snprintf(color, sizeof color, "stroke=\"#%06x\"", (unsigned)av_color_rgb(t.roles[AV_ROLE_UNSCALED].fg));
    const char *path = strstr(out.text, "<path d=\"M8 2h24M10 6h22M8 10h24M10 14h22\"");
    assert_non_null(path);
    assert_non_null(strstr(path, color));
    assert_null(strstr(path + 1, "<path")); /* one for all three */
    av_str_free(&out);
    av_canvas_free(&c);
}

static void svg_of_a_full_screen_is_small(void **state)
{
    (void)state;
    struct av_theme t = builtin("dark");
    struct av_canvas c = { .ascii = false };
    struct av_str out = AV_STR_INIT;
    assert_int_equal(av_canvas_resize(&c, 100, 30, NULL), AV_OK);
    for (int y = 0; y < 30; y++) {
        for (int x = 0; x < 50; x++) {
            av_canvas_put(&c, x, y, 'a' + (uint32_t)(x % 26), (enum av_role)(x / 5 % AV_ROLE_HEAT));
            av_canvas_heat(&c, 50 + x, y, x * 7 % AV_HEAT_LEVELS);
        }
    }
    av_out_svg(&out, &c, &t, "t");
    assert_in_range(out.len, 1, 150000);
    av_str_free(&out);
    av_canvas_free(&c);
}

int main(void)
{
    setlocale(LC_ALL, "");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(svg_is_well_formed_and_has_every_character),
        cmocka_unit_test(svg_joins_equal_neighbours),
        cmocka_unit_test(svg_blocks_cover_their_eighths),
        cmocka_unit_test(svg_of_a_full_screen_is_small),
        cmocka_unit_test(svg_mixes_shades_into_the_cell),
        cmocka_unit_test(svg_dots_light_shade),
    };
    return cmocka_run_group_tests_name("svg", tests, NULL, NULL);
}
