/* test_views.c - every view at every size, what it says, what a click selects. */
#include "fake_snapshot.h"

#include "../../src/draw/panels.h"
#include "attnviz/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

enum { LINE = 4096 };

/* ---- helpers --------------------------------------------------------- */

static void make(struct fake *f, const char *const *settings)
{
    struct av_params p;
    av_params_default(&p);
    for (; settings != NULL && *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&p, *settings, NULL), AV_OK);
    }
    fake_make(f, &p);
}

#define MAKE(f, ...) make(f, (const char *const[]){ __VA_ARGS__, NULL })

static struct av_canvas drawn(const char *view, const struct fake *f, int w, int h, bool ascii)
{
    struct av_canvas c = { .ascii = ascii };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    struct av_view_context ctx = fake_context(f, true);
    av_view_find(view)->draw(&c, (struct av_rect){ 0, 0, w, h }, &ctx);
    return c;
}

static const char *line(const struct av_canvas *c, int y, char out[LINE])
{
    size_t n = 0;
    for (int x = 0; x < c->cols; x++) {
        n += av_utf8_put(out + n, av_canvas_at(c, x, y)->code);
    }
    out[n] = '\0';
    return out;
}

/* The first line with `text`, -1 when there is none. */
static int find(const struct av_canvas *c, const char *text)
{
    char out[LINE];
    for (int y = 0; y < c->rows; y++) {
        if (strstr(line(c, y, out), text) != NULL) {
            return y;
        }
    }
    return -1;
}

static void assert_says(const char *view, const struct fake *f, int w, int h, const char *text)
{
    struct av_canvas c = drawn(view, f, w, h, false);
    if (find(&c, text) < 0) {
        fail_msg("%s at %dx%d does not say \"%s\"", view, w, h, text);
    }
    av_canvas_free(&c);
}

/* ---- the table ------------------------------------------------------- */

static void views_are_sorted_and_found(void **state)
{
    (void)state;
    size_t n = 0;
    const struct av_view *const *views = av_views(&n);
    assert_true(n >= 4);
    assert_string_equal(views[0]->name, "overview");
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || views[i - 1]->order < views[i]->order);
        assert_ptr_equal(av_view_find(views[i]->name), views[i]);
    }
    assert_null(av_view_find("no such view"));
}

static void a_view_uses_a_key_once(void **state)
{
    (void)state;
    size_t n = 0;
    const struct av_view *const *views = av_views(&n);
    for (size_t i = 0; i < n; i++) {
        for (const struct av_view_action *a = views[i]->actions; a != NULL && a->key != NULL; a++) {
            assert_non_null(a->run);
            assert_true(a->help[0] != '\0');
            for (const struct av_view_action *b = views[i]->actions; b != a; b++) {
                assert_string_not_equal(a->key, b->key);
                assert_string_not_equal(a->name, b->name);
            }
        }
    }
}

/* ---- every size ------------------------------------------------------ */

/* Draws all views at (2, 1) of a canvas that is larger, and checks that
 * nothing outside of the rectangle is touched, and ASCII where asked for. */
static void check_size(const struct fake *f, int w, int h, bool ascii)
{
    size_t n = 0;
    const struct av_view *const *views = av_views(&n);
    struct av_canvas c = { .ascii = ascii };
    assert_int_equal(av_canvas_resize(&c, w + 5, h + 3, NULL), AV_OK);
    struct av_view_context ctx = fake_context(f, true);
    for (size_t i = 0; i < n; i++) {
        av_canvas_clear(&c);
        views[i]->draw(&c, (struct av_rect){ 2, 1, w, h }, &ctx);
        assert_int_equal(c.clip.w, w + 5); /* given back as it was */
        for (int y = 0; y < c.rows; y++) {
            for (int x = 0; x < c.cols; x++) {
                const struct av_cell *cell = av_canvas_at(&c, x, y);
                bool inside = x >= 2 && x < 2 + w && y >= 1 && y < 1 + h;
                assert_true(inside || (cell->code == ' ' && !cell->mark));
                assert_true(!ascii || (cell->code >= ' ' && cell->code < 0x7F));
                assert_int_not_equal(cell->code, 0xFFFD);
            }
        }
    }
    av_canvas_free(&c);
}

static void check_sizes(struct fake *f)
{
    for (int w = 1; w <= 90; w += w < 12 ? 1 : 7) {
        for (int h = 1; h <= 40; h += h < 12 ? 1 : 5) {
            check_size(f, w, h, (w + h) % 2 == 0);
        }
    }
    check_size(f, 120, 38, false);
    check_size(f, 200, 58, true);
    check_size(f, 250, 80, false);
    fake_free(f);
}

static void no_size_breaks_the_default(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    check_sizes(&f);
}

