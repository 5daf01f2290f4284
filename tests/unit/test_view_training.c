/* test_view_training.c - the view of the twin runs: labels, curves, scrubbing. */
#include "../../src/draw/training_plots.h"
#include "canvas_reader.h"
#include "training_driver.h"

#include <stdio.h>

#define SMALL "d_model=16 d_k=8 seq_len=5 batch=4 sequences=13 lr=0.01 task=average epochs=20 "
#define DRIFTS "d_model=16 d_k=64 init=unit seq_len=5 batch=4 sequences=13 lr=0.01 epochs=20 "

enum { CURSOR = 0x2502 };

/* A study and the view's state. */
struct scene {
    void *study;
    struct av_view_state state;
    double rate;
    bool ascii, stopped;
};

static const struct av_view *view(void)
{
    return av_view_find("training");
}

static struct scene scene(const char *settings)
{
    struct scene s = { .study = opened() };
    assert_int_equal(begin(s.study, settings), AV_OK);
    return s;
}

static struct av_canvas drawn(const struct scene *s, int w, int h)
{
    static const struct av_snapshot snapshot;
    static const struct av_ghost ghost;
    struct av_canvas c = { .ascii = s->ascii };
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    const struct av_view_context ctx = { .snapshot = &snapshot,
                                         .ghost = &ghost,
                                         .state = &s->state,
                                         .study = s->study != NULL ? result_of(s->study) : NULL,
                                         .progress = s->study != NULL ? training()->progress(s->study) : 1,
                                         .rate = s->rate,
                                         .stopped = s->stopped,
                                         .full = true };
    view()->draw(&c, (struct av_rect){ 0, 0, w, h }, &ctx);
    return c;
}

static void leave(struct scene *s, struct av_canvas *c)
{
    training()->close(s->study);
    av_canvas_free(c);
}

/* Presses keys; the last order and words. */
static struct av_view_edit press(struct scene *s, const char *keys)
{
    static const struct av_snapshot snapshot;
    struct av_view_edit e = { .state = &s->state, .snapshot = &snapshot, .study = result_of(s->study) };
    for (; *keys != '\0'; keys++) {
        const struct av_view_action *a = view()->actions;
        while (a->key != NULL && a->key[0] != *keys) {
            a++;
        }
        assert_non_null(a->key);
        e.work = AV_WORK_NONE;
        e.say = NULL;
        a->run(&e);
    }
    return e;
}

static void assert_says(const struct av_canvas *c, const char *text)
{
    if (find(c, text) < 0) {
        fail_msg("nothing says \"%s\"", text);
    }
}

static int count(const struct av_canvas *c, uint32_t code, enum av_role role)
{
    int n = 0;
    for (int i = 0; i < c->cols * c->rows; i++) {
        n += c->cells[i].code == code && c->cells[i].role == role;
    }
    return n;
}

static void assert_all_said(struct scene *s, int w, int h, const char *const *texts)
{
    struct av_canvas c = drawn(s, w, h);
    for (; *texts != NULL; texts++) {
        assert_says(&c, *texts);
    }
    av_canvas_free(&c);
}

/* ---- What is on the screen --------------------------------------------------------- */

static void the_small_screen_says_what_matters(void **state)
{
    (void)state;
    static const char *const texts[] = { "d_k 64 · d_model 16 · seq_len 5 · unit · lr 0.01 · seed 42",
                                         "training 1/2",
                                         "reconstruct  output the input",
                                         "done  step 80 of 80",
                                         "100%",
                                         "● scaled  ◇ unscaled  ! alarm  ●◇ in turn: both",
                                         "plot 1/10 · y",
                                         "epoch 20",
                                         "after 80 steps",
                                         "at the end: ",
                                         "largest weight above 0.9: scaled in ",
                                         NULL };
    struct scene s = scene(DRIFTS);
    finish(s.study);
    assert_all_said(&s, 80, 22, texts);
    training()->close(s.study);
}

static void every_plot_has_its_name(void **state)
{
    (void)state;
    static const char *const names[] = { "loss  ",
                                         "gradient of w_q, w_k  ┄ rule of thumb: 1e-3 .. 1e-1",
                                         "|d_q| per token  ● ◇ median  ○ + mean",
                                         "largest weight  ┄ alarm above 0.9",
                                         "entropy  / ln n",
                                         "logit std  ",
                                         "gradient  of all",
                                         "|d_k| per token  ",
                                         "mean of entries",
                                         "variance of entries  ● ◇ q  ○ + k  ┄ 1" };
    struct scene s = scene(SMALL);
    finish(s.study);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        s.state.zoom = 1;
        struct av_canvas c = drawn(&s, 110, 30);
        assert_says(&c, names[i]);
        av_canvas_free(&c);
        press(&s, "y");
    }
    assert_int_equal(s.state.quantity, 0); /* alpha is not learned */
    press(&s, "Y");
    assert_int_equal(s.state.quantity, 9);
    assert_int_equal(begin(s.study, SMALL "learn_scale=on"), AV_OK);
    press(&s, "y");
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "alpha  learned");
    leave(&s, &c);
}

