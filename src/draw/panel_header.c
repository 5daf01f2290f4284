/* panel_header.c - the state of the instrument in the formula's own terms. */
#include "panels.h"

#include "attnviz/utf8.h"
#include "attnviz/variant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = AV_PIECE_MAX, PIECES = 10, NAME_MOST = 51 };

/* ---- the formula ----------------------------------------------------- */

/* The scores that are multiplied: a variant may make others of the entries, or
 * of the scores, which is told by a hat. */
static const char *scores_text(const struct av_snapshot *s)
{
    unsigned flags = s->varied ? av_variant_flags(s->params.variant) : 0;
    return s->from_logits                      ? "logits"
           : s->from == AV_PART_SCORES         ? "s"
           : (flags & AV_VARIANT_ENTRIES) != 0 ? "q^·k^"
           : (flags & AV_VARIANT_SCORES) != 0  ? "s^"
                                               : "q·k";
}

/* The name of the chosen row of a group when it is one of these, else NULL. */
static const char *one_of(const struct av_snapshot *s, enum av_variant_group group, const char *const *names)
{
    const struct av_variant *row = av_variant_of(s->params.variant, group);
    for (; row != NULL && *names != NULL; names++) {
        if (strcmp(row->name, *names) == 0) {
            return row->name;
        }
    }
    return NULL;
}

/* Of a variant: "q^·k^ × 0.125", the factor that all rows of the head share;
 * what differs from row to row, and what is added, by its name. */
static void varied_text(char out[PIECE], const struct av_snapshot *s)
{
    static const char *const bias[] = { "alibi", NULL };
    char number[AV_NUMBER_MAX];
    const char *factor = s->by_row ? av_variant_of(s->params.variant, AV_GROUP_SCALE)->name : NULL;
    const char *added = one_of(s, AV_GROUP_PATTERN, bias);
    bool multiplied = s->alpha < 1 || s->alpha > 1;
    av_plot_number(number, s->alpha, 3);
    snprintf(out, PIECE, "%s%s%s%s%s%s%s", scores_text(s), multiplied ? " × " : "", multiplied ? number : "",
             factor != NULL ? " × " : "", factor != NULL ? factor : "", added != NULL ? " + " : "",
             added != NULL ? added : "");
}

/* What happens to the scores: "q·k / √64". */
static void product_text(char out[PIECE], const struct av_snapshot *s, bool ascii)
{
    const struct av_params *p = &s->params;
    char number[AV_NUMBER_MAX];
    if (s->varied) {
        varied_text(out, s);
    } else if (s->from_logits || s->from == AV_PART_SCORES) {
        snprintf(out, PIECE, "%s", scores_text(s));
    } else if (s->gliding) { /* on its way between two states */
        snprintf(out, PIECE, "q·k × %s", av_plot_number(number, s->alpha, 3));
    } else if (p->scale == 0) {
        snprintf(out, PIECE, "q·k");
    } else if (fabs(p->exponent - 0.5) < 1e-12) {
        snprintf(out, PIECE, ascii ? "q·k / sqrt(%zu)" : "q·k / √%zu", s->d_k);
    } else if (fabs(p->exponent - 1) < 1e-12) {
        snprintf(out, PIECE, "q·k / %zu", s->d_k);
    } else {
        snprintf(out, PIECE, "q·k / %zu^%s", s->d_k, av_plot_short(number, p->exponent, 4));
    }
}

/* " + 3" or " - 3". */
static void add_text(char out[PIECE], double v)
{
    char number[AV_NUMBER_MAX];
    snprintf(out, PIECE, " %c %s", v < 0 ? '-' : '+', av_plot_short(number, fabs(v), 6));
}

static int draw_formula(struct av_canvas *c, struct av_rect r, const struct av_snapshot *s)
{
    const struct av_params *p = &s->params;
    char text[PIECE];
    char number[AV_NUMBER_MAX];
    if (s->from == AV_PART_WEIGHTS) {
        bool causal = p->mask == AV_MASK_CAUSAL; /* it cuts them, and leaves the others as they are */
        int end = av_canvas_text(c, r.x + 1, r.y, AV_ROLE_TITLE, "w ");
        return av_canvas_text(c, end, r.y, av_look_now(s).fill.role,
                              causal ? "as the file has them, causal keys only" : "as the file has them");
    }
    int x = av_canvas_text(c, r.x + 1, r.y, AV_ROLE_TITLE, "z = ( ");
    product_text(text, s, c->ascii);
    x = av_canvas_text(c, x, r.y, av_look_now(s).fill.role, text);
    add_text(text, p->offset);
    x = av_canvas_text(c, x, r.y, AV_ROLE_TITLE, text);
    if (s->probed) {
        add_text(text, p->key_offset);
        x = av_canvas_text(c, x, r.y, AV_ROLE_TITLE, text);
        x = av_canvas_textf(c, x, r.y, AV_ROLE_SELECT, " at key %zu", av_panel_key(s));
    }
    double t = p->temperature;
    bool cents = t >= 0.1 && t < 100;
    if (cents) {
        snprintf(number, sizeof number, "%.2f", t);
    } else {
        av_plot_short(number, t, 4);
    }
    return av_canvas_textf(c, x, r.y, AV_ROLE_TITLE, " ) / %s", number);
}

/* ---- where the numbers come from ------------------------------------- */

