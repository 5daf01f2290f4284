/* diagnosis_hidden.c - keys that the mask leaves and that have no weight all the same: by which other mask? */
#include "diagnosis_state.h"
#include "score_stats.h"

#include <math.h>
#include <stdio.h>

#define CLEAR_UNDERFLOW 64 /* times the smallest number of the weights' type: no softmax loses that */
#define CLEAR_RESIDUALS 4  /* standard deviations that a logit lies above the lowest one with weight */
#define HIDDEN_SHARE 1e-3  /* of the weight that q.k gives */
enum { SHAPE_ROWS = 4 };   /* fewer have any shape */
enum { EDGE_TEXT = AV_SHAPE_TEXT / 2 - 1 };

/* ---- Is there another mask? ------------------------------------------------------------- */

static bool follows(const struct av_slope *line)
{
    return line->r2 >= AV_SLOPE_GOOD_R2 && line->error <= AV_SLOPE_UNSURE * fabs(line->slope);
}

bool av_diagnosis_may_hide(const struct av_diagnoser *d)
{
    const struct av_slope line = av_slope_of(&d->slope);
    return d->result.of_file && av_diagnosis_has(d, AV_PART_WEIGHTS) && d->weight.off == 0 && d->weight.negative == 0 &&
           d->weight.zeros > 0 && follows(&line);
}

size_t av_diagnosis_hidden_query(const struct av_diagnoser *d, size_t r)
{
    return av_diagnosis_query(d, (2 * r + 1) * d->rows / (2 * d->block));
}

void av_diagnosis_add_hidden(struct av_diagnoser *d, size_t query, const double *dots)
{
    struct av_hidden_sums *s = &d->hidden;
    const struct av_slope line = av_slope_of(&d->slope);
    const double *w = d->weights;
    size_t n = av_diagnosis_length(d, query);
    double most = -(double)INFINITY, lowest = (double)INFINITY, sum = 0;
    if (n < 2 || !av_all_finite(dots, n) || !av_all_finite(w, n) || av_diagnosis_keyless(d, query)) {
        return;
    }
    for (size_t j = 0; j < n; j++) {
        most = fmax(most, line.slope * dots[j]);
        lowest = w[j] > 0 ? fmin(lowest, line.slope * dots[j]) : lowest;
    }
    for (size_t j = 0; j < n; j++) {
        sum += exp(line.slope * dots[j] - most);
    }
    s->rows++;
    for (size_t j = 0; j < n; j++) {
        double p = exp(line.slope * dots[j] - most) / sum;
        if (w[j] == 0 && p >= CLEAR_UNDERFLOW * av_diagnosis_tiny(&d->weight)) {
            s->keys++;
            s->share += p;
            s->above += line.slope * dots[j] > lowest + CLEAR_RESIDUALS * line.residual ? p : 0;
        }
    }
}

/* ---- Which? ------------------------------------------------------------------------------- */

void av_diagnosis_add_extent(struct av_diagnoser *d, size_t query)
{
    struct av_extent *x = &d->hidden.extents[query];
    const double *w = d->weights;
    size_t positive = 0;
    for (size_t j = 0; j < d->at->n_k; j++) {
        if (w[j] > 0) {
            x->first = positive++ == 0 ? j : x->first;
            x->end = j + 1;
        }
    }
    d->hidden.gaps = d->hidden.gaps || positive < x->end - x->first;
}

/* Keys first <= j < end, and lowest <= j - i <= highest, where a limit is there; i: the query's place
 * among the keys. */
struct shape {
    size_t first, end;
    bool has_lowest, has_highest;
    long long lowest, highest;
};

static long long place_of(const struct av_diagnoser *d, size_t query)
{
    return (long long)(d->at->n_k + query) - (long long)d->at->n_q;
}

/* By the narrowest limits that are the same for all keys, and the rows that do not reach
 * them: the first of those behind the former, the last of those before the latter. */
static struct shape shape_of(const struct av_diagnoser *d)
{
    const struct av_extent *x = d->hidden.extents;
    struct shape s = { .first = d->at->n_k };
    for (size_t i = 0; i < d->at->n_q; i++) {
        s.first = x[i].end > 0 && x[i].first < s.first ? x[i].first : s.first;
        s.end = x[i].end > s.end ? x[i].end : s.end;
    }
    for (size_t i = 0; i < d->at->n_q; i++) {
        if (x[i].end > 0 && x[i].first > s.first && !s.has_lowest) {
            s.has_lowest = true;
            s.lowest = (long long)x[i].first - place_of(d, i);
        }
        if (x[i].end > 0 && x[i].end < s.end) {
            s.has_highest = true;
            s.highest = (long long)x[i].end - 1 - place_of(d, i);
        }
    }
    return s;
}

