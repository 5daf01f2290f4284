/* panel_common.c - looks, legends and words that panels share. */
#include "panels.h"

#include <math.h>
#include <stdio.h>

struct av_look av_look_scale(bool on)
{
    static const struct av_look looks[] = {
        { "unscaled", { 0x2591, AV_ROLE_UNSCALED } },
        { "scaled", { 0x2588, AV_ROLE_SCALED } },
    };
    return looks[on];
}

struct av_look av_look_now(const struct av_snapshot *s)
{
    return s->from_logits              ? (struct av_look){ "logits", { 0x2588, AV_ROLE_BAR } }
           : av_panel_holds(s) != NULL ? (struct av_look){ "given", { 0x2588, AV_ROLE_BAR } }
                                       : av_look_scale(s->params.scale != 0);
}

struct av_look av_look_other(const struct av_snapshot *s)
{
    return av_look_scale(s->params.scale == 0);
}

int av_panel_legend(struct av_canvas *c, int x, int right, int y, struct av_fill glyph, const char *name)
{
    int end = av_plot_fit(c, x + 2, right, y, glyph.role, name);
    if (end == x + 2) {
        return x;
    }
    av_canvas_put(c, x, y, glyph.body, glyph.role);
    return end + 2;
}

const char *av_panel_percent(char out[AV_NUMBER_MAX], double share)
{
    double percent = 100 * share;
    if (isnan(percent)) {
        snprintf(out, AV_NUMBER_MAX, "n/a");
    } else if (percent > 0 && percent < 1) {
        snprintf(out, AV_NUMBER_MAX, "<1%%");
    } else if (percent > 99 && percent < 100) {
        snprintf(out, AV_NUMBER_MAX, ">99%%");
    } else {
        snprintf(out, AV_NUMBER_MAX, "%.0f%%", percent);
    }
    return out;
}

const char *av_panel_weight(char out[AV_NUMBER_MAX], double p, double one_minus)
{
    if (p > 0.99 && one_minus > 0) {
        char rest[AV_NUMBER_MAX];
        snprintf(out, AV_NUMBER_MAX, "1 - %.20s", av_plot_short(rest, one_minus, 1));
        return out;
    }
    return av_plot_number(out, p, 2);
}

const char *av_panel_title(char out[AV_TITLE_MAX], const char *view, int page, int pages)
{
    snprintf(out, AV_TITLE_MAX, "%s %d/%d", view, page + 1, pages);
    return out;
}

void av_panel_pieces(struct av_canvas *c, int x, int right, int y, char pieces[][AV_PIECE_MAX], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int from = i == 0 ? x : x + 3;
        int behind = av_plot_fit(c, from, right, y, AV_ROLE_DIM, pieces[i]);
        if (behind == from) {
            return;
        }
        if (i > 0) {
            av_canvas_text(c, x, y, AV_ROLE_DIM, " · ");
        }
        x = behind;
    }
}

int av_panel_step(double part, int steps)
{
    return part >= 1 ? steps - 1 : part > 0 ? (int)(part * steps) : 0;
}

void av_panel_negative(struct av_canvas *c, int x, int y, double part)
{
    static const uint32_t discs[2][AV_NEGATIVE_STEPS] = { { 0x00B7, 0x2218, 0x25CB, 0x25CF }, { ',', 'c', 'o', 'O' } };
    av_canvas_put(c, x, y, discs[c->ascii][av_panel_step(part, AV_NEGATIVE_STEPS)], AV_ROLE_BAR);
}

static size_t clamp(int64_t at, size_t n)
{
    return at < 0 || n == 0 ? 0 : (uint64_t)at < n ? (size_t)at : n - 1;
}

size_t av_panel_query(const struct av_snapshot *s)
{
    return clamp(s->params.query, s->n_q);
}

size_t av_panel_key(const struct av_snapshot *s)
{
    return clamp(s->params.key, s->n_k);
}
