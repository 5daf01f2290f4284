/* plot.c - numbers, bars, points and text that fits. */
#include "attnviz/plot.h"

#include "attnviz/utf8.h"
#include "attnviz/wrap.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers --------------------------------------------------------- */

/* Plain notation holds from 1e-2 up to below 1e6. */
enum { PLAIN_LEAST = -2, PLAIN_MOST = 5 };

/* Drops zeros behind the decimal point, and a point that ends the number. */
static void trim_zeros(char *text)
{
    if (strchr(text, '.') != NULL) {
        size_t n = strlen(text);
        while (text[n - 1] == '0') {
            n--;
        }
        text[text[n - 1] == '.' ? n - 1 : n] = '\0';
    }
}

static const char *number(char out[AV_NUMBER_MAX], double v, int digits, bool trim)
{
    if (isnan(v) || isinf(v) || v == 0) {
        snprintf(out, AV_NUMBER_MAX, "%s", isnan(v) ? "n/a" : v == 0 ? "0" : v > 0 ? "inf" : "-inf");
        return out;
    }
    /* The exponent after rounding, so that 9.996 becomes 10.0, not 10.00. */
    char text[AV_NUMBER_MAX];
    snprintf(text, sizeof text, "%.*e", digits - 1, v);
    char *mark = strchr(text, 'e');
    int power = (int)strtol(mark + 1, NULL, 10);
    *mark = '\0';
    if (power >= PLAIN_LEAST && power <= PLAIN_MOST) {
        int decimals = digits - 1 - power;
        snprintf(text, sizeof text, "%.*f", decimals > 0 ? decimals : 0, v);
    }
    if (trim) {
        trim_zeros(text);
    }
    if (power >= PLAIN_LEAST && power <= PLAIN_MOST) {
        memcpy(out, text, sizeof text);
    } else {
        snprintf(out, AV_NUMBER_MAX, "%.20se%d", text, power);
    }
    return out;
}

const char *av_plot_number(char out[AV_NUMBER_MAX], double v, int digits)
{
    return number(out, v, digits, false);
}

const char *av_plot_number_in(char out[AV_NUMBER_MAX], double v, int digits, int cells)
{
    while (strlen(number(out, v, digits, false)) > (size_t)cells && digits > 1) {
        digits--;
    }
    return out;
}

const char *av_plot_short(char out[AV_NUMBER_MAX], double v, int digits)
{
    return number(out, v, digits, true);
}

const char *av_plot_tiny(char out[AV_NUMBER_MAX], double v, double log10_v, int digits)
{
    const double readable = -1e9; /* below, rounding of the logarithm reaches the first figures */
    char text[AV_NUMBER_MAX];
    if (v >= DBL_MIN || !isfinite(log10_v)) {
        return av_plot_number(out, v, digits);
    }
    if (log10_v < readable) {
        snprintf(out, AV_NUMBER_MAX, "10^%.20s", av_plot_number(text, log10_v, digits));
        return out;
    }
    double power = floor(log10_v);
    av_plot_number(text, pow(10, log10_v - power), digits);
    if (text[1] == '0') { /* 9.9996 became 10.00 */
        av_plot_number(text, 1, digits);
        power++;
    }
    snprintf(out, AV_NUMBER_MAX, "%.20se%.0f", text, power);
    return out;
}

/* ---- bars and points ------------------------------------------------- */

enum { FULL_BLOCK = 0x2588 };

/* A bar that fills `part` of `cells` cells: whole cells, and the eighths of a
 * last one that is broken. A shaded bar has one texture: a cell is whole from
 * half on and else blank, and only a bar that would vanish shows an eighth. */
struct bar {
    int whole, eighths;
};

static struct bar make_bar(double part, int cells, struct av_fill fill)
{
    if (!(part > 0) || cells <= 0) {
        return (struct bar){ 0, 0 };
    }
    part = part < 1 ? part : 1;
    if (fill.body != FULL_BLOCK) {
        int whole = (int)lround(part * cells);
        return (struct bar){ whole, whole == 0 };
    }
    int n = (int)lround(part * 8 * cells);
    return n > 0 ? (struct bar){ n / 8, n % 8 } : (struct bar){ 0, 1 };
}

void av_plot_bar(struct av_canvas *c, int x, int y, int w, double part, struct av_fill fill)
{
    struct bar b = make_bar(part, w, fill);
    for (int i = 0; i < b.whole; i++) {
        av_canvas_put(c, x + i, y, fill.body, fill.role);
    }
    if (b.eighths > 0) {
        av_canvas_put(c, x + b.whole, y, 0x2590U - (uint32_t)b.eighths, fill.role);
    }
}

void av_plot_column(struct av_canvas *c, int x, int bottom, int h, double part, struct av_fill fill)
{
    struct bar b = make_bar(part, h, fill);
    for (int i = 0; i < b.whole; i++) {
        av_canvas_put(c, x, bottom - i, fill.body, fill.role);
    }
    if (b.eighths > 0) {
        av_canvas_put(c, x, bottom - b.whole, 0x2580U + (uint32_t)b.eighths, fill.role);
    }
}

/* ---- text that fits -------------------------------------------------- */

int av_plot_fit(struct av_canvas *c, int x, int right, int y, enum av_role role, const char *text)
{
    if (av_utf8_columns(text) > (right > x ? right - x : 0)) {
        return x;
    }
    return av_canvas_text(c, x, y, role, text);
}

int av_plot_fit_right(struct av_canvas *c, int x, int right, int y, enum av_role role, const char *text)
{
    int len = av_utf8_columns(text);
    if (len > right - x) {
        return right;
    }
    av_canvas_text(c, right - len, y, role, text);
    return right - len;
}

int av_plot_wrap(struct av_canvas *c, struct av_rect r, enum av_role role, const char *text)
{
    int lines = 0;
    int x = r.x;
    text += strspn(text, " ");
    while (*text != '\0' && lines < r.h && r.w > 0) {
        size_t len = av_wrap_piece(text, r.w);
        x = av_canvas_textf(c, r.x, r.y + lines, role, "%.*s", (int)len, text);
        text += len + strspn(text + len, " ");
        lines++;
    }
    if (*text != '\0' && lines > 0) {
        int last = r.x + r.w - 1;
        av_canvas_put(c, x < last ? x : last, r.y + lines - 1, 0x2026, role);
    }
    return lines;
}

struct av_rect av_plot_enter(struct av_canvas *c, struct av_rect r)
{
    struct av_rect was = c->clip;
    int x = r.x > was.x ? r.x : was.x;
    int y = r.y > was.y ? r.y : was.y;
    int right = r.x + r.w < was.x + was.w ? r.x + r.w : was.x + was.w;
    int below = r.y + r.h < was.y + was.h ? r.y + r.h : was.y + was.h;
    av_canvas_clip(c, (struct av_rect){ x, y, right > x ? right - x : 0, below > y ? below - y : 0 });
    return was;
}
