/* test_softmax.c - softmax rows and their statistics, on every instruction set.
 *
 * The tables are printed by tests/reference/softmax_reference.py (1200 digits). */
#include "attnviz/kernels.h"

#include "../../src/math/lanes_exp.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MANY = 3000, COLUMNS = 12 };

/* A reference row: number of keys, argmax, largest weight, sum of p^2; then
 * 1 - max, entropy, trace, jacobian_fro; then their base-10 logarithms. */
typedef double expected[COLUMNS];

static const struct {
    const char *name;
    size_t n;
    double z[6];
    expected want;
} literal_rows[] = {
    { "ordinary",
      3,
      { 1, 0.5, -0.5 },
      { 3, 0, 0.54654938726617963, 0.42347999898436278, 0.45345061273382037, 0.9528075640133673, 0.57652000101563716,
        0.4469940762818268, -0.34347000691737328, -0.020994803796241183, -0.23918562127466644, -0.34969823224873831 } },
    { "shifted",
      3,
      { 100, 99.5, 98.5 },
      { 3, 0, 0.54654938726617963, 0.42347999898436278, 0.45345061273382037, 0.9528075640133673, 0.57652000101563716,
        0.4469940762818268, -0.34347000691737328, -0.020994803796241183, -0.23918562127466644, -0.34969823224873831 } },
    { "all equal",
      4,
      { 0, 0, 0, 0 },
      { 4, 0, 0.25, 0.25, 0.75, 1.3862943611198906, 0.75, 0.4330127018922193, -0.12493873660829995, 0.14185545670911962,
        -0.12493873660829995, -0.36349936396813115 } },
    { "four",
      4,
      { 3, 1, -2, 0.5 },
      { 4, 0, 0.81688786337006569, 0.68405447966268518, 0.18311213662993434, 0.61851728189227717, 0.31594552033731482,
        0.24176702920787918, -0.73728286980682645, -0.20864816131279451, -0.50038779794068655, -0.61660292601210054 } },
    { "near tie",
      3,
      { 40, 39.999, 0 },
      { 3, 0, 0.50024999997916608, 0.50000012499997915, 0.49975000002083392, 0.69314705555996103, 0.49999987500002085,
        0.49999987500002085, -0.30124719719174031, -0.15917461727417073, -0.30103010423759713, -0.30103010423759713 } },
    { "saturated",
      3,
      { 20, 0, 0 },
      { 3, 0, 0.99999999587769273, 0.99999999175538556, 4.1223072278836984e-09, 8.6568451794054378e-08,
        8.244614430277272e-09, 6.5179400033615743e-09, -8.3848596441913514, -7.0626403494148056, -8.0838296498700917,
        -8.1858896414665985 } },
    { "deep",
      3,
      { 200, 0, -3 },
      { 3, 0, 1, 1, 1.452796677727429e-87, 2.9221883267618531e-85, 2.905593355454858e-87, 2.8054177352717888e-87,
        -86.837795161971599, -84.534291798450369, -86.536765166307617, -86.552002461817537 } },
    { "last normal",
      3,
      { 700, 0, 0 },
      { 3, 0, 1, 1, 1.9719353087519542e-304, 1.3823266514351199e-301, 3.9438706175039083e-304, 3.1179034870817703e-304,
        -303.70510733661229, -300.85938931864564, -303.40407734094833, -303.5061373322763 } },
    { "beyond doubles",
      3,
      { 1000, 0, 0 },
      { 3, 0, 1, 1, 0, 0, 0, 0, -433.99345190758783, -430.99301783010856, -433.69242191192387, -433.79448190325184 } },
    { "two, tie",
      2,
      { 7.25, 7.25 },
      { 2, 0, 0.5, 0.5, 0.5, 0.69314718055994529, 0.5, 0.5, -0.3010299956639812, -0.15917453895486158,
        -0.3010299956639812, -0.3010299956639812 } },
    { "two",
      2,
      { 0, 0.1 },
      { 2, 1, 0.52497918747894001, 0.50124791961421611, 0.47502081252105999, 0.69189874132567686, 0.49875208038578395,
        0.49875208038578395, -0.32328736181716256, -0.15995745944681714, -0.30211527978001868, -0.30211527978001868 } },
    { "tie and dust",
      4,
      { -3, -900, -3, -40.5 },
      { 4, 0, 0.5, 0.5, 0.5, 0.69314718055994629, 0.5, 0.5, -0.3010299956639812, -0.15917453895486097,
        -0.3010299956639812, -0.3010299956639812 } },
    { "tie of three far up",
      5,
      { 1e+30, -1e+30, 1e+30, 0, 1e+30 },
      { 5, 0, 0.33333333333333331, 0.33333333333333331, 0.66666666666666663, 1.0986122886681098, 0.66666666666666663,
        0.47140452079103168, -0.17609125905568124, 0.040844452568920636, -0.17609125905568124, -0.32660625688767186 } },
    { "one far up",
      3,
      { 0, 1e+30, 3 },
      { 3, 1, 1, 1, 0, 0, 0, 0, -4.3429448190325186e+29, -4.3429448190325186e+29, -4.3429448190325186e+29,
        -4.3429448190325186e+29 } },
    { "largest doubles",
      3,
      { 1.7e+308, -1.7e+308, -1.7e+308 },
      { 3, 0, 1, 1, 0, 0, 0, 0, -1.4766012384710562e+308, -1.4766012384710562e+308, -1.4766012384710562e+308,
        -1.4766012384710562e+308 } },
    { "half the range",
      3,
      { 1e+308, 0, -1e+308 },
      { 3, 0, 1, 1, 0, 0, 0, 0, -4.3429448190325182e+307, -4.3429448190325182e+307, -4.3429448190325182e+307,
        -4.3429448190325182e+307 } },
    { "runner-up far down",
      3,
      { 0, -1e+308, -1.1e+308 },
      { 3, 0, 1, 1, 0, 0, 0, 0, -4.3429448190325182e+307, -4.3429448190325182e+307, -4.3429448190325182e+307,
        -4.3429448190325182e+307 } },
    { "masked",
      6,
      { -HUGE_VAL, 2, -HUGE_VAL, 1, -1, -HUGE_VAL },
      { 3, 1, 0.70538451269824121, 0.56613906973935069, 0.29461548730175885, 0.71386575798862473, 0.43386093026064931,
        0.38686584048573369, -0.53074442696757884, -0.14638344935285752, -0.36264945689123385, -0.41243961595850409 } },
    { "masked, saturated",
      5,
      { -HUGE_VAL, 353.75, -0.3, -HUGE_VAL, -0.7 },
      { 3, 1, 1, 1, 2.8896043033182133e-154, 1.0264178614388572e-151, 5.7792086066364266e-154, 4.6219539468749262e-154,
        -153.5391616245968, -150.98867579909529, -153.23813162893282, -153.33517438614331 } },
    { "gap not a double",
      3,
      { 511.3, -200.00000000000003, -200.1 },
      { 3, 0, 1, 1, 2.3237689042017588e-309, 1.6553309743222127e-306, 4.6475378084035225e-309, 3.6769512820950656e-309,
        -308.6338070641562, -305.78111515841346, -308.33277706849219, -308.43451212429414 } },
    { "denormal values",
      4,
      { 0, -709.5, -711, -1500 },
      { 4, 0, 1, 1, 9.0268819892373694e-309, 6.41606975386599e-306, 1.8053763978474744e-308, 1.59065886113096e-308,
        -308.04446223514719, -305.1927309231599, -307.74343223948324, -307.79842295084632 } },
    { "smallest denormals",
      3,
      { 0.25, -743.5, -744 },
      { 3, 0, 1, 1, 1.4821969375237396e-323, 1.1788406309772143e-320, 2.9643938750474793e-323, 2.4703282292062327e-323,
        -322.8006318973168, -319.92851131960032, -322.4996019016528, -322.5939838826842 } },
    { "half underflows",
      3,
      { 0, -746, -745.9 },
      { 3, 0, 1, 1, 0, 1.6304166312761136e-321, 4.9406564584124654e-324, 4.9406564584124654e-324, -323.66039613800871,
        -320.7871060587604, -323.3593661423447, -323.46110119814665 } },
    { "log of 1 - max near 0",
      5,
      { 0.01, 0.005, 0, -0.01, 0.002 },
      { 5, 0, 0.20172300082994815, 0.20000873599150618, 0.79827699917005179, 1.6094160460141647, 0.79999126400849385,
        0.40000219972793821, -0.097846383916263296, 0.20666832696525489, -0.096914755525081941,
        -0.39793762035434149 } },
    { "tiny differences",
      3,
      { 1, 1.0000000000000002, 0.9999999999999999 },
      { 3, 1, 0.33333333333333337, 0.33333333333333331, 0.66666666666666663, 1.0986122886681098, 0.66666666666666663,
        0.47140452079103168, -0.17609125905568129, 0.040844452568920636, -0.17609125905568124, -0.32660625688767186 } },
    { "denormal logits",
      3,
      { 5e-324, 0, -5e-324 },
      { 3, 0, 0.33333333333333331, 0.33333333333333331, 0.66666666666666663, 1.0986122886681098, 0.66666666666666663,
        0.47140452079103168, -0.17609125905568124, 0.040844452568920636, -0.17609125905568124, -0.32660625688767186 } },
};

