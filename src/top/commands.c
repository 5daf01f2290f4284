/* commands.c - the table of commands. */
#include "commands.h"

#include <string.h>

static const char *const REPORT_FORMATS[] = { "text", "json", "csv", NULL };
static const char *const SNAPSHOT_FORMATS[] = { "text", "ansi", "svg", NULL };

static const struct av_command TABLE[] = {
    { "live", NULL, true, "the interactive program (the default; needs a terminal)", av_cmd_live },
    { "report", REPORT_FORMATS, true, "numbers: scores, weights, entropy, gradient, theory, verdicts", av_cmd_report },
    { "snapshot", SNAPSHOT_FORMATS, true, "one screen as text, ANSI escapes or SVG", av_cmd_snapshot },
    { "train", REPORT_FORMATS, false, "trains one head with and without the scale, and writes the curves",
      av_cmd_train },
    { "sweep", REPORT_FORMATS, false, "a report per value of one parameter", av_cmd_sweep },
    { "facts", REPORT_FORMATS, false, "well-known claims about the scale, measured: which hold", av_cmd_facts },
    { "bench", REPORT_FORMATS, false, "times the stages on this machine", av_cmd_bench },
};

enum { TABLE_ROWS = sizeof TABLE / sizeof TABLE[0] };

const struct av_command *av_commands_table(size_t *count)
{
    *count = TABLE_ROWS;
    return TABLE;
}

const struct av_command *av_command_find(const char *name)
{
    for (size_t i = 0; i < TABLE_ROWS; i++) {
        if (strcmp(TABLE[i].name, name) == 0) {
            return &TABLE[i];
        }
    }
    return NULL;
}
