/* commands.h - the table of commands. */
#ifndef ATTNVIZ_COMMANDS_H
#define ATTNVIZ_COMMANDS_H

#include "options.h"

struct av_command {
    const char *name;
    const char *const *formats; /* of --format, the default first, NULL-terminated; NULL: it has none */
    bool files;                 /* does it take FILEs? */
    const char *text;           /* one line for the help */
    enum av_status (*run)(const struct av_options *o, struct av_error *e);
};

/* The table in the order of enum av_for; the first is the default. */
const struct av_command *av_commands_table(size_t *count);
const struct av_command *av_command_find(const char *name); /* NULL: unknown */

enum av_status av_cmd_live(const struct av_options *o, struct av_error *e);
enum av_status av_cmd_report(const struct av_options *o, struct av_error *e);
enum av_status av_cmd_snapshot(const struct av_options *o, struct av_error *e);
enum av_status av_cmd_train(const struct av_options *o, struct av_error *e);
enum av_status av_cmd_sweep(const struct av_options *o, struct av_error *e);
enum av_status av_cmd_facts(const struct av_options *o, struct av_error *e);
enum av_status av_cmd_bench(const struct av_options *o, struct av_error *e);

#endif
