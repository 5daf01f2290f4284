/* test_view_variants.c - the table, drawn from the study. */
#include "variants_scene.h"

#include <math.h>

/* ---- the table ---------------------------------------------------------------- */

static void the_small_screen_has_the_telling_columns(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("seed=42"), false);
    struct av_canvas c = drawn(&s, 80, 22);
    static const char *const texts[] = { "now softmax · 32×32, d_k 64 · scale on · T 1 · normal · seed 42",
                                         "variants 1/3",
                                         "std z H/ln keys   keys  max w  J med  dq med  sum w   w≠0",
                                         "● now  ◇ compared  ✓ chosen  * row sum is not 1  = as softmax",
                                         "1-14 of 39",
                                         "softmax: e^z / sum e^z",
                                         "sigma_reparam, qk_clip: act in training only" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_says(&c, texts[i]);
    }
    av_canvas_free(&c);
    c = drawn(&s, 170, 58);
    assert_says(&c, "0  max w   1  0 H/ln keys 1 -12   z   12");
    assert_says(&c, "softmax1*");
    assert_true(find(&c, " of 39") < 0); /* all of it is in sight */
    leave(&s, &c);
}

/* The line of a variant has the study's numbers. */
static void lines_have_the_numbers(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("scale=off", "n_k=50"), false);
    struct av_canvas c = drawn(&s, 130, 58);
    for (size_t i = 0; i < av_variant_entries(); i++) {
        const struct av_variant_row *row = &s.result->table.rows[i];
        char out[LINE], number[AV_NUMBER_MAX];
        int y = 2 + (int)i;
        assert_non_null(strstr(line(&c, y, out), row->of.name));
        if (row->state == AV_VARIANT_REFUSED) {
            assert_non_null(strstr(out, row->why));
            continue;
        }
        for (int k = 0; k < 3; k++) {
            av_plot_number_in(number, row->measure.at[av_variant_columns[k].quantity], 3,
                              av_variant_columns[k].width - 1);
            assert_non_null(strstr(out, number));
        }
    }
    leave(&s, &c);
}

static void sorted_by_any_column_either_way(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("n_q=8", "n_k=16", "d_k=8"), false);
    const struct av_variant_table *t = &s.result->table;
    for (int column = 1; column <= AV_VARIANT_COLUMNS; column++) {
        for (int rising = 0; rising < 2; rising++) {
            struct av_variant_order order;
            av_variant_sort(&order, t, column, rising != 0);
            assert_int_equal(order.count, av_variant_entries());
            for (size_t i = 1; i < order.count; i++) {
                const struct av_variant_row *a = &t->rows[order.at[i - 1]], *b = &t->rows[order.at[i]];
                bool both = a->state == AV_VARIANT_MEASURED && b->state == AV_VARIANT_MEASURED;
                double x = a->measure.at[av_variant_columns[column - 1].quantity];
                double y = b->measure.at[av_variant_columns[column - 1].quantity];
                assert_true(!both || isnan(y) || (rising ? x <= y : x >= y));
                assert_true(both || b->state != AV_VARIANT_MEASURED); /* those without numbers last */
                assert_true(both || a->state == AV_VARIANT_MEASURED || order.at[i - 1] < order.at[i]);
            }
        }
    }
    variants()->close(s.study);
}

static void the_heading_says_what_it_is_sorted_by(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("seed=42"), false);
    s.state.row = 30;
    act(&s, "y", 80, 22);
    act(&s, "y", 80, 22);
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "1-14 of 39"); /* the top is in sight */
    assert_says(&c, "std z↓H/ln keys");
    assert_says(&c, "by entropy / ln(keys seen), mean ↓");
    av_canvas_free(&c);
    act(&s, "x", 80, 22);
    c = drawn(&s, 80, 22);
    assert_says(&c, "std z↑H/ln keys");
    for (int i = 0; i < 7; i++) {
        act(&s, "y", 80, 22); /* eight columns are in sight; behind them its own order */
    }
    assert_int_equal(s.state.quantity, 0);
    act(&s, "Y", 80, 22);
    assert_int_equal(s.state.quantity, 8);
    leave(&s, &c);
}

