/* number_type.c - the types of numbers that files hold, as one table. */
#include "number_type.h"

#include <math.h>
#include <string.h>

/* IEEE 754 binary16: sign, 5 bits of exponent (bias 15), 10 of fraction. */
static double half_value(uint64_t bits, size_t size)
{
    (void)size;
    int exponent = (int)(bits >> 10 & 0x1F);
    int fraction = (int)(bits & 0x3FF);
    double magnitude;
    if (exponent == 0x1F) {
        magnitude = fraction != 0 ? (double)NAN : (double)INFINITY;
    } else if (exponent == 0) {
        magnitude = ldexp(fraction, -24);
    } else {
        magnitude = ldexp(0x400 + fraction, exponent - 25);
    }
    return (bits & 0x8000) != 0 ? -magnitude : magnitude;
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
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
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

static const struct av_number_type types[] = {
    { "f2", 2, false, half_value },    { "f4", 4, false, single_value },   { "f8", 8, true, double_value },
    { "i1", 1, false, signed_value },  { "i2", 2, false, signed_value },   { "i4", 4, true, signed_value },
    { "i8", 8, true, signed_value },   { "u1", 1, false, unsigned_value }, { "u2", 2, false, unsigned_value },
    { "u4", 4, true, unsigned_value }, { "u8", 8, true, unsigned_value },  { "b1", 1, false, bool_value },
};

const struct av_number_type *av_number_type_find(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(types[i].name, name) == 0) {
            return &types[i];
        }
    }
    return NULL;
}

double av_number_read(const struct av_number_type *type, const unsigned char *bytes, bool big_endian)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < type->size; i++) {
        bits = bits << 8 | bytes[big_endian ? i : type->size - 1 - i];
    }
    return type->value(bits, type->size);
}