/* The rule of thumb is called so even where room is short. */
static void the_band_is_named_at_80_columns(void **state)
{
    (void)state;
    struct scene s = scene(SMALL);
    finish(s.study);
    press(&s, "y");
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "gradient of w_q, w_k  ┄ rule of thumb");
    leave(&s, &c);
}

/* Both runs can be told apart by their glyphs, where they meet as well. */
static void marks_do_without_colours(void **state)
{
    (void)state;
    struct scene s = scene(DRIFTS);
    finish(s.study);
    for (int ascii = 0; ascii < 2; ascii++) {
        s.ascii = ascii != 0;
        struct av_canvas c = drawn(&s, 80, 22);
        struct av_training_marks a = av_training_marks(AV_TWIN_SCALED), b = av_training_marks(AV_TWIN_UNSCALED);
        assert_true(count(&c, ascii ? '*' : a.main, AV_ROLE_SCALED) > 5);
        assert_true(count(&c, ascii ? 'x' : b.main, AV_ROLE_UNSCALED) > 5);
        for (int i = 0; i < c.cols * c.rows; i++) {
            assert_true(!ascii || c.cells[i].code < 0x7F);
            assert_true(c.cells[i].code != '?');
        }
        av_canvas_free(&c);
    }
    training()->close(s.study);
}

static void alarms_fill_the_epochs_where_they_fire(void **state)
{
    (void)state;
    struct scene s = scene(DRIFTS);
    finish(s.study);
    const struct av_training *t = result_of(s.study);
    press(&s, "yyyz"); /* the largest weight alone, more columns than epochs */
    static const struct av_rect curves = { 0, 4, 43, 16 };
    struct av_canvas c = drawn(&s, 80, 22);
    const char *const names[AV_TWINS] = { [AV_TWIN_SCALED] = "alarm ●", [AV_TWIN_UNSCALED] = "alarm ◇" };
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        const int y = find(&c, names[twin]);
        const struct av_training_look look = { AV_TRAINING_EPOCHS, 0, 3, true };
        int columns = 0;
        assert_true(y > 0);
        for (int x = 0; x < curves.w; x++) {
            const size_t epoch = av_panel_training_number(curves, t, &look, x);
            const struct av_train_record *r = av_training_record(t, AV_TRAINING_EPOCHS, twin, epoch);
            const bool fires = epoch > 0 && r->at[AV_TRAIN_MAX_WEIGHT] > 0.9;
            assert_int_equal(av_canvas_at(&c, x, y)->code == '!', fires);
            columns += epoch > 0;
        }
        assert_true(columns > 20);
    }
    assert_true(t->runs[AV_TWIN_UNSCALED].fired[AV_TRAINING_EPOCHS][AV_TRAINING_LARGEST].count > 0);
    leave(&s, &c);
}

/* Numbers and weights of the page of first steps are of one step. */
static void the_first_steps_keep_their_weights(void **state)
{
    (void)state;
    struct scene s = scene(SMALL "epochs=40");
    finish(s.study);
    press(&s, "v");
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "step 100 ");
    assert_says(&c, "before step 100");
    assert_true(find(&c, "after 160 steps") < 0);
    leave(&s, &c);
}

static void an_alpha_that_crosses_0_has_a_linear_axis(void **state)
{
    (void)state;
    struct scene s = scene(SMALL "learn_scale=on lr=1e-4");
    finish(s.study);
    const struct av_training *t = result_of(s.study);
    const int alpha = av_training_plots(t) - 1;
    assert_true(av_training_plot(t, alpha)->scale == AV_PLOT_LOG);
    training()->close(s.study);
    s = scene(DRIFTS "learn_scale=on task=recall lr=0.3");
    finish(s.study);
    t = result_of(s.study);
    assert_true(av_training_plot(t, alpha)->scale == AV_PLOT_LINEAR);
    press(&s, "Y");
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "alpha  ┄ 0");
    assert_says(&c, "alpha crosses 0: ");
    leave(&s, &c);
}

static void the_run_before_stays_as_a_ghost(void **state)
{
    (void)state;
    struct scene s = scene(SMALL);
    finish(s.study);
    assert_int_equal(begin(s.study, SMALL "lr=0.02 init=unit"), AV_OK);
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "△ ▷ before: init pytorch, lr 0.01");
    assert_true(count(&c, 0x25B3, AV_ROLE_GHOST) > 5);
    assert_true(count(&c, 0x25B7, AV_ROLE_GHOST) > 5);
    leave(&s, &c);
}

