/* test_view_heads.c - all heads beside each other, drawn from the study, and walked through. */
#include "../../src/draw/panels_heads.h"
#include "attnviz/study.h"
#include "canvas_reader.h"
#include "heads_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Six heads in each of three layers: made_heads. */
struct scene {
    struct made_source made;
    void *study;
    const struct av_heads *result;
    struct av_snapshot snapshot;
    struct av_view_state state;
    bool ascii;
    int w, h; /* of what is drawn, and clicked into */
};

static const char *const tokens[] = { "Once", "upon" };

static const struct av_view *view(void)
{
    return av_view_find("heads");
}

static void make_scene(struct scene *s, bool whole, int w, int h)
{
    memset(s, 0, sizeof *s);
    s->w = w;
    s->h = h;
    made_source(&s->made);
    s->made.source.tokens = tokens;
    s->made.source.token_count = 2;
    av_params_default(&s->snapshot.params);
    const struct av_study *study = av_study_find("heads");
    assert_int_equal(study->open(&s->study, av_kernels_best(), NULL), AV_OK);
    study->use_source(s->study, &s->made.source);
    assert_int_equal(study->begin(s->study, &s->snapshot.params, NULL), AV_OK);
    while (whole && study->step(s->study)) {
    }
    s->result = study->result(s->study);
}

static void end(struct scene *s)
{
    av_study_find("heads")->close(s->study);
}

static struct av_canvas drawn(const struct scene *s)
{
    static const struct av_ghost ghost;
    struct av_canvas c = { .ascii = s->ascii };
    assert_int_equal(av_canvas_resize(&c, s->w, s->h, NULL), AV_OK);
    const struct av_view_context ctx = {
        .snapshot = &s->snapshot, .ghost = &ghost, .state = &s->state, .study = s->result, .full = true
    };
    view()->draw(&c, (struct av_rect){ 0, 0, s->w, s->h }, &ctx);
    return c;
}

static struct av_view_edit edit_of(struct scene *s)
{
    return (struct av_view_edit){
        .state = &s->state, .snapshot = &s->snapshot, .rows = s->h, .cols = s->w, .study = s->result
    };
}

/* "l", and the last of "Enter e". */
static bool has_key(const struct av_view_action *a, char key)
{
    size_t len = strlen(a->key);
    return a->key[len - 1] == key && (len == 1 || a->key[len - 2] == ' ');
}

static struct av_view_edit press(struct scene *s, const char *keys)
{
    struct av_view_edit e = edit_of(s);
    for (; *keys != '\0'; keys++) {
        const struct av_view_action *a = view()->actions;
        while (!has_key(a, *keys)) {
            a++;
        }
        a->run(&e);
    }
    return e;
}

static void press_named(struct scene *s, const char *key)
{
    struct av_view_edit e = edit_of(s);
    const struct av_view_action *a = view()->actions;
    while (strcmp(a->key, key) != 0) {
        a++;
    }
    a->run(&e);
}

static void assert_says(const struct scene *s, const char *text)
{
    struct av_canvas c = drawn(s);
    if (find(&c, text) < 0) {
        fail_msg("%dx%d does not say \"%s\"", s->w, s->h, text);
    }
    av_canvas_free(&c);
}

static void assert_cursor(const struct scene *s, size_t layer, size_t head)
{
    assert_int_equal(s->result->heads[s->state.row].layer, layer);
    assert_int_equal(s->result->heads[s->state.row].head, head);
}

/* ---- What is drawn ------------------------------------------------------------------ */

static void a_layer_is_a_line_of_maps(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 100, 40);
    assert_says(&s, "18 heads, 3 layers  entropy / ln n, mean");
    assert_says(&s, "10.0✗"); /* weights of 1 - 1e-16: no gradient */
    assert_says(&s, "10.2✓1.00");
    assert_says(&s, "previous  ");
    assert_says(&s, "layer 10, head 0: bad; previous");
    assert_says(&s, "(\"Once\")");
    press(&s, "yyyyyyyy"); /* what the first key gets */
    assert_says(&s, "weight on the first key");
    assert_says(&s, "11.1✓80%");
    end(&s);
}

