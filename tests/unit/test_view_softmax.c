/* test_view_softmax.c - the lab: what it shows of a row, and what its keys do. */
#include "../../src/draw/panels_softmax.h"
#include "attnviz/kernels.h"
#include "attnviz/logit_list.h"
#include "view_driver.h"

#include <float.h>

/* A snapshot of these logits, by the program's own softmax. */
static void make_lab(struct fake *f, const struct av_logit_list *l)
{
    char n_k[32];
    size_t n = (size_t)l->n;
    snprintf(n_k, sizeof n_k, "n_k=%zu", n);
    MAKE(f, "n_q=1", n_k);
    f->s.params.logits = *l;
    f->s.from_logits = true;
    f->s.scores = NULL;
    f->s.other_rows = NULL;
    f->s.other.rows = 0;
    memcpy(f->logits, l->at, n * sizeof *l->at);
    av_kernels_best()->softmax(f->weights, f->logits, 1, n, f->rows);
}

static void make_list(struct av_logit_list *l, size_t n, const double *z)
{
    assert_true(av_logit_list_take(l, z, n, 1));
}

#define LAB(f, n, ...)                                                                                                 \
    do {                                                                                                               \
        struct av_logit_list list_;                                                                                    \
        make_list(&list_, n, (const double[]){ __VA_ARGS__ });                                                         \
        make_lab(f, &list_);                                                                                           \
    } while (0)

/* One key at x, n - 1 at 0. */
static void make_spike(struct fake *f, size_t n, double x)
{
    static struct av_logit_list l;
    l.n = 1;
    l.at[0] = x;
    av_logit_list_resize(&l, n);
    make_lab(f, &l);
}

static void check_says(const struct fake *f, const char *const *texts)
{
    for (; *texts != NULL; texts++) {
        assert_says("softmax", f, 80, 22, *texts);
    }
}

#define SAYS(f, ...) check_says(f, (const char *const[]){ __VA_ARGS__, NULL })

/* ---- The row ------------------------------------------------------------- */

static void numbers_are_those_of_the_row(void **state)
{
    (void)state;
    struct fake f;
    LAB(&f, 3, 1, 0.5, -0.5);
    SAYS(&f, "entropy, nats 0.9528 ", "87% of ln 3", "2.593 of 3 keys", "1 - max       0.4535 ",
         "trace         0.5765 ", "jacobian_fro  0.4470 ", "spectral      0.4179 ", "row sum, max  0.4957 ",
         "dp/dz         0.2478 ");
    SAYS(&f, "0.547       0.331       0.122", "0.248", "-0.181", "-0.0667", "0.107");
    fake_free(&f);
}

static void what_vanishes_is_not_0(void **state)
{
    (void)state;
    struct fake f;
    LAB(&f, 3, 1000, 0, 0);
    SAYS(&f, "entropy, nats 1.016e-431 -430.99", "1 - max       1.015e-434 -433.99", "trace         2.030e-434 -433.69",
         "jacobian_fro  1.605e-434 -433.79", "<1% of ln 3", "1 - 1e-434  5.08e-435", "-2.58e-869");
    struct av_canvas c = drawn("softmax", &f, 80, 22, false);
    assert_int_equal(find(&c, "exactly"), -1);
    av_canvas_free(&c);
    fake_free(&f);
    LAB(&f, 1, 1000);
    SAYS(&f, "entropy, nats 0 exactly", "jacobian_fro  0 exactly");
    fake_free(&f);
    LAB(&f, 2, 1.7e308, -1.7e308);
    SAYS(&f, "1 - max       10^-1.48e308", "10^-1.5e308");
    f.rows[0].scaled.half_gap = DBL_MAX;
    SAYS(&f, "1 - max       < 10^-1e308");
    fake_free(&f);
}

/* Cells in which two drawings differ, from column x on and below the header. */
static int differing(const struct av_canvas *a, const struct av_canvas *b, int x0, int x1, int y0, int y1)
{
    int n = 0;
    for (int y = y0; y < y1; y++) {
        for (int x = x0; x < x1; x++) {
            const struct av_cell *p = av_canvas_at(a, x, y);
            const struct av_cell *q = av_canvas_at(b, x, y);
            n += p->code != q->code || p->role != q->role || p->level != q->level;
        }
    }
    return n;
}

