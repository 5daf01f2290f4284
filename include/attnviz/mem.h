/* mem.h - aligned memory that cannot overflow its size. */
#ifndef ATTNVIZ_MEM_H
#define ATTNVIZ_MEM_H

#include <stddef.h>

enum { AV_ALIGN = 64 }; /* one cache line, one 512-bit vector */

/* count * size zeroed bytes, aligned to AV_ALIGN; NULL when the product
 * overflows or memory is out. A zero product gives a valid pointer. The
 * caller frees it with av_free. */
void *av_alloc(size_t count, size_t size);
void av_free(void *p); /* NULL is fine */

/* Bytes of physical memory of this machine, SIZE_MAX when unknown. */
size_t av_mem_physical(void);

#endif
