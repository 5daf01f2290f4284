/* keys.c - keys and their names, both ways from one table. */
#include "attnviz/keys.h"

#include "attnviz/utf8.h"

#include <stdio.h>
#include <string.h>

static const struct {
    uint32_t key;
    const char *name;
} named[] = {
    { AV_KEY_TAB, "Tab" },       { AV_KEY_STAB, "S-Tab" },  { AV_KEY_ENTER, "Enter" },
    { AV_KEY_ESC, "Esc" },       { AV_KEY_SPACE, "Space" }, { AV_KEY_BACKSPACE, "Backspace" },
    { AV_KEY_UP, "Up" },         { AV_KEY_DOWN, "Down" },   { AV_KEY_LEFT, "Left" },
    { AV_KEY_RIGHT, "Right" },   { AV_KEY_HOME, "Home" },   { AV_KEY_END, "End" },
    { AV_KEY_PGUP, "PgUp" },     { AV_KEY_PGDN, "PgDn" },   { AV_KEY_INSERT, "Insert" },
    { AV_KEY_DELETE, "Delete" }, { AV_KEY_F1, "F1" },       { AV_KEY_F1 + 1, "F2" },
    { AV_KEY_F1 + 2, "F3" },     { AV_KEY_F1 + 3, "F4" },   { AV_KEY_F1 + 4, "F5" },
    { AV_KEY_F1 + 5, "F6" },     { AV_KEY_F1 + 6, "F7" },   { AV_KEY_F1 + 7, "F8" },
    { AV_KEY_F1 + 8, "F9" },     { AV_KEY_F1 + 9, "F10" },  { AV_KEY_F1 + 10, "F11" },
    { AV_KEY_F12, "F12" },
};

enum { NAMED = sizeof named / sizeof named[0] };

uint32_t av_key_parse(const char *name)
{
    for (size_t i = 0; i < NAMED; i++) {
        if (strcmp(named[i].name, name) == 0) {
            return named[i].key;
        }
    }
    if (name[0] == 'C' && name[1] == '-' && name[2] >= 'a' && name[2] <= 'z' && name[3] == '\0') {
        return AV_CTRL(name[2]);
    }
    const char *rest = name;
    uint32_t code = av_utf8_next(&rest);
    /* Exactly one printable character; a blank has its name above. */
    return code > ' ' && code != AV_KEY_BACKSPACE && *rest == '\0' ? code : AV_KEY_NONE;
}

const char *av_key_name(uint32_t key, char out[16])
{
    out[0] = '\0';
    for (size_t i = 0; i < NAMED; i++) {
        if (named[i].key == key) {
            snprintf(out, 16, "%s", named[i].name);
            return out;
        }
    }
    if (key >= AV_CTRL('a') && key <= AV_CTRL('z')) {
        snprintf(out, 16, "C-%c", (char)(key | 0x60U));
    } else if (key > ' ' && key < AV_KEY_UP) {
        char bytes[4];
        size_t n = av_utf8_put(bytes, key);
        memcpy(out, bytes, n);
        out[n] = '\0';
    }
    return out;
}
