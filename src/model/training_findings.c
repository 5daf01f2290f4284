/* training_findings.c - what can be said of the twin runs: the rules behind the words. */
#include "attnviz/snapshot.h"
#include "attnviz/training.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#define SAME 0.01   /* losses this close, relative to the lower, are called the same */
#define AT_ZERO 0.1 /* a loss this close to that of an output of 0 */
#define LEARNED 0.5 /* a run whose loss is below this share of it has learned */

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

static bool are_twins(const struct av_training *t)
{
    return t->runs[AV_TWIN_SCALED].asked && t->runs[AV_TWIN_UNSCALED].asked;
}

/* Where the variant leaves the scale nothing to do, there is one run, twice. */
static void say_no_difference(struct list *list, const struct av_training *t)
{
    const double alpha = t->config.alpha[AV_TWIN_SCALED];
    if (are_twins(t) && alpha == t->config.alpha[AV_TWIN_UNSCALED]) {
        say(list, false, "scale on or off, alpha is %.4g here: both runs are the same", alpha);
    }
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

/* The first epoch of those kept whose mean alpha is not above 0; 0: none, or
 * it was not above 0 from the start. */
static size_t crossing(const struct av_training *t, enum av_twin twin)
{
    const struct av_training_curve *curve = &t->runs[twin].curves[AV_TRAINING_EPOCHS];
    size_t i = 0;
    while (i < curve->count && curve->at[i].at[AV_TRAIN_ALPHA] > 0) {
        i++;
    }
    return t->config.learn_scale && t->config.alpha[twin] > 0 && i < curve->count ? (i + 1) * curve->stride : 0;
}

/* What each run has to say about something, the runs joined to one text. */
struct parts {
    char text[AV_TWINS][64];
};

static const char *joint(const struct parts *p)
{
    return p->text[0][0] != '\0' && p->text[1][0] != '\0' ? ", " : "";
}

/* Where a learned alpha turns the order of the scores around. */
static void say_alpha_crosses_0(struct list *list, const struct av_training *t)
{
    struct parts p = { { "", "" } };
    bool any = false;
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        const size_t epoch = crossing(t, i);
        any = any || epoch > 0;
        if (epoch > 0) {
            const char *where = t->runs[i].curves[AV_TRAINING_EPOCHS].stride > 1 ? "by" : "in";
            snprintf(p.text[i], sizeof p.text[i], "%s %s epoch %zu", NAMES[i], where, epoch);
        }
    }
    if (any) {
        say(list, false, "alpha crosses 0: %s%s%s", p.text[0], joint(&p), p.text[1]);
    }
}

/* "scaled in 3 of 100, unscaled in 0 of 100": the epochs with one of the alarms
 * first .. last, which exclude each other. Returns their number. */
static size_t count_alarms(struct parts *p, const struct av_training *t, enum av_training_alarm first,
                           enum av_training_alarm last)
{
    size_t all = 0;
    *p = (struct parts){ { "", "" } };
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        const struct av_training_run *r = &t->runs[i];
        size_t count = 0;
        for (enum av_training_alarm alarm = first; alarm <= last; alarm++) {
            count += r->fired[AV_TRAINING_EPOCHS][alarm].count;
        }
        all += count;
        if (r->ended[AV_TRAINING_EPOCHS] > 0) {
            snprintf(p->text[i], sizeof p->text[i], "%s in %zu of %zu", NAMES[i], count, r->ended[AV_TRAINING_EPOCHS]);
        }
    }
    return all;
}

/* The share of epochs that are saturated. */
static void say_saturated(struct list *list, const struct av_training *t)
{
    struct parts p;
    const size_t count = count_alarms(&p, t, AV_TRAINING_LARGEST, AV_TRAINING_LARGEST);
    if (p.text[0][0] != '\0' || p.text[1][0] != '\0') {
        say(list, count > 0, "largest weight above %g: %s%s%s epochs", AV_LARGEST_ALARM, p.text[0], joint(&p),
            p.text[1]);
    }
}

