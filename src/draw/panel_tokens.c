/* panel_tokens.c - what the labels of positions look like, and the room that they get. */
#include "panels.h"

#include "attnviz/utf8.h"

#include <stdio.h>

enum {
    COLUMNS_MOST = 8, /* for the tokens of rows */
    COLUMNS_LEAST = 3,
    CELLS_LEAST_W = 40, /* what the map keeps beside them */
    LINES_MOST = 6,     /* for tokens of columns, written downwards */
    DOWN_LEAST_H = 14,  /* of a panel with such */
    LEAST_H = 9         /* of a panel with a line of tokens */
};

static const char *token_at(const struct av_snapshot *s, size_t position)
{
    return s->source != NULL && position < s->source->token_count ? s->source->tokens[position] : NULL;
}

bool av_panel_has_tokens(const struct av_snapshot *s)
{
    return token_at(s, 0) != NULL;
}

size_t av_panel_first_query(const struct av_snapshot *s)
{
    return s->layer != NULL ? s->layer->left_out : 0;
}

size_t av_panel_query_position(const struct av_snapshot *s, size_t query)
{
    return query + (s->n_k > s->n_q ? s->n_k - s->n_q : 0);
}

/* The next character of a token as it is shown, and the cells that it takes to
 * the right or downwards; 0 at the end. */
static uint32_t next_shown(const char **text, bool down, int *cells)
{
    const uint32_t open_box = 0x2423, no_break = 0xA0, wide_blank = 0x3000;
    uint32_t code = av_utf8_drawn(text, cells);
    bool blank = code == ' ' || code == no_break || code == wide_blank;
    *cells = blank || (down && code != 0) ? 1 : *cells;
    return blank ? open_box : code;
}

/* Cells that a token takes, `most` when there are more. */
static int cells_of(const char *text, bool down, int most)
{
    int sum = 0;
    for (int cells; sum < most && next_shown(&text, down, &cells) != 0;) {
        sum += cells;
    }
    return sum < most ? sum : most;
}

static const char *token(char out[AV_TOKEN_MAX], const struct av_snapshot *s, size_t position, bool down, int most)
{
    const uint32_t ellipsis = 0x2026;
    const char *text = token_at(s, position);
    size_t len = 0;
    int left = most < AV_TOKEN_CELLS ? most : AV_TOKEN_CELLS;
    while (text != NULL && *text != '\0' && left > 0) {
        int cells;
        uint32_t code = next_shown(&text, down, &cells);
        bool cut = cells + (*text != '\0') > left;
        len += av_utf8_put(out + len, cut ? ellipsis : code);
        left -= cut ? left : cells;
    }
    out[len] = '\0';
    return out;
}

const char *av_panel_token(char out[AV_TOKEN_MAX], const struct av_snapshot *s, size_t position, int cells)
{
    return token(out, s, position, false, cells);
}

const char *av_panel_token_down(char out[AV_TOKEN_MAX], const struct av_snapshot *s, size_t position, int lines)
{
    return token(out, s, position, true, lines);
}

const char *av_panel_quoted(char out[AV_QUOTED_MAX], const struct av_snapshot *s, size_t position)
{
    const char *text = token_at(s, position);
    char kept[AV_TOKEN_MAX];
    size_t len = 0;
    out[0] = '\0';
    if (text != NULL) {
        const char *end = text + av_utf8_fit(text, AV_TOKEN_CELLS);
        for (int columns; text < end;) {
            len += av_utf8_put(kept + len, av_utf8_drawn(&text, &columns));
        }
        kept[len] = '\0';
        snprintf(out, AV_QUOTED_MAX, " \"%s%s\"", kept, *end != '\0' ? "…" : "");
    }
    return out;
}

/* Of the longest token, up to `most`. */
static int longest(const struct av_snapshot *s, bool down, int most)
{
    int cells = 0;
    for (size_t i = 0; i < s->source->token_count && cells < most; i++) {
        int own = cells_of(s->source->tokens[i], down, most);
        cells = own > cells ? own : cells;
    }
    return cells;
}

int av_panel_token_columns(struct av_rect r, const struct av_snapshot *s)
{
    int spare = r.w - AV_HEAT_MARGIN - CELLS_LEAST_W - 1;
    if (!av_panel_has_tokens(s) || spare < COLUMNS_LEAST) {
        return 0;
    }
    return longest(s, false, spare < COLUMNS_MOST ? spare : COLUMNS_MOST);
}

int av_panel_token_lines(struct av_rect r, const struct av_snapshot *s, const struct av_heat_grid *g)
{
    if (!av_panel_has_tokens(s) || av_panel_averages(s) || r.h < LEAST_H) {
        return 0;
    }
    if (g->pool_cols > 1 || g->cell_w >= AV_TOKEN_CELL_W || r.h < DOWN_LEAST_H) {
        return 1;
    }
    int most = r.h / 4 < LINES_MOST ? r.h / 4 : LINES_MOST;
    return longest(s, true, most);
}
