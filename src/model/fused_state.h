/* fused_state.h - the inside of a head whose rows are summed up tile by tile. */
#ifndef ATTNVIZ_FUSED_STATE_H
#define ATTNVIZ_FUSED_STATE_H

#include "attnviz/fused.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    AV_FUSED_ROWS = 512, /* queries of a block, at most: so many products for each key that is read and packed */
    AV_FUSED_KEYS = 128  /* of a tile, whose scores stay in the second-level cache */
};

/* Of a row, or of rows that were merged. */
struct av_fused_moments {
    struct av_moments scores, logits; /* logits over their multiplier, without the common offset */
    struct av_spread score_spread, logit_spread;
    bool may_underflow; /* a weight may be 0 as a double */
};

/* A row of the block that is worked on. */
struct av_fused_row {
    struct av_running_row sums;
    struct av_moments scores, logits; /* the latter only with a probed key */
    bool invalid;                     /* a score is not finite; the rest of the row is left out */
};

/* What a thread works with: a block of queries, and how far it has come. */
struct av_fused_worker {
    struct av_fused *of;
    bool busy;   /* it has a block */
    bool loaded; /* whose queries are there */
    size_t block, tile;
    void *q, *k;    /* entries [block_rows, d]; of a tile, [AV_FUSED_KEYS, d], where the head does not hold all */
    double *scores; /* [block_rows, AV_FUSED_KEYS] */
    struct av_fused_row *rows;
    void *scratch;
    void *memory; /* of all of these */
    pthread_t thread;
    bool started;
    enum av_status status; /* of its last tile */
    struct av_error error;
};

/* Which queries a block has. */
struct av_fused_range {
    size_t begin, end;
};

struct av_fused {
    const struct av_source *source;
    const struct av_kernels *kernels;
    size_t layer;
    bool wide[AV_PARTS]; /* entries are doubles, else floats */
    double multiplier;   /* of the scores */
    double key_score;    /* key_offset as what is added to the probed key's score */
    char *held;          /* entries of all keys, [n_k, d]; NULL: they are read tile by tile */
    size_t block_rows, blocks;
    uint64_t pairs;                 /* that all tiles have */
    _Atomic uint64_t done;          /* of them */
    pthread_mutex_t lock;           /* of the source, and of: */
    size_t taken;                   /* blocks */
    struct av_fused_moments *parts; /* [blocks] */
    struct av_rowstats *rows;       /* [n_q] */
    bool *invalid;                  /* [n_q] */
    double *column;                 /* [n_q], scratch of the summary */
    double *query_scores;           /* [n_k], of the selected query, */
    double *query_weights;          /* and, when all is done, what the softmax makes of them */
    atomic_bool stop;               /* av_fused_run shall end */
    size_t threads;
    struct av_fused_worker *workers; /* [threads] */
    struct av_snapshot snapshot;
    bool finished; /* the snapshot is there */
};

struct av_fused_range av_fused_block_rows(const struct av_fused *f, size_t block);

/* The rows of a block that see keys from the tile's first one on, and how many
 * tiles the block's last row sees. */
struct av_fused_range av_fused_tile_rows(const struct av_fused *f, size_t block, size_t tile);
size_t av_fused_tiles(const struct av_fused *f, size_t block);
size_t av_fused_tile_keys(const struct av_fused *f, size_t tile);

/* Rows of d entries that lie at `at`, as that part has them. */
struct av_entries av_fused_entries(const struct av_fused *f, enum av_part part, const void *at);

/* Reads rows of Q or K to memory. Other threads may do the same. */
enum av_status av_fused_read(struct av_fused *f, enum av_part part, struct av_fused_range range, void *to,
                             struct av_error *e);

/* One tile by this worker, which takes a block when it has none. Sets *more to
 * false when no block is left to take. */
enum av_status av_fused_tile(struct av_fused_worker *w, bool *more, struct av_error *e);

/* Makes the snapshot, when all pairs are done. */
void av_fused_finish(struct av_fused *f);

#endif
