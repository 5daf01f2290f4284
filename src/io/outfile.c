/* outfile.c - files that are written whole or not at all. */
#include "attnviz/outfile.h"

#include "attnviz/strbuf.h"
#include "shown.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40, NAMES_TRIED = 100 };

static enum av_status fail_exists(struct av_error *e, const char *path)
{
    return av_fail(e, AV_FAILED, "%s: exists already", av_shown(path).text);
}

/* ---- bytes to a descriptor -------------------------------------------- */

/* False with errno set when not all could be written. Waits where the
 * descriptor is in non-blocking mode, which a terminal may share with others. */
static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, data, size);
        if (n >= 0) {
            data += n;
            size -= (size_t)n;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* Writes and closes; some file systems report a full disk only on closing. */
static bool write_and_close(int fd, const char *data, size_t size)
{
    bool written = write_all(fd, data, size);
    int why = errno;
    if (close(fd) != 0 && written && errno != EINTR) {
        return false;
    }
    errno = why;
    return written;
}

static enum av_status write_stdout(const char *data, size_t size, struct av_error *e)
{
    if (write_all(STDOUT_FILENO, data, size) || errno == EPIPE) {
        return AV_OK;
    }
    return av_fail(e, AV_FAILED, "standard output: %s", strerror(errno));
}

/* A device or a FIFO: nothing to keep, nothing to rename. */
static enum av_status write_in_place(const char *path, const char *data, size_t size, struct av_error *e)
{
    int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    if (fd < 0) {
        return av_fail_errno(e, path);
    }
    return write_and_close(fd, data, size) || errno == EPIPE ? AV_OK : av_fail_errno(e, path);
}

/* ---- a file and the one beside it ------------------------------------- */

/* Adds path up to and with its last '/': the directory it is in. */
static void add_directory(struct av_str *out, const char *path)
{
    const char *slash = strrchr(path, '/');
    av_str_addn(out, path, slash != NULL ? (size_t)(slash - path) + 1 : 0);
}

/* The path that `path` leads to through symbolic links, which need not exist.
 * False with errno set. */
static bool follow_links(struct av_str *target, const char *path)
{
    av_str_add(target, path);
    for (int i = 0; i < LINKS_MAX && !target->failed; i++) {
        char link[PATH_MAX];
        ssize_t n = readlink(av_str_text(target), link, sizeof link);
        if (n < 0) {
            return true; /* no link; what is wrong with it shows on opening */
        }
        struct av_str next = AV_STR_INIT;
        if (n > 0 && link[0] != '/') {
            add_directory(&next, av_str_text(target));
        }
        av_str_addn(&next, link, (size_t)n);
        av_str_free(target);
        *target = next;
    }
    errno = target->failed ? ENOMEM : ELOOP;
    return false;
}

/* Creates a file of an unused name beside target, with the mode that a new
 * file gets (mkstemp's would be private). -1 with errno set. */
static int create_beside(struct av_str *name, const char *target)
{
    for (int i = 0; i < NAMES_TRIED; i++) {
        av_str_clear(name);
        add_directory(name, target);
        av_str_addf(name, ".attnviz-%ld-%d.tmp", (long)getpid(), i);
        if (name->failed) {
            errno = ENOMEM;
            return -1;
        }
        int fd = open(name->text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) {
            return fd;
        }
    }
    return -1;
}

/* Takes over owner and mode of the file that is replaced. Only root may give
 * a file away, and a file with our owner is better than none. */
static bool keep_mode(int fd, const struct stat *old)
{
    if (old->st_uid != geteuid() || old->st_gid != getegid()) {
        int ignored = fchown(fd, old->st_uid, old->st_gid);
        (void)ignored;
    }
    return fchmod(fd, old->st_mode & 07777) == 0;
}

/* Gives the finished file its name, unless that name is taken. link() cannot
 * replace; where a file system has no links, the name is reserved first. */
static bool publish_new(const char *temporary, const char *target)
{
    if (link(temporary, target) == 0) {
        unlink(temporary);
        return true;
    }
    if (errno != EPERM && errno != ENOSYS && errno != ENOTSUP) {
        return false;
    }
    int fd = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0) {
        return false;
    }
    close(fd);
    if (rename(temporary, target) != 0) {
        int why = errno;
        unlink(target);
        errno = why;
        return false;
    }
    return true;
}

/* Holds back what a user or a system ends a program with, until the temporary
 * file is gone or has its name. */
static void hold_signals(sigset_t *before)
{
    static const int held[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof held / sizeof held[0]; i++) {
        sigaddset(&set, held[i]);
    }
    sigprocmask(SIG_BLOCK, &set, before);
}

/* old: what stands at target, NULL when nothing does. False with errno set,
 * and nothing has changed. */
static bool write_beside(const char *target, const struct stat *old, const char *data, size_t size, bool replace)
{
    struct av_str temporary = AV_STR_INIT;
    sigset_t before;
    hold_signals(&before);
    int fd = create_beside(&temporary, target);
    bool done = false;
    if (fd >= 0) {
        bool ready = old == NULL || keep_mode(fd, old);
        done = write_and_close(fd, data, ready ? size : 0) && ready;
        done = done && (replace ? rename(temporary.text, target) == 0 : publish_new(temporary.text, target));
        if (!done) {
            int why = errno;
            unlink(temporary.text);
            errno = why;
        }
    }
    int why = errno;
    av_str_free(&temporary);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return done;
}

static enum av_status write_new(const char *path, const char *data, size_t size, struct av_error *e)
{
    struct stat st;
    if (lstat(path, &st) == 0) {
        return fail_exists(e, path);
    }
    if (!write_beside(path, NULL, data, size, false)) {
        return errno == EEXIST ? fail_exists(e, path) : av_fail_errno(e, path);
    }
    return AV_OK;
}

enum av_status av_outfile_write(const char *path, const char *data, size_t size, bool replace, struct av_error *e)
{
    if (path == NULL || strcmp(path, "-") == 0) {
        return write_stdout(data, size, e);
    }
    if (!replace) {
        return write_new(path, data, size, e);
    }
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && !S_ISREG(st.st_mode)) {
        return write_in_place(path, data, size, e);
    }
    /* A rename would also replace what must not be written to. */
    if (exists && access(path, W_OK) != 0) {
        return av_fail_errno(e, path);
    }
    struct av_str target = AV_STR_INIT;
    enum av_status s = AV_OK;
    if (!follow_links(&target, path) || !write_beside(target.text, exists ? &st : NULL, data, size, true)) {
        s = av_fail_errno(e, path);
    }
    av_str_free(&target);
    return s;
}
