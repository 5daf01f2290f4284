/* number_type.c - the types of numbers that files hold, as one table. */
#include "number_type.h"

#include <math.h>
#include <string.h>

enum { DOUBLE_BIAS = 1023, DOUBLE_FRACTION = 52 };

static double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A number of sign, exponent and fraction as in IEEE 754: the largest exponent
 * stands for infinity and NaN, the smallest for numbers without a leading one. */
static double binary_value(uint64_t bits, int exponent_bits, int fraction_bits)
{
    uint64_t all = (UINT64_C(1) << exponent_bits) - 1;
    uint64_t exponent = bits >> fraction_bits & all;
    uint64_t fraction = bits & ((UINT64_C(1) << fraction_bits) - 1);
    uint64_t sign = bits >> (exponent_bits + fraction_bits) & 1;
    uint64_t bias = all / 2;
    double x;
    if (exponent == all) {
        x = fraction != 0 ? (double)NAN : (double)INFINITY;
    } else if (exponent == 0) {
        x = (double)fraction * from_bits((DOUBLE_BIAS + 1 - bias - (uint64_t)fraction_bits) << DOUBLE_FRACTION);
    } else {
        x = from_bits((DOUBLE_BIAS + exponent - bias) << DOUBLE_FRACTION | fraction
                                                                               << (DOUBLE_FRACTION - fraction_bits));
    }
    return sign != 0 ? -x : x;
}

static double half_value(uint64_t bits, size_t size)
{
    (void)size;
    return binary_value(bits, 5, 10);
}

static double bfloat16_value(uint64_t bits, size_t size)
{
    (void)size;
    return binary_value(bits, 8, 7);
}

static double e5m2_value(uint64_t bits, size_t size)
{
    (void)size;
    return binary_value(bits, 5, 2);
}

/* Without infinities: the largest exponent is one like the others, and only all
 * ones are no number. */
static double e4m3_value(uint64_t bits, size_t size)
{
    (void)size;
    if ((bits & 0x78) != 0x78) {
        return binary_value(bits, 4, 3);
    }
    double magnitude = (bits & 7) == 7 ? (double)NAN : ldexp((double)(8 + (bits & 7)), 15 - 7 - 3);
    return (bits & 0x80) != 0 ? -magnitude : magnitude;
}

static double single_value(uint64_t bits, size_t size)
{
    (void)size;
    uint32_t low = (uint32_t)bits;
    float x;
    memcpy(&x, &low, sizeof x);
    return (double)x;
}

static double double_value(uint64_t bits, size_t size)
{
    (void)size;
    return from_bits(bits);
}

/* Two's complement: the sign bit counts -2^(width - 1), so flipping it and
 * taking 2^(width - 1) away extends it over all 64 bits. */
static double signed_value(uint64_t bits, size_t size)
{
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return (double)(int64_t)((bits ^ sign) - sign);
}

static double unsigned_value(uint64_t bits, size_t size)
{
    (void)size;
    return (double)bits;
}

static double bool_value(uint64_t bits, size_t size)
{
    (void)size;
    return bits != 0 ? 1 : 0;
}

/* clang-format off */
static const struct av_number_type types[] = {
    { "f2", "F16",     2, false, half_value },
    { "",   "BF16",    2, false, bfloat16_value },
    { "",   "F8_E5M2", 1, false, e5m2_value },
    { "",   "F8_E4M3", 1, false, e4m3_value },
    { "f4", "F32",     4, false, single_value },
    { "f8", "F64",     8, true,  double_value },
    { "i1", "I8",      1, false, signed_value },
    { "i2", "I16",     2, false, signed_value },
    { "i4", "I32",     4, true,  signed_value },
    { "i8", "I64",     8, true,  signed_value },
    { "u1", "U8",      1, false, unsigned_value },
    { "u2", "U16",     2, false, unsigned_value },
    { "u4", "U32",     4, true,  unsigned_value },
    { "u8", "U64",     8, true,  unsigned_value },
    { "b1", "BOOL",    1, false, bool_value },
};
/* clang-format on */

enum { TYPES = sizeof types / sizeof types[0] };

const struct av_number_type *av_number_type_find(const char *name)
{
    for (size_t i = 0; i < TYPES && *name != '\0'; i++) {
        if (strcmp(types[i].name, name) == 0) {
            return &types[i];
        }
    }
    return NULL;
}

const struct av_number_type *av_number_type_of_dtype(const char *dtype)
{
    for (size_t i = 0; i < TYPES; i++) {
        if (strcmp(types[i].dtype, dtype) == 0) {
            return &types[i];
        }
    }
    return NULL;
}

/* In a loop over a constant size compilers make one load of this. */
static inline uint64_t load(const unsigned char *bytes, size_t size, bool big_endian)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < size; i++) {
        bits |= (uint64_t)bytes[i] << 8 * (big_endian ? size - 1 - i : i);
    }
    return bits;
}

double av_number_read(const struct av_number_type *type, const unsigned char *bytes, bool big_endian)
{
    return type->value(load(bytes, type->size, big_endian), type->size);
}

static inline void read_run(double (*value)(uint64_t bits, size_t size), const unsigned char *bytes, size_t size,
                            bool big_endian, size_t count, struct av_numbers to, size_t at)
{
    if (to.f64 != NULL) {
        for (size_t i = 0; i < count; i++) {
            to.f64[at + i] = value(load(bytes + i * size, size, big_endian), size);
        }
    } else {
        for (size_t i = 0; i < count; i++) {
            to.f32[at + i] = (float)value(load(bytes + i * size, size, big_endian), size);
        }
    }
}

void av_number_read_run(const struct av_number_type *type, const unsigned char *bytes, bool big_endian, size_t count,
                        struct av_numbers to, size_t at)
{
    /* What most files hold has a loop of its own, into which its function goes. */
    if (!big_endian && type->value == single_value) {
        read_run(single_value, bytes, 4, false, count, to, at);
    } else if (!big_endian && type->value == double_value) {
        read_run(double_value, bytes, 8, false, count, to, at);
    } else if (!big_endian && type->value == half_value) {
        read_run(half_value, bytes, 2, false, count, to, at);
    } else if (!big_endian && type->value == bfloat16_value) {
        read_run(bfloat16_value, bytes, 2, false, count, to, at);
    } else {
        read_run(type->value, bytes, type->size, big_endian, count, to, at);
    }
}
