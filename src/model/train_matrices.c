/* train_matrices.c - what a variant of the group `training` does to learned matrices. */
#include "train_matrices.h"

#include "attnviz/mem.h"

#include <math.h>
#include <string.h>

enum { FOLLOW_ROUNDS = 8, BEGIN_WORK = 1 << 22 /* multiply-adds for a matrix, some ms, at most */ };

#define SETTLED 1e-15 /* relative change of sigma in a round from which on it stands */

/* ---- Memory --------------------------------------------------------------------- */

double av_spectra_bytes(const struct av_attention_sizes *s)
{
    return (double)sizeof(double) * AV_MATRICES * ((double)s->d_k + (double)s->d_model);
}

enum av_status av_spectra_new(struct av_spectra *m, const struct av_attention_sizes *s, struct av_error *e)
{
    *m = (struct av_spectra){
        .d_k = s->d_k,
        .d_model = s->d_model,
        .pitch = s->model_pitch,
        .u = av_alloc(AV_MATRICES * s->d_k, sizeof(double)),
        .v = av_alloc(AV_MATRICES * s->d_model, sizeof(double)),
    };
    return m->u != NULL && m->v != NULL ? AV_OK : av_fail_nomem(e, "singular vectors");
}

void av_spectra_free(struct av_spectra *m)
{
    av_free(m->u);
    av_free(m->v);
    memset(m, 0, sizeof *m);
}

/* ---- Power iteration -------------------------------------------------------------- */

/* One matrix and its vectors. */
struct matrix {
    const float *w;
    size_t rows, columns, pitch;
    double *u, *v;
};

static struct matrix matrix_of(const struct av_spectra *m, const float *w, size_t which)
{
    return (struct matrix){ w + which * m->d_k * m->pitch, m->d_k, m->d_model, m->pitch, m->u + which * m->d_k,
                            m->v + which * m->d_model };
}

/* Makes x of length 1; returns its length before. */
static double normalise(double *x, size_t n)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        squares += x[i] * x[i];
    }
    const double length = sqrt(squares);
    for (size_t i = 0; i < n && length > 0; i++) {
        x[i] /= length;
    }
    return length;
}

/* v = W^T u and u = W v, both made of length 1; returns |W v|. */
static double iterate(const struct matrix *m)
{
    memset(m->v, 0, m->columns * sizeof *m->v);
    for (size_t r = 0; r < m->rows; r++) {
        for (size_t c = 0; c < m->columns; c++) {
            m->v[c] += (double)m->w[r * m->pitch + c] * m->u[r];
        }
    }
    normalise(m->v, m->columns);
    for (size_t r = 0; r < m->rows; r++) {
        double sum = 0;
        for (size_t c = 0; c < m->columns; c++) {
            sum += (double)m->w[r * m->pitch + c] * m->v[c];
        }
        m->u[r] = sum;
    }
    return normalise(m->u, m->rows);
}

/* Rows of different sizes at the start: orthogonal to the vector wanted is no
 * matrix that was drawn. */
void av_spectra_begin(struct av_spectra *m, const float *w)
{
    const size_t rounds = BEGIN_WORK / (2 * m->d_k * m->d_model);
    for (size_t which = 0; which < AV_MATRICES; which++) {
        const struct matrix one = matrix_of(m, w, which);
        for (size_t r = 0; r < one.rows; r++) {
            one.u[r] = 1 / (1 + (double)r);
        }
        double sigma = iterate(&one), was = 0;
        for (size_t round = 0; round < rounds && fabs(sigma - was) > SETTLED * sigma; round++) {
            was = sigma;
            sigma = iterate(&one);
        }
        m->sigma[which] = sigma;
    }
}

void av_spectra_follow(struct av_spectra *m, const float *w)
{
    for (size_t which = 0; which < AV_MATRICES; which++) {
        const struct matrix one = matrix_of(m, w, which);
        for (int round = 0; round < FOLLOW_ROUNDS; round++) {
            m->sigma[which] = iterate(&one);
        }
    }
}

/* ---- Both ways ---------------------------------------------------------------------- */

void av_spectra_apply(const struct av_spectra *m, float *out, const float *w, const double gamma[AV_MATRICES])
{
    const size_t size = m->d_k * m->pitch;
    for (size_t which = 0; which < AV_MATRICES; which++) {
        const float factor = (float)(gamma[which] / m->sigma[which]);
        for (size_t i = which * size; i < (which + 1) * size; i++) {
            out[i] = factor * w[i];
        }
    }
}

void av_spectra_backward(const struct av_spectra *m, float *d_w, double d_gamma[AV_MATRICES], const float *w,
                         const double gamma[AV_MATRICES])
{
    const size_t size = m->d_k * m->pitch;
    for (size_t which = 0; which < AV_MATRICES; which++) {
        const struct matrix one = matrix_of(m, w, which);
        const double factor = gamma[which] / m->sigma[which];
        float *g = d_w + which * size;
        double product = 0;
        for (size_t i = 0; i < size; i++) {
            product += (double)g[i] * (double)one.w[i];
        }
        d_gamma[which] = product / m->sigma[which];
        for (size_t r = 0; r < one.rows; r++) {
            const double along = d_gamma[which] * one.u[r];
            for (size_t c = 0; c < one.columns; c++) {
                float *at = &g[r * m->pitch + c];
                *at = (float)(factor * ((double)*at - along * one.v[c]));
            }
        }
    }
}

/* ---- Clipping ------------------------------------------------------------------------- */

bool av_qk_clip(float *w, const struct av_attention_sizes *s, double largest, double tau)
{
    if (!(largest > tau)) {
        return false;
    }
    const float factor = (float)sqrt(tau / largest);
    const size_t n = 2 * s->d_k * s->model_pitch;
    for (size_t i = 0; i < n; i++) {
        w[i] *= factor;
    }
    return true;
}
