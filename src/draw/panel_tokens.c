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

size_t av_panel_query_position(const struct av_snapshot *s, size_t query)
{
    return query + (s->n_k > s->n_q ? s->n_k - s->n_q : 0);
}

/* Cells that a text takes, `most` when there are more. */
static int cells_of(const char *text, int most)
{
    int cells = 0;
    while (cells < most && *text != '\0') {
        av_utf8_next(&text);
        cells++;
    }
    return cells;
}

const char *av_panel_token(char out[AV_TOKEN_MAX], const struct av_snapshot *s, size_t position, int cells)
{
    const uint32_t open_box = 0x2423, ellipsis = 0x2026;
    const char *text = token_at(s, position);
    size_t len = 0;
    cells = cells < AV_TOKEN_CELLS ? cells : AV_TOKEN_CELLS;
    for (int i = 0; text != NULL && i < cells && *text != '\0'; i++) {
        uint32_t code = av_utf8_next(&text);
        bool cut = i == cells - 1 && *text != '\0';
        len += av_utf8_put(out + len, cut ? ellipsis : code == ' ' ? open_box : code);
    }
    out[len] = '\0';
    return out;
}

const char *av_panel_quoted(char out[AV_QUOTED_MAX], const struct av_snapshot *s, size_t position)
{
    const char *text = token_at(s, position);
    out[0] = '\0';
    if (text != NULL) {
        const char *end = text;
        for (int i = 0; i < AV_TOKEN_CELLS && *end != '\0'; i++) {
            av_utf8_next(&end);
        }
        snprintf(out, AV_QUOTED_MAX, " \"%.*s%s\"", (int)(end - text), text, *end != '\0' ? "…" : "");
    }
    return out;
}

/* Of the longest token, up to `most`. */
static int longest(const struct av_snapshot *s, int most)
{
    int cells = 0;
    for (size_t i = 0; i < s->source->token_count && cells < most; i++) {
        int own = cells_of(s->source->tokens[i], most);
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
    return longest(s, spare < COLUMNS_MOST ? spare : COLUMNS_MOST);
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
    return longest(s, most);
}
