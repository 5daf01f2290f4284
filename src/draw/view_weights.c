/* view_weights.c - the whole matrix: a heatmap with a cursor, zoom and pan.
 *
 * Uses of the view's state: zoom, row and col are the window of the heatmap;
 * quantity is enum av_heat_quantity, pool enum av_heat_pool. */
#include "panels.h"

#include <math.h>
#include <stdio.h>

enum { ROW_MOST_H = 9 };

/* The panels of a rectangle: heatmap, columns of the selected row, cursor; the
 * heatmap's grid. */
struct places {
    struct av_rect heat, row, status;
    struct av_heat_grid grid;
};

/* The heatmap uses what its entries can fill, the selected row what is left.
 * The heatmap's rectangle stays whole: its grid is made from that size. */
static struct places place(struct av_rect r, const struct av_snapshot *s, const struct av_view_state *state)
{
    struct places p = { .heat = { r.x, r.y + 1, r.w, r.h - 1 } };
    struct av_token_room room;
    bool low = p.heat.h < AV_HEAT_ABOVE + AV_HEAT_BELOW + 2;
    p.heat.h -= low ? 0 : 1;
    p.grid = av_panel_weights_tokens(p.heat, s, state, &room);
    if (low) {
        return p;
    }
    int used = p.grid.cells.h + AV_HEAT_ABOVE + room.lines + AV_HEAT_BELOW;
    int left = p.heat.h - used;
    if (left >= 2) {
        p.row = (struct av_rect){ r.x, p.heat.y + used, r.w, left < ROW_MOST_H ? left : ROW_MOST_H };
    }
    p.status = (struct av_rect){ r.x, p.heat.y + used + p.row.h, r.w, 1 };
    return p;
}

/* Why there is no weight. */
static void draw_nothing(struct av_canvas *c, int x, int right, int y, const struct av_snapshot *s, size_t i)
{
    char why[AV_PIECE_MAX];
    char text[AV_PIECE_MAX + 16] = "masked";
    if (s->invalid[i]) {
        snprintf(text, sizeof text, "invalid: %s", av_panel_invalid(why, s, i));
    } else if (s->patterned) {
        snprintf(text, sizeof text, "not seen");
    }
    av_plot_fit(c, x, right, y, AV_ROLE_BAD, text);
}

/* `query 4 " time", key 1 " Once"` */
static void cursor_text(char *out, size_t size, const struct av_snapshot *s, size_t i, size_t j)
{
    char query[AV_QUOTED_MAX];
    char key[AV_QUOTED_MAX];
    av_panel_quoted(query, s, av_panel_query_position(s, i));
    size_t number = av_panel_first_query(s) + i;
    if (av_panel_averages(s)) {
        snprintf(out, size, "query %zu%s, average %zu", number, query, j);
    } else {
        snprintf(out, size, "query %zu%s, key %zu%s", number, query, j, av_panel_quoted(key, s, j));
    }
}

/* The cursor's exact values. */
static void draw_status(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s)
{
    static const struct {
        const char *name;
        enum av_heat_quantity quantity;
    } values[] = {
        { "weight", AV_HEAT_WEIGHTS },
        { "log10", AV_HEAT_LOG_WEIGHTS },
        { "logit", AV_HEAT_LOGITS },
        { "score", AV_HEAT_SCORES },
    };
    size_t i = av_panel_query(s);
    size_t j = av_panel_key(s);
    int right = r.x + r.w;
    char text[2 * AV_PIECE_MAX];
    char number[AV_NUMBER_MAX];
    bool averages = av_panel_averages(s); /* their scores are nowhere */
    cursor_text(text, sizeof text, s, i, j);
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_SELECT, text);
    double v = 0;
    if (j >= av_panel_columns(s, AV_HEAT_LOGITS)) {
        snprintf(text, sizeof text, "there are %zu", av_panel_columns(s, AV_HEAT_LOGITS));
        av_plot_fit(c, x + 2, right, r.y, AV_ROLE_BAD, text);
        return;
    }
    if (!av_heat_value(s, AV_HEAT_WEIGHTS, i, j, &v)) {
        draw_nothing(c, x + 2, right, r.y, s, i);
        return;
    }
    for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
        bool scores = values[k].quantity == AV_HEAT_SCORES, logits = values[k].quantity == AV_HEAT_LOGITS;
        if (scores ? s->scores != NULL && !averages : !logits || s->logits != NULL) {
            av_heat_value(s, values[k].quantity, i, j, &v);
            av_plot_number(number, v, 5);
            snprintf(text, sizeof text, "%s %s", values[k].name, isinf(v) ? "-∞" : number);
            x = av_plot_fit(c, x + 2, right, r.y, AV_ROLE_TEXT, text);
        }
    }
}