/* Is it that of all rows but those that it leaves no key? */
static bool fits(const struct av_diagnoser *d, const struct shape *s)
{
    size_t rows = 0;
    for (size_t i = 0; i < d->at->n_q; i++) {
        const struct av_extent *x = &d->hidden.extents[i];
        long long first = (long long)s->first, end = (long long)s->end, at = place_of(d, i);
        first = s->has_lowest && at + s->lowest > first ? at + s->lowest : first;
        end = s->has_highest && at + s->highest + 1 < end ? at + s->highest + 1 : end;
        if (x->end > 0 && first < end) {
            if ((long long)x->first != first || (long long)x->end != end) {
                return false;
            }
            rows++;
        }
    }
    return rows >= SHAPE_ROWS && !d->hidden.gaps;
}

/* How far from its query a key may be. */
static void name_band(char out[EDGE_TEXT], const struct shape *s)
{
    if (s->has_lowest && s->has_highest && s->highest == 0) {
        snprintf(out, EDGE_TEXT, "a window of %lld keys up to the query", 1 - s->lowest);
    } else if (s->has_lowest && s->has_highest) {
        snprintf(out, EDGE_TEXT, "a window, i%+lld <= j <= i%+lld", s->lowest, s->highest);
    } else if (s->has_lowest) {
        snprintf(out, EDGE_TEXT, s->lowest == 0 ? "upside-down, j >= i" : "j >= i%+lld", s->lowest);
    } else if (s->has_highest && s->highest == -1) {
        snprintf(out, EDGE_TEXT, "strictly causal, j < i");
    } else if (s->has_highest && s->highest != 0) {
        snprintf(out, EDGE_TEXT, "causal, off by %s, j <= i%+lld", s->highest == 1 ? "one" : "some", s->highest);
    }
}

/* Keys that no row sees, where the band does not say so already. */
static void name_padding(char out[EDGE_TEXT], const struct av_diagnoser *d, const struct shape *s)
{
    size_t n = d->at->n_k;
    bool before = s->first > 0 && !(s->has_lowest && place_of(d, 0) + s->lowest == (long long)s->first);
    bool behind = s->end < n && !(s->has_highest && (long long)n + s->highest == (long long)s->end);
    if (before && behind) {
        snprintf(out, EDGE_TEXT, "padding, keys before %zu and from %zu on", s->first, s->end);
    } else if (before) {
        snprintf(out, EDGE_TEXT, "padding, keys before %zu", s->first);
    } else if (behind) {
        snprintf(out, EDGE_TEXT, "padding, keys %zu and on", s->end);
    }
}

bool av_diagnosis_name_shape(char out[AV_SHAPE_TEXT], const struct av_diagnoser *d)
{
    const struct shape s = shape_of(d);
    char band[EDGE_TEXT] = "", padding[EDGE_TEXT] = "";
    out[0] = '\0';
    if (!fits(d, &s)) {
        return false;
    }
    name_band(band, &s);
    name_padding(padding, d, &s);
    snprintf(out, AV_SHAPE_TEXT, "%s%s%s", band, band[0] != '\0' && padding[0] != '\0' ? "; " : "", padding);
    return out[0] != '\0';
}

void av_diagnosis_find_hidden(struct av_diagnoser *d)
{
    const struct av_evidence *v = &d->result.evidence;
    char shape[AV_SHAPE_TEXT];
    if (d->hidden.rows == 0 || !(d->hidden.above > HIDDEN_SHARE * (double)d->hidden.rows) ||
        av_diagnosis_found(&d->result, "softmax_twice")) {
        return;
    }
    if (!av_diagnosis_name_shape(shape, d)) {
        snprintf(shape, sizeof shape, "padding, a window, keys of other sequences");
    }
    av_diagnosis_add(
        &d->result, "mask_other", AV_WARN,
        "keys that the mask leaves hold no weight: %.3g a row, to which q.k gives %.2g%%; another mask than "
        "%s (%s); numbers of q.k are not of these rows: --set from=weights shows the file's own",
        v->hidden_keys, 100 * v->hidden_share, av_diagnosis_mask(d) == AV_MASK_CAUSAL ? "causal" : "none", shape);
}
