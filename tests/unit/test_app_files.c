/* test_app_files.c - matrices and logits that are given, pictures and numbers that are written. */
#include "app_driver.h"
#include "pair_source.h"

#include <math.h>
#include <unistd.h>

/* ---- Given -------------------------------------------------------------- */

/* Three heads of four rows and two columns; entry = its place. */
struct small {
    float entries[24];
    struct pair_source pair;
};

static const struct av_source *small_source(struct small *s)
{
    const struct matrix m = { .name = "small", .heads = 3, .n = 4, .d = 2, .f32 = s->entries };
    for (int i = 0; i < 24; i++) {
        s->entries[i] = (float)i / 8;
    }
    return pair_source(&s->pair, &m, &m);
}

static void files_have_their_own_sizes(void **state)
{
    (void)state;
    struct small small;
    struct av_app_config config = plain_config();
    config.source = small_source(&small);
    struct av_app *app = open_app(&config);
    assert_int_equal(params_of(app)->n_q, 4);
    assert_int_equal(params_of(app)->d_k, 2);
    static const char *const inert[] = { "d", "D", "n", "N", "r", "Space", "Enter" };
    for (size_t i = 0; i < sizeof inert / sizeof inert[0]; i++) {
        press(app, "d");
        press(app, inert[i]);
        assert_non_null(strstr(av_app_message(app), "files"));
        assert_int_equal(params_of(app)->d_k, 2);
        assert_int_equal(params_of(app)->n_k, 4);
    }
    av_app_resize(app, 80, 40);
    static const char *const values[] = { "n_q 4 ", "n_k 4 ", "scale on", "q_std -", "dist -", "seed -" };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_true(shows(app, values[i]));
    }
    press(app, "> > >");
    assert_int_equal(params_of(app)->head, 2);
    assert_true(shows(app, "head ends here: 0 .. 2"));
    press(app, "<");
    assert_int_equal(params_of(app)->head, 1);
    press(app, "Enter 9 Enter");
    assert_true(shows(app, "0 .. 2"));
    press(app, "Esc s");
    assert_int_equal(params_of(app)->scale, 0);
    press(app, "R");
    assert_int_equal(params_of(app)->n_q, 4);
    av_app_free(app);
}

static void without_files_there_are_no_heads(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, ">");
    assert_non_null(strstr(av_app_message(app), "head"));
    assert_int_equal(params_of(app)->head, 0);
    av_app_free(app);
}

static void given_logits_have_no_scale(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.logits.n = 3;
    config.params.logits.at[0] = 1;
    config.params.logits.at[1] = 0.5;
    config.params.logits.at[2] = -0.5;
    struct av_app *app = open_app(&config);
    static const char *const inert[] = { "s", "D", "N", "r", "Space", "m" };
    for (size_t i = 0; i < sizeof inert / sizeof inert[0]; i++) {
        press(app, inert[i]);
        assert_non_null(strstr(av_app_message(app), "logits"));
    }
    av_app_resize(app, 80, 40);
    static const char *const values[] = {
        "d_k -", "n_q 1 ", "n_k 3 ", "scale -", "q_std -", "bins -", "temperature 1"
    };
    press(app, "O Down"); /* marks none of these */
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        assert_true(shows(app, values[i]));
    }
    press(app, "Up Up Up");
    assert_non_null(strstr(av_app_message(app), "no effect: the logits are given"));
    assert_true(fabs(av_app_snapshot(app, 0)->now.entropy_mean - 0.952807564013367) < 1e-13);
    av_app_free(app);
}

static void keys_without_effect_are_not_offered(void **state)
{
    (void)state;
    char bottom[512];
    struct av_app *app = open_plain();
    line_of(app, 23, bottom, sizeof bottom);
    assert_non_null(strstr(bottom, "d/D d_k"));
    assert_null(strstr(bottom, "head"));
    av_app_free(app);

    struct small small;
    struct av_app_config config = plain_config();
    config.source = small_source(&small);
    app = open_app(&config);
    line_of(app, 23, bottom, sizeof bottom);
    assert_non_null(strstr(bottom, "s scale"));
    assert_non_null(strstr(bottom, "</> head"));
    assert_null(strstr(bottom, "d_k"));
    assert_null(strstr(bottom, "seed"));
    assert_null(strstr(bottom, "play"));
    press(app, "Right"); /* the first parameter that works is selected: scale */
    assert_int_equal(params_of(app)->scale, 0);
    av_app_free(app);

    config = plain_config();
    config.params.logits.n = 2;
    app = open_app(&config);
    line_of(app, 23, bottom, sizeof bottom);
    assert_null(strstr(bottom, "scale"));
    assert_non_null(strstr(bottom, "t/T temp"));
    av_app_free(app);
}

