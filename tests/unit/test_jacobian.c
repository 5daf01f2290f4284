/* test_jacobian.c - entries and norms of the softmax's Jacobian against values
 * of tests/reference/jacobian_reference.py, finite differences and properties. */
#include "attnviz/jacobian.h"
#include "attnviz/kernels.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N_MOST = 64 };

/* A row with its softmax. */
struct made {
    double z[N_MOST], p[N_MOST];
    struct av_rowstats stats;
    struct av_softmax_row row;
};

static void make(struct made *m, const double *z, size_t n)
{
    memcpy(m->z, z, n * sizeof *z);
    av_kernels_best()->softmax(m->p, m->z, 1, n, &m->stats);
    m->row = (struct av_softmax_row){ m->z, m->p, n, &m->stats, NULL };
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (double)(*state >> 33) / 2147483648.0;
}

/* Relative, and exact where nothing but 0 is left. */
static void assert_close(double got, double expected, double tolerance)
{
    if (fabs(got - expected) > tolerance * fabs(expected)) {
        fail_msg("%.17g is not %.17g", got, expected);
    }
}

/* ---- Against the reference ---------------------------------------------- */

/* clang-format off */
static const struct {
    const char *name;
    size_t n;
    double z[5];
    double entries[25], log10_entries[25];
    double norms[4]; /* |J|_1, |J|_2, and their log10 */
} table[] = {
{ "ordinary", 3, { 1, 0.5, -0.5 },
  { 0.24783315454514324, -0.18118055369916275, -0.066652600845980486, -0.18118055369916275, 0.22160739966183812, -0.040426845962675373, -0.066652600845980486, -0.040426845962675373, 0.10707944680865586 },
  { -0.60584059516398558, -0.74188841744485057, -1.1761828993481023, -0.74188841744485057, -0.6544157422348954, -1.3933301402997282, -1.1761828993481023, -1.3933301402997282, -0.97029388112134685 },
  { 0.49566630909028647, 0.41790576489198283, -0.30481059950000439, -0.3789216378453471 } },
{ "shifted", 3, { 100, 99.5, 98.5 },
  { 0.24783315454514324, -0.18118055369916275, -0.066652600845980486, -0.18118055369916275, 0.22160739966183812, -0.040426845962675373, -0.066652600845980486, -0.040426845962675373, 0.10707944680865586 },
  { -0.60584059516398558, -0.74188841744485057, -1.1761828993481023, -0.74188841744485057, -0.6544157422348954, -1.3933301402997282, -1.1761828993481023, -1.3933301402997282, -0.97029388112134685 },
  { 0.49566630909028647, 0.41790576489198283, -0.30481059950000439, -0.3789216378453471 } },
{ "all equal", 4, { 0, 0, 0, 0 },
  { 0.1875, -0.0625, -0.0625, -0.0625, -0.0625, 0.1875, -0.0625, -0.0625, -0.0625, -0.0625, 0.1875, -0.0625, -0.0625, -0.0625, -0.0625, 0.1875 },
  { -0.7269987279362623, -1.2041199826559248, -1.2041199826559248, -1.2041199826559248, -1.2041199826559248, -0.7269987279362623, -1.2041199826559248, -1.2041199826559248, -1.2041199826559248, -1.2041199826559248, -0.7269987279362623, -1.2041199826559248, -1.2041199826559248, -1.2041199826559248, -1.2041199826559248, -0.7269987279362623 },
  { 0.375, 0.25, -0.42596873227228116, -0.6020599913279624 } },
{ "four", 4, { 3, 1, -2, 0.5 },
  { 0.14958208204875459, -0.090310016920548769, -0.004496270986726311, -0.054775794141479525, -0.090310016920548769, 0.09833161864269345, -0.00060850410749716932, -0.0074130976146475217, -0.004496270986726311, -0.00060850410749716932, 0.0054738514919815857, -0.00036907639775810529, -0.054775794141479525, -0.0074130976146475217, -0.00036907639775810529, 0.06255796815388516 },
  { -0.8251204260798769, -1.0442640763526048, -2.3471475220623601, -1.2614113173042305, -1.0442640763526048, -1.0073068118314232, -3.215736485868864, -2.1300002811107341, -2.3471475220623601, -3.215736485868864, -2.2617069893679509, -3.4328837268204899, -1.2614113173042305, -2.1300002811107341, -3.4328837268204899, -1.2037173653491968 },
  { 0.29916416409750918, 0.22765701813063208, -0.52409043041589576, -0.64271895687160085 } },
{ "near tie", 3, { 40, 39.999000000000002, 0 },
  { 0.24999993750001043, -0.24999993750001043, -1.0631509178203071e-18, -0.24999993750001043, 0.24999993750001043, -1.0620882983008006e-18, -1.0631509178203071e-18, -1.0620882983008006e-18, 2.1252392161211075e-18 },
  { -0.60206009990157838, -0.60206009990157838, -17.97340508154975, -0.60206009990157838, -0.60206009990157838, -17.973839376031652, -17.97340508154975, -17.973839376031652, -17.67259217883991 },
  { 0.49999987500002085, 0.49999987500002085, -0.30103010423759713, -0.30103010423759713 } },
{ "saturated", 3, { 20, 0, 0 },
  { 4.1223072108902819e-09, -2.0611536054451409e-09, -2.0611536054451409e-09, -2.0611536054451409e-09, 2.0611536096934951e-09, -4.2483542202655461e-18, -2.0611536054451409e-09, -4.2483542202655461e-18, 2.0611536096934951e-09 },
  { -8.3848596459816456, -8.6858896416456268, -8.6858896416456268, -8.6858896416456268, -8.6858896407504798, -17.371779279710665, -8.6858896416456268, -17.371779279710665, -8.6858896407504798 },
  { 8.2446144217805637e-09, 6.1834608163354228e-09, -8.0838296503176643, -8.2087683869259642 } },
{ "deep", 3, { 200, 0, -3 },
  { 1.452796677727429e-87, -1.3838965267367376e-87, -6.8900150990691407e-89, -1.3838965267367376e-87, 1.3838965267367376e-87, -9.5350679647654623e-176, -6.8900150990691407e-89, -9.5350679647654623e-176, 6.8900150990691407e-89 },
  { -86.837795161971599, -86.858896380650364, -88.161779826360117, -86.858896380650364, -86.858896380650364, -175.0206762070105, -88.161779826360117, -175.0206762070105, -88.161779826360117 },
  { 2.905593355454858e-87, 2.8035617009172106e-87, -86.536765166307617, -86.552289881487013 } },
{ "last normal", 3, { 700, 0, 0 },
  { 1.9719353087519542e-304, -9.8596765437597708e-305, -9.8596765437597708e-305, -9.8596765437597708e-305, 9.8596765437597708e-305, -0, -9.8596765437597708e-305, -0, 9.8596765437597708e-305 },
  { -303.70510733661229, -304.0061373322763, -304.0061373322763, -304.0061373322763, -304.0061373322763, -608.01227466455259, -304.0061373322763, -608.01227466455259, -304.0061373322763 },
  { 3.9438706175039083e-304, 2.9579029631279314e-304, -303.40407734094833, -303.52901607755661 } },
{ "beyond doubles", 3, { 1000, 0, 0 },
  { 0, -0, -0, -0, 0, -0, -0, -0, 0 },
  { -433.99345190758783, -434.29448190325184, -434.29448190325184, -434.29448190325184, -434.29448190325184, -868.58896380650367, -434.29448190325184, -868.58896380650367, -434.29448190325184 },
  { 0, 0, -433.69242191192387, -433.81736064853214 } },
{ "two tie far up", 3, { 1000, 1000, 0 },
  { 0.25, -0.25, -0, -0.25, 0.25, -0, -0, -0, 0 },
  { -0.6020599913279624, -0.6020599913279624, -434.8965418945798, -0.6020599913279624, -0.6020599913279624, -434.8965418945798, -434.8965418945798, -434.8965418945798, -434.59551189891579 },
  { 0.5, 0.5, -0.3010299956639812, -0.3010299956639812 } },
{ "two keys", 2, { 0.25, -40 },
  { 3.3086216207858244e-18, -3.3086216207858244e-18, -3.3086216207858244e-18, 3.3086216207858244e-18 },
  { -17.480352896605886, -17.480352896605886, -17.480352896605886, -17.480352896605886 },
  { 6.6172432415716489e-18, 6.6172432415716489e-18, -17.179322900941905, -17.179322900941905 } },
{ "five spread", 5, { -300, -310.5, -300.25, -700, -302 },
  { 0.24949728150567116, -7.5153607454485297e-06, -0.212553505329588, -5.226959447534252e-175, -0.036936260815337713, -7.5153607454485297e-06, 1.438542305417854e-05, -5.8529688336194119e-06, -1.439319040802093e-179, -1.0170934751105974e-06, -0.212553505329588, -5.8529688336194119e-06, 0.24132534714513626, -4.0707601108221526e-175, -0.028765988846714656, -5.226959447534252e-175, -1.439319040802093e-179, -4.0707601108221526e-175, 1.0005255527558821e-174, -7.0739203729833652e-176, -0.036936260815337713, -1.0170934751105974e-06, -0.028765988846714656, -7.0739203729833652e-176, 0.06570326675552747 },
  { -0.60293418203865967, -5.1240501679716237, -0.67253172846329279, -174.2817508692882, -1.4325470717939834, -5.1240501679716237, -4.8420773616225503, -5.2326237884474374, -178.84184292927236, -5.9926391317781276, -0.67253172846329279, -5.2326237884474374, -0.61739706040726983, -174.39032448976403, -1.5411206922697964, -174.2817508692882, -178.84184292927236, -174.39032448976403, -173.99977181529448, -175.1503398330947, -1.4325470717939834, -5.9926391317781276, -1.5411206922697964, -175.1503398330947, -1.1824130368537791 },
  { 0.49899456301134232, 0.45810408292044719, -0.30190418637467853, -0.33903583749281324 } },
};
/* clang-format on */

