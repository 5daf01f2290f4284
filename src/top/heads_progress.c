/* heads_progress.c - how far a report over heads is, told on a terminal. */
#include "heads_progress.h"

#include <stdio.h>

/* What a pair of a query and a key takes beside its product, in multiply-adds. */
static const double PAIR = 64;

static double work_of(const struct av_source_layer *l)
{
    return (double)l->n_q * (double)l->n_k * ((double)l->d + PAIR);
}

void av_heads_progress_begin(struct av_heads_progress *p, const struct av_source *source)
{
    *p = (struct av_heads_progress){ .source = source, .heads = av_source_heads(source) };
    for (size_t i = 0; i < source->layer_count; i++) {
        p->all += (double)source->layers[i].n_head * work_of(&source->layers[i]);
    }
    av_progress_begin(&p->line, p->what);
}

void av_heads_progress_head(struct av_heads_progress *p, size_t layer)
{
    if (p->source == NULL) {
        return;
    }
    p->done += p->head;
    p->head = work_of(&p->source->layers[layer]);
    p->begun++;
    snprintf(p->what, sizeof p->what, "head %zu of %zu", p->begun, p->heads);
    av_heads_progress_share(p, 0);
}

void av_heads_progress_share(struct av_heads_progress *p, double share)
{
    if (p->source != NULL) {
        av_progress_share(&p->line, (p->done + share * p->head) / p->all);
    }
}

void av_heads_progress_end(struct av_heads_progress *p)
{
    if (p->source != NULL) {
        av_progress_end(&p->line);
    }
}