/* An added constant moves the labels of one axis, and no bar, weight or entry
 * of the Jacobian; a factor changes them. */
static void adding_moves_the_axis_alone(void **state)
{
    (void)state;
    static const int sizes[][2] = { { 80, 22 }, { 89, 39 }, { 169, 58 } };
    for (int k = 0; k < 3; k++) {
        int w = sizes[k][0];
        int h = sizes[k][1];
        struct fake f;
        LAB(&f, 3, 1, 0.5, -0.5);
        struct av_canvas was = drawn("softmax", &f, w, h, false);
        fake_free(&f);
        LAB(&f, 3, 100, 99.5, 98.5);
        struct av_canvas moved = drawn("softmax", &f, w, h, false);
        fake_free(&f);
        LAB(&f, 3, 10, 5, -5);
        struct av_canvas scaled = drawn("softmax", &f, w, h, false);
        fake_free(&f);
        int left = w - AV_ROW_NUMBERS_W - 1;
        int weights = find(&was, "weights p");
        assert_true(weights > 2);
        int cells = AV_HEAT_MARGIN;
        assert_int_equal(differing(&was, &moved, cells, left, 1, weights - 1), 0);
        assert_true(differing(&was, &moved, 0, cells, 1, weights - 1) > 0);
        assert_int_equal(differing(&was, &moved, 0, left, weights, h), 0);
        assert_true(differing(&was, &scaled, cells, left, 1, weights - 1) > 10);
        assert_true(differing(&was, &scaled, cells, left, weights, h) > 10);
        av_canvas_free(&was);
        av_canvas_free(&moved);
        av_canvas_free(&scaled);
    }
}

/* Blocks in the ramp's colours on the diagonal, round marks off it: signs can
 * be told by glyphs alone. */
static void signs_have_glyphs_of_their_own(void **state)
{
    (void)state;
    for (int ascii = 0; ascii <= 1; ascii++) {
        struct fake f;
        make_spike(&f, 12, 1);
        struct av_canvas c = drawn("softmax", &f, 80, 40, ascii);
        struct av_rect r = { 0, find(&c, "J = dp/dz"), 80 - AV_ROW_NUMBERS_W - 1, 0 };
        r.h = 40 - r.y;
        struct av_heat_grid g = av_panel_jacobian_grid(r, 12);
        assert_int_equal(g.pool_rows * g.pool_cols, 1);
        const char *marks = ascii ? ",coO" : "\u00B7\u2218\u25CB\u25CF";
        for (size_t i = 0; i < 12; i++) {
            for (size_t j = 0; j < 12; j++) {
                const struct av_cell *cell = av_canvas_at(&c, av_heat_x(&g, j), av_heat_y(&g, i));
                char glyph[8] = "";
                glyph[av_utf8_put(glyph, cell->code)] = '\0';
                assert_int_equal(cell->role == AV_ROLE_HEAT, i == j);
                assert_int_equal(cell->role == AV_ROLE_BAR && strstr(marks, glyph) != NULL, i != j);
            }
        }
        av_canvas_free(&c);
        fake_free(&f);
    }
}

static void many_keys_are_pooled_and_the_selected_one_named(void **state)
{
    (void)state;
    struct fake f;
    make_spike(&f, 2048, 8);
    f.s.params.key = 1500;
    SAYS(&f, "max of 53 keys", "key 1500: 0", "key 1500: 1.989e-4", "largest of 256×53", "43.81 of 2048 keys");
    fake_free(&f);
}

/* ---- The sweep ----------------------------------------------------------- */

static void the_peak_stands_where_it_is(void **state)
{
    (void)state;
    struct fake f;
    make_spike(&f, 100, 4);
    f.state.page = 1;
    SAYS(&f, "0.25 at z = ln 99 = 4.595 ▼", "peak of 0.25 at z = ln 99 = 4.595", "key 0: z 4  p 0.3555  dp/dz 0.2291",
         "at z = 0: 9.90e-3  at z = 4: 0.229  at z = 10: 4.45e-3");
    struct av_canvas c = drawn("softmax", &f, 80, 22, false);
    int y = find(&c, "▼");
    int at = 0;
    while (av_canvas_at(&c, at, y)->code != 0x25BC) {
        at++;
    }
    struct av_axis axis = { -10, 10, false, 80 - 7 };
    assert_int_equal(at, 6 + av_axis_cell(&axis, log(99)));
    /* The column below it is full: the peak is 0.25. */
    assert_int_equal(av_canvas_at(&c, at, y + 1)->code, 0x2588);
    av_canvas_free(&c);
    fake_free(&f);
}

