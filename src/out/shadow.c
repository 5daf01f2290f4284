/* shadow.c - what a screen shows already, so that only changes are sent. */
#include "shadow.h"

#include "attnviz/mem.h"

#include <string.h>

enum av_status av_shadow_resize(struct av_shadow *s, int cols, int rows, struct av_error *e)
{
    struct av_cell *cells = av_alloc((size_t)rows * (size_t)cols, sizeof *cells);
    if (cells == NULL) {
        return av_fail_nomem(e, "the screen");
    }
    av_shadow_free(s);
    *s = (struct av_shadow){ cells, cols, rows };
    return AV_OK;
}

void av_shadow_free(struct av_shadow *s)
{
    av_free(s->cells);
    *s = (struct av_shadow){ NULL, 0, 0 };
}

void av_shadow_forget(struct av_shadow *s)
{
    if (s->cells != NULL) { /* no cell of a canvas has code 0 */
        memset(s->cells, 0, (size_t)s->rows * (size_t)s->cols * sizeof *s->cells);
    }
}

void av_shadow_forget_row(struct av_shadow *s, int y)
{
    if (y >= 0 && y < s->rows) {
        memset(s->cells + (ptrdiff_t)y * s->cols, 0, (size_t)s->cols * sizeof *s->cells);
    }
}

static bool same(const struct av_cell *a, const struct av_cell *b)
{
    return a->code == b->code && a->role == b->role && a->level == b->level && a->mark == b->mark;
}

int av_shadow_run(struct av_shadow *s, const struct av_canvas *c, int *x, int y)
{
    if (y < 0 || y >= s->rows || y >= c->rows) {
        return 0;
    }
    int cols = s->cols < c->cols ? s->cols : c->cols;
    const struct av_cell *now = c->cells + (ptrdiff_t)y * c->cols;
    struct av_cell *shown = s->cells + (ptrdiff_t)y * s->cols;
    while (*x < cols && same(&now[*x], &shown[*x])) {
        ++*x;
    }
    int n = 0;
    for (int i = *x; i < cols && (!same(&now[i], &shown[i]) || now[i].code == AV_GLYPH_REST); i++) {
        shown[i] = now[i];
        n++;
    }
    return n;
}
