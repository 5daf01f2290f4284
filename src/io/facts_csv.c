/* facts_csv.c - measured claims as a header line and a row per claim.
 *
 * The numbers are those of the setting that is to be named first; the JSON
 * has all. */
#include "csv.h"
#include "facts_formats.h"

#include <math.h>

static const char *const names[] = { "name",    "claim",    "verdict", "condition", "truth", "rule",  "unit",
                                     "setting", "measured", "spread",  "min",       "max",   "seeds", NULL };

static void add_fact(struct av_str *out, const struct av_fact *f)
{
    const struct av_claim *claim = f->claim;
    size_t first = av_fact_decisive(f);
    const struct av_fact_measured *m = &f->at[first];
    char rule[AV_FACT_LINE];
    const char *const texts[] = { claim->name,
                                  claim->text,
                                  av_fact_verdict_name(f->verdict),
                                  f->condition,
                                  f->truth,
                                  av_claim_rule(claim, rule),
                                  claim->unit,
                                  claim->settings[first].label };
    const double numbers[] = { m->mean, m->sd, m->min, m->max };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        av_csv_text(out, texts[i]);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        av_csv_number(out, numbers[i], false);
    }
    av_csv_number(out, (double)m->done, true);
    for (size_t i = 0; i < AV_FACT_SEEDS; i++) {
        av_csv_number(out, i < m->done ? m->values[i] : (double)NAN, false);
    }
    av_str_add(out, "\n");
}

void av_facts_csv(struct av_str *out, const struct av_facts *facts)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        av_csv_text(out, names[i]);
    }
    for (int i = 1; i <= AV_FACT_SEEDS; i++) {
        av_str_addf(out, ",value_%d", i);
    }
    av_str_add(out, "\n");
    for (size_t i = 0; i < facts->count; i++) {
        add_fact(out, &facts->facts[i]);
    }
}
