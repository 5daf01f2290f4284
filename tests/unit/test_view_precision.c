/* test_view_precision.c - the view `precision` from real snapshots: what it says
 * of dtypes and masks, at which size. */
#include "attnviz/model.h"
#include "attnviz/precision_study.h"
#include "attnviz/study.h"
#include "view_driver.h"

enum { DTYPES, MASKS, PAGES };

struct scene {
    struct av_model *model;
    struct av_studies *studies;
    const struct av_precision *result;
    double progress;
};

static void step_to_end(struct scene *s)
{
    const struct av_study *study = av_study_find("precision");
    while (av_studies_step(s->studies, study)) {
    }
    s->result = av_studies_result(s->studies, study);
    s->progress = av_studies_progress(s->studies, study);
}

/* Begun with these settings, nothing measured yet. */
static void open_scene(struct scene *s, const char *const *settings)
{
    const struct av_study *study = av_study_find("precision");
    struct av_params p;
    av_params_default(&p);
    for (; *settings != NULL; settings++) {
        assert_int_equal(av_params_set_text(&p, *settings, NULL), AV_OK);
    }
    assert_int_equal(av_model_new(&s->model, NULL, NULL), AV_OK);
    assert_int_equal(av_studies_new(&s->studies, NULL, NULL), AV_OK);
    assert_int_equal(av_model_update(s->model, &p, av_view_find("precision")->needs, NULL), AV_OK);
    assert_int_equal(av_studies_ask(s->studies, study, &p, NULL), AV_OK);
    s->result = av_studies_result(s->studies, study);
    s->progress = av_studies_progress(s->studies, study);
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
                                   .study = s->result,
                                   .progress = s->progress,
                                   .full = true };
    struct av_canvas c = { .ascii = ascii };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    av_view_find("precision")->draw(&c, (struct av_rect){ 0, 0, w, h }, &ctx);
    return c;
}

static int assert_on(const struct av_canvas *c, const char *text)
{
    int y = find(c, text);
    if (y < 0) {
        fail_msg("\"%s\" is not on the screen of %dx%d", text, c->cols, c->rows);
    }
    return y;
}

/* The n-th line that has the text, from 0. */
static const char *nth(const struct av_canvas *c, const char *text, int n, char out[LINE])
{
    for (int y = 0; y < c->rows; y++) {
        if (strstr(line(c, y, out), text) != NULL && n-- == 0) {
            return out;
        }
    }
    fail_msg("\"%s\" is on too few lines", text);
    return NULL;
}

