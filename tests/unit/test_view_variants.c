/* test_view_variants.c - the table, two variants and curves, drawn from the study. */
#include "../../src/draw/panels_variants.h"
#include "canvas_reader.h"
#include "variants_driver.h"

enum { OUTSIDE = 'X', CURSOR = 0x25B8 };

struct scene {
    void *study;
    const struct av_variants *result;
    struct av_view_state state;
    bool ascii;
};

static const struct av_view *view(void)
{
    return av_view_find("variants");
}

static struct scene scene(struct av_params p, bool whole)
{
    struct scene s = { .study = opened() };
    s.result = whole ? finished(s.study, p) : measured(s.study, p);
    return s;
}

/* Drawn into r of a canvas of w x h. */
static struct av_canvas drawn_in(const struct scene *s, int w, int h, struct av_rect r)
{
    static const struct av_snapshot snapshot;
    static const struct av_ghost ghost;
    struct av_canvas c = { .ascii = s->ascii };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    for (int i = 0; i < w * h; i++) {
        av_canvas_put(&c, i % w, i / w, OUTSIDE, AV_ROLE_TEXT);
    }
    for (int i = 0; i < r.w * r.h; i++) {
        av_canvas_put(&c, r.x + i % r.w, r.y + i / r.w, ' ', AV_ROLE_TEXT);
    }
    const struct av_view_context ctx = {
        .snapshot = &snapshot, .ghost = &ghost, .state = &s->state, .study = s->result, .progress = 1, .full = true
    };
    view()->draw(&c, r, &ctx);
    return c;
}

static struct av_canvas drawn(const struct scene *s, int w, int h)
{
    return drawn_in(s, w, h, (struct av_rect){ 0, 0, w, h });
}

static void leave(struct scene *s, struct av_canvas *c)
{
    variants()->close(s->study);
    av_canvas_free(c);
}

static void assert_says(const struct av_canvas *c, const char *text)
{
    if (find(c, text) < 0) {
        fail_msg("nothing says \"%s\"", text);
    }
}

/* An action of the view, as the app runs it. */
static struct av_view_edit act(struct scene *s, const char *key, int w, int h)
{
    static const struct av_snapshot snapshot;
    struct av_view_edit e = { .state = &s->state,
                              .snapshot = &snapshot,
                              .variant = s->result->params.variant,
                              .compare = s->result->params.compare,
                              .variants = s->result->params.variants,
                              .rows = h,
                              .cols = w,
                              .study = s->result };
    for (const struct av_view_action *a = view()->actions; a->key != NULL; a++) {
        if (strcmp(a->key, key) == 0) {
            a->run(&e);
            return e;
        }
    }
    fail_msg("no action has the key %s", key);
    return e;
}

static int line_with(const struct av_canvas *c, uint32_t code, int x)
{
    for (int y = 0; y < c->rows; y++) {
        if (av_canvas_at(c, x, y)->code == code) {
            return y;
        }
    }
    return -1;
}

/* ---- the table ---------------------------------------------------------------- */

static void the_small_screen_has_the_telling_columns(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("seed=42"), false);
    struct av_canvas c = drawn(&s, 80, 22);
    static const char *const texts[] = { "32×32, d_k 64 · scale on · T 1 · normal · seed 42",
                                         "variants 1/3",
                                         "std z  H/ln n   keys  max w  J med  dq med  sum w  w!=0",
                                         "* row sum is not 1: entropy of |w| / sum |w|",
                                         "● now  ◇ compared  ✓ chosen",
                                         "softmax: e^z / sum e^z" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_says(&c, texts[i]);
    }
    av_canvas_free(&c);
    c = drawn(&s, 170, 58);
    assert_says(&c, "0  max w   1  0  H/ln n  1  -12   z   12");
    assert_says(&c, "softmax1*");
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
                assert_true(!both || (rising ? x <= y : x >= y));
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
    act(&s, "y", 80, 22);
    act(&s, "y", 80, 22);
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "std z ↓H/ln n");
    assert_says(&c, "by entropy / ln n, mean ↓");
    av_canvas_free(&c);
    act(&s, "x", 80, 22);
    c = drawn(&s, 80, 22);
    assert_says(&c, "std z ↑H/ln n");
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
    assert_int_equal(act(&s, "f", 80, 22).variants, s.result->params.variants - 1);
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

/* ---- two of them ------------------------------------------------------------------ */

static void two_variants_side_by_side(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("n_q=12", "n_k=12", "mask=causal", "variant=differential"), true);
    s.state.page = 1;
    struct av_canvas c = drawn(&s, 100, 30);
    static const char *const texts[] = { "variants 2/3",       "● differential", "◇ sparsemax", "difference ● - ◇",
                                         "|difference|: mean", "- negative",     "▲▼ >= ",      "+- >= " };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_says(&c, texts[i]);
    }
    int masked = 0;
    for (int i = 0; i < c.cols * c.rows; i++) {
        masked += c.cells[i].code == 0x00B7 && c.cells[i].role == AV_ROLE_DIM;
    }
    assert_true(masked >= 3 * 66); /* above the diagonal of three maps, and in the head */
    leave(&s, &c);
    s = scene(WITH("variant=logn", "compare=logn", "n_k=8"), true);
    s.state.page = 1;
    c = drawn(&s, 80, 22);
    assert_says(&c, "Both are the same");
    leave(&s, &c);
    s = scene(WITH("compare=lsh", "n_k=8"), true);
    s.state.page = 1;
    c = drawn(&s, 80, 22);
    assert_says(&c, "it needs n_q = n_k");
    leave(&s, &c);
}