/* The map of the sink: its first column is hot, the rest is not. */
static void a_map_shows_where_the_weight_goes(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 100, 40);
    s.state.row = 1;
    struct av_canvas c = drawn(&s);
    char out[LINE];
    int y = find(&c, "10.1");
    const char *at = strstr(line(&c, y, out), "10.1");
    int x = 0;
    for (const char *p = out; p < at; av_utf8_next(&p)) {
        x++;
    }
    assert_int_equal(av_canvas_at(&c, x, y + 1)->role, AV_ROLE_HEAT);
    assert_true(av_canvas_at(&c, x, y + 1)->level >= 10);
    assert_true(av_canvas_at(&c, x + 2, y + 1)->level <= 3);
    assert_true(av_canvas_at(&c, x, y)->mark); /* the cursor */
    assert_false(av_canvas_at(&c, 1, y)->mark);
    av_canvas_free(&c);
    end(&s);
}

static void numbers_and_names_are_on_page_2(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 100, 40);
    press(&s, "v");
    assert_says(&s, "heads 2/2");
    assert_says(&s, "of 18 heads are fine, ");
    assert_says(&s, "sink       first > 50%         10.1 80%  11.1 80%  12.1 80%");
    assert_says(&s, "10.3 ✗diagonal"); /* the layer of the cursor, with all numbers */
    assert_says(&s, "uniform    uneven < 10%        10.2 0%  11.2 0%  12.2 0%");
    end(&s);
}

static void on_low_screens_heads_are_lines(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 30, 5);
    assert_says(&s, "10.0 ✗");
    assert_says(&s, "10.0 ✗<.01 previous");
    assert_says(&s, "10.1 ✓0.34 sink");
    end(&s);
}

/* Whoever sees no colours sees the lines: fine ones are thin, bad ones heavy. */
static void borders_tell_the_verdict(void **unused)
{
    (void)unused;
    static const char *const expected[2][2] = { { "─✓ fine", "━✗ bad" }, { "-+ fine", "#x bad" } };
    struct scene s;
    make_scene(&s, true, 100, 40);
    for (int ascii = 0; ascii < 2; ascii++) {
        s.ascii = ascii != 0;
        assert_says(&s, expected[ascii][0]);
        assert_says(&s, expected[ascii][1]);
        struct av_canvas c = drawn(&s);
        for (size_t head = 1; head < 3; head++) { /* behind the previous one: a sink, a uniform one, both fine */
            const struct av_heads_border border = av_heads_border(&s.result->heads[head], s.ascii);
            assert_int_equal(border.role, AV_ROLE_GOOD);
        }
        const struct av_heads_border fine = av_heads_border(&s.result->heads[1], s.ascii);
        const struct av_heads_border bad = av_heads_border(&s.result->heads[0], s.ascii);
        int y = find(&c, s.ascii ? "10.1+" : "10.1✓") + 1;
        assert_true(y > 0);
        assert_int_equal(av_canvas_at(&c, 0, y)->code, bad.down); /* the first tile, and the second one */
        assert_int_equal(av_canvas_at(&c, 0, y)->role, AV_ROLE_BAD);
        int x = 1;
        while (x < s.w && av_canvas_at(&c, x, y)->code != fine.down) {
            x++;
        }
        assert_int_equal(av_canvas_at(&c, x, y)->role, AV_ROLE_GOOD);
        assert_true(fine.down != bad.down && fine.across != bad.across);
        av_canvas_free(&c);
    }
    end(&s);
}

/* All four are told apart without colours, and each from a head that still waits. */
static void no_two_borders_are_alike(void **unused)
{
    (void)unused;
    for (int ascii = 0; ascii < 2; ascii++) {
        for (enum av_head_health a = 0; a < AV_HEAD_HEALTHS; a++) {
            const struct av_head one = { .state = AV_HEAD_MEASURED, .rows = 1, .health = a };
            assert_true(av_heads_border(&one, ascii).across != av_heads_border(&(struct av_head){ 0 }, ascii).across);
            for (enum av_head_health b = 0; b < a; b++) {
                const struct av_head other = { .state = AV_HEAD_MEASURED, .rows = 1, .health = b };
                assert_true(av_heads_border(&one, ascii).across != av_heads_border(&other, ascii).across);
                assert_true(av_heads_border(&one, ascii).down != av_heads_border(&other, ascii).down);
                assert_true(av_heads_mark(&one).body != av_heads_mark(&other).body);
            }
        }
    }
}

