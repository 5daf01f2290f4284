/* lists.c - the program's tables as text. */
#include "lists.h"

#include "attnviz/actions.h"
#include "attnviz/params.h"
#include "attnviz/report.h"
#include "attnviz/report_findings.h"
#include "attnviz/theme_files.h"
#include "attnviz/train.h"
#include "attnviz/variant.h"
#include "attnviz/verdict_table.h"
#include "attnviz/view.h"
#include "commands.h"

#include <string.h>

static void write_choices(struct av_str *out, const char *const *choices)
{
    for (size_t i = 0; choices[i] != NULL; i++) {
        av_str_addf(out, "%s%s", i == 0 ? "" : " ", choices[i]);
    }
}

/* What a parameter takes: names, or a range. */
static void write_values(struct av_str *out, const struct av_param *row)
{
    switch (row->kind) {
    case AV_PARAM_CHOICE:
        write_choices(out, row->choices);
        break;
    case AV_PARAM_SEED:
        av_str_add(out, "0 .. 18446744073709551615");
        break;
    case AV_PARAM_LOGITS:
        av_str_addf(out, "1 to %d numbers a,b,c", AV_LOGITS_MAX);
        break;
    case AV_PARAM_VARIANT:
        av_str_add(out, "names joined by +");
        break;
    case AV_PARAM_VARIANT_SET:
        av_str_add(out, "all, or names with commas between");
        break;
    case AV_PARAM_INT:
    case AV_PARAM_REAL:
        av_str_addf(out, "%.10g .. %.10g%s", row->min, row->max, (row->flags & AV_PARAM_AUTO) != 0 ? ", auto" : "");
        break;
    }
}

static void write_params(struct av_str *out)
{
    struct av_params defaults;
    av_params_default(&defaults);
    size_t count;
    const struct av_param *table = av_params_table(&count);
    for (size_t i = 0; i < count; i++) {
        av_str_addf(out, "%s\t", table[i].name);
        write_values(out, &table[i]);
        av_str_add(out, "\t");
        av_param_format(&table[i], &defaults, out);
        av_str_addf(out, "\t%s\n", table[i].text);
    }
}

static void write_views(struct av_str *out)
{
    size_t count;
    const struct av_view *const *views = av_views(&count);
    for (size_t i = 0; i < count; i++) {
        av_str_addf(out, "%s\t%s\n", views[i]->name, views[i]->title);
    }
}

/* What each view shows, line by line. */
static void write_about(struct av_str *out)
{
    size_t count;
    const struct av_view *const *views = av_views(&count);
    for (size_t i = 0; i < count; i++) {
        for (const char *const *line = views[i]->about; line != NULL && *line != NULL; line++) {
            av_str_addf(out, "%s\t%s\n", views[i]->name, *line);
        }
    }
}

/* Keys of everywhere first, then those that a view adds. */
static void write_keys(struct av_str *out)
{
    size_t count;
    const struct av_action *actions = av_actions(&count);
    for (size_t i = 0; i < count; i++) {
        const struct av_action *a = &actions[i];
        av_str_addf(out, "%s\t%s\t%s\t%s\n", a->keys, a->group, a->name, a->help);
    }
    const struct av_view *const *views = av_views(&count);
    for (size_t i = 0; i < count; i++) {
        for (const struct av_view_action *a = views[i]->actions; a != NULL && a->key != NULL; a++) {
            av_str_addf(out, "%s\tview %s\t%s\t%s\n", a->key, views[i]->name, a->name, a->help);
        }
    }
}

static void write_themes(struct av_str *out)
{
    struct av_theme_entry entries[AV_THEME_LIST_MAX];
    size_t count = av_theme_list(entries, AV_THEME_LIST_MAX);
    for (size_t i = 0; i < count; i++) {
        av_str_addf(out, "%s\t%s\n", entries[i].name, av_theme_source_name(entries[i].source));
    }
}

/* The parameters of a row with their defaults: "softcap.c=50". */
static void write_owned(struct av_str *out, const struct av_variant *row)
{
    struct av_params defaults;
    av_params_default(&defaults);
    size_t count, len = strlen(row->name);
    const struct av_param *table = av_params_table(&count);
    const char *blank = "";
    for (size_t i = 0; i < count; i++) {
        if (strncmp(table[i].name, row->name, len) == 0 && table[i].name[len] == '.') {
            av_str_addf(out, "%s%s=", blank, table[i].name);
            av_param_format(&table[i], &defaults, out);
            blank = " ";
        }
    }
}

