/* model.c - the pipeline: which stages are stale, and running them.
 *
 * SAMPLE and SCORES work on whole matrices; LOGITS, WEIGHTS and STATS go row
 * by row, so that a row passes through all three while it is in the cache. */
#include "attnviz/mem.h"
#include "attnviz/variant.h"
#include "stages.h"

#include <math.h>

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
        av_theory_free(m->theory);
        av_free(m->scores_scratch);
        av_free(m);
    }
}

enum av_status av_model_use_tensors(struct av_model *m, const struct av_tensor *q, const struct av_tensor *k,
                                    struct av_error *e)
{
    if (q->d != k->d) {
        return av_fail(e, AV_FAILED, "%s has d_k %zu, %s has %zu: queries and keys must agree", q->name, q->d, k->name,
                       k->d);
    }
    if (q->heads % k->heads != 0) {
        return av_fail(e, AV_FAILED, "%s has %zu heads, %s has %zu: not a multiple", q->name, q->heads, k->name,
                       k->heads);
    }
    m->q_file = q;
    m->k_file = k;
    m->ready = false;
    return AV_OK;
}

void av_params_from_tensors(struct av_params *p, const struct av_tensor *q, const struct av_tensor *k)
{
    p->n_q = (int64_t)q->n;
    p->n_k = (int64_t)k->n;
    p->d_k = (int64_t)q->d;
    p->n_head = (int64_t)q->heads;
}

/* Puts the sizes that really hold into what a caller asked for. */
static struct av_shape effective(const struct av_model *m, struct av_params *p)
{
    if (p->logits.n > 0) {
        p->n_q = 1;
        p->n_k = p->logits.n;
        p->variant = av_variant_on_logits(p->variant);
        return (struct av_shape){ 1, (size_t)p->n_k, 0 };
    }
    if (m->q_file != NULL) {
        av_params_from_tensors(p, m->q_file, m->k_file);
    }
    return (struct av_shape){ (size_t)p->n_q, (size_t)p->n_k, (size_t)p->d_k };
}

/* Points the snapshot at the buffers and says what it is of. */
static void publish(struct av_model *m)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_buffers *b = &m->buffers;
    s->from_files = m->q_file != NULL && !s->from_logits;
    s->q_file = s->from_files ? m->q_file : NULL;
    s->k_file = s->from_files ? m->k_file : NULL;
    s->heads = s->from_files ? m->q_file->heads : 0;
    s->scores = s->from_logits ? NULL : b->scores;
    s->logits = b->logits;
    s->weights = b->weights;
    s->rows = b->rows;
    s->invalid = b->invalid;
}

/* alpha: the multiplier in force; NaN for that of the parameters. */
static enum av_status update(struct av_model *m, const struct av_params *asked, unsigned needs, double alpha,
                             struct av_error *e)
{
    struct av_snapshot *s = &m->snapshot;
    struct av_params p = *asked;
    struct av_shape shape = effective(m, &p);
    double settled = p.logits.n > 0 ? 1 : av_params_alpha(&p);
    if (isnan(alpha) || p.logits.n > 0) {
        alpha = settled;
    }
    enum av_stage stale = m->ready ? av_params_stale(&s->params, &p) : AV_STAGE_SAMPLE;
    bool glide_only = stale > AV_STAGE_LOGITS && (alpha < s->alpha || alpha > s->alpha);
    stale = glide_only ? AV_STAGE_LOGITS : stale;
    if (stale <= AV_STAGE_SCORES) {
        enum av_status status = av_stage_scores(m, &p, shape, e);
        if (status != AV_OK) {
            return status;
        }
    }
    s->params = p;
    s->alpha = alpha;
    s->gliding = alpha < settled || alpha > settled;
    s->from_logits = p.logits.n > 0;
    s->probed = p.key_offset != 0;
    av_stage_forget(m, stale, glide_only);
    publish(m);
    if (stale <= AV_STAGE_MOMENTS) {
        av_stage_moments(m);
    }
    if (stale <= AV_STAGE_WEIGHTS) {
        av_stage_rows(m);
    }
    if (stale <= AV_STAGE_STATS) {
        av_stage_stats(m);
    }
    av_stage_needs(m, needs);
    m->ready = true;
    return AV_OK;
}

enum av_status av_model_update(struct av_model *m, const struct av_params *p, unsigned needs, struct av_error *e)
{
    return update(m, p, needs, (double)NAN, e);
}

enum av_status av_model_glide(struct av_model *m, const struct av_params *p, unsigned needs, double alpha,
                              struct av_error *e)
{
    return update(m, p, needs, alpha, e);
}

double av_model_cost(const struct av_model *m, const struct av_params *asked, unsigned needs)
{
    enum { DQ_PRODUCTS = 6 };
    const struct av_snapshot *s = &m->snapshot;
    struct av_params p = *asked;
    struct av_shape shape = effective(m, &p);
    enum av_stage stale = m->ready ? av_params_stale(&s->params, &p) : AV_STAGE_SAMPLE;
    bool dq_stale = stale <= AV_STAGE_STATS || s->gliding || (m->done & AV_NEED_DQ) == 0;
    double products = stale <= AV_STAGE_SCORES ? 1 : 0;
    products += (needs & AV_NEED_DQ) != 0 && dq_stale ? DQ_PRODUCTS : 0;
    return products * (double)shape.n_q * (double)shape.n_k * (double)shape.d;
}

const struct av_snapshot *av_model_snapshot(const struct av_model *m)
{
    return &m->snapshot;
}
