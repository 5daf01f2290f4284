/* training.h - what the study `training` has recorded of the twin runs.
 *
 * A record is what train.h measures, in two series: means over each epoch, and
 * each of the first AV_TRAIN_FIRST_STEPS steps. Numbers of epochs and of steps
 * count from 1. The same parameters give the same bits as train.h alone does.
 *
 * What is kept is bounded: a curve has at most AV_TRAINING_POINTS records, the
 * history of the weights at most AV_TRAINING_MOMENTS moments of each series and
 * AV_TRAINING_BYTES_MAX in all. When one is full, every second entry goes, and
 * from then on only every second one is added: entry i of those kept is number
 * (i + 1) * stride. */
#ifndef ATTNVIZ_TRAINING_H
#define ATTNVIZ_TRAINING_H

#include "attnviz/train.h"

enum {
    AV_TRAINING_POINTS = 1024,
    AV_TRAINING_MOMENTS = 512,
    AV_TRAINING_BYTES_MAX = 32 << 20,
    AV_TRAINING_LOOK = 10 /* steps from one look at the present weights to the next, after the first steps */
};

enum av_training_series { AV_TRAINING_EPOCHS, AV_TRAINING_STEPS, AV_TRAINING_SERIES };

/* What raises an alarm. The band of the gradient of w_q and w_k is a rule of
 * thumb: a healthy run may trip it. */
enum av_training_alarm {
    AV_TRAINING_LARGEST, /* largest weight above AV_LARGEST_ALARM (snapshot.h) */
    AV_TRAINING_LOW,     /* gradient below AV_TRAINING_BAND_LO */
    AV_TRAINING_HIGH,    /* gradient above AV_TRAINING_BAND_HI */
    AV_TRAINING_ALARMS
};

#define AV_TRAINING_BAND_LO 1e-3
#define AV_TRAINING_BAND_HI 1e-1

bool av_training_fires(enum av_training_alarm alarm, const struct av_train_record *record);

struct av_training_curve {
    size_t count, stride;
    const struct av_train_record *at; /* [count] */
};

/* Where an alarm fired, over all records, kept or not. */
struct av_training_fired {
    size_t count;
    size_t first, last; /* numbers; 0: never */
};

struct av_training_run {
    bool asked; /* false: there is no such run */
    enum av_train_state state;
    uint64_t steps;                                    /* when diverged, `steps` + 1 is the step that failed */
    size_t ended[AV_TRAINING_SERIES];                  /* whole epochs, and first steps, so far */
    struct av_train_record latest[AV_TRAINING_SERIES]; /* of number ended; unset while that is 0 */
    struct av_training_curve curves[AV_TRAINING_SERIES];
    struct av_training_fired fired[AV_TRAINING_SERIES][AV_TRAINING_ALARMS];
    double scalars[AV_TRAIN_SCALARS]; /* as in struct av_train_run */
    uint64_t clipped;
};

/* An experiment before this one, for comparison. */
struct av_training_ghost {
    bool on;
    struct av_params params;
    struct av_training_curve curves[AV_TWINS][AV_TRAINING_SERIES];
};

/* Weights [seq_len, seq_len], a row is a query, of one and the same sequence. */
struct av_training_moments {
    size_t count, stride, capacity;
    float *weights; /* [capacity, AV_TWINS, seq_len, seq_len] */
};

struct av_training {
    struct av_params params;
    struct av_train_config config;
    struct av_training_run runs[AV_TWINS];
    uint64_t steps, total; /* done by the run that is ahead; all */
    size_t epoch_steps;
    bool over; /* no run goes on */

    /* The expected loss of an output of 0: the mean square of the target's
     * entries, from how the task makes them. */
    double zero_loss;

    float *looked; /* [AV_TWINS, seq_len, seq_len]: the weights last looked at */
    uint64_t looked_steps;
    struct av_training_moments moments[AV_TRAINING_SERIES];

    /* The experiment before. One that was given up before a tenth of its steps
     * takes no other's place. */
    struct av_training_ghost ghost;
};

/* The record with that number, of number 0 the latest; NULL when there is none
 * or it is not kept. */
const struct av_train_record *av_training_record(const struct av_training *t, enum av_training_series series,
                                                 enum av_twin twin, size_t number);

/* The weights of a run that was asked for at that number: after the epoch, or
 * as the step found them; of number 0 those last looked at. Where that moment
 * is not kept, the last one before it. *of: which one it is, a number of the
 * series, for those last looked at the steps that were done. NULL: none. */
const float *av_training_weights(const struct av_training *t, enum av_training_series series, enum av_twin twin,
                                 size_t number, size_t *of);

/* What can be said of the runs so far, each line by a rule from the records:
 * how the losses compare, what an alarm's share is, where a run diverged. */
enum { AV_TRAINING_FINDINGS = 12, AV_TRAINING_FINDING_MAX = 192 };
struct av_training_finding {
    char text[AV_TRAINING_FINDING_MAX];
    bool alarm; /* it tells of something that went wrong */
};

/* Fills in lines, the most telling first; returns their number. */
size_t av_training_findings(const struct av_training *t, struct av_training_finding lines[AV_TRAINING_FINDINGS]);

#endif
