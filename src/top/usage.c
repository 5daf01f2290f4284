/* usage.c - what --help prints, from the tables of commands and options. */
#include "usage.h"

#include "attnviz/wrap.h"
#include "commands.h"

#include <stdio.h>
#include <string.h>

enum { COMMAND_COLUMN = 12, OPTION_COLUMN = 28, WIDTH = 80 };

/* Appends the words of `text`, broken so that no line is wider than WIDTH;
 * lines after the first begin at `column`, where the first has arrived. */
static void wrap(struct av_str *out, int column, const char *text)
{
    while (*text != '\0') {
        size_t len = av_wrap_piece(text, WIDTH - column);
        av_str_addn(out, text, len);
        text += len + strspn(text + len, " ");
        if (*text != '\0') {
            av_str_addf(out, "\n%*s", column, "");
        }
    }
    av_str_add(out, "\n");
}

/* The same for `left`, padded to `column`, and then text with the names that
 * are taken in parentheses. */
static void write_row(struct av_str *out, const char *left, int column, const char *text, const char *const *names)
{
    struct av_str all = AV_STR_INIT;
    av_str_add(&all, text);
    for (size_t i = 0; names != NULL && names[i] != NULL; i++) {
        av_str_addf(&all, "%s%s", i == 0 ? " (" : " ", names[i]);
    }
    av_str_add(&all, names != NULL ? ")" : "");
    av_str_addf(out, "%-*s", column, left);
    if (strlen(left) >= (size_t)column) {
        av_str_addf(out, "\n%*s", column, "");
    }
    wrap(out, column, av_str_text(&all));
    out->failed = out->failed || all.failed;
    av_str_free(&all);
}

static void write_commands(struct av_str *out)
{
    size_t count;
    const struct av_command *table = av_commands_table(&count);
    for (size_t i = 0; i < count; i++) {
        char left[32];
        snprintf(left, sizeof left, "  %s", table[i].name);
        write_row(out, left, COMMAND_COLUMN, table[i].text, table[i].formats);
    }
}

static void write_options(struct av_str *out)
{
    size_t count;
    const struct av_option *table = av_options_table(&count);
    for (size_t i = 0; i < count; i++) {
        const struct av_option *row = &table[i];
        char letter[8] = "    ";
        if (row->letter != '\0') {
            snprintf(letter, sizeof letter, "-%c, ", row->letter);
        }
        char left[64];
        snprintf(left, sizeof left, "  %s--%s%s%s", letter, row->name, row->arg != NULL ? " " : "",
                 row->arg != NULL ? row->arg : "");
        write_row(out, left, OPTION_COLUMN, row->text, row->choices);
    }
}

void av_usage_write(struct av_str *out)
{
    av_str_add(out, "usage: attnviz [COMMAND] [OPTION]... [FILE]...\n\n"
                    "Shows why attention divides its scores by sqrt(d_k): queries and keys in,\n"
                    "scores, weights, entropy and gradient out. With FILEs, those of a model: its\n"
                    "queries and keys, or its weights or scores alone (--weights, --scores).\n\n"
                    "Commands:\n");
    write_commands(out);
    av_str_add(out, "\nOptions:\n");
    write_options(out);
    av_str_add(out, "\nExit status:\n"
                    "  0 done, 1 failed, 2 wrong usage, 3 a verdict that --fail-on forbids,\n"
                    "  130 interrupted\n"
                    "\nExamples:\n"
                    "  attnviz\n"
                    "  attnviz --set d_k=512 --set scale=off\n"
                    "  attnviz --view heads model.safetensors\n"
                    "  attnviz report --format json --set mask=causal Q.npy K.npy\n"
                    "  attnviz report --weights w w.npy --fail-on bad\n"
                    "  attnviz sweep --over d_k=1:4096:13:log --set scale=off\n"
                    "  attnviz snapshot --keys 's Tab' --size 120x40\n");
}
