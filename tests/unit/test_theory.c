/* test_theory.c - exact means of Gaussian rows against other integrals.
 *
 * The tables are printed by tests/reference/theory_reference.py, which goes
 * another way in 80-bit arithmetic. */
#include "attnviz/theory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static int set_up(void **state)
{
    struct av_theory *t = NULL;
    const enum av_status status = av_theory_new(&t, NULL);
    *state = t;
    return status == AV_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    av_theory_free(*state);
    return 0;
}

static void assert_close(double got, double want, double relative)
{
    if (!(fabs(got - want) <= relative * fabs(want))) {
        fail_msg("%.15g is not %.15g", got, want);
    }
}

static struct av_theory_means means(struct av_theory *t, struct av_theory_rows rows, double sigma)
{
    struct av_theory_means m = { 0 };
    assert_true(av_theory_means(t, &rows, sigma, &m));
    return m;
}

/* Rows of n keys, all logits with this sigma. */
static struct av_theory_means fixed(struct av_theory *t, size_t n, double sigma)
{
    return means(t, (struct av_theory_rows){ .n_q = 1, .n_k = n }, sigma);
}

/* Causal rows of lo .. hi keys. */
static struct av_theory_means causal(struct av_theory *t, size_t lo, size_t hi, double sigma)
{
    return means(t, (struct av_theory_rows){ .n_q = hi - lo + 1, .n_k = hi, .causal = true }, sigma);
}

