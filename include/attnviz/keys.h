/* keys.h - keys and their names: "s", "Right", "Tab", "S-Tab", "C-l", "Space". */
#ifndef ATTNVIZ_KEYS_H
#define ATTNVIZ_KEYS_H

#include <stdint.h>

/* A key is a Unicode code point (control characters for C-a .. C-z) or one of
 * these. */
enum av_key_code {
    AV_KEY_NONE = 0,
    AV_KEY_TAB = 9,
    AV_KEY_ENTER = 13,
    AV_KEY_ESC = 27,
    AV_KEY_SPACE = 32,
    AV_KEY_BACKSPACE = 127,
    AV_KEY_UP = 0x110000, /* beyond Unicode */
    AV_KEY_DOWN,
    AV_KEY_LEFT,
    AV_KEY_RIGHT,
    AV_KEY_HOME,
    AV_KEY_END,
    AV_KEY_PGUP,
    AV_KEY_PGDN,
    AV_KEY_INSERT,
    AV_KEY_DELETE,
    AV_KEY_STAB,
    AV_KEY_F1,
    AV_KEY_F12 = AV_KEY_F1 + 11
};

#define AV_CTRL(letter) ((uint32_t)(letter)&0x1FU)

/* Key for a name, AV_KEY_NONE when there is none of that name. */
uint32_t av_key_parse(const char *name);

/* Name of a key, written to out (at least 16 bytes) and returned. */
const char *av_key_name(uint32_t key, char out[16]);

#endif
