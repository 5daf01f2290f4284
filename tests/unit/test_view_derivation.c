/* test_view_derivation.c - the view `derivation` from real snapshots: what it
 * says at which size, and that no number is ever cut. */
#include "attnviz/derivation.h"
#include "attnviz/model.h"
#include "attnviz/study.h"
#include "view_driver.h"

enum { CHAIN, ORIGIN, REMEDIES, PAGES };

/* A snapshot for some settings, and the study's result, of entries alone at first. */
struct scene {
    struct av_model *model;
    struct av_studies *studies;
    struct av_params p;
    const struct av_origin *origin;
};

static void open_scene(struct scene *s, const char *const *settings)
{
    const struct av_study *study = av_study_find("origin");
    av_params_default(&s->p);
    s->p.d_model = 8;
    for (; *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&s->p, *settings, NULL), AV_OK);
    }
    assert_int_equal(av_model_new(&s->model, NULL, NULL), AV_OK);
    assert_int_equal(av_studies_new(&s->studies, NULL, NULL), AV_OK);
    assert_int_equal(av_model_update(s->model, &s->p, av_view_find("derivation")->needs, NULL), AV_OK);
    assert_int_equal(av_studies_ask(s->studies, study, &s->p, NULL), AV_OK);
    do {
        s->origin = av_studies_result(s->studies, study);
    } while (!s->origin->entries.whole && av_studies_step(s->studies, study));
}

/* What the chain does not need. */
static void finish(struct scene *s)
{
    const struct av_study *study = av_study_find("origin");
    while (av_studies_step(s->studies, study)) {
    }
    s->origin = av_studies_result(s->studies, study);
}

#define OPEN(s, ...) open_scene(s, (const char *const[]){ __VA_ARGS__, NULL })

static void close_scene(struct scene *s)
{
    av_model_free(s->model);
    av_studies_free(s->studies);
}

static struct av_canvas draw_scene(const struct scene *s, int page, int w, int h, bool ascii)
{
    static const struct av_ghost ghost = { .on = false };
    struct av_view_state state = { .page = page };
    struct av_view_context ctx = { .snapshot = av_model_snapshot(s->model),
                                   .ghost = &ghost,
                                   .state = &state,
                                   .study = s->origin,
                                   .progress = 1,
                                   .full = true };
    struct av_canvas c = { .ascii = ascii };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    av_view_find("derivation")->draw(&c, (struct av_rect){ 0, 0, w, h }, &ctx);
    return c;
}

static void assert_on(const struct av_canvas *c, const char *text)
{
    if (find(c, text) < 0) {
        fail_msg("\"%s\" is not on the screen of %dx%d", text, c->cols, c->rows);
    }
}

/* Every text of the chain that must be seen is on the canvas, whole. */
static void assert_chain_complete(const struct scene *s, const struct av_canvas *c, bool details)
{
    struct av_chain chain;
    av_chain_make(&chain, av_model_snapshot(s->model), &s->origin->entries);
    for (size_t i = 0; i < chain.count; i++) {
        const struct av_chain_step *step = &chain.steps[i];
        char number[AV_NUMBER_MAX];
        assert_on(c, step->formula);
        assert_on(c, av_plot_number(number, step->measured, 3));
        if (step->state == AV_CHAIN_BROKEN) {
            assert_on(c, step->instead);
            assert_true(isnan(step->corrected) || find(c, av_plot_short(number, step->corrected, 4)) >= 0);
            /* Why there is no true value: only where there is room for it. */
            bool must = details && !isnan(step->corrected);
            for (int k = 0; must && k < AV_CHAIN_DETAILS; k++) {
                assert_on(c, step->detail[k]);
            }
        }
    }
}

/* ---- The chain ------------------------------------------------------------------ */

