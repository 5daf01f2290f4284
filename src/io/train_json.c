/* train_json.c - a training experiment as one JSON object. */
#include "report_formats.h"
#include "train_formats.h"

#include <string.h>

static void write_params(struct av_json *j, const struct av_params *p)
{
    size_t rows;
    const struct av_param *table = av_params_table(&rows);
    av_json_object(j, "params");
    for (const char *const *name = av_train_listens; *name != NULL; name++) {
        if (strcmp(*name, AV_ALL_OWNED) != 0) {
            av_report_json_param(j, av_param_find(*name), p);
        }
    }
    for (size_t i = 0; i < rows; i++) {
        if ((table[i].flags & AV_PARAM_OWNED) != 0 && av_variant_owns(p->variant, table[i].name)) {
            av_report_json_param(j, &table[i], p);
        }
    }
    av_json_close(j, '}');
}

/* Scalars that are learned beside the matrices, as they are after the last step. */
static void write_scalars(struct av_json *j, const struct av_train_run *run, const struct av_train_config *c)
{
    av_json_object(j, "learned");
    for (enum av_train_scalar i = 0; i < AV_TRAIN_SCALARS; i++) {
        if (av_train_learns(c, i)) {
            av_json_number(j, av_train_scalar_name(c, i), run->scalars[i]);
        }
    }
    av_json_close(j, '}');
}

static void write_record(struct av_json *j, const struct av_train_record *record)
{
    for (size_t f = 0; f < AV_TRAIN_FIELDS; f++) {
        av_json_number(j, av_train_fields[f].name, record->at[f]);
    }
}

static void write_epochs(struct av_json *j, const struct av_train_run *run, size_t epoch_steps)
{
    av_json_array(j, "epochs");
    for (size_t i = 0; i < run->epoch_count; i++) {
        av_json_object(j, NULL);
        av_json_unsigned(j, "epoch", i + 1);
        av_json_unsigned(j, "step", (i + 1) * epoch_steps);
        write_record(j, &run->epochs[i]);
        av_json_close(j, '}');
    }
    av_json_close(j, ']');
}

/* Single steps, which an epoch's mean hides. */
static void write_first_steps(struct av_json *j, const struct av_train_run *run)
{
    av_json_array(j, "first_steps");
    for (size_t i = 0; i < run->first_count; i++) {
        av_json_object(j, NULL);
        av_json_unsigned(j, "step", i + 1);
        write_record(j, &run->first[i]);
        av_json_close(j, '}');
    }
    av_json_close(j, ']');
}

static void write_run(struct av_json *j, const struct av_train *t, int number, enum av_twin twin)
{
    const struct av_train_run *run = av_train_run(t, twin);
    av_json_object(j, NULL);
    av_json_integer(j, "run", number);
    av_json_string(j, "scale", twin == AV_TWIN_SCALED ? "on" : "off");
    av_json_string(j, "state", av_train_state_name(run->state));
    av_json_unsigned(j, "steps", run->steps);
    if (run->state == AV_TRAIN_DIVERGED) {
        av_json_unsigned(j, "diverged_step", run->steps + 1);
    } else {
        av_json_null(j, "diverged_step");
    }
    write_scalars(j, run, av_train_config(t));
    if (av_train_clips(av_train_config(t))) {
        av_json_unsigned(j, "clipped_steps", run->clipped);
    }
    write_epochs(j, run, av_train_epoch_steps(t));
    write_first_steps(j, run);
    av_json_close(j, '}');
}

void av_train_json(struct av_str *out, const struct av_train *t, const struct av_params *p)
{
    struct av_json j;
    int number = 0;
    av_json_begin(&j, out);
    av_json_object(&j, NULL);
    av_json_string(&j, "version", AV_VERSION);
    write_params(&j, p);
    av_json_array(&j, "runs");
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        if (av_train_config(t)->runs[twin]) {
            write_run(&j, t, ++number, twin);
        }
    }
    av_json_close(&j, ']');
    av_json_close(&j, '}');
}
