/* find_names.c - what the name of a tensor says: queries, keys, of which layer. */
#include "find_parts.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The same form of both stands in the same row. */
static const char *const words[][2] = {
    { "q", "k" },
    { "query", "key" },
    { "queries", "keys" },
};

enum { FORMS = sizeof words / sizeof words[0] };

static bool is_word(const char *at, size_t len, const char *word)
{
    return strlen(word) == len && strncasecmp(at, word, len) == 0;
}

/* The next word from *at on, which moves there; its length, 0: none. */
static size_t next_word(const char **at)
{
    size_t len = 0;
    while (**at != '\0' && !isalnum((unsigned char)**at)) {
        ++*at;
    }
    while (isalnum((unsigned char)(*at)[len])) {
        len++;
    }
    return len;
}

/* The last word for queries or keys in a name, and what all words say. */
struct reading {
    enum av_find_role role;
    const char *word;
    size_t len;
    size_t form; /* the row of `words` */
};

static struct reading read_name(const char *name)
{
    struct reading found = { AV_FIND_OTHER, name, 0, 0 };
    bool seen[2] = { false, false };
    bool learned = false;
    size_t len;
    for (const char *at = name; (len = next_word(&at)) > 0; at += len) {
        for (size_t i = 0; i < 2 * FORMS; i++) {
            if (is_word(at, len, words[i / 2][i % 2])) {
                seen[i % 2] = true;
                found = (struct reading){ i % 2 == 0 ? AV_FIND_Q : AV_FIND_K, at, len, i / 2 };
            }
        }
        if (is_word(at, len, "qkv")) {
            seen[0] = seen[1] = true;
        }
        learned = is_word(at, len, "weight") || is_word(at, len, "bias"); /* the last word decides */
    }
    if (seen[0] && seen[1]) {
        found.role = AV_FIND_FUSED;
    }
    if (learned && found.role != AV_FIND_OTHER) {
        found.role = AV_FIND_LEARNED;
    }
    return found;
}

enum av_find_role av_find_role(const char *name)
{
    return read_name(name).role;
}

/* Puts pieces of text together; false: too long. */
static bool append(char name[AV_FIND_NAME_MAX], size_t *len, const char *piece, size_t size)
{
    if (size >= AV_FIND_NAME_MAX - *len) {
        return false;
    }
    memcpy(name + *len, piece, size);
    *len += size;
    name[*len] = '\0';
    return true;
}

bool av_find_keys_of(const char *name, char keys[AV_FIND_NAME_MAX])
{
    struct reading q = read_name(name);
    if (q.role != AV_FIND_Q) {
        return false;
    }
    const char *word = words[q.form][1];
    size_t before = (size_t)(q.word - name);
    size_t len = 0;
    const char *rest = q.word + q.len;
    if (!append(keys, &len, name, before) || !append(keys, &len, word, strlen(word)) ||
        !append(keys, &len, rest, strlen(rest))) {
        return false;
    }
    /* Capitals where the other word has them: Query, Key; QUERY, KEY; Q, K. */
    for (size_t i = 0; i < strlen(word); i++) {
        if (isupper((unsigned char)q.word[i < q.len ? i : q.len - 1])) {
            keys[before + i] = (char)toupper((unsigned char)keys[before + i]);
        }
    }
    return true;
}

/* The value of so many digits, one below AV_FIND_NONE at most. */
static size_t value(const char *digits, size_t len)
{
    size_t x = 0;
    for (size_t i = 0; i < len; i++) {
        size_t digit = (size_t)(digits[i] - '0');
        x = x > (AV_FIND_NONE - 10) / 10 ? AV_FIND_NONE - 1 : 10 * x + digit;
    }
    return x;
}

size_t av_find_number(const char *name)
{
    size_t len;
    for (const char *at = name; (len = next_word(&at)) > 0; at += len) {
        if (strspn(at, "0123456789") >= len) {
            return value(at, len);
        }
    }
    return AV_FIND_NONE;
}

bool av_find_matches(const char *pattern, const char *name, char digits[AV_FIND_NAME_MAX])
{
    digits[0] = '\0';
    for (; *pattern != '\0'; pattern++) {
        size_t len = *pattern == '*' ? strspn(name, "0123456789") : *pattern == *name;
        if (len == 0 || len >= AV_FIND_NAME_MAX) {
            return false;
        }
        if (*pattern == '*' && digits[0] == '\0') {
            memcpy(digits, name, len);
            digits[len] = '\0';
        }
        name += len;
    }
    return *name == '\0';
}

bool av_find_fill(const char *pattern, const char *digits, char name[AV_FIND_NAME_MAX])
{
    size_t len = 0;
    name[0] = '\0';
    for (; *pattern != '\0'; pattern++) {
        bool star = *pattern == '*';
        if (!append(name, &len, star ? digits : pattern, star ? strlen(digits) : 1)) {
            return false;
        }
    }
    return true;
}
