/* views.c - the table of views. */
#include "attnviz/view.h"

#include <string.h>

/* One line X(name) for each file view_<name>.c, in the order of their
 * `.order`; made by the Makefile. */
#define X(name) extern const struct av_view av_view_##name;
#include "views.inc"
#undef X

static const struct av_view *const views[] = {
#define X(name) &av_view_##name,
#include "views.inc"
#undef X
};

enum {
#define X(name) VIEW_##name,
#include "views.inc"
#undef X
    VIEWS
};

const struct av_view *const *av_views(size_t *count)
{
    *count = VIEWS;
    return views;
}

const struct av_view *av_view_find(const char *name)
{
    for (size_t i = 0; i < VIEWS; i++) {
        if (strcmp(views[i]->name, name) == 0) {
            return views[i];
        }
    }
    return NULL;
}
