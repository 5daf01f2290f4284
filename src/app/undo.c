/* undo.c - a ring of earlier parameters; when it is full, the oldest goes. */
#include "app_state.h"

void av_undo_push(struct av_undo *u, const struct av_params *p, bool merge)
{
    if (merge && u->count > 0 && u->ring[(u->first + u->count - 1) % AV_UNDO_MAX].merge) {
        return;
    }
    if (u->count == AV_UNDO_MAX) {
        u->first = (u->first + 1) % AV_UNDO_MAX;
        u->count--;
    }
    size_t at = (u->first + u->count) % AV_UNDO_MAX;
    u->ring[at].params = *p;
    u->ring[at].merge = merge;
    u->count++;
    u->fresh = u->fresh < u->count ? u->fresh + 1 : u->count;
}

void av_undo_close(struct av_undo *u)
{
    if (u->count > 0) {
        u->ring[(u->first + u->count - 1) % AV_UNDO_MAX].merge = false;
    }
}

bool av_undo_pop(struct av_undo *u, struct av_params *p)
{
    if (u->count == 0) {
        return false;
    }
    u->count--;
    u->fresh -= u->fresh > 0 ? 1 : 0;
    *p = u->ring[(u->first + u->count) % AV_UNDO_MAX].params;
    return true;
}

void av_undo_forget(struct av_undo *u)
{
    u->count -= u->fresh;
    u->fresh = 0;
}
