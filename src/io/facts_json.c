/* facts_json.c - measured claims as one JSON object. */
#include "attnviz/json.h"
#include "facts_formats.h"

static void write_range(struct av_json *j, const struct av_claim *claim)
{
    av_json_number(j, "at_least", claim->lo); /* null: no limit */
    av_json_number(j, "at_most", claim->hi);
}

static void write_setting(struct av_json *j, const struct av_fact *f, size_t i)
{
    const struct av_fact_measured *m = &f->at[i];
    const struct av_fact_setting *at = &f->claim->settings[i];
    av_json_object(j, NULL);
    av_json_string(j, "setting", at->label);
    av_json_unsigned(j, "n_q", at->n_q);
    av_json_unsigned(j, "n_k", at->n_k);
    av_json_unsigned(j, "d_k", at->d_k);
    av_json_number(j, "measured", m->mean);
    av_json_number(j, "spread", m->sd);
    av_json_number(j, "min", m->min);
    av_json_number(j, "max", m->max);
    av_json_string(j, "agrees", m->agrees ? "yes" : "no");
    av_json_array(j, "values");
    for (size_t k = 0; k < m->done; k++) {
        av_json_number(j, NULL, m->values[k]);
    }
    av_json_close(j, ']');
    av_json_close(j, '}');
}

/* A text, null when it is empty. */
static void write_text(struct av_json *j, const char *name, const char *text)
{
    if (text[0] != '\0') {
        av_json_string(j, name, text);
    } else {
        av_json_null(j, name);
    }
}

static void write_fact(struct av_json *j, const struct av_fact *f)
{
    const struct av_claim *claim = f->claim;
    size_t first = av_fact_decisive(f);
    size_t settings = av_claim_settings(claim);
    char rule[AV_FACT_LINE];
    av_json_object(j, NULL);
    av_json_string(j, "name", claim->name);
    av_json_string(j, "claim", claim->text);
    av_json_string(j, "verdict", av_fact_verdict_name(f->verdict));
    write_text(j, "condition", f->condition);
    write_text(j, "truth", f->truth);
    av_json_string(j, "experiment", claim->experiment);
    av_json_string(j, "rule", av_claim_rule(claim, rule));
    av_json_string(j, "quantity", claim->quantity);
    av_json_string(j, "unit", claim->unit);
    write_range(j, claim);
    av_json_string(j, "setting", claim->settings[first].label);
    av_json_number(j, "measured", f->at[first].mean);
    av_json_number(j, "spread", f->at[first].sd);
    av_json_unsigned(j, "seeds", f->at[first].done);
    av_json_array(j, "settings");
    for (size_t i = 0; i < settings; i++) {
        write_setting(j, f, i);
    }
    av_json_close(j, ']');
    av_json_close(j, '}');
}

void av_facts_json(struct av_str *out, const struct av_facts *facts)
{
    struct av_json j;
    av_json_begin(&j, out);
    av_json_object(&j, NULL);
    av_json_string(&j, "version", AV_VERSION);
    av_json_unsigned(&j, "seed", facts->seed);
    av_json_array(&j, "seeds");
    for (uint64_t i = 0; i < AV_FACT_SEEDS; i++) {
        av_json_unsigned(&j, NULL, facts->seed + i);
    }
    av_json_close(&j, ']');
    av_json_array(&j, "facts");
    for (size_t i = 0; i < facts->count; i++) {
        write_fact(&j, &facts->facts[i]);
    }
    av_json_close(&j, ']');
    av_json_close(&j, '}');
}
