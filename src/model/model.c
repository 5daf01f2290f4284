/* model.c - the pipeline: which stages are stale, and running them.
 *
 * SAMPLE and SCORES work on whole matrices; LOGITS, WEIGHTS and STATS go row
 * by row, so that a row passes through all three while it is in the cache. */
#include "attnviz/mem.h"
#include "attnviz/variant.h"
#include "stages.h"

#include <math.h>
#include <string.h>

enum av_status av_model_new(struct av_model **out, const struct av_kernels *kernels, struct av_error *e)
{
    *out = NULL;
    struct av_model *m = av_alloc(1, sizeof *m);
    if (m == NULL) {
        return av_fail_nomem(e, "model");
    }
    m->kernels = kernels != NULL ? kernels : av_kernels_best();
    m->scores_scratch = av_alloc(1, AV_SCORES_SCRATCH);
    enum av_status status = m->scores_scratch == NULL ? av_fail_nomem(e, "model") : av_theory_new(&m->theory, e);
    if (status != AV_OK) {
        av_model_free(m);
        return status;
    }
    *out = m;
    return AV_OK;
}

void av_model_free(struct av_model *m)
{
    if (m != NULL) {
        av_buffers_free(&m->buffers);
        av_loaded_head_free(&m->head);
        for (size_t i = 0; i < AV_STATES; i++) {
            av_attend_free(m->engines[i].attend);
        }
        av_theory_free(m->theory);
        av_free(m->scores_scratch);
        av_free(m);
    }
}

void av_model_use_source(struct av_model *m, const struct av_source *source)
{
    av_loaded_head_free(&m->head);
    m->source = source;
    m->ready = false;
}

/* Puts the sizes that really hold into what a caller asked for. */
static struct av_shape effective(const struct av_model *m, struct av_params *p)
{
    if (p->logits.n > 0) {
        p->n_q = 1;
        p->n_k = p->logits.n;
        p->variant = av_variant_on_logits(p->variant);
        return (struct av_shape){ 1, (size_t)p->n_k, 0, false };
    }
    if (m->source == NULL) {
        return (struct av_shape){ (size_t)p->n_q, (size_t)p->n_k, (size_t)p->d_k, false };
    }
    av_params_from_source(p, m->source);
    const struct av_source_layer *l = &m->source->layers[p->layer];
    enum av_part from = av_source_from(l, (enum av_from)p->from);
    av_source_limit(p, l);
    return (struct av_shape){ l->n_q, l->n_k, from == AV_PART_Q ? l->d : 0, from != AV_PART_Q };
}

/* What the head of these parameters is made of. */
static enum av_part from_of(const struct av_model *m, const struct av_params *p)
{
    bool files = m->source != NULL && p->logits.n == 0;
    return files ? av_source_from(&m->source->layers[p->layer], (enum av_from)p->from) : AV_PART_Q;
}

/* Needs that something answers: without keys no gradient reaches a query and no
 * scale can be toggled, without scores there is no histogram of them. */
static unsigned answered(unsigned needs, enum av_part from)
{
    unsigned none = from == AV_PART_Q ? 0 : AV_NEED_OTHER | AV_NEED_DQ;
    none |= from == AV_PART_WEIGHTS ? AV_NEED_HISTOGRAM : 0;
    return needs & ~none;
}

/* What an update is asked for, and what it makes stale. */
struct request {
    struct av_params p; /* with the sizes that hold */
    struct av_shape shape;
    enum av_part from;
    unsigned needs;
    double alpha; /* d_k^-exponent or 1, or between them on the way */
    bool gliding;
    enum av_stage stale;
    bool glide_only; /* nothing but alpha has changed */
};

