/* panel_weights.c - the heatmap: queries down, keys across. */
#include "panels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TITLE_ROOM = 34, DISCS = 3 }; /* TITLE_ROOM: for the words behind the quantity's name */

/* Marks of negative weights, the smallest first. */
static const uint32_t discs[2][DISCS] = { { 0x2218, 0x25CB, 0x25CF }, { 'c', 'o', 'O' } };

static const double LOG_BOTTOM = -12; /* log10 weights below count as none */

/* What the levels stand for; root: a level is proportional to the root of the
 * size, and what is negative has marks of its own. */
struct heat_scale {
    double lo, hi;
    bool root;
    bool negative; /* there are such */
};

/* Columns that numbers of queries take beyond those of the margin. */
static int label_room(const struct av_snapshot *s)
{
    enum { ROOM = AV_HEAT_MARGIN - 2 };
    int digits = snprintf(NULL, 0, "%zu", av_panel_first_query(s) + s->n_q);
    return av_panel_first_query(s) > 0 && digits > ROOM ? digits - ROOM : 0;
}

struct av_heat_grid av_panel_weights_grid(struct av_rect r, const struct av_snapshot *s,
                                          const struct av_view_state *state)
{
    struct av_heat_window window = { state->zoom, state->row, state->col };
    int more = label_room(s);
    r.x += more;
    r.w -= more;
    return av_layout_heat(av_layout_heat_cells(r), s->n_q, av_panel_columns(s, av_heat_quantity(s, state)), window);
}

struct av_heat_grid av_panel_weights_tokens(struct av_rect r, const struct av_snapshot *s,
                                            const struct av_view_state *state, struct av_token_room *room)
{
    room->columns = av_panel_token_columns(r, s);
    int more = room->columns > 0 ? room->columns + 1 : 0;
    struct av_rect beside = { r.x + more, r.y, r.w - more, r.h };
    struct av_heat_grid g = av_panel_weights_grid(beside, s, state);
    room->lines = av_panel_token_lines(r, s, &g);
    beside.y += room->lines;
    beside.h -= room->lines;
    return room->lines > 0 ? av_panel_weights_grid(beside, s, state) : g;
}

/* ---- values ---------------------------------------------------------- */

/* The entries of cell (x, y), counted in pooled cells. */
static struct av_heat_block block_at(const struct av_heat_grid *g, size_t x, size_t y)
{
    size_t row = y * g->pool_rows;
    size_t col = x * g->pool_cols;
    size_t rows = g->rows - row < g->pool_rows ? g->rows - row : g->pool_rows;
    size_t cols = g->cols - col < g->pool_cols ? g->cols - col : g->pool_cols;
    return (struct av_heat_block){ g->row + row, rows, g->col + col, cols };
}

static enum av_heat_pool pool_of(const struct av_view_state *state)
{
    return state->pool == AV_HEAT_MEAN ? AV_HEAT_MEAN : AV_HEAT_MAX;
}

/* The values of the cells in reading order. Pooling looks at every entry in
 * sight, so what the scale has seen is kept for the drawing; of a screen with
 * more cells the others are pooled twice. */
enum { KEPT_MOST = 1 << 13 }; /* about 70 kB on the stack */
struct pooled {
    const struct av_snapshot *s;
    const struct av_heat_grid *g;
    enum av_heat_quantity quantity;
    enum av_heat_pool pool;
    size_t kept; /* the first so many */
    double value[KEPT_MOST];
    unsigned char state[KEPT_MOST]; /* enum av_heat_state */
};

static enum av_heat_state value_at(struct pooled *p, size_t x, size_t y, double *value)
{
    const struct av_heat_grid *g = p->g;
    size_t i = y * ((g->cols + g->pool_cols - 1) / g->pool_cols) + x;
    if (i < p->kept) {
        *value = p->value[i];
        return (enum av_heat_state)p->state[i];
    }
    enum av_heat_state state = av_heat_pooled(p->s, p->quantity, p->pool, block_at(g, x, y), value);
    if (i == p->kept && i < KEPT_MOST) {
        p->value[i] = *value;
        p->state[i] = (unsigned char)state;
        p->kept++;
    }
    return state;
}

