/* harness.c - runs the program on a terminal of its own and reads its screen. */
#include "harness.h"

#include "attnviz/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <utmp.h>

#include <cmocka.h>

static long now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- The little shell --------------------------------------------------------- */

static void set_environment(const struct vt_options *o)
{
    setenv("TERM", "xterm-256color", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    for (size_t i = 0; i < VT_ENV_MAX && o->env[i] != NULL; i++) {
        char name[128];
        const char *value = strchr(o->env[i], '=');
        snprintf(name, sizeof name, "%.*s", (int)strcspn(o->env[i], "="), o->env[i]);
        if (value != NULL) {
            setenv(name, value + 1, 1);
        } else {
            unsetenv(name);
        }
    }
}

static _Noreturn void run_program(const struct vt_options *o)
{
    const char *program = getenv("ATTNVIZ");
    char *argv[32] = { NULL };
    size_t n = 0;
    program = program != NULL ? program : "build/attnviz";
    argv[n++] = strdup(program);
    for (size_t i = 0; o->args != NULL && o->args[i] != NULL && n < 31; i++) {
        argv[n++] = strdup(o->args[i]);
    }
    execv(program, argv);
    fprintf(stderr, "%s: %s\n", program, strerror(errno));
    _exit(127);
}

/* In the child: takes the terminal, starts the program as its foreground job
 * and reports every change of its status. */
static _Noreturn void be_shell(const struct vt_options *o, int slave, int status_fd, int error_fd)
{
    if (o->lonely) {
        setsid();
        int null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
    } else {
        login_tty(slave);
    }
    signal(SIGTTOU, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        if (!o->lonely && !o->background) {
            tcsetpgrp(1, getpid());
        }
        signal(SIGTTIN, o->background ? SIG_IGN : SIG_DFL);
        signal(SIGTTOU, o->background ? SIG_IGN : SIG_DFL);
        signal(SIGHUP, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        if (o->input != NULL) {
            int input = open(o->input, O_RDONLY);
            dup2(input, 0);
        }
        if (o->deaf_input) {
            dup2(open("/dev/tty", O_WRONLY), 0);
        }
        dup2(error_fd, 2);
        set_environment(o);
        run_program(o);
    }
    ssize_t done = write(status_fd, &pid, sizeof pid);
    int status = 0;
    while (done > 0 && waitpid(pid, &status, WUNTRACED) == pid) {
        done = write(status_fd, &status, sizeof status);
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            break;
        }
    }
    _exit(0);
}

bool vt_knows(const char *term)
{
    char command[128];
    snprintf(command, sizeof command, "infocmp '%s' >/dev/null 2>&1", term);
    return system(command) == 0;
}

void vt_start(struct vt *vt, const struct vt_options *o)
{
    int status[2], error[2];
    memset(vt, 0, sizeof *vt);
    vt->cols = o->cols > 0 ? o->cols : 80;
    vt->rows = o->rows > 0 ? o->rows : 24;
    struct winsize size = { (unsigned short)vt->rows, (unsigned short)vt->cols, 0, 0 };
    assert_int_equal(openpty(&vt->master, &vt->slave, NULL, NULL, &size), 0);
    tcgetattr(vt->slave, &vt->before);
    assert_int_equal(pipe(status), 0);
    assert_int_equal(pipe(error), 0);
    vt->vterm = vterm_new(vt->rows, vt->cols);
    vterm_set_utf8(vt->vterm, 1);
    vt->screen = vterm_obtain_screen(vt->vterm);
    vterm_screen_enable_altscreen(vt->screen, 1);
    vterm_screen_reset(vt->screen, 1);
    vt->mode[25] = true;
    vt->shell = fork();
    assert_true(vt->shell >= 0);
    if (vt->shell == 0) {
        close(vt->master);
        close(status[0]);
        close(error[0]);
        be_shell(o, vt->slave, status[1], error[1]);
    }
    close(status[1]);
    close(error[1]);
    vt->status_fd = status[0];
    vt->error_fd = error[0];
    fcntl(vt->error_fd, F_SETFL, O_NONBLOCK);
    assert_int_equal(read(vt->status_fd, &vt->pid, sizeof vt->pid), sizeof vt->pid);
}

void vt_stop(struct vt *vt)
{
    if (!vt->ended) {
        kill(vt->pid, SIGKILL);
    }
    if (vt->master >= 0) {
        close(vt->master);
        close(vt->slave);
    }
    waitpid(vt->shell, NULL, 0);
    close(vt->status_fd);
    close(vt->error_fd);
    vterm_free(vt->vterm);
}

/* ---- Reading ---------------------------------------------------------------------- */

/* Notes CSI ? n ; n h (on) and l (off). */
static void watch_modes(struct vt *vt, const char *bytes, size_t n)
{
    static const char start[] = "\033[?";
    const size_t numbers = sizeof vt->parser.numbers / sizeof vt->parser.numbers[0];
    for (size_t i = 0; i < n; i++) {
        char c = bytes[i];
        if (vt->parser.state < 3) {
            vt->parser.state = c == start[vt->parser.state] ? vt->parser.state + 1 : c == start[0] ? 1 : 0;
            vt->parser.count = 0;
            vt->parser.numbers[0] = 0;
            continue;
        }
        int *number = &vt->parser.numbers[vt->parser.count];
        if (c >= '0' && c <= '9' && *number < VT_MODES) {
            *number = *number * 10 + c - '0';
            continue;
        }
        if (c == ';' && vt->parser.count + 1 < numbers) {
            vt->parser.numbers[++vt->parser.count] = 0;
            continue;
        }
        for (size_t k = 0; (c == 'h' || c == 'l') && k <= vt->parser.count; k++) {
            if (vt->parser.numbers[k] < VT_MODES) {
                vt->mode[vt->parser.numbers[k]] = c == 'h';
            }
        }
        vt->parser.state = 0;
    }
}

/* What is there within ms; 0 when nothing is. */
static size_t take(struct vt *vt, int ms, char *bytes, size_t size)
{
    struct pollfd p = { vt->master, POLLIN, 0 };
    if (poll(&p, 1, ms) <= 0 || (p.revents & POLLIN) == 0) {
        return 0;
    }
    ssize_t n = read(vt->master, bytes, size);
    vt->bytes += n > 0 ? (size_t)n : 0;
    return n > 0 ? (size_t)n : 0;
}

bool vt_read(struct vt *vt, int ms)
{
    char bytes[65536];
    size_t n = take(vt, ms, bytes, sizeof bytes);
    watch_modes(vt, bytes, n);
    vterm_input_write(vt->vterm, bytes, n);
    return n > 0;
}

size_t vt_skip(struct vt *vt, int ms)
{
    char bytes[65536];
    return take(vt, ms, bytes, sizeof bytes);
}

const char *vt_text(struct vt *vt)
{
    size_t len = 0;
    for (int y = 0; y < vt->rows; y++) {
        for (int x = 0; x < vt->cols && len + 16 < sizeof vt->text; x++) {
            VTermScreenCell cell;
            VTermPos at = { y, x };
            vterm_screen_get_cell(vt->screen, at, &cell);
            if (cell.chars[0] != (uint32_t)-1) { /* the right half of a wide character */
                len += av_utf8_put(vt->text + len, cell.chars[0] != 0 ? cell.chars[0] : ' ');
            }
        }
        vt->text[len++] = '\n';
    }
    vt->text[len] = '\0';
    return vt->text;
}

bool vt_has(struct vt *vt, const char *text)
{
    return strstr(vt_text(vt), text) != NULL;
}

const char *vt_errors(struct vt *vt)
{
    size_t len = strlen(vt->errors);
    ssize_t n = read(vt->error_fd, vt->errors + len, sizeof vt->errors - 1 - len);
    vt->errors[len + (n > 0 ? (size_t)n : 0)] = '\0';
    return vt->errors;
}

/* ---- Waiting ------------------------------------------------------------------------- */

static void wait_for(struct vt *vt, const char *text, bool there)
{
    long end = now_ms() + PATIENCE_MS;
    while (vt_has(vt, text) != there) {
        vt_read(vt, 100);
        if (now_ms() > end) {
            fail_msg("%s \"%s\" in\n%s%s", there ? "no" : "still", text, vt_text(vt), vt_errors(vt));
        }
    }
}

void vt_see(struct vt *vt, const char *text)
{
    wait_for(vt, text, true);
}

void vt_see_not(struct vt *vt, const char *text)
{
    wait_for(vt, text, false);
}

/* Sleeping twice in a row with nothing said between: it waits in poll. */
void vt_calm(struct vt *vt)
{
    long end = now_ms() + PATIENCE_MS;
    int calm = 0;
    while (calm < 3 && now_ms() < end) {
        bool said = vt_read(vt, 30);
        char path[64], state = '?';
        snprintf(path, sizeof path, "/proc/%d/stat", (int)vt->pid);
        FILE *f = fopen(path, "r");
        if (f != NULL) {
            if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1) {
                state = '?';
            }
            fclose(f);
        }
        calm = !said && state == 'S' ? calm + 1 : 0;
    }
    if (calm < 3) {
        fail_msg("it does not come to rest\n%s%s", vt_text(vt), vt_errors(vt));
    }
}

