/* bench_latency.c - from a key press to the last byte that it causes.
 *
 * Runs the program on terminals of two sizes with 128 queries and keys, presses
 * keys one at a time and prints the median and the 95th percentile of the time
 * until the screen is complete, and the bytes a key costs. An answer is
 * complete when nothing more has come for QUIET_MS; the time is that of the
 * last byte. Not a test: figures depend on the machine. */
#include "../terminal/harness.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 40, QUIET_MS = 25, PRESSES_MAX = 1024 };

struct answer {
    double ms;
    size_t bytes;
};

/* One per kind of work: what is stale, and how much of the screen changes. */
static const struct {
    const char *what;
    const char *keys; /* pressed one after another, round and round */
} kinds[] = {
    { "scale on and off", "s" },         { "temperature", "tT" }, { "next parameter", "\x0e" },
    { "d_k doubled and halved", "Dd" },  { "new seed", "r" },     { "next view", "\t" },
    { "cursor in the heatmap", "jlkh" },
};

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct answer press(struct vt *vt, const char *key, size_t n)
{
    size_t before = vt->bytes;
    double start = now_ms();
    struct answer a = { 0, 0 };
    if (write(vt->master, key, n) != (ssize_t)n) {
        perror("bench_latency: write");
        exit(1);
    }
    while (vt_skip(vt, QUIET_MS) > 0) {
        a.ms = now_ms() - start;
    }
    a.bytes = vt->bytes - before;
    return a;
}

static int by_time(const void *a, const void *b)
{
    double x = ((const struct answer *)a)->ms, y = ((const struct answer *)b)->ms;
    return (x > y) - (x < y);
}

static void report(const char *what, struct answer *answers, size_t n)
{
    double bytes = 0;
    for (size_t i = 0; i < n; i++) {
        bytes += (double)answers[i].bytes / (double)n;
    }
    qsort(answers, n, sizeof *answers, by_time);
    printf("    %-24s %7.2f %7.2f %9.0f\n", what, answers[n / 2].ms, answers[n * 95 / 100].ms, bytes);
}

/* budget: ms that the 95th percentile over all keys should stay within. */
static void measure(int cols, int rows, int budget)
{
    static const char *const args[] = { "--no-config", "--no-animation", "-s", "n_q=128", "-s", "n_k=128", NULL };
    struct vt_options o = { .args = args, .cols = cols, .rows = rows };
    struct answer all[PRESSES_MAX];
    size_t count = 0;
    struct vt vt;
    vt_start(&vt, &o);
    vt_see(&vt, "? help");
    printf("%dx%d, 128 queries and keys\n    %-24s %7s %7s %9s\n", cols, rows, "key", "p50 ms", "p95 ms", "bytes");
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        struct answer own[ROUNDS];
        size_t keys = strlen(kinds[k].keys);
        bool down = kinds[k].keys[0] == '\x0e'; /* stands for the sequence that Down sends */
        press(&vt, strchr(kinds[k].keys, 'j') != NULL ? "3" : "1", 1);
        for (size_t i = 0; i < ROUNDS; i++) {
            own[i] = down ? press(&vt, "\033OB", 3) : press(&vt, &kinds[k].keys[i % keys], 1);
            all[count++] = own[i];
        }
        report(kinds[k].what, own, ROUNDS);
    }
    report("all", all, count);
    printf("    %-24s %7s %7d\n", "budget for all", "", budget);
    vt_stop(&vt);
}

int main(void)
{
    measure(80, 24, 5);
    measure(200, 60, 20);
    return 0;
}
