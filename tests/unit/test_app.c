/* test_app.c - the interactive program, driven by keys and read by its screen. */
#include "attnviz/actions.h"
#include "attnviz/app.h"
#include "attnviz/keys.h"
#include "attnviz/out.h"
#include "attnviz/theme_files.h"
#include "sanitized.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Driving and reading ---------------------------------------------------- */

static struct av_app_config plain_config(void)
{
    struct av_app_config config = { .animation = false, .picture = av_out_svg };
    av_params_default(&config.params);
    return config;
}

static struct av_app *open_app(const struct av_app_config *config)
{
    struct av_app *app;
    struct av_error e;
    if (av_app_new(&app, config, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
    return app;
}

static struct av_app *open_plain(void)
{
    struct av_app_config config = plain_config();
    return open_app(&config);
}

static void press(struct av_app *app, const char *keys)
{
    char name[16];
    for (const char *at = keys + strspn(keys, " "); *at != '\0'; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        uint32_t key = av_key_parse(name);
        assert_int_not_equal(key, AV_KEY_NONE);
        av_app_key(app, key);
        at += len;
    }
}

/* The screen as text; the caller frees it. */
static struct av_str screen(struct av_app *app)
{
    struct av_str out = AV_STR_INIT;
    av_out_text(&out, av_app_draw(app));
    assert_false(out.failed);
    return out;
}

static void line_of(struct av_app *app, int y, char *out, size_t size)
{
    const struct av_canvas *c = av_app_draw(app);
    struct av_str text = AV_STR_INIT;
    for (int x = 0; x < c->cols; x++) {
        av_str_utf8(&text, av_canvas_at(c, x, y)->code);
    }
    snprintf(out, size, "%s", av_str_text(&text));
    av_str_free(&text);
}

static bool shows(struct av_app *app, const char *what)
{
    struct av_str text = screen(app);
    bool found = strstr(av_str_text(&text), what) != NULL;
    av_str_free(&text);
    return found;
}

static const struct av_params *params_of(struct av_app *app)
{
    return &av_app_snapshot(app, 0)->params;
}

static void value_of(struct av_app *app, const struct av_param *row, char out[128])
{
    struct av_str text = AV_STR_INIT;
    av_param_format(row, params_of(app), &text);
    snprintf(out, 128, "%s", av_str_text(&text));
    av_str_free(&text);
}

static bool on_list(const struct av_param *row)
{
    return (row->flags & (AV_PARAM_HIDDEN | AV_PARAM_FILES)) == 0;
}

/* Goes to the view of that name by its number key. */
static const struct av_view *show(struct av_app *app, const char *name)
{
    size_t count;
    const struct av_view *const *views = av_views(&count);
    for (size_t i = 0; i < count && i < 9; i++) {
        char key[2] = { (char)('1' + i), '\0' };
        if (strcmp(views[i]->name, name) == 0) {
            press(app, key);
            return views[i];
        }
    }
    fail_msg("no view %s", name);
    return NULL;
}

/* ---- The table of actions ------------------------------------------------------ */

/* Calls `each` for every key name in a list of them. */
static void for_keys(const char *keys, void (*each)(uint32_t key, void *ctx), void *ctx)
{
    char name[16];
    for (const char *at = keys; *at != '\0';) {
        size_t len = strcspn(at, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        uint32_t key = av_key_parse(name);
        if (key == AV_KEY_NONE) {
            fail_msg("no such key: %s", name);
        }
        each(key, ctx);
        at += len + strspn(at + len, " ");
    }
}

struct owner {
    const struct av_action *action;
    enum av_mode mode;
};

static void finds_its_owner(uint32_t key, void *ctx)
{
    const struct owner *owner = ctx;
    assert_ptr_equal(av_action_find(key, owner->mode), owner->action);
}

/* Every key leads to its own row in every mode of the row: none is bound twice. */
static void keys_are_bound_once(void **state)
{
    (void)state;
    size_t count;
    const struct av_action *table = av_actions(&count);
    for (size_t i = 0; i < count; i++) {
        for (unsigned mode = AV_MODE_SCREEN; mode <= AV_MODE_EDIT; mode *= 2) {
            if ((table[i].modes & mode) != 0) {
                struct owner owner = { &table[i], (enum av_mode)mode };
                for_keys(table[i].keys, finds_its_owner, &owner);
            }
        }
        assert_true(strlen(table[i].help) > 0);
        assert_true(table[i].param == NULL || av_param_find(table[i].param) != NULL);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(table[i].name, table[j].name);
        }
    }
}

static void is_free(uint32_t key, void *ctx)
{
    const struct av_action *global = av_action_find(key, AV_MODE_SCREEN);
    if (global != NULL) {
        fail_msg("%s: its key is global, %s", (const char *)ctx, global->name);
    }
}

static void views_keep_off_global_keys(void **state)
{
    (void)state;
    size_t count;
    const struct av_view *const *views = av_views(&count);
    for (size_t v = 0; v < count; v++) {
        const struct av_view_action *actions = views[v]->actions;
        for (size_t i = 0; actions != NULL && actions[i].key != NULL; i++) {
            char what[128];
            snprintf(what, sizeof what, "%s: %s", views[v]->name, actions[i].name);
            for_keys(actions[i].key, is_free, what);
            for (size_t j = 0; j < i; j++) {
                assert_string_not_equal(actions[i].key, actions[j].key);
            }
        }
    }
}

/* ---- Help and bottom line ----------------------------------------------------------- */

static void help_tells_everything(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    av_app_resize(app, 110, 600);
    const struct av_view *view = show(app, "weights");
    press(app, "?");
    struct av_str text = screen(app);
    size_t count;
    const struct av_action *table = av_actions(&count);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(strstr(text.text, table[i].keys));
        assert_non_null(strstr(text.text, table[i].help));
    }
    for (const struct av_view_action *a = view->actions; a != NULL && a->key != NULL; a++) {
        assert_non_null(strstr(text.text, a->help));
    }
    assert_non_null(strstr(text.text, "what this view shows"));
    const struct av_param *params = av_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        assert_true(!on_list(&params[i]) || strstr(text.text, params[i].text) != NULL);
    }
    av_str_free(&text);
    av_app_free(app);
}

