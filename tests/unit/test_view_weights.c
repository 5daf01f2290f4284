/* test_view_weights.c - the heatmap: its numbers, its colours, what a click and a key select. */
#include "view_driver.h"

/* ---- Numbers and colours ------------------------------------------------ */

static void pooled_values_are_those_of_the_entries(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "n_q=20", "n_k=30", "mask=causal", "scale=off");
    f.invalid[13] = true;
    for (int quantity = 0; quantity < AV_HEAT_QUANTITIES; quantity++) {
        for (size_t start = 0; start < 14; start += 3) {
            struct av_heat_block b = { start, 5, start + 5, 11 };
            double most = -(double)INFINITY;
            double sum = 0;
            size_t n = 0;
            for (size_t i = b.row; i < b.row + b.rows; i++) {
                for (size_t j = b.col; j < b.col + b.cols; j++) {
                    double v = 0;
                    bool shown = av_heat_value(&f.s, (enum av_heat_quantity)quantity, i, j, &v);
                    assert_int_equal(shown, !isinf(f.logits[i * 30 + j]) && !f.invalid[i]);
                    n += shown;
                    sum += shown ? v : 0;
                    most = shown ? fmax(most, v) : most;
                }
            }
            double v = 0;
            assert_int_equal(av_heat_pooled(&f.s, (enum av_heat_quantity)quantity, AV_HEAT_MAX, b, &v), AV_HEAT_SHOWN);
            assert_true(fabs(v - most) <= 1e-12 * fabs(most));
            assert_int_equal(av_heat_pooled(&f.s, (enum av_heat_quantity)quantity, AV_HEAT_MEAN, b, &v), AV_HEAT_SHOWN);
            assert_true(fabs(v - sum / (double)n) <= 1e-12 * fmax(1, fabs(v)));
        }
    }
    double v = 0;
    struct av_heat_block masked = { 0, 2, 25, 5 };
    struct av_heat_block invalid = { 13, 1, 0, 5 };
    assert_int_equal(av_heat_pooled(&f.s, AV_HEAT_WEIGHTS, AV_HEAT_MAX, masked, &v), AV_HEAT_MASKED);
    assert_int_equal(av_heat_pooled(&f.s, AV_HEAT_WEIGHTS, AV_HEAT_MAX, invalid, &v), AV_HEAT_INVALID);
    fake_free(&f);
}

static void log_weights_hold_below_the_smallest_double(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "n_q=1", "n_k=3");
    double z[] = { 1000, 0, -3 };
    memcpy(f.logits, z, sizeof z);
    fake_row(f.weights, z, 3, &f.rows[0]);
    double v = 0;
    assert_true(av_heat_value(&f.s, AV_HEAT_LOG_WEIGHTS, 0, 1, &v));
    assert_true(fabs(v + 1000 / log(10)) < 1e-10);
    assert_true(av_heat_value(&f.s, AV_HEAT_LOG_WEIGHTS, 0, 0, &v));
    assert_true(fabs(v) < 1e-300);
    fake_free(&f);
}

/* The level of a weight: how many of the eleven steps, even in its root, it
 * has climbed. */
static int level_by_steps(double p)
{
    int level = 0;
    for (int k = 1; k < AV_HEAT_LEVELS; k++) {
        level += p >= (double)(k * k) / (AV_HEAT_LEVELS * AV_HEAT_LEVELS);
    }
    return level;
}

/* Every cell has the level of the largest weight that it stands for. */
static void check_levels(const struct fake *f, int w, int h)
{
    struct av_canvas c = drawn("weights", f, w, h, false);
    struct av_heat_grid g = av_panel_weights_grid((struct av_rect){ 0, 1, w, h - 2 }, &f->s, &f->state);
    size_t n_k = f->s.n_k;
    assert_int_equal(g.rows * g.cols, f->s.n_q * n_k);
    for (size_t i = 0; i < f->s.n_q; i += g.pool_rows) {
        for (size_t j = 0; j < n_k; j += g.pool_cols) {
            double most = 0;
            for (size_t a = i; a < i + g.pool_rows && a < f->s.n_q; a++) {
                for (size_t b = j; b < j + g.pool_cols && b < n_k; b++) {
                    most = fmax(most, f->weights[a * n_k + b]);
                }
            }
            const struct av_cell *cell = av_canvas_at(&c, av_heat_x(&g, j), av_heat_y(&g, i));
            bool cursor = cell->mark;
            assert_true(cursor || cell->role == AV_ROLE_HEAT);
            assert_int_equal(cell->level, level_by_steps(most));
        }
    }
    av_canvas_free(&c);
}