/* Logits of 24 random bits times scale; key 0 is raised by boost; every so
 * many keys one is masked. */
static const struct {
    const char *name;
    size_t n;
    double scale, boost;
    size_t every;
    expected want;
} generated_rows[] = {
    { "17 spread",
      17,
      1,
      0,
      0,
      { 17, 0, 0.84522283516457597, 0.73537737144054049, 0.15477716483542406, 0.48685934524064722, 0.26462262855945956,
        0.24986329559956613, -0.81029311288763806, -0.31259648931693085, -0.57737302092588316, -0.6022975361477686 } },
    { "64 narrow",
      64,
      0.001,
      0,
      0,
      { 64, 51, 0.015751547321522511, 0.015625343630181757, 0.98424845267847749, 4.1588720907641594,
        0.98437465636981825, 0.12402089145681833, -0.006895259284725147, 0.6189755635172427, -0.0068395761358600567,
        -0.90650515128784559 } },
    { "100 wide",
      100,
      40,
      0,
      0,
      { 100, 55, 0.99110320445544198, 0.98236465938327688, 0.0088967955445580314, 0.050896333004853953,
        0.017635340616723155, 0.017630663929029625, -2.0507663897498771, -1.2933135067226951, -1.753616147760896,
        -1.7537313328915594 } },
    { "257 masked",
      257,
      0.5,
      0,
      3,
      { 172, 63, 0.044280546368183266, 0.023948052152573659, 0.95571945363181676, 4.0491931297320161,
        0.97605194784742633, 0.15169377320681515, -0.019669573854208075, 0.60736849130944204, -0.01052706751455122,
        -0.81903224595962576 } },
    { "1024",
      1024,
      1,
      0,
      0,
      { 1024, 416, 0.015558470790355869, 0.0073080694371173852, 0.98444152920964412, 5.2103230338330011,
        0.99269193056288263, 0.084963065196074231, -0.0068100736301924657, 0.71686464987574094, -0.0031855084179116663,
        -1.070769828021928 } },
    { "1025 saturated",
      1025,
      1,
      150,
      0,
      { 1025, 0, 1, 1, 4.9946154772226241e-62, 7.3546027121726685e-60, 9.9892309544452481e-62, 5.0578603075283903e-62,
        -61.301497941381648, -59.133440782429489, -61.000467945717666, -61.296033169556139 } },
    { "2048 narrow",
      2048,
      0.0625,
      0,
      0,
      { 2048, 281, 0.00076670736765514845, 0.0005277603093621385, 0.99923329263234484, 7.5844103064415513,
        0.99947223969063781, 0.022966125150457043, -0.00033310449216531222, 0.8799218197154719, -0.00022926389363807459,
        -1.6389122728820349 } },
    { "2048 mixture",
      2048,
      3,
      20,
      5,
      { 1639, 0, 0.29132921208817653, 0.09217752920624625, 0.70867078791182347, 3.8258811129967141, 0.90782247079375378,
        0.22587816392333979, -0.14955546890374977, 0.5827314704555987, -0.041999071625168354, -0.64612575113350601 } },
    { "2048 nearly gone",
      2048,
      0.25,
      712,
      0,
      { 2048, 0, 1, 1, 1.3140933451073937e-306, 9.3625472985913888e-304, 2.6281866902147875e-306,
        1.3160602473196873e-306, -305.88137378407214, -303.02860597527746, -305.58034378840813, -305.88072422889866 } },
    { "2048 gone",
      2048,
      0.25,
      3000,
      0,
      { 2048, 0, 1, 1, 0, 0, 0, 0, -1299.5471483787123, -1296.0699587985973, -1299.2461183830483,
        -1299.546498823539 } },
};