static void draw(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    struct places p = place(r, s, ctx->state);
    av_panel_header(c, (struct av_rect){ r.x, r.y, r.w, 1 }, ctx, "weights");
    av_panel_weights(c, p.heat, ctx);
    av_panel_row(c, p.row, ctx, &p.grid);
    struct av_rect clip = av_plot_enter(c, p.status);
    draw_status(c, p.status, s);
    av_canvas_clip(c, clip);
}

/* ---- actions --------------------------------------------------------- */

/* The grid when the view was last drawn; where it stood does not matter. */
static struct av_heat_grid edit_grid(const struct av_view_edit *e)
{
    return place((struct av_rect){ 0, 0, e->cols, e->rows }, e->snapshot, e->state).grid;
}

/* First of `count` entries in sight, moved so that `at` is among them; whole
 * pools stay whole. */
static int follow(size_t first, size_t count, size_t pool, int64_t at)
{
    size_t target = (size_t)at;
    if (target >= first + count) {
        first = (target - count + pool) / pool * pool;
    }
    return (int)(target < first ? target : first);
}

static void keep_in_sight(struct av_view_edit *e)
{
    struct av_heat_grid g = edit_grid(e);
    if (g.rows > 0 && g.cols > 0) {
        e->state->row = follow(g.row, g.rows, g.pool_rows, e->query);
        e->state->col = follow(g.col, g.cols, g.pool_cols, e->key);
    }
}

static int64_t clamp(int64_t v, size_t n)
{
    return v < 0 ? 0 : v < (int64_t)n ? v : (int64_t)n - 1;
}

/* Moves the cursor by cells: pooled entries are stepped over. */
static void move(struct av_view_edit *e, int down, int across)
{
    struct av_heat_grid g = edit_grid(e);
    int64_t row_step = g.pool_rows > 0 ? (int64_t)g.pool_rows : 1;
    int64_t col_step = g.pool_cols > 0 ? (int64_t)g.pool_cols : 1;
    e->query = clamp(e->query + down * row_step, e->snapshot->n_q);
    e->key = clamp(e->key + across * col_step, av_panel_columns(e->snapshot, av_heat_quantity(e->snapshot, e->state)));
    keep_in_sight(e);
}

static void move_left(struct av_view_edit *e)
{
    move(e, 0, -1);
}

static void move_down(struct av_view_edit *e)
{
    move(e, 1, 0);
}

static void move_up(struct av_view_edit *e)
{
    move(e, -1, 0);
}

static void move_right(struct av_view_edit *e)
{
    move(e, 0, 1);
}

/* Moves the window by half of what is in sight. */
static void pan(struct av_view_edit *e, int down, int across)
{
    struct av_heat_grid g = edit_grid(e);
    int row = (int)g.row + down * (int)(g.rows / 2 > 0 ? g.rows / 2 : 1);
    int col = (int)g.col + across * (int)(g.cols / 2 > 0 ? g.cols / 2 : 1);
    e->state->row = row > 0 ? row : 0;
    e->state->col = col > 0 ? col : 0;
    g = edit_grid(e); /* what the far ends allow */
    e->state->row = (int)g.row;
    e->state->col = (int)g.col;
}

static void pan_left(struct av_view_edit *e)
{
    pan(e, 0, -1);
}

static void pan_down(struct av_view_edit *e)
{
    pan(e, 1, 0);
}

static void pan_up(struct av_view_edit *e)
{
    pan(e, -1, 0);
}

static void pan_right(struct av_view_edit *e)
{
    pan(e, 0, 1);
}