static void weights_have_one_scale_in_every_state(void **state)
{
    (void)state;
    static const char *const states[][3] = {
        { "scale=on" }, { "scale=off" }, { "temperature=1e6" }, { "scale=off", "d_k=4096" }
    };
    for (size_t k = 0; k < sizeof states / sizeof *states; k++) {
        struct fake f;
        make(&f, states[k]);
        check_levels(&f, 80, 40);
        check_levels(&f, 40, 20);
        assert_says("weights", &f, 80, 22, "p 0 ");
        assert_says("weights", &f, 80, 22, " .25 ");
        assert_says("weights", &f, 80, 22, " 1  colour ~ √p");
        assert_says("overview", &f, 80, 22, " 1  colour ~ √p");
        fake_free(&f);
    }
}

/* The words beside the ramp leave room for what is drawn in the cells. */
static void the_legend_of_weights_says_its_scale(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "mask=causal");
    assert_says("overview", &f, 80, 22, " 1  · masked");
    assert_says("overview", &f, 120, 38, "· masked");
    struct av_canvas c = drawn("weights", &f, 80, 22, true);
    assert_true(find(&c, "colour ~ sqrt(p)") > 0);
    av_canvas_free(&c);
    f.state.quantity = AV_HEAT_LOG_WEIGHTS;
    assert_says("weights", &f, 80, 22, "-12 ");
    f.state.quantity = AV_HEAT_LOGITS;
    c = drawn("weights", &f, 80, 22, false);
    assert_int_equal(find(&c, "√p"), -1);
    av_canvas_free(&c);
    fake_free(&f);
}

/* A column of the selected query stands for a weight of some size. */
/* On a strip of one line, in either state. */
static void weights_are_told_apart_by_eighths(void **state)
{
    (void)state;
    for (int scale = 0; scale <= 1; scale++) {
        struct fake f;
        MAKE(&f, scale ? "scale=on" : "scale=off", "n_k=8");
        for (size_t j = 0; j < 8; j++) {
            f.weights[j] = (double)(j + 1) / 36;
        }
        f.rows[0].max = 8.0 / 36;
        struct av_canvas c = { .ascii = false };
        assert_int_equal(av_canvas_resize(&c, 40, 2, NULL), AV_OK);
        struct av_view_context ctx = fake_context(&f, true);
        struct av_heat_grid g =
            av_layout_heat((struct av_rect){ AV_HEAT_MARGIN, 0, 32, 1 }, 1, 8, (struct av_heat_window){ 0, 0, 0 });
        av_panel_row(&c, (struct av_rect){ 0, 0, 40, 2 }, &ctx, &g);
        for (size_t j = 0; j < 8; j++) {
            const struct av_cell *cell = av_canvas_at(&c, av_heat_x(&g, j), 1);
            assert_int_equal(cell->code, 0x2581 + j);
            assert_int_equal(cell->role, scale ? AV_ROLE_SCALED : AV_ROLE_UNSCALED);
        }
        av_canvas_free(&c);
        fake_free(&f);
    }
}

static void small_weights_leave_their_column_blank(void **state)
{
    (void)state;
    for (int scale = 0; scale <= 1; scale++) {
        struct fake f;
        MAKE(&f, scale ? "scale=on" : "scale=off", "n_k=16");
        double top = f.rows[0].max;
        for (size_t j = 0; j < 16; j++) {
            f.weights[j] = j == f.rows[0].argmax ? top : top / 16 * (j % 2 == 0 ? 0.99 : 1.01);
        }
        struct av_canvas c = drawn("overview", &f, 80, 22, false);
        int y = find(&c, "query 0") + 1;
        struct av_layout l = av_layout_overview((struct av_rect){ 0, 0, 80, 22 }, 32, 16);
        struct av_heat_grid g = av_panel_weights_grid(l.at[AV_PLACE_WEIGHTS], &f.s, &f.state);
        for (size_t j = 0; j < 16; j++) {
            bool seen = j % 2 == 1 || j == f.rows[0].argmax;
            assert_int_equal(av_canvas_at(&c, av_heat_x(&g, j), y + l.at[AV_PLACE_QUERY].h - 2)->code != ' ', seen);
        }
        av_canvas_free(&c);
        fake_free(&f);
    }
}

/* ---- Mouse and keys ----------------------------------------------------- */

static struct av_view_edit edit_of(struct fake *f, int w, int h)
{
    return (struct av_view_edit){
        .state = &f->state,
        .snapshot = &f->s,
        .query = f->s.params.query,
        .key = f->s.params.key,
        .rows = h,
        .cols = w,
    };
}