/* The least and the largest in sight; lo > hi: none. */
static struct heat_scale in_sight(struct pooled *p)
{
    const struct av_heat_grid *g = p->g;
    struct heat_scale scale = { .lo = (double)INFINITY, .hi = -(double)INFINITY };
    for (size_t y = 0; y * g->pool_rows < g->rows; y++) {
        for (size_t x = 0; x * g->pool_cols < g->cols; x++) {
            double v = 0;
            if (value_at(p, x, y, &v) == AV_HEAT_SHOWN) {
                scale.lo = fmin(scale.lo, v);
                scale.hi = fmax(scale.hi, v);
            }
        }
    }
    return scale;
}

/* Where no weight gets beyond the first FAINT levels, as among very many keys, the
 * scale ends at the largest in sight: a map of one colour would tell nothing. */
static double top_of(const struct heat_scale *seen)
{
    enum { FAINT = 2 };
    return seen->hi > 0 && sqrt(seen->hi) * AV_HEAT_LEVELS < FAINT ? seen->hi : 1;
}

/* Weights have one scale in every state, so that states compare: from 0 to 1,
 * by their roots, where small ones stay visible. Logarithms go over twelve
 * powers of ten, others from the least to the largest in sight. */
static struct heat_scale make_scale(struct pooled *p)
{
    if (p->quantity == AV_HEAT_LOG_WEIGHTS) {
        return (struct heat_scale){ .lo = LOG_BOTTOM, .hi = 0 };
    }
    const struct heat_scale seen = in_sight(p);
    bool any = seen.lo <= seen.hi;
    if (p->quantity == AV_HEAT_WEIGHTS) {
        bool negative = !p->s->simplex && seen.lo < 0;
        return (struct heat_scale){
            .lo = 0, .hi = any && !negative ? top_of(&seen) : 1, .root = true, .negative = negative
        };
    }
    return any ? seen : (struct heat_scale){ .lo = 0, .hi = 1 };
}

static int level_of(const struct heat_scale *scale, double v)
{
    if (!(scale->hi > scale->lo)) {
        return AV_HEAT_LEVELS - 1;
    }
    double part = (v - scale->lo) / (scale->hi - scale->lo);
    return av_panel_step(scale->root ? sqrt(part) : part, AV_HEAT_LEVELS);
}

/* ---- cells ----------------------------------------------------------- */

static void draw_cell(struct av_canvas *c, const struct av_rect at, enum av_heat_state state,
                      const struct heat_scale *scale, double v)
{
    for (int y = at.y; y < at.y + at.h; y++) {
        for (int x = at.x; x < at.x + at.w; x++) {
            if (state == AV_HEAT_SHOWN && scale->root && v < 0) {
                av_canvas_put(c, x, y, discs[c->ascii][av_panel_step(sqrt(fabs(v)), DISCS)], AV_ROLE_UNSCALED);
            } else if (state == AV_HEAT_SHOWN) {
                av_canvas_heat(c, x, y, level_of(scale, v));
            } else if (state == AV_HEAT_INVALID) {
                av_canvas_put(c, x, y, '!', AV_ROLE_BAD);
            } else {
                av_canvas_put(c, x, y, 0x00B7, AV_ROLE_DIM);
            }
        }
    }
}

/* A row of cells without a single key says so. */
static void draw_words(struct av_canvas *c, const struct av_heat_grid *g, const struct av_snapshot *s, size_t y)
{
    struct av_heat_block b = block_at(g, 0, y);
    for (size_t i = b.row; i < b.row + b.rows; i++) {
        if (s->invalid[i] || s->rows[i].keys > 0) { /* of scores that it may have it says nothing */
            return;
        }
    }
    int top = g->cells.y + (int)y * g->cell_h;
    av_plot_fit(c, g->cells.x, g->cells.x + g->cells.w, top, AV_ROLE_DIM, "no keys");
}

static void draw_cells(struct av_canvas *c, struct pooled *p, const struct heat_scale *scale)
{
    const struct av_heat_grid *g = p->g;
    for (size_t y = 0; y * g->pool_rows < g->rows; y++) {
        for (size_t x = 0; x * g->pool_cols < g->cols; x++) {
            double v = 0;
            enum av_heat_state state = value_at(p, x, y, &v);
            struct av_rect at = { g->cells.x + (int)x * g->cell_w, g->cells.y + (int)y * g->cell_h, g->cell_w,
                                  g->cell_h };
            draw_cell(c, at, state, scale, v);
        }
        draw_words(c, g, p->s, y);
    }
}

/* ---- words around the cells ------------------------------------------ */

