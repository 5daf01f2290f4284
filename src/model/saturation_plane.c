/* saturation_plane.c - normalised entropy over d_k and temperature, coarse to
 * fine. */
#include "saturation_state.h"

#include <math.h>
#include <string.h>

void av_saturation_plane_forget(struct av_saturation_state *s, bool scale)
{
    struct av_saturation_plane *plane = &s->result.plane[scale];
    memset(s->cell_known[scale], 0, sizeof s->cell_known[scale]);
    plane->stride = 0;
    for (size_t j = 0; j < AV_SATURATION_ROWS; j++) {
        for (size_t i = 0; i < AV_SATURATION_COLUMNS; i++) {
            plane->value[j][i] = (double)NAN;
        }
    }
}

size_t av_saturation_plane_next(const struct av_saturation_state *s, bool scale, size_t stride)
{
    for (size_t i = 0; i < AV_SATURATION_COLUMNS; i += stride) {
        for (size_t j = 0; j < AV_SATURATION_ROWS; j += stride) {
            if (!s->cell_known[scale][j][i]) {
                return i;
            }
        }
    }
    return AV_SATURATION_COLUMNS;
}

/* Mean normalised entropy of the measured rows at the d of the scores. */
static double measured(struct av_saturation_state *s, bool scale, double temperature)
{
    struct av_saturation_buffers *b = &s->buffers;
    double multiplier = av_saturation_multiplier(&s->result.params, scale, (double)s->scores_d) / temperature;
    double sum = 0;
    size_t rows = 0;
    for (size_t r = 0; r < b->rows; r++) {
        size_t len = av_saturation_row_length(s, r);
        if (len >= 2) {
            struct av_rowstats row;
            s->kernels->softmax(NULL, b->scores + r * b->n_k, multiplier, len, &row);
            sum += row.entropy / log((double)len);
            rows++;
        }
    }
    return rows > 0 ? sum / (double)rows : (double)NAN;
}

static double cell(struct av_saturation_state *s, bool scale, size_t d, double temperature)
{
    struct av_theory_means means;
    if (!s->result.has_theory) {
        return measured(s, scale, temperature);
    }
    av_saturation_means(s, scale, d, temperature, &means);
    return means.entropy_norm;
}

double av_saturation_cell_cost(const struct av_saturation_state *s)
{
    const struct av_saturation_buffers *b = &s->buffers;
    return s->result.has_theory ? AV_SATURATION_NS_THEORY : AV_SATURATION_NS_SOFTMAX * (double)(b->rows * b->n_k);
}

/* A cell stands for those about it that are not computed yet: up to half a
 * stride to either side. */
static void spread(struct av_saturation_state *s, bool scale, size_t row, size_t column, size_t stride)
{
    struct av_saturation_plane *plane = &s->result.plane[scale];
    double v = plane->value[row][column];
    size_t half = stride / 2;
    for (size_t j = row > half ? row - half : 0; j <= row + half && j < AV_SATURATION_ROWS; j++) {
        for (size_t i = column > half ? column - half : 0; i <= column + half && i < AV_SATURATION_COLUMNS; i++) {
            if (!s->cell_known[scale][j][i]) {
                plane->value[j][i] = v;
            }
        }
    }
}

double av_saturation_plane_column(struct av_saturation_state *s, bool scale, size_t stride, size_t column)
{
    struct av_saturation_plane *plane = &s->result.plane[scale];
    size_t d = av_saturation_d(column);
    if (!s->result.has_theory && s->scores_d != d) {
        return av_saturation_scores(s, d);
    }
    double cost = 0;
    size_t j = 0;
    for (; j < AV_SATURATION_ROWS && cost < AV_SATURATION_UNIT; j += stride) {
        if (!s->cell_known[scale][j][column]) {
            plane->value[j][column] = cell(s, scale, d, av_saturation_temperature(j));
            s->cell_known[scale][j][column] = true;
            spread(s, scale, j, column, stride);
            cost += av_saturation_cell_cost(s);
        }
    }
    if (av_saturation_plane_next(s, scale, stride) == AV_SATURATION_COLUMNS) {
        plane->stride = (int)stride;
    }
    return cost;
}
