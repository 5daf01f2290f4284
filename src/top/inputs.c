/* inputs.c - from options to parameters and files that fit together. */
#include "inputs.h"

#include "attnviz/keys.h"
#include "attnviz/out.h"
#include "attnviz/theme_files.h"
#include "attnviz/variant.h"
#include "complain.h"

#include <stdio.h>
#include <string.h>

static enum av_status take_files(struct av_inputs *in, const struct av_options *o, struct av_error *e)
{
    if (o->size_set != NULL) {
        return av_fail(e, AV_USAGE, "%s: the files say how large it is", o->size_set);
    }
    if (o->logits_set) {
        return av_fail(e, AV_USAGE, "logits: files are given, and scores come from them");
    }
    in->params.logits.n = 0; /* of the settings file, if any: the command line wins */
    enum av_status s = av_files_open(&in->files, (const char *const *)o->files, o->file_count, &o->files_as, e);
    if (s != AV_OK) {
        return s;
    }
    in->source = av_files_source(in->files);
    if (in->params.layer < 0 || in->params.layer >= (int64_t)in->source->layer_count) {
        return av_fail(e, AV_USAGE, "layer=%lld: out of range 0 .. %zu", (long long)in->params.layer,
                       in->source->layer_count - 1);
    }
    av_params_from_source(&in->params, in->source);
    if (in->source->masked && !o->mask_set) {
        in->params.mask = (int64_t)in->source->mask;
    }
    return AV_OK;
}

/* Settings that the file's weights, or scores, follow. A head that cannot be read
 * is told of when its numbers are asked for. */
static void adopt(struct av_inputs *in, const struct av_options *o)
{
    struct av_params *p = &in->params;
    const struct av_source_layer *l = &in->source->layers[p->layer];
    bool along = l->part[AV_PART_WEIGHTS].there || l->part[AV_PART_SCORES].there;
    const struct av_adoption allowed = {
        .multiplier = l->d > 0 && !o->multiplier_set && p->scale != 0 && p->exponent == 0.5,
        .mask = !o->mask_set && !in->source->masked,
    };
    struct av_diagnosis found;
    if (along && (allowed.multiplier || allowed.mask) && (size_t)p->head < l->n_head &&
        av_diagnose_head(&found, in->source, (size_t)p->layer, (size_t)p->head, p, NULL, NULL) == AV_OK) {
        av_params_adopt(p, &found, l, allowed, in->adopted);
    }
}

enum av_status av_inputs_read(struct av_inputs *in, const struct av_options *o, struct av_error *e)
{
    memset(in, 0, sizeof *in);
    in->params = o->params;
    enum av_status s = o->file_count > 0 ? take_files(in, o, e) : AV_OK;
    if (s == AV_OK) {
        s = av_params_check(&in->params, o->file_count > 0, e);
    }
    if (s == AV_OK && in->source != NULL) {
        s = av_source_check(in->source->layers, in->source->layer_count, &in->params, e);
    }
    s = s == AV_OK ? av_variant_check(in->params.variant, &in->params, e) : s;
    if (s == AV_OK && in->source != NULL) {
        adopt(in, o);
    }
    return s;
}

void av_inputs_free(struct av_inputs *in)
{
    av_files_close(in->files);
}

enum av_status av_inputs_app_status(const struct av_app *app, struct av_error *e)
{
    enum av_status s = av_app_status(app);
    return s == AV_OK ? s : av_fail(e, s, "%s", av_app_message(app));
}

/* Presses the keys named in `names`, separated by spaces, and computes
 * where they lead to: a key that failed is the last. */
static enum av_status press(struct av_app *app, const char *names, struct av_error *e)
{
    for (const char *at = names + strspn(names, " "); *at != '\0'; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        char name[16] = "";
        uint32_t key = AV_KEY_NONE;
        if (len < sizeof name) {
            memcpy(name, at, len);
            key = av_key_parse(name);
        }
        if (key == AV_KEY_NONE) {
            return av_fail(e, AV_USAGE, "--keys %.*s: no such key; --list keys lists them", (int)len, at);
        }
        av_app_key(app, key);
        av_app_settle(app);
        if (av_inputs_app_status(app, e) != AV_OK) {
            return av_app_status(app);
        }
        at += len;
    }
    av_app_snapshot(app, 0);
    return av_inputs_app_status(app, e);
}

/* Is the theme there? One that exists but is broken is told on standard error
 * and replaced by the default (NULL); a name that no theme has is an error. */
static enum av_status choose_theme(const char **name, struct av_error *e)
{
    struct av_theme theme;
    enum av_status s = av_theme_load(&theme, *name, e);
    if (s == AV_FAILED) {
        struct av_error why;
        av_fail(&why, s, "%s; going on with the default theme", e->text);
        av_complain(why.text);
        *name = NULL;
        return AV_OK;
    }
    return s;
}

/* The view to begin with: of several heads, or of weights that Q and K may not
 * explain, all of them before one. */
static const char *first_view(const struct av_inputs *in, const struct av_options *o)
{
    const struct av_source *s = in->source;
    if (o->view != NULL || s == NULL) {
        return o->view;
    }
    const struct av_source_layer *l = &s->layers[0];
    bool along = l->d > 0 && (l->part[AV_PART_WEIGHTS].there || l->part[AV_PART_SCORES].there);
    return along || av_source_heads(s) > 1 ? "heads" : NULL;
}

enum av_status av_inputs_app(struct av_app **app, const struct av_inputs *in, const struct av_options *o, bool ascii,
                             struct av_error *e)
{
    char notice[AV_ADOPTED_MAX + 64];
    snprintf(notice, sizeof notice, "%s, as the file's weights follow", in->adopted);
    struct av_app_config config = {
        .params = in->params,
        .notice = in->adopted[0] != '\0' ? notice : NULL,
        .view = first_view(in, o),
        .theme = o->theme,
        .animation = o->animation,
        .ascii = ascii,
        .source = in->source,
        .picture = av_out_svg,
    };
    *app = NULL;
    enum av_status s = choose_theme(&config.theme, e);
    if (s == AV_OK) {
        s = av_app_new(app, &config, e);
    }
    if (s != AV_OK) {
        return s;
    }
    av_app_resize(*app, o->cols, o->rows);
    s = av_inputs_app_status(*app, e);
    if (s == AV_OK && o->keys != NULL) {
        s = press(*app, o->keys, e);
    }
    if (s != AV_OK) {
        av_app_free(*app);
        *app = NULL;
    }
    return s;
}

enum av_status av_inputs_press(struct av_inputs *in, const struct av_options *o, struct av_error *e)
{
    if (o->keys == NULL) {
        return AV_OK;
    }
    struct av_app *app;
    enum av_status s = av_inputs_app(&app, in, o, false, e);
    if (s == AV_OK) {
        const struct av_snapshot *shown = av_app_snapshot(app, 0);
        in->params = shown->params;
        if (shown->layer != NULL) { /* the program has the last queries of a long head, a report all */
            in->params.query += (int64_t)shown->layer->left_out;
            av_params_from_source(&in->params, in->source);
        }
        av_app_free(app);
    }
    return s;
}
