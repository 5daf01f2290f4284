/* derivation.c - the chain from entries to the gradient, a function a line. */
#include "attnviz/derivation.h"

#include "attnviz/variant.h"

#include "derivation_formulas.h"
#include "file_entries.h"

#include <float.h>
#include <math.h>

/* What all lines are made from. */
struct facts {
    const struct av_snapshot *s;
    const struct av_params *p;
    const struct av_entry_moments *entries; /* NULL: not measured */
    struct av_score_theory theory;          /* with files: of independent N(0, 1) entries */
    bool known;                             /* no files: theory is the truth */
    double d, alpha, t;
    const char *bend;    /* what makes weights of logits */
    const char *variant; /* all of it */
};

static const char SOFTMAX[] = "softmax";

/* ---- Judging ------------------------------------------------------------------ */

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* The state of a line from its numbers; few: too little was measured. */
static void judge(struct av_chain_step *step, bool few)
{
    bool known = !isnan(step->corrected);
    double truth = known ? step->corrected : step->textbook;
    double off = fabs(step->measured - truth);
    bool judged = !few && !isnan(off) && !isnan(step->error);
    enum av_chain_measured verdict = !judged                               ? AV_CHAIN_UNJUDGED
                                     : off <= AV_CHAIN_LIMIT * step->error ? AV_CHAIN_AGREES
                                                                           : AV_CHAIN_OFF;
    if (known) {
        step->state = same(step->textbook, step->corrected) ? AV_CHAIN_HOLDS : AV_CHAIN_BROKEN;
        step->measured_agrees = verdict;
    } else {
        step->state = verdict == AV_CHAIN_AGREES ? AV_CHAIN_HOLDS
                      : verdict == AV_CHAIN_OFF  ? AV_CHAIN_BROKEN
                                                 : AV_CHAIN_UNKNOWN;
        step->measured_agrees = AV_CHAIN_UNJUDGED;
    }
}

/* Variances with a larger relative error have tails too long to be judged, and
 * so has all that is measured beside them. */
static bool few_pairs(struct av_score_value var)
{
    return var.value > 0 && !(var.error <= 0.2 * var.value);
}

static double if_known(const struct facts *f, double v)
{
    return f->known ? v : (double)NAN;
}

/* ---- Entries -------------------------------------------------------------------- */

/* Q or K: its parameters and what was measured of it. */
struct side {
    const char *name;
    double mean, std, kappa;
    struct av_moments moments;
};

static struct side side_of(const struct facts *f, bool query)
{
    const struct av_params *p = f->p;
    struct av_moments none = AV_MOMENTS_INIT;
    bool any = f->entries != NULL;
    if (query) {
        double kappa = av_expected_kappa((enum av_dist)p->dist);
        return (struct side){ "q", p->q_mean, p->q_std, kappa, any ? f->entries->q : none };
    }
    return (struct side){ "k", p->k_mean, p->k_std, av_expected_kappa_key(p), any ? f->entries->k : none };
}

enum { ENTRIES_LEAST = 64 }; /* fewer are not judged */

/* Entries are independent: the mean of N has the variance std^2 / N, theirs
 * (2 + kappa) std^4 / N. Beside it stands what the spread of the mean adds, and
 * the rounding of entries to single precision. */
static void entries_mean(struct av_chain_step *step, const struct facts *f, bool query)
{
    struct side e = side_of(f, query);
    double n = (double)e.moments.count;
    step->textbook = 0;
    step->corrected = if_known(f, e.mean);
    step->measured = n > 0 ? e.moments.mean : (double)NAN;
    step->error = n > 0 ? hypot(e.std / sqrt(n), (double)FLT_EPSILON * fabs(e.mean)) : (double)NAN;
    step->needs = "assumed: nothing shifts the entries";
    av_chain_say(step->formula, "E[%s] = 0", e.name);
    av_chain_say(step->instead, "%s_mean = %.4g", e.name, e.mean);
    judge(step, n < ENTRIES_LEAST);
}

