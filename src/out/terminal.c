/* terminal.c - the live terminal, by curses: keys in, cells out. */
#include "terminal_io.h"

#include "attnviz/keys.h"
#include "attnviz/mem.h"
#include "charset.h"
#include "palette.h"
#include "shadow.h"
#include "signals.h"
#include "tty_input.h"

#include <curses.h>
#include <term.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

struct av_io {
    struct av_app *app;
    const struct av_terminal_config *config;
    SCREEN *screen;
    FILE *in, *own; /* own: /dev/tty, when standard input is something else */

    enum av_depth depth;
    bool own_colours;          /* the terminal's own foreground and background can be had */
    unsigned theme_serial;     /* of the theme in use, 0: none yet */
    struct av_palette palette; /* its colour pairs */

    struct av_shadow shadow;
    cchar_t *run; /* [shadow.cols] */
    bool utf8;    /* the locale has more than ASCII */

    bool signals; /* they have been taken over */
    bool pressed; /* the left button is down */
    int press_x;  /* where it went down */
    int press_y;
};

/* ---- Opening -------------------------------------------------------------- */

/* Is this a terminal that can be drawn on? Says why not before anything has
 * been switched on. */
static enum av_status check_terminal(struct av_error *e)
{
    const char *term = getenv("TERM");
    int err = 0;
    if (!isatty(STDOUT_FILENO)) {
        return av_fail(e, AV_FAILED,
                       "terminal: standard output is not one; `attnviz snapshot` and `attnviz report` need none");
    }
    if (term == NULL || term[0] == '\0') {
        return av_fail(e, AV_FAILED, "terminal: TERM is not set");
    }
    if (setupterm(NULL, STDOUT_FILENO, &err) != OK) {
        return av_fail(e, AV_FAILED, "terminal: TERM=%s is not known on this machine", term);
    }
    char name[] = "cup"; /* older curses take a char * */
    const char *cup = tigetstr(name);
    bool moves = cup != NULL && (intptr_t)cup != -1;
    del_curterm(cur_term);
    return moves ? AV_OK : av_fail(e, AV_FAILED, "terminal: TERM=%s cannot place its cursor", term);
}

/* Beyond what curses sets: C-s, C-q, C-v and C-o are keys like others. C-c,
 * C-z and C-\ stay signals, so that they work while something is computed. */
static void set_modes(void)
{
    struct termios modes;
    cbreak();
    noecho();
    nonl();
    nodelay(stdscr, TRUE);
    keypad(stdscr, TRUE);
    if (tcgetattr(STDOUT_FILENO, &modes) == 0) {
        modes.c_iflag &= ~(tcflag_t)(IXON | IXOFF);
        modes.c_lflag &= ~(tcflag_t)IEXTEN;
        tcsetattr(STDOUT_FILENO, TCSADRAIN, &modes);
        def_prog_mode();
    }
    curs_set(0);
}

#if NCURSES_MOUSE_VERSION > 1
#define WHEEL_DOWN BUTTON5_PRESSED
#else
#define WHEEL_DOWN 0 /* this curses knows four buttons */
#endif

static void set_mouse(const struct av_io *io)
{
    if (io->config->mouse) {
        mouseinterval(0); /* a press is told at once, not kept to make a click of it */
        mousemask(BUTTON1_PRESSED | BUTTON1_RELEASED | BUTTON4_PRESSED | WHEEL_DOWN, NULL);
    }
}

/* ---- Colours -------------------------------------------------------------------- */

/* Colour is not even started where none is wanted: curses would then paint
 * white on black. */
static enum av_depth depth_of(const struct av_io *io)
{
    int want = (int)io->config->depth;
    if (want == AV_DEPTH_NONE || !has_colors() || start_color() == ERR) {
        return AV_DEPTH_NONE;
    }
    static const enum av_depth depths[] = { AV_DEPTH_TRUE, AV_DEPTH_256, AV_DEPTH_16, AV_DEPTH_8 };
    for (size_t i = 0; i < sizeof depths / sizeof depths[0]; i++) {
        if (COLORS >= (int)depths[i] && want >= (int)depths[i]) {
            return depths[i];
        }
    }
    return AV_DEPTH_NONE;
}

