/* test_view_depth.c - curves over the layers and the table of stacks, drawn from the study. */
#include "../../src/draw/panels_depth.h"
#include "attnviz/facts.h"
#include "attnviz/study.h"
#include "canvas_reader.h"
#include "depth_driver.h"

#include <math.h>
#include <stdio.h>

/* How far a study is run. */
enum run { BEGUN, TWINS, ALL };

/* A study asked about `settings`, and the view's state. */
struct scene {
    struct av_snapshot snapshot; /* whose parameters alone are looked at */
    void *study;
    const struct av_depth_study *result;
    struct av_view_state state;
    bool ascii;
};

static struct scene *scene(const char *settings, enum run run)
{
    const struct av_study *study = av_study_find("depth");
    struct scene *s = av_alloc(1, sizeof *s);
    assert_non_null(s);
    s->snapshot.params = depth_params(settings);
    assert_int_equal(study->open(&s->study, av_kernels_best(), NULL), AV_OK);
    assert_int_equal(study->begin(s->study, &s->snapshot.params, NULL), AV_OK);
    s->result = study->result(s->study);
    while (run == TWINS && s->result->twins[0]->done + s->result->twins[1]->done < 2 * AV_DEPTH_SEEDS) {
        assert_true(study->step(s->study));
    }
    while (run == ALL && study->step(s->study)) {
    }
    return s;
}

static struct av_canvas drawn(const struct scene *s, int w, int h)
{
    static const struct av_ghost ghost;
    struct av_canvas c = { .ascii = s->ascii };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    const struct av_view_context ctx = {
        .snapshot = &s->snapshot, .ghost = &ghost, .state = &s->state, .study = s->result, .progress = 1, .full = true
    };
    av_view_find("depth")->draw(&c, (struct av_rect){ 0, 0, w, h }, &ctx);
    return c;
}

static void leave(struct scene *s)
{
    av_study_find("depth")->close(s->study);
    av_free(s);
}

static void assert_says(const struct scene *s, int w, int h, const char *text)
{
    struct av_canvas c = drawn(s, w, h);
    if (find(&c, text) < 0) {
        fail_msg("nothing says \"%s\"", text);
    }
    av_canvas_free(&c);
}

/* Cells with this glyph in this role. */
static int count(const struct av_canvas *c, uint32_t code, enum av_role role)
{
    int n = 0;
    for (int i = 0; i < c->cols * c->rows; i++) {
        n += c->cells[i].code == code && c->cells[i].role == role;
    }
    return n;
}

/* ---- Curves ---------------------------------------------------------------------- */

static void the_small_screen_says_it_all(void **state)
{
    (void)state;
    struct scene *s = scene("init=unit", TWINS);
    char words[AV_DEPTH_WORDS];
    static const char *const texts[] = { "16 layers  no residual · no norm · init unit · 5 of 5 seeds",
                                         "● scaled now  ◇ unscaled",
                                         "grad_qk_norm",
                                         "cosine",
                                         "layer 0",
                                         "● dead",
                                         "◇ dead" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_says(s, 80, 22, texts[i]);
    }
    for (int scale = 0; scale < 2; scale++) {
        assert_says(s, 80, 22, av_depth_words(words, s->result->twins[scale]));
    }
    leave(s);
}

/* Dead layers have a mark each in the lane of their twin, and no point. */
static void noise_is_drawn_as_noise(void **state)
{
    (void)state;
    struct scene *s = scene("init=unit", TWINS);
    const struct av_depth_finding f = av_depth_find(&s->result->twins[1]->median);
    struct av_canvas c = drawn(s, 80, 22);
    char text[LINE];
    const int y = find(&c, "● dead");
    size_t cells = 0;
    line(&c, y, text);
    for (const char *at = text; (at = strchr(at, '~')) != NULL; at++) {
        cells++;
    }
    assert_true(f.dead > 10);
    assert_true(cells >= 2 * f.dead && cells <= 3 * f.dead); /* 40 columns for 16 layers */
    assert_int_equal(count(&c, AV_MARK_NOW, AV_ROLE_SCALED), 3 + (int)(16 - f.dead) + 16); /* legend, lane, words */
    av_canvas_free(&c);
    s->state.col = 12;
    assert_says(s, 80, 22, "noise");
    leave(s);
}

static void an_overflow_stands_at_its_layer(void **state)
{
    (void)state;
    struct scene *s = scene("init=unit residual=on layers=64 depth_dtype=f32", TWINS);
    const struct av_depth_stack *stack = &s->result->twins[1]->median;
    struct av_canvas c = drawn(s, 200, 50);
    const int y = find(&c, "● dead");
    const int cells = 200 - AV_DEPTH_LAYER_W - AV_DEPTH_MARGIN - 1;
    const struct av_axis axis = { -0.5, 63.5, false, cells };
    const int x = AV_DEPTH_MARGIN + av_axis_cell(&axis, (double)stack->overflow_layer);
    assert_int_equal(stack->overflow, AV_DEPTH_BACKWARD);
    assert_int_equal(av_canvas_at(&c, x, y)->code, '!');
    assert_int_equal(av_canvas_at(&c, AV_DEPTH_MARGIN, y)->code, '-'); /* nothing got there */
    assert_true(find(&c, "the gradient overflows f32 in layer") > 0);
    av_canvas_free(&c);
    leave(s);
}

