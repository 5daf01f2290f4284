/* test_app_animation.c - what moves by itself: the glide of the scale, the sweep of d_k. */
#include "app_driver.h"

#include <math.h>

/* ---- The glide ---------------------------------------------------------- */

static void glide_moves_and_ends_exactly(void **state)
{
    (void)state;
    struct av_app *app = open_animated();
    assert_int_equal(av_app_tick(app, 1000), -1);
    press(app, "s");
    double last = 0.125;
    uint64_t now = 5000;
    assert_true(av_app_tick(app, now) > 0);
    assert_true(av_app_snapshot(app, 0)->alpha == 0.125);
    for (int frame = 0; frame < 29; frame++) {
        now += 10;
        assert_true(av_app_tick(app, now) > 0);
        double alpha = av_app_snapshot(app, 0)->alpha;
        assert_true(alpha > last && alpha < 1);
        last = alpha;
    }
    assert_int_equal(av_app_tick(app, now + 10), -1);
    assert_true(av_app_snapshot(app, 0)->alpha == 1);
    av_app_free(app);
}

static void glide_turns_round_where_it_is(void **state)
{
    (void)state;
    struct av_app *app = open_animated();
    press(app, "s");
    av_app_tick(app, 0);
    av_app_tick(app, 150);
    double half = av_app_snapshot(app, 0)->alpha;
    press(app, "s");
    av_app_tick(app, 160);
    assert_true(fabs(av_app_snapshot(app, 0)->alpha - half) < 1e-12);
    av_app_tick(app, 300);
    assert_true(av_app_snapshot(app, 0)->alpha < half);
    av_app_settle(app);
    assert_true(av_app_snapshot(app, 0)->alpha == 0.125);
    av_app_free(app);
}

/* The end of a glide has the numbers of a state that was never glided to. */
static void glide_leaves_no_trace(void **state)
{
    (void)state;
    struct av_app *glided = open_animated(), *direct = open_plain();
    press(glided, "s");
    for (uint64_t now = 0; now <= 400; now += 30) {
        av_app_tick(glided, now);
        av_app_draw(glided);
    }
    press(direct, "s");
    const struct av_snapshot *a = av_app_snapshot(glided, 0), *b = av_app_snapshot(direct, 0);
    assert_memory_equal(a->weights, b->weights, a->n_q * a->n_k * sizeof *a->weights);
    assert_true(a->now.entropy_mean == b->now.entropy_mean);
    av_app_free(glided);
    av_app_free(direct);
}

static void animation_can_be_switched_off(void **state)
{
    (void)state;
    struct av_app *app = open_animated();
    press(app, "a s");
    assert_int_equal(av_app_tick(app, 0), -1);
    assert_true(av_app_snapshot(app, 0)->alpha == 1);
    av_app_free(app);
}

/* ---- The sweep ---------------------------------------------------------- */

static void the_sweep_goes_up_down_and_home(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.d_k = 100;
    config.params.n_q = config.params.n_k = 4;
    struct av_app *app = open_app(&config);
    press(app, "Space");
    int64_t seen[64];
    size_t n = 0;
    seen[n++] = params_of(app)->d_k;
    int wait = av_app_tick(app, 0);
    for (uint64_t now = 0; wait >= 0 && n < 64;) {
        now += (uint64_t)wait;
        wait = av_app_tick(app, now);
        seen[n++] = params_of(app)->d_k;
    }
    static const int64_t way[] = { 128, 256, 512, 1024, 2048, 4096, 2048, 1024, 512, 256, 128, 64, 32,
                                   16,  8,   4,   2,    1,    2,    4,    8,    16,  32,  64,  100 };
    assert_int_equal(n, sizeof way / sizeof way[0]);
    assert_memory_equal(seen, way, sizeof way);
    av_app_free(app);
}

/* Halves of the columns want an even d_k: it turns round at 2, and comes home. */
static void the_sweep_turns_where_a_variant_refuses(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.d_k = 4096;
    config.params.n_q = config.params.n_k = 4;
    assert_int_equal(av_params_set_text(&config.params, "variant=differential", NULL), AV_OK);
    struct av_app *app = open_app(&config);
    press(app, "Space");
    int64_t least = params_of(app)->d_k;
    int ticks = 0;
    for (uint64_t now = 0; av_app_tick(app, now) >= 0 && ticks < 64; now += 800, ticks++) {
        least = params_of(app)->d_k < least ? params_of(app)->d_k : least;
    }
    assert_true(ticks < 64);
    assert_int_equal(least, 2);
    assert_int_equal(params_of(app)->d_k, 4096);
    av_app_free(app);
}

