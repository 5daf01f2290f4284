/* test_outfile.c - files appear whole or not at all. */
#include "attnviz/outfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Every test runs in a folder of its own. */
static char folder[64];
static int home;

static int enter_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/attnviz-test-XXXXXX");
    home = open(".", O_RDONLY | O_CLOEXEC);
    return mkdtemp(folder) != NULL && home >= 0 && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    DIR *dir = opendir(".");
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (unlink(entry->d_name) != 0) {
            rmdir(entry->d_name);
        }
    }
    closedir(dir);
    int back = fchdir(home);
    close(home);
    return back == 0 ? rmdir(folder) : -1;
}

static size_t files_here(void)
{
    size_t count = 0;
    DIR *dir = opendir(".");
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(dir);
    return count;
}

static void check_content(const char *path, const char *text)
{
    char content[64] = { 0 };
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_true(read(fd, content, sizeof content - 1) >= 0);
    close(fd);
    assert_string_equal(content, text);
}

static mode_t mode_of(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void save(const char *path, const char *text, bool replace)
{
    struct av_error e = { "" };
    if (av_outfile_write(path, text, strlen(text), replace, &e) != AV_OK) {
        fail_msg("%s", e.text);
    }
}

static void check_refused(const char *path, bool replace, const char *message)
{
    struct av_error e = { "" };
    assert_int_equal(av_outfile_write(path, "new", 3, replace, &e), AV_FAILED);
    assert_string_equal(e.text, message);
}

static void new_files(void **state)
{
    (void)state;
    mode_t mask = umask(027);
    save("a", "one", true);
    save("b", "", false);
    umask(mask);
    check_content("a", "one");
    check_content("b", "");
    assert_int_equal(mode_of("a"), 0640);
    assert_int_equal(mode_of("b"), 0640);
    assert_int_equal(files_here(), 2);
}

static void replacing_keeps_the_mode(void **state)
{
    (void)state;
    save("a", "a longer text", true);
    assert_int_equal(chmod("a", 0604), 0);
    save("a", "two", true);
    check_content("a", "two");
    assert_int_equal(mode_of("a"), 0604);
    assert_int_equal(files_here(), 1);
}

static void nothing_is_replaced_unasked(void **state)
{
    (void)state;
    save("a", "old", true);
    assert_int_equal(symlink("nowhere", "link"), 0);
    check_refused("a", false, "a: exists already");
    check_refused("link", false, "link: exists already");
    check_refused(".", false, ".: exists already");
    check_content("a", "old");
    assert_int_equal(files_here(), 2);
}

static void links_are_written_through(void **state)
{
    (void)state;
    struct stat st;
    assert_int_equal(mkdir("sub", 0700), 0);
    assert_int_equal(symlink("sub/second", "first"), 0);
    assert_int_equal(symlink("../target", "sub/second"), 0);
    save("first", "new target", true); /* which did not exist */
    check_content("target", "new target");
    save("first", "again", true);
    check_content("target", "again");
    assert_int_equal(lstat("first", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(unlink("sub/second"), 0);

    assert_int_equal(symlink("loop", "loop"), 0);
    check_refused("loop", true, "loop: Too many levels of symbolic links");
}

static void places_that_cannot_be_written(void **state)
{
    (void)state;
    assert_int_equal(mkdir("sub", 0700), 0);
    check_refused("sub", true, "sub: Is a directory");
    check_refused("none/a", true, "none/a: No such file or directory");
    check_refused("none/a", false, "none/a: No such file or directory");
    save("a", "old", true);
    check_refused("a/b", true, "a/b: Not a directory");
    if (geteuid() != 0) { /* root may write everywhere */
        assert_int_equal(chmod("a", 0444), 0);
        check_refused("a", true, "a: Permission denied");
        assert_int_equal(chmod("sub", 0500), 0);
        check_refused("sub/a", true, "sub/a: Permission denied");
    }
    check_content("a", "old");
    assert_int_equal(files_here(), 2);
}

/* A limit on the size of files fails a write in its middle, as a full disk
 * does, once the signal that comes with it is ignored. */
static void a_full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    static char large[100000];
    struct rlimit was;
    struct av_error e = { "" };
    save("a", "old", true);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 65536, was.rlim_max }), 0);
    enum av_status replaced = av_outfile_write("a", large, sizeof large, true, &e);
    enum av_status created = av_outfile_write("b", large, sizeof large, false, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(replaced, AV_FAILED);
    assert_int_equal(created, AV_FAILED);
    assert_string_equal(e.text, "a: File too large");
    check_content("a", "old");
    assert_int_equal(files_here(), 1);
}

