/* study.h - experiments beside the pipeline, computed a slice at a time.
 *
 * The pipeline answers for the present state at once. A study asks something
 * of many states, or of many samples, and takes longer: it is cut into units
 * of work of a few milliseconds, so that keys are served between two of them,
 * and what it has found so far can be drawn at any time.
 *
 * A study lives in one file, src/model/study_<name>.c, which defines
 * `const struct av_study av_study_<name>`; the build collects them. What its
 * result is, its own header says. Units and their order follow from the
 * parameters alone, never from time: however it is sliced, the same result
 * comes out. */
#ifndef ATTNVIZ_STUDY_H
#define ATTNVIZ_STUDY_H

#include "attnviz/params.h"
#include "attnviz/source.h"

#include <stdbool.h>

struct av_study {
    const char *name; /* "distributions" */
    /* Names of the parameters that its result depends on, NULL at the end. */
    const char *const *listens;

    /* Makes its state, and frees it. kernels are borrowed. */
    enum av_status (*open)(void **state, const struct av_kernels *kernels, struct av_error *e);
    void (*close)(void *state);

    /* Of a study that is about the queries and keys at hand: those of a source
     * are to be taken from now on, of layer p->layer. Called behind `open`, if
     * there is one. NULL: it plays no part. */
    void (*use_source)(void *state, const struct av_source *source);
    bool any_length; /* it holds no matrix of a head: source is the whole one, else the tail of it, source.h */
    bool of_entries; /* has no result, which is no failure, of a layer without queries and keys */

    /* Which parts of its result are computed from now on, as its own header
     * counts them: others are left as far as they are, and progress leaves them
     * out. Before the first call all are. NULL: it has no parts. */
    void (*limit)(void *state, unsigned parts);

    /* Begins for these parameters (checked; logits play no part):
     * keeps what still holds, drops the rest, makes room, and does what takes
     * no longer than a unit, so that there is something to draw. When it
     * fails, the state may be begun again but has no result. */
    enum av_status (*begin)(void *state, const struct av_params *p, struct av_error *e);

    /* One unit of work, about 5 ms or less; false, and nothing done, when
     * there is none left. Does not fail: a part for which there is no memory is
     * left out, and the result says so. */
    bool (*step)(void *state);
    /* Parts of the result that are looked at, by their places in it, the most
     * wanted first: they are computed first. At any time, of any begun state; the result
     * comes out the same. NULL: parts come in one order. */
    void (*want)(void *state, const size_t *places, size_t count);
    /* Where a unit is a part of what a reader would call a step: no step is
     * begun and not ended. NULL: every unit is a step. */
    bool (*whole)(const void *state);
    double (*progress)(const void *state);    /* of all units, 0 .. 1 */
    const void *(*result)(const void *state); /* so far; valid until the next call */
};

const struct av_study *const *av_studies_table(size_t *count);
const struct av_study *av_study_find(const char *name); /* NULL: unknown */

/* All studies with their states, each opened when it is first asked for. */
struct av_studies;

/* kernels: NULL for the best. The caller frees it; NULL is fine there. */
enum av_status av_studies_new(struct av_studies **out, const struct av_kernels *kernels, struct av_error *e);
void av_studies_free(struct av_studies *s);

/* Queries and keys of a source, and its tail, both borrowed; before anything is asked. */
void av_studies_use_source(struct av_studies *s, const struct av_source *whole, const struct av_source *tail);

/* Which parts of a study's result are computed from now on; see struct av_study. */
enum { AV_STUDY_ALL = 0x7FFFFFFF };
void av_studies_limit(struct av_studies *s, const struct av_study *study, unsigned parts);

/* Asks a study about these parameters: opens it, begins anew if a parameter
 * that it listens to has changed, and goes on otherwise. On failure it has no
 * result until it is asked about other parameters. */
enum av_status av_studies_ask(struct av_studies *s, const struct av_study *study, const struct av_params *p,
                              struct av_error *e);

/* The same, but it begins anew in any case. */
enum av_status av_studies_restart(struct av_studies *s, const struct av_study *study, const struct av_params *p,
                                  struct av_error *e);

/* Of a study that has been asked: a unit of work; what is wanted first, if it
 * minds; whether the unit ended a step;
 * how far it is, 1 when there is nothing to do; its result, NULL when it has
 * none. */
bool av_studies_step(struct av_studies *s, const struct av_study *study);
void av_studies_want(struct av_studies *s, const struct av_study *study, const size_t *places, size_t count);
bool av_studies_whole(const struct av_studies *s, const struct av_study *study);
double av_studies_progress(const struct av_studies *s, const struct av_study *study);
const void *av_studies_result(const struct av_studies *s, const struct av_study *study);

#endif
