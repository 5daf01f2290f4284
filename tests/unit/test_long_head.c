/* test_long_head.c - heads of a report that are too long to be held. */
#include "../../src/top/long_head.h"
#include "attnviz/report_io.h"
#include "drawn_source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { N = 2100 }; /* N N is above 2^22 */

static struct av_heads_progress silent;

static struct av_params head_of(const struct drawn_source *s, int64_t head)
{
    struct av_params p;
    av_params_default(&p);
    av_params_from_source(&p, &s->source);
    p.head = head;
    p.query = 5;
    return p;
}

static void which_heads_are_long(void **state)
{
    (void)state;
    struct drawn_source s;
    drawn_source(&s, 2048, 2048, 8, false);
    struct av_params p = head_of(&s, 0);
    assert_false(av_long_head_is(&s.source, &p));
    drawn_source(&s, 2048, 2049, 8, false);
    assert_true(av_long_head_is(&s.source, &p));
    p.dtype = AV_DTYPE_F32;
    assert_false(av_long_head_is(&s.source, &p));
    p.dtype = AV_DTYPE_F64;
    s.layer.part[AV_PART_WEIGHTS].there = true;
    assert_true(av_long_head_is(&s.source, &p));
    p.from = AV_FROM_WEIGHTS; /* beside queries and keys */
    assert_false(av_long_head_is(&s.source, &p));
    p.from = AV_FROM_AUTO;
    s.layer.part[AV_PART_Q].there = s.layer.part[AV_PART_K].there = false; /* alone */
    s.layer.d = 0;
    assert_false(av_long_head_is(&s.source, &p));
}

/* All at once or one after the other: the same, to the last bit. */
static void its_numbers_are_those_of_its_parts(void **state)
{
    (void)state;
    static struct drawn_source s;
    static struct av_diagnosis alone;
    struct av_error e = { "" };
    struct av_long_head h = { 0 };
    enum av_status status;
    for (int streamed = 0; streamed < 2; streamed++) {
        struct av_fused *fused;
        drawn_source(&s, N, N, 8, false);
        s.source.streamed = streamed;
        struct av_params p = head_of(&s, 1);
        assert_int_equal(av_fused_begin(&fused, &s.source, 0, 1, &p, 1, NULL, &e), AV_OK);
        assert_int_equal(av_fused_run(fused, NULL, NULL, &e), AV_OK);
        assert_int_equal(av_diagnose_head(&alone, &s.source, 0, 1, &p, NULL, &e), AV_OK);
        const struct av_snapshot *parts = av_fused_snapshot(fused);
        const size_t went_back = s.went_back;
        drawn_source(&s, N, N, 8, false);
        s.source.streamed = streamed;
        const struct av_snapshot *whole = av_long_head(&h, &s.source, &p, &silent, &status, &e);
        assert_non_null(whole);
        assert_int_equal(status, AV_OK);
        assert_int_equal(whole->head, 1);
        assert_ptr_equal(whole->source, &s.source);
        assert_memory_equal(whole->rows, parts->rows, N * sizeof *parts->rows);
        assert_memory_equal(&whole->score_moments, &parts->score_moments, sizeof parts->score_moments);
        assert_memory_equal(&whole->diagnosis->evidence, &alone.evidence, sizeof alone.evidence);
        assert_int_equal(whole->diagnosis->finding_count, alone.finding_count);
        for (size_t i = 0; i < alone.finding_count; i++) {
            assert_string_equal(whole->diagnosis->findings[i].text, alone.findings[i].text);
        }
        if (streamed) { /* nobody reads between */
            assert_int_equal(s.went_back, went_back);
        }
        av_fused_free(fused);
    }
    struct av_params p = head_of(&s, 3);
    assert_int_equal(av_long_head(&h, &s.source, &p, &silent, &status, &e)->head, 3);
    av_long_head_free(&h);
}

/* The weights of one row are held, the statistics of all are there. */
static void its_report_is_whole(void **state)
{
    (void)state;
    struct drawn_source s;
    drawn_source(&s, N, N, 8, false);
    struct av_long_head h = { 0 };
    struct av_params p = head_of(&s, 0);
    enum av_status status;
    const struct av_snapshot *snapshot = av_long_head(&h, &s.source, &p, &silent, &status, NULL);
    for (int format = 0; format < AV_FORMAT_COUNT; format++) {
        struct av_str out = AV_STR_INIT;
        assert_int_equal(av_report_write(&out, (enum av_format)format, snapshot, NULL, NULL, NULL, NULL), AV_OK);
        assert_non_null(strstr(av_str_text(&out), "jacobian_fro"));
        if (format == AV_FORMAT_JSON) {
            assert_null(strstr(av_str_text(&out), "\"weights\": null"));
            assert_non_null(strstr(av_str_text(&out), "\"nonzero_share_mean\": 1,"));
            assert_non_null(strstr(av_str_text(&out), "\"dq_rms_mean\": null"));
            assert_null(strstr(av_str_text(&out), "\"log10_entropy\": null"));
        }
        av_str_free(&out);
    }
    av_long_head_free(&h);
}

static void a_source_that_fails_is_told(void **state)
{
    (void)state;
    struct drawn_source s;
    drawn_source(&s, N, N, 8, false);
    struct av_params p = head_of(&s, 0);
    struct av_long_head h = { 0 };
    struct av_error e = { "" };
    enum av_status status;
    static const size_t after[] = { 1, 2, 3, 10, 1000 }; /* in the one, or the other */
    for (size_t i = 0; i < sizeof after / sizeof after[0]; i++) {
        e.text[0] = '\0';
        s.reads = 0;
        s.fail_after = after[i];
        assert_null(av_long_head(&h, &s.source, &p, &silent, &status, &e));
        assert_int_equal(status, AV_FAILED);
        assert_string_equal(e.text, "the file has shrunk");
    }
    s.fail_after = 0;
    assert_non_null(av_long_head(&h, &s.source, &p, &silent, &status, &e));
    av_long_head_free(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(which_heads_are_long),
        cmocka_unit_test(its_numbers_are_those_of_its_parts),
        cmocka_unit_test(its_report_is_whole),
        cmocka_unit_test(a_source_that_fails_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
