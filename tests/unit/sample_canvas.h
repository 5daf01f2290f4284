/* sample_canvas.h - a canvas with everything on it, for tests of what is made of one. */
#ifndef SAMPLE_CANVAS_H
#define SAMPLE_CANVAS_H

#include "attnviz/canvas.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SAMPLE_COLS = 40, SAMPLE_ROWS = 12 };

/* Every role, level and shape, wide characters, marked and not, with blanks in every place. The
 * caller frees it. */
static inline struct av_canvas sample_canvas(bool ascii)
{
    struct av_canvas c = { .ascii = ascii };
    assert_int_equal(av_canvas_resize(&c, SAMPLE_COLS, SAMPLE_ROWS, NULL), AV_OK);
    for (int r = 0; r < AV_ROLE_COUNT; r++) {
        av_canvas_text(&c, r % 2 * 20, r / 2, (enum av_role)r, " a<b & \"c\"  'd'> ]]>");
    }
    for (int level = 0; level < AV_HEAT_LEVELS; level++) {
        av_canvas_heat(&c, level, 8, level);
        av_canvas_heat(&c, 14 + level, 8, level);
    }
    av_canvas_mark(&c, (struct av_rect){ 14, 8, AV_HEAT_LEVELS, 1 });
    av_canvas_mark(&c, (struct av_rect){ 3, 1, 10, 3 });
    av_canvas_text(&c, 0, 9, AV_ROLE_SCALED, "▁▂▃▄▅▆▇██ ▏▎▍▌▋▊▉ ▀▐▔▕ ░▒▓▓");
    av_canvas_text(&c, 0, 10, AV_ROLE_AXIS, "─│┌┐└┘├┤┬┴┼╵╷╴╶╌┊┄┆┈╎ →·√×…σ²");
    av_canvas_text(&c, 1, 11, AV_ROLE_SELECT, "a注 意<力\U0001F600\U0001D400b");
    av_canvas_text(&c, 20, 11, AV_ROLE_WARN, "意力");
    av_canvas_mark(&c, (struct av_rect){ 22, 11, 1, 1 });
    av_canvas_put(&c, 38, 11, 0x529B, AV_ROLE_BAD);
    return c;
}

#endif
