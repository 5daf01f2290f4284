/* Studies in the interactive program: computed while no key waits, stopped,
 * taken up again, begun anew. */
#include "app_driver.h"
#include "drawn_source.h"

static struct av_app *open_distributions(void)
{
    struct av_app_config config = plain_config();
    config.view = "distributions";
    config.params.samples = 20000;
    return open_app(&config);
}

static void views_without_a_study_have_no_work(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    assert_false(av_app_work(app));
    press(app, "Esc");
    assert_string_equal(av_app_message(app), "");
    av_app_free(app);
}

static void work_ends_and_the_screen_tells_how_far_it_is(void **state)
{
    (void)state;
    struct av_app *app = open_distributions();
    int units = 0;
    assert_true(av_app_work(app));
    assert_true(shows(app, "working"));
    while (av_app_work(app)) {
        units++;
    }
    assert_true(units > 3);
    assert_false(shows(app, "working"));
    assert_false(av_app_work(app));
    av_app_free(app);
}

static void escape_stops_it_and_lets_it_go_on(void **state)
{
    (void)state;
    struct av_app *app = open_distributions();
    assert_true(av_app_work(app));
    press(app, "Esc");
    assert_false(av_app_work(app));
    assert_true(shows(app, "stopped at"));
    av_app_finish(app); /* does not go on behind the user's back */
    assert_true(shows(app, "stopped at"));
    press(app, "Esc");
    assert_true(av_app_work(app));
    av_app_finish(app);
    assert_false(shows(app, "working"));
    press(app, "Esc"); /* nothing left to stop */
    assert_false(shows(app, "stopped"));
    av_app_free(app);
}

static void a_change_begins_anew_and_undoing_it_too(void **state)
{
    (void)state;
    struct av_app *app = open_distributions();
    av_app_finish(app);
    press(app, "r u"); /* selects the seed */
    av_app_finish(app);
    struct av_str first = screen(app);
    press(app, "r");
    assert_true(av_app_work(app));
    press(app, "Esc u");
    assert_true(av_app_work(app)); /* what was stopped was of another seed */
    av_app_finish(app);
    struct av_str again = screen(app);
    assert_string_equal(av_str_text(&first), av_str_text(&again));
    av_str_free(&first);
    av_str_free(&again);
    av_app_free(app);
}

static void other_views_leave_it_as_it_is(void **state)
{
    (void)state;
    struct av_app *app = open_distributions();
    av_app_finish(app);
    show(app, "overview");
    press(app, "D"); /* nothing that the study listens to */
    show(app, "distributions");
    assert_false(av_app_work(app));
    av_app_free(app);
}

/* Such a view does not have the pipeline computed. */
static void it_does_not_wait_for_the_pipeline(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.view = "saturation";
    struct av_app *app = open_app(&config);
    av_app_draw(app);
    press(app, "D D D");
    av_app_draw(app);
    assert_true(shows(app, "at d_k 512"));
    show(app, "overview");
    assert_int_equal(av_app_snapshot(app, 0)->runs[AV_STAGE_SCORES], 2); /* at the start, and now */
    av_app_free(app);
}

/* What cannot be had with these parameters is told, and has failed nowhere: the
 * view may be left, and a picture of it shows the words. */
static void a_refused_study_is_no_failure(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    assert_int_equal(av_params_set_text(&config.params, "variant=lsh", NULL), AV_OK);
    struct av_app *app = open_app(&config);
    show(app, "training");
    press(app, "z");
    assert_int_equal(av_app_status(app), AV_OK);
    av_app_finish(app);
    assert_int_equal(av_app_status(app), AV_OK);
    assert_true(shows(app, "it has no backward pass here"));
    show(app, "overview");
    av_app_finish(app);
    assert_string_equal(av_app_message(app), "");
    assert_int_equal(av_app_status(app), AV_OK);
    av_app_free(app);
}

/* A file that fails is a failure of what is shown at the end, and of nothing else. */
static void a_failed_study_fails_where_it_is_shown(void **state)
{
    (void)state;
    struct drawn_source d;
    drawn_source(&d, 8, 8, 4, false);
    struct av_app_config config = plain_config();
    config.source = &d.source;
    struct av_app *app = open_app(&config);
    av_app_draw(app);
    d.fail_after = d.reads;
    show(app, "variants");
    press(app, "j");
    assert_int_equal(av_app_status(app), AV_OK);
    show(app, "overview");
    av_app_finish(app);
    assert_int_equal(av_app_status(app), AV_OK);
    show(app, "variants");
    av_app_finish(app);
    assert_int_equal(av_app_status(app), AV_FAILED);
    assert_string_equal(av_app_message(app), "the file has shrunk");
    av_app_free(app);
}

/* A notice at the start waits for the progress that it leaves no room for; what answers
 * a key does not. */
static void a_notice_gives_way_to_progress(void **state)
{
    (void)state;
    struct drawn_source d;
    drawn_source(&d, 8, 8, 4, false);
    d.source.guessed = true;
    d.source.reading = "read as hnd: 4 heads of 8 queries; or --layout bnc: 4 sequences of 4 heads";
    struct av_app_config config = plain_config();
    config.source = &d.source;
    config.view = "variants";
    struct av_app *app = open_app(&config);
    assert_true(shows(app, "working"));
    assert_false(shows(app, "read as"));
    av_app_finish(app);
    assert_true(shows(app, d.source.reading));
    press(app, "D");
    assert_false(shows(app, "read as"));
    av_app_free(app);
    d.source.unused = "attn [4, 4] fits no layer"; /* this goes first, and there is room for both */
    app = open_app(&config);
    assert_true(shows(app, "working"));
    assert_true(shows(app, "attn [4, 4] fits no layer"));
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_without_a_study_have_no_work),
        cmocka_unit_test(work_ends_and_the_screen_tells_how_far_it_is),
        cmocka_unit_test(escape_stops_it_and_lets_it_go_on),
        cmocka_unit_test(a_change_begins_anew_and_undoing_it_too),
        cmocka_unit_test(other_views_leave_it_as_it_is),
        cmocka_unit_test(it_does_not_wait_for_the_pipeline),
        cmocka_unit_test(a_refused_study_is_no_failure),
        cmocka_unit_test(a_failed_study_fails_where_it_is_shown),
        cmocka_unit_test(a_notice_gives_way_to_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
