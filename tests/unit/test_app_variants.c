/* The view of variants in the interactive program: models and the parameters of
 * its rows. */
#include "app_driver.h"

#include "attnviz/variant.h"

/* The cursor onto an entry of the table. */
static void go_to(struct av_app *app, const char *name)
{
    for (size_t i = 0; i < av_variant_entries(); i++) {
        press(app, "k");
    }
    for (size_t i = 0; strcmp(av_variant_entry(i).name, name) != 0; i++) {
        press(app, "j");
    }
}

static struct av_app *open_variants(void)
{
    struct av_app *app = open_plain();
    show(app, "variants");
    return app;
}

static void a_model_brings_its_parameters(void **state)
{
    (void)state;
    struct av_app *app = open_variants();
    const struct av_params before = *params_of(app);
    go_to(app, "gpt-oss");
    press(app, "e");
    const struct av_params *p = params_of(app);
    av_variant_value value;
    assert_int_equal(av_variant_parse(&value, "yarn+sink+window", NULL), AV_OK);
    assert_int_equal(p->variant, value);
    assert_true(p->of.yarn_S == 32);
    assert_int_equal(p->of.window_size, 128);
    assert_true(shows(app, "now gpt-oss: yarn+sink+window"));
    press(app, "u");
    assert_int_equal(params_of(app)->variant, before.variant);
    assert_true(params_of(app)->of.yarn_S == before.of.yarn_S);
    assert_int_equal(params_of(app)->of.window_size, before.of.window_size);
    go_to(app, "gemma-2");
    press(app, "e");
    go_to(app, "gemma-2-27b"); /* the same variant with another number */
    press(app, "e");
    assert_true(params_of(app)->of.fixed_scalar == 144);
    press(app, "u");
    assert_true(params_of(app)->of.fixed_scalar == 256);
    av_app_free(app);
}

/* A parameter of any row has an effect where all rows are compared. */
static void parameters_of_rows_are_typed(void **state)
{
    (void)state;
    struct av_app *app = open_variants();
    press(app, ": s o f t c a p . c = 3 0 Enter");
    assert_true(params_of(app)->of.softcap_c == 30);
    assert_null(strstr(av_app_message(app), "no effect"));
    press(app, ": v a r i a n t s = s i n k , g r o k - 1 Enter");
    press(app, ": s o f t c a p . c = 2 0 Enter"); /* the model has its own */
    assert_non_null(strstr(av_app_message(app), "no effect"));
    press(app, "Esc");
    press(app, ": s i n k . l o g i t = 1 Enter");
    assert_true(params_of(app)->of.sink_logit == 1);
    show(app, "overview");
    press(app, ": s i n k . l o g i t = 2 Enter");
    assert_non_null(strstr(av_app_message(app), "no effect: its variant is not chosen"));
    av_app_free(app);
}

/* What does nothing on a page is neither listed nor offered there. */
static void pages_have_their_parameters_and_actions(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    struct av_app *app = open_app(&config);
    av_app_resize(app, 160, 50);
    show(app, "variants");
    assert_true(shows(app, "f/F choose") && shows(app, "│ n_q"));
    press(app, "v");
    assert_false(shows(app, "f/F choose") || shows(app, "y/Y"));
    press(app, "v");
    assert_true(shows(app, "y/Y quantity") && !shows(app, "f/F choose"));
    assert_false(shows(app, "│ n_q") || shows(app, "│ n_k"));
    assert_true(shows(app, "│ d_k"));
    press(app, ": n _ k = 9 Enter");
    assert_non_null(strstr(av_app_message(app), "n_k has no effect: not used here"));
    press(app, "Esc");
    press(app, ": c u r v e _ o v e r = d _ k Enter");
    assert_true(shows(app, "│ n_k") && !shows(app, "│ d_k"));
    press(app, ": n _ k = 9 Enter");
    assert_int_equal(params_of(app)->n_k, 9);
    av_app_free(app);
}

/* What other pages show waits for them, and is there when they are shown again. */
static void a_page_is_computed_when_it_is_shown(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.view = "variants";
    assert_int_equal(av_params_set_text(&config.params, "n_q=8", NULL), AV_OK);
    assert_int_equal(av_params_set_text(&config.params, "n_k=8", NULL), AV_OK);
    assert_int_equal(av_params_set_text(&config.params, "d_k=4", NULL), AV_OK);
    assert_int_equal(av_params_set_text(&config.params, "variants=softmax,sqrt", NULL), AV_OK);
    struct av_app *app = open_app(&config);
    for (int page = 0; page < 3; page++) {
        assert_true(av_app_work(app));
        av_app_finish(app);
        assert_false(shows(app, "working"));
        press(app, "v");
    }
    assert_false(av_app_work(app)); /* the first again */
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_model_brings_its_parameters),
        cmocka_unit_test(parameters_of_rows_are_typed),
        cmocka_unit_test(pages_have_their_parameters_and_actions),
        cmocka_unit_test(a_page_is_computed_when_it_is_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