/* Word by word what each view tells of itself, whatever the width. */
static void help_tells_what_is_shown(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    size_t count;
    const struct av_view *const *views = av_views(&count);
    for (size_t v = 0; v < count; v++) {
        for (int cols = 30; cols <= 110; cols += 40) {
            av_app_resize(app, cols, 600);
            show(app, views[v]->name);
            press(app, "?");
            struct av_str text = screen(app);
            const char *at = strstr(text.text, "what this view shows");
            assert_true(at != NULL && views[v]->about != NULL);
            at += strcspn(at, "\n");
            for (const char *const *line = views[v]->about; *line != NULL; line++) {
                for (const char *word = *line; *word != '\0'; word += strspn(word, " ")) {
                    size_t len = strcspn(word, " ");
                    at += strspn(at, " \n");
                    assert_memory_equal(at, word, len);
                    at += len;
                    word += len;
                }
            }
            assert_true(strncmp(at, "\n\n", 2) == 0); /* no more, and the next heading */
            av_str_free(&text);
            press(app, "q");
        }
    }
    av_app_free(app);
}

/* Scrolled to its end the last line is on the screen, and no further. */
static void help_scrolls(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "?");
    struct av_str top = screen(app);
    press(app, "Down");
    assert_false(shows(app, strtok(top.text, "\n")));
    press(app, "Up End");
    size_t count;
    const struct av_param *params = av_params_table(&count);
    while (!on_list(&params[count - 1])) {
        count--;
    }
    struct av_str end = screen(app);
    assert_non_null(strstr(end.text, params[count - 1].name));
    press(app, "PgDn Down");
    struct av_str still = screen(app);
    assert_string_equal(end.text, still.text);
    press(app, "Home");
    assert_true(shows(app, top.text));
    press(app, "q");
    assert_true(shows(app, "overview"));
    assert_false(av_app_wants(app).quit);
    av_str_free(&top);
    av_str_free(&end);
    av_str_free(&still);
    av_app_free(app);
}

static void a_key_on_the_help_acts(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "F1 s");
    assert_int_equal(params_of(app)->scale, 0);
    assert_true(shows(app, "overview"));
    av_app_free(app);
}

/* What fits is there in full: every entry of a narrow line is one of the widest. */
static void bottom_line_has_whole_entries(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    char widest[4096], line[1024];
    av_app_resize(app, 900, 24);
    line_of(app, 23, widest, sizeof widest);
    for (int cols = 1; cols < 200; cols++) {
        av_app_resize(app, cols, 24);
        line_of(app, 23, line, sizeof line);
        for (char *at = line + strspn(line, " "); *at != '\0';) {
            char *end = strstr(at, "  ");
            size_t len = end != NULL ? (size_t)(end - at) : strlen(at);
            char entry[128];
            snprintf(entry, sizeof entry, " %.*s ", (int)len, at);
            if (strstr(widest, entry) == NULL) {
                entry[strlen(entry) - 1] = '\0'; /* it filled the line to its end */
                assert_non_null(strstr(widest, entry));
            }
            at += len + strspn(at + len, " ");
        }
        assert_true(cols < 6 || strstr(line, "? help") != NULL);
    }
    av_app_free(app);
}

static void unknown_keys_say_so(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "F7");
    assert_true(shows(app, "F7 does nothing here"));
    press(app, "s");
    assert_false(shows(app, "F7"));
    av_app_free(app);
}

/* ---- Scale and its glide --------------------------------------------------------------- */

static void scale_there_and_back(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "s s"); /* selects it, too */
    struct av_str before = screen(app);
    assert_true(av_app_snapshot(app, 0)->alpha == 0.125);
    press(app, "s");
    struct av_str off = screen(app);
    assert_string_not_equal(before.text, off.text);
    assert_true(av_app_snapshot(app, 0)->alpha == 1);
    press(app, "s");
    struct av_str after = screen(app);
    assert_string_equal(before.text, after.text);
    av_str_free(&before);
    av_str_free(&off);
    av_str_free(&after);
    av_app_free(app);
}

static struct av_app *open_animated(void)
{
    struct av_app_config config = plain_config();
    config.animation = true;
    return open_app(&config);
}

static void glide_moves_and_ends_exactly(void **state)
{
    (void)state;
    struct av_app *app = open_animated();
    assert_int_equal(av_app_tick(app, 1000), -1);
    press(app, "s");
    double last = 0.125;
    uint64_t now = 5000;
    assert_true(av_app_tick(app, now) > 0);
    assert_true(av_app_snapshot(app, 0)->alpha == 0.125);
    for (int frame = 0; frame < 29; frame++) {
        now += 10;
        assert_true(av_app_tick(app, now) > 0);
        double alpha = av_app_snapshot(app, 0)->alpha;
        assert_true(alpha > last && alpha < 1);
        last = alpha;
    }
    assert_int_equal(av_app_tick(app, now + 10), -1);
    assert_true(av_app_snapshot(app, 0)->alpha == 1);
    av_app_free(app);
}

