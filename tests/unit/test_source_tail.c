/* test_source_tail.c - the last queries of heads that are too long to be held. */
#include "app_driver.h"
#include "drawn_source.h"
#include "model_driver.h"

static void short_heads_are_left_whole(void **state)
{
    (void)state;
    struct drawn_source drawn;
    struct av_source_tail tail;
    struct av_error e = { "" };
    drawn_source(&drawn, 40, 50, 4, false);
    assert_int_equal(av_source_tail_make(&tail, &drawn.source, 2000, 1000, &e), AV_OK);
    assert_ptr_equal(tail.source.layers, &drawn.layer);
    assert_int_equal(tail.source.layers[0].left_out, 0);
    av_source_tail_free(&tail);
    assert_int_equal(av_source_tail_make(&tail, &drawn.source, 1999, 1999, &e), AV_OK);
    assert_int_equal(tail.source.layers[0].n_q, 39);
    assert_int_equal(tail.source.layers[0].left_out, 1);
    assert_int_equal(drawn.layer.n_q, 40);
    av_source_tail_free(&tail);
    assert_int_equal(av_source_tail_make(&tail, &drawn.source, 1999, 1, &e), AV_OK);
    assert_int_equal(tail.source.layers[0].n_q, 1);
    assert_int_equal(tail.source.layers[0].n_k, 50);
    av_source_tail_free(&tail);
}

/* Rows of the tail are the last rows of the whole head, to the bit. */
static void rows_are_those_of_the_whole(const char *mask, bool wide)
{
    struct drawn_source drawn;
    struct av_source_tail tail;
    struct av_error e = { "" };
    struct av_params p = PARAMS(mask, "head=3", "temperature=0.5");
    drawn_source(&drawn, 61, 70, 9, wide);
    assert_int_equal(av_source_tail_make(&tail, &drawn.source, 2000, 1000, &e), AV_OK);
    size_t left_out = tail.source.layers[0].left_out;
    assert_int_equal(tail.source.layers[0].n_q, 1000 / 70);
    assert_int_equal(left_out, 61 - 1000 / 70);
    struct av_model *whole = fresh(), *part = fresh();
    av_model_use_source(whole, &drawn.source);
    av_model_use_source(part, &tail.source);
    const struct av_snapshot *a = update(whole, &p, AV_NEED_DQ);
    const struct av_snapshot *b = update(part, &p, AV_NEED_DQ);
    assert_int_equal(b->n_q, 1000 / 70);
    assert_memory_equal(a->weights + left_out * 70, b->weights, b->n_q * 70 * sizeof *b->weights);
    assert_memory_equal(a->dq_rms + left_out, b->dq_rms, b->n_q * sizeof *b->dq_rms);
    for (size_t i = 0; i < b->n_q; i++) {
        assert_int_equal(a->rows[left_out + i].keys, b->rows[i].keys);
    }
    av_model_free(whole);
    av_model_free(part);
    av_source_tail_free(&tail);
}

static void rows_are_the_last(void **state)
{
    (void)state;
    rows_are_those_of_the_whole("mask=none", false);
    rows_are_those_of_the_whole("mask=causal", false);
    rows_are_those_of_the_whole("mask=causal", true);
}

/* The program opens a head whose matrices no machine holds. */
static void the_program_opens_a_long_head(void **state)
{
    (void)state;
    struct drawn_source drawn;
    drawn_source(&drawn, 100000, 131072, 2, false);
    struct av_app_config config = plain_config();
    config.source = &drawn.source;
    config.view = "weights";
    av_params_from_source(&config.params, &drawn.source);
    config.params.query = 99995;
    struct av_app *app = open_app(&config);
    av_app_resize(app, 120, 40);
    assert_int_equal(params_of(app)->n_q, 8);
    assert_int_equal(params_of(app)->query, 99995 - (100000 - 8));
    assert_true(shows(app, "last 8×131072"));
    press(app, "R");
    assert_int_equal(params_of(app)->n_q, 8);
    press(app, ">");
    assert_int_equal(params_of(app)->head, 1);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_heads_are_left_whole),
        cmocka_unit_test(rows_are_the_last),
        cmocka_unit_test(the_program_opens_a_long_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
