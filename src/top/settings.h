/* settings.h - the user's settings file.
 *
 * Text, one `name = value` a line, # starts a comment line. A name is a
 * parameter's or one of the settings in the table of options (theme, color,
 * charset, animation ...). */
#ifndef ATTNVIZ_SETTINGS_H
#define ATTNVIZ_SETTINGS_H

#include "options.h"

/* Reads o->config, or the file `config` of the user's folder (config_path.h),
 * and sets what it says. No usual file is no error. A line that cannot be used:
 * AV_USAGE, `file:line: what`. */
enum av_status av_settings_read(struct av_options *o, struct av_error *e);

/* The same from text, which is cut up and must live as long as o; `where`
 * names it in messages. */
enum av_status av_settings_parse(struct av_options *o, char *text, const char *where, struct av_error *e);

#endif