static void glide_turns_round_where_it_is(void **state)
{
    (void)state;
    struct av_app *app = open_animated();
    press(app, "s");
    av_app_tick(app, 0);
    av_app_tick(app, 150);
    double half = av_app_snapshot(app, 0)->alpha;
    press(app, "s");
    av_app_tick(app, 160);
    assert_true(fabs(av_app_snapshot(app, 0)->alpha - half) < 1e-12);
    av_app_tick(app, 300);
    assert_true(av_app_snapshot(app, 0)->alpha < half);
    av_app_settle(app);
    assert_true(av_app_snapshot(app, 0)->alpha == 0.125);
    av_app_free(app);
}

/* The end of a glide has the numbers of a state that was never glided to. */
static void glide_leaves_no_trace(void **state)
{
    (void)state;
    struct av_app *glided = open_animated(), *direct = open_plain();
    press(glided, "s");
    for (uint64_t now = 0; now <= 400; now += 30) {
        av_app_tick(glided, now);
        av_app_draw(glided);
    }
    press(direct, "s");
    const struct av_snapshot *a = av_app_snapshot(glided, 0), *b = av_app_snapshot(direct, 0);
    assert_memory_equal(a->weights, b->weights, a->n_q * a->n_k * sizeof *a->weights);
    assert_true(a->now.entropy_mean == b->now.entropy_mean);
    av_app_free(glided);
    av_app_free(direct);
}

static void animation_can_be_switched_off(void **state)
{
    (void)state;
    struct av_app *app = open_animated();
    press(app, "a s");
    assert_int_equal(av_app_tick(app, 0), -1);
    assert_true(av_app_snapshot(app, 0)->alpha == 1);
    av_app_free(app);
}

/* ---- Parameters -------------------------------------------------------------------------- */

/* Each of the list can be walked to, is then on the screen, changes, and is
 * undone. At 80x24 one line is all there is for them. */
static void every_parameter_walks_steps_and_undoes(void **state)
{
    (void)state;
    size_t count;
    const struct av_param *table = av_params_table(&count);
    static const int sizes[][2] = { { 80, 24 }, { 40, 10 }, { 100, 30 }, { 120, 40 }, { 120, 14 } };
    for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++) {
        struct av_app *app = open_plain();
        av_app_resize(app, sizes[size][0], sizes[size][1]);
        for (size_t i = 0; i < count; i++) {
            if (!on_list(&table[i])) {
                continue;
            }
            char mark[64], before[128], after[128];
            press(app, i == 0 ? "Up Down" : "Down");
            snprintf(mark, sizeof mark, "%s", table[i].name);
            struct av_str text = screen(app);
            const char *at = strstr(text.text, "\xE2\x80\xB9");
            assert_non_null(at); /* the mark before the value */
            while (at > text.text && at[-1] == ' ') {
                at--;
            }
            assert_true(at - text.text >= (ptrdiff_t)strlen(mark));
            assert_memory_equal(at - strlen(mark), mark, strlen(mark));
            av_str_free(&text);
            value_of(app, &table[i], before);
            press(app, "Right");
            value_of(app, &table[i], after);
            bool single = table[i].kind == AV_PARAM_CHOICE && table[i].max < 1;
            if (single) {
                continue;
            }
            assert_string_not_equal(before, after);
            press(app, "u");
            value_of(app, &table[i], after);
            assert_string_equal(before, after);
            press(app, "] Backspace");
            value_of(app, &table[i], after);
            assert_string_equal(before, after);
        }
        av_app_free(app);
    }
}

/* Where one line does not hold them, it says that there are more, behind the
 * entries and whole, or not at all. */
static void more_parameters_are_told_of(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    char line[1024];
    line_of(app, 22, line, sizeof line);
    assert_non_null(strstr(line, "  more 1/"));
    for (int cols = 1; cols < 120; cols++) {
        av_app_resize(app, cols, 24);
        line_of(app, 22, line, sizeof line);
        if (strstr(line, "mor") != NULL) {
            assert_non_null(strstr(line, " more 1/"));
        }
        assert_true(cols < 9 || strstr(line, "d_k\xE2\x80\xB9") != NULL);
    }
    av_app_free(app);
}

static void direct_keys(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "D");
    assert_int_equal(params_of(app)->d_k, 128);
    press(app, "d d");
    assert_int_equal(params_of(app)->d_k, 32);
    press(app, "N");
    assert_int_equal(params_of(app)->n_q, 64);
    assert_int_equal(params_of(app)->n_k, 64);
    press(app, "n n");
    assert_int_equal(params_of(app)->n_k, 16);
    press(app, "T");
    assert_true(params_of(app)->temperature > 1);
    press(app, "t t");
    assert_true(params_of(app)->temperature < 1);
    press(app, "O");
    assert_true(params_of(app)->offset > 0);
    press(app, "o o");
    assert_true(params_of(app)->offset < 0);
    press(app, "m");
    assert_int_equal(params_of(app)->mask, AV_MASK_CAUSAL);
    press(app, "r");
    assert_int_equal(params_of(app)->seed, 43);
    press(app, "R");
    struct av_params start;
    av_params_default(&start);
    assert_int_equal(av_params_stale(params_of(app), &start), AV_STAGE_COUNT);
    assert_int_equal(params_of(app)->n_q, 32);
    press(app, "u");
    assert_int_equal(params_of(app)->seed, 43);
    av_app_free(app);
}

/* A hundred steps are undone one by one, those of one parameter too. */
static void undo_goes_far_back(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    for (int i = 0; i < 100; i++) {
        press(app, "r");
    }
    for (int i = 99; i >= 0; i--) {
        press(app, "u");
        assert_int_equal(params_of(app)->seed, 42 + i);
    }
    press(app, "u");
    assert_true(shows(app, "nothing to undo"));
    for (int i = 0; i < 1000; i++) {
        press(app, "r");
    }
    for (int i = 0; i < 64; i++) {
        press(app, "u");
    }
    assert_int_equal(params_of(app)->seed, 42 + 1000 - 64);
    av_app_free(app);
}

