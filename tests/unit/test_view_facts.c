/* test_view_facts.c - the table of claims, and the selected one in full. */
#include "../../src/draw/panels_facts.h"
#include "made_facts.h"
#include "view_driver.h"

#include <ctype.h>

static struct made_facts made;

/* The view of facts of which so many are measured, claim `row` selected. */
static struct av_canvas facts_drawn(size_t measured, int row, int w, int h, bool ascii)
{
    struct fake f;
    struct av_canvas c = { .ascii = ascii };
    make(&f, NULL);
    make_facts(&made, measured);
    f.state.row = row;
    struct av_view_context ctx = fake_context(&f, true);
    ctx.study = &made.all;
    ctx.progress = (double)measured / (double)made.all.count;
    assert_int_equal(av_canvas_resize(&c, w, h, NULL), AV_OK);
    av_view_find("facts")->draw(&c, (struct av_rect){ 0, 0, w, h }, &ctx);
    fake_free(&f);
    return c;
}

static size_t claims_count(void)
{
    size_t count;
    av_claims(&count);
    return count;
}

static void assert_line(const struct av_canvas *c, const char *text)
{
    if (find(c, text) < 0) {
        fail_msg("no line says \"%s\"", text);
    }
}

/* ---- Drawing ---------------------------------------------------------------------- */

/* Nothing is cut at the usual sizes: neither in the table nor in full. */
static void all_of_every_claim_is_shown(void **state)
{
    (void)state;
    static const int sizes[][2] = { { 80, 22 }, { 89, 39 }, { 169, 59 } };
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (size_t i = 0; i < claims_count(); i++) {
            struct av_canvas c = facts_drawn(claims_count(), (int)i, sizes[s][0], sizes[s][1], false);
            const struct av_claim *claim = made.facts[i].claim;
            assert_int_equal(find(&c, "…"), -1);
            assert_line(&c, claim->name);
            assert_line(&c, claim->text);
            for (size_t k = 0; k < av_claim_settings(claim); k++) {
                char label[AV_FACT_LINE];
                snprintf(label, sizeof label, "             %s ", claim->settings[k].label);
                assert_line(&c, label);
            }
            av_canvas_free(&c);
        }
    }
}

static void a_tall_screen_shows_all_claims(void **state)
{
    (void)state;
    struct av_canvas c = facts_drawn(claims_count(), 0, 89, 49, false);
    for (size_t i = 0; i < claims_count(); i++) {
        assert_line(&c, made.facts[i].claim->text);
    }
    av_canvas_free(&c);
}

static void the_selected_claim_is_in_sight(void **state)
{
    (void)state;
    for (int h = 3; h < 40; h += 4) {
        for (int row = -1; row <= (int)claims_count(); row++) {
            struct av_canvas c = facts_drawn(claims_count(), row, 80, h, false);
            size_t at = row < 0 ? 0 : (size_t)row < claims_count() ? (size_t)row : claims_count() - 1;
            int y = find(&c, "▸");
            char out[LINE];
            assert_true(y >= 2);
            assert_non_null(strstr(line(&c, y, out), made.facts[at].claim->text));
            assert_int_equal(av_canvas_at(&c, 14, y)->role, AV_ROLE_SELECT);
            av_canvas_free(&c);
        }
    }
}

static void verdicts_differ_without_colour(void **state)
{
    (void)state;
    for (int a = AV_FACT_OPEN; a <= AV_FACT_FALSE; a++) {
        for (int b = a + 1; b <= AV_FACT_FALSE; b++) {
            struct av_fact_look x = av_fact_look((enum av_fact_verdict)a);
            struct av_fact_look y = av_fact_look((enum av_fact_verdict)b);
            assert_true(x.glyph != y.glyph && av_glyph_ascii(x.glyph) != av_glyph_ascii(y.glyph) && x.role != y.role);
            assert_string_not_equal(x.word, y.word);
            assert_string_not_equal(x.brief, y.brief);
        }
    }
    struct av_canvas c = facts_drawn(claims_count(), 3, 89, 49, true);
    for (size_t i = 0; i < claims_count(); i++) {
        char row[LINE];
        struct av_fact_look look = av_fact_look(made.facts[i].verdict);
        snprintf(row, sizeof row, "%c%c %-15s  %s", i == 3 ? '>' : ' ', (char)av_glyph_ascii(look.glyph), look.word,
                 made.facts[i].claim->text);
        assert_line(&c, row);
    }
    av_canvas_free(&c);
}