static void entries_var(struct av_chain_step *step, const struct facts *f, bool query)
{
    struct side e = side_of(f, query);
    double n = (double)e.moments.count;
    double var = e.std * e.std;
    double rounding = (double)FLT_EPSILON * (fabs(e.mean) + e.std) * e.std;
    step->textbook = 1;
    step->corrected = if_known(f, var);
    step->measured = av_moments_var(&e.moments);
    step->error = n > 1 ? hypot(hypot(var * sqrt((2 + e.kappa) / n), 4 * var / n), rounding) : (double)NAN;
    step->needs = "assumed: the layers before give unit variance (see the next page)";
    av_chain_say(step->formula, "Var[%s] = 1", e.name);
    av_chain_say(step->instead, "%s_std^2 = %.4g^2", e.name, e.std);
    judge(step, n < ENTRIES_LEAST);
}

static void q_mean(struct av_chain_step *step, const struct facts *f)
{
    entries_mean(step, f, true);
}

static void q_var(struct av_chain_step *step, const struct facts *f)
{
    entries_var(step, f, true);
}

static void k_mean(struct av_chain_step *step, const struct facts *f)
{
    entries_mean(step, f, false);
}

static void k_var(struct av_chain_step *step, const struct facts *f)
{
    entries_var(step, f, false);
}

/* The product of entries of variance 1 has the mean c and the variance
 * 1 + c^2 (1 + kappa). */
static void independence(struct av_chain_step *step, const struct facts *f)
{
    double c = f->p->corr;
    double kappa = av_expected_kappa((enum av_dist)f->p->dist);
    struct av_moments product = AV_MOMENTS_INIT;
    if (f->entries != NULL) {
        product = f->entries->product;
    }
    double n = (double)product.count;
    step->textbook = 0;
    step->corrected = if_known(f, c);
    step->measured = n > 0 ? product.mean : (double)NAN;
    step->error = n > 0 ? hypot(sqrt((1 + c * c * (1 + kappa)) / n), 1e-6) : (double)NAN;
    step->needs = "assumed: a query and a key have nothing in common, i = j included";
    av_chain_say(step->formula, "corr(q_i, k_i) = 0");
    av_chain_say(step->instead, "corr = %.4g", c);
    judge(step, n < ENTRIES_LEAST);
}

/* ---- Scores --------------------------------------------------------------------- */

static void scores_mean(struct av_chain_step *step, const struct facts *f)
{
    const struct av_params *p = f->p;
    const struct av_score_theory *theory = &f->theory;
    step->textbook = 0;
    step->corrected = if_known(f, theory->mean.value);
    step->measured = f->s->score_moments.count > 0 ? f->s->score_moments.mean : (double)NAN;
    step->error = theory->mean.error;
    step->needs = "needs E[q] = 0 or E[k] = 0, and corr 0; any variance, any distribution";
    av_chain_say(step->formula, "E[s] = d_k E[q]E[k]");
    av_chain_say(step->values, " = %g×%.3g×%.3g", f->d, p->q_mean, p->k_mean);
    av_chain_explain_mean(step, p, &theory->expected);
    judge(step, few_pairs(theory->var));
}

static void scores_var(struct av_chain_step *step, const struct facts *f)
{
    step->textbook = f->d;
    step->corrected = if_known(f, f->theory.var.value);
    step->measured = av_moments_var(&f->s->score_moments);
    step->error = f->theory.var.error;
    step->needs = "needs s = sum of d_k independent products q_c k_c of mean 0 and variance 1";
    av_chain_say(step->formula, "Var[s] = d_k Var[q]Var[k]");
    av_chain_say(step->values, " = %g×1×1", f->d);
    av_chain_explain_var(step, f->p, &f->theory.expected);
    judge(step, few_pairs(f->theory.var));
}

