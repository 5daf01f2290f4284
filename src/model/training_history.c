/* training_history.c - what is kept of a training experiment, within bounds. */
#include "training_history.h"

#include "attnviz/mem.h"
#include "attnviz/snapshot.h"

#include <string.h>

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- Lists that are thinned ---------------------------------------------------- */

/* Of entries number stride, 2 stride, 3 stride ... those of even multiples stay. */
static void thin(struct av_thinned *list, char *entries, size_t size)
{
    for (size_t i = 1; i < list->count; i += 2) {
        memcpy(entries + i / 2 * size, entries + i * size, size);
    }
    list->count /= 2;
    list->stride *= 2;
}

void *av_thinned_add(struct av_thinned *list, size_t number, void *entries, size_t size)
{
    if (list->capacity == 0 || number % list->stride != 0) {
        return NULL;
    }
    if (list->count == list->capacity) {
        thin(list, entries, size);
    }
    return number % list->stride == 0 ? (char *)entries + list->count++ * size : NULL;
}

/* ---- Weights ------------------------------------------------------------------- */

/* Entries of one moment: both matrices. */
static size_t moment_entries(const struct av_training *t)
{
    return AV_TWINS * t->config.seq_len * t->config.seq_len;
}

void av_training_moments_free(struct av_training *t)
{
    av_free(t->looked);
    t->looked = NULL;
    for (int i = 0; i < AV_TRAINING_SERIES; i++) {
        av_free(t->moments[i].weights);
        t->moments[i] = (struct av_training_moments){ .stride = 1 };
    }
}

enum av_status av_training_moments_make(struct av_training *t, struct av_error *e)
{
    const size_t size = moment_entries(t);
    const size_t all = AV_TRAINING_BYTES_MAX / (size * sizeof(float));
    const size_t half = all > 0 ? (all - 1) / 2 : 0; /* one is the look at the present */
    const size_t wanted[AV_TRAINING_SERIES] = {
        [AV_TRAINING_EPOCHS] = smaller(t->config.epochs, AV_TRAINING_MOMENTS),
        [AV_TRAINING_STEPS] = (size_t)(t->total < AV_TRAIN_FIRST_STEPS ? t->total : AV_TRAIN_FIRST_STEPS),
    };
    av_training_moments_free(t);
    t->looked = av_alloc(size, sizeof *t->looked);
    bool made = t->looked != NULL;
    for (int i = 0; i < AV_TRAINING_SERIES; i++) {
        struct av_training_moments *m = &t->moments[i];
        m->capacity = smaller(wanted[i], half);
        m->weights = av_alloc(m->capacity, size * sizeof *m->weights);
        made = made && m->weights != NULL;
    }
    if (!made) {
        av_training_moments_free(t);
        return av_fail_nomem(e, "the history of the weights");
    }
    return AV_OK;
}

void av_training_moments_add(struct av_training *t, enum av_training_series series, size_t number)
{
    struct av_training_moments *m = &t->moments[series];
    struct av_thinned list = { m->count, m->stride, m->capacity };
    const size_t bytes = moment_entries(t) * sizeof *m->weights;
    void *place = av_thinned_add(&list, number, m->weights, bytes);
    if (place != NULL) {
        memcpy(place, t->looked, bytes);
    }
    m->count = list.count;
    m->stride = list.stride;
}

const float *av_training_weights(const struct av_training *t, enum av_training_series series, enum av_twin twin,
                                 size_t number, size_t *of)
{
    const struct av_training_moments *m = &t->moments[series];
    const size_t matrix = t->config.seq_len * t->config.seq_len;
    const size_t before = smaller(number / m->stride, m->count); /* moments up to that number */
    if (!t->runs[twin].asked || t->looked == NULL || (number > 0 && before == 0)) {
        return NULL;
    }
    *of = number > 0 ? before * m->stride : (size_t)t->looked_steps;
    return number > 0 ? m->weights + ((before - 1) * AV_TWINS + twin) * matrix : t->looked + twin * matrix;
}

/* ---- Curves -------------------------------------------------------------------- */