/* The head under the cursor, then the others in sight. */
static void what_is_in_sight_is_wanted(void **unused)
{
    (void)unused;
    struct scene s;
    size_t places[8];
    make_scene(&s, false, 100, 40);
    s.state.row = 9;
    assert_int_equal(view()->wants((struct av_rect){ 0, 0, 100, 40 }, &s.state, s.result, places, 8), 8);
    assert_int_equal(places[0], 9);
    for (size_t i = 1; i < 8; i++) {
        assert_true(places[i] < s.result->count && places[i] != 9);
    }
    s.state.page = 1; /* its layer */
    assert_int_equal(view()->wants((struct av_rect){ 0, 0, 100, 40 }, &s.state, s.result, places, 8), MADE_HEADS);
    assert_int_equal(places[1], MADE_HEADS);
    assert_int_equal(view()->wants((struct av_rect){ 0, 0, 1, 1 }, &s.state, s.result, places, 0), 0);
    end(&s);
}

static void what_is_still_to_come_is_told(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, false, 100, 40);
    assert_says(&s, "0 measured");
    assert_says(&s, "still to be measured");
    press(&s, "v");
    assert_says(&s, "No head is measured yet.");
    end(&s);
}

static void every_size_is_drawn(void **unused)
{
    (void)unused;
    static const int sizes[][2] = {
        { 1, 1 }, { 20, 5 }, { 40, 12 }, { 80, 22 }, { 89, 39 }, { 169, 59 }, { 300, 100 }
    };
    struct scene s;
    make_scene(&s, true, 1, 1);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int at = 0; at < 4; at++) {
            s.w = sizes[i][0];
            s.h = sizes[i][1];
            s.ascii = at % 2 != 0;
            s.state.page = at / 2;
            s.state.row = 17;
            struct av_canvas c = drawn(&s);
            for (int cell = 0; s.ascii && cell < s.w * s.h; cell++) {
                assert_true(c.cells[cell].code < 0x80);
            }
            if (s.w >= 20) {
                assert_true(find(&c, "12.5") >= 0 || at / 2 == 1); /* the cursor is in sight */
            }
            av_canvas_free(&c);
        }
    }
    end(&s);
}

/* ---- Walking ---------------------------------------------------------------------------- */

static void the_cursor_walks_over_layers_and_heads(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 100, 40);
    press(&s, "llj");
    assert_cursor(&s, 1, 2);
    press(&s, "hhhhh"); /* it stays at the edge */
    assert_cursor(&s, 1, 0);
    press(&s, "kkkk");
    assert_cursor(&s, 0, 0);
    press(&s, "vjjl"); /* the same on page 2 */
    assert_cursor(&s, 2, 1);
    end(&s);
}

static void home_end_and_pages_walk_too(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 90, 18); /* one layer is in sight */
    assert_says(&s, "1 of 3 layers, more below");
    press_named(&s, "End");
    assert_cursor(&s, 0, 5);
    press_named(&s, "PgDn");
    assert_cursor(&s, 1, 5);
    assert_says(&s, "1 of 3 layers, more ↑↓");
    press_named(&s, "Home");
    assert_cursor(&s, 1, 0);
    press_named(&s, "PgDn");
    press_named(&s, "PgDn");
    assert_cursor(&s, 2, 0);
    assert_says(&s, "1 of 3 layers, more above");
    press_named(&s, "PgUp");
    assert_cursor(&s, 1, 0);
    end(&s);
}

/* Nothing of a text is lost: it scrolls to its end, and begins anew with another head. */
static void the_text_scrolls(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 60, 20);
    assert_says(&s, "layer 10, head 0: bad");
    assert_says(&s, "J: ");
    for (int i = 0; i < 30; i++) {
        press(&s, "J");
    }
    const struct av_head *head = &s.result->heads[0];
    const char *last = head->verdicts[head->verdict_count - 1].text;
    assert_says(&s, strrchr(last, ' ') + 1);
    assert_says(&s, "K: back up");
    int end_at = s.state.zoom;
    press(&s, "J");
    assert_int_equal(s.state.zoom, end_at);
    press(&s, "K");
    assert_true(s.state.zoom < end_at);
    press(&s, "l");
    assert_int_equal(s.state.zoom, 0);
    s.h = 60;
    s.w = 160;
    assert_string_equal(press(&s, "J").say, "all of the text is in sight");
    end(&s);
}

