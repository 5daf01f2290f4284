/* layout.c - where the panels of the overview stand. */
#include "attnviz/layout.h"

enum {
    TWO_COLUMNS_W = 72, /* from this size on weights stand beside scores */
    TWO_COLUMNS_H = 8,
    LEFT_LEAST = 41, /* cells that the texts of scores and gauges want */
    RIGHT_LEAST = 30,
    SCORES_LEAST = 4,
    QUERY_LEAST = 2,
    QUERY_MOST = 10,
    WEIGHTS_LEAST = AV_HEAT_ABOVE + AV_HEAT_BELOW + 2
};

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int most(int a, int b)
{
    return a > b ? a : b;
}

/* Takes h lines from the top of *r. */
static struct av_rect take(struct av_rect *r, int h)
{
    struct av_rect top = { r->x, r->y, r->w, least(h, r->h) };
    r->y += top.h;
    r->h -= top.h;
    return top.h > 0 ? top : (struct av_rect){ 0, 0, 0, 0 };
}

/* ---- two columns ----------------------------------------------------- */

/* Lines for gauges and verdict by the height of the column: the first row
 * whose `from` is reached. A gap is a blank line above the panel. */
struct left_plan {
    int from, gauges_gap, gauges, verdict_gap, verdict;
};

static const struct left_plan left_plans[] = {
    { 36, 1, 16, 0, 4 }, { 27, 1, 11, 1, 3 }, { 23, 1, 7, 1, 3 }, { 20, 1, 7, 0, 3 },
    { 16, 0, 7, 0, 2 },  { 12, 0, 4, 0, 1 },  { 0, 0, 3, 0, 1 },
};

static void place_left(struct av_layout *l, struct av_rect r)
{
    const struct left_plan *plan = left_plans;
    while (r.h < plan->from) {
        plan++;
    }
    int scores = r.h - plan->gauges_gap - plan->gauges - plan->verdict_gap - plan->verdict;
    if (scores >= SCORES_LEAST) {
        l->at[AV_PLACE_SCORES] = take(&r, scores);
        take(&r, plan->gauges_gap);
    }
    l->at[AV_PLACE_GAUGES] = take(&r, plan->gauges);
    take(&r, plan->verdict_gap);
    l->at[AV_PLACE_VERDICT] = take(&r, r.h);
}

static void place_right(struct av_layout *l, struct av_rect r, const struct av_heat_grid *g)
{
    int heat = g->cells.h + AV_HEAT_ABOVE + AV_HEAT_BELOW;
    l->at[AV_PLACE_WEIGHTS] = take(&r, heat);
    if (r.h >= QUERY_LEAST) {
        l->at[AV_PLACE_QUERY] = take(&r, QUERY_MOST);
    }
    if (r.h > AV_MOMENTS_H && r.w >= AV_MOMENTS_W) {
        take(&r, 1);
        l->at[AV_PLACE_MOMENTS] = take(&r, AV_MOMENTS_H);
    }
}

static void place_two_columns(struct av_layout *l, struct av_rect r, size_t n_rows, size_t n_cols)
{
    /* The heatmap takes what its entries can use; the rest is the left's. */
    int query = r.h >= WEIGHTS_LEAST + 4 + QUERY_LEAST ? QUERY_LEAST : 0;
    int room = least(r.w - LEFT_LEAST, r.w * 6 / 10);
    struct av_rect right = { r.x + r.w - room, r.y, room, r.h };
    struct av_rect cells = av_layout_heat_cells((struct av_rect){ right.x, right.y, room, r.h - query });
    struct av_heat_grid g = av_layout_heat(cells, n_rows, n_cols, (struct av_heat_window){ 0, 0, 0 });
    right.w = least(room, most(g.cells.w + AV_HEAT_MARGIN, RIGHT_LEAST));
    right.x = r.x + r.w - right.w;
    place_right(l, right, &g);
    place_left(l, (struct av_rect){ r.x, r.y, r.w - right.w - 1, r.h });
}

