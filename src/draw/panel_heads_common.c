/* panel_heads_common.c - how a head is named, marked, numbered and sorted. */
#include "panels_heads.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct av_heads_column av_heads_columns[AV_HEAD_QUANTITIES] = {
    [AV_HEAD_ENTROPY] = { "entropy", "entropy / ln n, mean", false, 1 },
    [AV_HEAD_MAX_MEDIAN] = { "largest", "largest weight, median", false, 1 },
    [AV_HEAD_MAX_MEAN] = { "its mean", "largest weight, mean", false, 1 },
    [AV_HEAD_SATURATED_ROWS] = { "above .9", "rows with a weight above 0.9", true, 1 },
    [AV_HEAD_FRO] = { "gradient", "gradient: jacobian_fro, median", false, 0.5 },
    [AV_HEAD_DEAD_ROWS] = { "dead", "dead rows: jacobian_fro below 1e-3", true, 1 },
    [AV_HEAD_LOGIT_STD] = { "logit std", "logit std within rows", false, 8 },
    [AV_HEAD_ROW_SUM] = { "row sum", "sum of a row's weights, mean", false, 2 },
    [AV_HEAD_FIRST] = { "first", "weight on the first key", true, 1 },
    [AV_HEAD_OWN] = { "own", "weight on the query's own position", true, 1 },
    [AV_HEAD_PREVIOUS] = { "previous", "weight on the position before", true, 1 },
    [AV_HEAD_MOVED] = { "uneven", "weight to move to make rows even", true, 1 },
};

/* ---- One head ------------------------------------------------------------------- */

/* As many decimals as numbers below 10 have room for, so that those of a column have
 * the same; larger numbers have fewer. What rounds to nothing is a power of ten. */
static void write_number(char out[AV_NUMBER_MAX], double v, int cells)
{
    enum { DECIMALS = 3 };
    int decimals = cells - 2 < DECIMALS ? cells - 2 : DECIMALS;
    bool tiny = v != 0 && fabs(v) < pow(10, -decimals);
    bool plain = isfinite(v) && v != 0 && !tiny && fabs(v) < pow(10, cells);
    av_plot_number_in(out, v, DECIMALS, cells);
    for (size_t len = (size_t)cells + 1; plain && decimals >= 0 && len > (size_t)cells; decimals--) {
        len = (size_t)snprintf(out, AV_NUMBER_MAX, "%.*f", decimals, v);
    }
    if (tiny && v > 0 && strlen(out) > (size_t)cells) { /* 2e-9 may be 2e-15 */
        snprintf(out, AV_NUMBER_MAX, "<.01");
    }
}

const char *av_heads_number(char out[AV_NUMBER_MAX], const struct av_head *h, enum av_head_quantity quantity, int cells)
{
    double v = h->at[quantity];
    if (h->state != AV_HEAD_MEASURED) {
        snprintf(out, AV_NUMBER_MAX, "%s", h->state == AV_HEAD_WAITING ? "…" : "");
    } else if (av_heads_columns[quantity].percent) {
        av_panel_percent(out, v);
    } else {
        write_number(out, v, cells);
    }
    return out;
}

const char *av_heads_label(char out[AV_NUMBER_MAX], const struct av_head *h)
{
    snprintf(out, AV_NUMBER_MAX, "%zu.%zu", h->number, h->head);
    return out;
}

static int digits_of(size_t n)
{
    int digits = 1;
    for (; n >= 10; n /= 10) {
        digits++;
    }
    return digits;
}

int av_heads_label_w(const struct av_heads *h)
{
    size_t number = 0;
    for (size_t i = 0; i < h->count; i++) {
        number = h->heads[i].number > number ? h->heads[i].number : number;
    }
    return digits_of(number) + 1 + digits_of(h->widest - 1);
}

/* Is anything known of it? Without a row that counts it may still be bad. */
static bool judged(const struct av_head *h)
{
    return h->state == AV_HEAD_MEASURED && (h->rows > 0 || h->health != AV_HEAD_FINE);
}

struct av_fill av_heads_mark(const struct av_head *h)
{
    static const struct av_fill healths[AV_HEAD_HEALTHS] = {
        [AV_HEAD_FINE] = { AV_MARK_HOLDS, AV_ROLE_GOOD },
        [AV_HEAD_SPREAD] = { '~', AV_ROLE_WARN },
        [AV_HEAD_WARN] = { AV_MARK_ALARM, AV_ROLE_WARN },
        [AV_HEAD_BAD] = { AV_MARK_BROKEN, AV_ROLE_BAD },
    };
    static const struct av_fill unknown = { AV_MARK_UNKNOWN, AV_ROLE_DIM }, refused = { '?', AV_ROLE_BAD };
    return judged(h) ? healths[h->health] : h->state == AV_HEAD_REFUSED ? refused : unknown;
}

struct av_fill av_heads_severity_mark(enum av_severity severity)
{
    static const struct av_fill marks[] = {
        [AV_INFO] = { AV_MARK_UNKNOWN, AV_ROLE_DIM },
        [AV_WARN] = { AV_MARK_ALARM, AV_ROLE_WARN },
        [AV_BAD] = { AV_MARK_BROKEN, AV_ROLE_BAD },
    };
    return marks[severity];
}