/* alpha: NaN for that of the parameters. */
static void make_request(struct request *r, const struct av_model *m, const struct av_params *asked, unsigned needs,
                         double alpha)
{
    *r = (struct request){ .p = *asked };
    r->shape = effective(m, &r->p);
    r->from = from_of(m, &r->p);
    r->needs = answered(needs, r->from);
    bool multiplied = r->shape.d > 0;
    double settled = multiplied ? av_params_alpha(&r->p) : r->from == AV_PART_WEIGHTS ? (double)NAN : 1;
    r->alpha = !multiplied || isnan(alpha) ? settled : alpha;
    r->gliding = r->alpha < settled || r->alpha > settled;
    r->stale = m->ready ? av_params_stale(&m->snapshot.params, &r->p) : AV_STAGE_SAMPLE;
    r->glide_only = r->stale > AV_STAGE_LOGITS && (r->alpha < m->alpha || r->alpha > m->alpha);
    r->stale = r->glide_only ? AV_STAGE_LOGITS : r->stale;
}

/* Says what the snapshot is of, and points it at the buffers. */
static void publish(struct av_model *m, const struct request *r)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    const struct av_params *p = &r->p;
    s->params = *p;
    s->alpha = r->alpha;
    s->gliding = r->gliding;
    s->from_logits = p->logits.n > 0;
    s->from = r->from;
    s->probed = p->key_offset != 0;
    s->varied = av_variant_without(p->variant, AV_GROUP_TRAINING) != 0 || p->dtype != AV_DTYPE_F64;
    if (r->from != AV_PART_WEIGHTS) { /* of weights WEIGHTS finds it out */
        s->simplex = (av_variant_flags(p->variant) & AV_VARIANT_NOT_SIMPLEX) == 0;
    }
    if (r->from != AV_PART_SCORES || r->stale <= AV_STAGE_MOMENTS) { /* of scores MOMENTS adds to it */
        s->patterned = av_variant_of(p->variant, AV_GROUP_PATTERN) != NULL;
    }
    s->from_files = m->source != NULL && !s->from_logits;
    s->source = s->from_files ? m->source : NULL;
    s->layer = s->from_files ? &m->source->layers[p->layer] : NULL;
    s->loaded = s->from_files ? &m->head : NULL;
    s->heads = s->from_logits ? 0 : (size_t)p->n_head;
    s->scores = s->from_logits || r->from == AV_PART_WEIGHTS ? NULL : r->shape.given ? m->head.given : b->scores;
    s->logits = r->from == AV_PART_WEIGHTS ? NULL : b->logits;
    s->weights = b->weights;
    s->rows = b->rows;
    s->invalid = b->invalid;
    s->invalid_scores = b->invalid_scores;
    s->form = r->stale <= AV_STAGE_WEIGHTS ? NULL : s->form;
}

static void put_head_back(struct av_model *m)
{
    if (m->spare_head.memory != NULL) {
        av_loaded_head_free(&m->head);
        m->head = m->spare_head;
        memset(&m->spare_head, 0, sizeof m->spare_head);
    }
}

/* Puts back what stood before an update that failed behind SCORES. Entries and
 * scores in memory that is not new are made again: they are functions of the
 * parameters, and nothing has to be allocated for them. */
static void take_back(struct av_model *m, const struct av_snapshot *was, enum av_stage stale)
{
    put_head_back(m);
    if (m->ready && m->spare.rows != NULL) {
        av_buffers_free(&m->buffers);
        m->buffers = m->spare;
        memset(&m->spare, 0, sizeof m->spare);
    } else if (m->ready && stale <= AV_STAGE_MOMENTS) {
        if (stale <= AV_STAGE_SCORES) {
            av_stage_scores(m, &was->params, m->buffers.shape, NULL);
        }
        m->snapshot = *was;
        av_stage_moments(m);
    }
    m->snapshot = *was;
    for (size_t i = 0; i < AV_STATES; i++) {
        m->engines[i].begun = false;
    }
}

/* All that can fail: SAMPLE to MOMENTS, and the engines made ready for what
 * comes behind. When one fails the old state stands. */
