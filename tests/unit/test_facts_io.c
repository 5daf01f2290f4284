/* test_facts_io.c - measured claims as text, JSON and CSV. */
#include "attnviz/facts_io.h"
#include "made_facts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct made_facts made;

static struct av_str written(enum av_format format, size_t measured)
{
    struct av_str out = AV_STR_INIT;
    make_facts(&made, measured);
    assert_int_equal(av_facts_write(&out, format, &made.all, NULL), AV_OK);
    assert_true(out.len > 0 && out.text[out.len - 1] == '\n');
    return out;
}

static size_t occurrences(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part)) {
        n++;
    }
    return n;
}

/* ---- Text ------------------------------------------------------------------------ */

/* The text with each run of blanks and line ends made one blank. */
static char *flowing(const char *text)
{
    char *out = malloc(strlen(text) + 1);
    char *to = out;
    assert_non_null(out);
    for (; *text != '\0'; text++) {
        bool blank = isspace((unsigned char)*text) != 0;
        if (!blank || to == out || to[-1] != ' ') {
            *to++ = blank ? ' ' : *text;
        }
    }
    *to = '\0';
    return out;
}

static void text_fits_eighty_columns(void **state)
{
    (void)state;
    size_t count;
    av_claims(&count);
    for (size_t measured = 0; measured <= count; measured += count) {
        struct av_str out = written(AV_FORMAT_TEXT, measured);
        for (const char *line = out.text; *line != '\0'; line += strcspn(line, "\n") + 1) {
            assert_in_range(strcspn(line, "\n"), 0, 80);
        }
        av_str_free(&out);
    }
}

static void text_says_everything(void **state)
{
    (void)state;
    size_t count;
    av_claims(&count);
    struct av_str out = written(AV_FORMAT_TEXT, count);
    char *text = flowing(out.text);
    for (size_t i = 0; i < count; i++) {
        const struct av_fact *f = &made.facts[i];
        char rule[AV_FACT_LINE];
        char head[AV_FACT_LINE];
        snprintf(head, sizeof head, "%s %s ", av_fact_verdict_name(f->verdict), f->claim->text);
        assert_non_null(strstr(text, head));
        assert_non_null(strstr(text, f->condition));
        assert_non_null(strstr(text, f->truth));
        assert_non_null(strstr(text, f->claim->experiment));
        assert_non_null(strstr(text, av_claim_rule(f->claim, rule)));
        for (size_t k = 0; k < av_claim_settings(f->claim); k++) {
            char value[AV_FACT_LINE];
            snprintf(head, sizeof head, "%s %s %s ", f->claim->settings[k].label, av_fact_value(value, &f->at[k]),
                     f->at[k].agrees ? "agrees" : "disagrees");
            assert_non_null(strstr(text, head));
        }
    }
    free(text);
    av_str_free(&out);
}

/* ---- JSON ------------------------------------------------------------------------ */

/* Reads a value and returns what is behind it; fails on what is not JSON. */
static const char *read_json(const char *at)
{
    at += strspn(at, " \n");
    if (*at == '"') {
        for (at++; *at != '"'; at++) {
            assert_true((unsigned char)*at >= ' ');
            at += *at == '\\';
        }
        return at + 1;
    }
    if (*at == '{' || *at == '[') {
        char end = *at == '{' ? '}' : ']';
        for (at++; *(at += strspn(at, " \n")) != end;) {
            if (end == '}') {
                assert_int_equal(*at, '"');
                at = read_json(at);
                at += strspn(at, " \n");
                assert_int_equal(*at++, ':');
            }
            at = read_json(at);
            at += strspn(at, " \n");
            assert_true(*at == end || (*at == ',' && at[1 + strspn(at + 1, " \n")] != end));
            at += *at == ',';
        }
        return at + 1;
    }
    if (strncmp(at, "null", 4) == 0) {
        return at + 4;
    }
    char *end;
    assert_true(*at == '-' || isdigit((unsigned char)*at));
    assert_true(isfinite(strtod(at, &end)));
    return end;
}

static void json_is_one_object(void **state)
{
    (void)state;
    size_t count;
    av_claims(&count);
    for (size_t measured = 0; measured <= count; measured += count) {
        struct av_str out = written(AV_FORMAT_JSON, measured);
        assert_string_equal(read_json(out.text), "\n");
        av_str_free(&out);
    }
}