/* Its own error is only good to second order: never judged by measurement. */
static void scores_kurtosis(struct av_chain_step *step, const struct facts *f)
{
    step->textbook = 6 / f->d;
    step->corrected = if_known(f, f->theory.kurtosis.value);
    step->measured = av_moments_excess_kurtosis(&f->s->score_moments);
    step->error = f->theory.kurtosis.error;
    step->needs = "needs normal entries (the variance does not), both means 0, corr 0";
    av_chain_say(step->formula, "ex. kurtosis = 6/d_k");
    av_chain_say(step->values, " = 6/%g", f->d);
    av_chain_explain_kurtosis(step, f->p);
    judge(step, true);
    if (f->known && f->p->corr != 0) {
        step->state = AV_CHAIN_BROKEN;
    }
}

/* ---- Scale ------------------------------------------------------------------------ */

/* The multiplier that gives variance 1: its error is that of the variance,
 * d (V^-1/2) = V^-3/2 / 2 dV. */
static void scale_wanted(struct av_chain_step *step, const struct facts *f)
{
    struct av_score_value var = f->theory.var;
    double measured = av_moments_var(&f->s->score_moments);
    step->textbook = 1 / sqrt(f->d);
    step->corrected = var.value > 0 ? if_known(f, 1 / sqrt(var.value)) : (double)NAN;
    step->measured = measured > 0 ? 1 / sqrt(measured) : (double)NAN;
    step->error = var.value > 0 ? var.error / (2 * var.value * sqrt(var.value)) : (double)NAN;
    step->needs = "needs Var[s] = d_k: what α has to be for Var[α s] = 1";
    av_chain_say(step->formula, "wanted α = 1/sqrt(d_k)");
    av_chain_say(step->values, " = 1/sqrt(%g)", f->d);
    av_chain_say(step->instead, "1/sqrt(Var[s])");
    judge(step, few_pairs(var));
}

static void scaled_var(struct av_chain_step *step, const struct facts *f)
{
    double a2 = f->alpha * f->alpha;
    if ((av_variant_flags(f->s->params.variant) & (AV_VARIANT_ENTRIES | AV_VARIANT_SCORES)) != 0) {
        step->needs = "α multiplies other scores than these: what comes of it is the next line";
        av_chain_say(step->formula, "Var[α s], s by %s", f->variant);
        step->state = AV_CHAIN_UNKNOWN;
        return;
    }
    step->textbook = 1;
    step->corrected = if_known(f, a2 * f->theory.var.value);
    step->measured = a2 * av_moments_var(&f->s->score_moments);
    step->error = a2 * f->theory.var.error;
    step->needs = "needs Var[s] = d_k, and α in force: scale on, exponent 0.5";
    av_chain_say(step->formula, "Var[α s] = α^2 Var[s]");
    av_chain_say(step->values, " = %.4g^2×%g", f->alpha, f->d);
    if (f->known) {
        av_chain_explain_product(step, f->alpha, f->theory.var.value);
    }
    judge(step, few_pairs(f->theory.var));
}

static void row_var(struct av_chain_step *step, const struct facts *f)
{
    double factor = f->alpha / f->t;
    double a2 = factor * factor;
    struct av_score_value var = f->theory.row_var;
    double std = f->s->score_row_std;
    step->textbook = 1;
    step->corrected = if_known(f, a2 * var.value);
    step->measured = a2 * std * std;
    step->error = a2 * var.error;
    step->needs = "needs Var[α s] = 1, T = 1; a shift of whole rows (k_mean, offset) is unseen";
    if (f->s->varied) { /* another way from scores to logits: only measured */
        step->corrected = step->error = (double)NAN;
        step->textbook = (double)NAN;
        step->measured = f->s->now.row_std * f->s->now.row_std;
        step->needs = "measured only: the variant has a way of its own from s to z";
        av_chain_say(step->formula, "Var_j[z]");
        av_chain_say(step->values, ", logits of %s", f->variant);
        step->state = AV_CHAIN_UNKNOWN;
        return;
    }
    av_chain_say(step->formula, "Var_j[z] = (α/T)^2 d_k");
    av_chain_say(step->values, " = (%.3g/%.3g)^2×%g", f->alpha, f->t, f->d);
    if (f->known && !isnan(var.value)) {
        av_chain_explain_product(step, factor, var.value);
    }
    judge(step, few_pairs(var));
}

