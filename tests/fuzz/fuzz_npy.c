/* fuzz_npy.c - no bytes at all may hurt the reader of .npy files. */
#include "fuzz_dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_dump(data, size);
    return 0;
}
