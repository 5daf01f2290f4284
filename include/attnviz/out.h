/* out.h - a canvas as text, ANSI escapes or SVG. */
#ifndef ATTNVIZ_OUT_H
#define ATTNVIZ_OUT_H

#include "attnviz/canvas.h"
#include "attnviz/strbuf.h"
#include "attnviz/theme.h"

/* All three append UTF-8 to *out, which shows a failed allocation by itself. */

/* rows lines, each without trailing blanks and with a newline. */
void av_out_text(struct av_str *out, const struct av_canvas *c);
/* The same with SGR sequences where the style changes; every line ends in the
 * default style. Blanks that end a line are kept when they can be seen. */
void av_out_ansi(struct av_str *out, const struct av_canvas *c, const struct av_theme *t, enum av_depth depth);
/* A self-contained SVG picture: no script, no font file, no outside links. */
void av_out_svg(struct av_str *out, const struct av_canvas *c, const struct av_theme *t, const char *title);

#endif
