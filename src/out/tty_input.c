/* tty_input.c - where keys come from, and how long one of them may take. */
#include "tty_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool can_be_read(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    return flags != -1 && (flags & O_ACCMODE) != O_WRONLY;
}

enum av_status av_tty_input_open(FILE **own, struct av_error *e)
{
    *own = NULL;
    if (isatty(STDIN_FILENO) && can_be_read(STDIN_FILENO)) {
        return AV_OK;
    }
    *own = fopen("/dev/tty", "r");
    return *own != NULL ? AV_OK : av_fail(e, AV_FAILED, "terminal: /dev/tty: %s", strerror(errno));
}

int av_tty_escape_delay(void)
{
    enum { USUAL = 25, MOST = 10000 };
    const char *text = getenv("ESCDELAY");
    if (text == NULL || text[0] < '0' || text[0] > '9') {
        return USUAL;
    }
    char *end;
    long delay = strtol(text, &end, 10);
    return *end == '\0' && delay <= MOST ? (int)delay : USUAL;
}