static void no_size_breaks_masks_pools_and_ghosts(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "n_q=70", "n_k=40", "mask=causal", "scale=off", "d_k=1024", "query=69", "key=39", "key_offset=2");
    f.invalid[50] = true;
    f.state = (struct av_view_state){ .zoom = 1, .row = 9, .col = 1000, .quantity = 1, .pool = 1, .page = 1 };
    f.ghost = (struct av_ghost){ .on = true, .now = f.s.other, .bins = 10, .lo = -9, .hi = 7 };
    f.ghost.density[4] = 0.3;
    check_sizes(&f);
}

static void no_size_breaks_single_rows_and_keys(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "n_q=1", "n_k=1");
    check_sizes(&f);
    MAKE(&f, "n_q=1", "n_k=200", "bins=5");
    check_sizes(&f);
    MAKE(&f, "n_q=200", "n_k=2", "bins=400", "d_k=1");
    check_sizes(&f);
}

static void no_size_breaks_bare_snapshots(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "n_q=1", "n_k=5");
    f.s.from_logits = true;
    f.s.scores = NULL;
    f.s.other_rows = NULL;
    f.s.other.rows = 0;
    f.s.dq_rms = NULL;
    f.s.histogram = (struct av_score_histogram){ 0 };
    f.state.quantity = AV_HEAT_SCORES;
    check_sizes(&f);
    MAKE(&f, "n_q=3", "n_k=3");
    for (size_t i = 0; i < 3; i++) {
        f.invalid[i] = true;
    }
    f.s.now.rows = 0;
    f.s.has_theory = false;
    check_sizes(&f);
}

/* ---- what is said ---------------------------------------------------- */

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
    static const char *const worth[] = { "d_k 64", "32", "causal", "head 3 of 8", "queries.npy" };
    struct fake f;
    MAKE(&f, "scale=off", "mask=causal");
    struct av_tensor q = { .name = "queries.npy" };
    f.s.from_files = true;
    f.s.q_file = f.s.k_file = &q;
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

static void files_and_logits_are_named(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    struct av_tensor q = { .name = "queries.npy" };
    struct av_tensor k = { .name = "schlüssel-mit-einem-langen-namen.npy" };
    f.s.from_files = true;
    f.s.q_file = &q;
    f.s.k_file = &k;
    f.s.heads = 8;
    f.s.head = 3;
    assert_says("overview", &f, 160, 22, "head 3 of 8 · queries.npy × schlüssel-mit-einem-lang…");
    f.s.from_files = false;
    f.s.from_logits = true;
    assert_says("weights", &f, 80, 22, "z = ( logits + 0 ) / 1.00   32 logits given");
    fake_free(&f);
}

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

/* Cells with this code on a line. */
static int count(const struct av_canvas *c, int y, uint32_t code)
{
    int n = 0;
    for (int x = 0; x < c->cols; x++) {
        n += av_canvas_at(c, x, y)->code == code;
    }
    return n;
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

/* ---- the heatmap's numbers ------------------------------------------- */

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

/* ---- mouse and keys -------------------------------------------------- */

static struct av_view_edit edit_of(struct fake *f, int w, int h)
{
    return (struct av_view_edit){ &f->state, &f->s, f->s.params.query, f->s.params.key, h, w };
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

/* ---- the gradient's rows --------------------------------------------- */

static void sorted_rows_rise(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "n_q=40", "n_k=32", "scale=off", "d_k=1024");
    f.state.page = 1;
    f.s.other_rows = NULL;
    f.s.other.rows = 0;
    struct av_canvas c = drawn("gradient", &f, 100, 38, false);
    int top = find(&c, "jacobian_fro") + 1;
    int bottom = find(&c, "└");
    assert_true(top > 0 && bottom > top + 8);
    int last = bottom;
    int columns = 0;
    for (int x = 0; x < c.cols; x++) {
        for (int y = top; y < bottom; y++) {
            uint32_t code = av_canvas_at(&c, x, y)->code;
            if (code == AV_MARK_NOW || code == 0x25BE) {
                assert_true(y <= last);
                last = y;
                columns++;
            }
        }
    }
    assert_int_equal(columns, 40);
    av_canvas_free(&c);
    fake_free(&f);
}

static void rows_below_the_axis_point_down(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    struct av_canvas c = drawn("gradient", &f, 80, 22, false);
    assert_int_equal(find(&c, "▾"), -1);
    av_canvas_free(&c);
    f.rows[3].scaled.half_gap = 500; /* some 10^-435 */
    f.dq[3] = 0;
    c = drawn("gradient", &f, 80, 22, false);
    int legends = 0;
    int arrows = 0;
    for (int y = 0; y < c.rows; y++) {
        char out[LINE];
        bool legend = strstr(line(&c, y, out), "▾ below the axis") != NULL;
        legends += legend;
        arrows += legend ? 0 : count(&c, y, 0x25BE);
    }
    assert_int_equal(arrows, 2); /* one in each panel */
    assert_int_equal(legends, 2);
    av_canvas_free(&c);
    fake_free(&f);
}

static void queries_fill_the_width(void **state)
{
    (void)state;
    static const struct {
        int w, n_q, columns;
    } table[] = { { 80, 32, 2 }, { 80, 60, 1 }, { 100, 32, 2 }, { 120, 32, 3 }, { 200, 32, 5 }, { 60, 32, 1 } };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct av_heat_grid g = av_panel_rows_grid((struct av_rect){ 0, 0, table[i].w, 10 }, (size_t)table[i].n_q);
        assert_int_equal(g.cell_w, table[i].columns);
        assert_int_equal(g.pool_cols, 1);
        assert_int_equal(g.cells.w, table[i].columns * table[i].n_q);
    }
    struct fake f;
    make(&f, NULL);
    assert_says("gradient", &f, 80, 22, "┄ dead 1e-3");
    assert_says("gradient", &f, 120, 38, "┄ dead below 1e-3");
    fake_free(&f);
}