/* ---- helpers ---------------------------------------------------------- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 40;
}

static double uniform(uint64_t *state)
{
    return (double)next_random(state) * 0x1p-24;
}

static void generate(double *z, size_t n, double scale, double boost, size_t every)
{
    uint64_t state = n;
    for (size_t j = 0; j < n; j++) {
        z[j] = (double)next_random(&state) * 0x1p-20 * scale;
        if (every != 0 && j % every == every - 1)
            z[j] = -HUGE_VAL;
    }
    z[0] += boost;
}

/* Relative, but for denormal numbers, which cannot be nearer than their unit. */
static void close_to(const char *name, const char *what, double got, double want, double relative)
{
    const double bound = fmax(relative * fabs(want), fabs(want) < DBL_MIN ? 0x1p-1074 : 0);
    if (!(got == want || fabs(got - want) <= bound))
        fail_msg("%s: %s is %.17g, not %.17g (off by %.3g)", name, what, got, want, fabs(got / want - 1));
}

/* The logarithm of a number near 1 is as uncertain as that number. */
static void close_log(const char *name, const char *what, double got, double want)
{
    if (!(got == want || fabs(got - want) <= 1e-13 * fabs(want) + 1e-15))
        fail_msg("%s: %s is %.17g, not %.17g", name, what, got, want);
}