/* ---- Written ------------------------------------------------------------ */

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void w_writes_and_never_overwrites(void **state)
{
    (void)state;
    char home[4096], folder[] = "/tmp/attnviz-test-XXXXXX";
    assert_non_null(getcwd(home, sizeof home));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    struct av_app *app = open_plain();
    press(app, "w");
    assert_string_equal(av_app_message(app), "wrote attnviz-001.svg and attnviz-001.json");
    assert_true(exists("attnviz-001.svg") && exists("attnviz-001.json"));
    unlink("attnviz-001.svg"); /* the numbers are there still: the pair is not free */
    press(app, "w");
    assert_true(exists("attnviz-002.svg") && exists("attnviz-002.json") && !exists("attnviz-001.svg"));
    unlink("attnviz-001.json");
    unlink("attnviz-002.svg");
    unlink("attnviz-002.json");
    assert_int_equal(rmdir(folder), 0);
    press(app, "w"); /* into a folder that is gone */
    assert_non_null(strstr(av_app_message(app), "attnviz-001.svg"));
    assert_null(strstr(av_app_message(app), "wrote"));
    assert_int_equal(chdir(home), 0);
    av_app_free(app);
}

static bool file_has(const char *path, const char *what)
{
    static char text[1 << 18];
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return strstr(text, what) != NULL;
}

/* A kept state that is due is of other parameters than what is written, and a
 * link to nowhere takes its name all the same. */
static void w_after_a_kept_state_writes_the_present_one(void **state)
{
    (void)state;
    char home[4096], folder[] = "/tmp/attnviz-test-XXXXXX";
    assert_non_null(getcwd(home, sizeof home));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(symlink("/nowhere/at/all", "attnviz-001.svg"), 0);
    struct av_app *app = open_plain();
    press(app, "c d w");
    assert_string_equal(av_app_message(app), "wrote attnviz-002.svg and attnviz-002.json");
    assert_true(file_has("attnviz-002.json", "\"d_k\": 32"));
    assert_false(file_has("attnviz-002.json", "\"dq_rms_median\": null"));
    assert_false(file_has("attnviz-002.json", "\"theory\": null"));
    av_app_free(app);
    unlink("attnviz-001.svg");
    unlink("attnviz-002.svg");
    unlink("attnviz-002.json");
    assert_int_equal(chdir(home), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* The numbers of all heads; the head on screen stays. */
static void w_writes_every_head(void **state)
{
    (void)state;
    char home[4096], folder[] = "/tmp/attnviz-test-XXXXXX";
    struct small small;
    struct av_app_config config = plain_config();
    config.source = small_source(&small);
    config.picture = NULL; /* numbers alone */
    assert_non_null(getcwd(home, sizeof home));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    struct av_app *app = open_app(&config);
    press(app, "> w");
    assert_string_equal(av_app_message(app), "wrote attnviz-001.json");
    assert_false(exists("attnviz-001.svg"));
    assert_true(file_has("attnviz-001.json", "\"heads\""));
    assert_true(shows(app, "head 1 of 3"));
    assert_int_equal(params_of(app)->head, 1);
    unlink("attnviz-001.json");
    assert_int_equal(chdir(home), 0);
    assert_int_equal(rmdir(folder), 0);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_have_their_own_sizes),    cmocka_unit_test(without_files_there_are_no_heads),
        cmocka_unit_test(given_logits_have_no_scale),    cmocka_unit_test(keys_without_effect_are_not_offered),
        cmocka_unit_test(w_writes_and_never_overwrites), cmocka_unit_test(w_after_a_kept_state_writes_the_present_one),
        cmocka_unit_test(w_writes_every_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