static void cursor_moves_undo_together(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    av_app_resize(app, 140, 60); /* an entry a cell */
    press(app, "T");
    show(app, "weights");
    press(app, "j j l l j");
    assert_int_equal(params_of(app)->query, 3);
    assert_int_equal(params_of(app)->key, 2);
    press(app, "u");
    assert_int_equal(params_of(app)->query, 0);
    assert_int_equal(params_of(app)->key, 0);
    assert_true(params_of(app)->temperature > 1);
    press(app, "u");
    assert_true(params_of(app)->temperature == 1);
    av_app_free(app);
}

static void values_are_typed(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "Enter 1 0 0 0 Backspace Enter");
    assert_int_equal(params_of(app)->d_k, 100);
    press(app, "= 7 Esc");
    assert_int_equal(params_of(app)->d_k, 100);
    press(app, "Enter Enter");
    assert_int_equal(params_of(app)->d_k, 100);
    press(app, "Enter 5 0 0 0 Enter");
    assert_true(shows(app, "1 .. 4096"));
    assert_int_equal(params_of(app)->d_k, 100);
    press(app, "Backspace Enter"); /* mended: 500 */
    assert_int_equal(params_of(app)->d_k, 500);
    press(app, "Enter x Enter");
    assert_true(strlen(av_app_message(app)) > 0);
    press(app, "Esc u");
    assert_int_equal(params_of(app)->d_k, 100);
    /* Fewer keys than the probed one: it moves, and that is no error. */
    struct av_app_config config = plain_config();
    config.params.key = 31;
    struct av_app *other = open_app(&config);
    press(other, "Down Down Enter 8 Enter");
    assert_int_equal(params_of(other)->n_k, 8);
    assert_int_equal(params_of(other)->key, 7);
    av_app_free(other);
    av_app_free(app);
}

static void a_seed_keeps_its_digits(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "Up Enter 1 8 4 4 6 7 4 4 0 7 3 7 0 9 5 5 1 6 1 4 Enter");
    assert_true(params_of(app)->seed == 18446744073709551614U);
    press(app, "r r u");
    assert_true(params_of(app)->seed == 18446744073709551615U || params_of(app)->seed == 18446744073709551614U);
    av_app_free(app);
}

static void the_end_of_a_range_is_told(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.d_k = 4096;
    struct av_app *app = open_app(&config);
    press(app, "D");
    assert_true(shows(app, "d_k ends here: 1 .. 4096"));
    press(app, "u");
    assert_true(shows(app, "nothing to undo"));
    av_app_free(app);
}

/* ---- Playing ---------------------------------------------------------------------------------- */

static void the_sweep_goes_up_down_and_home(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.d_k = 100;
    config.params.n_q = config.params.n_k = 4;
    struct av_app *app = open_app(&config);
    press(app, "Space");
    int64_t seen[64];
    size_t n = 0;
    seen[n++] = params_of(app)->d_k;
    int wait = av_app_tick(app, 0);
    for (uint64_t now = 0; wait >= 0 && n < 64;) {
        now += (uint64_t)wait;
        wait = av_app_tick(app, now);
        seen[n++] = params_of(app)->d_k;
    }
    static const int64_t way[] = { 128, 256, 512, 1024, 2048, 4096, 2048, 1024, 512, 256, 128, 64, 32,
                                   16,  8,   4,   2,    1,    2,    4,    8,    16,  32,  64,  100 };
    assert_int_equal(n, sizeof way / sizeof way[0]);
    assert_memory_equal(seen, way, sizeof way);
    av_app_free(app);
}

static void the_sweep_pauses(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "Space");
    assert_true(av_app_tick(app, 0) > 0);
    press(app, "T"); /* does not disturb it */
    assert_true(av_app_tick(app, 1) > 0);
    press(app, "Space");
    assert_int_equal(av_app_tick(app, 2), -1);
    assert_int_equal(params_of(app)->d_k, 128);
    press(app, "u u");
    assert_int_equal(params_of(app)->d_k, 64);
    press(app, "Space d");
    assert_int_equal(av_app_tick(app, 3), -1);
    press(app, "R Space");
    av_app_settle(app);
    assert_int_equal(params_of(app)->d_k, 64);
    av_app_free(app);
}

/* A step shows d_k and says what plays; keys in between are told of on the
 * bottom line, where Space pauses now. */
static void the_sweep_tells_where_it_is(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "Up"); /* another page of the parameters */
    assert_false(shows(app, "d_k\xE2\x80\xB9"));
    press(app, "Space");
    assert_true(shows(app, "playing d_k 128   Space pauses"));
    assert_true(shows(app, "d_k\xE2\x80\xB9"
                           "128"));
    assert_int_equal(av_app_tick(app, 0), 800);
    assert_int_equal(av_app_tick(app, 799), 1);
    assert_int_equal(params_of(app)->d_k, 128);
    press(app, "j");
    assert_true(strlen(av_app_message(app)) > 0);
    press(app, "a a Esc");
    assert_true(shows(app, "Space pause "));
    av_app_resize(app, 40, 24);
    assert_true(shows(app, "Space pause"));
    av_app_resize(app, 80, 24);
    av_app_tick(app, 800);
    assert_true(shows(app, "playing d_k 256   Space pauses"));
    press(app, "?"); /* here Space turns the page */
    av_app_tick(app, 1600);
    assert_string_equal(av_app_message(app), "");
    press(app, "q Space");
    assert_string_equal(av_app_message(app), "paused at d_k 512   Space goes on");
    assert_false(shows(app, "Space pause "));
    press(app, "Esc");
    assert_true(shows(app, "Space play"));
    av_app_free(app);
}

