/* test_report_io.c - reports hold every value, exactly, in each format. */
#include "attnviz/report_io.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

/* ---- a state made by hand ---------------------------------------------- */

/* Two queries, three keys; the second query is selected. */
struct state {
    struct av_snapshot s;
    double weights[6];
    struct av_rowstats rows[2];
    bool invalid[2];
    double dq_rms[2];
    struct av_source source;
    struct av_source_layer layer;
    struct av_loaded_head loaded;
};

static void add_verdict(struct av_snapshot *s, const char *code, enum av_severity severity, const char *text)
{
    struct av_verdict *v = &s->verdicts[s->verdict_count++];
    v->code = code;
    v->severity = severity;
    snprintf(v->text, sizeof v->text, "%s", text);
}

static void make_state(struct state *st)
{
    static const double weights[6] = { 1, 0, 0, 1.0 / 3, 0.1, 0x1.2345678p-1000 };
    memset(st, 0, sizeof *st);
    struct av_snapshot *s = &st->s;
    av_params_default(&s->params);
    s->params.n_q = 2;
    s->params.n_k = 3;
    s->params.query = 1;
    s->params.scale = 0;
    s->params.mask = AV_MASK_CAUSAL;
    s->params.temperature = 0.1;
    s->params.seed = UINT64_MAX;
    s->alpha = 1;
    s->n_q = 2;
    s->n_k = 3;
    s->d_k = 64;
    memcpy(st->weights, weights, sizeof weights);
    s->weights = st->weights;
    st->rows[1] = (struct av_rowstats){ .keys = 3, .max = 1.0 / 3, .one_minus_max = 0.1, .entropy = 0.7 };
    s->rows = st->rows;
    s->invalid = st->invalid;
    s->dq_rms = st->dq_rms;
    st->dq_rms[1] = 2.0 / 3;
    s->score_moments = (struct av_moments){ .count = 5, .mean = 0.1, .m2 = 8, .min = -3, .max = 1e-300 };
    s->expected_mean = (double)NAN;
    s->now.max_median = 0.3;
    s->now.rows_without_keys = 7;
    s->now.dq_rms_mean = (double)NAN;
    s->theory_freezing = 1.5;
    add_verdict(s, "saturated", AV_WARN, "half of \"it\"");
    add_verdict(s, "nan_input", AV_BAD, "q\xFF");
}

/* The same with files, at one of their heads. */
static void make_head(struct state *st, size_t head)
{
    make_state(st);
    st->layer = (struct av_source_layer){ .number = 5, .n_head = 4, .n_head_kv = 1, .n_q = 2, .n_k = 3, .d = 64 };
    st->layer.part[AV_PART_Q] =
        (struct av_source_tensor){ .name = "q,1", .type = "<f4", .rank = 3, .shape = { 4, 2, 64 }, .there = true };
    st->layer.part[AV_PART_K] =
        (struct av_source_tensor){ .name = "k", .type = ">f8", .rank = 2, .shape = { 3, 64 }, .there = true };
    st->source = (struct av_source){ .name = "x", .layers = &st->layer, .layer_count = 1 };
    st->loaded.k_bad.nan_count = 9;
    st->s.from_files = true;
    st->s.source = &st->source;
    st->s.layer = &st->layer;
    st->s.loaded = &st->loaded;
    st->s.heads = 4;
    st->s.head = head;
    st->s.k_head = head / 2;
    st->s.params.head = (int64_t)head;
    st->s.now.max_median = 0.3 + (double)head;
}

/* As a model does, gives every head in the place of the one before. */
static const struct av_snapshot *head_of(void *ctx, size_t head, struct av_error *e)
{
    (void)e;
    make_head(ctx, head);
    return &((struct state *)ctx)->s;
}

static const struct av_snapshot *head_that_fails(void *ctx, size_t head, struct av_error *e)
{
    if (head == 2) {
        av_fail(e, AV_NOMEM, "weights: out of memory");
        return NULL;
    }
    return head_of(ctx, head, e);
}

