/* textfile.c - small text files that a user has written: settings, themes. */
#include "attnviz/textfile.h"

#include "shown.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* /dev/null is how one says "no file" where a file is asked for. */
static bool is_null_device(const struct stat *st)
{
    struct stat null;
    return S_ISCHR(st->st_mode) && stat("/dev/null", &null) == 0 && st->st_rdev == null.st_rdev;
}

static enum av_status read_all(struct av_str *text, int fd, const char *path, struct av_error *e)
{
    char block[4096];
    ssize_t got = 1;
    av_str_add(text, ""); /* an empty file is a text too */
    while (got != 0 && text->len <= AV_TEXTFILE_MAX && !text->failed) {
        got = read(fd, block, sizeof block);
        if (got > 0) {
            av_str_addn(text, block, (size_t)got);
        } else if (got < 0 && errno != EINTR) {
            return av_fail_errno(e, path);
        }
    }
    return text->failed ? av_fail_nomem(e, av_shown(path).text) : AV_OK;
}

/* What was read: is it text of the size that a user writes? */
static enum av_status check_text(const struct av_str *text, const char *path, struct av_error *e)
{
    if (text->len > AV_TEXTFILE_MAX) {
        return av_fail(e, AV_FAILED, "%s: larger than %d KiB", av_shown(path).text, AV_TEXTFILE_MAX / 1024);
    }
    if (strlen(text->text) != text->len) {
        return av_fail(e, AV_FAILED, "%s: a binary file", av_shown(path).text);
    }
    return AV_OK;
}

enum av_status av_textfile_read(struct av_str *text, const char *path, bool *missing, struct av_error *e)
{
    struct stat st;
    /* Opening a FIFO would wait for its writer, a terminal could become ours. */
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    *missing = fd < 0 && (errno == ENOENT || errno == ENOTDIR);
    if (fd < 0) {
        return av_fail_errno(e, path);
    }
    enum av_status s = AV_OK;
    if (fstat(fd, &st) != 0) {
        s = av_fail_errno(e, path);
    } else if (!S_ISREG(st.st_mode) && !is_null_device(&st)) {
        s = av_fail(e, AV_FAILED, "%s: not a regular file", av_shown(path).text);
    } else {
        s = read_all(text, fd, path, e);
    }
    close(fd);
    return s == AV_OK ? check_text(text, path, e) : s;
}
