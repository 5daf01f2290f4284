/* status.h - what a function that can fail returns, and where it puts the reason.
 *
 * A function that can fail returns an av_status and, unless it is AV_OK, has
 * written one line (no newline, no program name) into the caller's av_error.
 * Nothing below main exits, prints or aborts. */
#ifndef ATTNVIZ_STATUS_H
#define ATTNVIZ_STATUS_H

enum av_status {
    AV_OK = 0,
    AV_FAILED,      /* the world said no: file, memory, terminal; exit status 1 */
    AV_USAGE,       /* the caller's words are wrong; exit status 2 */
    AV_NOMEM,       /* allocation failed, the old state stands; exit status 1 */
    AV_INTERRUPTED, /* the user wants no more of it; exit status 130, nothing to tell */
    AV_FOUND        /* all went well, and what was looked for was found; exit status 3 */
};

enum { AV_ERROR_MAX = 512 };

struct av_error {
    char text[AV_ERROR_MAX]; /* UTF-8, NUL-terminated, cut at a character */
};

#if defined(__GNUC__)
#define AV_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define AV_PRINTF(fmt, args)
#endif

/* Writes the message into e (may be NULL) and returns s, so that a failing
 * function can end with `return av_fail(e, AV_FAILED, "...", ...)`. */
enum av_status av_fail(struct av_error *e, enum av_status s, const char *fmt, ...) AV_PRINTF(3, 4);

/* The message for a failed allocation of what (for example "weights"). */
enum av_status av_fail_nomem(struct av_error *e, const char *what);

#endif
