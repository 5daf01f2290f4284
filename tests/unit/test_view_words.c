/* test_view_words.c - what the views say: header, gauges, verdicts, moments. */
#include "view_driver.h"

/* ---- The header --------------------------------------------------------- */

static void the_header_is_honest(void **state)
{
    (void)state;
    static const struct {
        const char *settings[4];
        const char *says;
    } table[] = {
        { { "d_k=64" }, "z = ( q·k / √64 + 0 ) / 1.00" },
        { { "scale=off" }, "z = ( q·k + 0 ) / 1.00   scale off" },
        { { "exponent=0.3" }, "z = ( q·k / 64^0.3 + 0 ) / 1.00" },
        { { "exponent=0" }, "z = ( q·k / 64^0 + 0 ) / 1.00" },
        { { "exponent=1" }, "z = ( q·k / 64 + 0 ) / 1.00" },
        { { "offset=-2.5", "temperature=0.05" }, "z = ( q·k / √64 - 2.5 ) / 0.05" },
        { { "key=5", "key_offset=3" }, "z = ( q·k / √64 + 0 + 3 at key 5 ) / 1.00" },
        { { "n_q=1", "n_k=1", "seed=7" }, "1 query × 1 key · seed 7" },
        { { "mask=causal" }, "causal" },
        { { "scale=off", "d_k=128" }, "d_k 128" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct fake f;
        make(&f, table[i].settings);
        for (int k = 0; k < 4; k++) {
            static const char *const views[] = { "overview", "scores", "weights", "gradient" };
            assert_says(views[k], &f, 120, 30, table[i].says);
        }
        fake_free(&f);
    }
}

static void a_glide_shows_the_multiplier_of_the_moment(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "scale=off");
    f.s.alpha = 0.4;
    f.s.gliding = true;
    assert_says("overview", &f, 80, 22, "q·k × 0.400");
    assert_says("overview", &f, 80, 22, "d_k 64");
    fake_free(&f);
}

/* As the line gets shorter its pieces go from the last: never is one gone
 * that is worth more than one that stands. */
static void the_header_sheds_the_least_first(void **state)
{
    (void)state;
    static const char *const worth[] = { "d_k 64", "32", "head 3", "causal", "queries.npy" };
    struct fake f;
    MAKE(&f, "scale=off", "mask=causal");
    const struct av_source source = { .name = "queries.npy", .layer_count = 1 };
    f.s.from_files = true;
    f.s.source = &source;
    f.s.heads = 8;
    f.s.head = 3;
    size_t most = 0;
    for (int w = 34; w <= 130; w++) {
        struct av_canvas c = drawn("overview", &f, w, 22, false);
        char out[LINE];
        line(&c, 0, out);
        size_t stand = 0;
        for (size_t i = 0; i < sizeof worth / sizeof *worth; i++) {
            bool seen = strstr(out, worth[i]) != NULL;
            assert_true(!seen || stand == i);
            stand += seen;
        }
        assert_true(stand >= 1); /* d_k always */
        most = stand > most ? stand : most;
        av_canvas_free(&c);
    }
    assert_int_equal(most, sizeof worth / sizeof *worth);
    fake_free(&f);
}

static void ascii_spells_the_root(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    struct av_canvas c = drawn("overview", &f, 200, 58, true);
    assert_int_equal(find(&c, "z = ( q.k / sqrt(64) + 0 ) / 1.00"), 0);
    assert_true(find(&c, "within a row . freezes at sqrt(2 ln n) = ") > 0);
    assert_int_equal(find(&c, "v64"), -1);
    av_canvas_free(&c);
    fake_free(&f);
}

