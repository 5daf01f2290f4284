/* diversity_pairs.c - heads against each other, and means over what was found. */
#include "attnviz/divergence.h"
#include "attnviz/variant.h"
#include "diversity_state.h"

#include <math.h>
#include <string.h>

double av_diversity_compare(struct av_diversity_state *s)
{
    size_t a = s->head;
    size_t n = s->buffers.n_k;
    struct av_diversity_sums *sums = &s->sums;
    const struct av_diversity_row *mine = av_diversity_seen(s, s->place, a, s->row);
    size_t compared = 0;
    for (size_t b = a + 1; b < s->result.heads; b++) {
        const struct av_diversity_row *other = av_diversity_seen(s, s->place, b, s->row);
        if (mine->counts && other->counts) {
            sums->pair[a][b] += av_js_divergence(av_diversity_weights(s, s->place, a, s->row),
                                                 av_diversity_weights(s, s->place, b, s->row), n);
            sums->shared[a][b] += mine->argmax == other->argmax;
            sums->rows[a][b]++;
        }
        compared++;
    }
    return AV_DIVERSITY_NS_COMPARE * (double)(compared * n);
}

/* Mean of what is not NaN; NaN of nothing. */
struct mean {
    double sum;
    size_t count;
};

static void add(struct mean *m, double x)
{
    if (!isnan(x)) {
        m->sum += x;
        m->count++;
    }
}

static double mean(const struct mean *m)
{
    return m->count > 0 ? m->sum / (double)m->count : (double)NAN;
}

/* Means over the rows of one head; of 1/keys into *chance. */
static struct av_diversity_head head_means(const struct av_diversity_state *s, size_t head, struct mean *chance)
{
    struct mean entropy = { 0, 0 }, norm = { 0, 0 }, max = { 0, 0 };
    for (size_t r = 0; r < av_diversity_rows(s); r++) {
        const struct av_diversity_row *row = av_diversity_seen(s, s->place, head, r);
        if (row->counts) {
            add(&entropy, row->entropy);
            add(&norm, row->entropy_norm);
            add(&max, row->max);
            add(chance, 1 / (double)row->keys);
        }
    }
    return (struct av_diversity_head){
        .rows = max.count, .entropy = mean(&entropy), .entropy_norm = mean(&norm), .max = mean(&max)
    };
}

/* Means over the rows of two heads; NaN without one. */
static double pair_divergence(const struct av_diversity_sums *sums, size_t a, size_t b)
{
    return sums->rows[a][b] > 0 ? sums->pair[a][b] / (double)sums->rows[a][b] : (double)NAN;
}

static double pair_shared(const struct av_diversity_sums *sums, size_t a, size_t b)
{
    return sums->rows[a][b] > 0 ? (double)sums->shared[a][b] / (double)sums->rows[a][b] : (double)NAN;
}

void av_diversity_put_present(struct av_diversity_state *s)
{
    struct av_diversity *r = &s->result;
    struct mean all = { 0, 0 }, shared = { 0, 0 }, norm = { 0, 0 }, chance = { 0, 0 };
    for (size_t a = 0; a < r->heads; a++) {
        struct mean own = { 0, 0 };
        r->of[a] = head_means(s, a, &chance);
        add(&norm, r->of[a].entropy_norm);
        r->pair[a][a] = r->of[a].rows > 0 ? 0 : (double)NAN;
        r->pair_shared[a][a] = r->of[a].rows > 0 ? 1 : (double)NAN;
        for (size_t b = 0; b < a; b++) {
            add(&own, r->pair[a][b]);
        }
        for (size_t b = a + 1; b < r->heads; b++) {
            r->pair[a][b] = r->pair[b][a] = pair_divergence(&s->sums, a, b);
            r->pair_shared[a][b] = r->pair_shared[b][a] = pair_shared(&s->sums, a, b);
            add(&own, r->pair[a][b]);
            add(&all, r->pair[a][b]);
            add(&shared, r->pair_shared[a][b]);
        }
        r->of[a].divergence = mean(&own);
    }
    r->divergence = mean(&all);
    r->shared = mean(&shared);
    r->entropy_norm = mean(&norm);
    bool same_keys = (av_variant_flags(r->params.variant) & AV_VARIANT_SQUARE) == 0;
    r->chance = same_keys ? mean(&chance) : (double)NAN;
    r->known = true;
    memset(&s->sums, 0, sizeof s->sums);
}

void av_diversity_put_point(struct av_diversity_state *s, struct av_diversity_point *point)
{
    struct mean all = { 0, 0 }, norm = { 0, 0 }, chance = { 0, 0 };
    for (size_t a = 0; a < s->result.heads; a++) {
        add(&norm, head_means(s, a, &chance).entropy_norm);
        for (size_t b = a + 1; b < s->result.heads; b++) {
            add(&all, pair_divergence(&s->sums, a, b));
        }
    }
    point->divergence = mean(&all);
    point->entropy_norm = mean(&norm);
    point->known = true;
    memset(&s->sums, 0, sizeof s->sums);
}
