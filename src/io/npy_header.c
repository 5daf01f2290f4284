/* npy_header.c - the header of a .npy file, read and checked.
 *
 * The format (numpy.lib.format): "\x93NUMPY", two bytes of version, the
 * header's length (2 bytes in version 1, else 4, little endian), the header,
 * the entries. The header is a Python dictionary in text:
 *
 *   {'descr': '<f4', 'fortran_order': False, 'shape': (8, 128, 64), }
 *
 * Its three members may stand in any order; nothing else may. */
#include "npy_header.h"

#include "file_kind.h"
#include "shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { KEY_MAX = 64 };

/* ---- the text of the header ------------------------------------------- */

/* The dictionary, and where in it the reader is. */
struct dict {
    const char *name; /* of the file, for messages */
    const char *start, *at, *end;
    struct av_error *e;
    unsigned seen; /* bit i: members[i] was read */
    struct av_npy_header *h;
};

static enum av_status syntax(const struct dict *t, const char *what)
{
    return av_fail(t->e, AV_FAILED, "%s: bad .npy header: %s at character %td", t->name, what, t->at - t->start + 1);
}

static void skip_space(struct dict *t)
{
    while (t->at < t->end && *t->at != '\0' && strchr(" \t\r\n", *t->at) != NULL) {
        t->at++;
    }
}

/* Skips space, and then c when it comes next. */
static bool accept(struct dict *t, char c)
{
    skip_space(t);
    if (t->at < t->end && *t->at == c) {
        t->at++;
        return true;
    }
    return false;
}

static bool accept_word(struct dict *t, const char *word)
{
    size_t len = strlen(word);
    skip_space(t);
    if ((size_t)(t->end - t->at) >= len && memcmp(t->at, word, len) == 0) {
        t->at += len;
        return true;
    }
    return false;
}

/* A string in either quotes, cut to size. No escapes: no name needs them. */
static enum av_status read_string(struct dict *t, char *out, size_t size)
{
    char quote = '\'';
    if (!accept(t, quote)) {
        quote = '"';
        if (!accept(t, quote)) {
            return syntax(t, "expected a string");
        }
    }
    size_t len = 0;
    for (; t->at < t->end && *t->at != quote; t->at++) {
        if (*t->at == '\\' || *t->at == '\n' || *t->at == '\0') {
            return syntax(t, "unexpected character in a string");
        }
        if (len + 1 < size) {
            out[len++] = *t->at;
        }
    }
    out[len] = '\0';
    return accept(t, quote) ? AV_OK : syntax(t, "string without an end");
}

/* The description of records, to the bracket that ends it: strings, sizes and
 * brackets. */
static enum av_status skip_records(struct dict *t)
{
    size_t depth = 0;
    char ignored[2];
    do {
        skip_space(t);
        char c = t->at < t->end ? *t->at : '\0';
        if (c == '\0' || strchr("[](),'\"0123456789", c) == NULL) {
            return syntax(t, "unexpected character in a type");
        }
        if (c == '\'' || c == '"') {
            enum av_status s = read_string(t, ignored, sizeof ignored);
            if (s != AV_OK) {
                return s;
            }
            continue;
        }
        depth += c == '[' || c == '(';
        depth -= c == ']' || c == ')';
        t->at++;
    } while (depth > 0);
    return AV_OK;
}

static enum av_status read_descr(struct dict *t)
{
    skip_space(t);
    if (t->at < t->end && (*t->at == '[' || *t->at == '(')) {
        t->h->descr[0] = '[';
        t->h->descr[1] = '\0';
        return skip_records(t);
    }
    return read_string(t, t->h->descr, sizeof t->h->descr);
}

static enum av_status read_order(struct dict *t)
{
    t->h->fortran = accept_word(t, "True");
    return t->h->fortran || accept_word(t, "False") ? AV_OK : syntax(t, "expected True or False");
}

static enum av_status read_size(struct dict *t, uint64_t *out)
{
    skip_space(t);
    const char *first = t->at;
    uint64_t x = 0;
    for (; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++) {
        uint64_t digit = (uint64_t)(*t->at - '0');
        if (x > (UINT64_MAX - digit) / 10) {
            return syntax(t, "too large a number");
        }
        x = 10 * x + digit;
    }
    *out = x;
    return t->at > first ? AV_OK : syntax(t, "expected a size");
}

