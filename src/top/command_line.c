/* command_line.c - reading the command line.
 *
 * Options may follow files, `--` ends them, `--name=value` and `--name value`
 * are the same, letters can be joined. */
#include "commands.h"
#include "options.h"
#include "settings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Cutting the command line into options and files ---- */

/* An option as given; rows of the table are applied later, when the command
 * and the settings file are known. */
struct given {
    const struct av_option *row;
    const char *value;
};

struct scan {
    char **argv;
    int argc, at;
    struct given *given;
    size_t given_count;
};

static enum av_status give(struct scan *scan, const struct av_option *row, const char *joined, struct av_error *e)
{
    const char *value = joined;
    if (row->arg != NULL && value == NULL) {
        if (scan->at + 1 >= scan->argc) {
            return av_fail(e, AV_USAGE, "--%s: %s is missing", row->name, row->arg);
        }
        value = scan->argv[++scan->at];
    }
    scan->given[scan->given_count++] = (struct given){ row, value };
    return AV_OK;
}

static enum av_status scan_long(struct scan *scan, const char *word, struct av_error *e)
{
    size_t len = strcspn(word, "=");
    const char *joined = word[len] == '=' ? word + len + 1 : NULL;
    size_t count;
    const struct av_option *table = av_options_table(&count);
    for (size_t i = 0; i < count; i++) {
        const struct av_option *row = &table[i];
        if (strncmp(row->name, word, len) != 0 || row->name[len] != '\0') {
            continue;
        }
        if (row->arg == NULL && joined != NULL) {
            return av_fail(e, AV_USAGE, "--%s: takes no value", row->name);
        }
        return give(scan, row, joined, e);
    }
    return av_fail(e, AV_USAGE, "--%.*s: unknown option", (int)len, word);
}

static enum av_status scan_letters(struct scan *scan, const char *letters, struct av_error *e)
{
    size_t count;
    const struct av_option *table = av_options_table(&count);
    for (const char *at = letters; *at != '\0'; at++) {
        const struct av_option *row = NULL;
        for (size_t i = 0; i < count && row == NULL; i++) {
            row = table[i].letter == *at ? &table[i] : NULL;
        }
        if (row == NULL) {
            return av_fail(e, AV_USAGE, "-%c: unknown option", *at);
        }
        bool rest_is_value = row->arg != NULL && at[1] != '\0';
        enum av_status s = give(scan, row, rest_is_value ? at + 1 : NULL, e);
        if (s != AV_OK || row->arg != NULL) {
            return s;
        }
    }
    return AV_OK;
}

/* Fills scan->given; all other words are moved to the front of argv + 1, and
 * their number is *words. *before_end: how many of them stood before `--`. */
static enum av_status scan_words(struct scan *scan, size_t *words, size_t *before_end, struct av_error *e)
{
    bool ended = false;
    *words = 0;
    *before_end = 0;
    for (scan->at = 1; scan->at < scan->argc; scan->at++) {
        char *word = scan->argv[scan->at];
        enum av_status s = AV_OK;
        if (ended || word[0] != '-' || word[1] == '\0') {
            scan->argv[1 + (*words)++] = word;
            *before_end += !ended;
        } else if (strcmp(word, "--") == 0) {
            ended = true;
        } else if (word[1] == '-') {
            s = scan_long(scan, word + 2, e);
        } else {
            s = scan_letters(scan, word + 1, e);
        }
        if (s != AV_OK) {
            return s;
        }
    }
    return AV_OK;
}

/* ---- Commands and files ---- */

/* Takes the command from the words, if the first of them (before any `--`)
 * names one; what remains are files. */
static void take_command(struct av_options *o, char **words, size_t count, bool may)
{
    size_t commands;
    o->command = av_commands_table(&commands);
    if (may && count > 0) {
        const struct av_command *named = av_command_find(words[0]);
        if (named != NULL) {
            o->command = named;
            words++;
            count--;
        }
    }
    o->files = words;
    o->file_count = count;
}

/* named: the command line names the command. */
static enum av_status check_files(const struct av_options *o, bool named, struct av_error *e)
{
    if (o->file_count == 0) {
        return o->of_files == NULL ? AV_OK
                                   : av_fail(e, AV_USAGE, "--%s: says what a file holds; give one", o->of_files);
    }
    if (!o->command->files) {
        return av_fail(e, AV_USAGE, "%s: the command %s takes no files", o->files[0], o->command->name);
    }
    if (o->file_count > 3) {
        return av_fail(e, AV_USAGE, "%s: give one file, or the queries, the keys and weights or scores, not %zu",
                       o->files[0], o->file_count);
    }
    if (o->file_count == 1 && !named && strcmp(o->files[0], "-") != 0 && access(o->files[0], F_OK) != 0) {
        return av_fail(e, AV_USAGE, "%s: neither a command nor a file", o->files[0]);
    }
    size_t inputs = 0;
    for (size_t i = 0; i < o->file_count; i++) {
        inputs += strcmp(o->files[i], "-") == 0;
    }
    if (inputs > 1) {
        return av_fail(e, AV_USAGE, "-: standard input can be read once");
    }
    return AV_OK;
}

/* ---- All together ---- */

static void set_defaults(struct av_options *o)
{
    memset(o, 0, sizeof *o);
    av_params_default(&o->params);
    av_options_auto_color(o);
    o->fail_on = -1;
    o->animation = true;
    o->mouse = true;
    o->cols = 100;
    o->rows = 30;
}

static enum av_status apply(struct av_options *o, const struct scan *scan, bool first, struct av_error *e)
{
    size_t count;
    int command_bit = 1 << (o->command - av_commands_table(&count));
    for (size_t i = 0; i < scan->given_count; i++) {
        const struct given *g = &scan->given[i];
        if (g->row->first != first) {
            continue;
        }
        if ((g->row->commands & command_bit) == 0) {
            return av_fail(e, AV_USAGE, "--%s: not an option of the command %s", g->row->name, o->command->name);
        }
        enum av_status s = g->row->set(o, g->row, g->value, e);
        if (s != AV_OK) {
            return s;
        }
    }
    return AV_OK;
}

static enum av_status parse(struct av_options *o, struct scan *scan, struct av_error *e)
{
    size_t words, before_end;
    enum av_status s = scan_words(scan, &words, &before_end, e);
    if (s == AV_OK) {
        take_command(o, scan->argv + 1, words, before_end > 0);
        s = apply(o, scan, true, e);
    }
    if (s != AV_OK || o->help || o->version) {
        return s;
    }
    if (!o->no_config) {
        s = av_settings_read(o, e);
    }
    if (s == AV_OK) {
        s = apply(o, scan, false, e);
    }
    return s == AV_OK ? check_files(o, o->files != scan->argv + 1, e) : s;
}

enum av_status av_options_parse(struct av_options *o, int argc, char **argv, struct av_error *e)
{
    set_defaults(o);
    /* A word can hold several letters: as many options as there are bytes. */
    size_t most = 1;
    for (int i = 1; i < argc; i++) {
        most += strlen(argv[i]) + 1;
    }
    struct scan scan = { argv, argc, 0, malloc(most * sizeof(struct given)), 0 };
    if (scan.given == NULL) {
        return av_fail_nomem(e, "the command line");
    }
    enum av_status s = parse(o, &scan, e);
    free(scan.given);
    return s;
}

void av_options_free(struct av_options *o)
{
    free(o->settings);
    o->settings = NULL;
}
