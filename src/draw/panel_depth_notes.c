/* panel_depth_notes.c - what to know about a stack that its curves do not say. */
#include "panels_depth.h"

#include <stdio.h>

/* A first layer whose output is smaller than this, where its input is 1, shrinks it. */
#define SHRUNK 0.5

/* One of the seven listens to none of these. */
static bool note_fixed(char out[AV_PIECE_MAX], const struct av_depth_shown *shown)
{
    snprintf(out, AV_PIECE_MAX, "fixed scale, init, residual, norm, mlp, clip; k back to the parameters");
    return shown->cells[!shown->now] == NULL;
}

/* "clipped to norm 1: all gradients ● × 0.0084 ◇ × 8.4e-4, the dead stay dead". */
static bool note_clip(char out[AV_PIECE_MAX], const struct av_depth_shown *shown)
{
    char number[AV_NUMBER_MAX];
    bool dead = false;
    const double clip = shown->cells[shown->now]->config.clip;
    size_t len =
        (size_t)snprintf(out, AV_PIECE_MAX, "clipped to norm %s: all gradients", av_plot_short(number, clip, 4));
    for (int k = 0; k < 2; k++) {
        const bool scale = k == 0 ? shown->now : !shown->now;
        const struct av_depth_cell *cell = shown->cells[scale];
        if (cell != NULL && cell->done > 0) {
            const char *mark = av_depth_mark(shown, scale) == AV_MARK_NOW ? "●" : "◇";
            av_plot_number(number, cell->median.clipped, 2);
            len += (size_t)snprintf(out + len, AV_PIECE_MAX - len, " %s × %s", mark, number);
            dead = dead || av_depth_find(&cell->median).dead > 0;
        }
    }
    if (dead) {
        snprintf(out + len, AV_PIECE_MAX - len, ", the dead stay dead");
    }
    return clip > 0;
}

static bool note_init(char out[AV_PIECE_MAX], const struct av_depth_shown *shown)
{
    char number[AV_NUMBER_MAX];
    const struct av_depth_cell *cell = shown->cells[shown->now];
    const double size = cell->median.layers[0].at[AV_DEPTH_SIZE];
    snprintf(out, AV_PIECE_MAX, "init %s shrinks size 1 to %s in layer 0; init=unit: q, k variance 1",
             av_param_find("init")->choices[cell->config.init], av_plot_number(number, size, 2));
    return cell->config.init != AV_INIT_UNIT && cell->done > 0 && size < SHRUNK;
}

size_t av_depth_notes(char notes[AV_DEPTH_NOTES][AV_PIECE_MAX], const struct av_depth_shown *shown)
{
    static bool (*const makers[AV_DEPTH_NOTES])(char *, const struct av_depth_shown *) = { note_fixed, note_clip,
                                                                                           note_init };
    size_t n = 0;
    for (size_t i = 0; i < AV_DEPTH_NOTES; i++) {
        n += makers[i](notes[n], shown);
    }
    return n;
}
