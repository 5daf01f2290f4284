/* usage.c - what --help prints, from the tables of commands and options. */
#include "usage.h"

#include "commands.h"

#include <string.h>

enum { TEXT_COLUMN = 30 };

static void write_names(struct av_str *out, const char *const *names)
{
    for (size_t i = 0; names[i] != NULL; i++) {
        av_str_addf(out, "%s%s", i == 0 ? "" : " ", names[i]);
    }
}

static void write_commands(struct av_str *out)
{
    size_t count;
    const struct av_command *table = av_commands_table(&count);
    for (size_t i = 0; i < count; i++) {
        av_str_addf(out, "  %-10s%s", table[i].name, table[i].text);
        if (table[i].formats != NULL) {
            av_str_add(out, " (formats ");
            write_names(out, table[i].formats);
            av_str_add(out, ")");
        }
        av_str_add(out, "\n");
    }
}

static void write_option(struct av_str *out, const struct av_option *row)
{
    size_t start = out->len;
    if (row->letter != '\0') {
        av_str_addf(out, "  -%c, ", row->letter);
    } else {
        av_str_add(out, "      ");
    }
    av_str_addf(out, "--%s%s%s", row->name, row->arg != NULL ? " " : "", row->arg != NULL ? row->arg : "");
    size_t width = out->len - start;
    av_str_addf(out, "%*s%s", width + 2 > TEXT_COLUMN ? 2 : (int)(TEXT_COLUMN - width), "", row->text);
    if (row->choices != NULL) {
        av_str_add(out, ": ");
        write_names(out, row->choices);
    }
    av_str_add(out, "\n");
}

void av_usage_write(struct av_str *out)
{
    av_str_add(out, "usage: attnviz [COMMAND] [OPTION]... [Q.npy K.npy]\n\n"
                    "Shows why attention divides its scores by sqrt(d_k): queries and keys in, scores,\n"
                    "weights, entropy and gradient out. With two files, those of a real model.\n\n"
                    "Commands:\n");
    write_commands(out);
    av_str_add(out, "\nOptions:\n");
    size_t count;
    const struct av_option *table = av_options_table(&count);
    for (size_t i = 0; i < count; i++) {
        write_option(out, &table[i]);
    }
    av_str_add(out, "\nExamples:\n"
                    "  attnviz\n"
                    "  attnviz --set d_k=512 --set scale=off\n"
                    "  attnviz report --format json --set mask=causal Q.npy K.npy\n"
                    "  attnviz snapshot --keys 's Tab' --size 120x40\n");
}
