/* zip_maker.h - zip archives of stored entries, made by hand. */
#ifndef ZIP_MAKER_H
#define ZIP_MAKER_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline uint32_t zip_checksum(const unsigned char *bytes, size_t size)
{
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (0xEDB88320 & (0 - (crc & 1)));
        }
    }
    return ~crc;
}

struct zip_maker {
    unsigned char *bytes; /* room for all */
    size_t size;
};

static inline void zip_put(struct zip_maker *z, uint32_t x, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        z->bytes[z->size++] = (unsigned char)(x >> 8 * i);
    }
}

static inline void zip_put_bytes(struct zip_maker *z, const void *bytes, size_t size)
{
    memcpy(z->bytes + z->size, bytes, size);
    z->size += size;
}

/* What a local header and the directory say alike. */
static inline void zip_put_fields(struct zip_maker *z, const char *name, const unsigned char *data, size_t size)
{
    zip_put(z, 20, 2);
    zip_put(z, 0, 2); /* flags */
    zip_put(z, 0, 2); /* stored */
    zip_put(z, 0, 2);
    zip_put(z, 0x21, 2); /* 1 January 1980 */
    zip_put(z, zip_checksum(data, size), 4);
    zip_put(z, (uint32_t)size, 4);
    zip_put(z, (uint32_t)size, 4);
    zip_put(z, (uint32_t)strlen(name), 2);
    zip_put(z, 0, 2);
}

/* An archive of `count` files; the caller frees its bytes. */
static inline struct zip_maker zip_make(size_t count, const char *const *names, unsigned char *const *data,
                                        const size_t *sizes)
{
    size_t room = 22;
    for (size_t i = 0; i < count; i++) {
        room += 76 + 2 * strlen(names[i]) + sizes[i];
    }
    struct zip_maker z = { malloc(room), 0 };
    uint32_t *at = malloc(count * sizeof *at);
    if (z.bytes == NULL || at == NULL) {
        abort();
    }
    for (size_t i = 0; i < count; i++) {
        at[i] = (uint32_t)z.size;
        zip_put_bytes(&z, "PK\3\4", 4);
        zip_put_fields(&z, names[i], data[i], sizes[i]);
        zip_put_bytes(&z, names[i], strlen(names[i]));
        zip_put_bytes(&z, data[i], sizes[i]);
    }
    size_t directory = z.size;
    for (size_t i = 0; i < count; i++) {
        zip_put_bytes(&z, "PK\1\2\24\0", 6);
        zip_put_fields(&z, names[i], data[i], sizes[i]);
        zip_put_bytes(&z, (const char[10]){ 0 }, 10);
        zip_put(&z, at[i], 4);
        zip_put_bytes(&z, names[i], strlen(names[i]));
    }
    size_t size = z.size - directory;
    zip_put_bytes(&z, "PK\5\6\0\0\0\0", 8);
    zip_put(&z, (uint32_t)count, 2);
    zip_put(&z, (uint32_t)count, 2);
    zip_put(&z, (uint32_t)size, 4);
    zip_put(&z, (uint32_t)directory, 4);
    zip_put(&z, 0, 2);
    free(at);
    return z;
}

#endif