/* It has ended, the alarm about its gradient was raised, and it has learned. */
static bool learned_in_spite(const struct av_training *t, enum av_twin twin)
{
    const struct av_training_run *r = &t->runs[twin];
    const struct av_training_fired *fired = r->fired[AV_TRAINING_EPOCHS];
    return r->ended[AV_TRAINING_EPOCHS] == t->config.epochs &&
           fired[AV_TRAINING_LOW].count + fired[AV_TRAINING_HIGH].count > 0 &&
           r->latest[AV_TRAINING_EPOCHS].at[AV_TRAIN_LOSS] < LEARNED * t->zero_loss;
}

/* Epochs whose gradient leaves the band, and whether that meant anything. */
static void say_gradient(struct list *list, const struct av_training *t)
{
    struct parts p;
    if (count_alarms(&p, t, AV_TRAINING_LOW, AV_TRAINING_HIGH) == 0) {
        return;
    }
    const bool scaled = learned_in_spite(t, AV_TWIN_SCALED), unscaled = learned_in_spite(t, AV_TWIN_UNSCALED);
    const char *who = scaled && unscaled ? "; yet both learn"
                      : scaled           ? "; yet scaled learns"
                                         : "; yet unscaled learns";
    say(list, false, "gradient alarm: %s%s%s epochs%s", p.text[0], joint(&p), p.text[1], scaled || unscaled ? who : "");
}

/* How often qk_clip had something to do. */
static void say_clipped(struct list *list, const struct av_training *t)
{
    struct parts p = { { "", "" } };
    for (enum av_twin i = 0; i < AV_TWINS && av_train_clips(&t->config); i++) {
        const struct av_training_run *r = &t->runs[i];
        if (r->steps > 0) {
            snprintf(p.text[i], sizeof p.text[i], "%s after %" PRIu64 " of %" PRIu64, NAMES[i], r->clipped, r->steps);
        }
    }
    if (p.text[0][0] != '\0' || p.text[1][0] != '\0') {
        say(list, false, "qk_clip shrinks w_q, w_k: %s%s%s steps", p.text[0], joint(&p), p.text[1]);
    }
}

/* "scaled 1.02 0.97 1 1.1": scalars [first, last] of a run. */
static void list_scalars(char out[64], const struct av_training_run *r, enum av_twin twin, int first, int last)
{
    size_t len = (size_t)snprintf(out, 64, "%s", NAMES[twin]);
    for (int i = first; i <= last && len < 64; i++) {
        len += (size_t)snprintf(out + len, 64 - len, " %.3g", r->scalars[i]);
    }
}

/* What was learned beside the matrices; alpha is a curve. */
static void say_scalars(struct list *list, const struct av_training *t)
{
    static const struct {
        int first, last;
        const char *name;
    } kinds[] = { { AV_SCALAR_SINK, AV_SCALAR_SINK, "sink.logit" },
                  { AV_SCALAR_GAMMA, AV_TRAIN_SCALARS - 1, "gamma of w_q w_k w_v w_o" } };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct parts p = { { "", "" } };
        for (enum av_twin i = 0; i < AV_TWINS && av_train_learns(&t->config, (enum av_train_scalar)kinds[k].first);
             i++) {
            if (t->runs[i].steps > 0) {
                list_scalars(p.text[i], &t->runs[i], i, kinds[k].first, kinds[k].last);
            }
        }
        if (p.text[0][0] != '\0' || p.text[1][0] != '\0') {
            say(list, false, "%s: %s%s%s", kinds[k].name, p.text[0], joint(&p), p.text[1]);
        }
    }
}

size_t av_training_findings(const struct av_training *t, struct av_training_finding lines[AV_TRAINING_FINDINGS])
{
    struct list list = { lines, 0 };
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        say_diverged(&list, t, i);
    }
    say_no_difference(&list, t);
    say_losses(&list, t);
    for (enum av_twin i = 0; i < AV_TWINS; i++) {
        say_nothing_learned(&list, t, i);
    }
    say_alpha_crosses_0(&list, t);
    say_clipped(&list, t);
    say_scalars(&list, t);
    say_saturated(&list, t);
    say_gradient(&list, t);
    return list.count;
}
