/* panel_training_table.c - the values of both runs at the cursor. */
#include "attnviz/snapshot.h"
#include "panels_training.h"

#include <stdio.h>

enum { NAME_W = 16, WIDEST = 11, SURROUNDINGS = 6 }; /* and a blank at the left */

/* The column behind a run's values, and the digits that its width has room for. */
static int end_of(struct av_rect r, enum av_twin twin)
{
    int w = (r.w - NAME_W) / AV_TWINS;
    w = w < WIDEST ? w : WIDEST;
    return r.x + NAME_W + ((int)twin + 1) * w - 1;
}

static int digits_of(struct av_rect r)
{
    const int w = (r.w - NAME_W) / AV_TWINS; /* a sign, a point, a power, an alarm */
    return w < WIDEST ? w - SURROUNDINGS : WIDEST - SURROUNDINGS;
}

static const char *const NAMES[AV_TRAIN_FIELDS] = {
    [AV_TRAIN_LOSS] = "loss",
    [AV_TRAIN_GRAD_NORM] = "gradient, all",
    [AV_TRAIN_GRAD_QK_NORM] = "grad w_q, w_k",
    [AV_TRAIN_ENTROPY_NORM] = "entropy / ln n",
    [AV_TRAIN_MAX_WEIGHT] = "largest weight",
    [AV_TRAIN_LOGIT_STD] = "logit std",
    [AV_TRAIN_ALPHA] = "alpha",
    [AV_TRAIN_D_Q_MEAN] = "|d_q| mean",
    [AV_TRAIN_D_Q_MEDIAN] = "|d_q| median",
    [AV_TRAIN_D_K_MEAN] = "|d_k| mean",
    [AV_TRAIN_D_K_MEDIAN] = "|d_k| median",
    [AV_TRAIN_Q_MEAN] = "q, mean",
    [AV_TRAIN_Q_VAR] = "q, variance",
    [AV_TRAIN_K_MEAN] = "k, mean",
    [AV_TRAIN_K_VAR] = "k, variance",
    [AV_TRAIN_ROW_SUM] = "row sum",
};

/* Entropy is over ln n; of what, that is the question with odd weights. */
static const char *name_of(enum av_train_field field, const struct av_training *t)
{
    return field == AV_TRAIN_ENTROPY_NORM && av_training_is_odd(t) ? "entropy |w|" : NAMES[field];
}

/* What comes first where not all has room. */
static const enum av_train_field ORDER[AV_TRAIN_FIELDS] = {
    AV_TRAIN_LOSS,       AV_TRAIN_MAX_WEIGHT, AV_TRAIN_ENTROPY_NORM, AV_TRAIN_ROW_SUM,
    AV_TRAIN_LOGIT_STD,  AV_TRAIN_ALPHA,      AV_TRAIN_GRAD_NORM,    AV_TRAIN_GRAD_QK_NORM,
    AV_TRAIN_D_Q_MEDIAN, AV_TRAIN_D_Q_MEAN,   AV_TRAIN_D_K_MEDIAN,   AV_TRAIN_D_K_MEAN,
    AV_TRAIN_Q_MEAN,     AV_TRAIN_Q_VAR,      AV_TRAIN_K_MEAN,       AV_TRAIN_K_VAR,
};

/* The first `room` fields, those of the first plot among them, in ORDER; sums
 * of rows only where they are not 1. */
static size_t choose(enum av_train_field chosen[AV_TRAIN_FIELDS], size_t room, const struct av_training *t,
                     const struct av_training_look *look)
{
    enum av_train_field wanted[2];
    const size_t wants = av_training_plot_fields(look, t, wanted);
    size_t ahead = 0, n = 0;
    for (size_t i = 0; i < AV_TRAIN_FIELDS && n < room; i++) {
        const enum av_train_field field = ORDER[i];
        if (field == AV_TRAIN_ROW_SUM && !av_training_is_odd(t)) {
            continue;
        }
        const bool is_wanted = field == wanted[0] || (wants == 2 && field == wanted[1]);
        ahead += is_wanted;
        if (is_wanted || n + (wants - ahead) < room) {
            chosen[n++] = field;
        }
    }
    return n;
}

static bool is_alarm(enum av_train_field field, const struct av_train_record *record)
{
    if (field == AV_TRAIN_MAX_WEIGHT) {
        return av_training_fires(AV_TRAINING_LARGEST, record);
    }
    return field == AV_TRAIN_GRAD_QK_NORM &&
           (av_training_fires(AV_TRAINING_LOW, record) || av_training_fires(AV_TRAINING_HIGH, record));
}

/* The record under the cursor, or the latest of the run that is ahead. */
static size_t number_of(const struct av_training *t, const struct av_training_look *look)
{
    const size_t a = t->runs[0].ended[look->series], b = t->runs[1].ended[look->series];
    return look->number > 0 ? look->number : a > b ? a : b;
}

static void draw_value(struct av_canvas *c, int right, int y, const struct av_train_record *record,
                       enum av_train_field field, int digits)
{
    char number[AV_NUMBER_MAX];
    const bool alarm = record != NULL && is_alarm(field, record);
    if (record == NULL) {
        av_canvas_text_right(c, right, y, AV_ROLE_DIM, "-");
        return;
    }
    av_canvas_text_right(c, right, y, alarm ? AV_ROLE_BAD : AV_ROLE_TEXT,
                         av_plot_number(number, record->at[field], digits));
    if (alarm) {
        av_canvas_put(c, right, y, AV_MARK_ALARM, AV_ROLE_BAD);
    }
}

void av_panel_training_table(struct av_canvas *c, struct av_rect r, const struct av_training *t,
                             const struct av_training_look *look)
{
    static const char *const words[AV_TRAINING_SERIES] = { "epoch", "step" };
    enum av_train_field fields[AV_TRAIN_FIELDS];
    char text[64];
    if (r.h < AV_TRAINING_TABLE_LEAST_H || r.w < AV_TRAINING_TABLE_W) {
        return;
    }
    struct av_rect clip = av_plot_enter(c, r);
    const size_t n = choose(fields, (size_t)(r.h - 1), t, look), number = number_of(t, look);
    snprintf(text, sizeof text, "%s %zu", words[look->series], number);
    av_canvas_text(c, r.x + 1, r.y, look->number > 0 ? AV_ROLE_SELECT : AV_ROLE_TITLE, text);
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        struct av_training_marks m = av_training_marks(twin);
        const struct av_train_record *record = number > 0 ? av_training_record(t, look->series, twin, number) : NULL;
        av_canvas_text_right(c, end_of(r, twin), r.y, m.role, m.name);
        for (size_t i = 0; i < n; i++) {
            draw_value(c, end_of(r, twin), r.y + 1 + (int)i, record, fields[i], digits_of(r));
        }
    }
    for (size_t i = 0; i < n; i++) {
        av_canvas_text(c, r.x + 1, r.y + 1 + (int)i, AV_ROLE_DIM, name_of(fields[i], t));
    }
    av_canvas_clip(c, clip);
}
