/* options.h - the command line: a table of options, and what was asked for. */
#ifndef ATTNVIZ_OPTIONS_H
#define ATTNVIZ_OPTIONS_H

#include "attnviz/files.h"
#include "attnviz/out.h"
#include "attnviz/params.h"

#include <stdbool.h>
#include <stddef.h>

struct av_command;

enum av_charset { AV_CHARSET_AUTO, AV_CHARSET_UTF8, AV_CHARSET_ASCII };

/* What was asked for, with defaults, the settings file and the command line
 * taken in, in this order. Texts belong to argv or to `settings`. */
struct av_options {
    const struct av_command *command;
    struct av_params params;          /* set but not checked: files bring sizes of their own */
    const char *size_set;             /* the last of d_k, n_q, n_k that --set has set, or NULL */
    bool logits_set;                  /* by --set */
    bool mask_set;                    /* by --set: a file's is not taken then */
    bool multiplier_set;              /* by --set, one of those that scores are multiplied by, likewise */
    struct av_files_options files_as; /* how files are to be read */
    const char *of_files;             /* an option that says so, or NULL */
    int fail_on;                      /* enum av_severity from which on a finding is a failure; -1: none is */
    const char *view, *theme, *keys, *list, *config, *output;
    const char *over; /* of a sweep, not read yet: its ranges depend on all else */
    enum av_depth depth;
    bool depth_auto; /* as much as the terminal has; depth is for where there is none */
    enum av_charset charset;
    bool animation, mouse;
    bool help, version, no_config;
    int format; /* index of the command's formats */
    int cols, rows;
    char **files;
    size_t file_count;
    char *settings; /* text of the settings file, cut up */
};

/* Commands that an option is for, as a set of bits 1 << index in the table of
 * commands. */
enum av_for {
    AV_FOR_LIVE = 1,
    AV_FOR_REPORT = 2,
    AV_FOR_SNAPSHOT = 4,
    AV_FOR_TRAIN = 8,
    AV_FOR_SWEEP = 16,
    AV_FOR_FACTS = 32,
    AV_FOR_BENCH = 64,
    AV_FOR_ALL = 127
};

struct av_option {
    const char *name; /* without its dashes */
    char letter;      /* '\0': none */
    const char *arg;  /* what its argument is called; NULL: takes none */
    int commands;     /* enum av_for, summed */
    /* Name in the settings file, NULL: none. There an option without an
     * argument is `on` or `off`. */
    const char *setting;
    const char *const *choices; /* NULL-terminated; NULL: free text, or the command's formats */
    bool first;                 /* decides how the rest is read: applied before the settings file */
    const char *text;           /* one line for the help */
    /* value: NULL for an option without an argument. */
    enum av_status (*set)(struct av_options *o, const struct av_option *row, const char *value, struct av_error *e);
};

const struct av_option *av_options_table(size_t *count);

/* Reads the command line and, unless it says otherwise, the settings file.
 * argv[0] is skipped and argv reordered: files come last. AV_USAGE for wrong
 * words, AV_FAILED for a settings file that cannot be read. The caller calls
 * av_options_free in every case. */
enum av_status av_options_parse(struct av_options *o, int argc, char **argv, struct av_error *e);
void av_options_free(struct av_options *o);

/* Colours as `auto` means it: none where NO_COLOR says so. */
void av_options_auto_color(struct av_options *o);

/* Is only ASCII to be drawn? With `auto`, the locale's character set tells. */
bool av_options_ascii(const struct av_options *o);

#endif
