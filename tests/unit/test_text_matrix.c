/* test_text_matrix.c - rows of numbers as people and programs write them. */
#include "dump_driver.h"

#include <math.h>
#include <stdbool.h>

static void check(const char *text, size_t rows, size_t columns, const double *values)
{
    struct av_dump *d;
    struct av_error e = { "" };
    if (av_dump_parse(&d, "dir/x.txt", (const unsigned char *)text, strlen(text), &e) != AV_OK) {
        fail_msg("%s: %s", text, e.text);
    }
    const struct av_dump_tensor *t = av_dump_tensor(d, 0);
    assert_string_equal(av_dump_format(d), "text");
    assert_int_equal(av_dump_count(d), 1);
    assert_string_equal(t->name, "x");
    assert_string_equal(t->type, "text");
    assert_int_equal(t->rank, 2);
    assert_int_equal(t->shape[0], rows);
    assert_int_equal(t->shape[1], columns);
    assert_true(t->wide);
    double *x = must_read(d, "x");
    for (size_t i = 0; i < rows * columns; i++) {
        bool same = isnan(values[i]) ? isnan(x[i]) : x[i] == values[i] && signbit(x[i]) == signbit(values[i]);
        if (!same) {
            fail_msg("%s: entry %zu is %.17g, not %.17g", text, i, x[i], values[i]);
        }
    }
    free(x);
    av_dump_close(d);
}

static void rows_as_people_write_them(void **state)
{
    static const double abc[] = { 1, -2.5e-3, 3, 4, 5, 6 };
    static const double special[] = { (double)NAN, (double)INFINITY, -(double)INFINITY, -0.0, 5e-324, 0.1 };
    (void)state;
    check("1 -0.0025 3\n4 5 6\n", 2, 3, abc);
    check("1\t-2.5e-3\t3\n4\t5\t6", 2, 3, abc);
    check("1,-.0025,3\r\n4,5,6\r\n", 2, 3, abc);
    check("1 , -2.5E-03,3\n\n  \n4 ,5, 6  \n\n", 2, 3, abc);
    check("# q: \xC3\xA9\n  # more\n1 -0.0025 3 # one, two\n4 +5 6#\n", 2, 3, abc);
    check("\xEF\xBB\xBF"
          "1 -0.0025 3 4 5 6",
          1, 6, abc);
    check("1\n-0.0025\n3\n4\n5\n6\n", 6, 1, abc);
    check("nan inf -Infinity -0 5e-324 0.1\n", 1, 6, special);
}

static void texts_that_are_wrong(void **state)
{
    static const struct {
        const char *text, *message;
    } bad[] = {
        { "1 two\n", "x: line 1, column 3: 'two' is not a number" },
        { "1 2\n3 4\n5 6x\n", "x: line 3, column 3: '6x' is not a number" },
        { "# \xC3\xA9\xC3\xA9\n1 \xC3\xA9 2\n", "x: line 2, column 3: '\xC3\xA9' is not a number" },
        { "q k\n1 2\n", "x: line 1, column 1: 'q' is not a number" },
        { "[1, 2]\n", "x: line 1, column 1: '[1' is not a number" },
        { "1;2\n", "x: line 1, column 1: '1;2' is not a number" },
        { "1 2\n3\n", "x: line 2: the number of columns is 1, in the rows above 2" },
        { "1 2\n\n3 4 5", "x: line 3: the number of columns is 3, in the rows above 2" },
        { "1,,2\n", "x: line 1, column 3: a number is missing before the comma" },
        { ",1\n", "x: line 1, column 1: a number is missing before the comma" },
        { "1, 2,\n", "x: line 1, column 6: a number is missing behind the comma" },
        { "1, 2, # end", "x: line 1, column 12: a number is missing behind the comma" },
        { "1 1e999\n", "x: line 1, column 3: larger than any double" },
        { "# nothing\n\n", "x: holds no numbers" },
        { "  ", "x: holds no numbers" },
        { "1 0000000000000000000000000000000000000000000000000000000000000001",
          "x: line 1, column 3: too long for a number" },
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(bad); i++) {
        must_refuse_bytes(bad[i].text, strlen(bad[i].text), bad[i].message);
    }
}

/* Bytes that are no text: at the start another kind of file, later an error. */
static void bytes_that_are_no_text(void **state)
{
    (void)state;
    must_refuse_bytes("1 2\0\n", 5, "x: neither safetensors, .npz, .npy nor rows of numbers");
    must_refuse_bytes("1 \xFF\xFE\n", 5, "x: line 1, column 3: '\xEF\xBF\xBD\xEF\xBF\xBD' is not a number");
    char text[5000];
    memset(text, ' ', sizeof text);
    memset(text, '\n', 4500);
    text[4600] = '\0';
    must_refuse_bytes(text, sizeof text, "x: line 4501, column 101: '\xEF\xBF\xBD' is not a number");
}

/* Blocks end anywhere; a number of every length stands across their ends. */
static void more_than_a_block(void **state)
{
    (void)state;
    enum { ROWS = 40000 };
    char *text = malloc((size_t)ROWS * 16);
    assert_non_null(text);
    size_t len = 0;
    for (int i = 0; i < ROWS; i++) {
        len += (size_t)snprintf(text + len, 16, "%d %d\n", i, -i * i % 1000);
    }
    char path[32];
    make_file(path, text, len);
    struct av_dump *d = must_open(path);
    assert_int_equal(av_dump_tensor(d, 0)->shape[0], ROWS);
    double *x = must_read(d, av_dump_tensor(d, 0)->name);
    for (int i = 0; i < ROWS; i++) {
        assert_true(x[2 * i] == i && x[2 * i + 1] == -i * i % 1000);
    }
    free(x);
    av_dump_close(d);
    unlink(path);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_as_people_write_them),
        cmocka_unit_test(texts_that_are_wrong),
        cmocka_unit_test(bytes_that_are_no_text),
        cmocka_unit_test(more_than_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
