/* test_whole_cache.c - entries kept whole: found again, and the oldest gone when room is wanted. */
#include "../../src/io/whole_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void keep(struct av_whole_cache *c, uint64_t entry, size_t size)
{
    struct av_whole *w = av_whole_get(c, entry, size);
    assert_non_null(w);
    assert_true(w->used == 0 && w->size == size);
    w->bytes[0] = (unsigned char)entry;
    w->bytes[size - 1] = (unsigned char)(entry + 100);
    av_whole_keep(c, w);
}

/* Found, and used. */
static void check(struct av_whole_cache *c, uint64_t entry, size_t size)
{
    struct av_whole *w = av_whole_get(c, entry, size);
    assert_non_null(w);
    assert_true(w->used > 0 && w->size == size);
    assert_int_equal(w->bytes[0], entry);
    assert_int_equal(w->bytes[size - 1], entry + 100);
    av_whole_keep(c, w);
}

static bool is_there(const struct av_whole_cache *c, uint64_t entry)
{
    for (size_t i = 0; i < AV_WHOLES; i++) {
        if (c->wholes[i].used > 0 && c->wholes[i].entry == entry) {
            return true;
        }
    }
    return false;
}

static void as_many_as_there_are_places(void **state)
{
    (void)state;
    struct av_whole_cache c = { .uses = 0 };
    for (uint64_t i = 0; i < AV_WHOLES; i++) {
        keep(&c, i, 2 + i);
    }
    for (uint64_t i = 0; i < AV_WHOLES; i++) {
        check(&c, i, 2 + i);
    }
    check(&c, 0, 2); /* used now, so that the second is the oldest */
    keep(&c, AV_WHOLES, 9);
    check(&c, AV_WHOLES, 9);
    check(&c, 0, 2);
    assert_false(is_there(&c, 1));
    check(&c, 2, 4);
    av_whole_cache_free(&c);
}

static void as_large_as_there_is_room(void **state)
{
    (void)state;
    struct av_whole_cache c = { .uses = 0 };
    keep(&c, 1, AV_WHOLE_MAX);
    keep(&c, 2, AV_WHOLE_MAX - 5);
    keep(&c, 3, 5);
    check(&c, 1, AV_WHOLE_MAX); /* all three take what there is */
    keep(&c, 4, 2);
    assert_false(is_there(&c, 2));
    check(&c, 1, AV_WHOLE_MAX);
    keep(&c, 5, AV_WHOLE_MAX); /* for which the two small ones and the other go */
    assert_false(is_there(&c, 3));
    assert_false(is_there(&c, 4));
    check(&c, 1, AV_WHOLE_MAX);
    check(&c, 5, AV_WHOLE_MAX);
    av_whole_cache_free(&c);
}

/* One whose filling failed is neither found nor in the way. */
static void what_is_not_kept_is_not_there(void **state)
{
    (void)state;
    struct av_whole_cache c = { .uses = 0 };
    keep(&c, 1, AV_WHOLE_MAX);
    for (int again = 0; again < 3; again++) {
        struct av_whole *w = av_whole_get(&c, 2, AV_WHOLE_MAX);
        assert_non_null(w);
        assert_true(w->used == 0);
        assert_false(is_there(&c, 2));
        check(&c, 1, AV_WHOLE_MAX);
    }
    av_whole_cache_free(&c);
    assert_false(is_there(&c, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_many_as_there_are_places),
        cmocka_unit_test(as_large_as_there_is_room),
        cmocka_unit_test(what_is_not_kept_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