static void the_sweep_pauses(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "Space");
    assert_true(av_app_tick(app, 0) > 0);
    press(app, "T"); /* does not disturb it */
    assert_true(av_app_tick(app, 1) > 0);
    press(app, "Space");
    assert_int_equal(av_app_tick(app, 2), -1);
    assert_int_equal(params_of(app)->d_k, 128);
    press(app, "u u");
    assert_int_equal(params_of(app)->d_k, 64);
    press(app, "Space d");
    assert_int_equal(av_app_tick(app, 3), -1);
    press(app, "R Space");
    av_app_settle(app);
    assert_int_equal(params_of(app)->d_k, 64);
    av_app_free(app);
}

/* A step shows d_k and says what plays; keys in between are told of on the
 * bottom line, where Space pauses now. */
static void the_sweep_tells_where_it_is(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "Up"); /* another page of the parameters */
    assert_false(shows(app, "d_k\xE2\x80\xB9"));
    press(app, "Space");
    assert_true(shows(app, "playing d_k 128   Space pauses"));
    assert_true(shows(app, "d_k\xE2\x80\xB9"
                           "128"));
    assert_int_equal(av_app_tick(app, 0), 800);
    assert_int_equal(av_app_tick(app, 799), 1);
    assert_int_equal(params_of(app)->d_k, 128);
    press(app, "j");
    assert_true(strlen(av_app_message(app)) > 0);
    press(app, "a a Esc");
    assert_true(shows(app, "Space pause "));
    av_app_resize(app, 40, 24);
    assert_true(shows(app, "Space pause"));
    av_app_resize(app, 80, 24);
    av_app_tick(app, 800);
    assert_true(shows(app, "playing d_k 256   Space pauses"));
    press(app, "?"); /* here Space turns the page */
    av_app_tick(app, 1600);
    assert_string_equal(av_app_message(app), "");
    press(app, "q Space");
    assert_string_equal(av_app_message(app), "paused at d_k 512   Space goes on");
    assert_false(shows(app, "Space pause "));
    press(app, "Esc");
    assert_true(shows(app, "Space play"));
    av_app_free(app);
}

/* Paused, it goes on the same way, home to where it began, and is undone as one. */
static void a_paused_sweep_goes_on(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.d_k = 2048;
    config.params.n_q = config.params.n_k = 4;
    struct av_app *app = open_app(&config);
    uint64_t now = 0;
    press(app, "Space"); /* 4096 */
    av_app_tick(app, now);
    av_app_tick(app, now += 800);
    av_app_tick(app, now += 800);
    assert_int_equal(params_of(app)->d_k, 1024);
    press(app, "Space");
    assert_int_equal(av_app_tick(app, now += 5000), -1);
    assert_int_equal(params_of(app)->d_k, 1024);
    press(app, "Space");
    assert_int_equal(params_of(app)->d_k, 512);
    while (av_app_tick(app, now) >= 0) {
        now += 800;
    }
    assert_int_equal(params_of(app)->d_k, 2048);
    assert_string_equal(av_app_message(app), "played: d_k is back at 2048");
    press(app, "u");
    assert_int_equal(params_of(app)->d_k, 2048);
    press(app, "u");
    assert_string_equal(av_app_message(app), "nothing to undo");
    press(app, "Space Space d Space"); /* changed while it paused: from here anew */
    av_app_settle(app);
    assert_int_equal(params_of(app)->d_k, 2048);
    assert_string_equal(av_app_message(app), "");
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glide_moves_and_ends_exactly),
        cmocka_unit_test(glide_turns_round_where_it_is),
        cmocka_unit_test(glide_leaves_no_trace),
        cmocka_unit_test(animation_can_be_switched_off),
        cmocka_unit_test(the_sweep_goes_up_down_and_home),
        cmocka_unit_test(the_sweep_pauses),
        cmocka_unit_test(the_sweep_turns_where_a_variant_refuses),
        cmocka_unit_test(the_sweep_tells_where_it_is),
        cmocka_unit_test(a_paused_sweep_goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