/* ---- one column ------------------------------------------------------ */

static void place_one_column(struct av_layout *l, struct av_rect r)
{
    /* Heights that a panel wants; it stands when all before it do, too. */
    static const struct {
        enum av_place place;
        int h;
    } order[] = {
        { AV_PLACE_GAUGES, 3 },  { AV_PLACE_VERDICT, 1 }, { AV_PLACE_SCORES, 6 },
        { AV_PLACE_WEIGHTS, 7 }, { AV_PLACE_QUERY, 2 },
    };
    int heights[AV_PLACE_COUNT] = { 0 };
    int rest = r.h;
    heights[AV_PLACE_GAUGES] = least(rest, 3);
    rest -= heights[AV_PLACE_GAUGES];
    for (size_t i = 1; i < sizeof order / sizeof *order && rest >= order[i].h; i++) {
        heights[order[i].place] = order[i].h;
        rest -= order[i].h;
    }
    /* A line for the gauges' legend, two so that both histograms stand; what
     * is left then makes the pictures taller. */
    if (heights[AV_PLACE_QUERY] > 0) {
        heights[AV_PLACE_GAUGES] += least(rest, 1);
        rest -= least(rest, 1);
        heights[AV_PLACE_SCORES] += least(rest, 2);
        rest -= least(rest, 2);
    }
    if (heights[AV_PLACE_WEIGHTS] > 0) {
        int scores = least(rest / 3, 6);
        heights[AV_PLACE_SCORES] += scores;
        heights[AV_PLACE_WEIGHTS] += rest - scores;
    } else if (heights[AV_PLACE_SCORES] > 0) {
        heights[AV_PLACE_SCORES] += rest;
    }
    static const enum av_place down[] = { AV_PLACE_SCORES, AV_PLACE_WEIGHTS, AV_PLACE_QUERY, AV_PLACE_GAUGES,
                                          AV_PLACE_VERDICT };
    for (size_t i = 0; i < sizeof down / sizeof *down; i++) {
        l->at[down[i]] = take(&r, heights[down[i]]);
    }
}

struct av_layout av_layout_overview(struct av_rect r, size_t n_rows, size_t n_cols)
{
    struct av_layout l = { 0 };
    if (r.w < 1 || r.h < 1) {
        return l;
    }
    l.at[AV_PLACE_HEADER] = take(&r, 1);
    if (r.w >= TWO_COLUMNS_W && r.h + 1 >= TWO_COLUMNS_H) {
        place_two_columns(&l, r, n_rows, n_cols);
    } else {
        place_one_column(&l, r);
    }
    return l;
}

/* Whether a panel stands below the scores, in their column. */
static bool is_below(const struct av_rect *r, const struct av_rect *scores)
{
    return r->h > 0 && r->x == scores->x && r->y > scores->y;
}

void av_layout_shrink_scores(struct av_layout *l, int h)
{
    enum { GAP = 1, GAUGES_MOST = 16 };
    struct av_rect *scores = &l->at[AV_PLACE_SCORES];
    int gauges_y = l->at[AV_PLACE_GAUGES].y;
    int next = gauges_y;
    for (int i = 0; i < AV_PLACE_COUNT; i++) {
        next = is_below(&l->at[i], scores) ? least(next, l->at[i].y) : next;
    }
    int freed = next - (scores->y + h + GAP);
    if (scores->h <= h || freed <= 0) {
        return;
    }
    int grown = least(freed, most(GAUGES_MOST - l->at[AV_PLACE_GAUGES].h, 0));
    scores->h = h;
    for (int i = 0; i < AV_PLACE_COUNT; i++) {
        if (is_below(&l->at[i], scores)) {
            l->at[i].y -= l->at[i].y > gauges_y ? freed - grown : freed;
        }
    }
    l->at[AV_PLACE_GAUGES].h += grown;
}