/* Four heads of one layer: maps grow until a fifth column would not fit. */
static void few_heads_fill_the_screen(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 100, 40);
    struct av_heads few = *s.result;
    few.count = 4;
    few.layers = 1;
    few.widest = 4;
    const struct av_heads_look look = { 0, AV_HEAD_ENTROPY, AV_HEADS_IN_PLACE, AV_HEADS_SHARE };
    struct av_heads_order order;
    av_heads_sort(&order, &few, &look);
    for (int w = 60; w <= 170; w += 10) {
        const struct av_heads_grid g = av_heads_layout((struct av_rect){ 0, 0, w, 30 }, &few, &look, &order);
        assert_true(g.rows <= g.down && g.cols <= g.across);
        assert_true((int)g.cols * g.tile_w - g.gap <= w);
        assert_true((int)g.cols * (g.tile_w + 8) - g.gap > w || g.map_w + 8 > 4 * g.map_h);
        assert_true((int)g.rows * g.tile_h <= 30);
    }
    end(&s);
}

/* Sorted by entropy from the top, the uniform heads are the first three. */
static void sorted_it_walks_in_that_order(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 100, 40);
    press(&s, "x");
    assert_says(&s, "largest first");
    s.state.row = 2;
    press(&s, "l");
    assert_cursor(&s, 1, 2);
    press(&s, "lll"); /* behind them the one without a name */
    assert_int_equal(s.result->heads[s.state.row].head, 5);
    press(&s, "x");
    struct av_heads_order order;
    const struct av_heads_look look = { 0, AV_HEAD_ENTROPY, AV_HEADS_RISING, AV_HEADS_SHARE };
    av_heads_sort(&order, s.result, &look);
    for (size_t i = 1; i < order.count; i++) {
        assert_true(s.result->heads[order.at[i - 1]].at[AV_HEAD_ENTROPY] <=
                    s.result->heads[order.at[i]].at[AV_HEAD_ENTROPY]);
    }
    end(&s);
}

static void a_head_is_opened_in_the_heatmap(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 100, 40);
    struct av_view_edit e = press(&s, "jjllle");
    assert_int_equal(e.layer, 2);
    assert_int_equal(e.head, 3);
    assert_string_equal(e.view, "weights");
    assert_non_null(av_view_find(e.view));
    end(&s);
}

/* Each head is hit where its name is drawn, on both pages. */
static void a_click_selects_what_is_there(void **unused)
{
    (void)unused;
    struct scene s;
    make_scene(&s, true, 100, 40);
    struct av_canvas c = drawn(&s);
    char out[LINE];
    int y = find(&c, "11.4");
    int x = 0;
    const char *at = strstr(line(&c, y, out), "11.4");
    for (const char *p = out; p < at; av_utf8_next(&p)) {
        x++;
    }
    struct av_view_edit e = edit_of(&s);
    view()->click((struct av_rect){ 0, 0, s.w, s.h }, x + 1, y + 1, &e);
    assert_cursor(&s, 1, 4);
    view()->click((struct av_rect){ 0, 0, s.w, s.h }, 0, 0, &e); /* nothing there */
    assert_cursor(&s, 1, 4);
    av_canvas_free(&c);
    s.state.page = 1;
    c = drawn(&s);
    y = find(&c, " 12 ");
    view()->click((struct av_rect){ 0, 0, s.w, s.h }, 8, y, &e);
    assert_cursor(&s, 2, 0);
    av_canvas_free(&c);
    end(&s);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_layer_is_a_line_of_maps),
        cmocka_unit_test(a_map_shows_where_the_weight_goes),
        cmocka_unit_test(numbers_and_names_are_on_page_2),
        cmocka_unit_test(on_low_screens_heads_are_lines),
        cmocka_unit_test(borders_tell_the_verdict),
        cmocka_unit_test(no_two_borders_are_alike),
        cmocka_unit_test(what_is_in_sight_is_wanted),
        cmocka_unit_test(what_is_still_to_come_is_told),
        cmocka_unit_test(every_size_is_drawn),
        cmocka_unit_test(the_cursor_walks_over_layers_and_heads),
        cmocka_unit_test(home_end_and_pages_walk_too),
        cmocka_unit_test(the_text_scrolls),
        cmocka_unit_test(few_heads_fill_the_screen),
        cmocka_unit_test(sorted_it_walks_in_that_order),
        cmocka_unit_test(a_head_is_opened_in_the_heatmap),
        cmocka_unit_test(a_click_selects_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
