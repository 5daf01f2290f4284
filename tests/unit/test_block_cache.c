/* test_block_cache.c - unpacked blocks: found again, and the oldest gone first. */
#include "../../src/io/block_cache.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct av_block_cache *filled(size_t count)
{
    struct av_block_cache *c = calloc(1, sizeof *c);
    assert_non_null(c);
    for (size_t i = 0; i < count; i++) {
        struct av_cached_block *b = av_block_put(c, i % 2, i / 2);
        assert_non_null(b);
        memset(b->bytes, (int)(i % 251), AV_BLOCK);
        av_block_keep(c, b);
    }
    return c;
}

static void done(struct av_block_cache *c)
{
    av_block_cache_free(c);
    free(c);
}

static void blocks_are_found_by_entry_and_number(void **state)
{
    (void)state;
    struct av_block_cache *c = filled(20);
    for (size_t i = 0; i < 20; i++) {
        const unsigned char *bytes = av_block_find(c, i % 2, i / 2);
        assert_non_null(bytes);
        assert_int_equal(bytes[0], i);
        assert_int_equal(bytes[AV_BLOCK - 1], i);
    }
    assert_null(av_block_find(c, 0, 10));
    assert_null(av_block_find(c, 2, 0));
    done(c);
}

static void what_was_not_used_longest_goes(void **state)
{
    (void)state;
    struct av_block_cache *c = filled(AV_BLOCKS_CACHED);
    assert_non_null(av_block_find(c, 0, 0)); /* used now, so that the second is the oldest */
    av_block_keep(c, av_block_put(c, 7, 7));
    assert_non_null(av_block_find(c, 7, 7));
    assert_non_null(av_block_find(c, 0, 0));
    assert_null(av_block_find(c, 1, 0));
    assert_non_null(av_block_find(c, 0, 1));
    done(c);
}

/* One whose filling failed is neither found nor in the way. */
static void what_is_not_kept_is_not_there(void **state)
{
    (void)state;
    struct av_block_cache *c = filled(AV_BLOCKS_CACHED);
    struct av_cached_block *b = av_block_put(c, 9, 9);
    assert_non_null(b);
    assert_null(av_block_find(c, 9, 9));
    assert_ptr_equal(av_block_put(c, 9, 10), b);
    done(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_found_by_entry_and_number),
        cmocka_unit_test(what_was_not_used_longest_goes),
        cmocka_unit_test(what_is_not_kept_is_not_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
