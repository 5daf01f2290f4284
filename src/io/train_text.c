/* train_text.c - a training experiment for people: what was tried, a few epochs, how it ended. */
#include "train_formats.h"

#include <math.h>
#include <string.h>

/* Its row's parameters, the row's name left out: "gain 1, gain_last 1". */
static void add_parameters(struct av_str *out, const struct av_variant *row, const struct av_params *p)
{
    size_t rows;
    const struct av_param *table = av_params_table(&rows);
    const av_variant_value alone = av_variant_with(0, row);
    const char *before = "    ";
    for (size_t i = 0; i < rows; i++) {
        char value[AV_PARAM_SHORT_MAX];
        if ((table[i].flags & AV_PARAM_OWNED) != 0 && av_variant_owns(alone, table[i].name)) {
            av_str_addf(out, "%s%s %s", before, strchr(table[i].name, '.') + 1,
                        av_param_format_short(&table[i], p, value));
            before = ", ";
        }
    }
    av_str_add(out, before[0] == ',' ? "\n" : "");
}

static void add_variant(struct av_str *out, const struct av_params *p)
{
    char name[AV_VARIANT_TEXT_MAX];
    av_str_addf(out, "variant %s\n", av_variant_format(p->variant, name));
    for (int g = 0; g < AV_VARIANT_GROUPS; g++) {
        const struct av_variant *row = av_variant_of(p->variant, (enum av_variant_group)g);
        if (row != NULL) {
            av_str_addf(out, "  %s: %s\n", row->name, row->formula);
            add_parameters(out, row, p);
        }
    }
}

static void add_setting(struct av_str *out, const struct av_train *t, const struct av_params *p)
{
    const struct av_train_config *c = av_train_config(t);
    av_str_addf(out, "task %s: %s\n", av_param_find("task")->choices[c->task], av_task_texts[c->task]);
    av_str_addf(out, "d_k %zu, d_model %zu, seq_len %zu, init %s%s\n", c->d_k, c->d_model, c->seq_len,
                av_param_find("init")->choices[c->init], c->layer_norm ? ", layer_norm" : "");
    av_str_addf(out, "%zu epochs of %zu steps: %zu %s sequences in batches of %zu\n", c->epochs,
                av_train_epoch_steps(t), c->sequences, c->fresh ? "fresh" : "fixed", c->batch);
    av_str_addf(out, "%s, lr %g", av_param_find("optimizer")->choices[c->optimizer], c->lr);
    if (c->clip > 0) {
        av_str_addf(out, ", clip %g", c->clip);
    }
    av_str_addf(out, ", seed %llu\n", (unsigned long long)p->seed);
    if (p->variant != 0) {
        add_variant(out, p);
    }
}

/* Epochs 1, 2, 5, 10, 20, 50 ... and the last; counted from 0 here. */
static bool is_shown(size_t epoch, size_t count)
{
    size_t n = epoch + 1;
    while (n % 10 == 0) {
        n /= 10;
    }
    return epoch + 1 == count || n == 1 || n == 2 || n == 5;
}

static void add_row(struct av_str *out, const struct av_train *t, enum av_twin twin, size_t epoch)
{
    static const struct {
        enum av_train_field field;
        int width, digits;
    } columns[] = {
        { AV_TRAIN_LOSS, 9, 4 },          { AV_TRAIN_GRAD_NORM, 10, 4 }, { AV_TRAIN_GRAD_QK_NORM, 13, 4 },
        { AV_TRAIN_ENTROPY_NORM, 10, 4 }, { AV_TRAIN_MAX_WEIGHT, 9, 3 }, { AV_TRAIN_LOGIT_STD, 9, 3 },
    };
    const struct av_train_record *mean = &av_train_run(t, twin)->epochs[epoch];
    av_str_addf(out, "%6zu %7zu %-5s", epoch + 1, (epoch + 1) * av_train_epoch_steps(t),
                twin == AV_TWIN_SCALED ? "on" : "off");
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        const double x = mean->at[columns[i].field];
        if (isfinite(x)) {
            av_str_addf(out, "%*.*g", columns[i].width, columns[i].digits, x);
        } else {
            av_str_addf(out, "%*s", columns[i].width, "-");
        }
    }
    av_str_add(out, "\n");
}