/* Indices, and tokens between them and the cells. */
static void draw_labels(struct av_canvas *c, struct av_rect r, const struct av_heat_grid *g,
                        const struct av_snapshot *s, struct av_token_room room)
{
    struct av_heat_grid indices = *g;
    indices.cells.x -= room.columns > 0 ? room.columns + 1 : 0;
    av_panel_row_labels(c, &indices, av_panel_first_query(s), (int64_t)av_panel_query(s));
    av_panel_column_labels(c, g, g->cells.y - 1 - room.lines, r.x + r.w, 0, (int64_t)av_panel_key(s));
    av_panel_row_tokens(c, g, room.columns, s);
    av_panel_column_tokens(c, g, room.lines, r.x + r.w, s);
}

static void draw_title(struct av_canvas *c, struct av_rect r, const struct av_heat_grid *g, const struct av_snapshot *s,
                       enum av_heat_quantity quantity, const struct av_view_state *state, bool tokens)
{
    static const char *const names[2][AV_HEAT_QUANTITIES] = { { "weights p", "log10 p", "logits z", "scores q·k" },
                                                              { "weights w", "log10 |w|", "logits z", "scores q·k" } };
    int right = r.x + r.w;
    bool own = quantity == AV_HEAT_SCORES && s->from == AV_PART_SCORES; /* a file's */
    int x = av_plot_fit(c, r.x + 1, right, r.y, AV_ROLE_TITLE, own ? "scores s" : names[!s->simplex][quantity]);
    int edge = g->cells.x + g->cells.w;
    right = edge > x + TITLE_ROOM ? edge : right;
    if (g->pool_rows > 1 || g->pool_cols > 1) {
        char text[64];
        const char *most = quantity == AV_HEAT_WEIGHTS && !s->simplex ? "largest" : "max"; /* with its sign */
        snprintf(text, sizeof text, "%s of %zu×%zu%s", pool_of(state) == AV_HEAT_MAX ? most : "mean", g->pool_rows,
                 g->pool_cols, tokens ? ", token of the first" : "");
        right = av_plot_fit_right(c, x + 2, right, r.y, AV_ROLE_TEXT, text) - 2;
    }
    bool averages = av_panel_averages(s) && quantity != AV_HEAT_SCORES;
    x = av_plot_fit(c, x + 2, right, r.y, AV_ROLE_DIM, averages ? "query ↓ average of keys →" : "query ↓ key →");
    if (av_panel_first_query(s) > 0) {
        char text[64];
        snprintf(text, sizeof text, "query 0 is the file's %zu", av_panel_first_query(s));
        x = av_plot_fit(c, x + 2, right, r.y, AV_ROLE_TEXT, text);
    }
    if (state->zoom > 0) {
        char text[64];
        snprintf(text, sizeof text, "zoom %d", state->zoom);
        av_plot_fit(c, x + 2, right, r.y, AV_ROLE_TEXT, text);
    }
}

/* The ramp from level `from` up to before `to`; returns the column behind it. */
static int draw_ramp(struct av_canvas *c, int x, int y, int from, int to)
{
    for (int i = from; i < to; i++) {
        av_canvas_heat(c, x++, y, i);
    }
    return x;
}

/* "0 <ramp> 1" by values at the ends; the column behind the ramp's first end
 * when there is no room for it. */
static int draw_ends(struct av_canvas *c, int x, int right, int y, const struct heat_scale *scale)
{
    char number[AV_NUMBER_MAX];
    x = av_plot_fit(c, x, right, y, AV_ROLE_AXIS, av_plot_short(number, scale->lo, 3)) + 1;
    if (right - x < AV_HEAT_LEVELS) {
        return x;
    }
    x = draw_ramp(c, x, y, 0, AV_HEAT_LEVELS);
    return av_plot_fit(c, x + 1, right, y, AV_ROLE_AXIS, av_plot_short(number, scale->hi, 3));
}

/* "p 0 <ramp> .25 <ramp> 1": the middle of the ramp is a quarter, of which a
 * half is the root; "p 0 <ramp> 3.1e-4" of faint ones. The ramp starts where the cells do. */
