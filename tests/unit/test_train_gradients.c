/* test_train_gradients.c - every gradient against differences of the loss, in double.
 */
#include "pass_in_double.h"

static struct av_train_config config(enum av_task task, size_t seq_len, size_t d_model, size_t d_k)
{
    return (struct av_train_config){
        .seq_len = seq_len,
        .d_model = d_model,
        .d_k = d_k,
        .batch = BATCH,
        .sequences = BATCH,
        .task = task,
        .fresh = true,
        .init = AV_INIT_UNIT,
        .input_std = 1,
        .seed = 5,
    };
}

static void of_every_parameter_in_every_task(void **state)
{
    (void)state;
    static const double alphas[] = { 0.5, 1, -0.7 };
    for (enum av_task task = 0; task < AV_TASK_DEPTH; task++) {
        for (size_t i = 0; i < 3; i++) {
            struct av_train_config c = config(task, 5, 6, 4);
            set_up_task(&c, alphas[i], 1);
            check_all_parameters(av_task_texts[task], 1e-3);
            tear_down_task();
        }
    }
}

static void in_saturation(void **state)
{
    (void)state;
    struct av_train_config c = config(AV_TASK_AVERAGE, 6, 8, 8);
    set_up_task(&c, 1, 2);
    forward(&at.pass);
    double least = 1;
    for (size_t i = 0; i < at.pass.sizes.tokens; i++) {
        least = fmin(least, at.pass.sum_e[i]);
    }
    assert_true(least < 1e-6);
    check_all_parameters("saturated", 1e-3);
    tear_down_task();
}

static void at_the_smallest_sizes(void **state)
{
    (void)state;
    static const size_t sizes[][3] = { { 1, 1, 1 }, { 2, 1, 1 }, { 1, 3, 2 }, { 2, 3, 1 }, { 17, 2, 18 } };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct av_train_config c = config(AV_TASK_RECONSTRUCT, sizes[i][0], sizes[i][1], sizes[i][2]);
        c.layer_norm = i == 3;
        set_up_task(&c, 0.9, 1);
        check_all_parameters("small", 1e-3);
        tear_down_task();
    }
}

/* The gradient by the scores of a saturated row, exp(-gap) of what it would be
 * else, holds its digits: no difference of numbers near 1 is taken. */
static void of_a_dead_row_keep_their_digits(void **state)
{
    (void)state;
    struct av_train_config c = config(AV_TASK_RECONSTRUCT, 3, 2, 2);
    set_up_task(&c, 1, 1);
    struct pass *a = &at.pass;
    const size_t n = a->sizes.tokens, pitch = a->sizes.token_pitch;
    static const double s[3] = { 50, 0, -1 }, d_p[3] = { 1, 2, 4 };
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < 3; j++) {
            a->s_t[j * pitch + i] = s[j];
            a->d_p_t[j * pitch + i] = d_p[j];
        }
    }
    softmax_forward(a);
    softmax_backward(a);
    /* p = 1, e^-50, e^-51; sum p (d_p - 1) = e^-50 + 3 e^-51, to 1e-21 */
    const double want[3] = { -(exp(-50) + 3 * exp(-51)), exp(-50), 3 * exp(-51) };
    for (size_t j = 0; j < 3; j++) {
        assert_true(fabs(a->d_p_t[j * pitch] / want[j] - 1) < 1e-14);
    }
    tear_down_task();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_every_parameter_in_every_task),
        cmocka_unit_test(in_saturation),
        cmocka_unit_test(at_the_smallest_sizes),
        cmocka_unit_test(of_a_dead_row_keep_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
