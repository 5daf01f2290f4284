/* test_report_json.c - a report as JSON holds every value, exactly. */
#include "report_state.h"

#include <ctype.h>

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
    } else if (strncmp(r->at, "null", 4) == 0 || strncmp(r->at, "true", 4) == 0) {
        r->at += 4;
    } else if (strncmp(r->at, "false", 5) == 0) {
        r->at += 5;
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
    check(&out, ".verdicts[0].severity", "\"bad\"");
    check(&out, ".verdicts[0].text", "\"q\xEF\xBF\xBD\"");
    check(&out, ".verdicts[1].code", "\"saturated\"");
    check(&out, ".verdicts[1].severity", "\"warn\"");
    check(&out, ".verdicts[1].text", "\"half of \\\"it\\\"\"");
    check(&out, ".verdicts[2]", "");
    check(&out, ".tensors", "");
    check(&out, ".layout_guessed", "");
    check(&out, ".heads", "");
    check(&out, ".findings", "");
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
    check(&out, ".tensors[0].layer", "5");
    check(&out, ".tensors[0].role", "\"q\"");
    check(&out, ".tensors[0].name", "\"q,1\"");
    check(&out, ".tensors[0].dtype", "\"<f4\"");
    check(&out, ".tensors[0].shape", "[4, 2, 64]");
    check(&out, ".tensors[0].nan_count", "0");
    check(&out, ".tensors[1].role", "\"k\"");
    check(&out, ".tensors[1].shape", "[3, 64]");
    check(&out, ".tensors[1].nan_count", "9");
    check(&out, ".tensors[1].inf_count", "0");
    check(&out, ".layout_guessed", "false");
    check(&out, ".params.head", "1");
    check(&out, ".weights.max_median", "1.3");
    check(&out, ".heads[0].layer", "5");
    check(&out, ".heads[3].head", "3");
    check(&out, ".heads[3].k_head", "1");
    check(&out, ".heads[3].weights.max_median", "3.2999999999999998");
    check(&out, ".heads[2].theory", "null");
    check(&out, ".heads[2].query.weights[0]", "0.33333333333333331");
    check(&out, ".heads[2].verdicts[1].code", "\"saturated\"");
    check(&out, ".heads[4]", "");
    check(&out, ".findings[0].code", "\"nan_input\"");
    check(&out, ".findings[0].severity", "\"bad\"");
    check(&out, ".findings[0].heads", "4");
    check(&out, ".findings[1].first.layer", "5");
    check(&out, ".findings[1].first.head", "0");
    check(&out, ".findings[1].text", "\"half of \\\"it\\\"\"");
    check(&out, ".findings[2]", "");
    av_str_free(&out);
}

/* The head that is shown was looked at, those of other layers were not. */
static void json_has_the_tensors_of_all_layers(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_head(&st, 0);
    struct av_source_layer layers[2] = { st.layer, st.layer };
    layers[0].number = 3;
    layers[0].part[AV_PART_Q].name = "first";
    st.source.layers = layers;
    st.source.layer_count = 2;
    st.s.layer = &layers[1];
    st.s.params.layer = 1;
    write_report(&out, AV_FORMAT_JSON, &st, NULL);
    check(&out, ".tensors[0].layer", "3");
    check(&out, ".tensors[0].name", "\"first\"");
    check(&out, ".tensors[0].nan_count", "");
    check(&out, ".tensors[2].layer", "5");
    check(&out, ".tensors[2].name", "\"q,1\"");
    check(&out, ".tensors[3].nan_count", "9");
    check(&out, ".tensors[4]", "");
    av_str_free(&out);
    st.source.guessed = true;
    write_report(&out, AV_FORMAT_JSON, &st, NULL);
    check(&out, ".layout_guessed", "true");
    av_str_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_holds_every_field),
        cmocka_unit_test(json_holds_every_parameter),
        cmocka_unit_test(json_holds_weights_and_verdicts),
        cmocka_unit_test(json_of_files),
        cmocka_unit_test(json_has_the_tensors_of_all_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