/* softmax, which is none of the table's rows, first. */
static void write_variants(struct av_str *out)
{
    size_t count;
    av_str_add(out, "softmax\t-\te^z / sum e^z\t\tVaswani et al. 2017\tnone of the rows below\n");
    const struct av_variant *rows = av_variants_table(&count);
    for (size_t i = 0; i < count; i++) {
        const struct av_variant *row = &rows[i];
        av_str_addf(out, "%s\t%s\t%s\t", row->name, av_variant_group_names[row->group], row->formula);
        write_owned(out, row);
        av_str_addf(out, "\t%s\t%s\n", row->source, row->text);
    }
    const struct av_preset *presets = av_presets_table(&count);
    for (size_t i = 0; i < count; i++) {
        av_str_addf(out, "%s\tmodel\t%s\t", presets[i].name, presets[i].variant);
        for (const char *const *a = presets[i].assignments; *a != NULL; a++) {
            av_str_addf(out, "%s%s", a == presets[i].assignments ? "" : " ", *a);
        }
        av_str_addf(out, "\t\t%s\n", presets[i].text);
    }
}

static void write_tasks(struct av_str *out)
{
    const struct av_param *row = av_param_find("task");
    for (size_t i = 0; i < AV_TASK_COUNT; i++) {
        av_str_addf(out, "%s\t%s\n", row->choices[i], av_task_texts[i]);
    }
}

static void write_fields(struct av_str *out)
{
    size_t count;
    const struct av_field *fields = av_report_fields(&count);
    for (size_t i = 0; i < count; i++) {
        av_str_addf(out, "%s\t%s\t%s\t%s\n", fields[i].block, fields[i].name, fields[i].unit, fields[i].text);
    }
}

static void write_commands(struct av_str *out)
{
    size_t count;
    const struct av_command *table = av_commands_table(&count);
    for (size_t i = 0; i < count; i++) {
        av_str_addf(out, "%s\t", table[i].name);
        if (table[i].formats != NULL) {
            write_choices(out, table[i].formats);
        }
        av_str_addf(out, "\t%s\n", table[i].text);
    }
}

static void write_options(struct av_str *out)
{
    size_t count, command_count;
    const struct av_option *table = av_options_table(&count);
    const struct av_command *commands = av_commands_table(&command_count);
    for (size_t i = 0; i < count; i++) {
        const struct av_option *row = &table[i];
        av_str_addf(out, "--%s\t", row->name);
        if (row->letter != '\0') {
            av_str_addf(out, "-%c", row->letter);
        }
        av_str_addf(out, "\t%s\t", row->arg != NULL ? row->arg : "");
        for (size_t c = 0; c < command_count; c++) {
            if ((row->commands & 1 << c) != 0) {
                av_str_addf(out, "%s ", commands[c].name);
            }
        }
        av_str_add(out, "\t");
        if (row->choices != NULL) {
            write_choices(out, row->choices);
        }
        av_str_addf(out, "\t%s\t%s\n", row->setting != NULL ? row->setting : "", row->text);
    }
}

static void write_verdicts(struct av_str *out)
{
    size_t count;
    const struct av_verdict_row *table = av_verdict_table(&count);
    for (size_t i = 0; i < count; i++) {
        const char *blank = "";
        av_str_addf(out, "%s\t", table[i].code);
        for (int severity = AV_INFO; severity <= AV_BAD; severity++) {
            if (table[i].as[severity]) {
                av_str_addf(out, "%s%s", blank, av_report_severity((enum av_severity)severity));
                blank = " ";
            }
        }
        av_str_addf(out, "\t%s\t%s\n", table[i].rule, table[i].remedy);
    }
}

/* ---- The lists ---- */

static const struct {
    const char *header;
    void (*write)(struct av_str *out);
} LISTS[] = {
    { "name\tvalues\tdefault\tmeaning", write_params },
    { "name\ttitle", write_views },
    { "keys\twhere\taction\tmeaning", write_keys },
    { "name\tsource", write_themes },
    { "name\tgroup\tformula\tparameters\tsource\tmeaning", write_variants },
    { "name\tmeaning", write_tasks },
    { "block\tfield\tunit\tmeaning", write_fields },
    { "name\tformats\tmeaning", write_commands },
    { "option\tletter\targument\tcommands\tvalues\tsetting\tmeaning", write_options },
    { "view\tmeaning", write_about },
    { "code\tseverity\trule\tremedy", write_verdicts },
};

const char *const av_list_names[] = { "params", "views",    "keys",    "themes", "variants", "tasks",
                                      "fields", "commands", "options", "about",  "verdicts", NULL };

_Static_assert(sizeof LISTS / sizeof LISTS[0] + 1 == sizeof av_list_names / sizeof av_list_names[0],
               "a name for every list");

void av_list_write(struct av_str *out, const char *name)
{
    for (size_t i = 0; av_list_names[i] != NULL; i++) {
        if (strcmp(av_list_names[i], name) == 0) {
            av_str_addf(out, "%s\n", LISTS[i].header);
            LISTS[i].write(out);
        }
    }
}
