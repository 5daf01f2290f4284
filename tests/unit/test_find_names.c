/* test_find_names.c - queries, keys, weights and scores under the names that models'
 * own modules give them, and those that people do. */
#include "find_driver.h"

static const char *name_of(const struct file *f, size_t tensor)
{
    return tensor == AV_FIND_NONE ? "-" : f->names[tensor];
}

/* "NUMBER Q K WEIGHTS SCORES; ..." */
static void describe_names(char *to, size_t size, const struct file *f, const struct av_find *found)
{
    int len = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct av_find_layer *l = &found->layers[i];
        len += snprintf(to + len, size - (size_t)len, "%s%zu %s %s %s %s", i > 0 ? "; " : "", l->number,
                        name_of(f, l->q.tensor), name_of(f, l->k.tensor), name_of(f, l->weights.tensor),
                        name_of(f, l->scores.tensor));
    }
}

struct names {
    const char *tensors;
    size_t n_head;
    const char *found; /* or the message */
};

static void check(const struct names *cases, size_t count, enum av_status how)
{
    for (size_t i = 0; i < count; i++) {
        struct file f;
        struct av_find found;
        struct av_error e = { "" };
        char text[600];
        make(&f, cases[i].tensors);
        enum av_status s = av_find(&found, &f.file, &(struct av_find_options){ .n_head = cases[i].n_head }, &e);
        snprintf(text, sizeof text, "%s", e.text);
        if (s == AV_OK) {
            describe_names(text, sizeof text, &f, &found);
        }
        av_find_free(&found);
        if (s != how || strcmp(text, cases[i].found) != 0) {
            fail_msg("%s:\n%s\nnot\n%s", cases[i].tensors, text, cases[i].found);
        }
    }
}

static void of_models(void **state)
{
    static const struct names cases[] = {
        /* BERT */
        { "bert.encoder.layer.3.attention.self.key 1 5 12, bert.encoder.layer.3.attention.self.query 1 5 12, "
          "bert.encoder.layer.10.attention.self.key 1 5 12, bert.encoder.layer.10.attention.self.query 1 5 12",
          3,
          "3 bert.encoder.layer.3.attention.self.query bert.encoder.layer.3.attention.self.key - -; "
          "10 bert.encoder.layer.10.attention.self.query bert.encoder.layer.10.attention.self.key - -" },
        /* GPT-2 */
        { "transformer.h.5.attn.c_attn 1 5 24, transformer.h.10.attn.c_attn 1 5 24", 2,
          "5 transformer.h.5.attn.c_attn transformer.h.5.attn.c_attn - -; "
          "10 transformer.h.10.attn.c_attn transformer.h.10.attn.c_attn - -" },
        /* Llama, with its weights */
        { "model.layers.11.self_attn 1 3 5 5, model.layers.11.self_attn.k_proj 1 5 4, "
          "model.layers.11.self_attn.q_proj 1 5 12, model.layers.11.self_attn.v_proj 1 5 4",
          3, "11 model.layers.11.self_attn.q_proj model.layers.11.self_attn.k_proj model.layers.11.self_attn -" },
        /* T5: of both numbers the block's; encoder and decoder count alike */
        { "decoder.block.0.layer.0.SelfAttention.k 5 8, decoder.block.0.layer.0.SelfAttention.q 5 8, "
          "decoder.block.0.layer.1.EncDecAttention.attn_weights 1 7 5, decoder.block.0.layer.1.EncDecAttention.k 5 8, "
          "decoder.block.0.layer.1.EncDecAttention.q 7 8, encoder.block.2.layer.0.SelfAttention.k 5 8, "
          "encoder.block.2.layer.0.SelfAttention.q 5 8",
          1,
          "0 decoder.block.0.layer.0.SelfAttention.q decoder.block.0.layer.0.SelfAttention.k - -; "
          "0 decoder.block.0.layer.1.EncDecAttention.q decoder.block.0.layer.1.EncDecAttention.k "
          "decoder.block.0.layer.1.EncDecAttention.attn_weights -; "
          "2 encoder.block.2.layer.0.SelfAttention.q encoder.block.2.layer.0.SelfAttention.k - -" },
        /* ViT of timm */
        { "blocks.7.attn.qkv 1 5 24", 2, "7 blocks.7.attn.qkv blocks.7.attn.qkv - -" },
        /* Diffusers, DistilBERT, DeBERTa */
        { "blocks.0.attn1.to_k 1 5 8, blocks.0.attn1.to_q 1 5 8", 2, "0 blocks.0.attn1.to_q blocks.0.attn1.to_k - -" },
        { "layer.1.attention.k_lin 1 5 8, layer.1.attention.q_lin 1 5 8", 2,
          "1 layer.1.attention.q_lin layer.1.attention.k_lin - -" },
        { "layer.1.self.key_proj 1 5 8, layer.1.self.query_proj 1 5 8", 2,
          "1 layer.1.self.query_proj layer.1.self.key_proj - -" },
        /* llama.cpp */
        { "blk.0.attn_k 5 8, blk.0.attn_q 5 8", 2, "0 blk.0.attn_q blk.0.attn_k - -" },
        { "Kcur-3 2 5 8, Qcur-3 2 5 8, kq-3 2 5 5, kq_soft_max-3 2 5 5", 2, "3 Qcur-3 Kcur-3 kq_soft_max-3 kq-3" },
        /* Flax */
        { "encoderblock_0/MultiHeadDotProductAttention_0/key 1 5 2 8, "
          "encoderblock_0/MultiHeadDotProductAttention_0/query 1 5 2 8, "
          "encoderblock_11/MultiHeadDotProductAttention_0/key 1 5 2 8, "
          "encoderblock_11/MultiHeadDotProductAttention_0/query 1 5 2 8",
          0,
          "0 encoderblock_0/MultiHeadDotProductAttention_0/query encoderblock_0/MultiHeadDotProductAttention_0/key - "
          "-; "
          "11 encoderblock_11/MultiHeadDotProductAttention_0/query "
          "encoderblock_11/MultiHeadDotProductAttention_0/key - -" },
        /* A number in a model's name is not the layer's. */
        { "gpt2.h.4.attn.k 5 8, gpt2.h.4.attn.q 5 8", 1, "4 gpt2.h.4.attn.q gpt2.h.4.attn.k - -" },
    };
    (void)state;
    check(cases, LENGTH(cases), AV_OK);
}

