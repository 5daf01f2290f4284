/* test_app_layers.c - files whose layers have different sizes, and heads that cannot be read, in the interactive
 * program. */
#include "app_driver.h"

#include "attnviz/source.h"

enum { LAYERS = 3, COLUMNS = 4 };

/* Three layers; of some heads nothing can be read. */
struct layers {
    struct av_source_layer layer[LAYERS];
    struct av_source source;
    bool fails[LAYERS][4];
    bool gone; /* nothing can be read any more */
};

static enum av_status read_rows(void *state, size_t layer, enum av_part part, size_t head, size_t first, size_t rows,
                                float *f32, double *f64, struct av_error *e)
{
    const struct layers *l = state;
    (void)f64;
    if (l->gone || l->fails[layer][head]) {
        return av_fail(e, AV_FAILED, "layer %zu, head %zu: the file has shrunk", layer, head);
    }
    for (size_t i = 0; i < rows * COLUMNS; i++) {
        f32[i] = (float)((first * COLUMNS + i + 3 * layer + 5 * head + (size_t)part) % 7) - 3;
    }
    return AV_OK;
}

static void make_layers(struct layers *l)
{
    static const size_t n[LAYERS] = { 8, 20, 5 }, heads[LAYERS] = { 4, 2, 3 };
    memset(l, 0, sizeof *l);
    for (size_t i = 0; i < LAYERS; i++) {
        l->layer[i] = (struct av_source_layer){
            .number = i, .n_head = heads[i], .n_head_kv = heads[i], .n_q = n[i], .n_k = n[i], .d = COLUMNS
        };
        for (int part = AV_PART_Q; part <= AV_PART_K; part++) {
            l->layer[i].part[part] = (struct av_source_tensor){ .name = "t", .type = "F32", .there = true };
        }
    }
    l->source = (struct av_source){
        .name = "layers", .layers = l->layer, .layer_count = LAYERS, .read = read_rows, .state = l
    };
}

static struct av_app *open_layers(struct layers *l)
{
    struct av_app_config config = plain_config();
    make_layers(l);
    config.source = &l->source;
    return open_app(&config);
}

static void type_setting(struct av_app *app, const char *text)
{
    press(app, ":");
    for (; *text != '\0'; text++) {
        av_app_key(app, (uint32_t)(unsigned char)*text);
    }
    press(app, "Enter");
}

/* Parameters, sizes and numbers are of one and the same head. */
static void assert_at(struct av_app *app, const struct layers *l, int64_t layer, int64_t head)
{
    av_app_draw(app);
    const struct av_params p = *params_of(app);
    const struct av_snapshot *s = av_app_snapshot(app, 0);
    assert_int_equal(p.layer, layer);
    assert_int_equal(p.head, head);
    assert_int_equal(p.n_q, l->layer[layer].n_q);
    assert_int_equal(p.n_head, l->layer[layer].n_head);
    assert_true(p.query < p.n_q && p.key < p.n_k);
    assert_int_equal(s->n_q, p.n_q);
    assert_int_equal(s->params.layer, layer);
    assert_int_equal(s->params.head, head);
    assert_int_equal(s->head, head);
    assert_int_equal(s->now.rows, l->layer[layer].n_q);
}

static void sizes_are_those_of_the_layer(void **state)
{
    (void)state;
    struct layers l;
    struct av_app *app = open_layers(&l);
    show(app, "weights");
    type_setting(app, "head=3");
    type_setting(app, "query=7");
    assert_at(app, &l, 0, 3);
    type_setting(app, "layer=1"); /* two heads */
    assert_at(app, &l, 1, 1);
    type_setting(app, "query=19");
    type_setting(app, "layer=2"); /* five queries */
    assert_at(app, &l, 2, 1);
    assert_int_equal(params_of(app)->query, 4);
    press(app, "u");
    assert_at(app, &l, 1, 1);
    assert_int_equal(params_of(app)->query, 19);
    press(app, "u u");
    assert_at(app, &l, 0, 3);
    assert_int_equal(params_of(app)->query, 7);
    press(app, "R");
    assert_at(app, &l, 0, 0);
    av_app_free(app);
}

/* The state before stands, the message tells, and other heads can be had. */
static void a_head_that_fails_is_stepped_back_from(void **state)
{
    (void)state;
    struct layers l;
    struct av_app *app = open_layers(&l);
    l.fails[0][2] = true;
    l.fails[1][1] = true;
    press(app, ">");
    assert_at(app, &l, 0, 1);
    press(app, ">");
    av_app_draw(app);
    assert_int_equal(av_app_status(app), AV_FAILED);
    assert_string_equal(av_app_message(app), "layer 0, head 2: the file has shrunk");
    assert_at(app, &l, 0, 1);
    type_setting(app, "head=3"); /* past it */
    assert_at(app, &l, 0, 3);
    assert_int_equal(av_app_status(app), AV_OK);
    type_setting(app, "layer=1"); /* whose last head fails, too */
    assert_at(app, &l, 0, 3);
    type_setting(app, "layer=2");
    assert_at(app, &l, 2, 2);
    press(app, "u");
    assert_at(app, &l, 0, 3);
    press(app, "u"); /* what failed is none of the steps */
    assert_at(app, &l, 0, 1);
    av_app_free(app);
}

/* Then what is in memory stays, with the sizes that are its own. */
static void a_file_that_is_gone_leaves_the_head_that_was_shown(void **state)
{
    (void)state;
    struct layers l;
    struct av_app *app = open_layers(&l);
    type_setting(app, "layer=1");
    assert_at(app, &l, 1, 0);
    l.gone = true;
    static const char *const steps[] = { "layer=2", "layer=0", "head=1" };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        type_setting(app, steps[i]);
        av_app_draw(app);
        assert_int_equal(av_app_status(app), AV_FAILED);
        assert_at(app, &l, 1, 0);
    }
    press(app, "t s"); /* of what is there */
    assert_at(app, &l, 1, 0);
    assert_int_equal(av_app_status(app), AV_OK);
    l.gone = false;
    type_setting(app, "layer=2");
    assert_at(app, &l, 2, 0);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_those_of_the_layer),
        cmocka_unit_test(a_head_that_fails_is_stepped_back_from),
        cmocka_unit_test(a_file_that_is_gone_leaves_the_head_that_was_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
