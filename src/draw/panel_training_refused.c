/* panel_training_refused.c - what stands in the place of an experiment that there cannot be. */
#include "panels_training.h"

/* The study has no result, and so no words of its own: its rules are asked
 * again. Empty when they allow it, and memory was short. */
static const char *reason(const struct av_params *p, struct av_error *e)
{
    struct av_train_config config;
    e->text[0] = '\0';
    if (av_train_configure(&config, p, e) == AV_OK) {
        av_train_fits(&config, e);
    }
    return e->text;
}

void av_panel_training_refused(struct av_canvas *c, struct av_rect r, const struct av_params *p)
{
    struct av_error e;
    const char *const lines[] = { "training: no experiment with these parameters", reason(p, &e),
                                  "u undoes the change" };
    static const enum av_role roles[] = { AV_ROLE_TITLE, AV_ROLE_WARN, AV_ROLE_TEXT };
    int y = 0;
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        const struct av_rect rest = { r.x + 1, r.y + y, r.w - 2, r.h - y };
        y += lines[i][0] != '\0' ? av_plot_wrap(c, rest, roles[i], lines[i]) + 1 : 0;
    }
}