static void check_row(const char *name, const struct av_rowstats *s, const expected want)
{
    if (s->keys != (size_t)want[0] || s->argmax != (size_t)want[1])
        fail_msg("%s: %zu keys, argmax %zu", name, s->keys, s->argmax);
    close_to(name, "max", s->max, want[2], 1e-14);
    close_to(name, "sum_p2", s->sum_p2, want[3], 1e-14);
    close_to(name, "one_minus_max", s->one_minus_max, want[4], 1e-14);
    close_to(name, "entropy", s->entropy, want[5], 1e-14);
    close_to(name, "trace", s->trace, want[6], 1e-14);
    close_to(name, "jacobian_fro", s->jacobian_fro, want[7], 1e-14);
    close_log(name, "log10_one_minus_max", av_rowstats_log10_one_minus_max(s), want[8]);
    close_log(name, "log10_entropy", av_rowstats_log10_entropy(s), want[9]);
    close_log(name, "log10_trace", av_rowstats_log10_trace(s), want[10]);
    close_log(name, "log10_jacobian_fro", av_rowstats_log10_jacobian_fro(s), want[11]);
}

/* Softmax by the best set into p; the same from every other set, and without
 * p, to the last bit. z and p are on the heap and exactly n long, so that a
 * sanitizer sees a step beyond. */
static struct av_rowstats run(double *p, const double *z, size_t n)
{
    struct av_rowstats best, other;
    memset(&best, 0, sizeof best);
    double *exact_z = malloc(n * sizeof *z), *exact_p = malloc(n * sizeof *z), *other_p = malloc(n * sizeof *z);
    assert_true(exact_z != NULL && exact_p != NULL && other_p != NULL);
    memcpy(exact_z, z, n * sizeof *z);
    av_kernels_best()->softmax(exact_p, exact_z, 1, n, &best);
    for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
        const struct av_kernels *set = av_kernels_named(*name);
        if (set == NULL)
            continue;
        memset(&other, 0, sizeof other);
        set->softmax(other_p, exact_z, 1, n, &other);
        assert_memory_equal(&other, &best, sizeof best);
        assert_memory_equal(other_p, exact_p, n * sizeof *z);
        memset(&other, 0, sizeof other);
        set->softmax(NULL, exact_z, 1, n, &other);
        assert_memory_equal(&other, &best, sizeof best);
    }
    assert_memory_equal(exact_z, z, n * sizeof *z);
    memcpy(p, exact_p, n * sizeof *z);
    free(exact_z);
    free(exact_p);
    free(other_p);
    return best;
}