/* The number curses knows a colour by. A terminal of direct colours is told
 * red, green and blue. */
static int colour_number(const struct av_io *io, int16_t colour, int otherwise)
{
    if (colour == AV_COLOR_DEFAULT) {
        return io->own_colours ? -1 : otherwise;
    }
    return COLORS > 256 ? (int)av_color_rgb(colour) : colour;
}

static void define_pair(const struct av_io *io, int number, struct av_pair p)
{
    int fg = colour_number(io, p.fg, COLOR_WHITE);
    int bg = colour_number(io, p.bg, COLOR_BLACK);
#if defined(NCURSES_EXT_COLORS) && NCURSES_EXT_COLORS
    init_extended_pair(number, fg, bg);
#else
    init_pair((short)number, (short)fg, (short)bg);
#endif
}

static void use_theme(struct av_io *io)
{
    if (io->theme_serial == av_app_theme_serial(io->app)) {
        return;
    }
    io->theme_serial = av_app_theme_serial(io->app);
    av_palette_make(&io->palette, av_app_theme(io->app), io->depth, io->depth == AV_DEPTH_NONE ? 0 : COLOR_PAIRS - 1);
    for (int i = 0; i < io->palette.count; i++) {
        define_pair(io, i + 1, io->palette.pairs[i]);
    }
    av_shadow_forget(&io->shadow);
}

/* ---- Painting ----------------------------------------------------------------------- */

static attr_t attributes(const struct av_style *s)
{
    return (s->bold ? A_BOLD : A_NORMAL) | (s->underline ? A_UNDERLINE : A_NORMAL) |
           (s->reverse ? A_REVERSE : A_NORMAL);
}

static void set_cell(struct av_io *io, cchar_t *out, const struct av_cell *cell)
{
    struct av_style style = av_style_reduce(av_theme_style(av_app_theme(io->app), cell), io->depth);
    wchar_t text[2] = { (wchar_t)av_charset_character(io->utf8, cell->code), L'\0' };
    setcchar(out, text, attributes(&style), (short)av_palette_pair(&io->palette, &style), NULL);
}

/* Makes n cells from (x, y) on what curses takes, and returns how many those are:
 * one for a wide character, two for its stand-in. */
static int set_run(struct av_io *io, const struct av_canvas *c, int x, int y, int n)
{
    int count = 0;
    for (int i = x; i < x + n; i++) {
        const struct av_cell *cell = av_canvas_at(c, i, y);
        uint32_t before = av_canvas_at(c, i - 1, y)->code;
        if (cell->code != AV_GLYPH_REST || av_charset_character(io->utf8, before) != before) {
            set_cell(io, &io->run[count++], cell);
        }
    }
    return count;
}

void av_io_paint(struct av_io *io)
{
    use_theme(io);
    const struct av_canvas *c = av_app_draw(io->app);
    for (int y = 0; y < c->rows; y++) {
        int x = 0;
        for (int n = 0; (n = av_shadow_run(&io->shadow, c, &x, y)) > 0; x += n) {
            mvwadd_wchnstr(stdscr, y, x, io->run, set_run(io, c, x, y, n));
        }
    }
    wrefresh(stdscr);
}

/* Over the last line of the old picture, until the new one is computed. */
static void show_slow(void *context)
{
    static const char text[] = " computing ...";
    struct av_io *io = context;
    int y = io->shadow.rows - 1;
    use_theme(io);
    for (int x = 0; x < io->shadow.cols; x++) {
        struct av_cell cell = { .code = ' ', .role = AV_ROLE_MESSAGE };
        if (x < (int)sizeof text - 1) {
            cell.code = (unsigned char)text[x];
        }
        set_cell(io, &io->run[x], &cell);
    }
    mvwadd_wchnstr(stdscr, y, 0, io->run, io->shadow.cols);
    av_shadow_forget_row(&io->shadow, y);
    wrefresh(stdscr);
}

void av_io_repaint(struct av_io *io)
{
    clearok(stdscr, TRUE);
    av_shadow_forget(&io->shadow);
}

/* ---- Size --------------------------------------------------------------------------- */

