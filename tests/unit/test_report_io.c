/* test_report_io.c - what reports of several heads have in common, whatever their format. */
#include "report_state.h"

static const struct av_snapshot *head_that_fails(void *ctx, size_t head, struct av_error *e)
{
    if (head == 2) {
        av_fail(e, AV_NOMEM, "weights: out of memory");
        return NULL;
    }
    return head_of(ctx, head, e);
}

static void a_head_that_fails(void **state)
{
    (void)state;
    for (int format = 0; format < AV_FORMAT_COUNT; format++) {
        struct state st;
        struct av_error e = { "" };
        struct av_str out = AV_STR_INIT;
        make_head(&st, 0);
        av_str_add(&out, "before");
        assert_int_equal(av_report_write(&out, (enum av_format)format, &st.s, head_that_fails, &st, NULL, &e),
                         AV_FAILED);
        assert_string_equal(e.text, "weights: out of memory");
        assert_string_equal(out.text, "before");
        av_str_free(&out);
    }
}

/* Which heads were asked for. */
struct asked {
    struct state st;
    char heads[8];
    size_t count;
};

static const struct av_snapshot *note_head(void *ctx, size_t head, struct av_error *e)
{
    struct asked *asked = ctx;
    asked->heads[asked->count++] = (char)('0' + head);
    return head_of(&asked->st, head, e);
}

static void no_head_is_computed_twice(void **state)
{
    (void)state;
    static const char *const others[] = { "123", "023", "013", "012" };
    static const struct {
        const char *before, *after;
    } marks[AV_FORMAT_COUNT] = { [AV_FORMAT_TEXT] = { "\n      5     ", " " },
                                 [AV_FORMAT_JSON] = { "\"head\": ", ",\n      \"k_head\"" },
                                 [AV_FORMAT_CSV] = { "\n5,", "," } };
    for (int format = 0; format < AV_FORMAT_COUNT; format++) {
        for (size_t own = 0; own < 4; own++) {
            struct asked asked = { .count = 0 };
            struct av_str out = AV_STR_INIT;
            make_head(&asked.st, own);
            assert_int_equal(av_report_write(&out, (enum av_format)format, &asked.st.s, note_head, &asked, NULL, NULL),
                             AV_OK);
            assert_string_equal(asked.heads, others[own]);
            const char *at = out.text;
            for (int head = 0; head < 4; head++) { /* all are there, in order */
                char mark[64];
                snprintf(mark, sizeof mark, "%s%d%s", marks[format].before, head, marks[format].after);
                at = strstr(at, mark);
                assert_non_null(at);
            }
            av_str_free(&out);
        }
    }
}

static void findings_are_handed_back(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    struct av_findings found;
    make_head(&st, 3);
    assert_int_equal(av_report_write(&out, AV_FORMAT_CSV, &st.s, head_of, &st, &found, NULL), AV_OK);
    assert_int_equal(found.heads, 4);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.at[0].heads, 4);
    assert_int_equal(found.at[0].first, 0);
    assert_int_equal(av_findings_worst(&found), AV_BAD);
    av_str_free(&out);

    make_state(&st);
    assert_int_equal(av_report_write(&out, AV_FORMAT_TEXT, &st.s, NULL, NULL, &found, NULL), AV_OK);
    assert_int_equal(found.heads, 1);
    assert_int_equal(found.count, 2);
    av_str_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_that_fails),
        cmocka_unit_test(no_head_is_computed_twice),
        cmocka_unit_test(findings_are_handed_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