bool av_training_fires(enum av_training_alarm alarm, const struct av_train_record *record)
{
    const double grad = record->at[AV_TRAIN_GRAD_QK_NORM];
    const bool fires[AV_TRAINING_ALARMS] = {
        [AV_TRAINING_LARGEST] = record->at[AV_TRAIN_MAX_WEIGHT] > AV_LARGEST_ALARM,
        [AV_TRAINING_LOW] = grad<AV_TRAINING_BAND_LO, [AV_TRAINING_HIGH] = grad> AV_TRAINING_BAND_HI,
    };
    return fires[alarm];
}

/* A record more: the latest, and its alarms. */
static void note(struct av_training_run *r, enum av_training_series series, const struct av_train_record *record)
{
    const size_t number = ++r->ended[series];
    r->latest[series] = *record;
    for (int i = 0; i < AV_TRAINING_ALARMS; i++) {
        struct av_training_fired *f = &r->fired[series][i];
        if (av_training_fires((enum av_training_alarm)i, record)) {
            f->count++;
            f->first = f->first > 0 ? f->first : number;
            f->last = number;
        }
    }
}

static void keep_epoch(struct av_training_run *r, struct av_training_points *points)
{
    struct av_training_curve *curve = &r->curves[AV_TRAINING_EPOCHS];
    struct av_thinned list = { curve->count, curve->stride, AV_TRAINING_POINTS };
    struct av_train_record *place = av_thinned_add(&list, r->ended[AV_TRAINING_EPOCHS], points->at, sizeof *points->at);
    if (place != NULL) {
        *place = r->latest[AV_TRAINING_EPOCHS];
    }
    *curve = (struct av_training_curve){ list.count, list.stride, points->at };
}

void av_training_follow(struct av_training *t, struct av_training_store *store, enum av_twin twin,
                        const struct av_train_run *run)
{
    struct av_training_run *r = &t->runs[twin];
    r->state = run->state;
    r->steps = run->steps;
    memcpy(r->scalars, run->scalars, sizeof r->scalars);
    r->clipped = run->clipped;
    while (r->ended[AV_TRAINING_STEPS] < run->first_count) {
        note(r, AV_TRAINING_STEPS, &run->first[r->ended[AV_TRAINING_STEPS]]);
    }
    r->curves[AV_TRAINING_STEPS] = (struct av_training_curve){ run->first_count, 1, run->first };
    while (r->ended[AV_TRAINING_EPOCHS] < run->epoch_count) {
        note(r, AV_TRAINING_EPOCHS, &run->epochs[r->ended[AV_TRAINING_EPOCHS]]);
        keep_epoch(r, &store->epochs[twin]);
    }
    t->steps = run->steps > t->steps ? run->steps : t->steps;
}

const struct av_train_record *av_training_record(const struct av_training *t, enum av_training_series series,
                                                 enum av_twin twin, size_t number)
{
    const struct av_training_run *r = &t->runs[twin];
    const struct av_training_curve *curve = &r->curves[series];
    if (number == 0 || number == r->ended[series]) {
        return r->ended[series] > 0 ? &r->latest[series] : NULL;
    }
    const bool kept = curve->stride > 0 && number % curve->stride == 0 && number / curve->stride <= curve->count;
    return kept ? &curve->at[number / curve->stride - 1] : NULL;
}

/* ---- The experiment before ------------------------------------------------------- */

enum { LEAST_PART = 10 }; /* of all steps; with less done a ghost is not replaced */

void av_training_leave(struct av_training *t, struct av_training_store *store)
{
    if (t->steps == 0 || (t->ghost.on && t->steps * LEAST_PART < t->total)) {
        return;
    }
    t->ghost.on = true;
    t->ghost.params = t->params;
    for (int twin = 0; twin < AV_TWINS; twin++) {
        for (int series = 0; series < AV_TRAINING_SERIES; series++) {
            const struct av_training_curve *from = &t->runs[twin].curves[series];
            struct av_training_points *to = &store->ghost[twin][series];
            if (from->count > 0) {
                memcpy(to->at, from->at, from->count * sizeof *to->at);
            }
            t->ghost.curves[twin][series] = (struct av_training_curve){ from->count, from->stride, to->at };
        }
    }
}
