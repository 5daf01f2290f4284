/* test_view_tokens.c - tokens of files beside the heatmap's rows and columns, and below its bars. */
#include "view_driver.h"

#include "attnviz/source.h"
#include "attnviz/utf8.h"

/* What a fake's matrix is labelled with. */
struct labelled {
    struct fake f;
    struct av_source_layer layer;
    struct av_source source;
    char text[512][32];
    const char *tokens[512];
};

/* A label a key: `<first><number>`. */
static void label_keys(struct labelled *l, const char *first)
{
    for (size_t j = 0; j < l->f.s.n_k; j++) {
        snprintf(l->text[j], sizeof l->text[j], "%s%zu", first, j);
        l->tokens[j] = l->text[j];
    }
    l->source = (struct av_source){
        .name = "labelled", .layers = &l->layer, .layer_count = 1, .tokens = l->tokens, .token_count = l->f.s.n_k
    };
    l->f.s.source = &l->source;
}

static struct av_heat_grid grid_of(const struct labelled *l, int w, int h, struct av_token_room *room)
{
    return av_panel_weights_tokens((struct av_rect){ 0, 1, w, h - 2 }, &l->f.s, &l->f.state, room);
}

/* Is this text there, to the right or downwards? */
static bool reads(const struct av_canvas *c, int x, int y, const char *text, bool down)
{
    int columns;
    for (uint32_t code; (code = av_utf8_drawn(&text, &columns)) != 0;) {
        bool whole = columns == 1 || av_canvas_at(c, x + 1, y)->code == AV_GLYPH_REST;
        if (av_canvas_at(c, x, y)->code != code || !whole) {
            return false;
        }
        x += down ? 0 : columns;
        y += down;
    }
    return true;
}

static void without_tokens_nothing_is_added(void **state)
{
    (void)state;
    struct labelled l;
    MAKE(&l.f, "n_q=20", "n_k=30");
    label_keys(&l, "t");
    l.source.tokens = NULL;
    l.source.token_count = 0;
    struct av_rect r = { 0, 1, 80, 22 };
    struct av_token_room room = { 1, 1 };
    struct av_heat_grid with = av_panel_weights_tokens(r, &l.f.s, &l.f.state, &room);
    struct av_heat_grid plain = av_panel_weights_grid(r, &l.f.s, &l.f.state);
    assert_int_equal(room.columns, 0);
    assert_int_equal(room.lines, 0);
    assert_memory_equal(&with.cells, &plain.cells, sizeof plain.cells);
    assert_int_equal(with.cell_w, plain.cell_w);
    fake_free(&l.f);
}

/* Wide cells have their tokens across, and each row its own. */
static void every_row_and_column_has_its_token(void **state)
{
    (void)state;
    struct labelled l;
    MAKE(&l.f, "n_q=8", "n_k=10", "query=3", "key=4");
    label_keys(&l, " k");
    struct av_token_room room;
    struct av_heat_grid g = grid_of(&l, 80, 24, &room);
    struct av_canvas c = drawn("weights", &l.f, 80, 24, false);
    assert_true(g.cell_w >= AV_TOKEN_CELL_W && room.lines == 1 && room.columns == 3);
    for (size_t j = 0; j < 10; j++) {
        char text[32];
        snprintf(text, sizeof text, "␣k%zu", j);
        int x = av_heat_x(&g, j);
        assert_true(reads(&c, x, g.cells.y - 1, text, false));
        assert_int_equal(av_canvas_at(&c, x, g.cells.y - 1)->role, j == 4 ? AV_ROLE_SELECT : AV_ROLE_AXIS);
    }
    for (size_t i = 0; i < 8; i++) { /* fewer queries than keys: the last ones */
        char text[32];
        snprintf(text, sizeof text, "␣k%zu", i + 2);
        int y = av_heat_y(&g, i);
        assert_true(reads(&c, g.cells.x - 4, y, text, false));
        assert_int_equal(av_canvas_at(&c, g.cells.x - 4, y)->role, i == 3 ? AV_ROLE_SELECT : AV_ROLE_AXIS);
    }
    assert_true(find(&c, "query 3 \" k5\", key 4 \" k4\"") > 0);
    av_canvas_free(&c);
    fake_free(&l.f);
}

