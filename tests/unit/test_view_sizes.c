/* test_view_sizes.c - the table of views; every view at every size. */
#include "view_driver.h"

/* ---- The table ---------------------------------------------------------- */

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

/* ---- Every size --------------------------------------------------------- */

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_are_sorted_and_found),          cmocka_unit_test(a_view_uses_a_key_once),
        cmocka_unit_test(no_size_breaks_the_default),          cmocka_unit_test(no_size_breaks_masks_pools_and_ghosts),
        cmocka_unit_test(no_size_breaks_single_rows_and_keys), cmocka_unit_test(no_size_breaks_bare_snapshots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
