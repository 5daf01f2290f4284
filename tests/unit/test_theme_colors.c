/* test_theme_colors.c - whether the built-in themes can be read by every eye. */
#include "builtin_theme.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

/* ---- colour science ------------------------------------------------------ */

struct rgb {
    double r, g, b; /* linear, 0 .. 1 */
};

struct lab {
    double l, a, b;
};

static double linear(unsigned byte)
{
    double v = byte / 255.0;
    return v <= 0.04045 ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4); /* IEC 61966-2-1 */
}

static struct rgb rgb_of(int index)
{
    unsigned v = av_color_rgb(index);
    return (struct rgb){ linear(v >> 16), linear(v >> 8 & 0xFF), linear(v & 0xFF) };
}

/* WCAG 2.1: relative luminance and contrast ratio. */
static double luminance(struct rgb c)
{
    return 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b;
}

static double contrast(int a, int b)
{
    double x = luminance(rgb_of(a)), y = luminance(rgb_of(b));
    return (fmax(x, y) + 0.05) / (fmin(x, y) + 0.05);
}

static double lab_curve(double t)
{
    const double edge = 6.0 / 29;
    return t > edge * edge * edge ? cbrt(t) : t / (3 * edge * edge) + 4.0 / 29;
}

/* CIE 1976 L*a*b*, D65. */
static struct lab lab_of(struct rgb c)
{
    double x = lab_curve((0.4124564 * c.r + 0.3575761 * c.g + 0.1804375 * c.b) / 0.95047);
    double y = lab_curve(0.2126729 * c.r + 0.7151522 * c.g + 0.0721750 * c.b);
    double z = lab_curve((0.0193339 * c.r + 0.1191920 * c.g + 0.9503041 * c.b) / 1.08883);
    return (struct lab){ 116 * y - 16, 500 * (x - y), 200 * (y - z) };
}

static double lightness(int index)
{
    return lab_of(rgb_of(index)).l;
}

/* Machado, Oliveira & Fernandes 2009, severity 1, on linear RGB. */
enum vision { NORMAL, PROTANOPIA, DEUTERANOPIA, TRITANOPIA, VISIONS };

static struct rgb seen(struct rgb c, enum vision v)
{
    static const double m[VISIONS][3][3] = {
        { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
        { { 0.152286, 1.052583, -0.204868 }, { 0.114503, 0.786281, 0.099216 }, { -0.003882, -0.048116, 1.051998 } },
        { { 0.367322, 0.860646, -0.227968 }, { 0.280085, 0.672501, 0.047413 }, { -0.011820, 0.042940, 0.968881 } },
        { { 1.255528, -0.076749, -0.178779 }, { -0.078411, 0.930809, 0.147602 }, { 0.004733, 0.691367, 0.303900 } },
    };
    double out[3];
    for (int i = 0; i < 3; i++) {
        out[i] = fmin(1, fmax(0, m[v][i][0] * c.r + m[v][i][1] * c.g + m[v][i][2] * c.b));
    }
    return (struct rgb){ out[0], out[1], out[2] };
}

/* CIE 1976 colour difference; 2.3 is just noticeable side by side. */
static double difference(int a, int b, enum vision v)
{
    struct lab x = lab_of(seen(rgb_of(a), v)), y = lab_of(seen(rgb_of(b), v));
    return sqrt((x.l - y.l) * (x.l - y.l) + (x.a - y.a) * (x.a - y.a) + (x.b - y.b) * (x.b - y.b));
}

/* Apart at a glance, in cells far from each other. */
static const double apart = 20;

static void colour_science_agrees_with_published_values(void **state)
{
    (void)state;
    assert_float_equal((float)contrast(16, 231), 21.0F, 1e-4F);
    struct lab red = lab_of(rgb_of(196)); /* 53.24 80.09 67.20 for sRGB red */
    assert_float_equal((float)red.l, 53.24F, 0.01F);
    assert_float_equal((float)red.a, 80.09F, 0.01F);
    assert_float_equal((float)red.b, 67.20F, 0.01F);
    struct lab white = lab_of(rgb_of(231));
    assert_float_equal((float)white.l, 100.0F, 0.001F);
    assert_float_equal((float)hypot(white.a, white.b), 0.0F, 0.01F);
}

static void palette_is_that_of_xterm(void **state)
{
    (void)state;
    static const struct {
        int index;
        uint32_t rgb;
    } known[] = { { 0, 0x000000 },   { 1, 0xCD0000 },   { 4, 0x0000EE },   { 7, 0xE5E5E5 },   { 8, 0x7F7F7F },
                  { 12, 0x5C5CFF },  { 15, 0xFFFFFF },  { 16, 0x000000 },  { 17, 0x00005F },  { 21, 0x0000FF },
                  { 67, 0x5F87AF },  { 196, 0xFF0000 }, { 226, 0xFFFF00 }, { 231, 0xFFFFFF }, { 232, 0x080808 },
                  { 244, 0x808080 }, { 255, 0xEEEEEE } };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(av_color_rgb(known[i].index), known[i].rgb);
    }
}

/* ---- the built-in themes ------------------------------------------------- */

static bool has_colors(const struct av_theme *t)
{
    return strcmp(t->name, "mono") != 0;
}

static const char *role_name(enum av_role role)
{
    static const char *const names[] = {
#define X(id, name, text) name,
        AV_ROLES(X)
#undef X
    };
    return names[role];
}