/* Wherever the cursor is and however it is sorted, it is in sight; once. */
static void the_cursor_is_in_sight(void **unused)
{
    (void)unused;
    static const int heights[] = { 4, 5, 9, 22, 39, 60 };
    struct scene s = scene(WITH("variant=mup+softcap", "n_k=40"), false);
    for (size_t i = 0; i < sizeof heights / sizeof *heights; i++) {
        for (s.state.quantity = 0; s.state.quantity < 4; s.state.quantity++) {
            for (s.state.row = 0; s.state.row <= (int)av_variant_entries(); s.state.row++) {
                struct av_canvas c = drawn(&s, 80, heights[i]);
                int y = line_with(&c, CURSOR, 0);
                char out[LINE];
                assert_true(y >= 2);
                assert_non_null(strstr(line(&c, y, out), s.result->table.rows[s.state.row].of.name));
                av_canvas_free(&c);
            }
        }
    }
    variants()->close(s.study);
}

/* The cursor goes down the lines as they are sorted, from the first to the last. */
static void the_cursor_walks_the_sorted_lines(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("seed=2"), false);
    struct av_variant_order order;
    act(&s, "y", 80, 22);
    av_variant_sort(&order, &s.result->table, 1, false);
    act(&s, "K", 80, 22);
    act(&s, "K", 80, 22);
    act(&s, "K", 80, 22);
    for (size_t i = 0; i < order.count; i++) {
        assert_int_equal(s.state.row, order.at[i]);
        act(&s, "j", 80, 22);
    }
    assert_int_equal(s.state.row, order.at[order.count - 1]);
    act(&s, "k", 80, 22);
    assert_int_equal(s.state.row, order.at[order.count - 2]);
    variants()->close(s.study);
}

static void a_click_selects_its_line(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("seed=2"), false);
    struct av_rect r = { 3, 2, 80, 22 };
    for (int y = r.y + 2; y < r.y + 16; y++) {
        struct av_canvas c = drawn_in(&s, 90, 30, r);
        struct av_view_edit e = { .state = &s.state, .study = s.result };
        char out[LINE];
        line(&c, y, out);
        view()->click(r, r.x + 9, y, &e);
        assert_non_null(strstr(out, s.result->table.rows[s.state.row].of.name));
        av_canvas_free(&c);
    }
    variants()->close(s.study);
}

/* The lines below the table: parameters of the row, and what they come to. */
static void details_follow_from_the_parameters(void **unused)
{
    (void)unused;
    static const struct {
        const char *settings[3], *name, *says;
        bool same; /* as softmax */
    } of[] = {
        { { "n_k=32" }, "logn", "L 64; factor 1: no row sees more than 32 keys", true },
        { { "logn.L=16" }, "logn", "L 16; factor 1.25 where a row sees 32 keys", false },
        { { "d_k=64" }, "mup", "factor 8; m = 0.125, as softmax has at d_k 64", true },
        { { "d_k=16" }, "mup", "factor 8; m = 0.5, softmax has 0.25", false },
        { { "scale=off" }, "mup", "scale is off: m = 1", true },
        { { "n_k=32" }, "llama4", "factor 1: positions end at 31, below the floor", true },
        { { "llama4.floor=8" }, "llama4", "factor 1.161 at the last position, 31", false },
        { { "n_k=32" }, "alibi", "slope 1/256 at head 1 of 1: the farthest key loses 0.121", false },
        { { "n_head=8", "head=1" }, "alibi", "slope 1/4 at head 2 of 8", false },
        { { "window.size=32" }, "window", "all keys are seen: none is farther than 31", true },
        { { "n_k=32" }, "clipped", "gamma -0.375: no weight where p < 0.273", false },
        { { "n_k=32" }, "qwen-3", "qk_rms (normalise): m q.k/(rms(q) rms(k)); eps 1e-06", false },
    };
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        struct scene s = scene(with(of[i].settings), false);
        s.state.row = (int)(row_named(s.result, of[i].name) - s.result->table.rows);
        struct av_canvas c = drawn(&s, 160, 60);
        assert_says(&c, of[i].says);
        if (of[i].same != (find(&c, "= the same weights as softmax here") >= 0)) {
            fail_msg("%s: the weights of softmax, or not?", of[i].name);
        }
        leave(&s, &c);
    }
}