static void files_and_logits_are_named(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    const struct av_source_layer layer = { .number = 7 };
    struct av_source source = { .name = "queries.npy × schlüssel-mit-einem-langen-namen-darin.npy", .layer_count = 1 };
    f.s.from_files = true;
    f.s.source = &source;
    f.s.layer = &layer;
    f.s.heads = 8;
    f.s.head = 3;
    assert_says("overview", &f, 160, 22, "head 3 of 8 · queries.npy × schlüssel-mit-einem-langen-namen-dari…");
    source.layer_count = 2;
    assert_says("overview", &f, 160, 22, "layer 7 head 3 of 8 · queries");
    source.layer_count = 1;
    f.s.params.scale = 0;
    f.s.params.mask = AV_MASK_CAUSAL;
    assert_says("gradient", &f, 80, 22, "d_k 64 · 32×32 · head 3/8 · causal");
    f.s.params.mask = 0;
    f.s.params.scale = 1;
    f.s.from_files = false;
    f.s.from_logits = true;
    assert_says("weights", &f, 80, 22, "z = ( logits + 0 ) / 1.00   32 logits given");
    fake_free(&f);
}

/* Without scores the words say where to look, and the gauges follow them. */
static void logits_leave_no_hole(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "n_q=1", "n_k=4");
    f.s.from_logits = true;
    f.s.scores = NULL;
    f.s.histogram = (struct av_score_histogram){ 0 };
    struct av_canvas c = drawn("overview", &f, 80, 22, false);
    assert_int_equal(find(&c, "logits given: no scores. See the views"), 1);
    assert_int_equal(find(&c, "weights and softmax."), 2);
    assert_int_equal(find(&c, "entropy "), 5); /* a blank, the legend */
    assert_true(find(&c, "d_scores") > 5);
    av_canvas_free(&c);
    assert_says("scores", &f, 80, 22, "See the views weights and softmax.");
    fake_free(&f);
}

/* ---- Scores and moments ------------------------------------------------- */

/* The title of the unscaled histogram, whole words only. */
static void scores_beyond_the_axis_are_told(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "scale=off", "d_k=1024");
    f.s.expected_var = 1024;
    assert_says("overview", &f, 120, 38, "• theory 1024  exact");
    f.s.histogram.unscaled_beyond = 0.312;
    assert_says("overview", &f, 80, 22, "31% beyond ◂ ▸");
    assert_says("overview", &f, 120, 38, "• theory 1024  ◂ 31% ▸");
    assert_says("scores", &f, 120, 38, "• theory 1024  31% beyond ◂ ▸  exact density");
    for (int w = 20; w <= 120; w++) {
        struct av_canvas c = drawn("overview", &f, w, 22, false);
        char out[LINE];
        int y = find(&c, "• 1");
        assert_int_equal(y, -1); /* no value without its word */
        y = find(&c, "unscaled now  var");
        assert_true(y < 0 || w < 34 || strstr(line(&c, y, out), "31%") != NULL);
        av_canvas_free(&c);
    }
    f.s.histogram.unscaled_beyond = 0.004;
    struct av_canvas c = drawn("scores", &f, 120, 38, false);
    assert_int_equal(find(&c, "beyond"), -1);
    av_canvas_free(&c);
    fake_free(&f);
}

static void moments_stand_beside_theory(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    f.s.expected_var = 64;
    assert_says("scores", &f, 80, 22, "exact density");
    struct av_canvas c = drawn("scores", &f, 80, 22, false);
    char out[LINE];
    char number[AV_NUMBER_MAX];
    int y = find(&c, " variance");
    assert_true(y >= 0);
    assert_non_null(strstr(line(&c, y, out), av_plot_number(number, av_moments_var(&f.s.score_moments), 4)));
    assert_non_null(strstr(line(&c, y, out), av_plot_number(number, av_moments_var(&f.s.score_moments) / 64, 4)));
    assert_non_null(strstr(out, " 64"));
    av_canvas_free(&c);
    f.s.histogram.exact = false;
    assert_says("scores", &f, 80, 22, "normal approx.");
    fake_free(&f);
}

/* ---- The states and their gauges ---------------------------------------- */