static void check_contrast(const struct av_theme *t)
{
    double least = strcmp(t->name, "high-contrast") == 0 ? 7 : 4.5; /* WCAG AAA, AA */
    for (int r = 0; r < AV_ROLE_COUNT && has_colors(t); r++) {
        double ratio = contrast(t->roles[r].fg, t->roles[r].bg);
        if (ratio < least) {
            fail_msg("%s: %s has contrast %.2f", t->name, role_name((enum av_role)r), ratio);
        }
        /* In few colours at least what WCAG asks of large text. */
        for (int upper = 15; upper >= 7; upper -= 8) {
            double few = contrast(t->roles[r].fg16 & upper, t->roles[r].bg16 & upper);
            if (few < 3) {
                fail_msg("%s: %s has contrast %.2f in %d colours", t->name, role_name((enum av_role)r), few, upper + 1);
            }
        }
    }
}

static void text_can_be_read(void **state)
{
    (void)state;
    for_each_builtin(check_contrast);
}

static void check_ramp(const struct av_theme *t)
{
    if (!has_colors(t)) {
        assert_int_equal(t->ramp[0], AV_COLOR_DEFAULT);
        return;
    }
    double sign = t->light ? -1 : 1;
    int distinct = 1;
    for (int i = 1; i < AV_HEAT_LEVELS; i++) {
        double step = sign * (lightness(t->ramp[i]) - lightness(t->ramp[i - 1]));
        if (step <= 0) {
            fail_msg("%s: lightness of the ramp goes the wrong way at %d", t->name, t->ramp[i]);
        }
        for (int upper = 15; upper >= 7; upper -= 8) {
            int now = t->ramp16[i] & upper, before = t->ramp16[i - 1] & upper;
            if (sign * (lightness(now) - lightness(before)) < 0) {
                fail_msg("%s: lightness of the ramp goes the wrong way at %d of %d", t->name, now, upper + 1);
            }
        }
        distinct += t->ramp16[i] != t->ramp16[i - 1];
    }
    assert_true(distinct >= 6);
}

static void ramps_go_one_way_in_lightness(void **state)
{
    (void)state;
    for_each_builtin(check_ramp);
}

/* The cursor in a heatmap is seen on every level, whatever its glyph covers. */
static void check_cursor(const struct av_theme *t)
{
    const struct av_style *s = &t->roles[AV_ROLE_SELECT];
    assert_true(s->reverse);
    for (int i = 0; i < AV_HEAT_LEVELS && has_colors(t); i++) {
        assert_true(difference(s->fg, t->ramp[i], NORMAL) >= apart);
        assert_true(difference(s->bg, t->ramp[i], NORMAL) >= apart);
        assert_int_not_equal(s->fg16, t->ramp16[i]);
    }
}

static void cursor_is_seen_on_every_level(void **state)
{
    (void)state;
    for_each_builtin(check_cursor);
}

static void check_apart(const struct av_theme *t, const enum av_role *roles, size_t count, enum vision v)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i; j++) {
            double d = difference(t->roles[roles[i]].fg, t->roles[roles[j]].fg, v);
            if (d < apart) {
                fail_msg("%s: %s and %s differ by %.1f only (vision %d)", t->name, role_name(roles[i]),
                         role_name(roles[j]), d, v);
            }
        }
    }
}

static const enum av_role series[] = { AV_ROLE_SCALED, AV_ROLE_UNSCALED, AV_ROLE_CURVE, AV_ROLE_GHOST,
                                       AV_ROLE_GOOD,   AV_ROLE_WARN,     AV_ROLE_BAD };
enum { SERIES = sizeof series / sizeof *series, MAIN_SERIES = 3 };

static void check_main_series(const struct av_theme *t)
{
    if (!has_colors(t)) {
        return;
    }
    for (enum vision v = NORMAL; v < VISIONS; v++) {
        check_apart(t, series, MAIN_SERIES, v);
    }
    check_apart(t, series, SERIES, NORMAL);
    const struct av_style *r = t->roles;
    assert_int_not_equal(r[AV_ROLE_SCALED].fg16, r[AV_ROLE_UNSCALED].fg16);
    assert_int_not_equal(r[AV_ROLE_SCALED].fg16, r[AV_ROLE_CURVE].fg16);
    assert_int_not_equal(r[AV_ROLE_UNSCALED].fg16, r[AV_ROLE_CURVE].fg16);
}

static void main_series_are_apart_for_every_eye(void **state)
{
    (void)state;
    for_each_builtin(check_main_series);
}

static void safe_themes_are_safe(void **state)
{
    (void)state;
    struct av_theme redgreen = builtin("redgreen-safe"), blueyellow = builtin("blueyellow-safe");
    check_apart(&redgreen, series, SERIES, PROTANOPIA);
    check_apart(&redgreen, series, SERIES, DEUTERANOPIA);
    check_apart(&blueyellow, series, SERIES, TRITANOPIA);
    for (int i = 0; i < AV_HEAT_LEVELS; i++) {
        const struct av_style *s = &redgreen.roles[AV_ROLE_SELECT];
        assert_true(difference(s->fg, redgreen.ramp[i], PROTANOPIA) >= apart);
        assert_true(difference(s->bg, redgreen.ramp[i], DEUTERANOPIA) >= apart);
        s = &blueyellow.roles[AV_ROLE_SELECT];
        assert_true(difference(s->fg, blueyellow.ramp[i], TRITANOPIA) >= apart);
        assert_true(difference(s->bg, blueyellow.ramp[i], TRITANOPIA) >= apart);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colour_science_agrees_with_published_values),
        cmocka_unit_test(palette_is_that_of_xterm),
        cmocka_unit_test(text_can_be_read),
        cmocka_unit_test(ramps_go_one_way_in_lightness),
        cmocka_unit_test(cursor_is_seen_on_every_level),
        cmocka_unit_test(main_series_are_apart_for_every_eye),
        cmocka_unit_test(safe_themes_are_safe),
    };
    return cmocka_run_group_tests_name("theme colors", tests, NULL, NULL);
}