/* Paused, it goes on the same way, home to where it began, and is undone as one. */
static void a_paused_sweep_goes_on(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.params.d_k = 2048;
    config.params.n_q = config.params.n_k = 4;
    struct av_app *app = open_app(&config);
    uint64_t now = 0;
    press(app, "Space"); /* 4096 */
    av_app_tick(app, now);
    av_app_tick(app, now += 800);
    av_app_tick(app, now += 800);
    assert_int_equal(params_of(app)->d_k, 1024);
    press(app, "Space");
    assert_int_equal(av_app_tick(app, now += 5000), -1);
    assert_int_equal(params_of(app)->d_k, 1024);
    press(app, "Space");
    assert_int_equal(params_of(app)->d_k, 512);
    while (av_app_tick(app, now) >= 0) {
        now += 800;
    }
    assert_int_equal(params_of(app)->d_k, 2048);
    assert_string_equal(av_app_message(app), "played: d_k is back at 2048");
    press(app, "u");
    assert_int_equal(params_of(app)->d_k, 2048);
    press(app, "u");
    assert_string_equal(av_app_message(app), "nothing to undo");
    press(app, "Space Space d Space"); /* changed while it paused: from here anew */
    av_app_settle(app);
    assert_int_equal(params_of(app)->d_k, 2048);
    assert_string_equal(av_app_message(app), "");
    av_app_free(app);
}

/* ---- What costs and what does not ------------------------------------------------------------------ */

static void only_what_is_stale_runs(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    uint64_t before[AV_STAGE_COUNT], after[AV_STAGE_COUNT];
    av_app_draw(app);
    memcpy(before, av_app_snapshot(app, 0)->runs, sizeof before);
    av_app_draw(app);
    press(app, "? q F7 Down Up");
    av_app_draw(app);
    memcpy(after, av_app_snapshot(app, 0)->runs, sizeof after);
    assert_memory_equal(before, after, sizeof before);
    press(app, "t t t t");
    av_app_draw(app);
    memcpy(after, av_app_snapshot(app, 0)->runs, sizeof after);
    assert_int_equal(after[AV_STAGE_SCORES], before[AV_STAGE_SCORES]);
    assert_int_equal(after[AV_STAGE_LOGITS], before[AV_STAGE_LOGITS] + 1); /* four keys, one run */
    show(app, "weights");
    press(app, "j j l");
    av_app_draw(app);
    assert_int_equal(av_app_snapshot(app, 0)->runs[AV_STAGE_SCORES], before[AV_STAGE_SCORES]);
    av_app_free(app);
}

/* Keys that come faster than pictures: what is kept and dropped again costs
 * nothing, what is kept last is computed once, as it was then. */
static void a_burst_of_kept_states_is_one(void **state)
{
    (void)state;
    struct av_app *app = open_plain(), *slow = open_plain();
    av_app_draw(app);
    uint64_t before = av_app_snapshot(app, 0)->runs[AV_STAGE_SAMPLE];
    for (int i = 0; i < 30; i++) {
        press(app, "r c");
    }
    av_app_draw(app);
    assert_int_equal(av_app_snapshot(app, 0)->runs[AV_STAGE_SAMPLE], before + 1);
    press(app, "r c r");
    av_app_draw(app);
    assert_int_equal(av_app_snapshot(app, 0)->runs[AV_STAGE_SAMPLE], before + 3);
    for (int i = 0; i < 31; i++) {
        press(slow, "r");
    }
    press(slow, "c");
    av_app_draw(slow);
    press(slow, "r");
    struct av_str a = screen(app), b = screen(slow);
    assert_string_equal(a.text, b.text);
    press(slow, "c");
    assert_false(shows(slow, a.text));
    av_str_free(&a);
    av_str_free(&b);
    av_app_free(app);
    av_app_free(slow);
}

static long virtual_size(void)
{
    long pages = -1;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f != NULL) {
        if (fscanf(f, "%ld", &pages) != 1) {
            pages = -1;
        }
        fclose(f);
    }
    return pages < 0 ? -1 : pages * sysconf(_SC_PAGESIZE);
}

static void without_memory_the_old_state_stays(void **state)
{
    (void)state;
    long used = virtual_size();
    if (SANITIZED || used < 0) {
        print_message("no limit on memory can be set here\n");
        skip();
    }
    struct av_app *app = open_plain();
    struct rlimit old, tight;
    getrlimit(RLIMIT_AS, &old);
    tight = old;
    tight.rlim_cur = (rlim_t)virtual_size() + (8 << 20);
    assert_int_equal(setrlimit(RLIMIT_AS, &tight), 0);
    press(app, "T N N N N N N"); /* 2048 x 2048: 32 MiB a matrix */
    av_app_draw(app);
    char message[AV_ERROR_MAX];
    snprintf(message, sizeof message, "%s", av_app_message(app));
    setrlimit(RLIMIT_AS, &old);
    assert_non_null(strstr(message, "memory"));
    assert_int_equal(params_of(app)->n_k, 32);
    press(app, "N");
    assert_int_equal(params_of(app)->n_k, 64);
    press(app, "u");
    assert_int_equal(params_of(app)->n_k, 32);
    press(app, "u");
    assert_true(shows(app, "nothing to undo"));
    av_app_free(app);
}

/* ---- Any size --------------------------------------------------------------------------------------- */

static void every_size_draws_and_answers(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    size_t views;
    av_views(&views);
    for (size_t v = 0; v < views; v++) {
        for (int rows = 1; rows <= 44; rows = rows < 8 ? rows + 1 : rows + 3) {
            for (int cols = 1; cols <= 130; cols = cols < 8 ? cols + 1 : cols + 3) {
                av_app_resize(app, cols, rows);
                const struct av_canvas *c = av_app_draw(app);
                assert_int_equal(c->cols, cols);
                assert_int_equal(c->rows, rows);
            }
        }
        press(app, "Tab");
    }
    av_app_resize(app, 1, 1);
    press(app, "s");
    av_app_draw(app);
    assert_int_equal(params_of(app)->scale, 0);
    press(app, "? PgDn PgDn Up");
    av_app_draw(app);
    press(app, "q Enter 8");
    av_app_draw(app);
    press(app, "Esc q");
    assert_true(av_app_wants(app).quit);
    assert_false(av_app_wants(app).quit);
    av_app_free(app);
}