static void now_stands_beside_the_current_state(void **state)
{
    (void)state;
    for (int scale = 0; scale <= 1; scale++) {
        struct fake f;
        MAKE(&f, scale ? "scale=on" : "scale=off");
        struct av_canvas c = drawn("overview", &f, 80, 22, false);
        char out[LINE];
        int on = find(&c, "█ scaled");
        int off = find(&c, "░ unscaled");
        assert_true(on >= 0 && off > on);
        assert_true((strstr(line(&c, on, out), "scaled   now") != NULL) == (scale == 1));
        assert_true((strstr(line(&c, off, out), "unscaled now") != NULL) == (scale == 0));
        av_canvas_free(&c);
        fake_free(&f);
    }
}

static void gauges_show_the_summary(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "scale=off");
    struct av_summary *now = &f.s.now;
    now->entropy_norm_mean = 0.153;
    now->effective_keys_mean = 1.83;
    now->max_median = 0.9996;
    now->one_minus_max_median = 4e-4;
    now->share_max_gt_0_9 = 0.34;
    now->jacobian_fro_median = 4.2e-7;
    now->share_fro_lt_1e_3 = 0.004;
    f.s.other.entropy_norm_mean = 0.87;
    assert_says("overview", &f, 120, 38, "0.15 of ln 32 · 1.83 keys");
    assert_says("overview", &f, 120, 38, "! 1 - 4e-4 median · 34% rows > 0.9");
    assert_says("overview", &f, 120, 38, "! 4.2e-7 median · <1% dead rows");
    assert_says("overview", &f, 120, 38, "◇ 0.87");
    assert_says("overview", &f, 120, 38, "◂"); /* the gradient is left of its axis */
    now->max_median = 0.5;
    now->one_minus_max_median = 0.5;
    now->jacobian_fro_median = 0; /* underflow, not zero */
    assert_says("overview", &f, 120, 38, "largest p   0.50 median");
    assert_says("overview", &f, 120, 38, "<1e-307 median");
    fake_free(&f);
}

/* Makes all values that the gauges mark the same. */
static void set_gauges(struct fake *f, double v)
{
    struct av_summary *const both[] = { &f->s.now, &f->s.other };
    for (size_t k = 0; k < 2; k++) {
        both[k]->entropy_norm_mean = both[k]->max_median = both[k]->jacobian_fro_median = both[k]->row_std = v;
    }
    f->s.theory.entropy_norm = f->s.theory_std = f->s.theory_freezing = v;
    f->ghost = (struct av_ghost){ .on = true, .now = f->s.other };
}

/* Marks whose values fall together stand side by side. */
static void no_mark_covers_another(void **state)
{
    (void)state;
    static const struct {
        const char *label;
        bool theory, limit;
    } gauges[] = { { "entropy ", true, false },
                   { "largest p ", false, true },
                   { "gradient ", false, true },
                   { "logit std ", true, true } };
    static const double values[] = { 0.01, 0.25, 0.9, 1 };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct fake f;
        make(&f, NULL);
        set_gauges(&f, values[i]);
        struct av_canvas c = drawn("overview", &f, 120, 38, false);
        for (size_t k = 0; k < sizeof gauges / sizeof *gauges; k++) {
            int y = find(&c, gauges[k].label) + 1;
            assert_int_equal(count(&c, y, AV_MARK_OTHER), 2); /* on the track and beside its number */
            assert_int_equal(count(&c, y, AV_MARK_GHOST) + count(&c, y - 1, AV_MARK_GHOST), 2);
            assert_int_equal(count(&c, y, AV_MARK_THEORY), gauges[k].theory);
            assert_int_equal(count(&c, y, AV_MARK_ALARM), gauges[k].limit);
        }
        av_canvas_free(&c);
        fake_free(&f);
    }
}