enum { ROWS = sizeof table / sizeof *table };

static void entries_are_those_of_the_definition(void **state)
{
    (void)state;
    for (size_t k = 0; k < ROWS; k++) {
        struct made m;
        size_t n = table[k].n;
        make(&m, table[k].z, n);
        for (size_t i = 0; i < n * n; i++) {
            assert_close(av_jacobian_entry(&m.row, i / n, i % n), table[k].entries[i], 1e-14);
            assert_close(av_jacobian_log10_entry(&m.row, i / n, i % n), table[k].log10_entries[i], 1e-14);
        }
    }
}

static void norms_are_those_of_the_definition(void **state)
{
    (void)state;
    for (size_t k = 0; k < ROWS; k++) {
        struct made m;
        make(&m, table[k].z, table[k].n);
        const struct av_jacobian_norm norms[2] = { av_jacobian_norm_1(&m.stats), av_jacobian_norm_2(&m.row) };
        for (int i = 0; i < 2; i++) {
            assert_close(norms[i].value, table[k].norms[i], 1e-14);
            assert_close(norms[i].log10, table[k].norms[2 + i], 1e-14);
        }
    }
}

/* ---- Random rows -------------------------------------------------------- */

static size_t random_row(double z[N_MOST], uint64_t *state, double spread)
{
    size_t n = 2 + (size_t)(uniform(state) * 30);
    for (size_t i = 0; i < n; i++) {
        z[i] = spread * (2 * uniform(state) - 1);
    }
    return n;
}

