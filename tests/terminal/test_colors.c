/* test_colors.c - the colours that the program gives to a terminal. */
#include "attnviz/theme.h"
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static const char *const still[] = { "--no-config", "--no-animation", NULL };

/* Is any cell of the screen coloured? */
static bool coloured(struct vt *vt)
{
    for (int y = 0; y < vt->rows; y++) {
        for (int x = 0; x < vt->cols; x++) {
            VTermScreenCell cell;
            VTermPos at = { y, x };
            vterm_screen_get_cell(vt->screen, at, &cell);
            if (!VTERM_COLOR_IS_DEFAULT_FG(&cell.fg) || !VTERM_COLOR_IS_DEFAULT_BG(&cell.bg)) {
                return true;
            }
        }
    }
    return false;
}

static void colours_and_none(void **state)
{
    (void)state;
    static const char *const never[] = { "--no-config", "--color", "never", NULL };
    static const char *const eight[] = { "--no-config", "--color", "8", NULL };
    const struct {
        const char *const *args;
        const char *env;
        bool colour;
    } cases[] = {
        { still, "TERM=xterm-256color", true }, { still, "TERM=xterm", true },
        { still, "NO_COLOR=1", false },         { still, "NO_COLOR=", true },
        { still, "TERM=vt100", false },         { never, "TERM=xterm-256color", false },
        { eight, "NO_COLOR=1", true },          { eight, "TERM=xterm-256color", true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct vt vt;
        struct vt_options o = { .args = cases[i].args, .env = { cases[i].env } };
        vt_start(&vt, &o);
        vt_see(&vt, "? help");
        vt_calm(&vt);
        assert_int_equal(coloured(&vt), cases[i].colour);
        vt_stop(&vt);
    }
}

/* ---- True colour ------------------------------------------------------------- */

static bool is_color(int16_t index, const VTermColor *c)
{
    uint32_t rgb = (uint32_t)c->rgb.red << 16 | (uint32_t)c->rgb.green << 8 | c->rgb.blue;
    return index != AV_COLOR_DEFAULT && av_color_rgb(index) == rgb;
}

static bool is_of_theme(const struct av_theme *t, const VTermColor *c)
{
    for (size_t i = 0; i < AV_HEAT_LEVELS; i++) {
        if (is_color(t->ramp[i], c)) {
            return true;
        }
    }
    for (size_t i = 0; i < AV_ROLE_COUNT; i++) {
        if (is_color(t->roles[i].fg, c) || is_color(t->roles[i].bg, c)) {
            return true;
        }
    }
    return false;
}

/* Checks one colour of a cell and notes the level of the ramp that it is. */
static void check_true(const struct av_theme *t, const VTermColor *c, bool seen[AV_HEAT_LEVELS])
{
    if (VTERM_COLOR_IS_DEFAULT_FG(c) || VTERM_COLOR_IS_DEFAULT_BG(c)) {
        return;
    }
    assert_true(VTERM_COLOR_IS_RGB(c));
    assert_true(is_of_theme(t, c));
    for (size_t i = 0; i < AV_HEAT_LEVELS; i++) {
        seen[i] = seen[i] || is_color(t->ramp[i], c);
    }
}

/* xterm-direct's sequences name a colour space too; older libvterms take it
 * for red. */
#define DIRECT "xterm-direct2"

/* Every colour is sent as red, green and blue, and is one of the theme's; the
 * heatmap shows its whole ramp. */
static void true_colour(void **state)
{
    (void)state;
    static const char *const args[] = { "--no-config", "--no-animation", "--view", "weights", NULL };
    struct vt_options o = { .args = args, .env = { "TERM=" DIRECT, "XDG_CONFIG_HOME=/nowhere" } };
    struct av_theme dark;
    bool seen[AV_HEAT_LEVELS] = { false };
    struct vt vt;
    if (!vt_knows(DIRECT)) {
        print_message(DIRECT " is not known on this machine\n");
        skip();
    }
    av_theme_default(&dark);
    vt_start(&vt, &o);
    vt_see(&vt, "? help");
    vt_calm(&vt);
    for (int y = 0; y < vt.rows; y++) {
        for (int x = 0; x < vt.cols; x++) {
            VTermScreenCell cell;
            vterm_screen_get_cell(vt.screen, (VTermPos){ y, x }, &cell);
            check_true(&dark, &cell.fg, seen);
            check_true(&dark, &cell.bg, seen);
        }
    }
    for (size_t i = 0; i < AV_HEAT_LEVELS; i++) {
        assert_true(seen[i]);
    }
    vt_stop(&vt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_and_none),
        cmocka_unit_test(true_colour),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
