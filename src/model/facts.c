/* facts.c - from measurements to verdicts, and what is said about them. */
#include "attnviz/facts.h"

#include "attnviz/estimate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

size_t av_claim_settings(const struct av_claim *claim)
{
    size_t n = 0;
    while (n < AV_FACT_SETTINGS && claim->settings[n].label != NULL) {
        n++;
    }
    return n;
}

/* Takes the zeros and the plus out of an exponent: 1e-09 becomes 1e-9. */
static char *tidy(char *number)
{
    char *e = strchr(number, 'e');
    if (e != NULL) {
        char *from = e + 1;
        char *to = e + 1 + (*from == '-');
        from += strspn(from, "+-0");
        memmove(to, from, strlen(from) + 1);
    }
    return number;
}

/* What is between the limits: "at most 4", "exactly 0", "0.9 to 1.1". */
static void range_text(char out[AV_FACT_LINE], double low, double high)
{
    char lo[AV_FACT_NUMBER];
    char hi[AV_FACT_NUMBER];
    snprintf(lo, sizeof lo, "%g", low);
    snprintf(hi, sizeof hi, "%g", high);
    if (isinf(low)) {
        snprintf(out, AV_FACT_LINE, "at most %s", tidy(hi));
    } else if (isinf(high)) {
        snprintf(out, AV_FACT_LINE, "at least %s", tidy(lo));
    } else if (low < high) {
        snprintf(out, AV_FACT_LINE, "%s to %s", tidy(lo), tidy(hi));
    } else {
        snprintf(out, AV_FACT_LINE, "exactly %s", tidy(lo));
    }
}

const char *av_claim_rule(const struct av_claim *claim, char out[AV_FACT_LINE])
{
    char range[AV_FACT_LINE];
    range_text(range, claim->lo, claim->hi);
    snprintf(out, AV_FACT_LINE, "%.120s: %.80s%s%s", claim->quantity, range, claim->unit[0] != '\0' ? " " : "",
             claim->unit);
    return out;
}

const char *av_fact_verdict_name(enum av_fact_verdict verdict)
{
    static const char *const names[] = {
        [AV_FACT_OPEN] = "not measured yet",
        [AV_FACT_HOLDS] = "holds",
        [AV_FACT_WHEN] = "holds only when",
        [AV_FACT_FALSE] = "false",
    };
    return names[verdict];
}

size_t av_facts_count(const struct av_facts *facts, enum av_fact_verdict verdict)
{
    size_t n = 0;
    for (size_t i = 0; i < facts->count; i++) {
        n += facts->facts[i].verdict == verdict && !facts->facts[i].claim->timed;
    }
    return n;
}

size_t av_facts_timed(const struct av_facts *facts)
{
    size_t n = 0;
    for (size_t i = 0; i < facts->count; i++) {
        n += facts->facts[i].claim->timed;
    }
    return n;
}

size_t av_fact_decisive(const struct av_fact *f)
{
    size_t settings = av_claim_settings(f->claim);
    for (size_t i = 0; i < settings; i++) {
        if (f->at[i].done > 0 && !f->at[i].agrees) {
            return i;
        }
    }
    return 0;
}

const char *av_fact_number(char out[AV_FACT_NUMBER], double v, int digits)
{
    if (isnan(v)) {
        snprintf(out, AV_FACT_NUMBER, "NaN");
    } else {
        snprintf(out, AV_FACT_NUMBER, "%.*g", digits, v);
    }
    return tidy(out);
}

/* Digits of a mean: more where all seeds gave the same. */
static int mean_digits(const struct av_fact_measured *m)
{
    return m->sd > 0 ? AV_FACT_DIGITS : AV_FACT_DIGITS + 1;
}