/* Puts the cursor in the middle of what is in sight. */
static void centre(struct av_view_edit *e)
{
    struct av_heat_grid g = edit_grid(e);
    int64_t row = e->query - (int64_t)g.rows / 2;
    int64_t col = e->key - (int64_t)g.cols / 2;
    e->state->row = row > 0 ? (int)row : 0;
    e->state->col = col > 0 ? (int)col : 0;
    keep_in_sight(e);
}

static void zoom_in(struct av_view_edit *e)
{
    struct av_heat_grid was = edit_grid(e);
    e->state->zoom++;
    struct av_heat_grid now = edit_grid(e);
    if (now.rows == was.rows && now.cols == was.cols && now.cell_w == was.cell_w && now.cell_h == was.cell_h) {
        e->state->zoom--; /* as large as it gets */
    }
    centre(e);
}

static void zoom_out(struct av_view_edit *e)
{
    e->state->zoom -= e->state->zoom > 0;
    centre(e);
}

static void next_quantity(struct av_view_edit *e)
{
    const struct av_snapshot *s = e->snapshot;
    int after = ((int)av_heat_quantity(s, e->state) + 1) % AV_HEAT_QUANTITIES;
    bool there = after == AV_HEAT_SCORES ? s->scores != NULL : after != AV_HEAT_LOGITS || s->logits != NULL;
    e->state->quantity = there ? after : AV_HEAT_WEIGHTS;
}

static void next_pool(struct av_view_edit *e)
{
    e->state->pool = (e->state->pool + 1) % AV_HEAT_POOLS;
}

static void click(struct av_rect r, int x, int y, struct av_view_edit *e)
{
    struct places p = place(r, e->snapshot, e->state);
    size_t row;
    size_t col;
    if (av_heat_entry(&p.grid, x, y, &row, &col)) {
        e->query = (int64_t)row;
        e->key = (int64_t)col;
    } else if (y > p.row.y && y < p.row.y + p.row.h && av_heat_entry(&p.grid, x, p.grid.cells.y, &row, &col)) {
        e->key = (int64_t)col;
    }
}

static const struct av_view_action actions[] = {
    { "h", "key-left", "select the key to the left", move_left },
    { "j", "query-down", "select the query below", move_down },
    { "k", "query-up", "select the query above", move_up },
    { "l", "key-right", "select the key to the right", move_right },
    { "z", "zoom-in", "show fewer entries, larger", zoom_in },
    { "Z", "zoom-out", "show more entries, smaller", zoom_out },
    { "H", "pan-left", "move the window half its width to the left", pan_left },
    { "J", "pan-down", "move the window half its height down", pan_down },
    { "K", "pan-up", "move the window half its height up", pan_up },
    { "L", "pan-right", "move the window half its width to the right", pan_right },
    { "y", "quantity", "the next of weights, log10 weights, logits, scores that there are", next_quantity },
    { "x", "pool", "pool entries that share a cell by maximum or mean", next_pool },
    { NULL, NULL, NULL, NULL },
};

static const char *const about[] = {
    "One cell a query (down) and key (across); \"max of 2×1\": a cell shows the",
    "largest of so many entries.",
    "With --tokens labels are index and token, ␣ is a blank; of a cell that shows several",
    "the first one's, or that of the selected one. Below the columns: the token of the",
    "largest weight.",
    "· is masked or not seen, ! a row with a NaN or an infinity.",
    "Weights below 0, which differential attention gives, are round marks.",
    "Weights: colour by sqrt(p) from 0 to 1, the same in every state; up to the largest in",
    "sight where all are faint, as among very many keys. log10 weights: over twelve powers",
    "of ten. Logits, scores: from the least to the largest in sight. Of long heads the last",
    "queries are shown by their numbers in the file; the parameter query counts from 0.",
    "The last line has the exact values at the cursor, the columns above it all",
    "weights of its query.",
    NULL,
};

const struct av_view av_view_weights = {
    .name = "weights",
    .title = "the matrix of weights, logits or scores as a heatmap",
    .order = 30,
    .needs = 0,
    .entropies = true,
    .draw = draw,
    .click = click,
    .actions = actions,
    .about = about,
};
