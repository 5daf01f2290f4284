/* test_view_distributions.c - the view of scores at four d_k. */
#include "../../src/draw/panels_distributions.h"
#include "attnviz/study.h"
#include "view_driver.h"

static const char *const VIEW = "distributions";

/* A snapshot, and the study of its parameters. */
static struct asked {
    struct fake fake;
    struct av_studies *studies;
    const struct av_study *study;
} asked;

/* Makes both anew; the study is done, or has only begun. */
static void ask(bool done, const char *const *settings)
{
    make(&asked.fake, settings);
    asked.study = av_study_find(VIEW);
    assert_int_equal(av_studies_new(&asked.studies, NULL, NULL), AV_OK);
    assert_int_equal(av_studies_ask(asked.studies, asked.study, &asked.fake.s.params, NULL), AV_OK);
    while (done && av_studies_step(asked.studies, asked.study)) {
    }
}

#define ASK(done, ...) ask(done, (const char *const[]){ __VA_ARGS__, NULL })

static int forget(void **state)
{
    (void)state;
    av_studies_free(asked.studies);
    fake_free(&asked.fake);
    memset(&asked, 0, sizeof asked);
    return 0;
}

/* Draws at (x, y) of a canvas that is 2 * x columns and 2 * y rows larger. */
static struct av_canvas draw_at(int x, int y, int w, int h, bool ascii)
{
    struct av_canvas c = { .ascii = ascii };
    assert_int_equal(av_canvas_resize(&c, w + 2 * x, h + 2 * y, NULL), AV_OK);
    struct av_view_context ctx = fake_context(&asked.fake, true);
    ctx.study = av_studies_result(asked.studies, asked.study);
    ctx.progress = av_studies_progress(asked.studies, asked.study);
    av_view_find(VIEW)->draw(&c, (struct av_rect){ x, y, w, h }, &ctx);
    return c;
}

static void assert_text(int w, int h, bool ascii, const char *text, bool wanted)
{
    struct av_canvas c = draw_at(0, 0, w, h, ascii);
    if ((find(&c, text) >= 0) != wanted) {
        fail_msg("at %dx%d \"%s\" is %s", w, h, text, wanted ? "missing" : "there");
    }
    av_canvas_free(&c);
}

/* Column and row of the first cell with this code from a row on, -1: none. */
static int column_of(const struct av_canvas *c, int y, uint32_t code)
{
    for (int x = 0; x < c->cols; x++) {
        if (av_canvas_at(c, x, y)->code == code) {
            return x;
        }
    }
    return -1;
}

/* ---- estimates ------------------------------------------------------------------ */

