/* harness.h - runs the program on a terminal of its own and reads its screen.
 *
 * The program under test ($ATTNVIZ, else build/attnviz) is a job of a little
 * shell in a session of its own, so that it can be stopped and brought back.
 * Everything waits for states, never for times; a wait that is in vain ends
 * after PATIENCE_MS and fails the test. */
#ifndef ATTNVIZ_HARNESS_H
#define ATTNVIZ_HARNESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <termios.h>
#include <vterm.h>

enum { PATIENCE_MS = 30000, VT_MODES = 2048, VT_ENV_MAX = 8 };

struct vt_options {
    const char *const *args;     /* of the program, NULL-terminated; NULL: none */
    const char *env[VT_ENV_MAX]; /* "NAME=VALUE", or "NAME" to unset it */
    int cols, rows;              /* 0: 80 by 24 */
    const char *input;           /* standard input is this file, not the terminal */
    bool lonely;                 /* there is no terminal at all */
    bool deaf_input;             /* standard input is the terminal, but cannot be read */
    bool background;             /* in the background, and the signals that stop it there are ignored */
};

struct vt {
    pid_t shell, pid; /* pid: the program */
    bool ended;       /* it has been waited for */
    int master, slave;
    int status_fd; /* the shell reports what waitpid says */
    int error_fd;  /* the program's standard error */
    VTerm *vterm;
    VTermScreen *screen;
    int cols, rows;
    struct termios before;
    bool mode[VT_MODES]; /* private modes that are on: 1049, 25, 1000 ... */
    struct {
        size_t state, count;
        int numbers[16];
    } parser;     /* of the sequences that set them */
    size_t bytes; /* that the program has written */
    char text[1 << 16];
    char errors[4096];
};

/* Has this machine a description of such a terminal? */
bool vt_knows(const char *term);

void vt_start(struct vt *vt, const struct vt_options *o);

/* Ends what is still running and frees everything. */
void vt_stop(struct vt *vt);

/* Reads what is there within ms; true when something was. */
bool vt_read(struct vt *vt, int ms);

/* Reads what is there within ms and forgets it: the number of bytes. For
 * timing, where keeping a screen would cost more than what is timed. */
size_t vt_skip(struct vt *vt, int ms);

/* Waits until the screen contains the text. */
void vt_see(struct vt *vt, const char *text);
void vt_see_not(struct vt *vt, const char *text);

/* Waits until the program sleeps and has nothing more to say. */
void vt_calm(struct vt *vt);

void vt_type(struct vt *vt, const char *bytes);
void vt_type_n(struct vt *vt, const char *bytes, size_t n);
void vt_resize(struct vt *vt, int cols, int rows);

/* The screen as text, lines ended by newlines; valid until the next call. */
const char *vt_text(struct vt *vt);
bool vt_has(struct vt *vt, const char *text);

/* Waits for the next change of the program's status, as waitpid tells it. */
int vt_status(struct vt *vt);

/* Waits for the same without reading what the program writes. */
int vt_status_unread(struct vt *vt);

/* Waits for the end; the exit status, or 128 + the signal. */
int vt_end(struct vt *vt);

/* Are termios, alternate screen, cursor and mouse as they were? */
void vt_assert_restored(struct vt *vt);

/* Types a key that quits: the program must end with status 0 and leave the
 * terminal as it was. Ends with vt_stop. */
void vt_quit(struct vt *vt, const char *key);

/* What the program has written to standard error so far. */
const char *vt_errors(struct vt *vt);

/* Closes the terminal's other end. */
void vt_hang_up(struct vt *vt);

/* A number from /proc/PID/status, -1 when there is none. */
long vt_proc(const struct vt *vt, const char *field);

#endif
