/* train_multiplier.h - alpha of the twin runs, as their variant has it. */
#ifndef ATTNVIZ_TRAIN_MULTIPLIER_H
#define ATTNVIZ_TRAIN_MULTIPLIER_H

#include "attnviz/train.h"

/* Fills in alpha and alpha_unit from c->attention. With scale on: d_k^-exponent,
 * or what rows bring in its place; off: 1 in that place. Rows that multiply do so in
 * both; where rows of weights differ in that factor it is not in alpha. */
void av_train_multipliers(struct av_train_config *c);

/* Are there factors that are not in alpha? */
bool av_train_rows_differ(const struct av_train_config *c);

/* What alpha is multiplied by for the query at that position, which sees so
 * many keys; 1 where rows do not differ. */
double av_train_row_factor(const struct av_train_config *c, size_t keys, size_t position);

#endif