/* Every weight against long double, and their sum against row_sum. */
static void check_weights(const char *name, const double *p, const double *z, size_t n, const struct av_rowstats *s)
{
    long double total = 0, stored = 0;
    for (size_t j = 0; j < n; j++)
        total += expl((long double)z[j] - (long double)s->max_logit);
    for (size_t j = 0; j < n; j++) {
        const long double want = expl((long double)z[j] - (long double)s->max_logit) / total;
        if (z[j] == -HUGE_VAL)
            assert_true(p[j] == 0);
        close_to(name, "weight", p[j], (double)want, 1e-13);
        stored += (long double)p[j];
    }
    close_to(name, "row_sum", s->row_sum, (double)stored, 2e-15);
    close_to(name, "row_sum", s->row_sum, 1, 1e-14);
    assert_true(z[s->argmax] == s->max_logit && p[s->argmax] == s->max);
}

/* ---- against references ----------------------------------------------- */

static void rows_match_references(void **state)
{
    (void)state;
    double p[2048], z[2048];
    for (size_t i = 0; i < sizeof literal_rows / sizeof *literal_rows; i++) {
        const struct av_rowstats s = run(p, literal_rows[i].z, literal_rows[i].n);
        check_row(literal_rows[i].name, &s, literal_rows[i].want);
        check_weights(literal_rows[i].name, p, literal_rows[i].z, literal_rows[i].n, &s);
    }
    for (size_t i = 0; i < sizeof generated_rows / sizeof *generated_rows; i++) {
        const size_t n = generated_rows[i].n;
        generate(z, n, generated_rows[i].scale, generated_rows[i].boost, generated_rows[i].every);
        const struct av_rowstats s = run(p, z, n);
        check_row(generated_rows[i].name, &s, generated_rows[i].want);
        check_weights(generated_rows[i].name, p, z, n, &s);
    }
}

/* n equal keys and one raised by ln x: p = x / (x + n) and so on. */
static void long_rows_match_closed_forms(void **state)
{
    (void)state;
    const size_t n = 131072;
    double *z = calloc(n, sizeof *z), *p = malloc(n * sizeof *p);
    assert_true(z != NULL && p != NULL);
    struct av_rowstats s = run(p, z, n);
    const double count = (double)n;
    close_to("equal", "max", s.max, 1 / count, 1e-15);
    close_to("equal", "entropy", s.entropy, log(count), 1e-15);
    close_to("equal", "trace", s.trace, 1 - 1 / count, 1e-15);
    close_to("equal", "jacobian_fro", s.jacobian_fro, sqrt(count - 1) / count, 1e-15);
    /* At 716, exp(-D) alone is denormal and the values are not. */
    for (int gap = 300; gap <= 716; gap += 208) {
        z[77777] = gap;
        s = run(p, z, n);
        const long double one = expl(-gap), rest = (long double)(n - 1) * one;
        assert_int_equal(s.argmax, 77777);
        close_to("spike", "one_minus_max", s.one_minus_max, (double)rest, 1e-14);
        close_to("spike", "entropy", s.entropy, (double)(rest * (gap + 1)), 1e-14);
        close_to("spike", "trace", s.trace, (double)(2 * rest), 1e-14);
        close_to("spike", "jacobian_fro", s.jacobian_fro, (double)sqrtl(rest * rest + 3 * rest * one), 1e-14);
    }
    free(z);
    free(p);
}

/* Random rows of random size and scale against definitions in long double,
 * the Jacobian entry by entry. */