static int draw_root_ends(struct av_canvas *c, int x, int right, int y, const struct heat_scale *scale, bool simplex)
{
    static const char middle[] = " .25 ";
    const char *low = simplex ? "p 0 " : "w 0 ";
    char high[AV_NUMBER_MAX];
    int from = x - (int)strlen(low);
    bool faint = scale->hi < 1;
    av_plot_number(high, scale->hi, 2);
    if (right - x < AV_HEAT_LEVELS + (int)sizeof middle + (faint ? (int)strlen(high) : 1)) {
        return draw_ends(c, x, right, y, scale);
    }
    av_canvas_text(c, from, y, AV_ROLE_AXIS, low);
    x = draw_ramp(c, x, y, 0, AV_HEAT_LEVELS / 2);
    x = faint ? x : av_canvas_text(c, x, y, AV_ROLE_AXIS, middle);
    x = draw_ramp(c, x, y, AV_HEAT_LEVELS / 2, AV_HEAT_LEVELS);
    return av_canvas_text(c, x + 1, y, AV_ROLE_AXIS, faint ? high : "1");
}

/* "- 0 <discs> -1": the marks of negative weights. */
static int draw_negative(struct av_canvas *c, int x, int right, int y)
{
    static const char low[] = "- 0 ", high[] = " -1";
    if (right - x < DISCS + (int)strlen(low) + (int)strlen(high)) {
        return x;
    }
    x = av_canvas_text(c, x, y, AV_ROLE_AXIS, low);
    for (int i = 0; i < DISCS; i++) {
        av_canvas_put(c, x++, y, discs[c->ascii][i], AV_ROLE_UNSCALED);
    }
    return av_canvas_text(c, x, y, AV_ROLE_AXIS, high) + 2;
}

static void draw_legend(struct av_canvas *c, struct av_rect r, const struct av_heat_grid *g,
                        const struct av_snapshot *s, const struct heat_scale *scale, enum av_heat_quantity quantity)
{
    static const char *const kinds[2][2][2] = { { { "colour ~ √|w|", "~ √|w|" }, { "colour ~ √p", "~ √p" } },
                                                { { "colour ~ sqrt|w|", "~ sqrt|w|" },
                                                  { "colour ~ sqrt(p)", "~ sqrt(p)" } } };
    int y = g->cells.y + g->cells.h;
    int right = r.x + r.w;
    int x = scale->root ? draw_root_ends(c, g->cells.x, right, y, scale, s->simplex)
                        : draw_ends(c, g->cells.x, right, y, scale);
    x += 2;
    if (scale->negative) {
        x = draw_negative(c, x, right, y);
    }
    if (s->params.mask == AV_MASK_CAUSAL ||
        (s->patterned && !av_panel_averages(s) && (quantity != AV_HEAT_SCORES || s->from == AV_PART_SCORES))) {
        const char *name = s->patterned ? "not seen" : "masked";
        x = av_panel_legend(c, x, right, y, (struct av_fill){ 0x00B7, AV_ROLE_DIM }, name);
    }
    for (int i = 0, end = x; scale->root && i < 2 && end == x; i++) {
        end = av_plot_fit(c, x, right, y, AV_ROLE_DIM, kinds[c->ascii][s->simplex][i]);
    }
}

/* The cursor: the cell of the selected query and key, reversed. */
static void draw_cursor(struct av_canvas *c, const struct av_heat_grid *g, const struct av_snapshot *s)
{
    int x = av_heat_x(g, av_panel_key(s));
    int y = av_heat_y(g, av_panel_query(s));
    if (x >= 0 && y >= 0) {
        av_canvas_mark(c, (struct av_rect){ x, y, g->cell_w, g->cell_h });
    }
}

void av_panel_weights(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx)
{
    const struct av_snapshot *s = ctx->snapshot;
    struct av_token_room room = { 0, 0 };
    struct av_heat_grid g =
        ctx->full ? av_panel_weights_tokens(r, s, ctx->state, &room) : av_panel_weights_grid(r, s, ctx->state);
    if (g.cells.w < 1 || g.cells.h < 1) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    struct pooled p; /* its arrays are filled as far as they are read */
    p.s = s;
    p.g = &g;
    p.quantity = av_heat_quantity(s, ctx->state);
    p.pool = pool_of(ctx->state);
    p.kept = 0;
    struct heat_scale scale = make_scale(&p);
    draw_title(c, r, &g, s, p.quantity, ctx->state, room.columns > 0 || room.lines > 0);
    draw_labels(c, r, &g, s, room);
    draw_cells(c, &p, &scale);
    draw_legend(c, r, &g, s, &scale, p.quantity);
    if (ctx->full) {
        draw_cursor(c, &g, s);
    }
    av_canvas_clip(c, clip);
}
