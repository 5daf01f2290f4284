/* fuzz_theme.c - no text at all may hurt the theme reader. */
#include "attnviz/theme.h"
#include "fuzz.h"

#include <string.h>

static void check_colors(const int16_t *colors, size_t count, int end)
{
    for (size_t i = 0; i < count; i++) {
        FUZZ_CHECK(colors[i] >= AV_COLOR_DEFAULT && colors[i] < end);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    FUZZ_CHECK(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';

    struct av_theme t;
    struct av_theme before;
    struct av_error e = { "" };
    memset(&t, 0x5A, sizeof t);
    memcpy(&before, &t, sizeof t);
    if (av_theme_parse(&t, "x", text, "x.theme", &e) == AV_OK) {
        for (size_t i = 0; i < AV_ROLE_COUNT; i++) {
            check_colors((int16_t[]){ t.roles[i].fg, t.roles[i].bg }, 2, 256);
            check_colors((int16_t[]){ t.roles[i].fg16, t.roles[i].bg16 }, 2, 16);
        }
        check_colors(t.ramp, AV_HEAT_LEVELS, 256);
        check_colors(t.ramp16, AV_HEAT_LEVELS, 16);
    } else {
        FUZZ_CHECK(memcmp(&t, &before, sizeof t) == 0);
        FUZZ_CHECK(strncmp(e.text, "x.theme:", 8) == 0 && strchr(e.text, '\n') == NULL);
    }
    free(text);
    return 0;
}