static const struct {
    size_t n;
    double sigma, entropy, trace;
} fixed_table[] = {
    { 2, 0.03, 0.69292233228327, 0.49977520224224 },      { 3, 0.03, 1.0983124236006, 0.66646675663962 },
    { 8, 0.03, 2.0790478581334, 0.87490155144364 },       { 64, 0.03, 4.1584401239578, 0.98436115158027 },
    { 512, 0.03, 6.2378755051306, 0.99804511984029 },     { 1024, 0.03, 6.9310222456456, 0.99902255905914 },
    { 131072, 0.03, 11.783052072957, 0.99999236373596 },  { 2, 0.25, 0.67820798172862, 0.4852737683503 },
    { 3, 0.25, 1.0784079289705, 0.65320199374518 },       { 8, 0.25, 2.0524206859577, 0.86811654473093 },
    { 64, 0.25, 4.1281678623071, 0.9833861307351 },       { 512, 0.25, 6.2071415711759, 0.99792120480484 },
    { 1024, 0.25, 6.900255282208, 0.99896052853253 },     { 131072, 0.25, 11.752252331083, 0.99999187855631 },
    { 2, 0.5, 0.63995129531396, 0.44924673598728 },       { 3, 0.5, 1.0243974851163, 0.61737708380066 },
    { 8, 0.5, 1.9752946797746, 0.8471540115759 },         { 64, 0.5, 4.0366524308529, 0.98007358776423 },
    { 512, 0.5, 6.1136737840954, 0.9974943130002 },       { 1024, 0.5, 6.8066464944309, 0.99874661350454 },
    { 131072, 0.5, 11.658503435126, 0.99999020369679 },   { 2, 1, 0.5395000616884, 0.36316184603163 },
    { 3, 1, 0.87156741516955, 0.51843427922278 },         { 8, 1, 1.7218074079912, 0.76768655276763 },
    { 64, 1, 3.6847464601239, 0.96119576020319 },         { 512, 1, 5.7418901589577, 0.99476540756687 },
    { 1024, 1, 6.4332704852007, 0.99736459099384 },       { 131072, 1, 11.283516252574, 0.99997926236137 },
    { 2, 2, 0.37534753757612, 0.24001212716803 },         { 3, 2, 0.60402762811142, 0.35418082316521 },
    { 8, 2, 1.1919399548276, 0.5703469271871 },           { 64, 2, 2.6425019219299, 0.83926488761937 },
    { 512, 2, 4.3901433880225, 0.95361359989648 },        { 1024, 2, 5.0265804699875, 0.97146179531588 },
    { 131072, 2, 9.7849157648411, 0.99959605088653 },     { 2, 3, 0.27741873335533, 0.17347707236221 },
    { 3, 3, 0.44145633388183, 0.25848214027811 },         { 8, 3, 0.84937748884345, 0.42734541356377 },
    { 64, 3, 1.8104680753358, 0.6736885466684 },          { 512, 3, 2.9805618963217, 0.82809129365782 },
    { 1024, 3, 3.4292571240384, 0.86505413222654 },       { 131072, 3, 7.3929003830368, 0.9865680858087 },
    { 2, 4, 0.21735221368531, 0.13447454627827 },         { 3, 4, 0.3425097204003, 0.20105673977926 },
    { 8, 4, 0.64374403761187, 0.33547091626647 },         { 64, 4, 1.3081412386243, 0.54184758865124 },
    { 512, 4, 2.0651319961203, 0.68773510520544 },        { 1024, 4, 2.3486498252337, 0.72746603011021 },
    { 131072, 4, 4.9613095660928, 0.91583128468518 },     { 2, 5.5, 0.16276293183594, 0.099937827972564 },
    { 3, 5.5, 0.25378238275539, 0.14969979584364 },       { 8, 5.5, 0.46503013546864, 0.25098848770512 },
    { 64, 5.5, 0.89582200662843, 0.41027502830709 },      { 512, 5.5, 1.339839249455, 0.52872347534758 },
    { 1024, 5.5, 1.4964205081578, 0.56263186528367 },     { 131072, 5.5, 2.8108215463451, 0.75084129063914 },
    { 2, 8, 0.11399229460104, 0.069640910267097 },        { 3, 8, 0.17585049539129, 0.10441135705514 },
    { 8, 8, 0.31428856789633, 0.17544579631961 },         { 64, 8, 0.57558933768108, 0.28822271854358 },
    { 512, 8, 0.8186481321173, 0.37354719865172 },        { 1024, 8, 0.89879674686263, 0.39834305284986 },
    { 131072, 8, 1.4842213543599, 0.54195765475712 },     { 2, 16, 0.057744880378087, 0.03514931771731 },
    { 3, 16, 0.087890955963407, 0.05272067054519 },       { 8, 16, 0.15243638912152, 0.088673514720866 },
    { 64, 16, 0.26398580581097, 0.14595247549747 },       { 512, 16, 0.35690088019759, 0.18951677283895 },
    { 1024, 16, 0.38547007324484, 0.20222651627767 },     { 131072, 16, 0.56761900623, 0.27650096134187 },
    { 2, 32, 0.028969171189249, 0.017616787320344 },      { 3, 32, 0.04377604002541, 0.026424971331558 },
    { 8, 32, 0.074766548636811, 0.04445074888585 },       { 64, 32, 0.12612635612476, 0.073179155792238 },
    { 512, 32, 0.16689061821624, 0.095038742150846 },     { 1024, 32, 0.17907182581414, 0.10141801933495 },
    { 131072, 32, 0.25301769436147, 0.13871719652347 },   { 2, 128, 0.007249917598049, 0.0044075098793138 },
    { 3, 128, 0.010895096114543, 0.0066112639962703 },    { 8, 128, 0.018396644173352, 0.011121314937583 },
    { 64, 128, 0.030466243679024, 0.018309484400719 },    { 512, 128, 0.039742375875893, 0.023779274203827 },
    { 1024, 128, 0.042464352717215, 0.025375568583601 },  { 131072, 128, 0.058514859559032, 0.034709441578427 },
    { 2, 0.001, 0.69314693056013, 0.49999975000025 },     { 2, 1000, 0.000928053597529, 0.00056418911952122 },
    { 2, 1e+06, 9.2805466613755e-7, 5.6418958354729e-7 }, { 2, 1e+10, 9.2805466613862e-11, 5.6418958354776e-11 },
};