/* Narrow cells have them downwards, ending at the cells. */
static void narrow_columns_are_written_downwards(void **state)
{
    (void)state;
    struct labelled l;
    MAKE(&l.f, "n_q=32", "n_k=32", "query=31", "key=9");
    label_keys(&l, "t");
    l.tokens[7] = "seventh key";
    struct av_token_room room;
    struct av_heat_grid g = grid_of(&l, 80, 24, &room);
    struct av_canvas c = drawn("weights", &l.f, 80, 24, false);
    assert_true(g.pool_cols == 1 && g.cell_w < AV_TOKEN_CELL_W);
    assert_int_equal(room.lines, 5);
    for (size_t j = 0; j < 32; j++) {
        char text[32] = "seve…";
        if (j != 7) {
            snprintf(text, sizeof text, "t%zu", j);
        }
        int x = av_heat_x(&g, j) + (g.cell_w - 1) / 2;
        int y = g.cells.y - (int)av_utf8_len(text);
        assert_true(reads(&c, x, y, text, true));
        assert_int_equal(av_canvas_at(&c, x, y)->role, j == 9 ? AV_ROLE_SELECT : AV_ROLE_AXIS);
    }
    av_canvas_free(&c);
    fake_free(&l.f);
}

/* A cell for several has the first one's token, the selected one always its own. */
static void pooled_cells_have_the_first_token(void **state)
{
    (void)state;
    struct labelled l;
    MAKE(&l.f, "n_q=400", "n_k=400", "query=101", "key=203");
    label_keys(&l, "t");
    struct av_token_room room;
    struct av_heat_grid g = grid_of(&l, 80, 24, &room);
    struct av_canvas c = drawn("weights", &l.f, 80, 24, false);
    assert_true(g.pool_cols > 1 && g.pool_rows > 1 && 101 % g.pool_rows != 0 && 203 % g.pool_cols != 0);
    for (size_t i = 0; i < 400; i += g.pool_rows) {
        char text[32];
        snprintf(text, sizeof text, "t%zu", 101 / g.pool_rows == i / g.pool_rows ? 101 : i);
        assert_true(reads(&c, g.cells.x - 1 - room.columns, av_heat_y(&g, i), text, false));
    }
    assert_true(reads(&c, av_heat_x(&g, 203), g.cells.y - 1, "t203", false));
    assert_true(reads(&c, g.cells.x, g.cells.y - 1, "t0 ", false));
    assert_true(find(&c, ", token of the first") > 0);
    av_canvas_free(&c);
    fake_free(&l.f);
}

/* In so many cells, whatever it is; what cannot be drawn is told so. */
static void tokens_keep_to_their_cells(void **state)
{
    (void)state;
    struct labelled l;
    char text[AV_TOKEN_MAX];
    char quoted[AV_QUOTED_MAX];
    MAKE(&l.f, "n_q=4", "n_k=14");
    label_keys(&l, "t");
    static const struct {
        const char *token, *across, *down;
    } labels[] = {
        { " a b ", "␣a␣b␣", "␣a␣b␣" },
        { "", "", "" },
        { "中文", "中文", "中文" },
        { "e\xCC\x81t", "et", "et" },
        { "שa", "\uFFFDa", "\uFFFDa" },
        { "ĠLily", "ĠLily", "ĠLily" },
        { "12345678", "12345678", "12345678" },
        { "123456789", "1234567…", "1234567…" },
        { "注意力机", "注意力机", "注意力机" },
        { "注意力机制", "注意力…", "注意力机制" },
        { "a注意力机", "a注意力…", "a注意力机" },
        { "一二三四五六七八九", "一二三…", "一二三四五六七…" },
        { "\u3000か\u3099\u00A0", "␣か␣", "␣か␣" },
        { "\U0001F44D\U0001F3FD\u0301", "\U0001F44D", "\U0001F44D" },
    };
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        l.tokens[i] = labels[i].token;
        assert_string_equal(av_panel_token(text, &l.f.s, i, 8), labels[i].across);
        assert_string_equal(av_panel_token_down(text, &l.f.s, i, 8), labels[i].down);
        for (int cells = 0; cells <= 20; cells++) {
            assert_true(av_utf8_columns(av_panel_token(text, &l.f.s, i, cells)) <= cells);
            assert_true((int)av_utf8_len(av_panel_token_down(text, &l.f.s, i, cells)) <= cells);
        }
    }
    assert_string_equal(av_panel_token(text, &l.f.s, 0, 0), "");
    assert_string_equal(av_panel_token(text, &l.f.s, 7, 1), "…");
    assert_string_equal(av_panel_token(text, &l.f.s, 14, 8), ""); /* no position */
    assert_string_equal(av_panel_quoted(quoted, &l.f.s, 0), " \" a b \"");
    assert_string_equal(av_panel_quoted(quoted, &l.f.s, 3), " \"et\"");
    assert_string_equal(av_panel_quoted(quoted, &l.f.s, 11), " \"一二三四五六七八…\"");
    fake_free(&l.f);
}

