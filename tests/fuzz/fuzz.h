/* fuzz.h - what the fuzz targets share. */
#ifndef ATTNVIZ_FUZZ_H
#define ATTNVIZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* A target: runs one input, aborts when something that must hold does not.
 * Linked with -fsanitize=fuzzer it searches; with replay.c it runs a corpus. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(condition) ((condition) ? (void)0 : abort())

#endif