struct av_heads_border av_heads_border(const struct av_head *h, bool ascii)
{
    static const struct av_heads_border borders[AV_HEAD_HEALTHS] = {
        [AV_HEAD_FINE] = { 0x2500, 0x2502, { { 0x250C, 0x2510 }, { 0x2514, 0x2518 } }, AV_ROLE_GOOD },
        [AV_HEAD_SPREAD] = { 0x2504, 0x2506, { { 0x250C, 0x2510 }, { 0x2514, 0x2518 } }, AV_ROLE_AXIS },
        [AV_HEAD_WARN] = { 0x2550, 0x2551, { { 0x2554, 0x2557 }, { 0x255A, 0x255D } }, AV_ROLE_WARN },
        [AV_HEAD_BAD] = { 0x2501, 0x2503, { { 0x250F, 0x2513 }, { 0x2517, 0x251B } }, AV_ROLE_BAD },
    };
    static const struct av_heads_border plain[AV_HEAD_HEALTHS] = {
        [AV_HEAD_FINE] = { '-', '|', { { '+', '+' }, { '+', '+' } }, AV_ROLE_GOOD },
        [AV_HEAD_SPREAD] = { '~', ':', { { '~', '~' }, { '~', '~' } }, AV_ROLE_AXIS },
        [AV_HEAD_WARN] = { '=', '!', { { '=', '=' }, { '=', '=' } }, AV_ROLE_WARN },
        [AV_HEAD_BAD] = { '#', '#', { { '#', '#' }, { '#', '#' } }, AV_ROLE_BAD },
    };
    static const struct av_heads_border unknown = { ' ', ' ', { { ' ', ' ' }, { ' ', ' ' } }, AV_ROLE_DIM };
    return !judged(h) ? unknown : ascii ? plain[h->health] : borders[h->health];
}

const char *av_heads_name(const struct av_head *h)
{
    return h->kind == AV_HEAD_PLAIN ? "" : av_head_rules[h->kind].name;
}

/* ---- The order ------------------------------------------------------------------- */

struct place {
    bool none;  /* it has no number, and comes last */
    double key; /* the smallest comes first */
    uint16_t at;
};

static int compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->none != y->none) {
        return x->none ? 1 : -1;
    }
    return x->key < y->key ? -1 : x->key > y->key ? 1 : x->at < y->at ? -1 : 1;
}

void av_heads_sort(struct av_heads_order *out, const struct av_heads *h, const struct av_heads_look *look)
{
    struct place places[AV_HEADS_MEASURED];
    for (size_t i = 0; i < h->count; i++) {
        double v = h->heads[i].state == AV_HEAD_MEASURED ? h->heads[i].at[look->quantity] : (double)NAN;
        double key = look->sorting == AV_HEADS_FALLING ? -v : v;
        places[i] = (struct place){ isnan(key), isnan(key) ? 0 : key, (uint16_t)i };
    }
    if (look->sorting != AV_HEADS_IN_PLACE) {
        qsort(places, h->count, sizeof *places, compare);
    }
    for (size_t i = 0; i < h->count; i++) {
        out->at[i] = places[i].at;
    }
    out->count = h->count;
}

/* What the heads of the layers are made of. */
struct made_of {
    bool any[AV_PARTS];
    size_t least_d, most_d; /* of those with queries and keys */
};

static struct made_of made_of(const struct av_heads *h)
{
    size_t sampled = (size_t)h->params.d_k;
    struct made_of m = { .any = { [AV_PART_Q] = h->source == NULL }, .least_d = sampled, .most_d = sampled };
    for (size_t i = 0; h->source != NULL && i < h->source->layer_count; i++) {
        const struct av_source_layer *l = &h->source->layers[i];
        enum av_part from = av_source_from(l, (enum av_from)h->params.from);
        bool first = from == AV_PART_Q && !m.any[AV_PART_Q];
        if (from == AV_PART_Q) {
            m.least_d = first || l->d < m.least_d ? l->d : m.least_d;
            m.most_d = first || l->d > m.most_d ? l->d : m.most_d;
        }
        m.any[from] = true;
    }
    return m;
}

/* "q·k × 0.125"; a power where d_k differs from layer to layer, no factor where a
 * variant has one in its place. */
static void product_text(char out[AV_PIECE_MAX], const struct av_params *p, const struct made_of *m)
{
    char number[AV_NUMBER_MAX];
    struct av_params at = *p;
    at.d_k = (int64_t)m->most_d;
    if (p->scale == 0 || (av_variant_flags(p->variant) & AV_VARIANT_MULTIPLIES) != 0) {
        snprintf(out, AV_PIECE_MAX, "q·k");
    } else if (m->least_d < m->most_d) {
        snprintf(out, AV_PIECE_MAX, "q·k × d_k^-%s", av_plot_short(number, p->exponent, 4));
    } else {
        snprintf(out, AV_PIECE_MAX, "q·k × %s", av_plot_short(number, av_params_alpha(&at), 4));
    }
}

size_t av_heads_way(char pieces[][AV_PIECE_MAX], const struct av_heads *h)
{
    const struct av_params *p = &h->params;
    const struct made_of m = made_of(h);
    char text[AV_VARIANT_TEXT_MAX], number[AV_NUMBER_MAX];
    size_t n = 0;
    if (m.any[AV_PART_Q]) {
        product_text(pieces[n++], p, &m);
    }
    if (m.any[AV_PART_SCORES]) {
        snprintf(pieces[n++], AV_PIECE_MAX, "scores of the file");
    }
    if (m.any[AV_PART_WEIGHTS]) {
        snprintf(pieces[n++], AV_PIECE_MAX, "weights of the file");
    }
    if (m.any[AV_PART_Q] || m.any[AV_PART_SCORES]) {
        snprintf(pieces[n++], AV_PIECE_MAX, "%s", av_variant_format(p->variant, text));
        snprintf(pieces[n++], AV_PIECE_MAX, "T %s", av_plot_short(number, p->temperature, 4));
    }
    return n;
}