static bool is_odd(const struct av_train *t)
{
    return (av_variant_flags(av_train_config(t)->attention.variant) & AV_VARIANT_NOT_SIMPLEX) != 0;
}

static bool is_masked(const struct av_train *t)
{
    return av_variant_of(av_train_config(t)->attention.variant, AV_GROUP_PATTERN) != NULL;
}

static void add_epochs(struct av_str *out, const struct av_train *t)
{
    size_t most = 0;
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        size_t count = av_train_run(t, twin)->epoch_count;
        most = count > most ? count : most;
    }
    av_str_addf(out, "\n%6s %7s %-5s%9s%10s%13s%10s%9s%9s\n", "epoch", "step", "scale", "loss", "grad_norm",
                "grad_qk_norm", "entropy", "max", "logits");
    for (size_t epoch = 0; epoch < most; epoch++) {
        for (enum av_twin twin = 0; twin < AV_TWINS && is_shown(epoch, most); twin++) {
            if (epoch < av_train_run(t, twin)->epoch_count) {
                add_row(out, t, twin, epoch);
            }
        }
    }
    av_str_addf(out,
                "\nMeans over the steps of an epoch. grad_norm: of all learned parameters;\n"
                "grad_qk_norm: of w_q and w_k; entropy: of %s;\n"
                "max: largest weight of a query; logits: their standard deviation.\n",
                is_odd(t)      ? "|w| / sum |w|, over ln(keys seen)"
                : is_masked(t) ? "the weights, over ln(keys seen)"
                               : "the weights, over ln seq_len");
}

/* What a variant has more to say about a run, in lines of their own. */
static void add_more(struct av_str *out, const struct av_train *t, const struct av_train_run *run)
{
    const struct av_train_config *c = av_train_config(t);
    for (enum av_train_scalar i = AV_SCALAR_SINK; i < AV_TRAIN_SCALARS && run->steps > 0; i++) {
        if (av_train_learns(c, i)) {
            av_str_addf(out, "  %s, learned: %.4g\n", av_train_scalar_name(c, i), run->scalars[i]);
        }
    }
    if (av_train_clips(c)) {
        av_str_addf(out, "  w_q and w_k made smaller after %llu of %llu steps\n", (unsigned long long)run->clipped,
                    (unsigned long long)run->steps);
    }
    const size_t last = run->epoch_count - 1;
    if (is_odd(t) && run->epoch_count > 0 && isfinite(run->epochs[last].at[AV_TRAIN_ROW_SUM])) {
        av_str_addf(out, "  sum of a row of weights: %.4g in the last epoch\n", run->epochs[last].at[AV_TRAIN_ROW_SUM]);
    }
}

static void add_end(struct av_str *out, const struct av_train *t, enum av_twin twin)
{
    const struct av_train_run *run = av_train_run(t, twin);
    av_str_addf(out, "%s: %s", av_twin_name(twin), av_train_state_name(run->state));
    if (run->state == AV_TRAIN_DIVERGED) {
        av_str_addf(out, " at step %llu, loss or gradient not finite;\n ", (unsigned long long)run->steps + 1);
    } else if (run->epoch_count > 0) {
        av_str_addf(out, ", loss %.4g;", run->epochs[run->epoch_count - 1].at[AV_TRAIN_LOSS]);
    } else {
        av_str_add(out, ";");
    }
    av_str_addf(out, " alpha %.4g", av_train_config(t)->alpha[twin]);
    if (av_train_config(t)->learn_scale && run->steps > 0) {
        av_str_addf(out, ", learned: %.4g", run->last.at[AV_TRAIN_ALPHA]);
    }
    av_str_add(out, "\n");
    add_more(out, t, run);
}

void av_train_text(struct av_str *out, const struct av_train *t, const struct av_params *p)
{
    add_setting(out, t, p);
    add_epochs(out, t);
    av_str_add(out, "\n");
    for (enum av_twin twin = 0; twin < AV_TWINS; twin++) {
        if (av_train_config(t)->runs[twin]) {
            add_end(out, t, twin);
        }
    }
}