static void json_holds_every_claim(void **state)
{
    (void)state;
    static const char *const members[] = { "name", "claim", "verdict",  "condition", "truth",
                                           "rule", "unit",  "quantity", "seeds",     "experiment" };
    size_t count;
    av_claims(&count);
    struct av_str out = written(AV_FORMAT_JSON, count);
    assert_non_null(strstr(out.text, "\"seeds\": [42, 43, 44, 45, 46]"));
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char member[32];
        snprintf(member, sizeof member, "\n      \"%s\": ", members[i]);
        assert_int_equal(occurrences(out.text, member), count);
    }
    size_t settings = 0;
    for (size_t i = 0; i < count; i++) {
        const struct av_fact *f = &made.facts[i];
        settings += av_claim_settings(f->claim);
        char member[2 * AV_FACT_LINE];
        snprintf(member, sizeof member, "\"verdict\": \"%s\"", av_fact_verdict_name(f->verdict));
        const char *at = strstr(strstr(out.text, f->claim->text), "\"verdict\"");
        assert_memory_equal(at, member, strlen(member));
        const double *v = f->at[1].values;
        snprintf(member, sizeof member, "[%.17g, %.17g, %.17g, %.17g, %.17g]", v[0], v[1], v[2], v[3], v[4]);
        assert_non_null(strstr(at, member)); /* to the last bit */
    }
    assert_int_equal(occurrences(out.text, "\"values\": ["), settings);
    assert_int_equal(occurrences(out.text, "null, "), 1); /* the value that is NaN */
    av_str_free(&out);
}

/* ---- CSV ------------------------------------------------------------------------- */

enum { CELLS = 18 };

/* Reads one line into cells, quotes undone; returns the next line. */
static const char *read_csv(const char *at, char cells[CELLS][AV_FACT_LINE], size_t *count)
{
    for (*count = 0;;) {
        char *to = cells[*count];
        bool quoted = *at == '"';
        at += quoted;
        while (quoted ? *at != '"' || at[1] == '"' : *at != ',' && *at != '\n') {
            assert_true(*at != '\0' && (quoted || *at != '"'));
            at += *at == '"';
            *to++ = *at++;
        }
        *to = '\0';
        at += quoted;
        (*count)++;
        if (*at++ == '\n') {
            return at;
        }
        assert_int_equal(at[-1], ',');
        assert_true(*count < CELLS);
    }
}

static void csv_has_a_row_per_claim(void **state)
{
    (void)state;
    static const char *const names[CELLS] = { "name",  "claim",   "verdict",  "condition", "truth",   "rule",
                                              "unit",  "setting", "measured", "spread",    "min",     "max",
                                              "seeds", "value_1", "value_2",  "value_3",   "value_4", "value_5" };
    static char cells[CELLS][AV_FACT_LINE];
    size_t count;
    size_t n;
    av_claims(&count);
    struct av_str out = written(AV_FORMAT_CSV, count);
    const char *at = read_csv(out.text, cells, &n);
    assert_int_equal(n, CELLS);
    for (size_t i = 0; i < CELLS; i++) {
        assert_string_equal(cells[i], names[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const struct av_fact *f = &made.facts[i];
        size_t first = av_fact_decisive(f);
        char rule[AV_FACT_LINE];
        at = read_csv(at, cells, &n);
        assert_int_equal(n, CELLS);
        assert_string_equal(cells[0], f->claim->name);
        assert_string_equal(cells[1], f->claim->text);
        assert_string_equal(cells[2], av_fact_verdict_name(f->verdict));
        assert_string_equal(cells[3], f->condition);
        assert_string_equal(cells[4], f->truth);
        assert_string_equal(cells[5], av_claim_rule(f->claim, rule));
        assert_string_equal(cells[6], f->claim->unit);
        assert_string_equal(cells[7], f->claim->settings[first].label);
        assert_string_equal(cells[12], "5");
        bool whole = !isnan(f->at[first].mean);
        assert_int_equal(cells[8][0] != '\0', whole);
        if (whole) {
            double value = strtod(cells[17], NULL);
            assert_memory_equal(&value, &f->at[first].values[4], sizeof value);
        } else {
            assert_string_equal(cells[15], "");
        }
    }
    assert_string_equal(at, "");
    av_str_free(&out);
}

static void no_memory_is_said(void **state)
{
    (void)state;
    make_facts(&made, 0);
    for (int format = 0; format < AV_FORMAT_COUNT; format++) {
        struct av_str out = { .failed = true };
        struct av_error e = { "" };
        assert_int_equal(av_facts_write(&out, (enum av_format)format, &made.all, &e), AV_NOMEM);
        assert_true(e.text[0] != '\0');
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_fits_eighty_columns), cmocka_unit_test(text_says_everything),
        cmocka_unit_test(json_is_one_object),       cmocka_unit_test(json_holds_every_claim),
        cmocka_unit_test(csv_has_a_row_per_claim),  cmocka_unit_test(no_memory_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