/* ---- curves --------------------------------------------------------------------------- */

static void curves_have_names_and_axes(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("n_q=8", "n_k=8", "d_k=4", "variants=softmax,logn,ssmax,sparsemax"), true);
    s.state.page = 2;
    struct av_canvas c = drawn(&s, 80, 22);
    static const char *const texts[] = { "variants 3/3", "up to 64 queries, d_k 4",
                                         "no mask",      "entropy nats, mean",
                                         "at 2048",      "● softmax",
                                         "◇ logn",       "▲ ssmax",
                                         "□ sparsemax",  "• softmax, exact",
                                         "n_k 16",       " 2048" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_says(&c, texts[i]);
    }
    static const uint32_t marks[] = { 0x25CF, 0x25C7, 0x25B2, 0x25A1 };
    for (size_t i = 0; i < 4; i++) { /* the last point of each curve is in its row of cells */
        int seen = 0;
        for (int y = 2; y < 20; y++) {
            for (int x = 8; x < 52; x++) {
                seen += av_canvas_at(&c, x, y)->code == marks[i];
            }
        }
        assert_true(seen >= 2 && seen <= 8);
    }
    av_canvas_free(&c);
    act(&s, "y", 80, 22);
    c = drawn(&s, 80, 22);
    assert_says(&c, "entropy / ln n mean");
    assert_true(find(&c, "exact") < 0);
    leave(&s, &c);
}

/* Points that cannot be had leave gaps, and say so. */
static void curves_with_gaps(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("n_k=4", "curve_over=d_k", "variants=differential", "d_k=2"), true);
    s.state.page = 2;
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "4 queries, 4 keys");
    assert_says(&c, "d_k 1 ");
    assert_says(&c, " 4096");
    leave(&s, &c);
    s = scene(WITH("variants=softmax,lsh", "d_k=2"), true);
    s.state.page = 2;
    c = drawn(&s, 80, 22);
    char out[LINE];
    assert_non_null(strstr(line(&c, find(&c, "lsh"), out), "n/a"));
    leave(&s, &c);
}

/* ---- any size ---------------------------------------------------------------------------- */

static void nothing_leaves_the_rectangle(void **unused)
{
    (void)unused;
    static const int sizes[][2] = { { 1, 1 },   { 20, 5 },  { 40, 12 },  { 79, 3 },   { 80, 22 },
                                    { 89, 39 }, { 13, 40 }, { 169, 58 }, { 300, 99 }, { 33, 7 } };
    struct scene s = scene(WITH("n_q=16", "n_k=16", "variant=mup+softcap+alibi", "compare=differential"), true);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int at = 0; at < 6; at++) {
            s.state.page = at % 3;
            s.ascii = at >= 3;
            struct av_rect r = { 2, 1, sizes[i][0], sizes[i][1] };
            struct av_canvas c = drawn_in(&s, r.w + 4, r.h + 2, r);
            for (int k = 0; k < c.cols * c.rows; k++) {
                int x = k % c.cols - r.x, y = k / c.cols - r.y;
                bool inside = x >= 0 && y >= 0 && x < r.w && y < r.h;
                assert_true(inside || c.cells[k].code == OUTSIDE);
                assert_true(c.cells[k].code != AV_GLYPH_UNKNOWN && (!s.ascii || c.cells[k].code < 0x7F));
            }
            av_canvas_free(&c);
        }
    }
    variants()->close(s.study);
}

/* What is begun only has names and no numbers; without memory there are words. */
static void before_anything_is_measured(void **unused)
{
    (void)unused;
    struct scene s = { .study = opened() };
    s.result = begun(s.study, WITH("seed=42"));
    for (s.state.page = 0; s.state.page < 3; s.state.page++) {
        struct av_canvas c = drawn(&s, 80, 22);
        assert_says(&c, "softmax");
        av_canvas_free(&c);
    }
    s.state.page = 0;
    struct av_canvas c = drawn(&s, 80, 22);
    char out[LINE];
    assert_non_null(strstr(line(&c, 3, out), "…"));
    av_canvas_free(&c);
    s.result = NULL;
    c = drawn(&s, 80, 22);
    assert_says(&c, "not enough memory");
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
        cmocka_unit_test(the_cursor_is_put_to_use),
        cmocka_unit_test(what_cannot_be_had_is_not_used),
        cmocka_unit_test(chosen_ones_come_first),
        cmocka_unit_test(two_variants_side_by_side),
        cmocka_unit_test(curves_have_names_and_axes),
        cmocka_unit_test(curves_with_gaps),
        cmocka_unit_test(nothing_leaves_the_rectangle),
        cmocka_unit_test(before_anything_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
