/* test_frames.c - a frame takes no memory, nor do many of them.
 *
 * The allocator's functions are replaced by ones that count and then call the
 * real ones. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "app_driver.h"
#include "sanitized.h"

#include <dlfcn.h>

/* ---- Counting ------------------------------------------------------------- */

static unsigned long allocations;

#if !SANITIZED /* a sanitizer has replaced them already */

/* The function of that name that this file's own one hides, into *function. */
static void find_real(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

void *malloc(size_t size)
{
    static void *(*real)(size_t);
    if (real == NULL) {
        find_real("malloc", &real);
    }
    allocations++;
    return real(size);
}

void *realloc(void *p, size_t size)
{
    static void *(*real)(void *, size_t);
    if (real == NULL) {
        find_real("realloc", &real);
    }
    allocations++;
    return real(p, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    static void *(*real)(size_t, size_t);
    if (real == NULL) {
        find_real("aligned_alloc", &real);
    }
    allocations++;
    return real(alignment, size);
}

#endif

/* ---- Driving ---------------------------------------------------------------- */

static struct av_app *open_sized(int64_t size)
{
    struct av_app_config config = plain_config();
    config.animation = true;
    config.params.n_q = config.params.n_k = config.params.d_k = size;
    return open_app(&config);
}

/* ---- One frame ----------------------------------------------------------------- */

/* Every view once: what it works with beside the pipeline is made when it is
 * first seen. */
static void see_all(struct av_app *app, size_t views)
{
    for (size_t v = 0; v < views; v++) {
        av_app_draw(app);
        press(app, "Tab");
    }
}

/* In the lab some keys of other views change how long the row is; a study's
 * selected parameter may be one of its sizes; another seed is another
 * experiment, with memory of its own. */
static bool changes_sizes(const struct av_view *view, const char *keys)
{
    bool row = view->lab && strpbrk(keys, "xzZ") != NULL;
    bool size = view->study != NULL && strcmp(keys, "Right") == 0;
    bool anew = view->runs && (strcmp(keys, "r") == 0 || strcmp(keys, "u") == 0);
    return row || size || anew;
}

/* Whatever is on the screen: it is drawn, and every change that keeps the
 * sizes is computed and drawn, without one allocation. */
static void a_frame_allocates_nothing(void **state)
{
    (void)state;
    if (SANITIZED) {
        skip();
    }
    static const char *const keys[] = { "s",         "T",     "o", "r",   "m",   "Up", "Right", "u",
                                        "j l z y x", "Z",     "v", "c",   "Tab", "F7", "?",     "PgDn",
                                        "q",         "= 1 2", "9", "Esc", "R",   "c",  "Down",  "Backspace" };
    static const int sizes[][2] = { { 80, 24 }, { 130, 45 }, { 100, 32 }, { 40, 10 }, { 12, 1 } };
    struct av_app *app = open_sized(32);
    assert_true(allocations > 0); /* they are counted */
    uint64_t now = 0;
    size_t views;
    const struct av_view *const *table = av_views(&views);
    see_all(app, views);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        av_app_resize(app, sizes[i][0], sizes[i][1]);
        unsigned long before = allocations;
        for (size_t v = 0; v < views; v++) {
            for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
                if (changes_sizes(table[v], keys[k])) {
                    continue;
                }
                press(app, keys[k]);
                av_app_draw(app);
                av_app_tick(app, now += 40);
                av_app_draw(app);
                if (allocations != before) {
                    fail_msg("%lu allocations: view %zu at %dx%d, after %s", allocations - before, v, sizes[i][0],
                             sizes[i][1], keys[k]);
                }
            }
        }
    }
    av_app_free(app);
}

/* ---- Many frames ------------------------------------------------------------------ */

/* Resident memory in KiB, -1 where the system does not tell. */
static long resident_kib(void)
{
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    long kib = -1;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        sscanf(line, "VmRSS: %ld", &kib);
    }
    if (f != NULL) {
        fclose(f);
    }
    return kib;
}

static void many_changes_take_no_more(void **state)
{
    (void)state;
    if (SANITIZED || resident_kib() < 0) {
        skip();
    }
    static const char *const round[] = { "D", "s", "N", "T", "Tab",           "c", "r", "m", "d",     "n",
                                         "o", "p", "?", "q", "Enter 7 Enter", "u", "j", "R", "Space", "C-r" };
    enum { ROUNDS = 1000, WARM = 100, KEYS = sizeof round / sizeof round[0] };
    struct av_app *app = open_sized(5);
    long before = 0;
    uint64_t now = 0;
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < KEYS; k++) {
            press(app, round[k]);
            av_app_tick(app, now += 100);
            av_app_draw(app);
        }
        av_app_resize(app, 20 + i % 120, 5 + i % 40);
        av_app_settle(app);
        before = i == WARM ? resident_kib() : before;
    }
    assert_in_range(resident_kib(), 1, before + 256);
    av_app_free(app);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_frame_allocates_nothing),
        cmocka_unit_test(many_changes_take_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
