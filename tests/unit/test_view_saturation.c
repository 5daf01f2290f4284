/* test_view_saturation.c - curves over d_k and the plane, drawn from the study. */
#include "../../src/draw/panels_saturation.h"
#include "canvas_reader.h"
#include "saturation_driver.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CURSOR = 'X', WIDE = 100 };

/* A study asked about `settings` and run to the end, or begun only, and the
 * view's state. */
struct scene {
    void *study;
    const struct av_saturation *result;
    struct av_view_state state;
    bool ascii;
};

static const struct av_view *view(void)
{
    return av_view_find("saturation");
}

static struct scene scene(struct av_params p, bool whole)
{
    struct scene s = { .study = opened(NULL) };
    s.result = whole ? finished(s.study, p) : begun(s.study, p);
    return s;
}

static struct av_canvas drawn(const struct scene *s, int w, int h)
{
    static const struct av_snapshot snapshot;
    static const struct av_ghost ghost;
    struct av_canvas c = { .ascii = s->ascii };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    const struct av_view_context ctx = { .snapshot = &snapshot,
                                         .ghost = &ghost,
                                         .state = &s->state,
                                         .study = s->result,
                                         .progress = s->study != NULL ? saturation()->progress(s->study) : 1,
                                         .full = true };
    view()->draw(&c, (struct av_rect){ 0, 0, w, h }, &ctx);
    return c;
}

static void leave(struct scene *s, struct av_canvas *c)
{
    saturation()->close(s->study);
    av_canvas_free(c);
}

static void assert_says(const struct av_canvas *c, const char *text)
{
    if (find(c, text) < 0) {
        fail_msg("nothing says \"%s\"", text);
    }
}

/* Cells with this glyph in this role. */
static int count(const struct av_canvas *c, uint32_t code, enum av_role role)
{
    int n = 0;
    for (int i = 0; i < c->cols * c->rows; i++) {
        n += c->cells[i].code == code && c->cells[i].role == role;
    }
    return n;
}

/* Lines that have such a cell. */
static int lines_with(const struct av_canvas *c, uint32_t code, enum av_role role)
{
    int n = 0;
    for (int y = 0; y < c->rows; y++) {
        bool has = false;
        for (int x = AV_SATURATION_MARGIN; x < c->cols; x++) { /* legends stand left of that */
            has |= av_canvas_at(c, x, y)->code == code && av_canvas_at(c, x, y)->role == role;
        }
        n += has;
    }
    return n;
}

/* ---- curves ------------------------------------------------------------------ */

static void the_small_screen_says_it_all(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("d_k=64"), true);
    struct av_canvas c = drawn(&s, 80, 22);
    static const char *const texts[] = { "32×32 · exponent 0.5 · T 1 · normal · seed 42",
                                         "● scaled now  ◇ unscaled",
                                         "┊ unscaled freezes: d_k = 2 ln n = 6.93",
                                         "entropy / ln n, mean  • exact",
                                         "at d_k 64",
                                         "frozen at d_k",
                                         "> 6.93",
                                         "  d_k  1 " };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_says(&c, texts[i]);
    }
    leave(&s, &c);
}

/* The table has the study's numbers, scaled before unscaled. */
static void the_table_reads_off_the_cursor(void **unused)
{
    (void)unused;
    static const struct {
        const char *name;
        enum av_saturation_quantity quantity;
        int line; /* below that name */
    } rows[] = { { "entropy / ln n  ", AV_SATURATION_ENTROPY, 0 }, { "jacobian_fro  ", AV_SATURATION_FRO_MEDIAN, 1 },
                 { "jacobian_fro  ", AV_SATURATION_FRO_MEAN, 2 },  { "dq_rms  ", AV_SATURATION_DQ_MEDIAN, 1 },
                 { "dq_rms  ", AV_SATURATION_DQ_MEAN, 2 },         { "trace  ", AV_SATURATION_TRACE, 0 } };
    struct scene s = scene(WITH("d_k=100", "scale=off"), true);
    struct av_canvas c = drawn(&s, 80, 22);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char out[LINE];
        char numbers[2][AV_NUMBER_MAX];
        av_plot_number(numbers[0], s.result->at.value[1][rows[i].quantity], 3);
        av_plot_number(numbers[1], s.result->at.value[0][rows[i].quantity], 3);
        int y = find(&c, rows[i].name);
        assert_true(y >= 0);
        const char *scaled = strstr(line(&c, y + rows[i].line, out), numbers[0]);
        assert_non_null(scaled);
        assert_non_null(strstr(scaled, numbers[1]));
    }
    leave(&s, &c);
}