static void an_estimate_has_the_digits_of_its_error(void **state)
{
    (void)state;
    static const struct {
        struct av_estimate e;
        int digits;
        const char *text;
    } table[] = {
        { { 1, 0.99412, 0.0157 }, 1, "0.99±0.02 (1)" },
        { { 1, 0.99412, 0.0157 }, 2, "0.994±0.016 (1)" },
        { { 0, 0.00767, 0.0098 }, 1, "0.01±0.01 (0)" },
        { { 0, 0.00767, 0.00987 }, 2, "0.0077±0.0099 (0)" },
        { { 0, 0.00767, 0.00998 }, 2, "0.008±0.010 (0)" },
        { { 1024, 1012.15, 12.8 }, 2, "1012±13 (1024)" },
        { { 1024, 1012.15, 12.8 }, 1, "1012±13 (1024)" },
        { { 0, -0.0003, 0.004 }, 1, "0.000±0.004 (0)" },
        { { 3.1e9, 3.123e9, 4.56e7 }, 2, "3.12e9±4.6e7 (3.1e9)" },
        { { 0, 0, 0 }, 2, "0 (0)" },
        { { (double)NAN, 5, (double)NAN }, 2, "5.00" },
        { { 1, (double)NAN, (double)NAN }, 2, "n/a (1)" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[AV_ESTIMATE_MAX];
        av_panel_estimate_line(text, &table[i].e,
                               (struct av_estimate_style){ .digits = table[i].digits, .theory_digits = 4 });
        assert_string_equal(text, table[i].text);
    }
    char text[AV_ESTIMATE_MAX];
    av_panel_estimate_line(text, &table[0].e, (struct av_estimate_style){ .digits = 1, .roomy = true, .ascii = true });
    assert_string_equal(text, "0.99 +- 0.02");
}

/* ---- words ----------------------------------------------------------------------- */

/* With these samples: see test_distributions.c for the numbers themselves. */
static void it_tells_its_numbers(void **state)
{
    (void)state;
    ASK(true, NULL);
    static const struct {
        int w, h;
        bool ascii;
        const char *text;
    } table[] = {
        { 80, 22, false, "10000 pairs   normal · seed 42" },
        { 80, 22, false, " · mean, var ± se (theory)" },
        { 80, 22, true, "mean, var +- se (theory)" },
        { 80, 22, false, "█ scaled  ░ unscaled  • exact" },
        { 80, 22, false, "d_k 1024 ex. kurt. " },
        { 80, 22, false, "░ mean 0.5±0.3(0)     var 1012±13(1024)" },
        { 80, 22, true, ": m 0.5+-0.3(0)     var 1012+-13(1024)" },
        { 80, 22, false, "█  0.43┤" },
        { 80, 22, false, "░  0.11│" },
        { 80, 22, false, " density│" },
        { 80, 22, false, "◇ unscaled variance grows as d_k to the power of 1.000 ± 0.004 (1)" },
        { 80, 22, false, "● scaled variance grows as d_k to the power of 0.000 ± 0.004 (0)" },
        { 89, 39, false, "variance of the scores over d_k, both axes logarithmic" },
        { 169, 59, false, "variance 1012 ± 13 (1024)" },
        { 169, 59, false, "1024      1012      13    1024  -0.9 se" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_text(table[i].w, table[i].h, table[i].ascii, table[i].text, true);
    }
}

/* A million samples make long numbers: no field and no theory goes. */
static void long_numbers_lose_no_field(void **state)
{
    (void)state;
    static const struct av_distribution_panel panel = {
        .d_k = 1024,
        .kurtosis = { 6.0 / 1024, -0.0142, 0.0051 },
        .by_scale = { { .mean = { 0, -0.0321, 0.0302 }, .variance = { 1024, 1024.3, 1.9 } },
                      { .mean = { 0, -0.00104, 0.00084 }, .variance = { 1, 1.0003, 0.0019 } } },
    };
    for (int ascii = 0; ascii < 2; ascii++) {
        struct av_canvas c = { .ascii = ascii == 1 };
        assert_int_equal(av_canvas_resize(&c, 39, 9, NULL), AV_OK);
        assert_int_equal(av_panel_distribution_numbers(&c, (struct av_rect){ 0, 0, 39, 9 }, &panel, false), 3);
        static const char *const texts[][2] = {
            { "d_k 1024 kurt -0.014±0.005 (5.9e-3)", "d_k 1024 kurt -0.014+-0.005 (5.9e-3)" },
            { "█ m -0.0010±0.0008(0) v 1.000±0.002(1)", "#m -0.0010+-0.0008(0) v 1.000+-0.002(1)" },
            { "░ m -0.03±0.03(0)     v 1024±2(1024)", ":m -0.03+-0.03(0)     v 1024+-2(1024)" }
        };
        for (int y = 0; y < 3; y++) {
            assert_int_equal(find(&c, texts[y][ascii]), y);
        }
        av_canvas_free(&c);
    }
}

static void pages_show_one_thing(void **state)
{
    (void)state;
    ASK(true, NULL);
    static const char *const titles[] = { "d_k 16", "d_k 64", "d_k 256", "d_k 1024", "variance of the scores" };
    for (int page = 1; page <= 5; page++) {
        asked.fake.state.page = page;
        for (int i = 0; i < 5; i++) {
            assert_text(80, 22, false, titles[i], i + 1 == page);
        }
        assert_text(80, 22, false, "off by", true);
        char title[AV_TITLE_MAX];
        assert_text(80, 22, false, av_panel_title(title, VIEW, page, 6), true);
    }
}

static void pairs_so_far_are_told(void **state)
{
    (void)state;
    ASK(false, "samples=1000000");
    const struct av_distributions *d = av_studies_result(asked.studies, asked.study);
    char text[64];
    snprintf(text, sizeof text, "%zu of 1000000 pairs so far", d->counted);
    assert_text(80, 22, false, text, true);
}

static void without_a_result_it_says_so(void **state)
{
    (void)state;
    ASK(true, NULL);
    assert_says(VIEW, &asked.fake, 80, 22, "nothing is measured yet");
}

/* Where no exact density is known the normal one stands in, until it is put off. */
static void the_normal_density_stands_in(void **state)
{
    (void)state;
    ASK(true, "dist=laplace");
    assert_text(80, 22, false, "exact", false);
    assert_text(80, 22, false, "× normal", true);
    asked.fake.state.quantity = 1;
    assert_text(80, 22, false, "× normal", false);
    forget(NULL);
    ASK(true, NULL);
    assert_text(80, 22, false, "× normal", false);
    asked.fake.state.quantity = 1;
    assert_text(80, 22, false, "× normal", true);
}

/* ---- what is drawn ----------------------------------------------------------------- */

enum { SCALED = 0x2588, UNSCALED = 0x2591, EIGHTH = 0x2581, TOP_ROW = 5 };

/* By default both series reach the top of a panel; on one height the unscaled
 * scores at d_k 1024 are a line on the ground. */
static void heights(void **state)
{
    (void)state;
    ASK(true, "d_k_1=1024");
    struct av_canvas c = draw_at(0, 0, 80, 22, false);
    assert_true(column_of(&c, TOP_ROW, SCALED) > 0 || count(&c, TOP_ROW, AV_MARK_CURVE) > 0);
    assert_true(column_of(&c, TOP_ROW, UNSCALED) > 0);
    av_canvas_free(&c);
    asked.fake.state.pool = 1;
    c = draw_at(0, 0, 40, 12, false);
    for (int y = TOP_ROW; y < 10; y++) {
        assert_int_equal(count(&c, y, UNSCALED), 0);
    }
    assert_true(count(&c, 9, EIGHTH) > 10);
    assert_true(column_of(&c, TOP_ROW + 1, SCALED) > 0);
    av_canvas_free(&c);
}

/* No thin end of a bar stands where the unscaled scores go on above it. */
static void nothing_is_blanked_behind_a_bar(void **state)
{
    (void)state;
    ASK(true, NULL);
    for (int page = 1; page <= 4; page++) {
        asked.fake.state.page = page;
        for (int h = 14; h < 30; h++) {
            struct av_canvas c = draw_at(0, 0, 80, h, false);
            int holes = 0;
            int seen = 0;
            for (int i = c.cols; i < c.cols * c.rows; i++) {
                uint32_t code = av_canvas_at(&c, i % c.cols, i / c.cols)->code;
                uint32_t above = av_canvas_at(&c, i % c.cols, i / c.cols - 1)->code;
                seen += above == UNSCALED;
                holes += code >= EIGHTH && code < SCALED && above == UNSCALED;
            }
            assert_true(seen > 20);
            assert_int_equal(holes, 0);
            av_canvas_free(&c);
        }
    }
}

/* The scaled scores are as wide as the axis over sqrt(d_k): a spike in the
 * middle column. */
static void the_spike_stands_in_the_middle(void **state)
{
    (void)state;
    ASK(true, "d_k_1=1024");
    struct av_canvas c = draw_at(0, 0, 40, 12, false);
    int x = column_of(&c, 8, SCALED);
    assert_int_equal(count(&c, 8, SCALED), 1);
    int axis = column_of(&c, 10, 0x2514);
    int right = c.cols - 1;
    while (av_canvas_at(&c, right, 10)->code == ' ') {
        right--;
    }
    assert_int_equal(x - axis, right + 1 - x);
    av_canvas_free(&c);
}

static void one_axis_is_the_widest(void **state)
{
    (void)state;
    ASK(true, NULL);
    char own[LINE];
    char one[LINE];
    struct av_canvas c = draw_at(0, 0, 80, 22, false);
    line(&c, 10, own);
    av_canvas_free(&c);
    asked.fake.state.zoom = 1;
    c = draw_at(0, 0, 80, 22, false);
    line(&c, 10, one);
    assert_non_null(strstr(own, "-10 "));
    assert_non_null(strstr(own, "-20 "));
    const char *first = strstr(one, "-100 ");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "-100 "));
    av_canvas_free(&c);
}

