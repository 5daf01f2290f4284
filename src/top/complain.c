/* complain.c - messages to the user on standard error. */
#include "complain.h"

#include <stdbool.h>
#include <stdio.h>

void av_complain(const char *why)
{
    fputs("attnviz: ", stderr);
    for (const char *at = why; *at != '\0'; at++) {
        bool control = (unsigned char)*at < 0x20 || *at == 0x7F;
        fputc(control ? '?' : *at, stderr);
    }
    fputc('\n', stderr);
}