void av_fact_mean(char mean[AV_FACT_NUMBER], char spread[AV_FACT_NUMBER], const struct av_fact_measured *m)
{
    enum { SPREAD_DIGITS = 2 };
    if (!av_estimate_text(mean, spread, m->mean, m->sd, SPREAD_DIGITS)) {
        av_fact_number(mean, m->mean, mean_digits(m));
        av_fact_number(spread, m->sd, SPREAD_DIGITS);
    }
}

const char *av_fact_value(char out[AV_FACT_LINE], const struct av_fact_measured *m)
{
    char mean[AV_FACT_NUMBER];
    char spread[AV_FACT_NUMBER];
    av_fact_mean(mean, spread, m);
    if (m->done == 0) {
        snprintf(out, AV_FACT_LINE, "not measured");
    } else if (isnan(m->sd)) {
        snprintf(out, AV_FACT_LINE, "%s", mean);
    } else {
        snprintf(out, AV_FACT_LINE, "%s +- %s", mean, spread);
    }
    return out;
}

/* ---- Sums over the seeds -------------------------------------------------- */

static void sum_up(struct av_fact_measured *m, const struct av_claim *claim)
{
    double sum = 0;
    double squares = 0;
    m->min = m->max = m->mean = m->sd = (double)NAN;
    for (size_t i = 0; i < m->done; i++) {
        sum += m->values[i];
        m->min = fmin(m->min, m->values[i]);
        m->max = fmax(m->max, m->values[i]);
    }
    if (isnan(sum)) {
        m->min = m->max = (double)NAN; /* fmin and fmax pass over it */
    }
    if (m->done > 0) {
        m->mean = sum / (double)m->done;
    }
    for (size_t i = 0; i < m->done; i++) {
        squares += (m->values[i] - m->mean) * (m->values[i] - m->mean);
    }
    if (m->done > 1) {
        m->sd = sqrt(squares / (double)(m->done - 1));
    }
    m->agrees = m->mean >= claim->lo && m->mean <= claim->hi;
}

/* ---- Words ------------------------------------------------------------------ */

/* Appends to out, which has room for AV_FACT_LINE bytes; the table's texts fit. */
static void append(char *out, const char *text)
{
    size_t len = strlen(out);
    snprintf(out + len, AV_FACT_LINE - len, "%s", text);
}

static void list_labels(char *out, const struct av_fact *f, size_t settings, bool agrees)
{
    const char *between = "";
    for (size_t i = 0; i < settings; i++) {
        if (f->at[i].agrees == agrees) {
            append(out, between);
            append(out, f->claim->settings[i].label);
            between = " or ";
        }
    }
}

/* The claim's sentence, each {i} replaced by the mean in setting i. */
static void fill_truth(struct av_fact *f)
{
    for (const char *at = f->claim->truth; *at != '\0';) {
        char piece[AV_FACT_NUMBER] = { *at, '\0' };
        if (at[0] == '{') {
            const struct av_fact_measured *m = &f->at[at[1] - '1'];
            av_fact_number(piece, m->mean, mean_digits(m));
            at += strlen("{1}");
        } else {
            at++;
        }
        append(f->truth, piece);
    }
}

void av_fact_judge(struct av_fact *f)
{
    size_t settings = av_claim_settings(f->claim);
    size_t complete = 0;
    size_t agree = 0;
    for (size_t i = 0; i < settings; i++) {
        sum_up(&f->at[i], f->claim);
        complete += f->at[i].done == AV_FACT_SEEDS;
        agree += f->at[i].agrees;
    }
    f->verdict = AV_FACT_OPEN;
    f->condition[0] = f->truth[0] = '\0';
    if (complete < settings) {
        return;
    }
    f->verdict = agree == settings ? AV_FACT_HOLDS : agree > 0 ? AV_FACT_WHEN : AV_FACT_FALSE;
    if (f->verdict == AV_FACT_WHEN) {
        list_labels(f->condition, f, settings, true);
        append(f->condition, "; not when ");
        list_labels(f->condition, f, settings, false);
    }
    fill_truth(f);
}