static void random_rows_match_definitions(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (size_t trial = 0; trial < 3000; trial++) {
        double z[24], p[24];
        const size_t n = 2 + (size_t)(next_random(&seed) % 23);
        const double scale = pow(10, -3 + 6 * uniform(&seed)); /* 1e-3 .. 1e3 */
        for (size_t j = 0; j < n; j++) {
            z[j] = scale * (uniform(&seed) - 0.5);
            if (j > 0 && next_random(&seed) % 8 == 0)
                z[j] = z[j - 1]; /* ties */
            if (j > 1 && next_random(&seed) % 8 == 0)
                z[j] = -HUGE_VAL;
        }
        const struct av_rowstats s = run(p, z, n);
        check_weights("random", p, z, n, &s);

        long double e[24], total = 0, rest = 0, entropy = 0, trace = 0, fro2 = 0;
        for (size_t j = 0; j < n; j++) {
            e[j] = expl((long double)z[j] - (long double)s.max_logit);
            total += e[j];
            rest += j == s.argmax ? 0 : e[j];
        }
        for (size_t i = 0; i < n; i++) {
            const long double pi = e[i] / total;
            const long double others = i == s.argmax ? rest / total : 1 - pi;
            if (pi > 0)
                entropy += pi * (log1pl(rest) + ((long double)s.max_logit - (long double)z[i]));
            trace += pi * others;
            for (size_t j = 0; j < n; j++) {
                const long double entry = i == j ? pi * others : -pi * (e[j] / total);
                fro2 += entry * entry;
            }
        }
        close_to("random", "one_minus_max", s.one_minus_max, (double)(rest / total), 1e-14);
        close_to("random", "entropy", s.entropy, (double)entropy, 1e-14);
        close_to("random", "trace", s.trace, (double)trace, 1e-14);
        close_to("random", "jacobian_fro", s.jacobian_fro, (double)sqrtl(fro2), 1e-14);
        close_log("random", "log10_one_minus_max", av_rowstats_log10_one_minus_max(&s), (double)log10l(rest / total));
        close_log("random", "log10_entropy", av_rowstats_log10_entropy(&s), (double)log10l(entropy));
        close_log("random", "log10_trace", av_rowstats_log10_trace(&s), (double)log10l(trace));
        close_log("random", "log10_jacobian_fro", av_rowstats_log10_jacobian_fro(&s), (double)(log10l(fro2) / 2));
    }
}

/* ---- properties ------------------------------------------------------- */

/* Whatever the scale, nothing is NaN and the bounds of each quantity hold. */
static void bounds_hold_at_every_scale(void **state)
{
    (void)state;
    uint64_t seed = 11;
    double z[200], p[200];
    for (double scale = 1e-3; scale < 1e308; scale *= scale < 1e30 ? 10 : 1e39) {
        for (size_t n = 2; n <= 200; n += 11) {
            for (size_t j = 0; j < n; j++)
                z[j] = j % 5 == 4 ? -HUGE_VAL : scale * (2 * uniform(&seed) - 1);
            const struct av_rowstats s = run(p, z, n);
            const double slack = 1 + 1e-14;
            assert_true(fabs(s.row_sum - 1) < 1e-14);
            assert_true(s.max > 0 && s.max <= 1 && s.one_minus_max >= 0);
            assert_true(fabs(s.max + s.one_minus_max - 1) < 1e-15);
            assert_true(s.entropy >= 0 && s.entropy <= log((double)s.keys) * slack);
            assert_true(s.sum_p2 <= slack && s.sum_p2 * (double)s.keys * slack >= 1);
            assert_true(fabs(s.trace + s.sum_p2 - 1) < 1e-14);
            assert_true(s.jacobian_fro <= s.trace * slack && s.jacobian_fro <= 0.5 * slack);
            assert_true(isfinite(av_rowstats_log10_one_minus_max(&s)) && isfinite(av_rowstats_log10_entropy(&s)));
            assert_true(isfinite(av_rowstats_log10_trace(&s)) && isfinite(av_rowstats_log10_jacobian_fro(&s)));
            assert_true(av_rowstats_log10_jacobian_fro(&s) <= av_rowstats_log10_trace(&s) + 1e-14);
        }
    }
}

static void common_shift_changes_no_bit(void **state)
{
    (void)state;
    double z[500], p[500], shifted_p[500];
    for (size_t n = 2; n <= 500; n += 83) {
        for (int boost = 0; boost <= 900; boost += 300) {
            generate(z, n, 1, boost, 7);
            const struct av_rowstats s = run(p, z, n);
            for (size_t j = 0; j < n; j++)
                z[j] -= 65536; /* exact: 20 bits behind the point, 17 before it */
            struct av_rowstats t = run(shifted_p, z, n);
            assert_true(t.max_logit == s.max_logit - 65536);
            t.max_logit = s.max_logit;
            assert_memory_equal(&t, &s, sizeof s);
            assert_memory_equal(shifted_p, p, n * sizeof *p);
        }
    }
}

