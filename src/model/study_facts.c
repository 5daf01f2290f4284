/* study_facts.c - measures the claims; its result is a struct av_facts.
 *
 * A unit is one claim in one setting with one seed, or a part of that: claims in
 * the order of the table, settings in theirs, seeds ascending. */
#include "attnviz/facts.h"
#include "attnviz/mem.h"
#include "attnviz/study.h"
#include "trial.h"

#include <string.h>

struct state {
    struct av_trial *trial;
    struct av_fact *facts; /* [result.count] */
    struct av_facts result;
    size_t units, done; /* measurements */
    size_t setting;     /* of the claim being measured, number result.measured */
};

static void close(void *state)
{
    struct state *s = state;
    av_trial_free(s->trial);
    av_free(s->facts);
    av_free(s);
}

static enum av_status open(void **state, const struct av_kernels *kernels, struct av_error *e)
{
    size_t count;
    av_claims(&count);
    struct state *s = av_alloc(1, sizeof *s);
    if (s == NULL) {
        return av_fail_nomem(e, "the facts");
    }
    s->facts = av_alloc(count, sizeof *s->facts);
    enum av_status status = s->facts != NULL ? av_trial_new(&s->trial, kernels, e) : av_fail_nomem(e, "the facts");
    if (status != AV_OK) {
        close(s);
        return status;
    }
    s->result.count = count;
    s->result.facts = s->facts;
    *state = s;
    return AV_OK;
}

static enum av_status begin(void *state, const struct av_params *p, struct av_error *e)
{
    (void)e;
    struct state *s = state;
    size_t count;
    const struct av_claim *claims = av_claims(&count);
    memset(s->facts, 0, count * sizeof *s->facts);
    s->result.seed = p->seed;
    s->result.measured = 0;
    s->units = s->done = s->setting = 0;
    av_trial_stop(s->trial);
    for (size_t i = 0; i < count; i++) {
        s->facts[i].claim = &claims[i];
        s->units += av_claim_settings(&claims[i]) * AV_FACT_SEEDS;
        av_fact_judge(&s->facts[i]);
    }
    return AV_OK;
}

static bool step(void *state)
{
    struct state *s = state;
    if (s->done == s->units) {
        return false;
    }
    struct av_fact *f = &s->facts[s->result.measured];
    struct av_fact_measured *m = &f->at[s->setting];
    const struct av_fact_setting *at = &f->claim->settings[s->setting];
    s->trial->part = 0;
    const double value = at->measure(s->trial, at, s->result.seed + m->done);
    if (s->trial->part > 0) {
        return true;
    }
    m->values[m->done] = value;
    m->done++;
    s->done++;
    s->setting += m->done == AV_FACT_SEEDS;
    av_fact_judge(f);
    if (f->verdict != AV_FACT_OPEN) {
        s->result.measured++;
        s->setting = 0;
    }
    return true;
}

static double progress(const void *state)
{
    const struct state *s = state;
    return ((double)s->done + s->trial->part) / (double)s->units;
}

static const void *result(const void *state)
{
    return &((const struct state *)state)->result;
}

static const char *const listens[] = { "seed", NULL };

const struct av_study av_study_facts = {
    .name = "facts",
    .listens = listens,
    .open = open,
    .close = close,
    .begin = begin,
    .step = step,
    .progress = progress,
    .result = result,
};