/* "2 of 4": in how many settings a claim is so. */
static bool tells_settings(const char *row)
{
    for (const char *at = strstr(row, " of "); at != NULL; at = strstr(at + 1, " of ")) {
        if (isdigit((unsigned char)at[-1]) && isdigit((unsigned char)at[4])) {
            return true;
        }
    }
    return false;
}

static void progress_is_told(void **state)
{
    (void)state;
    char text[64];
    snprintf(text, sizeof text, "7 of %zu claims measured", claims_count());
    struct av_canvas c = facts_drawn(7, 0, 80, 22, false);
    assert_int_equal(find(&c, text), 0);
    assert_true(count(&c, 0, 0x2588) > 0 && count(&c, 0, 0x2588) < 16);
    av_canvas_free(&c);
    c = facts_drawn(7, 9, 89, 49, false);
    for (size_t i = 0; i < claims_count(); i++) {
        const struct av_claim *claim = made.facts[i].claim;
        char row[LINE];
        line(&c, find(&c, claim->text), row);
        assert_int_equal(strstr(row, "not measured") != NULL, i >= 7);
        assert_int_equal(tells_settings(row), i < 7 && !claim->timed);
    }
    av_canvas_free(&c);
    c = facts_drawn(claims_count(), 0, 80, 22, false);
    snprintf(text, sizeof text, "%zu claims, seeds 42 .. 46", claims_count());
    assert_int_equal(find(&c, text), 0);
    assert_int_equal(find(&c, "✗"), 0);
    av_canvas_free(&c);
}

static void without_results_it_says_so(void **state)
{
    (void)state;
    struct fake f;
    make(&f, NULL);
    assert_says("facts", &f, 80, 22, "nothing is measured");
    fake_free(&f);
}

/* Times differ from run to run: the table, which is always in sight, has none. */
static void times_are_told_in_full_alone(void **state)
{
    (void)state;
    for (size_t i = 0; i < claims_count(); i++) {
        struct av_canvas c = facts_drawn(claims_count(), (int)i, 89, 49, false);
        char row[LINE];
        line(&c, find(&c, made.facts[i].claim->text), row);
        assert_int_equal(strstr(row, "timed") != NULL, made.facts[i].claim->timed);
        assert_int_equal(!tells_settings(row), made.facts[i].claim->timed);
        av_canvas_free(&c);
    }
}

static void every_seed_is_shown_where_there_is_room(void **state)
{
    (void)state;
    char number[AV_FACT_NUMBER];
    struct av_canvas c = facts_drawn(claims_count(), 2, 169, 59, false);
    assert_line(&c, "seed 42   seed 43   seed 44   seed 45   seed 46");
    char row[LINE];
    line(&c, find(&c, "seed 42 ") + 1, row);
    for (size_t i = 0; i < AV_FACT_SEEDS; i++) {
        assert_non_null(strstr(row, av_fact_number(number, made.facts[2].at[0].values[i], AV_FACT_DIGITS)));
    }
    av_canvas_free(&c);
}

static void values_are_cut_at_the_spread(void **state)
{
    (void)state;
    char out[AV_FACT_LINE];
    struct av_fact_measured m = { .done = AV_FACT_SEEDS, .mean = 0.0038741, .sd = 0.000298 };
    assert_string_equal(av_fact_short(out, &m, 17, false), "0.00387 ± 0.00030");
    assert_string_equal(av_fact_short(out, &m, 16, false), "0.00387");
    assert_string_equal(av_fact_short(out, &m, 18, true), "0.00387 +- 0.00030");
    assert_string_equal(av_fact_short(out, &m, 17, true), "0.00387");
    m.mean = m.sd = (double)NAN;
    assert_string_equal(av_fact_short(out, &m, 16, false), "NaN");
    m.done = 0;
    assert_string_equal(av_fact_short(out, &m, 16, false), "");
}

