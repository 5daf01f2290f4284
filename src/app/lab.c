/* lab.c - a row of logits that is edited by itself, beside the pipeline. */
#include "app_state.h"

void av_lab_begin(struct av_app *app)
{
    static const struct av_logit_list own = { 3, { 1, 0.5, -0.5 } };
    app->lab.everywhere = app->params.logits.n > 0;
    app->lab.row = app->lab.everywhere ? app->params.logits : own;
    app->start.logits = app->lab.row;
}

bool av_lab_holds(const struct av_app *app)
{
    return app->lab.on || app->lab.everywhere;
}

/* The row may have fewer keys than the pipeline: its selection waits. */
void av_lab_sync(struct av_app *app)
{
    struct av_lab *lab = &app->lab;
    bool on = app->view->lab && !lab->everywhere;
    if (on && !lab->on) {
        lab->key = app->params.key;
        lab->query = app->params.query;
        app->params.logits = lab->row;
        av_params_clamp(&app->params);
    } else if (!on && lab->on) {
        app->params.logits.n = 0;
        app->params.key = lab->key;
        app->params.query = lab->query;
        av_params_clamp(&app->params);
    }
    lab->on = on;
}

/* When it cannot be had, the state before stands. */
const struct av_snapshot *av_lab_pipeline(struct av_app *app)
{
    struct av_params p = app->params;
    struct av_error e;
    if (app->lab.on) {
        p.logits.n = 0;
        p.key = app->lab.key;
        p.query = app->lab.query;
        av_params_clamp(&p);
        av_model_update(app->model, &p, 0, &e);
    }
    return av_model_snapshot(app->model);
}

struct av_kept av_lab_remember(const struct av_app *app)
{
    const struct av_lab *lab = &app->lab;
    struct av_kept kept = { .params = app->params };
    kept.params.logits = lab->row;
    if (lab->on) {
        kept.in_lab = true;
        kept.row_key = app->params.key;
        kept.row_query = app->params.query;
        kept.params.key = lab->key;
        kept.params.query = lab->query;
    }
    return kept;
}

struct av_params av_lab_params(const struct av_app *app, const struct av_kept *kept)
{
    struct av_params p = kept->params;
    if (!av_lab_holds(app)) {
        p.logits.n = 0;
    } else if (app->lab.on && kept->in_lab) {
        p.key = kept->row_key;
        p.query = kept->row_query;
    }
    return p;
}

bool av_lab_differs(const struct av_app *app, const struct av_kept *kept)
{
    const struct av_lab *lab = &app->lab;
    struct av_params row = kept->params;
    row.logits = lab->row;
    bool waits = lab->on && (lab->key != kept->params.key || lab->query != kept->params.query);
    return waits || av_param_differs(av_param_find("logits"), &row, &kept->params);
}

void av_lab_take(struct av_app *app, const struct av_kept *kept)
{
    app->lab.row = kept->params.logits;
    app->lab.key = kept->params.key;
    app->lab.query = kept->params.query;
}