static void the_chain_fits_the_smallest_terminal(void **state)
{
    (void)state;
    static const char *const cases[][8] = {
        { NULL },
        { "q_std=2", NULL },
        { "scale=off", "d_k=4096", NULL },
        { "corr=-0.35", "mask=causal", NULL },
        { "q_std=2", "corr=0.3", "q_mean=0.5", "k_mean=0.5", "dist=laplace", "exponent=1", NULL },
        { "q_std=1.25", "k_std=0.75", "d_k=4096", "corr=-0.3", "exponent=0.45", "temperature=1.05", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        open_scene(&s, cases[i]);
        struct av_canvas c = draw_scene(&s, CHAIN, 80, 22, false);
        assert_chain_complete(&s, &c, true);
        av_canvas_free(&c);
        c = draw_scene(&s, CHAIN, 89, 39, false);
        assert_chain_complete(&s, &c, true);
        assert_on(&c, "needs");
        av_canvas_free(&c);
        close_scene(&s);
    }
}

/* At 80 columns nothing is cut, and the legend is the last line, whatever is broken. */
static void the_legend_ends_the_chain(void **state)
{
    (void)state;
    static const char *const cases[][8] = {
        { NULL },
        { "exponent=1", NULL },
        { "corr=0.3", NULL },
        { "q_mean=0.5", "k_mean=-0.5", "dist=uniform", NULL },
        { "q_mean=0.5", "k_mean=0.5", "dist=laplace", "temperature=2", NULL },
        { "q_std=2", "corr=0.3", "q_mean=0.5", "k_mean=0.5", "dist=laplace", "exponent=1", NULL },
        { "q_std=2", "k_std=3", "corr=-0.35", "q_mean=0.5", "k_mean=0.5", "d_k=4096", "exponent=0.45", NULL },
        { "scale=off", "d_k=4096", "k_std=2", "corr=0.3", "q_mean=1", "k_mean=0.25", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        open_scene(&s, cases[i]);
        for (int h = 22; h < 40; h++) {
            struct av_canvas c = draw_scene(&s, CHAIN, 80, h, false);
            int last = find(&c, "✗ not for these parameters");
            assert_true(last > 0);
            for (int y = 0; y < h; y++) {
                char out[LINE];
                assert_int_equal(count(&c, y, 0x2026), 0);
                assert_true(y <= last || strspn(line(&c, y, out), " ") == strlen(out));
            }
            av_canvas_free(&c);
        }
        close_scene(&s);
    }
}

/* A broken line differs by its glyph, its colour and its text; the others keep
 * theirs. */
static void broken_lines_light_up(void **state)
{
    (void)state;
    struct scene calm;
    struct scene broken;
    OPEN(&calm, NULL);
    OPEN(&broken, "q_std=2");
    struct av_canvas a = draw_scene(&calm, CHAIN, 80, 22, false);
    struct av_canvas b = draw_scene(&broken, CHAIN, 80, 22, false);
    static const struct {
        const char *line;
        bool lit;
    } lines[] = { { "E[q] = 0", false },       { "Var[q] = 1", true },           { "Var[k] = 1", false },
                  { "E[s] = d_k", false },     { "Var[s] = d_k", true },         { "ex. kurtosis", false },
                  { "α = 1/sqrt(d_k)", true }, { "Var[α s] = α^2 Var[s]", true } };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        int y = find(&a, lines[i].line);
        assert_true(y > 0);
        assert_int_equal(av_canvas_at(&a, 1, y)->code, 0x2713);
        y = find(&b, lines[i].line);
        assert_int_equal(av_canvas_at(&b, 1, y)->code, lines[i].lit ? 0x2717 : 0x2713);
        assert_int_equal(av_canvas_at(&b, 3, y)->role == AV_ROLE_BAD, lines[i].lit);
    }
    assert_on(&b, "Var[q] = 1 → q_std^2 = 2^2");
    assert_on(&b, "✗ not for these parameters");
    av_canvas_free(&a);
    av_canvas_free(&b);
    close_scene(&calm);
    close_scene(&broken);
}

/* At any size, a number of the chain is whole or missing. */
static void no_number_of_the_chain_is_cut(void **state)
{
    (void)state;
    struct scene s;
    OPEN(&s, "q_std=2", "k_mean=0.5");
    struct av_chain chain;
    av_chain_make(&chain, av_model_snapshot(s.model), &s.origin->entries);
    for (int w = 1; w <= 130; w++) {
        struct av_canvas c = draw_scene(&s, CHAIN, w, 30, false);
        char out[LINE];
        char number[AV_NUMBER_MAX];
        int y = find(&c, "Var[s] = d_k");
        if (y < 0) {
            assert_true(w < 28);
        } else {
            const struct av_chain_step *step = &chain.steps[6];
            assert_int_equal(step->textbook, 64);
            line(&c, y, out);
            const char *digits = out + strcspn(out, "]") + strlen("] = d_k Var[q]Var[k]");
            const char *at = strstr(digits, av_plot_number(number, step->measured, 3));
            assert_true(at != NULL || strpbrk(digits, "0123456789") == NULL);
            assert_true(at != NULL || w < 40);
        }
        av_canvas_free(&c);
    }
    close_scene(&s);
}

static void few_lines_say_how_many_are_left(void **state)
{
    (void)state;
    struct scene s;
    OPEN(&s, NULL);
    struct av_canvas c = draw_scene(&s, CHAIN, 80, 12, false);
    assert_on(&c, "… 6 more");
    assert_int_equal(find(&c, "α = 1/sqrt(d_k)"), 10);
    av_canvas_free(&c);
    close_scene(&s);
}

static void logits_and_missing_memory_are_said(void **state)
{
    (void)state;
    struct scene s;
    OPEN(&s, "logits=1,2,3");
    struct av_canvas c = draw_scene(&s, CHAIN, 80, 22, false);
    assert_on(&c, "The logits are given by hand");
    assert_on(&c, "std[z] < sqrt(2 ln n) = sqrt(2 ln 3)");
    assert_int_equal(find(&c, "Var[q]"), -1);
    av_canvas_free(&c);
    s.origin = NULL;
    for (int page = ORIGIN; page < PAGES; page++) {
        c = draw_scene(&s, page, 80, 22, false);
        assert_on(&c, "not enough memory");
        av_canvas_free(&c);
    }
    close_scene(&s);
}

/* Before the entries are measured their lines stand without a number. */
static void nothing_is_measured_yet(void **state)
{
    (void)state;
    struct fake f;
    MAKE(&f, "q_std=2");
    struct av_canvas c = drawn("derivation", &f, 80, 22, false);
    char out[LINE];
    assert_non_null(strstr(line(&c, find(&c, "E[k] = 0"), out), "E[k] = 0"));
    assert_null(strpbrk(strstr(out, "= 0") + strlen("= 0"), "123456789"));
    assert_on(&c, "Var[q] = 1 → q_std^2 = 2^2");
    av_canvas_free(&c);
    fake_free(&f);
}

/* ---- The other pages -------------------------------------------------------------- */

static void the_origin_shows_every_init(void **state)
{
    (void)state;
    static const char *const names[] = { "pytorch", "unit", "xavier", "kaiming" };
    static const int sizes[][2] = { { 80, 22 }, { 89, 39 }, { 104, 60 } };
    struct scene s;
    OPEN(&s, "init=xavier", "input_mean=0.5", "layer_norm=on");
    finish(&s);
    for (size_t i = 0; i < 3; i++) {
        struct av_canvas c = draw_scene(&s, ORIGIN, sizes[i][0], sizes[i][1], false);
        char number[AV_NUMBER_MAX];
        for (int k = 0; k < AV_INIT_COUNT; k++) {
            assert_on(&c, names[k]);
            for (int norm = 0; norm < 2; norm++) {
                assert_on(&c, av_plot_number(number, s.origin->at[k][norm][AV_ORIGIN_S].measured, 3));
            }
            assert_on(&c, av_plot_number(number, s.origin->at[k][1][AV_ORIGIN_S].theory, 3));
            assert_on(&c, av_plot_number(number, s.origin->at[k][1][AV_ORIGIN_S].error, 2));
        }
        assert_true(find(&c, "with LayerNorm") < find(&c, "no LayerNorm"));
        assert_int_equal(find(&c, "▸ xavier"), find(&c, "with LayerNorm") + 7);
        assert_on(&c, "64 drawings of x, w_q, w_k: seeds 42 + 0 .. 63");
        av_canvas_free(&c);
    }
    close_scene(&s);
}

static void the_table_shows_what_is_missing(void **state)
{
    (void)state;
    struct scene s;
    OPEN(&s, "input_mean=1");
    finish(&s);
    struct av_canvas c = draw_scene(&s, REMEDIES, 80, 22, false);
    static const struct {
        const char *name;
        uint32_t mark;
        const char *variance;
    } rows[] = { { "nothing missing", 0x2713, "1.00" },
                 { "scale", 0x2717, "64.0" },
                 { "LayerNorm", 0x2717, "4.00" },
                 { "initialisation", 0x2717, "64.0" },
                 { "as set", 0x2717, "0.444" } };
    for (int i = 0; i < 5; i++) {
        char out[LINE];
        int y = 4 + 3 * i;
        assert_non_null(strstr(line(&c, y, out), rows[i].name));
        assert_non_null(strstr(out, rows[i].variance));
        assert_int_equal(av_canvas_at(&c, 1, y)->code, rows[i].mark);
    }
    assert_on(&c, "+ QK-norm");
    assert_on(&c, "try input_std=2");
    assert_on(&c, "No initialisation: w ~ N(0, 1).");
    assert_on(&c, "64 drawings");
    assert_on(&c, "inputs x, before w_q and w_k");
    av_canvas_free(&c);
    close_scene(&s);
}

static void keys_turn_the_pages(void **state)
{
    (void)state;
    struct av_view_state at = { 0 };
    struct av_view_edit e = { .state = &at };
    const struct av_view_action *actions = av_view_find("derivation")->actions;
    for (int i = 1; i <= PAGES; i++) {
        actions[0].run(&e);
        assert_int_equal(at.page, i % PAGES);
    }
    actions[1].run(&e);
    assert_int_equal(at.page, REMEDIES);
}

/* Any size, in ASCII and in Unicode: nothing outside the canvas (the sanitizers
 * look), no glyph without a stand-in, nothing left unsaid where there is room. */
static void every_size_draws(void **state)
{
    (void)state;
    static const int sizes[][2] = { { 1, 1 }, { 3, 2 }, { 20, 5 }, { 40, 12 }, { 60, 20 }, { 80, 22 }, { 300, 100 } };
    struct scene s;
    OPEN(&s, "q_std=2", "corr=0.3", "k_mean=0.5", "q_mean=0.5", "dist=laplace");
    finish(&s);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int page = 0; page < PAGES; page++) {
            struct av_canvas c = draw_scene(&s, page, sizes[i][0], sizes[i][1], true);
            for (int y = 0; y < c.rows; y++) {
                assert_int_equal(count(&c, y, '?'), 0);
            }
            av_canvas_free(&c);
            c = draw_scene(&s, page, sizes[i][0], sizes[i][1], false);
            for (int y = 0; y < c.rows; y++) {
                assert_int_equal(count(&c, y, AV_GLYPH_UNKNOWN), 0);
            }
            av_canvas_free(&c);
        }
    }
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_chain_fits_the_smallest_terminal),
        cmocka_unit_test(the_legend_ends_the_chain),
        cmocka_unit_test(broken_lines_light_up),
        cmocka_unit_test(no_number_of_the_chain_is_cut),
        cmocka_unit_test(few_lines_say_how_many_are_left),
        cmocka_unit_test(logits_and_missing_memory_are_said),
        cmocka_unit_test(nothing_is_measured_yet),
        cmocka_unit_test(the_origin_shows_every_init),
        cmocka_unit_test(the_table_shows_what_is_missing),
        cmocka_unit_test(keys_turn_the_pages),
        cmocka_unit_test(every_size_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