static void means_of_table(void **state)
{
    for (size_t i = 0; i < COUNT(fixed_table); i++) {
        const size_t n = fixed_table[i].n;
        const struct av_theory_means m = fixed(*state, n, fixed_table[i].sigma);
        assert_close(m.entropy, fixed_table[i].entropy, 1e-7);
        assert_close(m.trace, fixed_table[i].trace, 1e-7);
        assert_true(fabs(m.sum_p2 - (1.0 - fixed_table[i].trace)) < 3e-8);
        assert_close(m.entropy_norm, m.entropy / log((double)n), 1e-12);
    }
}

/* Equal logits: no error but that of rounding. */
static void no_spread(void **state)
{
    static const size_t keys[] = { 2, 3, 17, 1024, 131072 };
    for (size_t i = 0; i < COUNT(keys); i++) {
        const double n = (double)keys[i];
        for (size_t d = 0; d <= 64; d += 32) {
            const struct av_theory_means m = means(*state, (struct av_theory_rows){ 4, keys[i], d, false }, 0.0);
            assert_close(m.entropy, log(n), 1e-13);
            assert_close(m.trace, 1.0 - 1.0 / n, 1e-13);
            assert_close(m.sum_p2, 1.0 / n, 1e-8);
            assert_close(m.entropy_norm, 1.0, 1e-13);
        }
    }
}

static const struct {
    size_t n;
    double constant;
} limit_table[] = {
    { 2, 0.56418958354776 },   { 3, 0.84628437532163 },     { 32, 2.0696688279289 },
    { 2048, 3.4417990990639 }, { 131072, 4.4430389653357 },
};

/* One key takes all but for a near tie: trace = constant / sigma. */
static void huge_spread(void **state)
{
    const double pi = acos(-1.0);
    for (size_t i = 0; i < COUNT(limit_table); i++) {
        for (double sigma = 1e7; sigma <= 1e13; sigma *= 1e3) {
            const struct av_theory_means m = fixed(*state, limit_table[i].n, sigma);
            assert_close(sigma * m.trace, limit_table[i].constant, 1e-6);
            assert_close(sigma * m.entropy, pi * pi / 6.0 * limit_table[i].constant, 1e-6);
        }
    }
}

/* More spread, less entropy; more keys, more of it. */
static void monotone(void **state)
{
    for (size_t n = 2; n <= 131072; n *= 2) {
        struct av_theory_means last = { .entropy = HUGE_VAL, .trace = HUGE_VAL, .entropy_norm = HUGE_VAL };
        for (double sigma = 0.01; sigma < 1e10; sigma *= 1.1) {
            const struct av_theory_means m = fixed(*state, n, sigma);
            assert_true(m.entropy < last.entropy && m.trace < last.trace && m.trace > 0.0);
            last = m;
        }
    }
    struct av_theory_means last = { 0 };
    for (size_t n = 2; n <= 131072; n += n / 2) {
        const struct av_theory_means m = fixed(*state, n, 5.0);
        assert_true(m.entropy > last.entropy && m.trace > last.trace);
        last = m;
    }
}

static const struct {
    size_t n, d;
    double sigma, entropy, trace;
} chi_table[] = {
    { 2, 1, 1, 0.579430794271, 0.401017163872 },
    { 32, 1, 20, 0.612982095387, 0.256539755366 },
    { 128, 3, 5, 1.62174979845, 0.57557458511 },
    { 1024, 16, 4, 2.5098627847, 0.740208249374 },
    { 64, 64, 8, 0.58427805097, 0.291383288262 },
    { 64, 64, 1, 3.68570518569, 0.960973348947 },
    { 8, 512, 22.627417, 0.106776043616, 0.0629012957344 },
};

static void averaged_over_q(void **state)
{
    for (size_t i = 0; i < COUNT(chi_table); i++) {
        const struct av_theory_rows rows = { 16, chi_table[i].n, chi_table[i].d, false };
        const struct av_theory_means m = means(*state, rows, chi_table[i].sigma);
        assert_close(m.entropy, chi_table[i].entropy, 1e-6);
        assert_close(m.trace, chi_table[i].trace, 1e-6);
    }
}