static enum av_status read_shape(struct dict *t)
{
    if (!accept(t, '(')) {
        return syntax(t, "expected '('");
    }
    t->h->rank = 0;
    while (!accept(t, ')')) {
        uint64_t size = 0;
        enum av_status s = read_size(t, &size);
        if (s != AV_OK) {
            return s;
        }
        if (t->h->rank < AV_SHAPE_MAX) {
            t->h->shape[t->h->rank] = size;
        }
        t->h->rank++;
        if (!accept(t, ',')) {
            if (!accept(t, ')')) {
                return syntax(t, "expected ',' or ')'");
            }
            break;
        }
    }
    return AV_OK;
}

static const struct {
    const char *key;
    enum av_status (*read)(struct dict *t);
} members[] = {
    { "descr", read_descr },
    { "fortran_order", read_order },
    { "shape", read_shape },
};

enum { MEMBERS = sizeof members / sizeof members[0] };

static enum av_status read_member(struct dict *t)
{
    char key[KEY_MAX];
    enum av_status s = read_string(t, key, sizeof key);
    if (s != AV_OK) {
        return s;
    }
    size_t i = 0;
    while (i < MEMBERS && strcmp(members[i].key, key) != 0) {
        i++;
    }
    if (i == MEMBERS) {
        return av_fail(t->e, AV_FAILED, "%s: bad .npy header: unknown member '%s'", t->name, av_shown(key).text);
    }
    if ((t->seen & 1U << i) != 0) {
        return av_fail(t->e, AV_FAILED, "%s: bad .npy header: '%s' stands there twice", t->name, key);
    }
    t->seen |= 1U << i;
    return accept(t, ':') ? members[i].read(t) : syntax(t, "expected ':'");
}

static enum av_status read_dict(struct dict *t)
{
    if (!accept(t, '{')) {
        return syntax(t, "expected '{'");
    }
    while (!accept(t, '}')) {
        enum av_status s = read_member(t);
        if (s != AV_OK) {
            return s;
        }
        if (!accept(t, ',')) {
            if (!accept(t, '}')) {
                return syntax(t, "expected ',' or '}'");
            }
            break;
        }
    }
    skip_space(t);
    if (t->at < t->end) {
        return syntax(t, "unexpected text");
    }
    for (size_t i = 0; i < MEMBERS; i++) {
        if ((t->seen & 1U << i) == 0) {
            return av_fail(t->e, AV_FAILED, "%s: bad .npy header: no '%s'", t->name, members[i].key);
        }
    }
    return AV_OK;
}

/* ---- what the header means -------------------------------------------- */

/* What NumPy's letters mean for the types that hold no plain numbers. */
static const char *kind_meaning(char kind)
{
    static const struct {
        char kind;
        const char *meaning;
    } kinds[] = {
        { 'c', " (complex numbers)" },
        { 'O', " (Python objects)" },
        { 'S', " (byte strings)" },
        { 'a', " (byte strings)" },
        { 'U', " (strings)" },
        { 'M', " (dates)" },
        { 'm', " (time spans)" },
        { 'V', " (raw bytes, bfloat16?)" },
        { 'f', " (floats of that size)" },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].meaning;
        }
    }
    return "";
}

