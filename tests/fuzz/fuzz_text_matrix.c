/* fuzz_text_matrix.c - no text at all may hurt the reader of rows of numbers. */
#include "fuzz_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_dump(data, size);
    return 0;
}
