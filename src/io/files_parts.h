/* files_parts.h - the inside of opened files. */
#ifndef ATTNVIZ_FILES_PARTS_H
#define ATTNVIZ_FILES_PARTS_H

#include "attnviz/files.h"
#include "shape.h"
#include "shown.h"

enum { AV_FILES_MOST = 3 };

/* Where a tensor of the list stands. */
struct av_files_origin {
    const struct av_dump_tensor *tensor; /* of its dump */
    size_t dump, index;
};

/* Of all files together, as find.h wants them. */
struct av_files_tensors {
    struct av_dump_tensor *list;
    struct av_files_origin *origin; /* as many */
    size_t count;
};

struct av_files_labels {
    char *text;
    const char **lines;
};

struct av_files {
    struct av_dump *dumps[AV_FILES_MOST];
    size_t count, batch;
    char name[512];
    char reading[512], unused[512]; /* of the source */
    struct av_files_tensors tensors;
    struct av_find found;
    struct av_source_layer *layers; /* as many as were found */
    struct av_files_labels labels;
    struct av_source source;
};

/* The last part of a file's path. */
struct av_shown av_files_name(const struct av_files *f, size_t i);

/* ---- files_tensors.c ----------------------------------------------------------- */

/* Lists the tensors of the files and finds queries and keys among them. */
enum av_status av_files_tensors(struct av_files *f, const struct av_find_options *o, struct av_error *e);
void av_files_tensors_free(struct av_files_tensors *t);

/* ---- files_told.c ---------------------------------------------------------------- */

/* Has the source say how the tensors are read, where that was guessed, and what is
 * not used of them. */
void av_files_tell(struct av_files *f);

/* The tensor's shape in words. */
struct av_shape_text av_files_shape(const struct av_dump_tensor *t);

/* ---- files_tokens.c ------------------------------------------------------------- */

/* Reads labels of positions, a line each, made printable, into a source with these
 * layers. labels: the memory; freed by the caller in every case. */
enum av_status av_files_tokens(struct av_source *source, struct av_files_labels *labels,
                               const struct av_source_layer *layers, size_t count, const char *path,
                               struct av_error *e);
void av_files_labels_free(struct av_files_labels *labels);

#endif
