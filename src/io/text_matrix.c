/* text_matrix.c - rows of numbers, written as text. */
#include "text_matrix.h"

#include "attnviz/mem.h"
#include "shown.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static enum av_status wrong(const struct av_text_matrix *m, size_t column, const char *what, struct av_error *e)
{
    return av_fail(e, AV_FAILED, "%s: line %zu, column %zu: %s", m->name, m->line + 1, column, what);
}

static enum av_status push(struct av_text_matrix *m, double x, struct av_error *e)
{
    if (m->count == m->room) {
        size_t room = m->room == 0 ? 256 : 2 * m->room;
        bool fits = room <= av_mem_physical() / sizeof(double);
        double *values = fits ? realloc(m->values, room * sizeof(double)) : NULL;
        if (values == NULL) {
            return av_fail_nomem(e, m->name);
        }
        m->values = values;
        m->room = room;
    }
    m->values[m->count++] = x;
    m->in_row++;
    return AV_OK;
}

/* The number that was being read is complete. */
static enum av_status end_number(struct av_text_matrix *m, struct av_error *e)
{
    char *stop;
    if (m->token_len == 0) {
        return AV_OK;
    }
    m->token[m->token_len] = '\0';
    m->token_len = 0;
    errno = 0;
    double x = strtod(m->token, &stop);
    if (*stop != '\0' || stop == m->token) {
        return av_fail(e, AV_FAILED, "%s: line %zu, column %zu: '%s' is not a number", m->name, m->line + 1,
                       m->token_column, av_shown(m->token).text);
    }
    if (errno == ERANGE && isinf(x)) {
        return wrong(m, m->token_column, "larger than any double", e);
    }
    m->comma = false;
    m->filled = true;
    return push(m, x, e);
}

static enum av_status end_row(struct av_text_matrix *m, struct av_error *e)
{
    if (m->comma) {
        return wrong(m, m->column, "a number is missing behind the comma", e);
    }
    if (m->in_row > 0) {
        if (m->rows > 0 && m->in_row != m->columns) {
            return av_fail(e, AV_FAILED, "%s: line %zu: the number of columns is %zu, in the rows above %zu", m->name,
                           m->line + 1, m->in_row, m->columns);
        }
        m->columns = m->in_row;
        m->rows++;
    }
    m->in_row = 0;
    m->filled = false;
    return AV_OK;
}

static enum av_status take_comma(struct av_text_matrix *m, struct av_error *e)
{
    enum av_status s = end_number(m, e);
    if (s == AV_OK && !m->filled) {
        s = wrong(m, m->column, "a number is missing before the comma", e);
    }
    m->comma = true;
    m->filled = false;
    return s;
}

static enum av_status take_newline(struct av_text_matrix *m, struct av_error *e)
{
    enum av_status s = end_number(m, e);
    if (s == AV_OK) {
        s = end_row(m, e);
    }
    m->line++;
    m->column = 0;
    m->comment = false;
    return s;
}

/* One more character, or a part of it, of a number. */
static enum av_status take_part(struct av_text_matrix *m, unsigned char c, struct av_error *e)
{
    if (m->token_len == 0) {
        m->token_column = m->column;
    }
    if (m->token_len + 1 == sizeof m->token) {
        return wrong(m, m->token_column, "too long for a number", e);
    }
    /* NUL would end the token; any control character is shown the same. */
    m->token[m->token_len++] = (char)(c != '\0' ? c : '\1');
    return AV_OK;
}

static enum av_status take(struct av_text_matrix *m, unsigned char c, struct av_error *e)
{
    m->column += (c & 0xC0) != 0x80; /* what continues a UTF-8 character is none */
    if (c == '\n') {
        return take_newline(m, e);
    }
    if (m->comment) {
        return AV_OK;
    }
    switch (c) {
    case '#':
        m->comment = true;
        return end_number(m, e);
    case ' ':
    case '\t':
    case '\r':
        return end_number(m, e);
    case ',':
        return take_comma(m, e);
    default:
        return take_part(m, c, e);
    }
}

enum av_status av_text_matrix_feed(struct av_text_matrix *m, const unsigned char *bytes, size_t size,
                                   struct av_error *e)
{
    enum av_status s = AV_OK;
    for (size_t i = 0; i < size && s == AV_OK; i++) {
        s = take(m, bytes[i], e);
    }
    return s;
}

enum av_status av_text_matrix_end(struct av_text_matrix *m, struct av_error *e)
{
    m->column++; /* where the next character would be */
    enum av_status s = take_newline(m, e);
    if (s == AV_OK && m->rows == 0) {
        s = av_fail(e, AV_FAILED, "%s: holds no numbers", m->name);
    }
    return s;
}
