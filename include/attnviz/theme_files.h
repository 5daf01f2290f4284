/* theme_files.h - themes by name: in the user's folder, the system's, built in. */
#ifndef ATTNVIZ_THEME_FILES_H
#define ATTNVIZ_THEME_FILES_H

#include "attnviz/theme.h"

/* Finds `name_or_path`: a path when it has a slash, else NAME.theme in the
 * user's folder ($XDG_CONFIG_HOME/attnviz/themes or ~/.config/...), in the
 * system's (AV_DATADIR/themes), else built in. NULL: AV_THEME_DEFAULT. AV_USAGE
 * when there is no theme of that name, AV_FAILED when its file cannot be read
 * or is broken, AV_NOMEM; then *t is not touched. */
enum av_status av_theme_load(struct av_theme *t, const char *name_or_path, struct av_error *e);

enum av_theme_source { AV_THEME_BUILTIN, AV_THEME_USER, AV_THEME_SYSTEM };

struct av_theme_entry {
    char name[AV_THEME_NAME_MAX];
    enum av_theme_source source; /* where av_theme_load finds it */
};

enum { AV_THEME_LIST_MAX = 64 };

/* Every name that av_theme_load finds, once each, AV_THEME_DEFAULT first, the
 * others in order of their bytes. Writes at most cap (AV_THEME_LIST_MAX is
 * plenty) and returns how many. Reads folders, opens no theme. */
size_t av_theme_list(struct av_theme_entry *entries, size_t cap);
const char *av_theme_source_name(enum av_theme_source source); /* "built in", "user", "system" */

#endif