static void a_single_line_still_speaks(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    av_app_resize(app, 60, 1);
    press(app, "F7");
    assert_true(shows(app, "F7 does nothing here"));
    press(app, "Enter 1 2");
    assert_true(shows(app, "d_k 12_"));
    av_app_free(app);
}

static void ascii_is_ascii(void **state)
{
    (void)state;
    struct av_app_config config = plain_config();
    config.ascii = true;
    struct av_app *app = open_app(&config);
    static const char *const keys[] = { "1", "2", "3", "4", "?", "q s c", "Enter 1" };
    for (int cols = 80; cols <= 140; cols += 60) {
        av_app_resize(app, cols, 40);
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            press(app, keys[i]);
            struct av_str text = screen(app);
            for (size_t b = 0; b < text.len; b++) {
                assert_true((unsigned char)text.text[b] < 0x80);
            }
            av_str_free(&text);
        }
        press(app, "Esc");
    }
    av_app_free(app);
}

/* ---- Mouse -------------------------------------------------------------------------------------------- */

static bool find(struct av_app *app, const char *word, int *x, int *y)
{
    const struct av_canvas *c = av_app_draw(app);
    for (*y = 0; *y < c->rows; ++*y) {
        for (*x = 0; *x < c->cols; ++*x) {
            size_t n = 0;
            while (word[n] != '\0' && av_canvas_at(c, *x + (int)n, *y)->code == (unsigned char)word[n]) {
                n++;
            }
            if (word[n] == '\0') {
                return true;
            }
        }
    }
    return false;
}

static void mouse_on_a_parameter(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    for (int cols = 80; cols <= 130; cols += 50) {
        int x = 0, y = 0;
        press(app, "R");
        av_app_resize(app, cols, 24);
        assert_true(find(app, "temperature", &x, &y));
        av_app_mouse(app, AV_MOUSE_PRESS, x + 2, y);
        press(app, "]");
        assert_true(params_of(app)->temperature > 1);
        press(app, "u");
        av_app_mouse(app, AV_MOUSE_WHEEL_UP, x, y);
        av_app_mouse(app, AV_MOUSE_WHEEL_UP, x, y);
        assert_true(params_of(app)->temperature > 1.09);
        av_app_mouse(app, AV_MOUSE_WHEEL_DOWN, x, y);
        assert_true(params_of(app)->temperature < 1.09);
        press(app, "u u u");
        av_app_mouse(app, AV_MOUSE_PRESS, x, y);
        av_app_mouse(app, AV_MOUSE_DRAG, x + 3, y);
        av_app_mouse(app, AV_MOUSE_DRAG, x + 5, y);
        assert_true(fabs(params_of(app)->temperature - pow(1.05, 5)) < 1e-3);
        press(app, "u");
        assert_true(params_of(app)->temperature == 1);
    }
    av_app_free(app);
}

/* Off the parameters the wheel is nobody's. */
static void the_wheel_elsewhere_does_nothing(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    int x = 0, y = 0;
    assert_true(find(app, "n_q", &x, &y));
    av_app_mouse(app, AV_MOUSE_WHEEL_UP, x, y);
    struct av_str before = screen(app);
    assert_non_null(strstr(before.text, "n_q\xE2\x80\xB9"
                                        "64"));
    for (int row = -1; row < 26; row += row == y - 1 ? 2 : 1) {
        av_app_mouse(app, AV_MOUSE_WHEEL_UP, 40, row);
        av_app_mouse(app, AV_MOUSE_WHEEL_DOWN, 40, row);
        av_app_mouse(app, AV_MOUSE_WHEEL_DOWN, 3, row);
    }
    struct av_str after = screen(app);
    assert_string_equal(before.text, after.text);
    press(app, "= 5"); /* it does not drop what is typed */
    av_app_mouse(app, AV_MOUSE_WHEEL_UP, 40, 5);
    press(app, "Enter");
    assert_int_equal(params_of(app)->n_q, 5);
    av_str_free(&before);
    av_str_free(&after);
    av_app_free(app);
}

static void a_second_click_turns_a_switch(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    int x = 0, y = 0;
    av_app_resize(app, 130, 40);
    assert_true(find(app, "scale  ", &x, &y));
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    assert_int_equal(params_of(app)->scale, 1);
    av_app_draw(app);
    for (int off = 0; off < 2; off++) {
        av_app_mouse(app, AV_MOUSE_PRESS, x, y);
        assert_int_equal(params_of(app)->scale, off);
        av_app_draw(app);
    }
    press(app, "u");
    assert_int_equal(params_of(app)->scale, 0); /* each click by itself */
    press(app, "= o");
    av_app_draw(app);
    av_app_mouse(app, AV_MOUSE_PRESS, x, y); /* drops what was typed */
    assert_int_equal(params_of(app)->scale, 0);
    assert_true(find(app, "mask  ", &x, &y));
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    av_app_draw(app);
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    assert_int_equal(params_of(app)->mask, AV_MASK_CAUSAL);
    assert_true(find(app, "n_k  ", &x, &y)); /* a number stays */
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    assert_int_equal(params_of(app)->n_k, 32);
    av_app_free(app);
}