static void what_lies_outside_is_said(void **state)
{
    (void)state;
    struct fake f;
    LAB(&f, 3, 1, 50, 50);
    f.state.page = 1;
    SAYS(&f, "peak 0.25 outside, z = 50 + ln 2 = 50.69 ▸");
    f.s.params.key = 2;
    SAYS(&f, "key 2: z 50", "▸");
    fake_free(&f);
    LAB(&f, 2, 0, -20);
    f.state.page = 1;
    SAYS(&f, "◂ peak 0.25 outside, z = the other's z = -20.00");
    fake_free(&f);
    LAB(&f, 1, 3);
    f.state.page = 1;
    SAYS(&f, "p = 1 whatever z is");
    fake_free(&f);
}

static void a_range_widens_the_sweep(void **state)
{
    (void)state;
    struct fake f;
    make_spike(&f, 100, 4);
    f.state.page = 1;
    f.s.params.x_range = 1000;
    SAYS(&f, "-1000", "▼ 0.25 at z = ln 99 = 4.595");
    f.s.params.x_range = 2;
    SAYS(&f, "peak 0.25 outside, z = ln 99 = 4.595 ▸");
    fake_free(&f);
}

/* ---- Keys ---------------------------------------------------------------- */

/* The view's key pressed on a list, with the state of a pipeline. */
static struct av_view_edit press(struct fake *pipeline, struct av_logit_list *l, int64_t selected, const char *key)
{
    struct av_view_edit e = { .state = &pipeline->state,
                              .snapshot = &pipeline->s,
                              .key = selected,
                              .rows = 22,
                              .cols = 80,
                              .row = l,
                              .pipeline = &pipeline->s };
    for (const struct av_view_action *a = av_view_find("softmax")->actions; a->key != NULL; a++) {
        if (strcmp(a->key, key) == 0) {
            a->run(&e);
            assert_true(e.key >= 0 && e.key < l->n);
            return e;
        }
    }
    fail_msg("softmax has no key %s", key);
    return e;
}

static void keys_edit_the_row(void **state)
{
    (void)state;
    static struct av_logit_list l;
    struct fake f;
    make(&f, NULL);
    make_list(&l, 3, (const double[]){ 1, 0.5, -0.5 });
    press(&f, &l, 1, "k");
    assert_true(l.at[1] == 0.6);
    press(&f, &l, 1, "J");
    assert_true(l.at[1] == -0.4);
    assert_int_equal(press(&f, &l, 1, "i").key, 2);
    assert_true(l.n == 4 && l.at[2] == 0 && l.at[3] == -0.5);
    assert_int_equal(press(&f, &l, 3, "x").key, 2);
    assert_int_equal(l.n, 3);
    assert_int_equal(press(&f, &l, 2, "l").key, 2);
    assert_int_equal(press(&f, &l, 0, "h").key, 0);
    assert_true(press(&f, &l, 0, "e").type);
    assert_string_equal(press(&f, &l, 0, "B").say, "all logits + 9: no weight has changed");
    assert_true(l.at[0] == 10 && l.at[1] == 8.6 && l.at[2] == 9);
    press(&f, &l, 0, "f");
    assert_true(l.at[0] == 5);
    press(&f, &l, 0, "z");
    assert_true(l.n == 6 && l.at[5] == 0);
    assert_int_equal(press(&f, &l, 5, "Z").key, 2);
    l.n = 1;
    assert_non_null(press(&f, &l, 0, "x").say);
    assert_non_null(press(&f, &l, 0, "Z").say);
    fake_free(&f);
}