static bool machine_is_big_endian(void)
{
    const uint16_t one = 1;
    unsigned char first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* An order mark, if any, and kind and size: "<f4". '=' and '|' (and none)
 * mean the order of the machine. */
static const char *plain_type(const char *descr)
{
    return *descr != '\0' && strchr("<>=|", *descr) != NULL ? descr + 1 : descr;
}

static void understand_type(struct av_npy_header *h)
{
    h->big_endian = *h->descr == '>' || (*h->descr != '<' && machine_is_big_endian());
    h->type = av_number_type_find(plain_type(h->descr));
}

struct av_npy_reason av_npy_type_reason(const struct av_npy_header *h)
{
    struct av_npy_reason why = { "structured type (records) is not supported, only plain numbers" };
    if (*h->descr != '[') {
        snprintf(why.text, sizeof why.text,
                 "type '%.64s'%s is not supported, only f2 f4 f8 i1..i8 u1..u8 b1: convert it",
                 av_shown_cut(h->descr, 64).text, kind_meaning(*plain_type(h->descr)));
    }
    return why;
}

/* NumPy reads past neither end and ignores what follows. Here bytes that the
 * shape does not account for mean that header and entries do not belong
 * together, and numbers drawn from them would be wrong: refused. */
enum av_status av_npy_check_size(const struct av_npy_header *h, const char *name, size_t count, uint64_t file_size,
                                 struct av_error *e)
{
    uint64_t want = (uint64_t)count * h->type->size;
    uint64_t have = file_size - h->data;
    if (have == want) {
        return AV_OK;
    }
    return av_fail(e, AV_FAILED, "%s: %s: %s of %s takes %" PRIu64 " bytes after the header, found %" PRIu64, name,
                   have < want ? "cut short" : "too long", av_shape_text(h->shape, h->rank).text, h->descr, want, have);
}

/* ---- the bytes before the text ---------------------------------------- */

static const unsigned char magic[6] = { 0x93, 'N', 'U', 'M', 'P', 'Y' };

bool av_npy_is(const unsigned char *head, size_t size)
{
    return size >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

/* The length of the text is given in so many bytes from the eighth on. */
static size_t length_width(const unsigned char *head)
{
    return head[6] == 1 ? 2 : 4;
}

static size_t text_length(const unsigned char *head)
{
    size_t len = 0;
    for (size_t i = length_width(head); i-- > 0;) {
        len = len << 8 | head[8 + i];
    }
    return len;
}

size_t av_npy_head_size(const unsigned char *start, size_t size)
{
    if (size < AV_NPY_START || !av_npy_is(start, size)) {
        return size < AV_NPY_HEAD_MAX ? size : AV_NPY_HEAD_MAX;
    }
    size_t text = 8 + length_width(start);
    return text_length(start) < AV_NPY_HEAD_MAX - text ? text + text_length(start) : AV_NPY_HEAD_MAX;
}

static enum av_status not_npy(const char *name, const unsigned char *head, size_t size, struct av_error *e)
{
    if (size == 0) {
        return av_fail(e, AV_FAILED, "%s: empty file", name);
    }
    const char *kind = av_file_kind(head, size);
    return av_fail(e, AV_FAILED, "%s: not a .npy file%s%s", name, kind != NULL ? ", looks like " : "",
                   kind != NULL ? kind : "");
}

/* Finds the text: [*text, *text + *len) of the file. */
static enum av_status find_text(const char *name, const unsigned char *head, uint64_t file_size, size_t *text,
                                size_t *len, struct av_error *e)
{
    size_t size = file_size < AV_NPY_HEAD_MAX ? (size_t)file_size : AV_NPY_HEAD_MAX;
    if (memcmp(head, magic, size < sizeof magic ? size : sizeof magic) != 0 || size == 0) {
        return not_npy(name, head, size, e);
    }
    if (size >= 8 && (head[6] < 1 || head[6] > 3 || head[7] != 0)) {
        return av_fail(e, AV_FAILED, "%s: .npy version %d.%d is not supported, only 1.0, 2.0 and 3.0", name, head[6],
                       head[7]);
    }
    *text = size >= 8 ? 8 + length_width(head) : AV_NPY_START;
    if (size < *text) {
        return av_fail(e, AV_FAILED, "%s: cut short: the file ends inside the header, after %zu bytes", name, size);
    }
    *len = text_length(head);
    if (*len > file_size - *text) {
        return av_fail(e, AV_FAILED, "%s: cut short: the header takes %zu bytes, found %" PRIu64, name, *len,
                       file_size - *text);
    }
    if (*len > AV_NPY_HEAD_MAX - *text) {
        return av_fail(e, AV_FAILED, "%s: bad .npy header: %zu bytes long", name, *len);
    }
    return AV_OK;
}

enum av_status av_npy_header_read(struct av_npy_header *h, const char *name, const unsigned char *head,
                                  uint64_t file_size, struct av_error *e)
{
    size_t text = 0;
    size_t len = 0;
    enum av_status s = find_text(name, head, file_size, &text, &len, e);
    if (s != AV_OK) {
        return s;
    }
    const char *start = (const char *)head + text;
    struct dict t = { .name = name, .start = start, .at = start, .end = start + len, .e = e, .h = h };
    memset(h, 0, sizeof *h);
    h->data = text + len;
    s = read_dict(&t);
    if (s == AV_OK) {
        understand_type(h);
    }
    return s;
}