static void of_people(void **state)
{
    static const struct names cases[] = {
        { "k0 5 8, k1 5 8, q0 5 8, q1 5 8", 1, "0 q0 k0 - -; 1 q1 k1 - -" },
        { "K9 5 8, K10 5 8, Q9 5 8, Q10 5 8", 1, "9 Q9 K9 - -; 10 Q10 K10 - -" },
        { "key1 5 8, query1 5 8", 1, "1 query1 key1 - -" },
        { "k_3 5 8, q_3 5 8", 1, "3 q_3 k_3 - -" },
        { "layer0_k 5 8, layer0_q 5 8", 1, "0 layer0_q layer0_k - -" },
        { "k_layers.0 5 8, k_layers.1 5 8, q_layers.0 5 8, q_layers.1 5 8", 1,
          "0 q_layers.0 k_layers.0 - -; 1 q_layers.1 k_layers.1 - -" },
        { "keyStates 5 8, queryStates 5 8", 1, "0 queryStates keyStates - -" },
        { "attnK 5 8, attnQ 5 8", 1, "0 attnQ attnK - -" },
    };
    (void)state;
    check(cases, LENGTH(cases), AV_OK);
}

static void weights_and_scores_beside_queries(void **state)
{
    static const struct names cases[] = {
        { "attn_weights 4 32 32, k 4 32 8, q 4 32 8", 0, "0 q k attn_weights -" },
        { "attentionWeights 4 32 32, attn_scores 4 32 32, k 4 32 8, q 4 32 8", 0,
          "0 q k attentionWeights attn_scores" },
        { "k 4 32 8, probs 1 4 32 32, q 4 32 8", 0, "0 q k probs -" },
        { "attn_output_weights 2 32 32, k 2 32 16, q 2 32 16", 2, "0 q k attn_output_weights -" },
        /* One for all heads; sequences and heads in one axis. */
        { "attention_probs 32 32, k 4 32 8, q 4 32 8", 0, "0 q k attention_probs -" },
        { "attn 8 32 32, k 2 4 32 8, q 2 4 32 8", 4, "0 q k attn -" },
        { "attn_weight 32 32, k 32 8, q 32 8", 1, "0 q k attn_weight -" },
        /* Layer by layer. */
        { "attn_weights_0 2 9 9, attn_weights_1 2 9 9, k_0 2 9 4, k_1 2 9 4, logits_1 2 9 9, q_0 2 9 4, q_1 2 9 4", 0,
          "0 q_0 k_0 attn_weights_0 -; 1 q_1 k_1 attn_weights_1 logits_1" },
        /* What does not fit, is learned, or has no layer. */
        { "attn_weights 4 16 16, k 4 32 8, q 4 32 8", 0, "0 q k - -" },
        { "attn_weights 3 32 32, k 4 32 8, q 4 32 8", 0, "0 q k - -" },
        { "attn_weights 32, k 4 32 8, q 4 32 8", 0, "0 q k - -" },
        { "attn.bias 32 32, attn.weight 32 32, attn_mask 32 32, k 32 32, q 32 32", 1, "0 q k - -" },
        { "attn 32 32, k_0 32 8, k_1 32 8, q_0 32 8, q_1 32 8", 1, "0 q_0 k_0 - -; 1 q_1 k_1 - -" },
        { "attn.2 32 32, layers.1.k 32 8, layers.1.q 32 8", 1, "1 layers.1.q layers.1.k - -; 2 - - attn.2 -" },
        { "alpha 32 32, k 32 8, q 32 8, w 32 32", 1, "0 q k - -" },
        /* Of several the one named most like the queries, of equals the first. */
        { "a.k 9 4, a.probs 9 9, a.q 9 4, b.probs 9 9", 1, "0 a.q a.k a.probs -" },
        { "attn_weights 9 9, k 9 4, probs 9 9, q 9 4", 1, "0 q k attn_weights -" },
    };
    (void)state;
    check(cases, LENGTH(cases), AV_OK);
}

