/* fuzz_npy.c - no bytes at all may hurt the .npy reader. */
#include "attnviz/npy.h"
#include "fuzz.h"

#include <math.h>
#include <string.h>

/* What every reader of a tensor relies on. */
static void check_tensor(const struct av_tensor *t)
{
    uint64_t nans = 0;
    uint64_t infs = 0;
    size_t count = t->heads * t->n * t->d;
    FUZZ_CHECK((t->f32 != NULL) != (t->f64 != NULL));
    FUZZ_CHECK(count > 0 && (t->rank == 3 || (t->rank == 2 && t->heads == 1)));
    for (size_t i = 0; i < count; i++) {
        double x = t->f64 != NULL ? t->f64[i] : (double)t->f32[i];
        nans += isnan(x) != 0;
        infs += isinf(x) != 0;
    }
    FUZZ_CHECK(nans == t->nan_count && infs == t->inf_count);
}

static void check_message(const char *text)
{
    FUZZ_CHECK(strncmp(text, "x.npy: ", 7) == 0 && text[7] != '\0');
    for (const char *c = text; *c != '\0'; c++) {
        FUZZ_CHECK((unsigned char)*c >= 0x20 && *c != 0x7F);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct av_tensor zero;
    struct av_tensor t;
    struct av_error e = { "" };
    enum av_status s = av_npy_parse(&t, "x.npy", data, size, &e);
    if (s == AV_OK) {
        check_tensor(&t);
        av_tensor_free(&t);
    } else {
        check_message(e.text);
    }
    FUZZ_CHECK(memcmp(&t, &zero, sizeof t) == 0);
    return 0;
}
