/* main.c - the only place that exits. */
#include "attnviz/outfile.h"
#include "commands.h"
#include "complain.h"
#include "lists.h"
#include "usage.h"

#include <locale.h>
#include <signal.h>
#include <stdio.h>

static enum av_status print(struct av_str *text, struct av_error *e)
{
    enum av_status s =
        text->failed ? av_fail_nomem(e, "the text") : av_outfile_write(NULL, text->text, text->len, true, e);
    av_str_free(text);
    return s;
}

static enum av_status run(const struct av_options *o, struct av_error *e)
{
    struct av_str text = AV_STR_INIT;
    if (o->help) {
        av_usage_write(&text);
    } else if (o->version) {
        av_str_add(&text, "attnviz " AV_VERSION "\n");
    } else if (o->list != NULL) {
        av_list_write(&text, o->list);
    } else {
        return o->command->run(o, e);
    }
    return print(&text, e);
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); /* the character set; numbers keep their point */
    /* A reader that is gone, a file that grows too large: write says so. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    struct av_options options;
    struct av_error e = { "" };
    enum av_status s = av_options_parse(&options, argc, argv, &e);
    if (s == AV_OK) {
        s = run(&options, &e);
    }
    av_options_free(&options);
    if (s == AV_OK) {
        return 0;
    }
    if (s == AV_INTERRUPTED) {
        return 130;
    }
    av_complain(e.text);
    if (s == AV_FOUND) {
        return 3;
    }
    if (s == AV_USAGE) {
        fputs("Try 'attnviz --help'.\n", stderr);
        return 2;
    }
    return 1;
}