static void write_report(struct av_str *out, enum av_format format, struct state *st, av_report_head head)
{
    struct av_error e = { "" };
    if (av_report_write(out, format, &st->s, head, st, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
}

/* ---- a reader of JSON, strict and independent of the writer ------------ */

struct reader {
    const char *at;
    char path[200];   /* of the value read now: ".query.weights[1]" */
    const char *want; /* the path looked for */
    char found[400];  /* its text, "" if not there */
};

static void read_value(struct reader *r);

static void read_space(struct reader *r)
{
    r->at += strspn(r->at, " \n");
}

static void expect(struct reader *r, const char *text)
{
    if (strncmp(r->at, text, strlen(text)) != 0) {
        fail_msg("expected %s at %.40s", text, r->at);
    }
    r->at += strlen(text);
    read_space(r);
}

static void read_string(struct reader *r)
{
    for (r->at++; *r->at != '"'; r->at++) {
        assert_true((unsigned char)*r->at >= 0x20);
        if (*r->at == '\\') {
            r->at++;
            assert_non_null(strchr("\"\\nu", *r->at));
        }
    }
    r->at++;
}

static void read_members(struct reader *r, char close)
{
    size_t len = strlen(r->path);
    int index = 0;
    r->at++;
    read_space(r);
    while (*r->at != close) {
        if (index > 0) {
            expect(r, ",");
        }
        if (close == '}') {
            const char *name = r->at + 1;
            assert_int_equal(*r->at, '"');
            read_string(r);
            snprintf(r->path + len, sizeof r->path - len, ".%.*s", (int)(r->at - 1 - name), name);
            expect(r, ":");
        } else {
            snprintf(r->path + len, sizeof r->path - len, "[%d]", index);
        }
        read_value(r);
        index++;
    }
    r->path[len] = '\0';
    r->at++;
}

static void read_value(struct reader *r)
{
    const char *start = r->at;
    char path[sizeof r->path];
    strcpy(path, r->path);
    if (*r->at == '{') {
        read_members(r, '}');
    } else if (*r->at == '[') {
        read_members(r, ']');
    } else if (*r->at == '"') {
        read_string(r);
    } else if (strncmp(r->at, "null", 4) == 0) {
        r->at += 4;
    } else {
        char *end;
        assert_true(isdigit((unsigned char)*r->at) || *r->at == '-');
        strtod(r->at, &end);
        r->at = end;
    }
    if (strcmp(path, r->want) == 0) {
        assert_string_equal(r->found, ""); /* no name stands twice */
        snprintf(r->found, sizeof r->found, "%.*s", (int)(r->at - start), start);
    }
    strcpy(r->path, path);
    read_space(r);
}

/* The text of the value at that path; "" when there is none. */
static const char *look_up(const char *json, const char *path)
{
    static struct reader r;
    r = (struct reader){ .at = json, .want = path };
    read_value(&r);
    assert_int_equal(*r.at, '\0');
    return r.found;
}

static void check(const struct av_str *json, const char *path, const char *text)
{
    const char *found = look_up(json->text, path);
    if (strcmp(found, text) != 0) {
        fail_msg("%s is %s, not %s", path, found, text);
    }
}

/* Is text the number x to the last bit, or `none` where x is none? */
static void check_number(const char *what, const char *text, double x, const char *none)
{
    char *end;
    double read = strtod(text, &end);
    if (isfinite(x) ? read != x || *end != '\0' || end == text : strcmp(text, none) != 0) {
        fail_msg("%s is %s, not %.17g", what, text, x);
    }
}

/* ---- JSON --------------------------------------------------------------- */

static void json_holds_every_field(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_state(&st);
    st.s.has_theory = true;
    write_report(&out, AV_FORMAT_JSON, &st, NULL);
    size_t count;
    const struct av_field *fields = av_report_fields(&count);
    for (size_t i = 0; i < count; i++) {
        char path[100];
        snprintf(path, sizeof path, ".%s.%s", fields[i].block, fields[i].name);
        const char *text = look_up(out.text, path);
        check_number(path, text, fields[i].get(&st.s), "null");
        assert_true(!fields[i].whole || strpbrk(text, ".e") == NULL);
    }
    check(&out, ".scores.expected_mean", "null");
    check(&out, ".scores.var", "2");
    check(&out, ".weights.max_median", "0.29999999999999999");
    check(&out, ".weights.rows_without_keys", "7");
    check(&out, ".query.index", "1");
    check(&out, ".query.log10_trace", "null");
    check(&out, ".theory.freezing_std", "1.5");
    av_str_free(&out);
}

static void json_holds_every_parameter(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_state(&st);
    write_report(&out, AV_FORMAT_JSON, &st, NULL);
    size_t count;
    const struct av_param *rows = av_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        char path[100];
        snprintf(path, sizeof path, ".params.%s", rows[i].name);
        const char *text = look_up(out.text, path);
        if (rows[i].kind == AV_PARAM_INT || rows[i].kind == AV_PARAM_REAL) {
            check_number(path, text, av_param_get(&rows[i], &st.s.params), "null"); /* auto */
        }
        assert_string_not_equal(text, "");
    }
    check(&out, ".version", "\"" AV_VERSION "\"");
    check(&out, ".params.scale", "\"off\"");
    check(&out, ".params.mask", "\"causal\"");
    check(&out, ".params.dist", "\"normal\"");
    check(&out, ".params.temperature", "0.10000000000000001");
    check(&out, ".params.seed", "18446744073709551615");
    check(&out, ".params.logits", "null");
    check(&out, ".params.alpha", "1");
    av_str_free(&out);
}

static void json_holds_weights_and_verdicts(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_state(&st);
    write_report(&out, AV_FORMAT_JSON, &st, NULL);
    for (int i = 0; i < 3; i++) {
        char path[100];
        snprintf(path, sizeof path, ".query.weights[%d]", i);
        check_number(path, look_up(out.text, path), st.weights[3 + i], "");
    }
    check(&out, ".query.weights[3]", "");
    check(&out, ".theory", "null");
    check(&out, ".verdicts[0].code", "\"saturated\"");
    check(&out, ".verdicts[0].severity", "\"warn\"");
    check(&out, ".verdicts[0].text", "\"half of \\\"it\\\"\"");
    check(&out, ".verdicts[1].severity", "\"bad\"");
    check(&out, ".verdicts[1].text", "\"q\xEF\xBF\xBD\"");
    check(&out, ".verdicts[2]", "");
    check(&out, ".tensors", "");
    check(&out, ".heads", "");
    av_str_free(&out);

    st.invalid[1] = true; /* a row that holds a NaN has no weights */
    st.s.params.logits.n = 2;
    st.s.params.logits.at[0] = -0.5;
    st.s.params.logits.at[1] = 1e300;
    write_report(&out, AV_FORMAT_JSON, &st, NULL);
    check(&out, ".query.weights", "null");
    check(&out, ".query.max", "null");
    check(&out, ".query.argmax", "null");
    check(&out, ".params.logits", "[-0.5, 1.0000000000000001e+300]");
    av_str_free(&out);
}

static void json_of_files(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_head(&st, 1);
    write_report(&out, AV_FORMAT_JSON, &st, head_of);
    check(&out, ".tensors[0].role", "\"q\"");
    check(&out, ".tensors[0].name", "\"q,1\"");
    check(&out, ".tensors[0].dtype", "\"<f4\"");
    check(&out, ".tensors[0].shape", "[4, 2, 64]");
    check(&out, ".tensors[0].nan_count", "0");
    check(&out, ".tensors[1].role", "\"k\"");
    check(&out, ".tensors[1].shape", "[3, 64]");
    check(&out, ".tensors[1].nan_count", "9");
    check(&out, ".tensors[1].inf_count", "0");
    check(&out, ".params.head", "1");
    check(&out, ".weights.max_median", "1.3");
    check(&out, ".heads[0].layer", "5");
    check(&out, ".heads[3].head", "3");
    check(&out, ".heads[3].k_head", "1");
    check(&out, ".heads[3].weights.max_median", "3.2999999999999998");
    check(&out, ".heads[2].theory", "null");
    check(&out, ".heads[2].query.weights[0]", "0.33333333333333331");
    check(&out, ".heads[2].verdicts[0].code", "\"saturated\"");
    check(&out, ".heads[4]", "");
    av_str_free(&out);
}

static void a_head_that_fails(void **state)
{
    (void)state;
    for (int format = 0; format < AV_FORMAT_COUNT; format++) {
        struct state st;
        struct av_error e = { "" };
        struct av_str out = AV_STR_INIT;
        make_head(&st, 0);
        assert_int_equal(av_report_write(&out, (enum av_format)format, &st.s, head_that_fails, &st, &e), AV_FAILED);
        assert_string_equal(e.text, "weights: out of memory");
        av_str_free(&out);
    }
}

/* ---- CSV ---------------------------------------------------------------- */

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
    assert_int_equal(columns(out.text, 0), params + 1 + fields);
    assert_int_equal(columns(out.text, 1), params + 1 + fields);
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
    assert_int_equal(columns(out.text, 5), 0);
    av_str_free(&out);
}

