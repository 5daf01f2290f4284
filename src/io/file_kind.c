/* file_kind.c - what a file that is not what it should be looks like. */
#include "file_kind.h"

#include <stdbool.h>
#include <string.h>

struct magic {
    const char *bytes;
    size_t size;
    const char *kind;
};

#define MAGIC(bytes, kind)                                                                                             \
    {                                                                                                                  \
        bytes, sizeof(bytes) - 1, kind                                                                                 \
    }

static const struct magic magics[] = {
    MAGIC("\x93NUMPY", "a .npy file"),
    MAGIC("PK\x03\x04", "a zip archive, as .npz and PyTorch files are"),
    MAGIC("PK\x05\x06", "an empty zip archive"),
    MAGIC("\x1f\x8b", "a gzip file: decompress it first"),
    MAGIC("BZh", "a bzip2 file: decompress it first"),
    MAGIC("\xfd"
          "7zXZ",
          "an xz file: decompress it first"),
    MAGIC("\x28\xb5\x2f\xfd", "a zstd file: decompress it first"),
    MAGIC("\x89HDF", "an HDF5 file"),
    MAGIC("GGUF", "a GGUF file"),
    MAGIC("version https://git-lfs", "a Git LFS pointer: fetch the file itself with git lfs pull"),
    MAGIC("\x80\x02", "a Python pickle"),
    MAGIC("\x80\x03", "a Python pickle"),
    MAGIC("\x80\x04", "a Python pickle"),
    MAGIC("\x80\x05", "a Python pickle"),
};

/* A safetensors file starts with the length of its header, 8 bytes, little
 * endian (below 2^40 for any real one), and the header's brace. */
static bool is_safetensors(const unsigned char *data, size_t size)
{
    return size > 8 && data[5] == 0 && data[6] == 0 && data[7] == 0 && data[8] == '{';
}

static bool is_text(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        bool printable = data[i] >= 0x20 && data[i] < 0x7F;
        if (!printable && data[i] != '\n' && data[i] != '\r' && data[i] != '\t') {
            return false;
        }
    }
    return size > 0;
}

const char *av_file_magic(const unsigned char *data, size_t size)
{
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++) {
        if (size >= magics[i].size && memcmp(data, magics[i].bytes, magics[i].size) == 0) {
            return magics[i].kind;
        }
    }
    return NULL;
}

const char *av_file_kind(const unsigned char *data, size_t size)
{
    const char *kind = av_file_magic(data, size);
    if (kind != NULL) {
        return kind;
    }
    if (is_safetensors(data, size)) {
        return "a safetensors file";
    }
    return is_text(data, size < 64 ? size : 64) ? "text" : NULL;
}