/* Every number of the table stands on its line, for both states. */
static void the_table_is_whole_at_80_columns(void **state)
{
    (void)state;
    static const char *const cases[][6] = {
        { NULL },
        { "scale=off", "d_k=4096", "q_std=10", NULL },
        { "q_mean=100", "k_mean=100", "smooth_k=on", NULL },
        { "q_mean=100", "k_mean=100", "variant=qk_rms", "mask=causal", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene s;
        open_scene(&s, cases[i]);
        step_to_end(&s);
        struct av_canvas c = draw_scene(&s, DTYPES, 80, 22, false);
        bool now = s.result->params.scale != 0;
        for (int k = 0; k < 2; k++) {
            for (int t = AV_DTYPE_F32; t < AV_DTYPES; t++) {
                const struct av_precision_cell *cell = &s.result->at[k == 0 ? now : !now][t];
                char out[LINE], number[AV_NUMBER_MAX];
                char name[16];
                snprintf(name, sizeof name, "   %.8s ", av_param_find("dtype")->choices[t]);
                nth(&c, name, k, out);
                assert_non_null(strstr(out, av_plot_number(number, cell->weight_error_max, 2)));
                assert_non_null(strstr(out, av_plot_number(number, cell->weight_error_mean, 2)));
                assert_non_null(strstr(out, av_plot_number(number, cell->logit_error_max, 2)));
                snprintf(number, sizeof number, "%zu/%zu", cell->dead_rows, cell->rows - cell->nan_rows);
                assert_true(cell->dead_rows == 0 || strstr(out, number) != NULL);
            }
        }
        assert_true(assert_on(&c, "as set") < assert_on(&c, now ? " unscaled" : " scaled"));
        assert_on(&c, "scale on the query first");
        av_canvas_free(&c);
        close_scene(&s);
    }
}

static void overflow_is_told(void **state)
{
    (void)state;
    struct scene s;
    OPEN(&s, "q_mean=100", "k_mean=100", "dtype=f16");
    step_to_end(&s);
    struct av_canvas c = draw_scene(&s, DTYPES, 80, 22, false);
    char out[LINE];
    assert_non_null(strstr(nth(&c, "▸ f16", 0, out), "✗ ▸ f16"));
    assert_non_null(strstr(out, "32/32"));
    assert_non_null(strstr(out, "inf"));
    char text[64];
    snprintf(text, sizeof text, "or off   %zu  ✗ here", s.result->overflow.first[AV_SCALE_PRODUCT]);
    assert_on(&c, text);
    assert_on(&c, "✗ f16: 32 of 32 rows are NaN");
    av_canvas_free(&c);
    close_scene(&s);
    OPEN(&s, NULL);
    step_to_end(&s);
    c = draw_scene(&s, DTYPES, 80, 22, false);
    assert_on(&c, "or off   none up to 4096");
    assert_on(&c, "✓ every dtype keeps");
    assert_on(&c, "✓ fine  ! lost  ✗ NaN  ▸ dtype");
    assert_on(&c, "· bf16 logits: off by ");
    assert_int_equal(find(&c, "✗   "), -1);
    assert_int_equal(find(&c, "✗ f16"), -1);
    av_canvas_free(&c);
    close_scene(&s);
}

static void masks_are_told_in_every_dtype(void **state)
{
    (void)state;
    struct scene s;
    OPEN(&s, "query=3");
    step_to_end(&s);
    static const int sizes[][2] = { { 80, 22 }, { 89, 39 }, { 180, 60 } };
    for (size_t i = 0; i < 3; i++) {
        struct av_canvas c = draw_scene(&s, MASKS, sizes[i][0], sizes[i][1], false);
        char out[LINE];
        for (int v = 0; v < AV_MASK_VALUES; v++) {
            assert_on(&c, av_mask_value_names[v]);
            nth(&c, "all masked", v, out);
            const char *at = out;
            for (int t = AV_DTYPE_F16; t >= AV_DTYPE_F64; t--) { /* from the left */
                char words[AV_MASK_WORDS_MAX];
                enum av_severity how;
                at = strstr(at, av_mask_words_full(words, &s.result->masks[t][v], &how));
                assert_non_null(at);
            }
        }
        nth(&c, "-1e9 ", 0, out);
        assert_non_null(strstr(out, "✗ -inf"));
        assert_non_null(strstr(out, "✓ -9.9824e8"));
        assert_on(&c, "query 3");
        struct av_canvas ascii = draw_scene(&s, MASKS, sizes[i][0], sizes[i][1], true);
        assert_on(&ascii, "ok -10000");
        assert_on(&ascii, "no -inf");
        av_canvas_free(&ascii);
        assert_on(&c, "n of m different logits are left.");
        av_canvas_free(&c);
    }
    close_scene(&s);
}

/* Before anything is measured there are no numbers and no verdicts. */
static void nothing_is_said_too_early(void **state)
{
    (void)state;
    struct scene s;
    OPEN(&s, "smooth_k=on", "softmax_f32=on", "scale_order=query", "variant=softcap");
    for (int page = 0; page < PAGES; page++) {
        struct av_canvas c = draw_scene(&s, page, 89, 39, false);
        assert_on(&c, "…");
        assert_on(&c, "softcap");
        assert_on(&c, "scale_order query · softmax in f32 · keys less mean");
        assert_int_equal(find(&c, "✓"), -1);
        assert_int_equal(find(&c, "✗"), -1);
        av_canvas_free(&c);
    }
    close_scene(&s);
    struct fake f;
    MAKE(&f, NULL);
    assert_says("precision", &f, 80, 22, "not enough memory");
    fake_free(&f);
}

static void a_key_turns_the_page(void **state)
{
    (void)state;
    struct av_view_state at = { 0 };
    struct av_view_edit e = { .state = &at };
    const struct av_view_action *actions = av_view_find("precision")->actions;
    actions[0].run(&e);
    assert_int_equal(at.page, MASKS);
    actions[0].run(&e);
    assert_int_equal(at.page, DTYPES);
}

static void every_size_draws(void **state)
{
    (void)state;
    static const int sizes[][2] = { { 1, 1 }, { 3, 2 }, { 20, 5 }, { 40, 12 }, { 60, 20 }, { 80, 22 }, { 300, 100 } };
    struct scene s;
    OPEN(&s, "q_mean=100", "k_mean=100", "n_q=5");
    for (int done = 0; done < 2; done++) {
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (int page = 0; page < PAGES; page++) {
                for (int ascii = 0; ascii < 2; ascii++) {
                    struct av_canvas c = draw_scene(&s, page, sizes[i][0], sizes[i][1], ascii);
                    for (int y = 0; y < c.rows; y++) {
                        assert_int_equal(count(&c, y, ascii ? '?' : AV_GLYPH_UNKNOWN), 0);
                    }
                    av_canvas_free(&c);
                }
            }
        }
        step_to_end(&s);
    }
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_whole_at_80_columns),
        cmocka_unit_test(overflow_is_told),
        cmocka_unit_test(masks_are_told_in_every_dtype),
        cmocka_unit_test(nothing_is_said_too_early),
        cmocka_unit_test(a_key_turns_the_page),
        cmocka_unit_test(every_size_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