static enum av_status prepare(struct av_model *m, const struct request *r, struct av_error *e)
{
    const struct av_snapshot was = m->snapshot;
    enum av_status status = av_variant_check(r->p.variant, &r->p, e);
    if (status == AV_OK && m->source != NULL && r->p.logits.n == 0) {
        status = av_stage_load(m, &r->p, e);
    }
    if (status == AV_OK && r->stale <= AV_STAGE_SCORES) {
        status = av_stage_scores(m, &r->p, r->shape, e);
    }
    if (status != AV_OK) {
        put_head_back(m);
        return status;
    }
    publish(m, r);
    m->snapshot.diagnosis = NULL;
    if (r->stale <= AV_STAGE_MOMENTS) {
        av_stage_moments(m);
    }
    m->engines[AV_STATE_NOW].begun &= r->stale > AV_STAGE_LOGITS;
    m->engines[AV_STATE_OTHER].begun &= r->stale > AV_STAGE_LOGITS || r->glide_only;
    status = av_engines_begin(m, r->needs, r->gliding ? r->alpha : (double)NAN, e);
    if (status != AV_OK) {
        take_back(m, &was, r->stale);
    }
    av_buffers_free(&m->spare);
    av_loaded_head_free(&m->spare_head);
    return status;
}

/* LOGITS and WEIGHTS, by what makes them. */
static void run_rows(struct av_model *m, unsigned needs)
{
    if (m->snapshot.from == AV_PART_WEIGHTS) {
        av_stage_given_rows(m);
    } else if (av_rows_by_engine(&m->snapshot)) {
        av_stage_varied_rows(m, needs);
    } else {
        av_stage_rows(m);
    }
}

static enum av_status update(struct av_model *m, const struct request *r, struct av_error *e)
{
    enum av_status status = prepare(m, r, e);
    if (status != AV_OK) {
        return status;
    }
    m->alpha = r->alpha;
    av_stage_forget(m, r->stale, r->glide_only);
    if (r->stale <= AV_STAGE_WEIGHTS) {
        run_rows(m, r->needs);
    }
    if (r->stale <= AV_STAGE_STATS) {
        av_stage_stats(m);
    }
    av_stage_needs(m, r->needs);
    m->ready = true;
    return AV_OK;
}

enum av_status av_model_update(struct av_model *m, const struct av_params *p, unsigned needs, struct av_error *e)
{
    return av_model_glide(m, p, needs, (double)NAN, e);
}

enum av_status av_model_glide(struct av_model *m, const struct av_params *p, unsigned needs, double alpha,
                              struct av_error *e)
{
    struct request r;
    make_request(&r, m, p, needs, alpha);
    return update(m, &r, e);
}

enum av_status av_model_diagnose(struct av_model *m, struct av_error *e)
{
    struct av_snapshot *s = &m->snapshot;
    if (!s->from_files) {
        return AV_OK;
    }
    enum av_status status =
        av_diagnose_head(&m->diagnosis, s->source, m->head.layer, m->head.head, &s->params, m->kernels, e);
    if (status == AV_OK) {
        av_diagnosis_complete(&m->diagnosis, s);
    }
    s->diagnosis = status == AV_OK ? &m->diagnosis : NULL;
    return status;
}

/* How often the product of queries and keys, or as much work, is done again for
 * the rows of a state: by what makes entries of its own, or imitates arithmetic. */
static double products_of_rows(const struct av_params *p)
{
    bool again = (av_variant_flags(p->variant) & AV_VARIANT_ENTRIES) != 0 || p->dtype != AV_DTYPE_F64;
    return again ? 1 : 0;
}

double av_model_cost(const struct av_model *m, const struct av_params *asked, unsigned needs)
{
    enum { DQ_PRODUCTS = 6 };
    struct request r;
    make_request(&r, m, asked, needs, (double)NAN);
    bool rows_stale = r.stale <= AV_STAGE_STATS || m->snapshot.gliding;
    bool dq_stale = rows_stale || (m->done & AV_NEED_DQ) == 0;
    bool other_stale = rows_stale || (m->done & AV_NEED_OTHER) == 0;
    double rows = products_of_rows(&r.p);
    double products = r.stale <= AV_STAGE_SCORES ? 1 : 0;
    products += rows_stale ? rows : 0;
    products += (needs & AV_NEED_OTHER) != 0 && other_stale ? rows : 0;
    products += (needs & AV_NEED_DQ) != 0 && dq_stale ? DQ_PRODUCTS : 0;
    return products * (double)r.shape.n_q * (double)r.shape.n_k * (double)r.shape.d;
}

const struct av_snapshot *av_model_snapshot(const struct av_model *m)
{
    return &m->snapshot;
}
