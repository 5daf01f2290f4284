/* test_keys.c - key names: both ways, and what is no name. */
#include "attnviz/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void assert_pair(uint32_t key, const char *name)
{
    char out[16];
    assert_int_equal(av_key_parse(name), key);
    assert_string_equal(av_key_name(key, out), name);
}

static void names_read_back(void **state)
{
    (void)state;
    assert_pair('s', "s");
    assert_pair('S', "S");
    assert_pair('?', "?");
    assert_pair('-', "-");
    assert_pair('C', "C");
    assert_pair(0xE9, "\xC3\xA9");
    assert_pair(AV_KEY_SPACE, "Space");
    assert_pair(AV_KEY_TAB, "Tab");
    assert_pair(AV_KEY_STAB, "S-Tab");
    assert_pair(AV_KEY_ENTER, "Enter");
    assert_pair(AV_KEY_ESC, "Esc");
    assert_pair(AV_KEY_BACKSPACE, "Backspace");
    assert_pair(AV_KEY_RIGHT, "Right");
    assert_pair(AV_KEY_PGDN, "PgDn");
    assert_pair(AV_KEY_F1, "F1");
    assert_pair(AV_KEY_F12, "F12");
    assert_pair(AV_CTRL('l'), "C-l");
    assert_pair(AV_CTRL('c'), "C-c");
}

/* A terminal cannot tell C-i from Tab or C-m from Enter: one key, one name. */
static void control_keys_with_names(void **state)
{
    (void)state;
    char out[16];
    assert_int_equal(av_key_parse("C-i"), AV_KEY_TAB);
    assert_int_equal(av_key_parse("C-m"), AV_KEY_ENTER);
    assert_string_equal(av_key_name(AV_CTRL('m'), out), "Enter");
}

static void not_names(void **state)
{
    (void)state;
    static const char *const bad[] = { "", " ", "ss", "right", "C-", "C-L", "C-1", "C-ll", "F13", "F0", "\x7F", "\t" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(av_key_parse(bad[i]), AV_KEY_NONE);
    }
}

/* Every code has a name or none, and a name always leads back. */
static void every_code(void **state)
{
    (void)state;
    char out[16];
    for (uint32_t key = 0; key < 0x110000 + 64; key++) {
        if (key >= 0xD800 && key < 0xE000) {
            continue; /* surrogates are no characters */
        }
        av_key_name(key, out);
        if (out[0] != '\0') {
            assert_int_equal(av_key_parse(out), key);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_read_back),
        cmocka_unit_test(control_keys_with_names),
        cmocka_unit_test(not_names),
        cmocka_unit_test(every_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