/* The marked cell is where a click selects the same query and key. */
static void a_click_selects_what_is_drawn_there(void **state)
{
    (void)state;
    static const int widths[] = { 30, 80, 121, 200 };
    struct fake f;
    MAKE(&f, "n_q=50", "n_k=60", "query=22", "key=31");
    for (size_t k = 0; k < 4; k++) {
        int w = widths[k];
        int h = 10 + w / 4;
        struct av_canvas c = drawn("weights", &f, w, h, false);
        int marked = 0;
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < w; x++) {
                if (av_canvas_at(&c, x, y)->mark) {
                    struct av_view_edit e = edit_of(&f, w, h);
                    e.query = e.key = -1;
                    av_view_find("weights")->click((struct av_rect){ 0, 0, w, h }, x, y, &e);
                    /* The first of the pool that holds the selection. */
                    assert_true(e.query >= 0 && e.query <= 22 && e.query > 22 - 12);
                    assert_true(e.key >= 0 && e.key <= 31 && e.key > 31 - 12);
                    marked++;
                }
            }
        }
        assert_true(marked >= 1);
        av_canvas_free(&c);
    }
    fake_free(&f);
}

static void clicks_in_the_overview_reach_every_entry(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    bool seen[32] = { false };
    for (int y = 0; y < 38; y++) {
        for (int x = 0; x < 120; x++) {
            struct av_view_edit e = edit_of(&f, 120, 38);
            e.query = e.key = -1;
            av_view_find("overview")->click((struct av_rect){ 0, 0, 120, 38 }, x, y, &e);
            assert_true(e.query < 32 && e.key < 32);
            if (e.query >= 0) {
                assert_true(e.key >= 0);
                seen[e.query] = true;
            }
        }
    }
    for (size_t i = 0; i < 32; i++) {
        assert_true(seen[i]);
    }
    fake_free(&f);
}

static void press(const char *view, const char *key, struct av_view_edit *e)
{
    for (const struct av_view_action *a = av_view_find(view)->actions; a->key != NULL; a++) {
        if (strcmp(a->key, key) == 0) {
            a->run(e);
            return;
        }
    }
    fail_msg("%s has no key %s", view, key);
}

/* What the weights view shows after an edit. */
static struct av_heat_grid shown(const struct fake *f, int w, int h)
{
    return av_panel_weights_grid((struct av_rect){ 0, 1, w, h - 2 }, &f->s, &f->state);
}

static void keys_keep_the_cursor_inside_and_in_sight(void **state)
{
    (void)state;
    static const char *const keys[] = { "h", "j", "k", "l", "z", "Z", "x", "y", "j", "l", "z" };
    struct fake f;
    MAKE(&f, "n_q=90", "n_k=70");
    uint64_t random = 1;
    struct av_view_edit e = edit_of(&f, 60, 20);
    for (int i = 0; i < 3000; i++) {
        random = random * 6364136223846793005U + 1;
        press("weights", keys[(random >> 33) % (sizeof keys / sizeof *keys)], &e);
        assert_true(e.query >= 0 && e.query < 90 && e.key >= 0 && e.key < 70);
        assert_true(f.state.zoom >= 0 && f.state.zoom < 16);
        struct av_heat_grid g = shown(&f, 60, 20);
        assert_true(av_heat_x(&g, (size_t)e.key) >= 0);
        assert_true(av_heat_y(&g, (size_t)e.query) >= 0);
    }
    fake_free(&f);
}

static void panning_reaches_the_far_corner_and_stops(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "n_q=300", "n_k=200");
    struct av_view_edit e = edit_of(&f, 60, 20);
    press("weights", "z", &e);
    press("weights", "z", &e);
    for (int i = 0; i < 100; i++) {
        press("weights", "J", &e);
        press("weights", "L", &e);
    }
    struct av_heat_grid g = shown(&f, 60, 20);
    assert_int_equal(g.row + g.rows, 300);
    assert_int_equal(g.col + g.cols, 200);
    assert_true(f.state.row < 300 && f.state.col < 200);
    for (int i = 0; i < 100; i++) {
        press("weights", "K", &e);
        press("weights", "H", &e);
    }
    assert_int_equal(f.state.row, 0);
    assert_int_equal(f.state.col, 0);
    assert_int_equal(e.query, 0); /* the cursor stays where it was */
    fake_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pooled_values_are_those_of_the_entries),
        cmocka_unit_test(log_weights_hold_below_the_smallest_double),
        cmocka_unit_test(weights_have_one_scale_in_every_state),
        cmocka_unit_test(the_legend_of_weights_says_its_scale),
        cmocka_unit_test(small_weights_leave_their_column_blank),
        cmocka_unit_test(weights_are_told_apart_by_eighths),
        cmocka_unit_test(a_click_selects_what_is_drawn_there),
        cmocka_unit_test(clicks_in_the_overview_reach_every_entry),
        cmocka_unit_test(keys_keep_the_cursor_inside_and_in_sight),
        cmocka_unit_test(panning_reaches_the_far_corner_and_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
