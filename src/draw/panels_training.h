/* panels_training.h - the panels of the view `training`. */
#ifndef ATTNVIZ_PANELS_TRAINING_H
#define ATTNVIZ_PANELS_TRAINING_H

#include "attnviz/training.h"
#include "panels.h"

/* What of an experiment is looked at. */
struct av_training_look {
    enum av_training_series series;
    size_t number; /* of the record under the cursor, 0: the latest */
    int first;     /* plot that comes first */
    bool alone;    /* that plot is the only one */
};

/* Are the weights of its variant other than >= 0 with sum 1? */
bool av_training_is_odd(const struct av_training *t);

/* Plots that this experiment has: alpha's only where it is learned. */
int av_training_plots(const struct av_training *t);

/* How a run is drawn: scaled or unscaled; the mark of its main curve, of a
 * second one in the same plot, and of the experiment before. */
struct av_training_marks {
    const char *name;
    enum av_role role;
    uint32_t main, second, ghost;
};
struct av_training_marks av_training_marks(enum av_twin twin);

/* Both runs over epochs or steps, as many plots as fit. */
void av_panel_training_curves(struct av_canvas *c, struct av_rect r, const struct av_training *t,
                              const struct av_training_look *look);

/* The number of the record that a column of that panel stands for; 0: none. */
size_t av_panel_training_number(struct av_rect r, const struct av_training *t, const struct av_training_look *look,
                                int x);

/* Fields of the first plot, for those who show its numbers. Returns how many. */
size_t av_training_plot_fields(const struct av_training_look *look, const struct av_training *t,
                               enum av_train_field fields[2]);

/* Numbers 1 .. this are on the horizontal axis. */
size_t av_training_numbers(const struct av_training *t, enum av_training_series series);

/* Both runs' weights of one sequence beside each other; the lines it takes. */
int av_panel_training_weights_h(struct av_rect r, const struct av_training *t);
void av_panel_training_weights(struct av_canvas *c, struct av_rect r, const struct av_training *t,
                               const struct av_training_look *look);

/* The values of both runs at the cursor. */
enum { AV_TRAINING_TABLE_W = 36, AV_TRAINING_TABLE_LEAST_H = 3 };
void av_panel_training_table(struct av_canvas *c, struct av_rect r, const struct av_training *t,
                             const struct av_training_look *look);

/* The experiment, its task, its variant if there is one, how far it is, and the
 * names of marks, a line each; how many lines. */
int av_panel_training_head_h(const struct av_training *t);
void av_panel_training_head(struct av_canvas *c, struct av_rect r, const struct av_view_context *ctx);

/* In place of all that: these parameters make no experiment, and why. */
void av_panel_training_refused(struct av_canvas *c, struct av_rect r, const struct av_params *p);

/* What was found, as much as r has lines for. */
void av_panel_training_findings(struct av_canvas *c, struct av_rect r, const struct av_training *t);

#endif
