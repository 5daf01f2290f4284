/* made_facts.h - facts with measurements made by hand, for tests of their output. */
#ifndef MADE_FACTS_H
#define MADE_FACTS_H

#include "attnviz/facts.h"

#include <assert.h>
#include <math.h>

enum { MADE_FACTS_MOST = 64 };

struct made_facts {
    struct av_fact facts[MADE_FACTS_MOST];
    struct av_facts all;
};

/* The first `measured` claims of the table have values: claim i agrees in its
 * first i modulo (settings + 1) settings. One value is NaN. */
static inline void make_facts(struct made_facts *m, size_t measured)
{
    *m = (struct made_facts){ .all = { .seed = 42, .measured = measured, .facts = m->facts } };
    const struct av_claim *claims = av_claims(&m->all.count);
    assert(m->all.count <= MADE_FACTS_MOST);
    for (size_t i = 0; i < m->all.count; i++) {
        struct av_fact *f = &m->facts[i];
        const struct av_claim *c = f->claim = &claims[i];
        size_t settings = av_claim_settings(c);
        double in = isinf(c->lo) ? c->hi : c->lo;
        double out = isinf(c->hi) ? c->lo - 1.0 / 3 : c->hi + 1.0 / 3;
        for (size_t k = 0; k < settings && i < measured; k++) {
            for (; f->at[k].done < AV_FACT_SEEDS; f->at[k].done++) {
                double spread = 1e-3 * (double)f->at[k].done * (k < i % (settings + 1) ? 0 : 1);
                f->at[k].values[f->at[k].done] = (k < i % (settings + 1) ? in : out) + copysign(spread, out - in);
            }
        }
        av_fact_judge(f);
    }
    if (measured > 0) {
        m->facts[0].at[0].values[2] = (double)NAN;
        av_fact_judge(&m->facts[0]);
    }
}

#endif