static void weights_and_scores_alone(void **state)
{
    static const struct names cases[] = {
        { "attn_weights 4 32 32", 0, "0 - - attn_weights -" },
        { "attention_scores 32 32, attn_weights 32 32, v 32 8", 0, "0 - - attn_weights attention_scores" },
        { "attentions_9 2 9 9, attentions_10 2 9 9", 0, "9 - - attentions_9 -; 10 - - attentions_10 -" },
        { "layer.0.self_attn 9 8, layer.0.self_attn.attn_weights 9 9", 0, "0 - - layer.0.self_attn.attn_weights -" },
    };
    static const struct names undecided[] = {
        { "attn_weights 32 32, probs 32 32", 0,
          "x: which are queries and keys? Say --q attn_weights --k probs, or the other way round; or --weights NAME or "
          "--scores NAME. There are: attn_weights [32, 32], probs [32, 32]" },
        { "attn_scores 9 9, attn_weights 32 32, v 9 8", 0,
          "x: which are queries and keys? Say --q NAME --k NAME (a * stands for the layer's number), --weights NAME or "
          "--scores NAME. There are: attn_scores [9, 9], attn_weights [32, 32], v [9, 8]" },
        { "attn_weights 4 10 77", 0,
          "x: holds attn_weights [4, 10, 77] alone. Queries and keys are two tensors, or two files, or side by side: "
          "--q attn_weights --k attn_weights --n-head N. If it is weights or scores, say --weights attn_weights or "
          "--scores attn_weights" },
        { "w 32 32", 0,
          "x: holds w [32, 32] alone, as wide as high: if it is weights, say --weights w, if scores, --scores w. "
          "Queries and keys are two tensors, or two files" },
        { "arr_0 4 9 8, arr_1 4 9 8", 0,
          "x: which are queries and keys? Say --q arr_0 --k arr_1, or the other way round; or --weights NAME or "
          "--scores NAME. There are: arr_0 [4, 9, 8], arr_1 [4, 9, 8]" },
        { "transformer.h.0.attn.c_attn 1 5 24", 0,
          "x: transformer.h.0.attn.c_attn [1, 5, 24]: no layout fits, and the number of heads is not known: say "
          "--layout, --n-head, --n-head-kv or --d-k" },
        { "attn_weights 2 5 5, qkv 2 5 24", /* averaged over heads */
          0,
          "x: qkv [2, 5, 24]: no layout fits, and the number of heads is not known: say --layout, --n-head, "
          "--n-head-kv "
          "or --d-k" },
        { "layer.0.query.kernel 8 8", 0,
          "x: layer.0.query.kernel is a learned matrix: queries and keys are what it makes of an input, dump these" },
    };
    (void)state;
    check(cases, LENGTH(cases), AV_OK);
    check(undecided, LENGTH(undecided), AV_FAILED);
}