/* Labels of the vertical axes, all lines of them. */
static void axis_labels(const struct fake *f, char out[LINE])
{
    struct av_canvas c = drawn("gradient", f, 100, 40, false);
    size_t n = 0;
    for (int y = 3; y < c.rows; y++) {
        for (int x = 0; x < AV_HEAT_MARGIN; x++) {
            uint32_t code = av_canvas_at(&c, x, y)->code;
            out[n++] = code < 0x7F ? (char)code : '|';
        }
        out[n++] = '\n';
    }
    out[n] = '\0';
    av_canvas_free(&c);
}

static void the_scale_leaves_the_gradients_axes_alone(void **state)
{
    (void)state;
    static const char *const sizes[] = { "d_k=1", "d_k=16", "d_k=64", "d_k=1024", "d_k=4096" };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct fake on;
        struct fake off;
        char labels[2][LINE];
        MAKE(&on, sizes[i], "scale=on");
        MAKE(&off, sizes[i], "scale=off");
        axis_labels(&on, labels[0]);
        axis_labels(&off, labels[1]);
        assert_non_null(strstr(labels[0], "1e-"));
        assert_string_equal(labels[0], labels[1]);
        fake_free(&on);
        fake_free(&off);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_sorted_and_found),
        cmocka_unit_test(a_view_uses_a_key_once),
        cmocka_unit_test(no_size_breaks_the_default),
        cmocka_unit_test(no_size_breaks_masks_pools_and_ghosts),
        cmocka_unit_test(no_size_breaks_single_rows_and_keys),
        cmocka_unit_test(no_size_breaks_bare_snapshots),
        cmocka_unit_test(the_header_is_honest),
        cmocka_unit_test(a_glide_shows_the_multiplier_of_the_moment),
        cmocka_unit_test(the_header_sheds_the_least_first),
        cmocka_unit_test(ascii_spells_the_root),
        cmocka_unit_test(scores_beyond_the_axis_are_told),
        cmocka_unit_test(files_and_logits_are_named),
        cmocka_unit_test(now_stands_beside_the_current_state),
        cmocka_unit_test(gauges_show_the_summary),
        cmocka_unit_test(no_mark_covers_another),
        cmocka_unit_test(every_mark_is_named),
        cmocka_unit_test(no_number_is_cut),
        cmocka_unit_test(verdicts_come_worst_first),
        cmocka_unit_test(rows_without_keys_and_invalid_rows_say_so),
        cmocka_unit_test(moments_stand_beside_theory),
        cmocka_unit_test(pooled_values_are_those_of_the_entries),
        cmocka_unit_test(log_weights_hold_below_the_smallest_double),
        cmocka_unit_test(weights_have_one_scale_in_every_state),
        cmocka_unit_test(the_legend_of_weights_says_its_scale),
        cmocka_unit_test(small_weights_leave_their_column_blank),
        cmocka_unit_test(a_click_selects_what_is_drawn_there),
        cmocka_unit_test(clicks_in_the_overview_reach_every_entry),
        cmocka_unit_test(keys_keep_the_cursor_inside_and_in_sight),
        cmocka_unit_test(panning_reaches_the_far_corner_and_stops),
        cmocka_unit_test(sorted_rows_rise),
        cmocka_unit_test(rows_below_the_axis_point_down),
        cmocka_unit_test(queries_fill_the_width),
        cmocka_unit_test(the_scale_leaves_the_gradients_axes_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