static void order_of_keys_does_not_matter(void **state)
{
    (void)state;
    double z[300], p[300], reversed_p[300];
    for (size_t n = 2; n <= 300; n += 37) {
        generate(z, n, 0.75, (double)n, 6);
        const struct av_rowstats s = run(p, z, n);
        for (size_t j = 0; j < n / 2; j++) {
            const double swap = z[j];
            z[j] = z[n - 1 - j];
            z[n - 1 - j] = swap;
        }
        const struct av_rowstats t = run(reversed_p, z, n);
        assert_int_equal(t.keys, s.keys);
        assert_int_equal(t.argmax, n - 1 - s.argmax);
        for (size_t j = 0; j < n; j++)
            close_to("reversed", "weight", reversed_p[n - 1 - j], p[j], 1e-14);
        close_to("reversed", "one_minus_max", t.one_minus_max, s.one_minus_max, 1e-14);
        close_to("reversed", "entropy", t.entropy, s.entropy, 1e-14);
        close_to("reversed", "trace", t.trace, s.trace, 1e-14);
        close_to("reversed", "jacobian_fro", t.jacobian_fro, s.jacobian_fro, 1e-14);
    }
}

/* The largest and second largest, wherever they stand in rows of any length:
 * every lane, every tail. */
static void every_position_can_win(void **state)
{
    (void)state;
    double z[40], p[40];
    for (size_t n = 2; n <= 40; n++) {
        for (size_t a = 0; a < n; a++) {
            const size_t b = (a + n / 2) % n;
            for (size_t j = 0; j < n; j++)
                z[j] = j % 3 == 0 ? -HUGE_VAL : -800.0;
            z[a] = z[b] = 5;
            struct av_rowstats s = run(p, z, n);
            assert_int_equal(s.argmax, a < b ? a : b);
            assert_true(s.max == 0.5 && p[a] == 0.5 && p[b] == 0.5 && s.one_minus_max == 0.5);
            z[b] = 4;
            s = run(p, z, n);
            assert_int_equal(s.argmax, a);
            close_to("runner-up", "one_minus_max", s.one_minus_max, 1 / (1 + exp(1)), 1e-15);
        }
    }
}

/* The logits are multiplier * s: exact products give the same bits, whether
 * they are made before or inside, also of logits beyond the largest double. */
static void multiplier_makes_logits(void **state)
{
    (void)state;
    double s[300], z[300], p[300], q[300];
    for (int power = -20; power <= 4; power += 3) {
        const double multiplier = ldexp(1, power);
        for (size_t n = 1; n <= 300; n += 23) {
            generate(s, n, 2, (double)n, 5);
            for (size_t j = 0; j < n; j++)
                z[j] = multiplier * s[j];
            const struct av_rowstats want = run(p, z, n);
            for (const char *const *name = av_kernels_names(); *name != NULL; name++) {
                const struct av_kernels *set = av_kernels_named(*name);
                struct av_rowstats got;
                memset(&got, 0, sizeof got);
                if (set == NULL)
                    continue;
                set->softmax(q, s, multiplier, n, &got);
                assert_memory_equal(&got, &want, sizeof got);
                assert_memory_equal(q, p, n * sizeof *p);
            }
        }
    }
    const double far[] = { -1.5e308, 1.5e308, 1e308 };
    struct av_rowstats got;
    av_kernels_best()->softmax(q, far, 100, 3, &got);
    assert_true(q[0] == 0 && q[1] == 1 && q[2] == 0 && got.argmax == 1 && got.max_logit == HUGE_VAL);
    assert_true(got.one_minus_max == 0 && got.entropy == 0 && got.trace == 0 && got.jacobian_fro == 0);
    assert_true(av_rowstats_log10_entropy(&got) < -1e307 && av_rowstats_log10_jacobian_fro(&got) < -1e307);
}

