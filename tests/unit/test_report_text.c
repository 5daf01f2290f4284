/* test_report_text.c - a report for people. */
#include "report_state.h"

/* The parts of a report in the order in which they stand. */
static const char *const parts[] = {
    ("x: 1 layer of 4 heads on 1 key head, 2 queries, 3 keys, d_k 64\n"
     "  read: queries, keys; mask causal; scale off: q.k times 10\n"
     "\nfindings in 4 heads\n"
     "  bad  nan_input: 4 of 4 heads, first in layer 5, head 0:\n"
     "       q\xEF\xBF\xBD\n"
     "       -> look at the first position; NaN weights come of rows that see no key\n"
     "  warn saturated: 4 of 4 heads, first in layer 5, head 0:\n"
     "       half of \"it\"\n"
     "       -> check the scale; normalise queries and keys, or lower the gain of what makes them\n"
     "\nheads\n"),
    "\n      5     0      0 ",
    "\n      5     1      0          0        1.3          0          0          0  nan_input saturated\n",
    "\n      5     3      1 ",
    "\n\nverdicts of layer 5, head 1\n  bad  nan_input: ",
    "\ntensors of layer 5, head 1\n  q        q,1: <f4 [4, 2, 64]; the head's: 0 NaN, 0 infinite\n",
    "  k        k: >f8 [3, 64]; the head's: 9 NaN, 0 infinite\n",
    "\n  temperature                    0.1 ",
    "\n  seed                 18446744073709551615 ",
    "\n  alpha                            1 ",
    "\n  count                            5 pairs  ",
    "\n  expected_mean                    -        ",
    "\n  max_median                     1.3        ",
    ("\n  entropy_mean                     0 nats   mean entropy of a row: of |w| / sum |w| where the\n"
     "                                            variant has no simplex; null where all w are 0\n"),
    "\ntheory\n  not known for this setting\n",
    "\n  entropy                        0.7 nats   ",
    "\n  weights\n        0.33333         0.1 1.0618e-301\n",
};

static void text_of_files(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_head(&st, 1);
    write_report(&out, AV_FORMAT_TEXT, &st, head_of);
    const char *at = out.text;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const char *found = strstr(at, parts[i]);
        if (found == NULL) {
            fail_msg("no %s in\n%s", parts[i], at);
        }
        at = found;
    }
    for (const char *line = out.text; *line != '\0'; line += strcspn(line, "\n") + 1) {
        if (strcspn(line, "\n") > 100) {
            fail_msg("too wide: %.150s", line);
        }
    }
    assert_int_equal(out.text[out.len - 1], '\n');
    av_str_free(&out);
}

/* Of one head the state says all. */
static void text_of_one_head(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_head(&st, 0);
    st.layer.n_head = 1;
    write_report(&out, AV_FORMAT_TEXT, &st, head_of);
    assert_memory_equal(out.text, "x: 1 layer of 1 head, 2 queries, 3 keys, d_k 64\n", 48);
    assert_non_null(strstr(out.text, "\n\nverdicts of layer 5, head 0\n"));
    assert_null(strstr(out.text, "\nfindings"));
    assert_null(strstr(out.text, "\nheads\n"));
    av_str_free(&out);
}

/* Layers of several sizes, of which one has weights alone. */
static void text_of_layers(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_head(&st, 0);
    struct av_source_layer layers[2] = { st.layer, { .number = 6, .n_head = 2, .n_head_kv = 2, .n_q = 4, .n_k = 4 } };
    layers[0].n_q = 3;
    layers[1].part[AV_PART_WEIGHTS] = (struct av_source_tensor){ .name = "w", .type = "<f4", .there = true };
    st.source =
        (struct av_source){ .name = "y", .layers = layers, .layer_count = 2, .masked = true, .mask = AV_MASK_CAUSAL };
    write_report(&out, AV_FORMAT_TEXT, &st, NULL);
    const char want[] = "y: 2 layers of 2 .. 4 heads on 1 .. 2 key heads, 3 .. 4 tokens, d_k 64\n"
                        "  read: queries, keys, weights; mask causal, as the file says; scale off: q.k times 10\n";
    assert_memory_equal(out.text, want, sizeof want - 1);
    av_str_free(&out);
}

/* Weights beside queries and keys: whose numbers are these? */
static void text_of_weights_too(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
    make_head(&st, 0);
    st.layer.part[AV_PART_WEIGHTS] = (struct av_source_tensor){ .name = "w", .type = "<f4", .there = true };
    st.source.reading = "read as hnd: 2 heads of 3 queries; or --layout bnc: 2 sequences of 2 heads";
    st.source.unused = "attn [3, 5] fits no layer as read";
    write_report(&out, AV_FORMAT_TEXT, &st, NULL);
    assert_non_null(strstr(out.text, "\n  read as hnd: 2 heads of 3 queries; or --layout bnc: 2 sequences of 2 heads"
                                     "\n  attn [3, 5] fits no layer as read\n"));
    assert_non_null(strstr(out.text, "\n  numbers are of q.k so multiplied; the file's weights do not: "
                                     "verdicts that name them are of them\n"));
    av_str_free(&out);
    struct av_diagnosis found = { .evidence.multiplier = { .slope = 10.1, .r2 = 0.995 } };
    st.s.diagnosis = &found;
    write_report(&out, AV_FORMAT_TEXT, &st, NULL);
    assert_non_null(strstr(out.text, "\n  numbers are of q.k so multiplied; the file's weights follow the same\n"
                                     "  --set from=weights: numbers of the file's weights instead\n"));
    av_str_free(&out);
}

static void text_without_files(void **state)
{
    (void)state;
    struct state st;
    struct av_str out = AV_STR_INIT;
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
        cmocka_unit_test(text_of_files),       cmocka_unit_test(text_of_one_head),   cmocka_unit_test(text_of_layers),
        cmocka_unit_test(text_of_weights_too), cmocka_unit_test(text_without_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
