/* entropy_unit.h - entropies as they are shown: in nats, or in bits.
 *
 * Everything is computed in nats; what prints an entropy asks here for its
 * number and for the name of its unit, by the parameter entropy_unit. An entropy
 * over ln(keys) has no unit and stays as it is. */
#ifndef ATTNVIZ_ENTROPY_UNIT_H
#define ATTNVIZ_ENTROPY_UNIT_H

#include "attnviz/params.h"

/* H in the unit of p, and log10 H: in bits H / ln 2. */
double av_entropy_shown(const struct av_params *p, double nats);
double av_entropy_log10_shown(const struct av_params *p, double log10_nats);

const char *av_entropy_unit(const struct av_params *p);       /* "nats", "bits" */
const char *av_entropy_log10_unit(const struct av_params *p); /* "log10 nats", "log10 bits" */

#endif