/* ---- Softmax ---------------------------------------------------------------------- */

static enum av_chain_state state_of(double v, bool good)
{
    return isnan(v) ? AV_CHAIN_UNKNOWN : good ? AV_CHAIN_HOLDS : AV_CHAIN_BROKEN;
}

static void freezing(struct av_chain_step *step, const struct facts *f)
{
    double limit = f->s->theory_freezing;
    step->relation = '<';
    step->textbook = limit;
    step->measured = f->s->now.row_std;
    step->needs = "else the few largest of n logits stand out and take most of the weight";
    if (isnan(limit)) {
        step->relation = '=';
        step->needs = "sqrt(2 ln n) is about a softmax of independent logits, which these are not";
        av_chain_say(step->formula, "std[z] within a row");
        av_chain_say(step->values, ": no limit for %s", f->variant);
        step->state = AV_CHAIN_UNKNOWN;
        return;
    }
    av_chain_say(step->formula, "std[z] < sqrt(2 ln n)");
    if (f->s->patterned || f->s->params.mask == AV_MASK_CAUSAL) {
        av_chain_say(step->values, ", mean over the rows");
    } else {
        av_chain_say(step->values, " = sqrt(2 ln %zu)", f->s->n_k);
    }
    av_chain_say(step->instead, "frozen");
    step->state = state_of(step->measured, step->measured < limit);
}

static void entropy(struct av_chain_step *step, const struct facts *f)
{
    const struct av_summary *now = &f->s->now;
    double share = now->share_max_gt_0_9;
    step->corrected = f->s->has_theory ? f->s->theory.entropy_norm : (double)NAN;
    step->measured = now->entropy_norm_mean;
    step->needs = "holds while at most 25% of the rows give one key more than 0.9";
    if (f->s->from == AV_PART_WEIGHTS) {
        av_chain_say(step->formula, "H(|w|/sum|w|)/ln n, w the file's");
    } else if (f->s->simplex) {
        av_chain_say(step->formula, "H(p)/ln n, p = %s(z)", f->bend);
    } else {
        av_chain_say(step->formula, "H(|w|/sum|w|)/ln n, %s", f->bend);
    }
    if (now->rows > 0) {
        av_chain_say(step->values, ", %.3g%% > 0.9", 100 * share);
        av_chain_say(step->instead, "%.3g%% rows > 0.9", 100 * share);
    }
    step->state = state_of(share, share <= AV_LARGEST_SHARE);
}

static void jacobian(struct av_chain_step *step, const struct facts *f)
{
    const struct av_summary *now = &f->s->now;
    step->relation = '>';
    step->textbook = AV_DEAD_FRO;
    step->measured = now->jacobian_fro_median;
    step->needs = "holds while the median row and 75% of all rows are above 1e-3";
    av_chain_say(step->formula, f->bend == SOFTMAX ? "|J|, J = diag(p) - p p^T" : "|J|, J = dw/dz");
    if (now->rows > 0) {
        av_chain_say(step->values, ", %.3g%% dead", 100 * now->share_fro_lt_1e_3);
        av_chain_say(step->instead, "%.3g%% dead", 100 * now->share_fro_lt_1e_3);
    }
    step->state = state_of(step->measured, !av_summary_dead(now));
}

