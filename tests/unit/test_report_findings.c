/* test_report_findings.c - the verdicts of several heads, counted by code. */
#include "report_state.h"

/* Head `head` of four with these verdicts, "code severity" each; its text names it. */
static void make_with(struct state *st, size_t head, size_t count, const char *const codes[],
                      const enum av_severity severities[])
{
    make_head(st, head);
    st->s.verdict_count = 0;
    for (size_t i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s of %zu", codes[i], head);
        add_verdict(&st->s, codes[i], severities[i], text);
    }
}

/* Four heads, added in that order. */
static struct av_findings of_heads(const size_t order[4])
{
    static const char *const codes[4][3] = { { "b", "c" }, { "b", "a" }, { "a", "c", "b" }, { NULL } };
    static const enum av_severity severities[4][3] = {
        { AV_WARN, AV_INFO }, { AV_WARN, AV_BAD }, { AV_WARN, AV_INFO, AV_WARN }, { AV_INFO }
    };
    static const size_t counts[4] = { 2, 2, 3, 0 };
    struct av_findings found = { 0 };
    for (size_t i = 0; i < 4; i++) {
        struct state st;
        make_with(&st, order[i], counts[order[i]], codes[order[i]], severities[order[i]]);
        av_findings_add(&found, &st.s, order[i]);
    }
    return found;
}

static void check_finding(const struct av_finding *f, const char *code, enum av_severity severity, size_t heads,
                          size_t first, const char *text)
{
    assert_string_equal(f->verdict.code, code);
    assert_int_equal(f->verdict.severity, severity);
    assert_int_equal(f->heads, heads);
    assert_int_equal(f->first, first);
    assert_int_equal(f->layer, 5);
    assert_int_equal(f->head, first);
    assert_string_equal(f->verdict.text, text);
}

static void worst_first_then_most_heads_in_any_order(void **state)
{
    (void)state;
    static const size_t orders[][4] = { { 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 } };
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct av_findings found = of_heads(orders[i]);
        assert_int_equal(found.heads, 4);
        assert_int_equal(found.count, 4);
        check_finding(&found.at[0], "a", AV_BAD, 1, 1, "a of 1");
        check_finding(&found.at[1], "b", AV_WARN, 3, 0, "b of 0");
        check_finding(&found.at[2], "a", AV_WARN, 1, 2, "a of 2");
        check_finding(&found.at[3], "c", AV_INFO, 2, 0, "c of 0");
        assert_int_equal(av_findings_worst(&found), AV_BAD);
    }
}

static void check_words(const struct av_findings *found, enum av_severity least, const char *words)
{
    struct av_str out = AV_STR_INIT;
    av_findings_words(&out, found, least);
    assert_string_equal(av_str_text(&out), words);
    av_str_free(&out);
}

static void in_words(void **state)
{
    (void)state;
    struct av_findings found = of_heads((const size_t[]){ 0, 1, 2, 3 });
    check_words(&found, AV_BAD, "bad a in 1 of 4 heads");
    check_words(&found, AV_WARN, "bad a in 1 of 4 heads, warn b in 3 of 4 heads, warn a in 1 of 4 heads");
    struct state st;
    struct av_findings one = { 0 };
    make_state(&st);
    av_findings_add(&one, &st.s, 0);
    check_words(&one, AV_WARN, "bad nan_input, warn saturated");
    struct av_findings none = { 0 };
    check_words(&none, AV_INFO, "");
    assert_int_equal(av_findings_worst(&none), -1);
}

/* What the pipeline has said already is not said again; another finding of the same
 * code is told, and the head counts once. */
static void a_diagnosis_adds_to_the_pipeline(void **state)
{
    (void)state;
    struct state st;
    struct av_diagnosis d = { .finding_count = 3 };
    d.findings[0] = (struct av_verdict){ "saturated", AV_WARN, "half of \"it\"" };
    d.findings[1] = (struct av_verdict){ "saturated", AV_WARN, "weights of the file: all" };
    d.findings[2] = (struct av_verdict){ "dropout", AV_WARN, "rows" };
    make_head(&st, 0);
    st.s.diagnosis = &d;
    const struct av_verdict *told[AV_REPORT_VERDICTS];
    assert_int_equal(av_report_verdicts(&st.s, told), st.s.verdict_count + 2);
    struct av_findings found = { 0 };
    av_findings_add(&found, &st.s, 0);
    assert_int_equal(found.count, 3);
    check_finding(&found.at[0], "nan_input", AV_BAD, 1, 0, "q\xFF");
    check_finding(&found.at[1], "saturated", AV_WARN, 1, 0, "half of \"it\"");
    check_finding(&found.at[2], "dropout", AV_WARN, 1, 0, "rows");
}

static void check_told(const struct av_snapshot *s, size_t count, const char *const texts[])
{
    const struct av_verdict *told[AV_REPORT_VERDICTS];
    assert_int_equal(av_report_verdicts(s, told), count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(told[i]->text, texts[i]);
    }
}

/* Of several tensors that hold NaN the table of heads names the code once, in its worst severity. */
static void a_code_is_told_once(void **state)
{
    (void)state;
    struct state st;
    make_head(&st, 0);
    st.s.verdict_count = 0;
    add_verdict(&st.s, "saturated", AV_WARN, "of q.k");
    add_verdict(&st.s, "nan_input", AV_BAD, "q");
    add_verdict(&st.s, "nan_input", AV_BAD, "k");
    add_verdict(&st.s, "saturated", AV_BAD, "of weights");
    const struct av_verdict *told[AV_REPORT_VERDICTS];
    assert_int_equal(av_report_verdicts(&st.s, told), 4);
    assert_int_equal(av_report_codes(&st.s, told), 2);
    assert_string_equal(told[0]->text, "q");
    assert_string_equal(told[1]->text, "of weights");
}

/* With weights beside Q and K the diagnosis alone says whether rows are saturated; no
 * note stands before a warning. */
static void weights_of_a_file_have_the_only_say(void **state)
{
    (void)state;
    struct state st;
    struct av_diagnosis d = { .of_file = true, .finding_count = 2 };
    d.findings[0] = (struct av_verdict){ "saturated", AV_WARN, "weights of the file: all" };
    d.findings[1] = (struct av_verdict){ "scale_ok", AV_INFO, "as it should be" };
    make_head(&st, 0);
    st.s.verdict_count = 0;
    add_verdict(&st.s, "not_simplex", AV_INFO, "sums");
    add_verdict(&st.s, "saturated", AV_BAD, "of q.k");
    add_verdict(&st.s, "gradient_dead", AV_WARN, "of q.k, too");
    check_told(&st.s, 3, (const char *const[]){ "of q.k", "of q.k, too", "sums" });
    st.s.diagnosis = &d;
    check_told(&st.s, 3, (const char *const[]){ "weights of the file: all", "sums", "as it should be" });
    d.finding_count = 0; /* the weights are flat, whatever q.k is */
    check_told(&st.s, 1, (const char *const[]){ "sums" });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worst_first_then_most_heads_in_any_order), cmocka_unit_test(in_words),
        cmocka_unit_test(a_diagnosis_adds_to_the_pipeline),         cmocka_unit_test(a_code_is_told_once),
        cmocka_unit_test(weights_of_a_file_have_the_only_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