/* Rows, columns across and the line of the cursor. */
static void wide_tokens_are_read_everywhere(void **state)
{
    (void)state;
    struct labelled l;
    MAKE(&l.f, "n_q=8", "n_k=8", "query=3", "key=4");
    label_keys(&l, "注意力");
    for (int ascii = 0; ascii <= 1; ascii++) {
        struct av_token_room room;
        struct av_heat_grid g = grid_of(&l, 80, 24, &room);
        struct av_canvas c = drawn("weights", &l.f, 80, 24, ascii);
        assert_true(room.lines == 1 && room.columns == 7 && g.cell_w == 6);
        for (size_t j = 0; j < 8; j++) {
            char text[32];
            snprintf(text, sizeof text, ascii ? "? ? ? %zu" : "注意力%zu ", j);
            assert_true(reads(&c, g.cells.x - 8, av_heat_y(&g, j), text, false));
            if (j != 4) { /* the selected key's is whole, and reaches over the next one's place */
                snprintf(text, sizeof text, j == 5 ? " " : ascii ? "? ? . " : "注意… ");
            }
            assert_true(reads(&c, av_heat_x(&g, j) + (j == 5), g.cells.y - 1, text, false));
        }
        assert_true(find(&c, ascii ? "query 3 \"? ? ? 3\", key 4" : "query 3 \"注意力3\", key 4") > 0);
        av_canvas_free(&c);
    }
    fake_free(&l.f);
}

/* Where columns are too narrow for wide characters, some have no token, and no
 * token is cut; the selected one stands. */
static void wide_tokens_downwards_do_not_touch(void **state)
{
    (void)state;
    static const char *const sizes[] = { "n_k=30", "n_k=60" };
    for (size_t i = 0; i < 2; i++) {
        struct labelled l;
        MAKE(&l.f, "n_q=20", sizes[i], "query=3", "key=7");
        label_keys(&l, "注意");
        struct av_token_room room;
        struct av_heat_grid g = grid_of(&l, 80, 24, &room);
        struct av_canvas c = drawn("weights", &l.f, 80, 24, false);
        assert_true(g.pool_cols == 1 && g.cell_w == (i == 0 ? 2 : 1));
        assert_int_equal(room.lines, 4);
        for (size_t j = 0; j < l.f.s.n_k; j++) {
            char text[32];
            snprintf(text, sizeof text, "注意%zu", j);
            bool there = i == 0 || (j < 7 ? j % 2 == 0 && j < 6 : j % 2 == 1);
            int y = g.cells.y - (int)av_utf8_len(text);
            assert_int_equal(reads(&c, av_heat_x(&g, j), y, text, true), there);
        }
        av_canvas_free(&c);
        fake_free(&l.f);
    }
}

