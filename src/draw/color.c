/* color.c - the 256-colour palette, and styles on fewer colours. */
#include "attnviz/theme.h"

uint32_t av_color_rgb(int index)
{
    /* xterm's defaults: 16 named colours, a cube of 6 x 6 x 6, 24 greys. */
    static const uint32_t named[16] = {
        0x000000, 0xCD0000, 0x00CD00, 0xCDCD00, 0x0000EE, 0xCD00CD, 0x00CDCD, 0xE5E5E5,
        0x7F7F7F, 0xFF0000, 0x00FF00, 0xFFFF00, 0x5C5CFF, 0xFF00FF, 0x00FFFF, 0xFFFFFF
    };
    static const uint32_t step[6] = { 0, 95, 135, 175, 215, 255 };
    if (index < 0 || index > 255) {
        return 0;
    }
    if (index < 16) {
        return named[index];
    }
    if (index < 232) {
        int cube = index - 16;
        return step[cube / 36] << 16 | step[cube / 6 % 6] << 8 | step[cube % 6];
    }
    uint32_t grey = 8U + 10U * (uint32_t)(index - 232);
    return grey << 16 | grey << 8 | grey;
}

struct av_style av_style_reduce(struct av_style s, enum av_depth depth)
{
    if (depth == AV_DEPTH_NONE) {
        s.fg16 = s.bg16 = AV_COLOR_DEFAULT;
    }
    if (depth < AV_DEPTH_256) {
        s.fg = s.fg16;
        s.bg = s.bg16;
    }
    if (s.reverse && s.fg != AV_COLOR_DEFAULT && s.bg != AV_COLOR_DEFAULT) {
        int16_t fg = s.fg;
        s.fg = s.bg;
        s.bg = fg;
        s.reverse = false;
    }
    if (depth == AV_DEPTH_8) {
        s.bold = s.bold || s.fg >= 8;
        s.fg = s.fg >= 8 ? (int16_t)(s.fg - 8) : s.fg;
        s.bg = s.bg >= 8 ? (int16_t)(s.bg - 8) : s.bg;
    }
    s.fg16 = s.fg;
    s.bg16 = s.bg;
    return s;
}
