/* training_findings.c - what can be said of the twin runs: the rules behind the words. */
#include "attnviz/snapshot.h"
#include "attnviz/training.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define SAME 0.01   /* losses this close, relative to the lower, are called the same */
#define AT_ZERO 0.1 /* a loss this close to that of an output of 0 */

static const char *const NAMES[AV_TWINS] = { [AV_TWIN_SCALED] = "scaled", [AV_TWIN_UNSCALED] = "unscaled" };

struct list {
    struct av_training_finding *lines;
    size_t count;
};

static void AV_PRINTF(3, 4) say(struct list *list, bool alarm, const char *format, ...)
{
    if (list->count == AV_TRAINING_FINDINGS) {
        return;
    }
    struct av_training_finding *f = &list->lines[list->count++];
    va_list args;
    va_start(args, format);
    vsnprintf(f->text, sizeof f->text, format, args);
    va_end(args);
    f->alarm = alarm;
}

static void say_diverged(struct list *list, const struct av_training *t, enum av_twin twin)
{
    const struct av_training_run *r = &t->runs[twin];
    if (r->asked && r->state == AV_TRAIN_DIVERGED) {
        say(list, true, "%s diverged at step %" PRIu64 ": loss or gradient not finite; its curves end there",
            NAMES[twin], r->steps + 1);
    }
}

/* The epoch that both runs have last ended, 0: none, or one of them is alone. */
static size_t last_common(const struct av_training *t)
{
    const size_t a = t->runs[AV_TWIN_SCALED].ended[AV_TRAINING_EPOCHS];
    const size_t b = t->runs[AV_TWIN_UNSCALED].ended[AV_TRAINING_EPOCHS];
    return a < b ? a : b;
}

/* To two digits, the rest of a large number being of no meaning. */
static double two_digits(double v)
{
    const double unit = pow(10, floor(log10(v)) - 1);
    return round(v / unit) * unit;
}

/* How the losses of the last epoch compare. */
static void say_losses(struct list *list, const struct av_training *t)
{
    const struct av_train_record *records[AV_TWINS];
    const size_t epoch = last_common(t);
    char when[48];
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        records[i] = epoch > 0 ? av_training_record(t, AV_TRAINING_EPOCHS, i, epoch) : NULL;
        if (records[i] == NULL) {
            return;
        }
    }
    const double scaled = records[AV_TWIN_SCALED]->at[AV_TRAIN_LOSS];
    const double unscaled = records[AV_TWIN_UNSCALED]->at[AV_TRAIN_LOSS];
    const enum av_twin high = unscaled > scaled ? AV_TWIN_UNSCALED : AV_TWIN_SCALED;
    const double lo = fmin(scaled, unscaled), hi = fmax(scaled, unscaled);
    if (epoch == t->config.epochs) {
        snprintf(when, sizeof when, "at the end");
    } else {
        snprintf(when, sizeof when, "epoch %zu", epoch);
    }
    if (hi - lo <= SAME * lo) {
        say(list, false, "%s: the same loss within 1%%, scaled %.4g, unscaled %.4g", when, scaled, unscaled);
    } else if (lo <= 0) {
        say(list, false, "%s: loss scaled %.3g, unscaled %.3g", when, scaled, unscaled);
    } else if (hi < 2 * lo) {
        say(list, false, "%s: loss scaled %.3g, unscaled %.3g: %s is %.0f%% higher", when, scaled, unscaled,
            NAMES[high], 100 * (hi / lo - 1));
    } else {
        say(list, false, "%s: loss scaled %.3g, unscaled %.3g: %s is %.*f times as high", when, scaled, unscaled,
            NAMES[high], hi / lo < 10 ? 1 : 0, two_digits(hi / lo));
    }
}

/* A run that at last is no better than an output of 0. */
static void say_nothing_learned(struct list *list, const struct av_training *t, enum av_twin twin)
{
    const struct av_training_run *r = &t->runs[twin];
    const double loss = r->latest[AV_TRAINING_EPOCHS].at[AV_TRAIN_LOSS];
    if (r->ended[AV_TRAINING_EPOCHS] == t->config.epochs && fabs(loss / t->zero_loss - 1) <= AT_ZERO) {
        say(list, true, "%s ends within %.0f%% of what an output of 0 costs: loss %.3g, 0 has %.3g", NAMES[twin],
            100 * AT_ZERO, loss, t->zero_loss);
    }
}

/* The share of epochs that are saturated. */
static void say_saturated(struct list *list, const struct av_training *t)
{
    char parts[AV_TWINS][64] = { "", "" };
    bool any = false;
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        const struct av_training_run *r = &t->runs[i];
        const size_t count = r->fired[AV_TRAINING_EPOCHS][AV_TRAINING_LARGEST].count;
        any = any || count > 0;
        if (r->ended[AV_TRAINING_EPOCHS] > 0) {
            snprintf(parts[i], sizeof parts[i], "%s in %zu of %zu", NAMES[i], count, r->ended[AV_TRAINING_EPOCHS]);
        }
    }
    const bool both = parts[0][0] != '\0' && parts[1][0] != '\0';
    if (parts[0][0] != '\0' || parts[1][0] != '\0') {
        say(list, any, "largest weight above %g: %s%s%s epochs", AV_LARGEST_ALARM, parts[0], both ? ", " : "",
            parts[1]);
    }
}

size_t av_training_findings(const struct av_training *t, struct av_training_finding lines[AV_TRAINING_FINDINGS])
{
    struct list list = { lines, 0 };
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        say_diverged(&list, t, i);
    }
    say_losses(&list, t);
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        say_nothing_learned(&list, t, i);
    }
    say_saturated(&list, t);
    return list.count;
}