/* Where the legend is short of room "now" goes, no mark that is drawn. */
static void every_mark_is_named(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    set_gauges(&f, 0.5);
    assert_says("overview", &f, 80, 22, "◇ unscaled  △ kept  ! alarm  │ theory");
    assert_says("overview", &f, 120, 38, "█ now  ◇ unscaled  △ kept  ! alarm  │ theory");
    assert_says("overview", &f, 37, 22, "◇ unscaled △ kept ! alarm │ theory");
    fake_free(&f);
}

/* At every width the number behind a gauge's label is whole or missing. */
static void no_number_is_cut(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    f.s.now.entropy_norm_mean = 0.873;
    for (int w = 1; w <= 83; w++) { /* from 84 on, the gauge stands before it */
        for (int h = 2; h <= 30; h++) {
            struct av_canvas c = drawn("overview", &f, w, h, false);
            char out[LINE];
            int y = find(&c, w < 21 ? " H  " : "entropy   ");
            const char *at = y < 0 ? NULL : strpbrk(line(&c, y, out), "0123456789");
            if (at != NULL) {
                assert_memory_equal(at, "0.87", 4);
                assert_null(strpbrk((char[]){ at[4], '\0' }, "0123456789.e"));
            }
            assert_true(at != NULL || w < 9 || y < 0);
            av_canvas_free(&c);
        }
    }
    fake_free(&f);
}

static void verdicts_come_worst_first(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    assert_says("overview", &f, 80, 22, "fine: ");
    f.s.verdict_count = 2;
    f.s.verdicts[0] = (struct av_verdict){ "a", AV_WARN, "first" };
    f.s.verdicts[1] = (struct av_verdict){ "b", AV_BAD, "second" };
    struct av_canvas c = drawn("overview", &f, 80, 22, false);
    int bad = find(&c, "alarm: second");
    assert_true(bad >= 0);
    assert_int_equal(find(&c, "warning: first"), bad + 1);
    assert_int_equal(find(&c, "fine: "), -1);
    av_canvas_free(&c);
    fake_free(&f);
}

static void rows_without_keys_and_invalid_rows_say_so(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "n_q=12", "n_k=10", "mask=causal");
    assert_int_equal(f.rows[1].keys, 0);
    f.invalid[5] = true;
    struct av_canvas c = drawn("weights", &f, 80, 22, false);
    char out[LINE];
    int y = find(&c, "no keys");
    assert_true(y >= 0);
    assert_non_null(strstr(line(&c, y + 1, out), "no keys"));
    assert_null(strstr(line(&c, y + 2, out), "no keys"));
    assert_non_null(strstr(line(&c, y + 5, out), "!!!"));
    assert_non_null(strstr(line(&c, y + 2, out), "···")); /* masked */
    assert_true(find(&c, "· masked") > 0);
    av_canvas_free(&c);
    f.s.params.query = 1;
    assert_says("overview", &f, 80, 22, "query 1 has no keys");
    f.s.params.query = 5;
    assert_says("overview", &f, 80, 22, "query 5 holds a NaN or an infinity");
    fake_free(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_header_is_honest),
        cmocka_unit_test(a_glide_shows_the_multiplier_of_the_moment),
        cmocka_unit_test(the_header_sheds_the_least_first),
        cmocka_unit_test(ascii_spells_the_root),
        cmocka_unit_test(files_and_logits_are_named),
        cmocka_unit_test(logits_leave_no_hole),
        cmocka_unit_test(scores_beyond_the_axis_are_told),
        cmocka_unit_test(moments_stand_beside_theory),
        cmocka_unit_test(now_stands_beside_the_current_state),
        cmocka_unit_test(gauges_show_the_summary),
        cmocka_unit_test(no_mark_covers_another),
        cmocka_unit_test(every_mark_is_named),
        cmocka_unit_test(no_number_is_cut),
        cmocka_unit_test(verdicts_come_worst_first),
        cmocka_unit_test(rows_without_keys_and_invalid_rows_say_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