static void nothing_is_drawn_outside(void **state)
{
    (void)state;
    static const char *const settings[][3] = { { "samples=200" },
                                               { "samples=200", "q_std=0" },
                                               { "samples=200", "d_k_4=4096", "q_mean=900" },
                                               { "samples=100", "dist=laplace", "d_k_2=1" } };
    for (size_t k = 0; k < sizeof settings / sizeof *settings; k++) {
        ask(true,
            (const char *const[]){ settings[k][0], settings[k][1], settings[k][1] ? settings[k][2] : NULL, NULL });
        for (int w = 1; w < 320; w += w < 100 ? 9 : 33) {
            for (int h = 1; h < 101; h += h < 40 ? 3 : 15) {
                asked.fake.state.page = (w + h) % 6;
                asked.fake.state.zoom = w % 2;
                asked.fake.state.pool = h % 2;
                struct av_canvas c = draw_at(2, 1, w, h, (w + h) % 2 == 0);
                for (int i = 0; i < c.cols * c.rows; i++) {
                    int x = i % c.cols;
                    int y = i / c.cols;
                    const struct av_cell *cell = av_canvas_at(&c, x, y);
                    bool inside = x >= 2 && x < 2 + w && y >= 1 && y < 1 + h;
                    assert_true(inside || (cell->code == ' ' && !cell->mark));
                    assert_true(!c.ascii || (cell->code >= ' ' && cell->code < 0x7F));
                }
                av_canvas_free(&c);
            }
        }
        forget(NULL);
    }
    ASK(true, NULL);
}

