/* test_view_diversity.c - heads beside each other, drawn from the study. */
#include "../../src/draw/panels_diversity.h"
#include "attnviz/study.h"
#include "canvas_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* A study asked about some settings, and the view's state. */
struct scene {
    void *study;
    const struct av_diversity *result;
    struct av_snapshot snapshot;
    struct av_view_state state;
    bool ascii;
};

static const struct av_view *view(void)
{
    return av_view_find("diversity");
}

static const struct av_study *study(void)
{
    return av_study_find("diversity");
}

static void make_scene(struct scene *s, bool whole, const char *const *settings)
{
    struct av_params p;
    *s = (struct scene){ .ascii = false };
    av_params_default(&p);
    for (; *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&p, *settings, NULL), AV_OK);
    }
    s->snapshot.params = p;
    assert_int_equal(study()->open(&s->study, av_kernels_best(), NULL), AV_OK);
    assert_int_equal(study()->begin(s->study, &p, NULL), AV_OK);
    while (whole && study()->step(s->study)) {
    }
    s->result = study()->result(s->study);
}

#define MAKE(s, whole, ...) make_scene(s, whole, (const char *const[]){ __VA_ARGS__, NULL })

static struct av_canvas drawn(const struct scene *s, int w, int h)
{
    static const struct av_ghost ghost;
    struct av_canvas c = { .ascii = s->ascii };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    const struct av_view_context ctx = {
        .snapshot = &s->snapshot, .ghost = &ghost, .state = &s->state, .study = s->result, .full = true
    };
    view()->draw(&c, (struct av_rect){ 0, 0, w, h }, &ctx);
    return c;
}

static void assert_says(const struct scene *s, int w, int h, const char *text)
{
    struct av_canvas c = drawn(s, w, h);
    if (find(&c, text) < 0) {
        fail_msg("nothing at %dx%d says \"%s\"", w, h, text);
    }
    av_canvas_free(&c);
}

/* ---- The first page ---------------------------------------------------------------- */

static void the_small_screen_says_it_all(void **unused)
{
    (void)unused;
    static const char *const texts[] = { "8 heads   softmax · 32×32 · d_k 64 · seed 42",
                                         "mean divergence 0.195 nats, 28% of ln 2",
                                         "same winner: 3% of rows (chance 3%)",
                                         "they overlap",
                                         "ln 2 = 0.69: no key shared",
                                         "• mean divergence / ln 2",
                                         "logits times a factor",
                                         "logit of key 0 raised" };
    struct scene s;
    MAKE(&s, true, "n_head=8");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_says(&s, 80, 22, texts[i]);
    }
    study()->close(s.study);
}

/* A head's line: its divergences from the others, then its own numbers. */
static void a_line_has_the_numbers_of_its_head(void **unused)
{
    (void)unused;
    struct scene s;
    MAKE(&s, true, "n_head=4", "scale=off");
    struct av_canvas c = drawn(&s, 80, 22);
    const int top = find(&c, "/ ln n") + 1;
    for (int a = 0; a < 4; a++) {
        char out[LINE], text[64], numbers[3][AV_NUMBER_MAX];
        const struct av_diversity_head *h = &s.result->of[a];
        const int step = (find(&c, "ln 2 = 0.69") - top) / 4;
        const char *at = line(&c, top + a * step, out);
        for (int b = 0; b < 4; b++) {
            snprintf(text, sizeof text, "%.2f", s.result->pair[a][b]);
            const char *there = strstr(at, text);
            assert_true(a == b || there != NULL);
            at = a == b ? at : there + 1;
        }
        snprintf(text, sizeof text, "%s   %s   %s", av_plot_number(numbers[0], h->entropy_norm, 3),
                 av_plot_number(numbers[1], h->max, 3), av_plot_number(numbers[2], h->divergence, 3));
        assert_non_null(strstr(at, text));
    }
    av_canvas_free(&c);
    study()->close(s.study);
}

/* Heat goes with the divergence: none for flat heads, most for sharp ones. */
static int hottest(const struct scene *s)
{
    struct av_canvas c = drawn(s, 80, 22);
    const int from = find(&c, "/ ln n") + 1, to = find(&c, "ln 2 = 0.69");
    int most = -1;
    for (int y = from; y < to; y++) {
        for (int x = 0; x < c.cols; x++) {
            const struct av_cell *cell = av_canvas_at(&c, x, y);
            most = cell->role == AV_ROLE_HEAT && cell->level > most ? cell->level : most;
        }
    }
    av_canvas_free(&c);
    return most;
}

static void heat_follows_the_divergence(void **unused)
{
    (void)unused;
    struct scene flat, sharp;
    MAKE(&flat, true, "n_head=4", "temperature=100");
    MAKE(&sharp, true, "n_head=4", "temperature=0.01");
    assert_int_equal(hottest(&flat), 0);
    assert_int_equal(hottest(&sharp), AV_HEAT_LEVELS - 1);
    study()->close(flat.study);
    study()->close(sharp.study);
}

static void the_head_in_sight_is_marked(void **unused)
{
    (void)unused;
    struct scene s;
    MAKE(&s, true, "n_head=4", "head=2");
    assert_says(&s, 80, 22, "2▸");
    study()->close(s.study);
}

/* ---- Curves --------------------------------------------------------------------------- */

/* The cell of the present state. */
static struct av_rect now_at(const struct av_canvas *c, int from_x, int to_x, int from_y)
{
    for (int y = from_y; y < c->rows; y++) {
        for (int x = from_x; x < to_x; x++) {
            if (av_canvas_at(c, x, y)->code == AV_MARK_NOW) {
                return (struct av_rect){ x, y, 1, 1 };
            }
        }
    }
    return (struct av_rect){ -1, -1, 0, 0 };
}

