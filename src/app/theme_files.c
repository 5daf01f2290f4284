/* theme_files.c - themes by name: the user's folder, the system's, built in. */
#include "attnviz/theme_files.h"

#include "attnviz/config_path.h"
#include "attnviz/textfile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char suffix[] = ".theme";
enum { SUFFIX_LEN = sizeof suffix - 1 };

/* The folder where themes of a source are, "" when it has none. */
static void add_folder(struct av_str *path, enum av_theme_source source)
{
    if (source == AV_THEME_SYSTEM) {
        av_str_add(path, AV_DATADIR "/themes");
    } else {
        av_config_path(path, "themes");
    }
}

/* Length of a theme's name in a path: without folders and suffix. */
static const char *base_name(const char *path, size_t *len)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    *len = strlen(base);
    if (*len > SUFFIX_LEN && strcmp(base + *len - SUFFIX_LEN, suffix) == 0) {
        *len -= SUFFIX_LEN;
    }
    return base;
}

/* Reads and parses the file. *missing: there is no such file. */
static enum av_status load_file(struct av_theme *t, const char *path, bool *missing, struct av_error *e)
{
    struct av_str text = AV_STR_INIT;
    enum av_status status = av_textfile_read(&text, path, missing, e);
    if (status == AV_OK) {
        char name[AV_THEME_NAME_MAX];
        size_t len;
        const char *base = base_name(path, &len);
        snprintf(name, sizeof name, "%.*s", (int)(len < sizeof name ? len : sizeof name - 1), base);
        status = av_theme_parse(t, name, text.text, path, e);
    }
    av_str_free(&text);
    return status;
}

/* Loads NAME.theme from a source's folder. */
static enum av_status load_from(struct av_theme *t, enum av_theme_source source, const char *name, bool *missing,
                                struct av_error *e)
{
    struct av_str path = AV_STR_INIT;
    add_folder(&path, source);
    *missing = path.len == 0 && !path.failed;
    av_str_addf(&path, "/%s%s", name, suffix);
    enum av_status status = AV_FAILED;
    if (path.failed) {
        status = av_fail_nomem(e, "theme");
    } else if (!*missing) {
        status = load_file(t, path.text, missing, e);
    }
    av_str_free(&path);
    return status;
}

enum av_status av_theme_load(struct av_theme *t, const char *name_or_path, struct av_error *e)
{
    const char *name = name_or_path != NULL ? name_or_path : AV_THEME_DEFAULT;
    bool missing;
    if (strchr(name, '/') != NULL) {
        return load_file(t, name, &missing, e);
    }
    static const enum av_theme_source folders[] = { AV_THEME_USER, AV_THEME_SYSTEM };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        enum av_status status = load_from(t, folders[i], name, &missing, e);
        if (!missing) {
            return status;
        }
    }
    const char *text = av_theme_builtin_text(name);
    if (text == NULL) {
        return av_fail(e, AV_USAGE, "theme '%s': there is none of that name (--list themes shows what there is)", name);
    }
    return av_theme_parse(t, name, text, name, e);
}

/* --- list ----------------------------------------------------------------- */

const char *av_theme_source_name(enum av_theme_source source)
{
    static const char *const names[] = {
        [AV_THEME_BUILTIN] = "built in", [AV_THEME_USER] = "user", [AV_THEME_SYSTEM] = "system"
    };
    return names[source];
}

/* Adds a name unless a nearer source has it or the list is full. */
static size_t add_entry(struct av_theme_entry *entries, size_t count, size_t cap, const char *name, size_t len,
                        enum av_theme_source source)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(entries[i].name, name, len) == 0 && entries[i].name[len] == '\0') {
            return count;
        }
    }
    if (count < cap) {
        entries[count].source = source;
        memcpy(entries[count].name, name, len);
        entries[count].name[len] = '\0';
        count++;
    }
    return count;
}

static size_t list_folder(struct av_theme_entry *entries, size_t count, size_t cap, enum av_theme_source source)
{
    struct av_str path = AV_STR_INIT;
    add_folder(&path, source);
    DIR *folder = path.len > 0 && !path.failed ? opendir(path.text) : NULL;
    av_str_free(&path);
    if (folder == NULL) {
        return count;
    }
    for (struct dirent *file = readdir(folder); file != NULL; file = readdir(folder)) {
        size_t len;
        const char *base = base_name(file->d_name, &len);
        if (len < strlen(file->d_name) && len < AV_THEME_NAME_MAX) {
            count = add_entry(entries, count, cap, base, len, source);
        }
    }
    closedir(folder);
    return count;
}

static int compare_entries(const void *a, const void *b)
{
    const struct av_theme_entry *x = a, *y = b;
    int x_late = strcmp(x->name, AV_THEME_DEFAULT) != 0;
    int y_late = strcmp(y->name, AV_THEME_DEFAULT) != 0;
    return x_late != y_late ? x_late - y_late : strcmp(x->name, y->name);
}

size_t av_theme_list(struct av_theme_entry *entries, size_t cap)
{
    size_t count = list_folder(entries, 0, cap, AV_THEME_USER);
    count = list_folder(entries, count, cap, AV_THEME_SYSTEM);
    const char *name;
    for (size_t i = 0; (name = av_theme_builtin_name(i)) != NULL; i++) {
        count = add_entry(entries, count, cap, name, strlen(name), AV_THEME_BUILTIN);
    }
    qsort(entries, count, sizeof *entries, compare_entries);
    return count;
}