static void the_cursor_reads_off_its_layer(void **state)
{
    (void)state;
    struct scene *s = scene("init=unit residual=on norm=pre scale=off", TWINS);
    char number[AV_NUMBER_MAX];
    s->state.col = 3;
    assert_says(s, 80, 22, "● unscaled now  ◇ scaled");
    assert_says(s, 80, 22, "layer 3");
    av_plot_number(number, s->result->twins[1]->median.layers[3].at[AV_DEPTH_GRAD_V], 3);
    assert_says(s, 80, 22, number);
    av_plot_number(number, s->result->twins[0]->median.layers[3].at[AV_DEPTH_LOGIT_STD], 3);
    assert_says(s, 80, 22, number);
    s->state.col = 1000;
    assert_says(s, 80, 22, "layer 15");
    leave(s);
}

static void what_is_not_computed_yet_is_left_open(void **state)
{
    (void)state;
    struct scene *s = scene("init=unit clip=2", BEGUN);
    assert_says(s, 80, 22, "not computed yet");
    assert_says(s, 80, 22, "…");
    assert_says(s, 80, 22, "clip 2");
    s->state.page = 1;
    assert_says(s, 80, 22, "…");
    s->result = NULL;
    assert_says(s, 80, 22, "nothing is computed");
    leave(s);
}

static void clipping_is_told(void **state)
{
    (void)state;
    struct scene *s = scene("init=unit clip=1", TWINS);
    assert_says(s, 80, 22, "clipped by");
    assert_says(s, 80, 22, "w_q, w_k dead in 13 of 16 layers");
    char factor[AV_NUMBER_MAX];
    char text[128];
    av_plot_number(factor, s->result->twins[1]->median.clipped, 2);
    snprintf(text, sizeof text, "clipped to norm 1: all gradients ● × %s ◇ × ", factor);
    assert_says(s, 80, 22, text);
    assert_says(s, 80, 22, ", the dead stay dead");
    leave(s);
}

/* Not where it does not, and not where it is what q and k are of variance 1 with. */
static void an_init_that_shrinks_is_told(void **state)
{
    (void)state;
    struct scene *s = scene("d_model=32 d_k=16 layers=4", TWINS);
    char size[AV_NUMBER_MAX];
    char text[128];
    av_plot_number(size, s->result->twins[1]->median.layers[0].at[AV_DEPTH_SIZE], 2);
    snprintf(text, sizeof text, "init pytorch shrinks size 1 to %s in layer 0; init=unit: q, k variance 1", size);
    assert_says(s, 80, 22, text);
    leave(s);
    static const char *const others[] = { "d_model=32 d_k=16 layers=4 residual=on",
                                          "d_model=32 d_k=16 layers=4 init=unit" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        s = scene(others[i], TWINS);
        struct av_canvas c = drawn(s, 80, 22);
        assert_int_equal(find(&c, "shrinks"), -1);
        av_canvas_free(&c);
        leave(s);
    }
}

/* ---- The table --------------------------------------------------------------------- */

/* "explodes 967×", as the table has it. */
static const char *fate(char out[48], const struct av_depth_cell *cell)
{
    const struct av_depth_finding f = av_depth_find(&cell->median);
    char number[AV_FACT_NUMBER] = "";
    const bool counts = f.fate >= AV_DEPTH_FATE_EXPLODES;
    if (counts) {
        av_fact_number(number, av_depth_fate_ratio(&f), AV_FACT_DIGITS);
    }
    snprintf(out, 48, "%s%s%s%s", av_depth_fate_name(f.fate), counts ? " " : "", number, counts ? "×" : "");
    return out;
}

/* Words of the line that starts with `label`, behind it. */
static int words_behind(const struct av_canvas *c, const char *label)
{
    char text[LINE];
    const int y = find(c, label);
    assert_true(y >= 0);
    int n = 0;
    char *at = strstr(line(c, y, text), label) + strlen(label);
    for (char *word = strtok(at, " "); word != NULL; word = strtok(NULL, " ")) {
        n++;
    }
    return n;
}

/* With long exponents too: "8.9e-102.4e-11" would be read as one. */
static void numbers_stay_apart(void **state)
{
    (void)state;
    static const char *const names[] = { " w_q, w_k  ", "   w_q ", "   w_k ", "  w_v ", "  w_o ", " clipped by " };
    struct scene *s = scene("layers=64 tokens=2 d_model=2 d_k=1 exponent=1 clip=1e-300 residual=on norm=pre", ALL);
    struct av_canvas c = drawn(s, 80, 22);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        assert_int_equal(words_behind(&c, names[i]), 2);
    }
    av_canvas_free(&c);
    s->state.page = 1;
    c = drawn(s, 80, 22);
    assert_int_equal(words_behind(&c, "pre-norm, 1/sqrt(2L)"), 6);
    assert_int_equal(words_behind(&c, "residual, post-norm"), 6);
    av_canvas_free(&c);
    leave(s);
}