static void a_drag_doubles_every_fourth_column(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    int x = 0, y = 0;
    show(app, "weights");
    press(app, "j j"); /* moves that the drag does not add to */
    assert_true(find(app, "d_k", &x, &y));
    av_app_mouse(app, AV_MOUSE_PRESS, x, y);
    static const int way[][2] = { { 3, 64 }, { 4, 128 }, { 7, 128 }, { 8, 256 }, { 1, 128 }, { 0, 64 }, { -9, 16 } };
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        av_app_mouse(app, AV_MOUSE_DRAG, x + way[i][0], y);
        assert_int_equal(params_of(app)->d_k, way[i][1]);
    }
    press(app, "j");
    av_app_mouse(app, AV_MOUSE_DRAG, x + 40, y); /* a key has ended it */
    assert_int_equal(params_of(app)->d_k, 16);
    int64_t query = params_of(app)->query;
    press(app, "u");
    assert_true(params_of(app)->query < query);
    assert_int_equal(params_of(app)->d_k, 16);
    press(app, "u");
    assert_int_equal(params_of(app)->d_k, 64);
    assert_true(params_of(app)->query > 0);
    press(app, "u");
    assert_int_equal(params_of(app)->query, 0);
    av_app_free(app);
}

/* A click selects the query and the key whose labels stand at the cell. */
static void mouse_in_the_heatmap(void **state)
{
    (void)state;
    enum { TOP = 3, LEFT = 6, CELL_W = 2 }; /* where an app of this size has query 0, key 0 */
    struct av_app *app = open_plain();
    show(app, "weights");
    av_app_resize(app, 100, 46);
    for (int query = 20; query >= 0; query -= 20) {
        for (int key = 5; key < 32; key += 26) {
            int x = LEFT + CELL_W * key, y = TOP + query;
            av_app_mouse(app, AV_MOUSE_PRESS, x + 1, y);
            assert_int_equal(params_of(app)->query, query);
            assert_int_equal(params_of(app)->key, key);
            char line[1024];
            line_of(app, y, line, sizeof line);
            assert_int_equal(strtol(line, NULL, 10), query);
            line_of(app, TOP - 1, line, sizeof line);
            assert_int_equal(strtol(line + x - (key > 9), NULL, 10), key);
            const struct av_canvas *c = av_app_draw(app);
            assert_true(av_canvas_at(c, x, y)->mark && av_canvas_at(c, x + 1, y)->mark);
            assert_false(av_canvas_at(c, x - 1, y)->mark || av_canvas_at(c, x, y + 1)->mark);
        }
    }
    av_app_mouse(app, AV_MOUSE_PRESS, LEFT - 2, TOP + 7); /* beside the cells */
    assert_int_equal(params_of(app)->query, 0);
    av_app_mouse(app, AV_MOUSE_DRAG, LEFT + CELL_W * 3, TOP + 9);
    assert_int_equal(params_of(app)->query, 9);
    assert_int_equal(params_of(app)->key, 3);
    av_app_free(app);
}

/* ---- Keeping, writing, files ----------------------------------------------------------------------------- */