/* Long q all have the length sqrt(d): means(d) = means(fixed) + O(1 / d). */
static void averaged_over_long_q(void **state)
{
    for (double sigma = 0.5; sigma < 1e6; sigma *= 7.0) {
        const struct av_theory_means all = fixed(*state, 64, sigma);
        const struct av_theory_means m = means(*state, (struct av_theory_rows){ 1, 64, 4096, false }, sigma);
        const struct av_theory_means longer = means(*state, (struct av_theory_rows){ 1, 64, 8192, false }, sigma);
        assert_close(m.entropy, all.entropy, 1e-3);
        assert_close(longer.entropy - all.entropy, 0.5 * (m.entropy - all.entropy), 1e-2);
    }
}

/* At d = 1 and two keys, z_1 - z_2 = sigma q (k_1 - k_2): for large sigma
 * E trace = (sqrt 2 / (pi sigma)) (ln sigma + constant). */
static void averaged_over_single_q(void **state)
{
    const struct av_theory_rows rows = { 1, 2, 1, false };
    const double slope = sqrt(2.0) / acos(-1.0) * log(1000.0);
    for (double sigma = 1e4; sigma < 1e10; sigma *= 1e3) {
        const double less = sigma * means(*state, rows, sigma).trace;
        const double more = 1000.0 * sigma * means(*state, rows, 1000.0 * sigma).trace;
        assert_close(more - less, slope, 1e-6);
    }
}

static const struct {
    size_t lo, hi;
    double sigma, entropy, trace, entropy_norm;
} causal_table[] = {
    { 2, 16, 3, 0.838890935953, 0.414465114475, 0.408900789376 },
    { 2, 300, 1, 4.25590970366, 0.962859276794, 0.895240802768 },
    { 2, 2048, 4, 2.23952256061, 0.706292911643, 0.336450936778 },
    { 1500, 2500, 8, 0.975246707088, 0.420619861495, 0.128491099281 },
};

static void causal_rows_of_table(void **state)
{
    for (size_t i = 0; i < COUNT(causal_table); i++) {
        const struct av_theory_means m = causal(*state, causal_table[i].lo, causal_table[i].hi, causal_table[i].sigma);
        assert_close(m.entropy, causal_table[i].entropy, 1e-7);
        assert_close(m.trace, causal_table[i].trace, 1e-7);
        assert_close(m.entropy_norm, causal_table[i].entropy_norm, 1e-7);
    }
}

static void assert_plain_mean(struct av_theory *t, size_t lo, size_t hi, double sigma)
{
    struct av_theory_means sum = { 0 };
    for (size_t n = lo; n <= hi; n++) {
        const struct av_theory_means m = fixed(t, n, sigma);
        sum.entropy += m.entropy / (double)(hi - lo + 1);
        sum.trace += m.trace / (double)(hi - lo + 1);
        sum.entropy_norm += m.entropy_norm / (double)(hi - lo + 1);
    }
    const struct av_theory_means m = causal(t, lo, hi, sigma);
    assert_close(m.entropy, sum.entropy, 1e-7);
    assert_close(m.trace, sum.trace, 1e-7);
    assert_close(m.entropy_norm, sum.entropy_norm, 1e-7);
}

/* Few lengths are summed, more interpolated, many grouped: at every border. */
static void causal_is_the_mean_over_lengths(void **state)
{
    assert_plain_mean(*state, 2, 2, 2.0);
    assert_plain_mean(*state, 2, 25, 2.0);
    assert_plain_mean(*state, 2, 26, 0.5);
    assert_plain_mean(*state, 40, 64, 4.0);
    assert_plain_mean(*state, 1000, 1100, 3.0);
    assert_plain_mean(*state, 4000, 4401, 6.0);
    assert_plain_mean(*state, 130000, 130029, 1.0);
}

