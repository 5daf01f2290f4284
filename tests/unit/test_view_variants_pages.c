/* test_view_variants_pages.c - two variants and curves, drawn from the study; any size. */
#include "variants_scene.h"

/* ---- two of them ------------------------------------------------------------------ */

static void two_variants_side_by_side(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("n_q=12", "n_k=12", "mask=causal", "variant=differential"), true);
    s.state.page = 1;
    struct av_canvas c = drawn(&s, 100, 30);
    static const char *const texts[] = { "variants 2/3",       "● differential", "◇ sparsemax", "difference ● - ◇",
                                         "|difference|: mean", "- negative",     "▲▼ >=",       "+- >=" };
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

/* On a low screen nothing is cut: what a cell is, and both steps of differences. */
static void legends_of_the_maps(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("seed=42"), true);
    s.state.page = 1;
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "max 3×2");
    assert_says(&c, "▲▼ >=0.41  +- >=0.083");
    assert_says(&c, "; total variation");
    av_canvas_free(&c);
    c = drawn(&s, 89, 39);
    assert_says(&c, "max 1×2"); /* every query has a line */
    av_canvas_free(&c);
    s.ascii = true;
    c = drawn(&s, 80, 22);
    assert_says(&c, "now minus compared");
    leave(&s, &c);
    s = scene(WITH("variant=sigmoid"), true);
    s.state.page = 1;
    c = drawn(&s, 120, 39);
    assert_says(&c, "half the sum of rows"); /* no distributions */
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
                                         "■ logn",       "△ ssmax",
                                         "□ sparsemax",  "• softmax, exact",
                                         "n_k 16",       " 2048" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_says(&c, texts[i]);
    }
    static const uint32_t marks[] = { 0x25CF, 0x25A0, 0x25B3, 0x25A1 };
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
    assert_says(&c, "entropy / ln keys mean");
    assert_true(find(&c, "exact") < 0);
    leave(&s, &c);
}

/* In ASCII each curve has a letter, and the theory another. */
static void curves_in_ascii(void **unused)
{
    (void)unused;
    struct scene s = scene(WITH("d_k=4"), true);
    s.state.page = 2;
    s.ascii = true;
    struct av_canvas c = drawn(&s, 120, 40);
    static const char *const texts[] = { "a softmax ", "b none ",      "c logn ",     "d ssmax ",
                                         "e qk_l2 ",   "f sparsemax ", "g softpick ", "T softmax, exact" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_says(&c, texts[i]);
        int seen = 0;
        for (int k = 0; k < c.cols * c.rows; k++) {
            seen += k % c.cols < 80 && c.cells[k].code == (uint32_t)texts[i][0];
        }
        assert_true(seen >= 4); /* some are hidden by others */
    }
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
        cmocka_unit_test(two_variants_side_by_side),
        cmocka_unit_test(curves_have_names_and_axes),
        cmocka_unit_test(legends_of_the_maps),
        cmocka_unit_test(curves_in_ascii),
        cmocka_unit_test(curves_with_gaps),
        cmocka_unit_test(nothing_leaves_the_rectangle),
        cmocka_unit_test(before_anything_is_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