static void one_key_ignores_its_logit(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 20; n++) {
        for (size_t a = 0; a < n; a++) {
            double z[20], p[20];
            for (size_t j = 0; j < n; j++)
                z[j] = -HUGE_VAL;
            z[a] = a % 2 == 0 ? -1e300 : 42;
            const struct av_rowstats s = run(p, z, n);
            for (size_t j = 0; j < n; j++)
                assert_true(p[j] == (j == a ? 1 : 0));
            assert_int_equal(s.keys, 1);
            assert_int_equal(s.argmax, a);
            assert_true(s.max_logit == z[a] && s.max == 1 && s.sum_p2 == 1 && s.row_sum == 1);
            assert_true(s.one_minus_max == 0 && s.entropy == 0 && s.trace == 0 && s.jacobian_fro == 0);
            assert_true(av_rowstats_log10_one_minus_max(&s) == -HUGE_VAL && av_rowstats_log10_entropy(&s) == -HUGE_VAL);
            assert_true(av_rowstats_log10_trace(&s) == -HUGE_VAL && av_rowstats_log10_jacobian_fro(&s) == -HUGE_VAL);
        }
    }
}

/* Rows longer than what the kernel keeps at a time, with and without p. */
static void rows_of_many_chunks(void **state)
{
    (void)state;
    static double z[MANY], p[MANY];
    for (size_t n = 1023; n < MANY; n += 494) {
        generate(z, n, 2, 0, 4);
        z[n - 1] = 100;
        const struct av_rowstats s = run(p, z, n);
        assert_int_equal(s.argmax, n - 1);
        check_weights("chunks", p, z, n, &s);
    }
}

/* ---- the exponential -------------------------------------------------- */

static double exp_of(double x)
{
    return vd_exp_neg(vd_splat(x))[0];
}

static void exponential_is_accurate(void **state)
{
    (void)state;
    uint64_t seed = 3;
    double worst = 0, worst_at = 0;
    for (size_t i = 0; i < 400000; i++) {
        const double u = uniform(&seed) + 0x1p-24 * uniform(&seed);
        const double x = i % 4 == 0 ? -u : -708.3 * u;
        const long double want = expl((long double)x);
        int exponent;
        (void)frexp((double)want, &exponent);
        const double ulps = (double)(fabsl((long double)exp_of(x) - want) / ldexpl(1, exponent - DBL_MANT_DIG));
        if (ulps > worst) {
            worst = ulps;
            worst_at = x;
        }
    }
    if (!(worst < 0.95))
        fail_msg("exp(%.17g) is off by %.3f ulp", worst_at, worst);
}

static void exponential_ends_gently(void **state)
{
    (void)state;
    assert_true(exp_of(0) == 1 && exp_of(-0.0) == 1 && exp_of(-0x1p-60) == 1 && exp_of(-0x1p-1074) == 1);
    for (double x = -708.3; x > -745.2; x -= 0x1p-7)
        assert_true(fabsl((long double)exp_of(x) - expl((long double)x)) < 0x1.1p-1074L);
    assert_true(exp_of(-745.13) == 0x1p-1074);
    assert_true(exp_of(-745.14) == 0 && exp_of(-746) == 0 && exp_of(-1e4) == 0);
    assert_true(exp_of(-1e30) == 0 && exp_of(-DBL_MAX) == 0 && exp_of(-HUGE_VAL) == 0);
    double below = 0;
    for (double x = -746; x < 0; x += 0x1p-10) {
        assert_true(exp_of(x) >= below);
        below = exp_of(x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_match_references),         cmocka_unit_test(long_rows_match_closed_forms),
        cmocka_unit_test(random_rows_match_definitions), cmocka_unit_test(bounds_hold_at_every_scale),
        cmocka_unit_test(common_shift_changes_no_bit),   cmocka_unit_test(order_of_keys_does_not_matter),
        cmocka_unit_test(every_position_can_win),        cmocka_unit_test(multiplier_makes_logits),
        cmocka_unit_test(one_key_ignores_its_logit),     cmocka_unit_test(rows_of_many_chunks),
        cmocka_unit_test(exponential_is_accurate),       cmocka_unit_test(exponential_ends_gently),
    };
    return cmocka_run_group_tests_name("softmax", tests, NULL, NULL);
}
