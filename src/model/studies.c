/* studies.c - the table of studies, and their states. */
#include "attnviz/mem.h"
#include "attnviz/study.h"

#include <string.h>

/* One line X(name) for each file study_<name>.c, in alphabetical order; made
 * by the Makefile. */
#define X(name) extern const struct av_study av_study_##name;
#include "studies.inc"
#undef X

static const struct av_study *const table[] = {
#define X(name) &av_study_##name,
#include "studies.inc"
#undef X
    NULL
};

enum { STUDIES = sizeof table / sizeof table[0] - 1 };

const struct av_study *const *av_studies_table(size_t *count)
{
    *count = STUDIES;
    return table;
}

const struct av_study *av_study_find(const char *name)
{
    for (size_t i = 0; table[i] != NULL; i++) {
        if (strcmp(table[i]->name, name) == 0) {
            return table[i];
        }
    }
    return NULL;
}

/* ---- States -------------------------------------------------------------- */

struct slot {
    const struct av_study *study;
    unsigned parts;         /* that are computed of it */
    void *state;            /* NULL: never asked */
    struct av_params asked; /* what it was last asked about */
    enum av_status status;  /* of that */
    bool empty;             /* it was about a layer that has nothing for the study */
    struct av_error error;  /* unless AV_OK */
};

struct av_studies {
    const struct av_kernels *kernels;
    const struct av_source *whole, *tail; /* NULL: no files */
    struct slot slots[STUDIES + 1];
};

enum av_status av_studies_new(struct av_studies **out, const struct av_kernels *kernels, struct av_error *e)
{
    struct av_studies *s = av_alloc(1, sizeof *s);
    *out = s;
    if (s == NULL) {
        return av_fail_nomem(e, "the studies");
    }
    s->kernels = kernels != NULL ? kernels : av_kernels_best();
    for (size_t i = 0; table[i] != NULL; i++) {
        s->slots[i].study = table[i];
        s->slots[i].parts = AV_STUDY_ALL;
    }
    return AV_OK;
}

void av_studies_free(struct av_studies *s)
{
    for (size_t i = 0; s != NULL && table[i] != NULL; i++) {
        if (s->slots[i].state != NULL) {
            s->slots[i].study->close(s->slots[i].state);
        }
    }
    av_free(s);
}

void av_studies_use_source(struct av_studies *s, const struct av_source *whole, const struct av_source *tail)
{
    s->whole = whole;
    s->tail = tail;
}

static const struct slot *slot_of(const struct av_studies *s, const struct av_study *study)
{
    const struct slot *at = s->slots;
    while (at->study != study) {
        at++; /* every study is in the table */
    }
    return at;
}

/* Does it want queries and keys of a layer that is looked at without them? */
static bool wants_entries(const struct av_studies *s, const struct av_study *study, const struct av_params *p)
{
    return s->whole != NULL && study->of_entries &&
           av_source_from(&s->whole->layers[p->layer], (enum av_from)p->from) != AV_PART_Q;
}

static void limit(struct slot *slot)
{
    if (slot->state != NULL && slot->study->limit != NULL) {
        slot->study->limit(slot->state, slot->parts);
    }
}

void av_studies_limit(struct av_studies *s, const struct av_study *study, unsigned parts)
{
    struct slot *slot = &s->slots[slot_of(s, study) - s->slots];
    slot->parts = parts;
    limit(slot);
}

/* Opens it if need be, and begins if `anew`, or if a parameter or what there is
 * for it has changed. */
static enum av_status ask(struct av_studies *s, const struct av_study *study, const struct av_params *p, bool anew,
                          struct av_error *e)
{
    struct slot *slot = &s->slots[slot_of(s, study) - s->slots];
    bool opened = slot->state != NULL;
    if (!opened) {
        enum av_status status = study->open(&slot->state, s->kernels, e);
        if (status != AV_OK) {
            slot->state = NULL;
            return status;
        }
        if (s->whole != NULL && study->use_source != NULL) {
            study->use_source(slot->state, study->any_length ? s->whole : s->tail);
        }
        limit(slot);
    }
    bool empty = wants_entries(s, study, p);
    if (!opened || anew || empty != slot->empty || av_params_differ(study->listens, &slot->asked, p)) {
        slot->asked = *p;
        slot->empty = empty;
        slot->status = slot->empty ? AV_OK : study->begin(slot->state, p, &slot->error);
    }
    return slot->status == AV_OK ? AV_OK : av_fail(e, slot->status, "%s", slot->error.text);
}

enum av_status av_studies_ask(struct av_studies *s, const struct av_study *study, const struct av_params *p,
                              struct av_error *e)
{
    return ask(s, study, p, false, e);
}

enum av_status av_studies_restart(struct av_studies *s, const struct av_study *study, const struct av_params *p,
                                  struct av_error *e)
{
    return ask(s, study, p, true, e);
}

/* Its state when it has been begun, else NULL. */
static void *state_of(const struct av_studies *s, const struct av_study *study)
{
    const struct slot *slot = slot_of(s, study);
    return slot->status == AV_OK && !slot->empty ? slot->state : NULL;
}

bool av_studies_step(struct av_studies *s, const struct av_study *study)
{
    void *state = state_of(s, study);
    return state != NULL && study->step(state);
}

void av_studies_want(struct av_studies *s, const struct av_study *study, const size_t *places, size_t count)
{
    void *state = state_of(s, study);
    if (state != NULL && study->want != NULL) {
        study->want(state, places, count);
    }
}

bool av_studies_whole(const struct av_studies *s, const struct av_study *study)
{
    const void *state = state_of(s, study);
    return state == NULL || study->whole == NULL || study->whole(state);
}

double av_studies_progress(const struct av_studies *s, const struct av_study *study)
{
    const void *state = state_of(s, study);
    return state != NULL ? study->progress(state) : 1;
}

const void *av_studies_result(const struct av_studies *s, const struct av_study *study)
{
    const void *state = state_of(s, study);
    return state != NULL ? study->result(state) : NULL;
}