/* Makes what depends on the size; on failure what stood stands still. */
static enum av_status make_room(struct av_io *io, int cols, int rows, struct av_error *e)
{
    cchar_t *run = av_alloc((size_t)cols, sizeof *run);
    enum av_status s = run == NULL ? av_fail_nomem(e, "the screen") : av_shadow_resize(&io->shadow, cols, rows, e);
    if (s != AV_OK) {
        av_free(run);
        return s;
    }
    av_free(io->run);
    io->run = run;
    return AV_OK;
}

/* Curses keeps three windows of this size, and frees some of it twice when it
 * runs out on the way: so whether there is memory is tried before. */
static bool curses_fits(size_t cols, size_t rows)
{
    enum { WINDOWS = 4, MORE = 1 << 16 }; /* one too many, and what else it keeps */
    void *all = malloc(WINDOWS * cols * rows * sizeof(cchar_t) + MORE);
    free(all);
    return all != NULL;
}

/* Brings curses to the terminal's size, if that is known. */
static enum av_status resize_curses(struct av_error *e)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0 ||
        (size.ws_row == LINES && size.ws_col == COLS)) {
        return AV_OK;
    }
    bool done = curses_fits(size.ws_col, size.ws_row) && resizeterm(size.ws_row, size.ws_col) == OK;
    return done ? AV_OK : av_fail_nomem(e, "the screen");
}

/* Without memory for it the old size is painted on. */
void av_io_take_size(struct av_io *io)
{
    struct av_error e;
    int rows = 0, cols = 0;
    enum av_status s = resize_curses(&e);
    clearok(stdscr, TRUE);
    if (s == AV_OK) {
        getmaxyx(stdscr, rows, cols);
        s = make_room(io, cols, rows, &e);
    }
    if (s != AV_OK) {
        av_app_say(io->app, "%s", e.text);
        return;
    }
    werase(stdscr);
    av_app_resize(io->app, cols, rows);
}

/* ---- Life ------------------------------------------------------------------------------ */

static enum av_status start_curses(struct av_io *io, struct av_error *e)
{
    io->utf8 = av_charset_utf8(!av_app_draw(io->app)->ascii);
    /* Exported by some shells; curses would hold to them for ever. */
    unsetenv("LINES");
    unsetenv("COLUMNS");
    av_signals_guard(true);
    io->screen = newterm(NULL, stdout, io->in);
    if (io->screen == NULL) {
        return av_fail(e, AV_FAILED, "terminal: TERM=%s: curses cannot use it", getenv("TERM"));
    }
    set_escdelay(av_tty_escape_delay());
    set_modes();
    set_mouse(io);
    io->depth = depth_of(io);
    io->own_colours = io->depth != AV_DEPTH_NONE && use_default_colors() != ERR;
    av_io_take_size(io);
    if (io->run == NULL) {
        return av_fail_nomem(e, "the screen");
    }
    av_app_on_slow(io->app, show_slow, io);
    return AV_OK;
}

enum av_status av_io_open(struct av_io **out, struct av_app *app, const struct av_terminal_config *config,
                          struct av_error *e)
{
    struct av_io *io = av_alloc(1, sizeof *io);
    *out = io;
    if (io == NULL) {
        return av_fail_nomem(e, "the terminal");
    }
    io->app = app;
    io->config = config;
    enum av_status s = check_terminal(e);
    if (s == AV_OK) {
        s = av_tty_input_open(&io->own, e);
        io->in = io->own != NULL ? io->own : stdin;
    }
    if (s == AV_OK) {
        s = av_signals_begin(STDOUT_FILENO, e); /* before newterm, which then leaves them alone */
        io->signals = s == AV_OK;
    }
    return s == AV_OK ? start_curses(io, e) : s;
}

void av_io_close(struct av_io *io)
{
    if (io == NULL) {
        return;
    }
    av_app_on_slow(io->app, NULL, NULL);
    if (io->screen != NULL) {
        av_io_leave(io);
        delscreen(io->screen);
    }
    if (io->signals) {
        av_signals_end();
    }
    if (io->own != NULL) {
        fclose(io->own);
    }
    av_shadow_free(&io->shadow);
    av_free(io->run);
    av_free(io);
}

