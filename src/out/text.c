/* text.c - a canvas as plain text. */
#include "attnviz/out.h"

void av_out_text(struct av_str *out, const struct av_canvas *c)
{
    for (int y = 0; y < c->rows; y++) {
        int end = c->cols;
        while (end > 0 && av_canvas_at(c, end - 1, y)->code == ' ') {
            end--;
        }
        for (int x = 0; x < end; x++) {
            uint32_t code = av_canvas_at(c, x, y)->code;
            if (code != AV_GLYPH_REST) {
                av_str_utf8(out, code);
            }
        }
        av_str_add(out, "\n");
    }
}