/* ---- Running -------------------------------------------------------------------------- */

static void progress_is_told(void **state)
{
    (void)state;
    struct scene s = scene(SMALL);
    steps(s.study, 20);
    s.rate = 0.25; /* of 80 steps: 20 a second */
    struct av_canvas c = drawn(&s, 100, 30);
    assert_says(&c, "running  step 20 of 80");
    assert_says(&c, "25%  20 steps/s  3.0 s left");
    assert_true(find(&c, "keys wait") < 0);
    av_canvas_free(&c);
    s.rate = 0.025;
    c = drawn(&s, 120, 30);
    assert_says(&c, "2.0 steps/s  30 s left  keys wait for parts of a step of 0.50 s");
    av_canvas_free(&c);
    s.stopped = true;
    c = drawn(&s, 80, 22);
    assert_says(&c, "paused  step 20 of 80");
    leave(&s, &c);
}

static void a_divergence_is_named(void **state)
{
    (void)state;
    struct scene s = scene(SMALL "optimizer=sgd lr=1e6");
    finish(s.study);
    struct av_canvas c = drawn(&s, 80, 22);
    char text[64];
    snprintf(text, sizeof text, "unscaled diverged at step %d", (int)result_of(s.study)->runs[1].steps + 1);
    assert_says(&c, text);
    assert_says(&c, "ended  step ");
    leave(&s, &c);
}

static void keys_order_work(void **state)
{
    (void)state;
    struct scene s = scene(SMALL);
    assert_int_equal(press(&s, "i").work, AV_WORK_STEP);
    s.state.col = 3;
    assert_int_equal(press(&s, "b").work, AV_WORK_RESTART);
    assert_int_equal(s.state.col, 0);
    training()->close(s.study);
}

/* ---- Scrubbing ---------------------------------------------------------------------------- */

static void assert_at(struct scene *s, const char *keys, int number)
{
    press(s, keys);
    if (s->state.col != number) {
        fail_msg("%s: at %d, not %d", keys, s->state.col, number);
    }
}

static void the_history_can_be_walked(void **state)
{
    (void)state;
    struct scene s = scene(SMALL);
    assert_non_null(press(&s, "h").say); /* nothing there */
    assert_int_equal(s.state.col, 0);
    steps(s.study, 41); /* ten epochs and a step */
    assert_at(&s, "h", 9);
    assert_at(&s, "hh", 7);
    assert_at(&s, "l", 8);
    assert_at(&s, "HH", 6);
    assert_at(&s, "hhhhhhhhhh", 1);
    assert_at(&s, "LLL", 4);
    assert_at(&s, "e", 0);
    assert_at(&s, "l", 0);
    assert_at(&s, "hll", 0); /* the last record, then the latest */
    assert_at(&s, "vh", 40); /* of 41 steps */
    assert_at(&s, "v", 0);
    training()->close(s.study);
}

/* The table has the record's numbers, the cursor stands on its column. */
static void the_cursor_reads_both_runs(void **state)
{
    (void)state;
    struct scene s = scene(SMALL);
    finish(s.study);
    press(&s, "hhhhh");
    struct av_canvas c = drawn(&s, 80, 22);
    char out[LINE], numbers[AV_TWINS][AV_NUMBER_MAX];
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        const struct av_train_record *r = &result_of(s.study)->runs[twin].curves[AV_TRAINING_EPOCHS].at[14];
        av_plot_number(numbers[twin], r->at[AV_TRAIN_LOSS], 4);
    }
    assert_says(&c, "epoch 15 ");
    assert_says(&c, "after epoch 15");
    const char *row = line(&c, find(&c, "epoch 15 ") + 1, out);
    const char *scaled = strstr(row, numbers[AV_TWIN_SCALED]);
    assert_non_null(scaled);
    assert_non_null(strstr(scaled, numbers[AV_TWIN_UNSCALED]));
    assert_true(count(&c, CURSOR, AV_ROLE_SELECT) > 3);
    leave(&s, &c);
}

/* A click on a column's own cell, and the mark of that epoch is there. */
static void a_click_sets_the_cursor(void **state)
{
    (void)state;
    struct scene s = scene(SMALL);
    finish(s.study);
    static const struct av_snapshot snapshot;
    struct av_view_edit e = { .state = &s.state, .snapshot = &snapshot, .study = result_of(s.study) };
    const struct av_rect r = { 0, 0, 80, 22 };
    view()->click(r, 20, 8, &e);
    assert_in_range(s.state.col, 1, 19);
    struct av_canvas c = drawn(&s, 80, 22);
    bool there = false;
    for (int y = 0; y < 22; y++) {
        there = there || av_canvas_at(&c, 20, y)->role == AV_ROLE_SELECT;
    }
    assert_true(there);
    int was = s.state.col;
    view()->click(r, 60, 8, &e); /* the heatmap */
    view()->click(r, 2, 8, &e);  /* the labels */
    assert_int_equal(s.state.col, was);
    leave(&s, &c);
}

