/* file_entries.c - moments of the entries of Q and K that came from files. */
#include "file_entries.h"

#include <math.h>

enum { ENTRIES_MOST = 1 << 16, RUN = 256 };

static size_t rows_of(size_t n, size_t d)
{
    size_t fit = ENTRIES_MOST / d;
    return fit < 1 ? 1 : fit < n ? fit : n;
}

static double entry(const struct av_entries *m, size_t row, size_t column)
{
    size_t at = row * m->pitch + column;
    return m->f32 != NULL ? (double)m->f32[at] : m->f64[at];
}

/* A matrix less its mean, over its standard deviation. */
struct scaled {
    struct av_entries entries;
    double mean, std;
};

/* Adds the entries of the first rows of q, times those of k unless it is NULL. */
static void add_rows(struct av_moments *m, const struct scaled *q, const struct scaled *k, size_t rows, size_t d)
{
    for (size_t i = 0; i < rows; i++) {
        for (size_t from = 0; from < d; from += RUN) {
            double x[RUN];
            size_t n = d - from < RUN ? d - from : RUN;
            for (size_t c = 0; c < n; c++) {
                x[c] = (entry(&q->entries, i, from + c) - q->mean) / q->std;
                x[c] *= k != NULL ? (entry(&k->entries, i, from + c) - k->mean) / k->std : 1;
            }
            av_moments_add(m, x, n);
        }
    }
}

static bool all_finite(const struct av_not_finite *bad)
{
    return bad->nan_count == 0 && bad->inf_count == 0;
}

void av_file_entries(struct av_entry_moments *out, const struct av_snapshot *s)
{
    const struct av_moments none = AV_MOMENTS_INIT;
    *out = (struct av_entry_moments){ none, none, none, true };
    const struct av_loaded_head *head = s->loaded;
    if (!all_finite(&head->q_bad) || !all_finite(&head->k_bad)) {
        return;
    }
    struct scaled q = { head->q, 0, 1 };
    struct scaled k = { head->k, 0, 1 };
    size_t d = head->d;
    size_t rows_q = rows_of(head->n_q, d);
    size_t rows_k = rows_of(head->n_k, d);
    add_rows(&out->q, &q, NULL, rows_q, d);
    add_rows(&out->k, &k, NULL, rows_k, d);
    q.mean = out->q.mean;
    k.mean = out->k.mean;
    q.std = av_moments_std(&out->q);
    k.std = av_moments_std(&out->k);
    if (q.std > 0 && k.std > 0) {
        add_rows(&out->product, &q, &k, rows_q < rows_k ? rows_q : rows_k, d);
    }
}