/* p_i in long double from the definition, logit j moved by h. */
static long double plain_weight(const double *z, size_t n, size_t i, size_t j, long double h)
{
    double top = z[0];
    for (size_t k = 1; k < n; k++) {
        top = z[k] > top ? z[k] : top;
    }
    long double sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += expl((long double)z[k] - (long double)top + (k == j ? h : 0));
    }
    return expl((long double)z[i] - (long double)top + (i == j ? h : 0)) / sum;
}

static void entries_are_derivatives(void **state)
{
    (void)state;
    uint64_t random = 1;
    const long double h = 1e-4L;
    for (int k = 0; k < 60; k++) {
        double z[N_MOST];
        size_t n = random_row(z, &random, k % 3 == 0 ? 0.1 : k % 3 == 1 ? 3 : 12);
        struct made m;
        make(&m, z, n);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                /* Fourth order: the error is h^4 / 30 times a fifth derivative below 1. */
                long double near = plain_weight(z, n, i, j, h) - plain_weight(z, n, i, j, -h);
                long double far = plain_weight(z, n, i, j, 2 * h) - plain_weight(z, n, i, j, -2 * h);
                double difference = (double)((8 * near - far) / (12 * h));
                assert_true(fabs(av_jacobian_entry(&m.row, i, j) - difference) < 2e-15);
            }
        }
    }
}