static void rows_without_weight_are_told_of(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("q_std=0.1", "clipped.gamma=-2"), false);
    struct av_canvas c = drawn(&s, 80, 60);
    char out[LINE];
    assert_non_null(strstr(line(&c, find(&c, "clipped*"), out), "        -      -"));
    av_canvas_free(&c);
    s.state.row = (int)(row_named(s.result, "clipped") - s.result->table.rows);
    c = drawn(&s, 80, 60);
    assert_says(&c, "100% of rows have no weight at all");
    leave(&s, &c);
}

static void the_cursor_is_put_to_use(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("n_k=16", "variants=softmax,logn"), false);
    size_t place = 0;
    while (strcmp(av_variant_entry(place).name, "softcap") != 0) {
        place++;
    }
    s.state.row = (int)place;
    assert_int_equal(act(&s, "e", 80, 22).variant, av_variant_entry(place).value);
    assert_int_equal(act(&s, "C", 80, 22).compare, av_variant_entry(place).value);
    assert_int_equal(act(&s, "f", 80, 22).variants, s.result->params.variants | (int64_t)1 << place);
    assert_int_equal(act(&s, "F", 80, 22).variants, 0);
    s.state.row = 0;
    struct av_view_edit one = act(&s, "f", 80, 22);
    assert_int_equal(one.variants, s.result->params.variants - 1);
    assert_string_equal(one.say, "1 chosen; F: all again");
    while (strcmp(av_variant_entry(place).name, "gemma-2") != 0) {
        place++;
    }
    s.state.row = (int)place;
    struct av_view_edit e = act(&s, "e", 80, 22);
    assert_string_equal(e.preset->name, "gemma-2");
    assert_non_null(strstr(e.say, "its parameters"));
    s.state.page = 1;
    e = act(&s, "e", 80, 22);
    assert_int_equal(e.variant, s.result->params.variant);
    assert_non_null(strstr(e.say, "page 1"));
    variants()->close(s.study);
}

static void what_cannot_be_had_is_not_used(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("n_k=16"), false);
    size_t place = 0;
    while (strcmp(av_variant_entry(place).name, "lsh") != 0) {
        place++;
    }
    s.state.row = (int)place;
    assert_int_equal(act(&s, "e", 80, 22).variant, 0);
    assert_non_null(strstr(act(&s, "C", 80, 22).say, "cannot be had"));
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "it needs n_q = n_k, and they are 32 and 16");
    assert_says(&c, "lsh (pattern): k = q/|q|, keys in the query's bucket, itself at -5e4");
    leave(&s, &c);
}

/* Chosen ones stand on top, the present one and the other among them. */
static void chosen_ones_come_first(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("variants=sink,gemma-2", "variant=mup+softcap"), false);
    static const char *const names[] = { "sink*", "sparsemax", "gemma-2", "mup+softcap", "softmax" };
    struct av_canvas c = drawn(&s, 80, 22);
    for (int i = 0; i < 5; i++) {
        char out[LINE];
        assert_non_null(strstr(line(&c, 2 + i, out), names[i]));
        assert_true((strstr(out, "not chosen") != NULL) == (i == 4));
        assert_true((strstr(out, "✓") != NULL) == (i == 0 || i == 2));
    }
    leave(&s, &c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_screen_has_the_telling_columns),
        cmocka_unit_test(lines_have_the_numbers),
        cmocka_unit_test(sorted_by_any_column_either_way),
        cmocka_unit_test(the_heading_says_what_it_is_sorted_by),
        cmocka_unit_test(the_cursor_is_in_sight),
        cmocka_unit_test(the_cursor_walks_the_sorted_lines),
        cmocka_unit_test(a_click_selects_its_line),
        cmocka_unit_test(details_follow_from_the_parameters),
        cmocka_unit_test(rows_without_weight_are_told_of),
        cmocka_unit_test(the_cursor_is_put_to_use),
        cmocka_unit_test(what_cannot_be_had_is_not_used),
        cmocka_unit_test(chosen_ones_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
