/* guarded.h - reading a mapped file that may become shorter meanwhile. */
#ifndef ATTNVIZ_GUARDED_H
#define ATTNVIZ_GUARDED_H

#include <stdbool.h>
#include <stddef.h>

/* Runs work(ctx), which reads the mapping [from, from + size). false: the system
 * had no page to give where it read (the file is shorter by now, or its disk has
 * failed), and work was left right there. So work only computes and stores: it
 * allocates nothing, takes no lock and calls no library that does.
 *
 * Other bus errors go where they would have gone without this. Threads may do
 * this at the same time, calls may nest, and signal handlers that others have
 * installed are in force again afterwards; none may be installed meanwhile. */
bool av_guarded(void (*work)(void *ctx), void *ctx, const void *from, size_t size);

#endif