void av_io_leave(struct av_io *io)
{
    (void)io; /* curses has one current screen: this one */
    if (!isendwin()) {
        endwin();
    }
    av_signals_guard(false);
}

void av_io_return(struct av_io *io)
{
    av_io_leave(io); /* after a stop that could not be caught it is not left yet */
    av_signals_guard(true);
    av_io_take_size(io);
}

/* ---- Keys and mouse -------------------------------------------------------------------------- */

static const struct {
    int code; /* of curses */
    uint32_t key;
} codes[] = {
    { KEY_UP, AV_KEY_UP },       { KEY_DOWN, AV_KEY_DOWN },  { KEY_LEFT, AV_KEY_LEFT },
    { KEY_RIGHT, AV_KEY_RIGHT }, { KEY_HOME, AV_KEY_HOME },  { KEY_END, AV_KEY_END },
    { KEY_PPAGE, AV_KEY_PGUP },  { KEY_NPAGE, AV_KEY_PGDN }, { KEY_IC, AV_KEY_INSERT },
    { KEY_DC, AV_KEY_DELETE },   { KEY_BTAB, AV_KEY_STAB },  { KEY_BACKSPACE, AV_KEY_BACKSPACE },
    { KEY_ENTER, AV_KEY_ENTER }, { KEY_SLEFT, AV_KEY_LEFT }, { KEY_SRIGHT, AV_KEY_RIGHT },
    { KEY_SR, AV_KEY_UP },       { KEY_SF, AV_KEY_DOWN },    { KEY_A1, AV_KEY_HOME },
    { KEY_A3, AV_KEY_PGUP },     { KEY_C1, AV_KEY_END },     { KEY_C3, AV_KEY_PGDN },
};

/* The key of a function key's code, AV_KEY_NONE for one nobody asked for. */
static uint32_t key_of_code(wint_t code)
{
    if (code >= KEY_F(1) && code <= KEY_F(12)) {
        return AV_KEY_F1 + (uint32_t)code - KEY_F(1);
    }
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        if (codes[i].code == (int)code) {
            return codes[i].key;
        }
    }
    return AV_KEY_NONE;
}

/* Line feed and C-h are what some terminals send for Enter and Backspace. */
static uint32_t key_of_character(wint_t c)
{
    return c == L'\n' ? AV_KEY_ENTER : c == L'\b' ? AV_KEY_BACKSPACE : (uint32_t)c;
}

/* Terminals report presses and releases, not the way between: a release
 * elsewhere is a drag. Of a press and a release that come together curses tells
 * the release alone. */
static void take_mouse(struct av_io *io)
{
    MEVENT m;
    if (getmouse(&m) != OK) {
        return;
    }
    bool released = (m.bstate & BUTTON1_RELEASED) != 0;
    if ((m.bstate & BUTTON1_PRESSED) != 0 || (released && !io->pressed)) {
        io->pressed = !released;
        io->press_x = m.x;
        io->press_y = m.y;
        av_app_mouse(io->app, AV_MOUSE_PRESS, m.x, m.y);
    } else if (released) {
        io->pressed = false;
        if (m.x != io->press_x || m.y != io->press_y) {
            av_app_mouse(io->app, AV_MOUSE_DRAG, m.x, m.y);
        }
    } else if ((m.bstate & BUTTON4_PRESSED) != 0) {
        av_app_mouse(io->app, AV_MOUSE_WHEEL_UP, m.x, m.y);
    } else if ((m.bstate & WHEEL_DOWN) != 0) {
        av_app_mouse(io->app, AV_MOUSE_WHEEL_DOWN, m.x, m.y);
    }
}

int av_io_fd(const struct av_io *io)
{
    return fileno(io->in);
}

bool av_io_take_key(struct av_io *io)
{
    wint_t c = 0;
    int status = wget_wch(stdscr, &c);
    if (status == ERR) {
        return false;
    }
    if (status == KEY_CODE_YES && c == KEY_MOUSE) {
        take_mouse(io);
        return true;
    }
    uint32_t key = status == KEY_CODE_YES ? key_of_code(c) : key_of_character(c);
    if (key != AV_KEY_NONE) {
        av_app_key(io->app, key);
    }
    return true;
}
