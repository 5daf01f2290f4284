/* facts_text.c - measured claims for people, in 80 columns. */
#include "attnviz/wrap.h"
#include "facts_formats.h"

enum { COLUMNS = 80, INDENT = 17 };

/* "  label        text", the text broken into lines that start below it. */
static void add_wrapped(struct av_str *out, const char *label, const char *text)
{
    do {
        size_t len = av_wrap_piece(text, COLUMNS - INDENT);
        av_str_addf(out, "  %-*s", INDENT - 2, label);
        av_str_addn(out, text, len);
        av_str_add(out, "\n");
        label = "";
        text += len;
        while (*text == ' ') {
            text++;
        }
    } while (*text != '\0');
}

/* "d_k 16                     0.987 +- 0.0249    agrees" */
static void add_setting(struct av_str *out, const char *label, const struct av_fact *f, size_t i)
{
    enum { SETTING = 28, NUMBER = 22 };
    const struct av_fact_measured *m = &f->at[i];
    char value[AV_FACT_LINE];
    av_str_addf(out, "  %-*s%-*s %-*s %s\n", INDENT - 2, label, SETTING, f->claim->settings[i].label, NUMBER,
                av_fact_value(value, m), m->agrees ? "agrees" : "disagrees");
}

static void add_fact(struct av_str *out, const struct av_fact *f)
{
    const struct av_claim *claim = f->claim;
    char rule[AV_FACT_LINE];
    av_str_addf(out, "\n%-*s%s\n", INDENT, av_fact_verdict_name(f->verdict), claim->text);
    if (f->condition[0] != '\0') {
        add_wrapped(out, "when", f->condition);
    }
    if (f->truth[0] != '\0') {
        add_wrapped(out, "found", f->truth);
    }
    add_wrapped(out, "experiment", claim->experiment);
    add_wrapped(out, "rule", av_claim_rule(claim, rule));
    size_t settings = av_claim_settings(claim);
    for (size_t i = 0; i < settings; i++) {
        add_setting(out, i == 0 ? "measured" : "", f, i);
    }
}

void av_facts_text(struct av_str *out, const struct av_facts *facts)
{
    av_str_addf(out,
                "%zu claims about the sqrt(d_k) scale: %zu hold, %zu hold only when ..., %zu are\n"
                "false, and %zu timed on this machine, with a verdict that depends on it.\n\n",
                facts->count, av_facts_count(facts, AV_FACT_HOLDS), av_facts_count(facts, AV_FACT_WHEN),
                av_facts_count(facts, AV_FACT_FALSE), av_facts_timed(facts));
    av_str_addf(out,
                "Measured now, in every setting with %d seeds from %llu on: mean +- standard\n"
                "deviation over the seeds. A setting agrees when the mean is as the rule says.\n"
                "A claim holds when all settings agree, and is false when none does.\n",
                AV_FACT_SEEDS, (unsigned long long)facts->seed);
    for (size_t i = 0; i < facts->count; i++) {
        add_fact(out, &facts->facts[i]);
    }
}
