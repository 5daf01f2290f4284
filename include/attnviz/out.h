/* out.h - a canvas as text, ANSI escapes or SVG. */
#ifndef ATTNVIZ_OUT_H
#define ATTNVIZ_OUT_H

#include "attnviz/canvas.h"
#include "attnviz/strbuf.h"
#include "attnviz/theme.h"

enum av_depth { AV_DEPTH_NONE = 0, AV_DEPTH_8 = 8, AV_DEPTH_16 = 16, AV_DEPTH_256 = 256, AV_DEPTH_TRUE = 1 << 24 };

/* rows lines, each without trailing blanks. */
void av_out_text(struct av_str *out, const struct av_canvas *c);
/* The same with SGR sequences; every line ends in the default style. */
void av_out_ansi(struct av_str *out, const struct av_canvas *c, const struct av_theme *t, enum av_depth depth);
/* A self-contained SVG picture: no script, no font file, no outside links. */
void av_out_svg(struct av_str *out, const struct av_canvas *c, const struct av_theme *t, const char *title);

#endif