static void clicks_find_the_cells_beside_tokens(void **state)
{
    (void)state;
    struct labelled l;
    MAKE(&l.f, "n_q=14", "n_k=24", "query=13", "key=17");
    label_keys(&l, "token");
    struct av_canvas c = drawn("weights", &l.f, 100, 30, false);
    int marked = 0;
    for (int y = 0; y < 30; y++) {
        for (int x = 0; x < 100; x++) {
            if (av_canvas_at(&c, x, y)->mark) {
                struct av_view_edit e = { .state = &l.f.state, .snapshot = &l.f.s, .query = -1, .key = -1 };
                av_view_find("weights")->click((struct av_rect){ 0, 0, 100, 30 }, x, y, &e);
                assert_int_equal(e.query, 13);
                assert_int_equal(e.key, 17);
                marked++;
            }
        }
    }
    assert_true(marked > 0);
    av_canvas_free(&c);
    fake_free(&l.f);
}

/* The largest weights have their keys' tokens below them; a smaller one beside a
 * larger one has none rather than a piece. */
static void bars_have_tokens(void **state)
{
    (void)state;
    struct labelled l;
    MAKE(&l.f, "n_q=1", "n_k=40", "key=30");
    label_keys(&l, "token");
    for (size_t j = 0; j < 40; j++) {
        l.f.weights[j] = 0.001;
    }
    l.f.weights[10] = 0.5;
    l.f.weights[12] = 0.2;
    l.f.weights[25] = 0.2; /* its token would reach the selected key's */
    l.f.rows[0].max = 0.5;
    l.f.rows[0].one_minus_max = 0.5;
    l.f.rows[0].argmax = 10;
    struct av_canvas c = { .ascii = false };
    assert_int_equal(av_canvas_resize(&c, 60, 6, NULL), AV_OK);
    struct av_view_context ctx = fake_context(&l.f, true);
    struct av_heat_grid g =
        av_layout_heat((struct av_rect){ AV_HEAT_MARGIN, 0, 40, 1 }, 1, 40, (struct av_heat_window){ 0, 0, 0 });
    av_panel_row(&c, (struct av_rect){ 0, 0, 60, 6 }, &ctx, &g);
    assert_true(reads(&c, 0, 0, " query 0 \"token39\"  largest p 0.50 at key 10 \"token10\"", false));
    assert_true(reads(&c, AV_HEAT_MARGIN, 5, "          token10             token30   ", false));
    av_canvas_free(&c);
    fake_free(&l.f);
}

/* Nothing is drawn outside, at any size, and cells stay where there are some. */
static void all_sizes_hold(void **state)
{
    (void)state;
    struct labelled l;
    MAKE(&l.f, "n_q=60", "n_k=70", "query=59", "key=69");
    label_keys(&l, "a long token");
    for (int w = 1; w <= 120; w += 3) {
        for (int h = 1; h <= 50; h += 2) {
            struct av_rect r = { 0, 1, w, h - 2 };
            struct av_token_room room;
            struct av_heat_grid with = grid_of(&l, w, h, &room);
            struct av_heat_grid plain = av_panel_weights_grid(r, &l.f.s, &l.f.state);
            assert_int_equal(with.cells.w > 0 && with.cells.h > 0, plain.cells.w > 0 && plain.cells.h > 0);
            assert_true(with.cells.w == 0 || with.cells.x + with.cells.w <= w);
            assert_true(with.cells.h == 0 || with.cells.y + with.cells.h <= h - 2);
            struct av_canvas c = drawn("weights", &l.f, w, h, false);
            av_canvas_free(&c);
        }
    }
    fake_free(&l.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_tokens_nothing_is_added),
        cmocka_unit_test(every_row_and_column_has_its_token),
        cmocka_unit_test(narrow_columns_are_written_downwards),
        cmocka_unit_test(pooled_cells_have_the_first_token),
        cmocka_unit_test(tokens_keep_to_their_cells),
        cmocka_unit_test(wide_tokens_are_read_everywhere),
        cmocka_unit_test(wide_tokens_downwards_do_not_touch),
        cmocka_unit_test(clicks_find_the_cells_beside_tokens),
        cmocka_unit_test(bars_have_tokens),
        cmocka_unit_test(all_sizes_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
