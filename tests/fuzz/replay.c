/* replay.c - runs a fuzz target over its corpus, and near it, without a fuzzer.
 *
 * usage: fuzz_TARGET FILE...
 *
 * Runs every file as it is, cut at every length, and with every byte changed
 * in turn; speaks TAP. The same inputs on every run, so a failure repeats. */
#include "fuzz.h"

#include <stdio.h>
#include <string.h>

enum { INPUT_MAX = 1 << 16 };

/* The target gets a copy that ends where its memory ends, so that a sanitizer
 * sees any access beyond it. */
static void run(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    FUZZ_CHECK(copy != NULL);
    memcpy(copy + 1, data, size);
    LLVMFuzzerTestOneInput(copy + 1, size);
    free(copy);
}

static void run_neighbours(uint8_t *data, size_t size)
{
    static const uint8_t flips[] = { 0x01, 0x10, 0x80, 0xFF };
    for (size_t i = 0; i < size; i++) {
        run(data, i);
        for (size_t f = 0; f < sizeof flips; f++) {
            data[i] ^= flips[f];
            run(data, size);
            data[i] ^= flips[f];
        }
    }
}

int main(int argc, char **argv)
{
    static uint8_t data[INPUT_MAX];
    printf("1..%d\n", argc - 1);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        if (file == NULL) {
            printf("not ok %d - %s cannot be opened\n", i, argv[i]);
            continue;
        }
        size_t size = fread(data, 1, sizeof data, file);
        fclose(file);
        /* Said before, so that a crash is known by the last name printed. */
        printf("# %s\n", argv[i]);
        fflush(stdout);
        run(data, size);
        run_neighbours(data, size);
        printf("ok %d - %s\n", i, argv[i]);
    }
    return 0;
}