static void devices_and_pipes_are_written_in_place(void **state)
{
    (void)state;
    save("/dev/null", "gone", true);
    struct stat st;
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    if (access("/dev/full", W_OK) == 0) {
        check_refused("/dev/full", true, "/dev/full: No space left on device");
    }

    assert_int_equal(mkfifo("pipe", 0600), 0);
    int reader = open("pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(reader >= 0);
    save("pipe", "through", true);
    char got[16] = { 0 };
    assert_int_equal(read(reader, got, sizeof got), 7);
    assert_string_equal(got, "through");
    close(reader);
}

/* ---- standard output --------------------------------------------------- */

/* Writes to `fd` as standard output. */
static enum av_status write_as_stdout(int fd, const char *path, const char *data, size_t size, struct av_error *e)
{
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    assert_true(kept >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
    enum av_status s = av_outfile_write(path, data, size, false, e);
    dup2(kept, STDOUT_FILENO);
    close(kept);
    return s;
}

/* A child that reads until the end of the pipe and tells by its exit status
 * whether that was `size` bytes. */
static pid_t start_reader(const int ends[2], size_t size)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char buffer[1000];
        size_t total = 0;
        close(ends[1]);
        for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) {
            total += (size_t)n;
        }
        _exit(total == size ? 0 : 1);
    }
    close(ends[0]);
    return child;
}

static int exit_status(pid_t child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* A pipe in non-blocking mode holds less than this: writes are short, then
 * would block. */
static void short_writes_go_on(void **state)
{
    (void)state;
    static char large[1000000];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    pid_t reader = start_reader(ends, sizeof large);
    enum av_status s = write_as_stdout(ends[1], "-", large, sizeof large, NULL);
    close(ends[1]);
    assert_int_equal(s, AV_OK);
    assert_int_equal(exit_status(reader), 0);
}

/* Of many that create the same file at the same time one succeeds. */
static void only_one_creates_a_file(void **state)
{
    (void)state;
    enum { WRITERS = 8 };
    pid_t writers[WRITERS];
    int gate[2];
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = fork();
        assert_true(writers[i] >= 0);
        if (writers[i] == 0) {
            char byte;
            close(gate[1]);
            ssize_t opened = read(gate[0], &byte, 1); /* until the parent closes the gate */
            _exit(opened == 0 && av_outfile_write("a", "mine", 4, false, NULL) == AV_OK ? 0 : 1);
        }
    }
    close(gate[0]);
    close(gate[1]);
    int refused = 0;
    for (int i = 0; i < WRITERS; i++) {
        refused += exit_status(writers[i]);
    }
    assert_int_equal(refused, WRITERS - 1);
    check_content("a", "mine");
    assert_int_equal(files_here(), 1);
}

static void a_reader_that_left_is_no_failure(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    enum av_status s = write_as_stdout(ends[1], NULL, "text", 4, NULL);
    signal(SIGPIPE, SIG_DFL);
    close(ends[1]);
    assert_int_equal(s, AV_OK);
}

static void a_full_standard_output(void **state)
{
    (void)state;
    struct av_error e = { "" };
    int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (fd < 0) {
        print_message("no /dev/full: skipped\n");
        skip();
    }
    enum av_status s = write_as_stdout(fd, "-", "text", 4, &e);
    close(fd);
    assert_int_equal(s, AV_FAILED);
    assert_string_equal(e.text, "standard output: No space left on device");
}

/* Ended by a signal at any moment: one whole file, nothing beside it. */
static void a_signal_leaves_whole_files(void **state)
{
    (void)state;
    static const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    for (int round = 0; round < 40; round++) {
        int signo = deadly[round % 4];
        save("x", "old", true);
        pid_t child = fork();
        if (child == 0) {
            signal(signo, SIG_DFL);
            setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
            while (av_outfile_write("x", "new", 3, true, NULL) == AV_OK) {
            }
            _exit(1);
        }
        int status;
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 + 10007L * round }, NULL);
        assert_int_equal(kill(child, signo), 0);
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signo);
        struct stat st;
        assert_int_equal(files_here(), 1);
        assert_int_equal(stat("x", &st), 0);
        assert_int_equal(st.st_size, 3); /* the old or the new */
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(new_files),
        TEST(replacing_keeps_the_mode),
        TEST(nothing_is_replaced_unasked),
        TEST(links_are_written_through),
        TEST(places_that_cannot_be_written),
        TEST(a_full_disk_leaves_the_old_file),
        TEST(devices_and_pipes_are_written_in_place),
        TEST(short_writes_go_on),
        TEST(only_one_creates_a_file),
        TEST(a_reader_that_left_is_no_failure),
        TEST(a_full_standard_output),
        TEST(a_signal_leaves_whole_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
