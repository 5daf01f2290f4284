/* file_kind.h - what a file that is not what it should be looks like. */
#ifndef ATTNVIZ_FILE_KIND_H
#define ATTNVIZ_FILE_KIND_H

#include <stddef.h>

/* A guess from the first bytes, for a message: "a gzip file". NULL: nothing
 * that is known here. */
const char *av_file_kind(const unsigned char *data, size_t size);

/* The same for formats that say what they are: neither text nor safetensors. */
const char *av_file_magic(const unsigned char *data, size_t size);

#endif