/* ---- Sizes ----------------------------------------------------------------------------------- */

/* Nothing outside the rectangle, whatever the size and the state. */
static void it_keeps_to_its_rectangle(void **state)
{
    (void)state;
    static const int sizes[][2] = { { 1, 1 },   { 20, 5 },  { 40, 12 },  { 80, 22 },
                                    { 89, 39 }, { 71, 30 }, { 169, 59 }, { 300, 100 } };
    static const char *const settings[] = { SMALL, SMALL "runs=on", "d_model=2 d_k=1 seq_len=1 epochs=1 batch=1",
                                            SMALL "seq_len=40 learn_scale=on" };
    for (size_t k = 0; k < sizeof settings / sizeof settings[0]; k++) {
        struct scene s = scene(settings[k]);
        for (size_t i = 0; i < 2 * sizeof sizes / sizeof sizes[0]; i++) {
            const int w = sizes[i / 2][0], h = sizes[i / 2][1];
            static const struct av_snapshot snapshot;
            static const struct av_ghost ghost;
            struct av_canvas c = { .cells = NULL };
            assert_int_equal(av_canvas_resize(&c, w + 4, h + 4, NULL), AV_OK);
            const struct av_view_context ctx = {
                .snapshot = &snapshot, .ghost = &ghost, .state = &s.state, .study = result_of(s.study), .full = true
            };
            view()->draw(&c, (struct av_rect){ 2, 2, w, h }, &ctx);
            for (int at = 0; at < c.cols * c.rows; at++) {
                const int x = at % c.cols, y = at / c.cols;
                const bool inside = x >= 2 && x < w + 2 && y >= 2 && y < h + 2;
                assert_true(inside || c.cells[at].code == ' ');
            }
            av_canvas_free(&c);
            steps(s.study, 7);
            press(&s, i % 5 == 0 ? "v" : "y");
        }
        training()->close(s.study);
    }
}

static void without_a_study_it_says_so(void **state)
{
    (void)state;
    struct scene s = { .study = NULL };
    struct av_canvas c = drawn(&s, 80, 22);
    assert_says(&c, "no experiment with these parameters");
    assert_says(&c, "u undoes the change");
    av_canvas_free(&c);
}

static void a_refusal_has_its_reason(void **state)
{
    (void)state;
    static const struct {
        int64_t task, seq_len, d_model;
        const char *why, *way;
    } cases[] = {
        { AV_TASK_RECONSTRUCT, 2048, 2048, "training would take ", "lower d_k, d_model, " },
        { AV_TASK_RECALL, 1, 128, "seq_len=1: the task recall ", "seq_len to 2" },
        { AV_TASK_DEPTH, 8, 128, "task=depth trains ", "the view depth" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct av_params p;
        struct av_canvas c = { .cells = NULL };
        av_params_default(&p);
        p.task = cases[i].task, p.seq_len = cases[i].seq_len, p.d_model = cases[i].d_model;
        assert_int_equal(av_canvas_resize(&c, 60, 22, NULL), AV_OK);
        av_panel_training_refused(&c, (struct av_rect){ 0, 0, 60, 22 }, &p);
        assert_says(&c, cases[i].why);
        assert_says(&c, cases[i].way);
        av_canvas_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_small_screen_says_what_matters),
        cmocka_unit_test(every_plot_has_its_name),
        cmocka_unit_test(the_band_is_named_at_80_columns),
        cmocka_unit_test(marks_do_without_colours),
        cmocka_unit_test(alarms_fill_the_epochs_where_they_fire),
        cmocka_unit_test(the_first_steps_keep_their_weights),
        cmocka_unit_test(an_alpha_that_crosses_0_has_a_linear_axis),
        cmocka_unit_test(the_run_before_stays_as_a_ghost),
        cmocka_unit_test(progress_is_told),
        cmocka_unit_test(a_divergence_is_named),
        cmocka_unit_test(keys_order_work),
        cmocka_unit_test(the_history_can_be_walked),
        cmocka_unit_test(the_cursor_reads_both_runs),
        cmocka_unit_test(a_click_sets_the_cursor),
        cmocka_unit_test(it_keeps_to_its_rectangle),
        cmocka_unit_test(without_a_study_it_says_so),
        cmocka_unit_test(a_refusal_has_its_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
