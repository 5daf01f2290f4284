/* regular.c - opening files that have a size and an end. */
#include "regular.h"

#include "shown.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/stat.h>
#include <unistd.h>

const char *av_regular_not(mode_t mode)
{
    if (S_ISREG(mode)) {
        return NULL;
    }
    return S_ISDIR(mode)    ? "is a directory"
           : S_ISFIFO(mode) ? "is a pipe: write it to a file first"
           : S_ISSOCK(mode) ? "is a socket, not a file"
                            : "is a device, not a file";
}

enum av_status av_regular_open(const char *path, int *fd, uint64_t *size, struct av_error *e)
{
    struct stat st;
    /* Without O_NONBLOCK a FIFO would block until someone writes to it. */
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0) {
        int code = errno;
        if (stat(path, &st) == 0 && S_ISSOCK(st.st_mode)) { /* which cannot be opened */
            return av_fail(e, AV_FAILED, "%s: %s", av_shown(path).text, av_regular_not(st.st_mode));
        }
        errno = code;
        return av_fail_errno(e, path);
    }
    enum av_status s = AV_OK;
    if (fstat(*fd, &st) != 0) {
        s = av_fail_errno(e, path);
    } else if (av_regular_not(st.st_mode) != NULL) {
        s = av_fail(e, AV_FAILED, "%s: %s", av_shown(path).text, av_regular_not(st.st_mode));
    } else {
        *size = (uint64_t)st.st_size;
    }
    if (s != AV_OK) {
        close(*fd);
        *fd = -1;
    }
    return s;
}