/* Every size draws, within its rectangle. */
static void every_size_is_kept(void **state)
{
    (void)state;
    make_facts(&made, claims_count());
    struct fake f;
    make(&f, NULL);
    struct av_view_context ctx = fake_context(&f, true);
    ctx.study = &made.all;
    for (int w = 1; w < 200; w += w < 20 ? 1 : 13) {
        for (int h = 1; h < 60; h += h < 20 ? 1 : 7) {
            struct av_canvas c = { .ascii = w % 2 == 0 };
            assert_int_equal(av_canvas_resize(&c, w + 4, h + 3, NULL), AV_OK);
            av_view_find("facts")->draw(&c, (struct av_rect){ 2, 1, w, h }, &ctx);
            for (int i = 0; i < c.cols * c.rows; i++) {
                int x = i % c.cols;
                int y = i / c.cols;
                bool inside = x >= 2 && x < 2 + w && y >= 1 && y < 1 + h;
                assert_true(inside || c.cells[i].code == ' ');
                assert_true(!c.ascii || c.cells[i].code < 0x7F);
            }
            av_canvas_free(&c);
        }
    }
    fake_free(&f);
}

/* ---- Keys and clicks --------------------------------------------------------------- */

static const struct av_snapshot plain; /* softmax in f64 */

static void press(struct av_view_edit *e, const char *key)
{
    const struct av_view_action *a = av_view_find("facts")->actions;
    while (strcmp(a->key, key) != 0) {
        a++;
        assert_non_null(a->key);
    }
    a->run(e);
}

static void keys_move_the_selection(void **state)
{
    (void)state;
    struct av_view_state s = { 0 };
    struct av_view_edit e = { .state = &s, .snapshot = &plain, .rows = 22, .cols = 80 };
    int last = (int)claims_count() - 1;
    press(&e, "k");
    assert_int_equal(s.row, 0);
    press(&e, "j");
    assert_int_equal(s.row, 1);
    press(&e, "J"); /* the table has seven rows at that size */
    assert_int_equal(s.row, 8);
    press(&e, "K");
    assert_int_equal(s.row, 1);
    s.row = last;
    press(&e, "j");
    assert_int_equal(s.row, last);
    press(&e, "J");
    assert_int_equal(s.row, last);
    s.row = 100000;
    press(&e, "k");
    assert_int_equal(s.row, last - 1);
}

static void a_click_selects_what_is_there(void **state)
{
    (void)state;
    const struct av_view *view = av_view_find("facts");
    for (int y = 0; y < 22; y++) {
        struct av_canvas c = facts_drawn(claims_count(), 12, 80, 22, false);
        struct av_view_state s = { .row = 12 };
        struct av_view_edit e = { .state = &s, .snapshot = &plain, .rows = 22, .cols = 80 };
        view->click((struct av_rect){ 0, 0, 80, 22 }, 20, y, &e);
        char row[LINE];
        line(&c, y, row);
        bool is_claim = y >= 2 && y < 9;
        assert_true(is_claim ? strstr(row, made.facts[s.row].claim->text) != NULL : s.row == 12);
        av_canvas_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_every_claim_is_shown),
        cmocka_unit_test(a_tall_screen_shows_all_claims),
        cmocka_unit_test(the_selected_claim_is_in_sight),
        cmocka_unit_test(verdicts_differ_without_colour),
        cmocka_unit_test(progress_is_told),
        cmocka_unit_test(without_results_it_says_so),
        cmocka_unit_test(times_are_told_in_full_alone),
        cmocka_unit_test(every_seed_is_shown_where_there_is_room),
        cmocka_unit_test(values_are_cut_at_the_spread),
        cmocka_unit_test(every_size_is_kept),
        cmocka_unit_test(keys_move_the_selection),
        cmocka_unit_test(a_click_selects_what_is_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