/* A file's name, of a long one the beginning. */
static void name_text(char out[PIECE], const char *name)
{
    size_t len = av_utf8_fit(name, NAME_MOST);
    snprintf(out, PIECE, "%.*s%s", (int)len, name, name[len] != '\0' ? "…" : "");
}

/* "32 queries × 32 keys", or where that does not fit "32×32"; "last 32 of 131072
 * queries × 131072 keys", "last 32×131072". */
static void size_text(char out[PIECE], const struct av_snapshot *s, bool brief)
{
    bool tail = s->layer != NULL && s->layer->left_out > 0;
    if (tail) {
        snprintf(out, PIECE, brief ? "last %zu×%zu" : "last %zu of %zu queries × %zu keys", s->n_q,
                 brief ? s->n_k : s->layer->left_out + s->n_q, s->n_k);
    } else if (brief) {
        snprintf(out, PIECE, "%zu×%zu", s->n_q, s->n_k);
    } else {
        snprintf(out, PIECE, "%zu quer%s × %zu key%s", s->n_q, s->n_q == 1 ? "y" : "ies", s->n_k,
                 s->n_k == 1 ? "" : "s");
    }
}

/* "layer 2 head 3 of 8", of one layer "head 3 of 8"; brief "L2 head 3/8". */
static void head_text(char out[PIECE], const struct av_snapshot *s, bool brief)
{
    int at = 0;
    if (s->from_files && s->source->layer_count > 1) {
        at = snprintf(out, PIECE, brief ? "L%zu " : "layer %zu ", s->layer->number);
    }
    snprintf(out + at, PIECE - (size_t)at, brief ? "head %zu/%zu" : "head %zu of %zu", s->head, s->heads);
}

/* Fills the pieces, the most telling first; returns their number. The last
 * one only says where the numbers come from. */
static size_t make_pieces(char pieces[PIECES][PIECE], const struct av_snapshot *s, bool brief)
{
    const struct av_params *p = &s->params;
    size_t n = 0;
    if (s->varied) {
        av_panel_variant(pieces[n++], s);
    }
    if (s->from_logits) {
        snprintf(pieces[n++], PIECE, "%zu logit%s given", s->n_k, s->n_k == 1 ? "" : "s");
        return n;
    }
    bool in_formula = av_panel_holds(s) != NULL || !(p->scale == 0 || s->gliding || s->varied);
    if (!in_formula) {
        snprintf(pieces[n++], PIECE, "d_k %zu", s->d_k);
    }
    size_text(pieces[n++], s, brief);
    if (s->from_files || s->heads > 1) {
        head_text(pieces[n++], s, brief);
    }
    if (p->mask == AV_MASK_CAUSAL && s->from != AV_PART_WEIGHTS) {
        snprintf(pieces[n++], PIECE, "causal");
    }
    if (s->from_files) {
        n += av_panel_sequence(pieces[n], s->source, brief);
        name_text(pieces[n++], s->source->name);
        return n;
    }
    if (p->dist > 0 && p->dist < AV_DIST_COUNT) {
        snprintf(pieces[n++], PIECE, "%s", av_param_find("dist")->choices[p->dist]);
    }
    if (fabs(p->corr) > 0) {
        char number[AV_NUMBER_MAX];
        snprintf(pieces[n++], PIECE, "corr %s", av_plot_short(number, p->corr, 3));
    }
    snprintf(pieces[n++], PIECE, "seed %llu", (unsigned long long)p->seed);
    return n;
}

/* Columns that the first n pieces take. */
static int pieces_width(char pieces[PIECES][PIECE], size_t n)
{
    int width = 0;
    for (size_t i = 0; i < n; i++) {
        width += av_utf8_columns(pieces[i]) + (i > 0 ? 3 : 0);
    }
    return width;
}

/* Columns of all pieces but the last one. */
static int telling_width(char pieces[PIECES][PIECE], size_t n)
{
    return pieces_width(pieces, n > 1 ? n - 1 : 1);
}

/* Draws pieces up to the first that does not fit. They are brief where not all
 * but the last stand. */
static void draw_pieces(struct av_canvas *c, int x, int end, int y, const struct av_snapshot *s)
{
    char pieces[PIECES][PIECE];
    size_t n = make_pieces(pieces, s, false);
    if (x + telling_width(pieces, n) > end) {
        n = make_pieces(pieces, s, true);
    }
    av_panel_pieces(c, x, end, y, pieces, n);
}

void av_panel_header(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx, const char *title)
{
    const struct av_snapshot *s = ctx->snapshot;
    struct av_rect clip = av_plot_enter(c, r);
    int x = draw_formula(c, r, s) + 3;
    int right = r.x + r.w - 1;
    /* The first piece goes before the view's title, all that tell go before
     * "scale off", which the formula says as well. */
    char pieces[PIECES][PIECE];
    size_t n = make_pieces(pieces, s, true);
    int first = av_utf8_columns(pieces[0]);
    int telling = telling_width(pieces, n);
    int end = av_plot_fit_right(c, x + first + 2, right, r.y, AV_ROLE_TITLE, title);
    end -= end < right ? 2 : 0;
    if (!s->from_logits && av_panel_holds(s) == NULL && s->params.scale == 0) {
        int behind = av_plot_fit(c, x, end - telling - 3, r.y, av_look_now(s).fill.role, "scale off");
        x = behind > x ? behind + 3 : x;
    }
    draw_pieces(c, x, end > right ? right : end, r.y, s);
    av_canvas_clip(c, clip);
}
