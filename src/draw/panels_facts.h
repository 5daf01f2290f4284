/* panels_facts.h - the panels of the view `facts`: a claim in full, verdicts. */
#ifndef ATTNVIZ_PANELS_FACTS_H
#define ATTNVIZ_PANELS_FACTS_H

#include "attnviz/facts.h"
#include "panels.h"

/* How a verdict looks: a glyph, words, a role. */
struct av_fact_look {
    uint32_t glyph;
    const char *word, *brief;
    enum av_role role;
};

struct av_fact_look av_fact_look(enum av_fact_verdict verdict);

/* A measured value for the screen: "0.987 ± 0.025"; without its spread where
 * the whole is wider than `cells`. Writes to out and returns it. */
const char *av_fact_short(char out[AV_FACT_LINE], const struct av_fact_measured *m, int cells, bool ascii);

/* Condition, finding, experiment, rule and the value of every setting, of
 * every seed where there is room; AV_FACT_PANEL_H lines hold all of it in 80
 * columns. */
enum { AV_FACT_PANEL_H = 13 };
void av_panel_fact(struct av_canvas *c, struct av_rect r, const struct av_fact *fact, uint64_t seed);

#endif
