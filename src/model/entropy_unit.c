/* entropy_unit.c - entropies as they are shown: in nats, or in bits. */
#include "attnviz/entropy_unit.h"

static const struct {
    const char *name, *log10_name;
    double nat, log10_nat; /* a nat in this unit, and the log10 of that */
} UNITS[AV_ENTROPY_UNITS] = {
    [AV_NATS] = { "nats", "log10 nats", 1, 0 },
    [AV_BITS] = { "bits", "log10 bits", 1.4426950408889634, 0.15917453895486158 }, /* 1 / ln 2 */
};

double av_entropy_shown(const struct av_params *p, double nats)
{
    return nats * UNITS[p->entropy_unit].nat;
}

double av_entropy_log10_shown(const struct av_params *p, double log10_nats)
{
    return log10_nats + UNITS[p->entropy_unit].log10_nat;
}

const char *av_entropy_unit(const struct av_params *p)
{
    return UNITS[p->entropy_unit].name;
}

const char *av_entropy_log10_unit(const struct av_params *p)
{
    return UNITS[p->entropy_unit].log10_name;
}