/* A long range is the sum of its parts, each interpolated on its own. */
static void causal_ranges_add_up(void **state)
{
    for (double sigma = 0.25; sigma < 100.0; sigma *= 4.0) {
        double entropy = 0.0, trace = 0.0, norm = 0.0;
        for (size_t lo = 2; lo < 131072; lo *= 2) {
            const struct av_theory_means part = causal(*state, lo, 2 * lo - 1, sigma);
            entropy += (double)lo / 131070.0 * part.entropy;
            trace += (double)lo / 131070.0 * part.trace;
            norm += (double)lo / 131070.0 * part.entropy_norm;
        }
        const struct av_theory_means m = causal(*state, 2, 131071, sigma);
        assert_close(m.entropy, entropy, 1e-7);
        assert_close(m.trace, trace, 1e-7);
        assert_close(m.entropy_norm, norm, 1e-7);
    }
}

static void assert_same(struct av_theory_means a, struct av_theory_means b)
{
    assert_true(a.entropy == b.entropy && a.trace == b.trace && a.sum_p2 == b.sum_p2);
    assert_true(a.entropy_norm == b.entropy_norm);
}

static void which_rows(void **state)
{
    struct av_theory *t = *state;
    struct av_theory_means m;
    /* more queries than keys: the first rows see no key or one */
    const struct av_theory_means all = causal(t, 2, 8, 2.0);
    assert_same(means(t, (struct av_theory_rows){ 8, 8, 0, true }, 2.0), all);
    assert_same(means(t, (struct av_theory_rows){ 9, 8, 0, true }, 2.0), all);
    assert_same(means(t, (struct av_theory_rows){ 500, 8, 0, true }, 2.0), all);
    /* one query sees all keys, two the last two lengths */
    assert_same(means(t, (struct av_theory_rows){ 1, 8, 0, true }, 2.0), fixed(t, 8, 2.0));
    assert_same(means(t, (struct av_theory_rows){ 2, 8, 0, true }, 2.0), causal(t, 7, 8, 2.0));
    /* no row with two keys */
    assert_false(av_theory_means(t, &(struct av_theory_rows){ 8, 1, 4, false }, 2.0, &m));
    assert_false(av_theory_means(t, &(struct av_theory_rows){ 8, 1, 4, true }, 2.0, &m));
    assert_false(av_theory_means(t, &(struct av_theory_rows){ 8, 0, 4, true }, 2.0, &m));
    assert_false(av_theory_means(t, &(struct av_theory_rows){ 0, 8, 4, true }, 2.0, &m));
}

/* What was asked before changes nothing. */
static void no_memory_of_other_rows(void **state)
{
    const struct av_theory_rows rows = { 32, 32, 64, true };
    const struct av_theory_means before = means(*state, rows, 3.0);
    means(*state, (struct av_theory_rows){ 32, 32, 64, false }, 3.0);
    means(*state, (struct av_theory_rows){ 32, 32, 1, true }, 1e6);
    assert_same(means(*state, rows, 3.0), before);
}

static void freezing(void **state)
{
    (void)state;
    assert_close(av_theory_freezing(32.0), 2.6327688477341593, 1e-14);
    assert_true(av_theory_freezing(1.0) == 0.0);
    assert_true(av_theory_freezing(0.0) == 0.0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(means_of_table),
        cmocka_unit_test(no_spread),
        cmocka_unit_test(huge_spread),
        cmocka_unit_test(monotone),
        cmocka_unit_test(averaged_over_q),
        cmocka_unit_test(averaged_over_long_q),
        cmocka_unit_test(averaged_over_single_q),
        cmocka_unit_test(causal_rows_of_table),
        cmocka_unit_test(causal_is_the_mean_over_lengths),
        cmocka_unit_test(causal_ranges_add_up),
        cmocka_unit_test(which_rows),
        cmocka_unit_test(no_memory_of_other_rows),
        cmocka_unit_test(freezing),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