/* The next change of status within ms; false when there is none. */
static bool take_status(struct vt *vt, int ms, int *status)
{
    struct pollfd p = { vt->status_fd, POLLIN, 0 };
    if (poll(&p, 1, ms) <= 0) {
        return false;
    }
    assert_int_equal(read(vt->status_fd, status, sizeof *status), sizeof *status);
    vt->ended = WIFEXITED(*status) || WIFSIGNALED(*status);
    return true;
}

int vt_status_unread(struct vt *vt)
{
    int status = 0;
    if (!take_status(vt, PATIENCE_MS, &status)) {
        fail_msg("it does not end or stop while nobody reads");
    }
    return status;
}

int vt_status(struct vt *vt)
{
    long end = now_ms() + PATIENCE_MS;
    int status = 0;
    while (!take_status(vt, 0, &status)) {
        if (vt->master >= 0) {
            vt_read(vt, 20);
        }
        if (now_ms() > end) {
            fail_msg("it does not end or stop\n%s", vt_text(vt));
        }
    }
    while (vt->master >= 0 && vt_read(vt, 20)) {
    }
    return status;
}

int vt_end(struct vt *vt)
{
    int status = vt_status(vt);
    while (WIFSTOPPED(status)) {
        status = vt_status(vt);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- Acting ---------------------------------------------------------------------------- */

void vt_type_n(struct vt *vt, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(vt->master, bytes, n);
        assert_true(done > 0);
        bytes += done;
        n -= (size_t)done;
        vt_read(vt, 0);
    }
}

void vt_type(struct vt *vt, const char *bytes)
{
    vt_type_n(vt, bytes, strlen(bytes));
}

void vt_resize(struct vt *vt, int cols, int rows)
{
    struct winsize size = { (unsigned short)rows, (unsigned short)cols, 0, 0 };
    vt->cols = cols;
    vt->rows = rows;
    vterm_set_size(vt->vterm, rows, cols);
    assert_int_equal(ioctl(vt->master, TIOCSWINSZ, &size), 0);
}

void vt_quit(struct vt *vt, const char *key)
{
    vt_type(vt, key);
    assert_int_equal(vt_end(vt), 0);
    vt_assert_restored(vt);
    vt_stop(vt);
}

void vt_hang_up(struct vt *vt)
{
    close(vt->master);
    close(vt->slave);
    vt->master = -1;
}

/* ---- Looking ------------------------------------------------------------------------------ */

void vt_assert_restored(struct vt *vt)
{
    struct termios now;
    tcgetattr(vt->slave, &now);
    assert_int_equal(now.c_iflag, vt->before.c_iflag);
    assert_int_equal(now.c_oflag, vt->before.c_oflag);
    assert_int_equal(now.c_lflag, vt->before.c_lflag);
    assert_memory_equal(now.c_cc, vt->before.c_cc, sizeof now.c_cc);
    static const int off[] = { 1, 47, 1000, 1002, 1003, 1005, 1006, 1015, 1047, 1049, 2004 };
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++) {
        if (vt->mode[off[i]]) {
            fail_msg("mode %d is still on", off[i]);
        }
    }
    assert_true(vt->mode[25]);
}

long vt_proc(const struct vt *vt, const char *field)
{
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)vt->pid);
    FILE *f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        size_t len = strlen(field);
        if (strncmp(line, field, len) == 0 && line[len] == ':') {
            value = strtol(line + len + 1, NULL, 10);
        }
    }
    if (f != NULL) {
        fclose(f);
    }
    return value;
}
