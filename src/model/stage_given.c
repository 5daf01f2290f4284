/* stage_given.c - WEIGHTS of a head whose weights a file holds. */
#include "diagnosis_state.h"
#include "given_rows.h"
#include "stages.h"

#include <math.h>
#include <string.h>

/* Is the row what a softmax gives, but for rounding? */
static bool on_simplex(const double *w, size_t len, double sum)
{
    for (size_t j = 0; j < len; j++) {
        if (w[j] < 0) {
            return false;
        }
    }
    return av_diagnosis_is_one(sum, len);
}

/* The weights of row i that the mask leaves, 0 behind them; NaN if one is not finite. */
static void make_row(struct av_model *m, size_t i, const struct av_given_room *room)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    size_t len = av_row_length((enum av_mask)s->params.mask, i, s->n_q, s->n_k);
    double *w = b->weights + i * s->n_k;
    memcpy(w, m->head.given + i * s->n_k, len * sizeof *w);
    memset(w + len, 0, (s->n_k - len) * sizeof *w);
    bool valid = av_given_weights(&b->rows[i], w, len, room);
    b->invalid[i] = !valid;
    if (valid && len > 0) {
        s->simplex = s->simplex && on_simplex(w, len, b->rows[i].row_sum);
    }
    for (size_t j = 0; !valid && j < len; j++) {
        w[j] = (double)NAN;
    }
}

void av_stage_given_rows(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    const struct av_given_room room = { b->zeros, b->form, b->dq_scratch };
    s->simplex = true;
    for (size_t i = 0; i < s->n_q; i++) {
        make_row(m, i, &room);
    }
    s->runs[AV_STAGE_WEIGHTS]++;
}