/* Eigenvalues of J greater than x: the signs of an LDL^T factorisation. */
static int above(const struct av_softmax_row *row, long double x)
{
    long double a[N_MOST][N_MOST];
    size_t n = row->n;
    int count = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            a[i][j] = (long double)av_jacobian_entry(row, i, j) - (i == j ? x : 0);
        }
    }
    for (size_t k = 0; k < n; k++) {
        count += a[k][k] > 0;
        for (size_t i = k + 1; i < n; i++) {
            long double f = a[i][k] / a[k][k];
            for (size_t j = k; j < n; j++) {
                a[i][j] -= f * a[k][j];
            }
        }
    }
    return count;
}

static void the_spectral_norm_is_the_largest_eigenvalue(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int k = 0; k < 200; k++) {
        double z[N_MOST];
        size_t n = random_row(z, &random, k % 3 == 0 ? 0.01 : k % 3 == 1 ? 3 : 30);
        struct made m;
        make(&m, z, n);
        struct av_jacobian_norm norm = av_jacobian_norm_2(&m.row);
        assert_int_equal(above(&m.row, (long double)norm.value * (1 + 1e-13L)), 0);
        assert_true(above(&m.row, (long double)norm.value * (1 - 1e-13L)) >= 1);
        assert_close(norm.log10, log10(norm.value), 1e-13);
        assert_true(norm.value <= m.stats.jacobian_fro * (1 + 1e-14));
    }
}

static void rows_sum_to_zero_and_the_diagonal_to_the_trace(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int k = 0; k < 100; k++) {
        double z[N_MOST];
        size_t n = random_row(z, &random, k % 2 ? 2 : 40);
        struct made m;
        make(&m, z, n);
        double trace = 0;
        double fro2 = 0;
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++) {
                double v = av_jacobian_entry(&m.row, i, j);
                assert_true(fabs(v) <= 0.25 && (i == j ? v >= 0 : v <= 0));
                sum += v;
                fro2 += v * v;
            }
            double own = av_jacobian_entry(&m.row, i, i);
            assert_true(fabs(sum) <= 4e-15 * own);
            trace += own;
        }
        assert_close(trace, m.stats.trace, 1e-14);
        assert_close(sqrt(fro2), m.stats.jacobian_fro, 1e-14);
    }
}

/* Logits on a grid, so that a shift adds without rounding: up to +-1e30. */
static void a_common_shift_changes_nothing(void **state)
{
    (void)state;
    static const double grids[] = { 0x1p-40, 0x1p-10, 1, 0x1p68 };
    uint64_t random = 5;
    for (int k = 0; k < 200; k++) {
        double grid = grids[k % 4];
        double reach = k % 4 < 2 ? 3 / grid : k % 4 == 2 ? 50 : 0x1p31;
        double z[N_MOST];
        double moved[N_MOST];
        size_t n = random_row(z, &random, reach);
        double shift = grid * round(reach * (2 * uniform(&random) - 1));
        for (size_t i = 0; i < n; i++) {
            z[i] = i % 5 == 4 ? -(double)INFINITY : grid * round(z[i]);
            moved[i] = z[i] + shift;
        }
        struct made a;
        struct made b;
        make(&a, z, n);
        make(&b, moved, n);
        for (size_t i = 0; i < n * n; i++) {
            double was = av_jacobian_log10_entry(&a.row, i / n, i % n);
            double now = av_jacobian_log10_entry(&b.row, i / n, i % n);
            assert_true((isinf(was) && isinf(now)) || !(was < now || was > now));
            assert_close(av_jacobian_entry(&b.row, i / n, i % n), av_jacobian_entry(&a.row, i / n, i % n), 0);
        }
        assert_close(av_jacobian_norm_2(&b.row).value, av_jacobian_norm_2(&a.row).value, 0);
    }
}

