/* test_find_mixed.c - files that hold queries and keys of some layers, weights or scores of others. */
#include "find_driver.h"

#define LAYER_0 "layers.0.k 3 4, layers.0.q 3 4"
#define FOUND_0(k, q) "0 q" q " 1 1 3 4 @0/0/0/4 k" k " 1 1 3 4 @0/0/0/4"

static void layers_of_their_own(void **state)
{
    static const struct {
        const char *tensors;
        struct av_find_options options;
        const char *found;
    } cases[] = {
        /* Of other sizes than the layer of queries and keys, and sorted by number. */
        { LAYER_0 ", layers.1.attn_weights 5 5, layers.2.attn_scores 2 6 6",
          { 0 },
          FOUND_0("0", "1") "; 1 w2 1 1 5 5 @0/0/0/5; 2 s3 1 2 6 6 @0/0/36/6" },
        { "attn.0 5 5, attn.3 5 5, k.2 3 4, q.2 3 4, scores.0 5 5",
          { 0 },
          "0 w0 1 1 5 5 @0/0/0/5 s4 1 1 5 5 @0/0/0/5; 2 q3 1 1 3 4 @0/0/0/4 k2 1 1 3 4 @0/0/0/4; "
          "3 w1 1 1 5 5 @0/0/0/5" },
        { "l.10.attn 5 5, l.2.k 3 4, l.2.q 3 4, l.9.attn 2 3 5 5",
          { 0 },
          "2 q2 1 1 3 4 @0/0/0/4 k1 1 1 3 4 @0/0/0/4; 9 w3 2 3 5 5 @0/75/25/5; 10 w0 1 1 5 5 @0/0/0/5" },
        /* Those beside queries and keys stay with them. */
        { "layers.0.attn 3 3, " LAYER_0 ", layers.1.attn 3 3",
          { 0 },
          FOUND_0("1", "2") " w0 1 1 3 3 @0/0/0/3; 1 w3 1 1 3 3 @0/0/0/3" },
        /* No layer: not square; without a number; of the layer's number, but not of its
         * sizes; beside the only queries and keys, whose names have no number. */
        { LAYER_0 ", layers.1.attn 3 5", { 0 }, FOUND_0("0", "1") },
        { "attn 5 5, " LAYER_0, { 0 }, FOUND_0("1", "2") },
        { "layers.0.attn 5 5, " LAYER_0, { 0 }, FOUND_0("1", "2") },
        { "k 3 4, layers.1.attn 5 5, q 3 4", { 0 }, FOUND_0("0", "2") },
        { "a.k 3 4, a.q 3 4, attn.1 5 5, b.k 3 4, b.q 3 4",
          { 0 },
          FOUND_0("0", "1") "; 1 q4 1 1 3 4 @0/0/0/4 k3 1 1 3 4 @0/0/0/4" },
        /* Of several the first; of scores of other sizes than the weights none. */
        { LAYER_0 ", layers.1.attn 5 5, layers.1.probs 6 6", { 0 }, FOUND_0("0", "1") "; 1 w2 1 1 5 5 @0/0/0/5" },
        { LAYER_0 ", layers.1.attn 5 5, layers.1.scores 6 6", { 0 }, FOUND_0("0", "1") "; 1 w2 1 1 5 5 @0/0/0/5" },
        /* Named: not those that the name does not mean, and not square. */
        { "layers.0.a 3 3, " LAYER_0 ", layers.1.a 2 5, layers.2.attn 5 5",
          { .weights = "layers.*.a" },
          FOUND_0("1", "2") " w0 1 1 3 3 @0/0/0/3; 1 w3 1 1 2 5 @0/0/0/5" },
        { LAYER_0 ", layers.1.a 5 5, layers.1.b 5 5, layers.2.attn 6 6",
          { .scores = "layers.1.a" },
          FOUND_0("0", "1") "; 1 s2 1 1 5 5 @0/0/0/5; 2 w4 1 1 6 6 @0/0/0/6" },
        { "a 3 3, " LAYER_0, { .weights = "a" }, FOUND_0("1", "2") " w0 1 1 3 3 @0/0/0/3" },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct file f;
        struct av_find found;
        struct av_error e = { "" };
        char text[400];
        make(&f, cases[i].tensors);
        if (av_find(&found, &f.file, &cases[i].options, &e) != AV_OK) {
            fail_msg("%s: %s", cases[i].tensors, e.text);
        }
        describe(text, sizeof text, &found);
        if (strcmp(text, cases[i].found) != 0) {
            fail_msg("%s: %s, not %s", cases[i].tensors, text, cases[i].found);
        }
        av_find_free(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
