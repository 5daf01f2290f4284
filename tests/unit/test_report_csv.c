/* test_report_csv.c - a report as CSV holds every value, exactly. */
#include "report_state.h"

/* Cell (line, column) of a CSV text, unquoted, to out; false: there is none. */
static bool cell(const char *csv, int line, int column, char out[200])
{
    int l = 0;
    int c = 0;
    size_t len = 0;
    bool quoted = false;
    for (; *csv != '\0'; csv++) {
        bool here = l == line && c == column;
        if (*csv == '"') {
            if (quoted && csv[1] == '"') {
                csv++;
            } else {
                quoted = !quoted;
                continue;
            }
        } else if (!quoted && (*csv == ',' || *csv == '\n')) {
            if (here) {
                out[len] = '\0';
                return true;
            }
            l += *csv == '\n';
            c = *csv == '\n' ? 0 : c + 1;
            continue;
        }
        if (here) {
            out[len++] = *csv;
            assert_true(len < 200);
        }
    }
    return false;
}

/* The cell of that line in the column of that name. */
static const char *cell_of(const char *csv, int line, const char *name)
{
    static char text[200];
    for (int c = 0; cell(csv, 0, c, text); c++) {
        if (strcmp(text, name) == 0) {
            assert_true(cell(csv, line, c, text));
            return text;
        }
    }
    fail_msg("no column %s", name);
    return NULL;
}

static int columns(const char *csv, int line)
{
    char text[200];
    int c = 0;
    while (cell(csv, line, c, text)) {
        c++;
    }
    return c;
}

static void csv_is_a_header_and_a_row(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_state(&st);
    st.s.params.logits.n = 2;
    st.s.params.logits.at[0] = -0.5;
    st.s.params.logits.at[1] = 0.1;
    write_report(&out, AV_FORMAT_CSV, &st, NULL);
    size_t params;
    size_t fields;
    av_params_table(&params);
    const struct av_field *table = av_report_fields(&fields);
    assert_int_equal(columns(out.text, 0), params + 1 + fields + 2);
    assert_int_equal(columns(out.text, 1), params + 1 + fields + 2);
    assert_int_equal(columns(out.text, 2), 0);
    for (size_t i = 0; i < fields; i++) {
        char name[100];
        snprintf(name, sizeof name, "%s.%s", table[i].block, table[i].name);
        bool known = strcmp(table[i].block, "theory") != 0;
        check_number(name, cell_of(out.text, 1, name), known ? table[i].get(&st.s) : (double)NAN, "");
    }
    assert_string_equal(cell_of(out.text, 1, "params.d_k"), "64");
    assert_string_equal(cell_of(out.text, 1, "params.scale"), "off");
    assert_string_equal(cell_of(out.text, 1, "params.seed"), "18446744073709551615");
    assert_string_equal(cell_of(out.text, 1, "params.logits"), "-0.5,0.1");
    assert_string_equal(cell_of(out.text, 1, "params.alpha"), "1");
    assert_string_equal(cell_of(out.text, 1, "verdicts.worst"), "bad");
    assert_string_equal(cell_of(out.text, 1, "verdicts.codes"), "bad:nan_input warn:saturated");
    assert_non_null(strstr(out.text, ",\"-0.5,0.1\","));
    av_str_free(&out);
}

static void csv_of_files_has_a_row_per_head(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_head(&st, 1);
    write_report(&out, AV_FORMAT_CSV, &st, head_of);
    assert_memory_equal(out.text, "layer,head,k_head,params.", 25);
    for (int line = 1; line <= 4; line++) {
        char head[8];
        snprintf(head, sizeof head, "%d", line - 1);
        assert_int_equal(columns(out.text, line), columns(out.text, 0));
        assert_string_equal(cell_of(out.text, line, "head"), head);
        check_number("max", cell_of(out.text, line, "weights.max_median"), 0.3 + (double)(line - 1), "");
    }
    assert_string_equal(cell_of(out.text, 4, "k_head"), "1");
    assert_string_equal(cell_of(out.text, 4, "params.logits"), "");
    assert_string_equal(cell_of(out.text, 4, "evidence.multiplier"), ""); /* no diagnosis was made */
    assert_int_equal(columns(out.text, 5), 0);
    av_str_free(&out);
}

static void csv_has_the_evidence_of_heads(void **state)
{
    (void)state;
    struct state st;
    struct av_diagnosis d = { .finding_count = 0 };
    struct av_str out = AV_STR_INIT;
    make_head(&st, 0);
    st.s.diagnosis = &d;
    st.s.verdict_count = 0;
    d.evidence.multiplier.slope = 0.1;
    d.evidence.dot_max = (double)NAN;
    d.evidence.rows = 1024;
    write_report(&out, AV_FORMAT_CSV, &st, NULL);
    size_t count;
    const struct av_evidence_field *fields = av_evidence_fields(&count);
    for (size_t i = 0; i < count; i++) {
        char name[100];
        snprintf(name, sizeof name, "evidence.%s", fields[i].name);
        check_number(name, cell_of(out.text, 1, name), av_evidence_get(&fields[i], &d.evidence), "");
    }
    assert_string_equal(cell_of(out.text, 1, "evidence.rows"), "1024");
    assert_string_equal(cell_of(out.text, 1, "verdicts.worst"), "");
    assert_string_equal(cell_of(out.text, 1, "verdicts.codes"), "");
    av_str_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_is_a_header_and_a_row),
        cmocka_unit_test(csv_of_files_has_a_row_per_head),
        cmocka_unit_test(csv_has_the_evidence_of_heads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
