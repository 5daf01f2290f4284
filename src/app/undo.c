/* undo.c - a ring of earlier states; when it is full, the oldest goes. */
#include "app_state.h"

void av_undo_push(struct av_undo *u, const struct av_kept *kept, bool merge)
{
    if (merge && u->count > 0 && u->ring[(u->first + u->count - 1) % AV_UNDO_MAX].merge) {
        return;
    }
    if (u->count == AV_UNDO_MAX) {
        u->first = (u->first + 1) % AV_UNDO_MAX;
        u->count--;
    }
    size_t at = (u->first + u->count) % AV_UNDO_MAX;
    u->ring[at].kept = *kept;
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

bool av_undo_pop(struct av_undo *u, struct av_kept *out)
{
    if (u->count == 0) {
        return false;
    }
    u->count--;
    u->fresh -= u->fresh > 0 ? 1 : 0;
    *out = u->ring[(u->first + u->count) % AV_UNDO_MAX].kept;
    return true;
}

void av_undo_forget(struct av_undo *u)
{
    u->count -= u->fresh;
    u->fresh = 0;
}