/* ---- what the user does ---------------------------------------------------------------- */

static void press(const char *key)
{
    struct av_view_edit edit = { .state = &asked.fake.state, .snapshot = &asked.fake.s };
    const struct av_view_action *a = av_view_find(VIEW)->actions;
    while (strcmp(a->key, key) != 0) {
        a++;
    }
    a->run(&edit);
}

static void keys_go_round(void **state)
{
    (void)state;
    ASK(true, NULL);
    for (int page = 1; page <= 6; page++) {
        press("v");
        assert_int_equal(asked.fake.state.page, page % 6);
    }
    press("V");
    assert_int_equal(asked.fake.state.page, 5);
    static const char *const switches[] = { "x", "y", "g" };
    const int *const values[] = { &asked.fake.state.zoom, &asked.fake.state.pool, &asked.fake.state.quantity };
    for (int i = 0; i < 3; i++) {
        press(switches[i]);
        assert_int_equal(*values[i], 1);
        press(switches[i]);
        assert_int_equal(*values[i], 0);
    }
}

static void a_click_enlarges_and_the_next_one_does_not(void **state)
{
    (void)state;
    ASK(true, NULL);
    struct av_rect r = { 0, 0, 89, 39 };
    static const struct {
        int x, y, page;
    } table[] = { { 10, 6, 1 }, { 70, 6, 2 }, { 10, 18, 3 }, { 70, 18, 4 }, { 30, 33, 5 }, { 30, 0, 0 } };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct av_view_edit edit = { .state = &asked.fake.state, .snapshot = &asked.fake.s };
        av_view_find(VIEW)->click(r, table[i].x, table[i].y, &edit);
        assert_int_equal(asked.fake.state.page, table[i].page);
        if (table[i].page > 0) {
            av_view_find(VIEW)->click(r, table[i].x, table[i].y, &edit);
            assert_int_equal(asked.fake.state.page, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_estimate_has_the_digits_of_its_error),
        cmocka_unit_test_teardown(it_tells_its_numbers, forget),
        cmocka_unit_test(long_numbers_lose_no_field),
        cmocka_unit_test_teardown(pages_show_one_thing, forget),
        cmocka_unit_test_teardown(nothing_is_blanked_behind_a_bar, forget),
        cmocka_unit_test_teardown(pairs_so_far_are_told, forget),
        cmocka_unit_test_teardown(without_a_result_it_says_so, forget),
        cmocka_unit_test_teardown(the_normal_density_stands_in, forget),
        cmocka_unit_test_teardown(heights, forget),
        cmocka_unit_test_teardown(the_spike_stands_in_the_middle, forget),
        cmocka_unit_test_teardown(one_axis_is_the_widest, forget),
        cmocka_unit_test_teardown(nothing_is_drawn_outside, forget),
        cmocka_unit_test_teardown(keys_go_round, forget),
        cmocka_unit_test_teardown(a_click_enlarges_and_the_next_one_does_not, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