/* Logits without spread freeze at no d_k, an infinite one included. */
static void equal_logits_freeze_nowhere(void **unused)
{
    (void)unused;
    static const char *const settings[][2] = { { "q_std=0", "exponent=0.5" },
                                               { "k_std=0", "exponent=0.3" },
                                               { "k_std=0", "exponent=1" },
                                               { "k_std=1e-200", "exponent=0" } };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        struct scene s = scene(WITH("n_q=4", "n_k=4", settings[i][0], settings[i][1]), false);
        struct av_canvas c = drawn(&s, 80, 22);
        char out[LINE];
        int y = find(&c, "frozen at d_k");
        assert_true(y >= 0);
        assert_non_null(strstr(line(&c, y, out), "none       none"));
        leave(&s, &c);
    }
}

static void before_anything_is_measured_theory_stands(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("d_k=64"), false);
    struct av_canvas c = drawn(&s, 80, 22);
    assert_true(count(&c, AV_MARK_CURVE, AV_ROLE_CURVE) > 40);   /* both lines */
    assert_int_equal(count(&c, AV_MARK_NOW, AV_ROLE_SCALED), 1); /* in the legend */
    assert_says(&c, "…");
    assert_int_equal(find(&c, "n/a"), -1);
    assert_int_equal(find(&c, "nan"), -1);
    av_canvas_free(&c);
    while (saturation()->step(s.study)) {
    }
    c = drawn(&s, 80, 22);
    assert_int_equal(find(&c, "…"), -1);
    assert_true(count(&c, AV_MARK_NOW, AV_ROLE_SCALED) > 15);
    assert_true(count(&c, AV_MARK_OTHER, AV_ROLE_UNSCALED) > 15);
    leave(&s, &c);
}

/* The present state has the marks of the present state. */
static void the_scale_swaps_the_marks(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("scale=off"), true);
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "● unscaled now  ◇ scaled");
    assert_true(count(&c, AV_MARK_NOW, AV_ROLE_UNSCALED) > 15);
    assert_int_equal(count(&c, AV_MARK_NOW, AV_ROLE_SCALED), 0);
    leave(&s, &c);
}

/* What is at d_k 4096 stands at the right end, and d_k 1 at the left one; an
 * entropy of 1 in the top row, 0 in the lowest. */
static void points_stand_where_their_values_are(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("temperature=100", "dist=uniform"), true);
    struct av_canvas c = drawn(&s, 60, 22); /* no table */
    int top = find(&c, "1.0┤");
    assert_true(top > 0);
    assert_int_equal(av_canvas_at(&c, AV_SATURATION_MARGIN, top)->code, AV_MARK_NOW);
    assert_int_equal(av_canvas_at(&c, 60 - 2, top)->code, AV_MARK_NOW);
    leave(&s, &c);
    s = scene(WITH("temperature=0.01", "dist=uniform", "q_std=10", "scale=off"), true);
    c = drawn(&s, 60, 22);
    int bottom = find(&c, "└") - 1;
    assert_int_equal(av_canvas_at(&c, 60 - 2, bottom)->code, AV_MARK_NOW);
    leave(&s, &c);
}

static void gradients_below_the_axis_point_down(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("temperature=0.01", "k_std=30", "d_k=4096", "scale=off"), true);
    s.state.quantity = 1;
    struct av_canvas c = drawn(&s, 80, 22);
    assert_true(count(&c, 0x25BE, AV_ROLE_UNSCALED) > 10);
    assert_says(&c, "< 1e-308"); /* never a zero that is none */
    leave(&s, &c);
}

static void rows_left_out_are_told(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("n_q=2048", "n_k=1024", "d_k=1"), false);
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "2048×1024 · 256 queries measured");
    leave(&s, &c);
}

/* ---- the plane ------------------------------------------------------------------- */

/* The lesson: level with the scale, a slope without. */
static void the_contour_is_level_with_the_scale(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("d_k=64"), true);
    s.state.page = 1;
    struct av_canvas c = drawn(&s, 80, 22);
    assert_int_equal(lines_with(&c, AV_MARK_CURVE, AV_ROLE_CURVE), 1);
    assert_says(&c, "• α √d_k / T = √(2 ln n) = 2.63, frozen below");
    assert_says(&c, "X d_k 64, T 1: 0.870 exact, 0.874 measured");
    leave(&s, &c);
    s = scene(WITH("scale=off"), true);
    s.state.page = 1;
    c = drawn(&s, 80, 22);
    assert_true(lines_with(&c, AV_MARK_CURVE, AV_ROLE_CURVE) >= 6);
    assert_says(&c, "• √d_k / T = √(2 ln n) = 2.63, frozen below");
    leave(&s, &c);
}