static void a_ghost_is_kept_and_dropped(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    press(app, "s");
    struct av_str before = screen(app);
    press(app, "s c s c F7 Esc");
    struct av_str after = screen(app);
    assert_string_equal(before.text, after.text);
    press(app, "s c s Esc");
    struct av_str kept = screen(app);
    assert_string_not_equal(before.text, kept.text);
    av_str_free(&before);
    av_str_free(&after);
    av_str_free(&kept);
    av_app_free(app);
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* Three heads of four rows and two columns; entry = its place. */
static struct av_tensor small_tensor(float *entries)
{
    struct av_tensor t = { .name = "small.npy", .dtype = "<f4", .rank = 3, .heads = 3, .n = 4, .d = 2, .f32 = entries };
    for (int i = 0; i < 24; i++) {
        entries[i] = (float)i / 8;
    }
    return t;
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

/* The numbers of all heads; the head on screen stays. */
static void w_writes_every_head(void **state)
{
    (void)state;
    char home[4096], folder[] = "/tmp/attnviz-test-XXXXXX";
    float entries[24];
    struct av_tensor q = small_tensor(entries);
    struct av_app_config config = plain_config();
    config.q = config.k = &q;
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

static void files_have_their_own_sizes(void **state)
{
    (void)state;
    float entries[24];
    struct av_tensor q = small_tensor(entries);
    struct av_app_config config = plain_config();
    config.q = config.k = &q;
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

/* ---- Themes --------------------------------------------------------------------------------------------- */

static void themes_go_round(void **state)
{
    (void)state;
    struct av_app *app = open_plain();
    struct av_theme_entry entries[AV_THEME_LIST_MAX];
    size_t count = av_theme_list(entries, AV_THEME_LIST_MAX);
    assert_true(count >= 2);
    for (size_t i = 1; i <= count; i++) {
        press(app, "p");
        assert_string_equal(av_app_theme(app)->name, entries[i % count].name);
    }
    press(app, "P");
    assert_string_equal(av_app_theme(app)->name, entries[count - 1].name);
    av_app_free(app);
}

static void write_theme(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static void a_broken_theme_is_told_of(void **state)
{
    (void)state;
    char path[] = "/tmp/attnviz-theme-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_theme(path, "title = 12\nnonsense\n");
    struct av_app_config config = plain_config();
    config.theme = path;
    struct av_app *app = open_app(&config);
    assert_non_null(strstr(av_app_message(app), ":2:"));
    assert_string_equal(av_app_theme(app)->name, AV_THEME_DEFAULT);
    unlink(path);
    av_app_free(app);
}

/* Read again: what has changed is on, what has broken is told and leaves the
 * theme as it was, and when it is mended, it is on again. */
static void a_theme_is_read_again(void **state)
{
    (void)state;
    char path[] = "/tmp/attnviz-theme-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_theme(path, "title = 12\n");
    struct av_app_config config = plain_config();
    config.theme = path;
    struct av_app *app = open_app(&config);
    unsigned serial = av_app_theme_serial(app);
    assert_int_equal(av_app_theme(app)->roles[AV_ROLE_TITLE].fg, 12);
    write_theme(path, "title = 13\n");
    press(app, "C-r");
    assert_int_equal(av_app_theme(app)->roles[AV_ROLE_TITLE].fg, 13);
    assert_non_null(strstr(av_app_message(app), "read again"));
    assert_true(av_app_theme_serial(app) > serial);
    serial = av_app_theme_serial(app);
    write_theme(path, "text = 14\n\ntitle = blue\n");
    press(app, "C-r");
    assert_non_null(strstr(av_app_message(app), ":3: 'blue' is no colour"));
    assert_int_equal(av_app_theme(app)->roles[AV_ROLE_TITLE].fg, 13);
    assert_int_equal(av_app_theme_serial(app), serial);
    write_theme(path, "title = 14\n");
    press(app, "C-r");
    assert_int_equal(av_app_theme(app)->roles[AV_ROLE_TITLE].fg, 14);
    unlink(path);
    press(app, "C-r");
    assert_non_null(strstr(av_app_message(app), path));
    assert_int_equal(av_app_theme(app)->roles[AV_ROLE_TITLE].fg, 14);
    av_app_free(app);
}

/* ---- Storms ------------------------------------------------------------------------------------------------ */

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525U + 1013904223U;
    return *state >> 8;
}

/* Whatever is pressed, in whatever order and size, the parameters stay valid. */
static void key_storm(void **state)
{
    (void)state;
    struct av_app *app = open_animated();
    uint32_t random = 12345;
    uint64_t now = 0;
    struct av_error e;
    for (int i = 0; i < 20000; i++) {
        uint32_t r = next_random(&random);
        uint32_t key = r % 4 == 0 ? AV_KEY_UP + next_random(&random) % 24 : 1 + next_random(&random) % 127;
        if (key == 'w' || key == 'N') {
            continue; /* files, and sizes that take long */
        }
        av_app_key(app, key);
        if (r % 16 == 1) {
            av_app_resize(app, 1 + (int)(next_random(&random) % 140), 1 + (int)(next_random(&random) % 50));
        }
        if (r % 8 == 2) {
            now += next_random(&random) % 500;
            av_app_tick(app, now);
        }
        if (r % 8 == 3) {
            int x = (int)(next_random(&random) % 150), y = (int)(next_random(&random) % 60);
            av_app_mouse(app, (enum av_mouse_kind)(next_random(&random) % 4), x, y);
        }
        if (r % 8 == 4) {
            av_app_draw(app);
        }
        const struct av_params *p = params_of(app);
        if (p->n_q * p->n_k > 4096 || p->d_k > 1024) {
            press(app, "Esc Esc R");
        }
        if (av_params_check(params_of(app), false, &e) != AV_OK) {
            fail_msg("key %d: %s", i, e.text);
        }
    }
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_bound_once),
        cmocka_unit_test(views_keep_off_global_keys),
        cmocka_unit_test(help_tells_everything),
        cmocka_unit_test(help_tells_what_is_shown),
        cmocka_unit_test(help_scrolls),
        cmocka_unit_test(a_key_on_the_help_acts),
        cmocka_unit_test(bottom_line_has_whole_entries),
        cmocka_unit_test(unknown_keys_say_so),
        cmocka_unit_test(scale_there_and_back),
        cmocka_unit_test(glide_moves_and_ends_exactly),
        cmocka_unit_test(glide_turns_round_where_it_is),
        cmocka_unit_test(glide_leaves_no_trace),
        cmocka_unit_test(animation_can_be_switched_off),
        cmocka_unit_test(every_parameter_walks_steps_and_undoes),
        cmocka_unit_test(more_parameters_are_told_of),
        cmocka_unit_test(direct_keys),
        cmocka_unit_test(undo_goes_far_back),
        cmocka_unit_test(cursor_moves_undo_together),
        cmocka_unit_test(values_are_typed),
        cmocka_unit_test(a_seed_keeps_its_digits),
        cmocka_unit_test(the_end_of_a_range_is_told),
        cmocka_unit_test(the_sweep_goes_up_down_and_home),
        cmocka_unit_test(the_sweep_pauses),
        cmocka_unit_test(the_sweep_tells_where_it_is),
        cmocka_unit_test(a_paused_sweep_goes_on),
        cmocka_unit_test(only_what_is_stale_runs),
        cmocka_unit_test(a_burst_of_kept_states_is_one),
        cmocka_unit_test(without_memory_the_old_state_stays),
        cmocka_unit_test(every_size_draws_and_answers),
        cmocka_unit_test(a_single_line_still_speaks),
        cmocka_unit_test(ascii_is_ascii),
        cmocka_unit_test(mouse_on_a_parameter),
        cmocka_unit_test(the_wheel_elsewhere_does_nothing),
        cmocka_unit_test(a_second_click_turns_a_switch),
        cmocka_unit_test(a_drag_doubles_every_fourth_column),
        cmocka_unit_test(mouse_in_the_heatmap),
        cmocka_unit_test(a_ghost_is_kept_and_dropped),
        cmocka_unit_test(w_writes_and_never_overwrites),
        cmocka_unit_test(w_writes_every_head),
        cmocka_unit_test(files_have_their_own_sizes),
        cmocka_unit_test(without_files_there_are_no_heads),
        cmocka_unit_test(given_logits_have_no_scale),
        cmocka_unit_test(themes_go_round),
        cmocka_unit_test(a_broken_theme_is_told_of),
        cmocka_unit_test(a_theme_is_read_again),
        cmocka_unit_test(key_storm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
