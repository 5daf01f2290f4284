/* test_app_sizes.c - any size of the screen, ASCII, any keys in any order. */
#include "app_driver.h"

/* ---- Any size ----------------------------------------------------------- */

static void every_size_draws_and_answers(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    size_t views;
    av_views(&views);
    for (size_t v = 0; v < views; v++) {
        for (int rows = 1; rows <= 44; rows = rows < 8 ? rows + 1 : rows + 3) {
            for (int cols = 1; cols <= 130; cols = cols < 8 ? cols + 1 : cols + 3) {
                av_app_resize(app, cols, rows);
                const struct av_canvas *c = av_app_draw(app);
                assert_int_equal(c->cols, cols);
                assert_int_equal(c->rows, rows);
            }
        }
        press(app, "Tab");
    }
    av_app_resize(app, 1, 1);
    press(app, "s");
    av_app_draw(app);
    assert_int_equal(params_of(app)->scale, 0);
    press(app, "? PgDn PgDn Up");
    av_app_draw(app);
    press(app, "q Enter 8");
    av_app_draw(app);
    press(app, "Esc q");
    assert_true(av_app_wants(app).quit);
    assert_false(av_app_wants(app).quit);
    av_app_free(app);
}

static void a_single_line_still_speaks(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    av_app_resize(app, 60, 1);
    press(app, "F7");
    assert_true(shows(app, "F7 does nothing here"));
    press(app, "Enter 1 2");
    assert_true(shows(app, "d_k 12_"));
    av_app_free(app);
}

static void ascii_is_ascii(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.ascii = true;
    struct av_app *app = open_app(&config);
    static const char *const keys[] = { "1", "2", "3", "4", "?", "q s c", "Enter 1" };
    for (int cols = 80; cols <= 140; cols += 60) {
        av_app_resize(app, cols, 40);
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            press(app, keys[i]);
            struct av_str text = screen(app);
            for (size_t b = 0; b < text.len; b++) {
                assert_true((unsigned char)text.text[b] < 0x80);
            }
            av_str_free(&text);
        }
        press(app, "Esc");
    }
    av_app_free(app);
}

/* ---- Storms ------------------------------------------------------------- */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/* Whatever is pressed, in whatever order and size, the parameters stay valid. */
static void key_storm(void **state)
{
    (void)state;
    struct av_app *app = open_animated();
    uint32_t random = 12345;
    uint64_t now = 0;
    struct av_error e;
    for (int i = 0; i < 20000; i++) {
        uint32_t r = next_random(&random);
        uint32_t key = r % 4 == 0 ? AV_KEY_UP + next_random(&random) % 24 : 1 + next_random(&random) % 127;
        if (key == 'w' || key == 'N') {
            continue; /* files, and sizes that take long */
        }
        av_app_key(app, key);
        if (r % 16 == 1) {
            av_app_resize(app, 1 + (int)(next_random(&random) % 140), 1 + (int)(next_random(&random) % 50));
        }
        if (r % 8 == 2) {
            now += next_random(&random) % 500;
            av_app_tick(app, now);
        }
        if (r % 8 == 3) {
            int x = (int)(next_random(&random) % 150), y = (int)(next_random(&random) % 60);
            av_app_mouse(app, (enum av_mouse_kind)(next_random(&random) % 4), x, y);
        }
        if (r % 8 == 4) {
            av_app_draw(app);
        }
        const struct av_params *p = params_of(app);
        if (p->n_q * p->n_k > 4096 || p->d_k > 1024) {
            press(app, "Esc Esc R");
        }
        if (av_params_check(params_of(app), false, &e) != AV_OK) {
            fail_msg("key %d: %s", i, e.text);
        }
    }
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_draws_and_answers),
        cmocka_unit_test(a_single_line_still_speaks),
        cmocka_unit_test(ascii_is_ascii),
        cmocka_unit_test(key_storm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