static void the_present_stands_on_the_curves(void **unused)
{
    (void)unused;
    struct scene s;
    MAKE(&s, true, "n_head=4", "key_offset=30", "temperature=2");
    s.state.page = 1;
    struct av_canvas c = drawn(&s, 80, 22);
    const int below = find(&c, "logits times") + 1;
    const struct av_rect left = now_at(&c, 0, 40, below), right = now_at(&c, 40, 80, below);
    assert_in_range(left.x, 5 + 33 / 2 - 1, 5 + 33 / 2 + 1);    /* a factor of 1 is in the middle */
    assert_in_range(right.x, 45 + 33 / 2 - 1, 45 + 34 / 2 + 1); /* 15 of 30 */
    assert_int_equal(left.y, 19);                               /* all on one key: no divergence */
    assert_int_equal(right.y, 19);
    av_canvas_free(&c);
    study()->close(s.study);
}

static void a_present_beyond_the_axis_is_pointed_at(void **unused)
{
    (void)unused;
    struct scene s;
    MAKE(&s, true, "n_head=2", "key_offset=-4");
    s.state.page = 1;
    assert_says(&s, 80, 22, "◂");
    study()->close(s.study);
}

static void before_it_is_measured(void **unused)
{
    (void)unused;
    struct scene s;
    MAKE(&s, false, "n_head=16", "n_q=256", "n_k=256");
    assert_false(s.result->known);
    assert_says(&s, 80, 30, "mean divergence …");
    struct av_canvas c = drawn(&s, 80, 30);
    assert_int_equal(find(&c, "nan"), -1);
    assert_int_equal(find(&c, "n/a"), -1);
    av_canvas_free(&c);
    study()->close(s.study);
}

/* ---- Edges ------------------------------------------------------------------------------- */

static void one_head_tells_how_to_get_more(void **unused)
{
    (void)unused;
    struct scene s;
    MAKE(&s, true, "n_head=1");
    assert_says(&s, 80, 22, "1 head ");
    assert_says(&s, 80, 22, ":n_head=8 gives eight heads");
    s.snapshot.from_files = true;
    assert_says(&s, 80, 22, "the files hold one head");
    study()->close(s.study);
    s.result = NULL;
    assert_says(&s, 80, 22, "not enough memory");
}

static void what_is_compared_is_told(void **unused)
{
    (void)unused;
    struct scene s;
    MAKE(&s, true, "n_head=2", "variant=softmax1", "dtype=f16", "mask=causal");
    assert_says(&s, 100, 22, "softmax1 · of |w| / sum |w| · 32×32 · d_k 64 · f16 · causal");
    study()->close(s.study);
    MAKE(&s, true, "n_head=2", "n_k=1");
    assert_says(&s, 80, 22, "no row counts");
    struct av_canvas c = drawn(&s, 60, 22);
    assert_int_equal(find(&c, "chance"), -1); /* of nothing */
    av_canvas_free(&c);
    study()->close(s.study);
    MAKE(&s, false, "n_head=16", "n_q=2048", "n_k=2048", "d_k=1");
    assert_says(&s, 80, 22, "queries measured");
    study()->close(s.study);
}

/* Every size and both pages, in ASCII nothing that has no stand-in. */
static void every_size_is_drawn(void **unused)
{
    (void)unused;
    static const char *const heads[] = { "n_head=2", "n_head=16" };
    for (size_t k = 0; k < 2; k++) {
        struct scene s;
        MAKE(&s, true, heads[k], "n_q=6", "n_k=6", "d_k=4");
        s.ascii = true;
        for (int w = 1; w <= 180; w += w < 90 ? 3 : 31) {
            for (int h = 1; h <= 70; h += h < 30 ? 2 : 13) {
                for (s.state.page = 0; s.state.page < 2; s.state.page++) {
                    struct av_canvas c = drawn(&s, w, h);
                    for (int i = 0; i < w * h; i++) {
                        assert_true(c.cells[i].code >= 0x20 && c.cells[i].code < 0x7F && c.cells[i].code != '?');
                    }
                    av_canvas_free(&c);
                }
            }
        }
        study()->close(s.study);
    }
}

/* A key turns the page, and back. */
static void the_page_turns(void **unused)
{
    (void)unused;
    struct scene s;
    MAKE(&s, true, "n_head=2");
    struct av_view_edit e = { .state = &s.state };
    assert_string_equal(view()->actions[0].key, "v");
    view()->actions[0].run(&e);
    assert_says(&s, 80, 22, "diversity 2/2");
    struct av_canvas c = drawn(&s, 80, 22);
    assert_int_equal(find(&c, "divergence of two heads"), -1);
    av_canvas_free(&c);
    view()->actions[0].run(&e);
    assert_says(&s, 80, 22, "diversity 1/2");
    study()->close(s.study);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_screen_says_it_all),
        cmocka_unit_test(a_line_has_the_numbers_of_its_head),
        cmocka_unit_test(heat_follows_the_divergence),
        cmocka_unit_test(the_head_in_sight_is_marked),
        cmocka_unit_test(the_present_stands_on_the_curves),
        cmocka_unit_test(a_present_beyond_the_axis_is_pointed_at),
        cmocka_unit_test(before_it_is_measured),
        cmocka_unit_test(one_head_tells_how_to_get_more),
        cmocka_unit_test(what_is_compared_is_told),
        cmocka_unit_test(every_size_is_drawn),
        cmocka_unit_test(the_page_turns),
    };
    return cmocka_run_group_tests_name("view diversity", tests, NULL, NULL);
}