static void a_wide_plane_shows_both_states(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("d_k=64"), true);
    s.state.page = 1;
    struct av_canvas c = drawn(&s, WIDE, 30);
    int y = find(&c, "scaled now");
    assert_true(y >= 0);
    assert_int_equal(find(&c, "unscaled"), y);
    assert_int_equal(count(&c, CURSOR, AV_ROLE_SELECT), 4); /* two, and two legends */
    leave(&s, &c);
}

static void heat_follows_the_entropy(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("scale=off", "d_k=1"), true);
    s.state.page = 1;
    struct av_canvas c = drawn(&s, 80, 22);
    const struct av_cell *hot = av_canvas_at(&c, AV_SATURATION_MARGIN + 1, 2);
    const struct av_cell *cold = av_canvas_at(&c, 78, find(&c, "└") - 1);
    assert_int_equal(hot->role, AV_ROLE_HEAT);
    assert_int_equal(hot->level, AV_HEAT_LEVELS - 1);
    assert_int_equal(cold->role, AV_ROLE_HEAT);
    assert_int_equal(cold->level, 0);
    leave(&s, &c);
}

/* ---- edges --------------------------------------------------------------------------- */

static void nothing_to_show_is_told(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("n_k=1"), true);
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "no row has two or more keys");
    leave(&s, &c);
    s = (struct scene){ .study = NULL };
    c = drawn(&s, 80, 22);
    assert_says(&c, "nothing is measured");
    av_canvas_free(&c);
}

/* Every size, and in ASCII nothing that has no stand-in. */
static void every_size_is_drawn(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("exponent=0.3", "mask=causal"), true);
    s.ascii = true;
    for (int w = 1; w <= 180; w += w < 50 ? 3 : 31) {
        for (int h = 1; h <= 70; h += h < 30 ? 2 : 13) {
            for (int page = 0; page < 2; page++) {
                s.state.page = page;
                struct av_canvas c = drawn(&s, w, h);
                for (int i = 0; i < w * h; i++) {
                    assert_true(c.cells[i].code >= 0x20 && c.cells[i].code < 0x7F && c.cells[i].code != '?');
                }
                av_canvas_free(&c);
            }
        }
    }
    saturation()->close(s.study);
}

static void press(const char *key, struct av_view_edit *e)
{
    const struct av_view_action *a = view()->actions;
    while (a->key != NULL && strcmp(a->key, key) != 0) {
        a++;
    }
    assert_non_null(a->key);
    e->say = NULL;
    a->run(e);
}

static void keys_walk_pages_and_quantities(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("d_k=64"), true);
    struct av_view_edit e = { .state = &s.state };
    press("Y", &e);
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "trace sum p (1 - p), mean");
    av_canvas_free(&c);
    press("y", &e);
    press("y", &e);
    c = drawn(&s, 80, 22);
    assert_says(&c, "● ◇ median  ○ + mean  ┄ dead");
    assert_true(count(&c, 0x2504, AV_ROLE_WARN) > 15); /* across the plot */
    av_canvas_free(&c);
    c = drawn(&s, 80, 40);
    assert_says(&c, "largest weight  ● ◇ median"); /* the plot below */
    av_canvas_free(&c);
    press("z", &e);
    c = drawn(&s, 80, 40);
    assert_int_equal(find(&c, "largest weight  ● ◇ median"), -1);
    av_canvas_free(&c);
    press("v", &e);
    int quantity = s.state.quantity;
    press("y", &e);
    assert_non_null(e.say);
    assert_int_equal(s.state.quantity, quantity);
    c = drawn(&s, 80, 22);
    assert_says(&c, "1 entropy / ln n");
    leave(&s, &c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_screen_says_it_all),
        cmocka_unit_test(the_table_reads_off_the_cursor),
        cmocka_unit_test(equal_logits_freeze_nowhere),
        cmocka_unit_test(before_anything_is_measured_theory_stands),
        cmocka_unit_test(the_scale_swaps_the_marks),
        cmocka_unit_test(points_stand_where_their_values_are),
        cmocka_unit_test(gradients_below_the_axis_point_down),
        cmocka_unit_test(rows_left_out_are_told),
        cmocka_unit_test(the_contour_is_level_with_the_scale),
        cmocka_unit_test(a_wide_plane_shows_both_states),
        cmocka_unit_test(heat_follows_the_entropy),
        cmocka_unit_test(nothing_to_show_is_told),
        cmocka_unit_test(every_size_is_drawn),
        cmocka_unit_test(keys_walk_pages_and_quantities),
    };
    return cmocka_run_group_tests_name("view saturation", tests, NULL, NULL);
}
