/* train_io.c - a training experiment as CSV, and in the format asked for. */
#include "train_formats.h"

#include <math.h>

const char *av_train_state_name(enum av_train_state state)
{
    static const char *const names[] = { "unfinished", "done", "diverged" };
    return names[state];
}

const char *av_twin_name(enum av_twin twin)
{
    static const char *const names[AV_TWINS] = { "scale on", "scale off" };
    return names[twin];
}

void av_train_csv_header(struct av_str *out)
{
    av_str_add(out, "run,scale,epoch,step");
    for (size_t f = 0; f < AV_TRAIN_COLUMNS; f++) {
        av_str_addf(out, ",%s", av_train_fields[f].name);
    }
    av_str_add(out, "\n");
}

static void add_row(struct av_str *out, int number, enum av_twin twin, size_t epoch, size_t epoch_steps,
                    const struct av_train_record *mean)
{
    av_str_addf(out, "%d,%s,%zu,%zu", number, twin == AV_TWIN_SCALED ? "on" : "off", epoch + 1,
                (epoch + 1) * epoch_steps);
    for (size_t f = 0; f < AV_TRAIN_COLUMNS; f++) {
        if (isfinite(mean->at[f])) {
            av_str_addf(out, ",%.17g", mean->at[f]);
        } else {
            av_str_add(out, ",");
        }
    }
    av_str_add(out, "\n");
}

void av_train_csv_rows(struct av_str *out, const struct av_train *t, size_t from, size_t to)
{
    for (size_t epoch = from; epoch < to; epoch++) {
        int number = 0;
        for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
            const struct av_train_run *run = av_train_run(t, twin);
            number += av_train_config(t)->runs[twin];
            if (epoch < run->epoch_count) {
                add_row(out, number, twin, epoch, av_train_epoch_steps(t), &run->epochs[epoch]);
            }
        }
    }
}

static void write_csv(struct av_str *out, const struct av_train *t, const struct av_params *p)
{
    (void)p;
    av_train_csv_header(out);
    av_train_csv_rows(out, t, 0, av_train_config(t)->epochs);
}

enum av_status av_train_write(struct av_str *out, enum av_format format, const struct av_train *t,
                              const struct av_params *p, struct av_error *e)
{
    static void (*const writers[AV_FORMAT_COUNT])(struct av_str *, const struct av_train *,
                                                  const struct av_params *) = {
        [AV_FORMAT_TEXT] = av_train_text,
        [AV_FORMAT_JSON] = av_train_json,
        [AV_FORMAT_CSV] = write_csv,
    };
    writers[format](out, t, p);
    return out->failed ? av_fail_nomem(e, "the curves") : AV_OK;
}
