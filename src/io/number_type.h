/* number_type.h - the types of numbers that files hold, as one table. */
#ifndef ATTNVIZ_NUMBER_TYPE_H
#define ATTNVIZ_NUMBER_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct av_number_type {
    const char *name;  /* NumPy's: kind and bytes, "f4"; "" where it has none */
    const char *dtype; /* safetensors': "F32" */
    size_t size;       /* bytes of one entry, 1 to 8 */
    bool wide;         /* single precision does not hold every value */
    /* The value of an entry whose bits are the low 8 * size of `bits`. */
    double (*value)(uint64_t bits, size_t size);
};

/* Where numbers go: to one of the two, the other is NULL. */
struct av_numbers {
    double *f64;
    float *f32;
};

/* The row of that name; NULL: not supported. */
const struct av_number_type *av_number_type_find(const char *name);
const struct av_number_type *av_number_type_of_dtype(const char *dtype);

/* The entry at `bytes`. Exact, but for 64-bit integers beyond 2^53, which
 * round to nearest. */
double av_number_read(const struct av_number_type *type, const unsigned char *bytes, bool big_endian);

/* `count` entries from `bytes` on, to `to` from its entry `at` on. */
void av_number_read_run(const struct av_number_type *type, const unsigned char *bytes, bool big_endian, size_t count,
                        struct av_numbers to, size_t at);

#endif
