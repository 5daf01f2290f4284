/* train_scalars.h - what a run may learn beside its matrices, and what that means. */
#ifndef ATTNVIZ_TRAIN_SCALARS_H
#define ATTNVIZ_TRAIN_SCALARS_H

#include "attnviz/train.h"

/* All scalars of a run at the start. */
void av_train_scalars_begin(double scalars[AV_TRAIN_SCALARS], const struct av_train_config *c, enum av_twin twin);

/* The multiplier that follows from x, the scalar AV_SCALAR_ALPHA of that run;
 * and its derivative by x. See alpha_unit. */
double av_train_alpha(const struct av_train_config *c, enum av_twin twin, double x);
double av_train_alpha_slope(const struct av_train_config *c, enum av_twin twin, double x);

#endif
