/* test_bench_write.c - timings as text, JSON and CSV; variants beside softmax. */
#include "../../src/top/bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct av_bench_stage scores = { "scores", "Q K^T" };
static const struct av_bench_stage rows = { "rows", "by a variant" };
static const struct av_bench_stage rows_dq = { "rows_dq", "with dq_rms" };

static const struct av_bench_result results[] = {
    { .stage = &scores, .n_q = 8, .n_k = 9, .d = 4, .runs = 7, .median = 0.5, .fastest = 0.25 },
    { &rows, 8, 8, 4, 3, 0.1, 0.09, 0, 0, "softmax", 1 },
    { &rows, 8, 8, 4, 3, 0.2, 0.19, 0, 0, "sink", 2 },
    { &rows_dq, 8, 8, 4, 3, 0.4, 0.38, 0, 0, "softmax", 1 },
    { &rows_dq, 8, 8, 4, 3, 0.6, 0.55, 0, 0, "sink", 1.5 },
};

enum { RESULTS = sizeof results / sizeof results[0] };

static void assert_holds(enum av_format format, size_t count, const char *const *texts)
{
    struct av_str out = AV_STR_INIT;
    av_bench_write(&out, format, results, count);
    for (; *texts != NULL; texts++) {
        if (strstr(av_str_text(&out), *texts) == NULL) {
            fail_msg("no \"%s\" in:\n%s", *texts, av_str_text(&out));
        }
    }
    av_str_free(&out);
}

#define HOLDS(format, count, ...) assert_holds(format, count, (const char *const[]){ __VA_ARGS__, NULL })

static void a_line_a_variant(void **unused)
{
    (void)unused;
    HOLDS(AV_FORMAT_TEXT, RESULTS, "scores            8     9     4     0.5000     0.2500     7\n\nstage",
          "\nstage                      rows         rows_dq\nn_q = n_k                     8               8\n",
          "\nsoftmax            0.1000  1.00    0.4000  1.00\nsink               0.2000  2.00    0.6000  1.50\n\n",
          "\nrows          by a variant\nrows_dq       with dq_rms\n");
}

static void without_variants_no_second_table(void **unused)
{
    (void)unused;
    HOLDS(AV_FORMAT_TEXT, 1, "0.2500     7\n\nscores        Q K^T\n");
}

static void every_row_of_csv_has_every_column(void **unused)
{
    (void)unused;
    HOLDS(AV_FORMAT_CSV, RESULTS, "stage,n_q,n_k,d_k,median_ms,fastest_ms,runs,gflops,variant,ratio,bytes\n",
          "\nscores,8,9,4,0.5,0.25,7,,,,\n", "\nrows,8,8,4,0.2,0.19,3,,sink,2,\n",
          "\nrows_dq,8,8,4,0.6,0.55,3,,sink,1.5,\n");
}

static void memory_is_told_where_it_is_known(void **unused)
{
    (void)unused;
    const struct av_bench_result fused = { &scores, 64, 64, 8, 3, 1, 0.5, 1e6, 5 << 19, NULL, 0 };
    static const struct {
        enum av_format format;
        const char *text;
    } all[] = { { AV_FORMAT_TEXT, "     3      2.0     2.5\n" },
                { AV_FORMAT_CSV, ",3,2,,,2621440\n" },
                { AV_FORMAT_JSON, "\"bytes\": 2621440" } };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        struct av_str out = AV_STR_INIT;
        av_bench_write(&out, all[i].format, &fused, 1);
        assert_non_null(strstr(av_str_text(&out), all[i].text));
        av_str_free(&out);
    }
    struct av_str out = AV_STR_INIT;
    av_bench_write(&out, AV_FORMAT_JSON, results, RESULTS);
    assert_null(strstr(av_str_text(&out), "bytes"));
    av_str_free(&out);
}

static void json_names_the_variant(void **unused)
{
    (void)unused;
    HOLDS(AV_FORMAT_JSON, RESULTS, "\"variant\": \"sink\",", "\"ratio\": 1.5");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_a_variant),
        cmocka_unit_test(without_variants_no_second_table),
        cmocka_unit_test(every_row_of_csv_has_every_column),
        cmocka_unit_test(memory_is_told_where_it_is_known),
        cmocka_unit_test(json_names_the_variant),
    };
    return cmocka_run_group_tests_name("bench, written", tests, NULL, NULL);
}