/* What is said of a change is true of the row at hand. */
static void words_fit_the_row(void **state)
{
    (void)state;
    static struct av_logit_list l;
    struct fake f;
    make(&f, NULL);
    make_list(&l, 2, (const double[]){ 5, 5 });
    assert_string_equal(press(&f, &l, 0, "F").say, "all logits × 2: equal ones, which weigh the same");
    make_list(&l, 2, (const double[]){ 5, 4 });
    assert_string_equal(press(&f, &l, 0, "F").say, "all logits × 2: the weights are less even");
    assert_string_equal(press(&f, &l, 0, "f").say, "all logits / 2: the weights are more even");
    make_list(&l, 2, (const double[]){ 1e16, 1e16 + 2 });
    assert_string_equal(press(&f, &l, 0, "B").say, "all logits + 9, rounded");
    make_list(&l, 2, (const double[]){ 0, 0 });
    assert_string_equal(press(&f, &l, 0, "f").say, "all logits are 0");
    make_list(&l, 1, (const double[]){ 1e30 });
    assert_string_equal(press(&f, &l, 0, "k").say, "this logit is too large for such a step to change it");
    fake_free(&f);
}

/* With a temperature, what is typed and what the softmax gets are two numbers. */
static void given_logits_stand_beside_z(void **state)
{
    (void)state;
    struct fake f;
    LAB(&f, 3, 4, 2, 0);
    f.s.params.logits.at[0] = 8;
    SAYS(&f, "z             4, given 8");
    fake_free(&f);
}

static void presets_go_round(void **state)
{
    (void)state;
    static struct av_logit_list l;
    struct fake f;
    make(&f, NULL);
    size_t count;
    const struct av_logit_preset *all = av_logit_presets(&count);
    av_logit_list_preset(&l, &all[0]);
    for (size_t i = 1; i <= count; i++) {
        assert_string_equal(press(&f, &l, 0, "g").say, all[i % count].say);
    }
    press(&f, &l, 0, "G");
    assert_ptr_equal(av_logit_preset_of(&l), &all[count - 1]);
    l.at[0] = 0.123;
    press(&f, &l, 2047, "g");
    assert_ptr_equal(av_logit_preset_of(&l), &all[0]);
    fake_free(&f);
}

static void the_selected_row_is_loaded(void **state)
{
    (void)state;
    static struct av_logit_list l;
    struct fake f;
    MAKE(&f, "n_q=8", "n_k=8", "mask=causal", "query=4");
    make_list(&l, 1, (const double[]){ 3 });
    press(&f, &l, 0, "L");
    assert_int_equal(l.n, 5);
    for (size_t j = 0; j < 5; j++) {
        assert_true(l.at[j] == f.scores[4 * 8 + j] * f.s.alpha);
    }
    f.invalid[4] = true;
    make_list(&l, 1, (const double[]){ 3 });
    assert_non_null(strstr(press(&f, &l, 0, "L").say, "NaN"));
    f.invalid[4] = false;
    f.s.from_logits = true;
    f.s.scores = NULL;
    assert_non_null(strstr(press(&f, &l, 0, "L").say, "given"));
    assert_int_equal(l.n, 1);
    fake_free(&f);
}

static void a_click_selects_the_key_below_it(void **state)
{
    (void)state;
    struct fake f;
    LAB(&f, 3, 1, 0.5, -0.5);
    struct av_view_edit e = { .state = &f.state, .snapshot = &f.s, .rows = 22, .cols = 80 };
    struct av_rect r = { 0, 0, 80, 22 };
    for (int y = 1; y < 22; y += 5) {
        av_view_find("softmax")->click(r, AV_HEAT_MARGIN + 13, y, &e);
        assert_int_equal(e.key, 1);
        av_view_find("softmax")->click(r, AV_HEAT_MARGIN + 30, y, &e);
        assert_int_equal(e.key, 2);
        av_view_find("softmax")->click(r, 70, y, &e);
        assert_int_equal(e.key, 2);
    }
    fake_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_the_row),
        cmocka_unit_test(what_vanishes_is_not_0),
        cmocka_unit_test(adding_moves_the_axis_alone),
        cmocka_unit_test(signs_have_glyphs_of_their_own),
        cmocka_unit_test(many_keys_are_pooled_and_the_selected_one_named),
        cmocka_unit_test(the_peak_stands_where_it_is),
        cmocka_unit_test(what_lies_outside_is_said),
        cmocka_unit_test(a_range_widens_the_sweep),
        cmocka_unit_test(keys_edit_the_row),
        cmocka_unit_test(words_fit_the_row),
        cmocka_unit_test(given_logits_stand_beside_z),
        cmocka_unit_test(presets_go_round),
        cmocka_unit_test(the_selected_row_is_loaded),
        cmocka_unit_test(a_click_selects_the_key_below_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
