/* training_plots.h - what the plots of a training experiment are of, and their axes. */
#ifndef ATTNVIZ_TRAINING_PLOTS_H
#define ATTNVIZ_TRAINING_PLOTS_H

#include "panels_training.h"

enum av_plot_scale { AV_PLOT_SHARE, AV_PLOT_LOG, AV_PLOT_LINEAR };
enum av_plot_level { AV_LEVEL_NONE, AV_LEVEL_ZERO_LOSS, AV_LEVEL_LARGEST, AV_LEVEL_BAND, AV_LEVEL_0, AV_LEVEL_1 };

/* One plot: a field, and where two belong together the second. */
struct av_training_plot {
    const char *name, *meaning;
    enum av_plot_scale scale;
    enum av_train_field main, second; /* the same: there is one only */
    const char *words[2];
    enum av_plot_level level;
};

/* A plot by its place, round and round. */
const struct av_training_plot *av_training_plot(const struct av_training *t, int at);

/* Levels drawn across; returns their number. What they are, in full or brief. */
size_t av_training_levels(const struct av_training_plot *plot, const struct av_training *t, double levels[2]);
void av_training_level_text(char out[64], const struct av_training_plot *plot, const struct av_training *t, bool brief);

/* Does an alarm belong to the plot, and is it raised by that record? */
bool av_training_has_alarms(const struct av_training_plot *plot);
bool av_training_plot_fires(const struct av_training_plot *plot, const struct av_train_record *record);

/* Epochs or steps; a number lies in the middle of what is its own. */
struct av_axis av_training_number_axis(const struct av_training *t, enum av_training_series series, int cells);

/* Shares from 0 to 1, others between ends that hold both runs, the ghost and
 * the levels. Rows of cells stand for the values at their middles, the lowest
 * and the highest one for the ends. */
struct av_axis av_training_value_axis(const struct av_training_plot *plot, const struct av_training *t,
                                      enum av_training_series series, int cells);

/* The next 1, 2 or 5 times a power of ten, up or down; v > 0 itself when it is one. */
double av_training_round(double v, int direction);

#endif