/* ---- text --------------------------------------------------------------- */

static void text_for_people(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_head(&st, 1);
    write_report(&out, AV_FORMAT_TEXT, &st, head_of);
    static const char *const parts[] = {
        "verdicts of layer 5, head 1\n  warn saturated: half of \"it\"\n",
        "\ntensors of layer 5, head 1\n  q        q,1: <f4 [4, 2, 64]; the head's: 0 NaN, 0 infinite\n",
        "0 infinite\n  k        k: >f8 [3, 64]; the head's: 9 NaN, 0 infinite\n",
        "\n  seed                 18446744073709551615 ",
        "\n  temperature                    0.1 ",
        "\n  alpha                            1 ",
        "\n  count                            5 pairs  ",
        "\n  expected_mean                    -        ",
        "\n  max_median                     1.3        ",
        "\ntheory\n  not known for this setting\n",
        "\n  entropy                        0.7 nats   ",
        "\n  weights\n        0.33333         0.1 1.0618e-301\n",
        "\n      5     3      1 ",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(out.text, parts[i]) == NULL) {
            fail_msg("no %s in\n%s", parts[i], out.text);
        }
    }
    av_str_free(&out);

    make_state(&st);
    st.s.verdict_count = 0;
    write_report(&out, AV_FORMAT_TEXT, &st, NULL);
    assert_memory_equal(out.text, "verdicts\n  none\n", 16);
    assert_null(strstr(out.text, "\ntensors "));
    assert_null(strstr(out.text, "\nheads\n"));
    assert_null(strstr(out.text, "\n  layer "));
    assert_null(strstr(out.text, "\n  logits  "));
    av_str_free(&out);

    st.s.params.logits.n = 3;
    write_report(&out, AV_FORMAT_TEXT, &st, NULL);
    assert_non_null(strstr(out.text, "\n  logits                     3 given "));
    av_str_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_holds_every_field),
        cmocka_unit_test(json_holds_every_parameter),
        cmocka_unit_test(json_holds_weights_and_verdicts),
        cmocka_unit_test(json_of_files),
        cmocka_unit_test(a_head_that_fails),
        cmocka_unit_test(csv_is_a_header_and_a_row),
        cmocka_unit_test(csv_of_files_has_a_row_per_head),
        cmocka_unit_test(text_for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