static void a_permutation_permutes(void **state)
{
    (void)state;
    uint64_t random = 9;
    for (int k = 0; k < 200; k++) {
        static const double spreads[] = { 0.5, 5, 500, 1e30 };
        double z[N_MOST];
        double mixed[N_MOST];
        size_t to[N_MOST];
        size_t n = random_row(z, &random, spreads[k % 4]);
        for (size_t i = 0; i < n; i++) {
            z[i] = i % 7 == 6 ? -(double)INFINITY : z[i];
            size_t at = (size_t)(uniform(&random) * (double)(i + 1));
            to[i] = i;
            to[i] = to[at];
            to[at] = i;
        }
        for (size_t i = 0; i < n; i++) {
            mixed[to[i]] = z[i];
        }
        struct made a;
        struct made b;
        make(&a, z, n);
        make(&b, mixed, n);
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < n; j++) {
                assert_close(av_jacobian_entry(&b.row, to[i], to[j]), av_jacobian_entry(&a.row, i, j), 1e-14);
            }
        }
        assert_close(av_jacobian_norm_1(&b.stats).value, av_jacobian_norm_1(&a.stats).value, 1e-14);
        assert_close(av_jacobian_norm_2(&b.row).value, av_jacobian_norm_2(&a.row).value, 1e-14);
    }
}

/* ---- Blocks and edges --------------------------------------------------- */

static void the_largest_of_a_block_is_found(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int k = 0; k < 3000; k++) {
        double z[N_MOST];
        size_t n = random_row(z, &random, k % 4 == 0 ? 0 : k % 4 == 1 ? 1 : k % 4 == 2 ? 10 : 2000);
        struct made m;
        make(&m, z, n);
        struct av_jacobian_block b = { (size_t)(uniform(&random) * (double)n), 0,
                                       (size_t)(uniform(&random) * (double)n), 0 };
        b.rows = 1 + (size_t)(uniform(&random) * (double)(n - b.row));
        b.cols = 1 + (size_t)(uniform(&random) * (double)(n - b.col));
        double most = -(double)INFINITY;
        for (size_t i = b.row; i < b.row + b.rows; i++) {
            for (size_t j = b.col; j < b.col + b.cols; j++) {
                most = fmax(most, av_jacobian_log10_entry(&m.row, i, j));
            }
        }
        struct av_jacobian_place at = av_jacobian_largest(&m.row, b);
        assert_true(at.row >= b.row && at.row < b.row + b.rows && at.col >= b.col && at.col < b.col + b.cols);
        assert_true(fabs(av_jacobian_log10_entry(&m.row, at.row, at.col) - most) <= 1e-15 * fabs(most));
    }
}

static void without_a_choice_nothing_answers(void **state)
{
    (void)state;
    static const double rows[2][3] = { { 5, 0, 0 }, { -(double)INFINITY, 7, -(double)INFINITY } };
    static const size_t lengths[2] = { 1, 3 };
    for (int k = 0; k < 2; k++) {
        struct made m;
        make(&m, rows[k], lengths[k]);
        for (size_t i = 0; i < lengths[k] * lengths[k]; i++) {
            assert_true(av_jacobian_entry(&m.row, i / lengths[k], i % lengths[k]) == 0);
            assert_true(isinf(av_jacobian_log10_entry(&m.row, i / lengths[k], i % lengths[k])));
        }
        assert_true(av_jacobian_norm_1(&m.stats).value == 0 && isinf(av_jacobian_norm_1(&m.stats).log10));
        assert_true(av_jacobian_norm_2(&m.row).value == 0 && isinf(av_jacobian_norm_2(&m.row).log10));
        assert_true(av_softmax_log10_weight(&m.row, k == 0 ? 0 : 1) == 0);
    }
}

