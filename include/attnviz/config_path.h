/* config_path.h - where the user's own files are. */
#ifndef ATTNVIZ_CONFIG_PATH_H
#define ATTNVIZ_CONFIG_PATH_H

#include "attnviz/strbuf.h"

/* Appends $XDG_CONFIG_HOME/attnviz/REST, or $HOME/.config/attnviz/REST when that
 * variable is unset, empty or relative (which the XDG Base Directory
 * Specification says to ignore). Appends nothing when there is no HOME either. */
void av_config_path(struct av_str *out, const char *rest);

#endif
