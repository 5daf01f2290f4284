/* app_heads_driver.h - the program with a made file open. */
#ifndef APP_HEADS_DRIVER_H
#define APP_HEADS_DRIVER_H

#include "app_driver.h"
#include "heads_source.h"

/* The first layer of *made, which is filled and must outlive the program. */
static inline struct av_app *open_made(struct made_source *made)
{
    made_source(made);
    made->source.layer_count = 1;
    struct av_app_config config = plain_config();
    config.source = &made->source;
    return open_app(&config);
}

#endif