/* Where even logarithms end there is no NaN. */
static void the_largest_doubles_are_no_trouble(void **state)
{
    (void)state;
    static const double z[] = { DBL_MAX, -DBL_MAX, -DBL_MAX, 0 };
    struct made m;
    make(&m, z, 4);
    for (size_t i = 0; i < 16; i++) {
        assert_true(!isnan(av_jacobian_entry(&m.row, i / 4, i % 4)));
        assert_true(!isnan(av_jacobian_log10_entry(&m.row, i / 4, i % 4)));
    }
    assert_close(av_softmax_log10_weight(&m.row, 1), -2 * (DBL_MAX / log(10)), 1e-15);
    assert_true(!isnan(av_jacobian_norm_2(&m.row).value));
    static const double infinite[] = { (double)INFINITY, (double)INFINITY, 3 };
    static const double p[] = { 0.5, 0.5, 0 };
    m.stats = (struct av_rowstats){ .keys = 3, .max = 0.5, .one_minus_max = 0.5, .scaled = { 0, 0.5, 1, 0.5, 0.5 } };
    struct av_softmax_row row = { infinite, p, 3, &m.stats, NULL };
    assert_close(av_jacobian_norm_2(&row).value, 0.5, 1e-15);
}

/* ---- Forms of other bends ------------------------------------------------- */

/* Entries, the largest of any block, and the largest sum of a row, against all
 * entries one by one. */
static void a_form_is_read_as_it_is(void **state)
{
    (void)state;
    enum { N = 7 };
    double diag[N] = { 0.2, 0, -0.6, 0.1, 0.9, 0, 0.3 };
    double u[N] = { 0.5, 0, -0.7, 0.2, 0, 1.5, 0.5 };
    double v[N] = { 1, -0.3, 0, 0.4, -1, 0, 0.5 };
    const double z[N] = { 0 };
    double w[N] = { 0.5, 0, -0.1, 0.1, 0.2, 0, 0.3 };
    struct av_form form = { diag, u, v, NULL };
    struct av_rowstats stats = { .keys = N };
    struct av_softmax_row row = { z, w, N, &stats, &form };
    double most = 0;
    for (size_t i = 0; i < N; i++) {
        double sum = 0;
        for (size_t j = 0; j < N; j++) {
            double entry = av_jacobian_entry(&row, i, j);
            assert_true(entry == (i == j ? diag[i] : -u[i] * v[j]));
            assert_true(av_jacobian_log10_entry(&row, i, j) == log10(fabs(entry)));
            sum += fabs(entry);
        }
        most = fmax(most, sum);
    }
    assert_true(fabs(av_jacobian_norm_inf(&row).value - most) < 1e-15);
    assert_true(av_softmax_log10_weight(&row, 2) == -1);
    for (size_t cut = 0; cut < (size_t)N * N * N * N; cut++) {
        size_t r = cut % N, c = cut / N % N, rows = cut / N / N % N + 1, cols = cut / N / N / N + 1;
        if (r + rows > N || c + cols > N) {
            continue;
        }
        double largest = 0;
        for (size_t i = r; i < r + rows; i++) {
            for (size_t j = c; j < c + cols; j++) {
                largest = fmax(largest, fabs(av_jacobian_entry(&row, i, j)));
            }
        }
        struct av_jacobian_place at = av_jacobian_largest(&row, (struct av_jacobian_block){ r, rows, c, cols });
        assert_true(at.row >= r && at.row < r + rows && at.col >= c && at.col < c + cols);
        assert_true(fabs(av_jacobian_entry(&row, at.row, at.col)) == largest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_are_those_of_the_definition),
        cmocka_unit_test(norms_are_those_of_the_definition),
        cmocka_unit_test(entries_are_derivatives),
        cmocka_unit_test(the_spectral_norm_is_the_largest_eigenvalue),
        cmocka_unit_test(rows_sum_to_zero_and_the_diagonal_to_the_trace),
        cmocka_unit_test(a_common_shift_changes_nothing),
        cmocka_unit_test(a_permutation_permutes),
        cmocka_unit_test(the_largest_of_a_block_is_found),
        cmocka_unit_test(without_a_choice_nothing_answers),
        cmocka_unit_test(the_largest_doubles_are_no_trouble),
        cmocka_unit_test(a_form_is_read_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