static void gradient(struct av_chain_step *step, const struct facts *f)
{
    const struct av_summary *now = &f->s->now;
    const struct av_summary *other = &f->s->other;
    step->measured = now->d_scores_rms_median;
    step->needs = f->s->varied ? "all that the variant does to the scores comes back, the multiplier too"
                               : "α comes back as a factor: what saturation leaves is multiplied by it";
    av_chain_say(step->formula, f->s->varied ? "dL/ds = (dw/ds)^T dL/dw" : "dL/ds = (α/T) J dL/dp");
    if (other->rows > 0) {
        double rms = other->d_scores_rms_median;
        const char *name = other->scale ? "scaled" : "unscaled";
        av_chain_say(step->values, rms > 0 && rms < 1e-4 ? ", %s %.1e" : ", %s %.3g", name, rms);
        av_chain_say(step->instead, rms > 0 && rms < 1e-4 ? "%s %.1e" : "%s %.3g", name, rms);
    }
    step->state = state_of(step->measured, !av_summary_dead(now));
}

/* ---- The chain -------------------------------------------------------------------- */

static const struct {
    enum av_chain_group group;
    void (*make)(struct av_chain_step *step, const struct facts *f);
} LINES[AV_CHAIN_STEPS] = {
    { AV_CHAIN_ENTRIES, q_mean },    { AV_CHAIN_ENTRIES, q_var },          { AV_CHAIN_ENTRIES, k_mean },
    { AV_CHAIN_ENTRIES, k_var },     { AV_CHAIN_ENTRIES, independence },   { AV_CHAIN_SCORES, scores_mean },
    { AV_CHAIN_SCORES, scores_var }, { AV_CHAIN_SCORES, scores_kurtosis }, { AV_CHAIN_SCALE, scale_wanted },
    { AV_CHAIN_SCALE, scaled_var },  { AV_CHAIN_SCALE, row_var },          { AV_CHAIN_SOFTMAX, freezing },
    { AV_CHAIN_SOFTMAX, entropy },   { AV_CHAIN_SOFTMAX, jacobian },       { AV_CHAIN_SOFTMAX, gradient },
};

/* Parameters of independent N(0, 1) entries in the same shape. */
static struct av_params textbook_params(const struct av_params *p)
{
    struct av_params plain;
    av_params_default(&plain);
    plain.d_k = p->d_k;
    plain.n_q = p->n_q;
    plain.n_k = p->n_k;
    plain.mask = p->mask;
    return plain;
}

void av_chain_make(struct av_chain *out, const struct av_snapshot *s, const struct av_entry_moments *entries)
{
    struct av_params plain = textbook_params(&s->params);
    const struct av_variant *bend = av_variant_of(s->params.variant, AV_GROUP_BEND);
    char variant[AV_VARIANT_TEXT_MAX];
    struct av_entry_moments of_files;
    bool derived = !s->from_logits && s->from == AV_PART_Q; /* from queries and keys */
    if (s->from_files && derived) {
        av_file_entries(&of_files, s);
        entries = &of_files;
    }
    struct facts f = {
        .s = s,
        .p = s->from_files ? &plain : &s->params,
        .entries = entries,
        .known = !s->from_files,
        .d = (double)s->d_k,
        .alpha = s->alpha,
        .t = s->params.temperature,
        .bend = bend != NULL ? bend->name : SOFTMAX,
        .variant = av_variant_format(s->params.variant, variant),
    };
    if (derived) {
        f.theory = av_score_theory(f.p);
    }
    const double none = (double)NAN;
    out->count = out->broken = 0;
    for (size_t i = 0; i < AV_CHAIN_STEPS; i++) {
        bool logits = LINES[i].make == freezing || LINES[i].make == gradient;
        if ((!derived && LINES[i].group != AV_CHAIN_SOFTMAX) || (s->from == AV_PART_WEIGHTS && logits)) {
            continue;
        }
        struct av_chain_step *step = &out->steps[out->count++];
        *step = (struct av_chain_step){ .group = LINES[i].group,
                                        .relation = '=',
                                        .textbook = none,
                                        .corrected = none,
                                        .measured = none,
                                        .error = none };
        LINES[i].make(step, &f);
        if (!f.known && step->group <= AV_CHAIN_SCORES) {
            step->instead[0] = '\0'; /* of the textbook's parameters */
        }
        out->broken += step->state == AV_CHAIN_BROKEN;
    }
}
