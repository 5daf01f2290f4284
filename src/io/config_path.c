/* config_path.c - where the user's own files are. */
#include "attnviz/config_path.h"

#include <stdlib.h>

void av_config_path(struct av_str *out, const char *rest)
{
    const char *config = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    if (config != NULL && config[0] == '/') {
        av_str_addf(out, "%s/attnviz/%s", config, rest);
    } else if (home != NULL && home[0] != '\0') {
        av_str_addf(out, "%s/.config/attnviz/%s", home, rest);
    }
}