static void the_table_names_all_stacks(void **state)
{
    (void)state;
    struct scene *s = scene("layers=24 d_model=64 d_k=32", ALL);
    s->state.page = 1;
    for (size_t i = 0; i < AV_DEPTH_STACKS; i++) {
        const struct av_depth_cell *const *cells = s->result->table[i];
        char text[96];
        assert_says(s, 80, 22, av_depth_recipes[i].name);
        char shallow[48];
        char deep[48];
        snprintf(text, sizeof text, "8 %s  24 %s", fate(shallow, cells[0]), fate(deep, cells[1]));
        assert_says(s, 80, 22, text);
    }
    assert_says(s, 80, 22, "8 layers");
    assert_says(s, 80, 22, "24 layers");
    assert_says(s, 80, 22, "flat, uneven: largest gradient over smallest; the others: first layer over last");
    assert_says(s, 80, 22, "64: a deep stack");
    assert_says(s, 80, 22, "noise");
    leave(s);
}

static void a_stack_is_shown_layer_by_layer(void **state)
{
    (void)state;
    struct scene *s = scene("layers=24 d_model=32 d_k=16", ALL);
    char words[AV_DEPTH_WORDS];
    s->state.row = 6;
    assert_says(s, 80, 22, "stack 6 of 7: residual, pre-norm");
    assert_says(s, 80, 22, av_depth_words(words, s->result->table[5][1]));
    assert_says(s, 80, 22, "fixed scale, init, residual, norm, mlp, clip; k back to the parameters");
    struct av_canvas c = drawn(s, 80, 22);
    assert_int_equal(count(&c, AV_MARK_NOW, AV_ROLE_SCALED) + count(&c, AV_MARK_OTHER, AV_ROLE_SCALED), 0);
    assert_true(count(&c, AV_MARK_NOW, AV_ROLE_UNSCALED) > 24);
    av_canvas_free(&c);
    leave(s);
}

/* ---- Keys and sizes -------------------------------------------------------------------- */

static void press(const char *key, struct av_view_edit *e)
{
    const struct av_view_action *a = av_view_find("depth")->actions;
    while (a->key != NULL && strcmp(a->key, key) != 0) {
        a++;
    }
    assert_non_null(a->key);
    e->say = NULL;
    a->run(e);
}

static void keys_walk_layers_stacks_and_quantities(void **state)
{
    (void)state;
    struct scene *s = scene("layers=2 d_model=16 d_k=8", TWINS);
    struct av_view_edit e = { .state = &s->state, .snapshot = &s->snapshot };
    press("h", &e);
    assert_int_equal(s->state.col, 0);
    press("l", &e);
    press("l", &e);
    assert_int_equal(s->state.col, 1);
    press("k", &e);
    assert_int_equal(s->state.row, AV_DEPTH_STACKS);
    press("j", &e);
    assert_int_equal(s->state.row, 0);
    press("y", &e);
    assert_says(s, 80, 22, "grad_q_norm");
    press("Y", &e);
    assert_says(s, 80, 22, "size root mean square");
    press("v", &e);
    press("l", &e);
    assert_non_null(e.say);
    assert_int_equal(s->state.col, 1);
    leave(s);
}

/* Every size, every stack, and in ASCII nothing that has no stand-in. */
static void every_size_is_drawn(void **state)
{
    (void)state;
    struct scene *s = scene("layers=64 tokens=2 d_model=4 d_k=2 residual=on mlp=on clip=1 depth_dtype=f32", ALL);
    s->ascii = true;
    for (int w = 1; w <= 180; w += w < 50 ? 3 : 31) {
        for (int h = 1; h <= 70; h += h < 30 ? 2 : 13) {
            for (int page = 0; page < 2; page++) {
                s->state.page = page;
                s->state.row = (w + h) % (AV_DEPTH_STACKS + 1);
                struct av_canvas c = drawn(s, w, h);
                for (int i = 0; i < w * h; i++) {
                    assert_true(c.cells[i].code >= 0x20 && c.cells[i].code < 0x7F && c.cells[i].code != '?');
                }
                av_canvas_free(&c);
            }
        }
    }
    leave(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_screen_says_it_all),
        cmocka_unit_test(noise_is_drawn_as_noise),
        cmocka_unit_test(an_overflow_stands_at_its_layer),
        cmocka_unit_test(the_cursor_reads_off_its_layer),
        cmocka_unit_test(what_is_not_computed_yet_is_left_open),
        cmocka_unit_test(clipping_is_told),
        cmocka_unit_test(an_init_that_shrinks_is_told),
        cmocka_unit_test(numbers_stay_apart),
        cmocka_unit_test(the_table_names_all_stacks),
        cmocka_unit_test(a_stack_is_shown_layer_by_layer),
        cmocka_unit_test(keys_walk_layers_stacks_and_quantities),
        cmocka_unit_test(every_size_is_drawn),
    };
    return cmocka_run_group_tests_name("view depth", tests, NULL, NULL);
}