/* Rows of weights lie where sequences and heads have them. */
static void where_weights_lie(void **state)
{
    static const struct names cases[] = {
        { "attn 8 5 5, k 2 4 5 8, q 2 4 5 8", 4,
          "0 q2 2 4 5 8 @0/160/40/8 k1 2 4 5 8 @0/160/40/8 w0 2 4 5 5 "
          "@0/100/25/5" },
        { "attn 2 5 5, k 2 4 5 8, q 2 4 5 8", 4,
          "0 q2 2 4 5 8 @0/160/40/8 k1 2 4 5 8 @0/160/40/8 w0 2 1 5 5 "
          "@0/25/0/5" },
        { "attn 2 5 5, k 2 2 5 8, q 2 2 5 8", 2,
          "0 q2 2 2 5 8 @0/80/40/8 k1 2 2 5 8 @0/80/40/8 w0 2 1 5 5 @0/25/0/5?" },
        { "attn 4 5 5, k 4 5 8, q 4 5 8", 4, "0 q2 1 4 5 8 @0/0/40/8 k1 1 4 5 8 @0/0/40/8 w0 1 4 5 5 @0/0/25/5?" },
        /* They tell how many heads there are, and by that where queries and keys lie. */
        { "attn 3 5 5, k 5 3 4, q 5 3 4", 0, "0 q2 1 3 5 4 @0/0/4/12 k1 1 3 5 4 @0/0/4/12 w0 1 3 5 5 @0/0/25/5" },
        { "attn 1 7 5 5, k 1 5 7 4, q 1 5 7 4", 0,
          "0 q2 1 7 5 4 @0/140/4/28 k1 1 7 5 4 @0/140/4/28 w0 1 7 5 5 @0/175/25/5" },
        { "attn 3 5 5, k 5 12, q 5 12", 0, "0 q2 1 3 5 4 @0/0/4/12 k1 1 3 5 4 @0/0/4/12 w0 1 3 5 5 @0/0/25/5" },
        { "attn 2 3 5 5, qkv 2 5 36", 0, "0 q1 2 3 5 4 @0/180/4/36 k1 2 3 5 4 @12/180/4/36 w0 2 3 5 5 @0/75/25/5" },
        { "attn 3 5 5, k 5 4, q 5 12", 0, "0 q2 1 3 5 4 @0/0/4/12 k1 1 1 5 4 @0/0/4/4 w0 1 3 5 5 @0/0/25/5" },
        { "attn 4 5 5, k 4 5 8, q 4 5 8", 0, "0 q2 1 4 5 8 @0/0/40/8 k1 1 4 5 8 @0/0/40/8 w0 1 4 5 5 @0/0/25/5" },
        { "attn 4 4 4, k 4 4 8, q 4 4 8", 0, "0 q2 1 4 4 8 @0/0/32/8 k1 1 4 4 8 @0/0/32/8 w0 1 4 4 4 @0/0/16/4?" },
        { "attn 3 6 6, k 5 12, q 5 12", 0, "0 q2 1 1 5 12 @0/0/0/12 k1 1 1 5 12 @0/0/0/12" },
        { "attn 2 3 5 5, k 2 3 5 4, q 2 3 5 4", 3,
          "0 q2 2 3 5 4 @0/60/20/4 k1 2 3 5 4 @0/60/20/4 w0 2 3 5 5 "
          "@0/75/25/5" },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct file f;
        struct av_find found;
        char text[400];
        make(&f, cases[i].tensors);
        assert_int_equal(av_find(&found, &f.file, &(struct av_find_options){ .n_head = cases[i].n_head }, NULL), AV_OK);
        describe(text, sizeof text, &found);
        av_find_free(&found);
        assert_string_equal(text, cases[i].found);
    }
}

/* What is named wins over what names say, and is not taken twice. */
static void weights_that_are_named(void **state)
{
    static const struct {
        const char *tensors;
        struct av_find_options options;
        const char *found;
    } cases[] = {
        { "attn_weights 9 9, k 9 4, p 9 9, q 9 4", { .n_head = 1, .weights = "p" }, "0 q k p -" },
        { "attn 9 9, k 9 4, q 9 4", { .n_head = 1, .scores = "attn" }, "0 q k - attn" },
        { "a 9 4, attn 9 9, b 9 4", { .n_head = 1, .q = "a", .k = "b" }, "0 a b attn -" },
        { "arr_0 9 9", { .weights = "arr_0" }, "0 - - arr_0 -" },
        { "run_step4000 9 9", { .weights = "run_step4000" }, "0 - - run_step4000 -" },
        { "layer_7_w 9 9", { .weights = "layer_7_w" }, "7 - - layer_7_w -" },
        { "arr_0 9 9, arr_1 9 9", { .weights = "arr_0", .scores = "arr_1" }, "0 - - arr_0 arr_1" },
        { "attn_scores 4 4, p 9 9", { .weights = "p" }, "0 - - p -" },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct file f;
        struct av_find found;
        char text[400];
        make(&f, cases[i].tensors);
        assert_int_equal(av_find(&found, &f.file, &cases[i].options, NULL), AV_OK);
        describe_names(text, sizeof text, &f, &found);
        av_find_free(&found);
        assert_string_equal(text, cases[i].found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_models),
        cmocka_unit_test(of_people),
        cmocka_unit_test(weights_and_scores_beside_queries),
        cmocka_unit_test(weights_and_scores_alone),
        cmocka_unit_test(where_weights_lie),
        cmocka_unit_test(weights_that_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
