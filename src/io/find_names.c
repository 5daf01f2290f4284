/* find_names.c - what the name of a tensor says: queries, keys, weights, of which layer. */
#include "find_parts.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* The same form of both stands in the same row. */
static const char *const words[][2] = {
    { "q", "k" },
    { "query", "key" },
    { "queries", "keys" },
    { "qcur", "kcur" },
};

enum { FORMS = sizeof words / sizeof words[0] };

/* What a name may end in, numbers aside: its last word, or its last two, which then
 * are of one part: attn.weight is a module's matrix, attn_weight is not. */
struct ending {
    const char *first, *last; /* first NULL: any */
    enum av_find_role role;
};

static const struct ending endings[] = {
    { NULL, "weights", AV_FIND_WEIGHTS },
    { NULL, "probs", AV_FIND_WEIGHTS },
    { NULL, "prob", AV_FIND_WEIGHTS },
    { NULL, "probabilities", AV_FIND_WEIGHTS },
    { NULL, "softmax", AV_FIND_WEIGHTS },
    { "soft", "max", AV_FIND_WEIGHTS },
    { "c", "attn", AV_FIND_FUSED },
    { "attn", "weight", AV_FIND_WEIGHTS },
    { "attention", "weight", AV_FIND_WEIGHTS },
    { NULL, "attn", AV_FIND_WEIGHTS },
    { NULL, "attns", AV_FIND_WEIGHTS },
    { NULL, "att", AV_FIND_WEIGHTS },
    { NULL, "attention", AV_FIND_WEIGHTS },
    { NULL, "attentions", AV_FIND_WEIGHTS },
    { NULL, "scores", AV_FIND_SCORES },
    { NULL, "logits", AV_FIND_SCORES },
    { NULL, "energy", AV_FIND_SCORES },
    { NULL, "dots", AV_FIND_SCORES },
    { NULL, "qk", AV_FIND_SCORES },
    { NULL, "kq", AV_FIND_SCORES },
};

enum { ENDINGS = sizeof endings / sizeof endings[0] };

/* A matrix that makes queries or keys ends in one of these. */
static const char *const learned[] = { "weight", "weights", "bias", "kernel" };

enum { LEARNED = sizeof learned / sizeof learned[0] };

/* The words of a layer's number. */
static const char *const counted[] = { "layer",        "layers",    "block", "blocks", "blk",
                                       "encoderblock", "resblocks", "h",     "l" };

enum { COUNTED = sizeof counted / sizeof counted[0] };

/* ---- Words --------------------------------------------------------------------- */

struct word {
    const char *at;
    size_t len; /* 0: there is none */
};

static bool is_word(const struct word *w, const char *word)
{
    return strlen(word) == w->len && strncasecmp(w->at, word, w->len) == 0;
}

static bool is_number(const struct word *w)
{
    return w->len > 0 && isdigit((unsigned char)*w->at);
}

static bool is_one_of(const struct word *w, const char *const *list, size_t count)
{
    size_t i = 0;
    while (i < count && !is_word(w, list[i])) {
        i++;
    }
    return i < count;
}

/* Does a word end between these two? */
static bool is_seam(unsigned char a, unsigned char b)
{
    return !isalnum(b) || (isdigit(a) != 0) != (isdigit(b) != 0) || (islower(a) && isupper(b));
}

/* The first word from there on. */
static struct word next_word(const char *at)
{
    struct word w = { at, 0 };
    while (*w.at != '\0' && !isalnum((unsigned char)*w.at)) {
        w.at++;
    }
    if (*w.at != '\0') {
        do {
            w.len++;
        } while (!is_seam((unsigned char)w.at[w.len - 1], (unsigned char)w.at[w.len]));
    }
    return w;
}

/* ---- What a name says ------------------------------------------------------------ */

/* The last word for queries or keys in a name, and what all words say. */
struct reading {
    enum av_find_role role;
    struct word word;
    size_t form; /* the row of `words` */
};

static enum av_find_role role_of_end(const struct word *before, const struct word *last)
{
    const bool one_part = before->len > 0 && strchr("./", last->at[-1]) == NULL;
    for (size_t i = 0; i < ENDINGS; i++) {
        if (is_word(last, endings[i].last) &&
            (endings[i].first == NULL || (one_part && is_word(before, endings[i].first)))) {
            return endings[i].role;
        }
    }
    return AV_FIND_OTHER;
}

static struct reading read_name(const char *name)
{
    struct reading found = { AV_FIND_OTHER, { name, 0 }, 0 };
    struct word last = { name, 0 };
    struct word before = last;
    bool seen[2] = { false, false };
    for (struct word w = next_word(name); w.len > 0; w = next_word(w.at + w.len)) {
        for (size_t i = 0; i < 2 * FORMS; i++) {
            if (is_word(&w, words[i / 2][i % 2])) {
                seen[i % 2] = true;
                found = (struct reading){ i % 2 == 0 ? AV_FIND_Q : AV_FIND_K, w, i / 2 };
            }
        }
        if (is_word(&w, "qkv")) {
            seen[0] = seen[1] = true;
        }
        if (!is_number(&w)) {
            before = last;
            last = w;
        }
    }
    if (seen[0] && seen[1]) {
        found.role = AV_FIND_FUSED;
    } else if (found.role == AV_FIND_OTHER) {
        found.role = role_of_end(&before, &last);
    }
    bool makes = found.role != AV_FIND_OTHER && found.role != AV_FIND_WEIGHTS && found.role != AV_FIND_SCORES;
    if (makes && is_one_of(&last, learned, LEARNED)) {
        found.role = AV_FIND_LEARNED;
    }
    return found;
}

enum av_find_role av_find_role(const char *name)
{
    return read_name(name).role;
}

bool av_find_is_projection(const char *name)
{
    struct word last = { name, 0 };
    for (struct word w = next_word(name); w.len > 0; w = next_word(w.at + w.len)) {
        last = is_number(&w) ? last : w;
    }
    return is_word(&last, "proj");
}

size_t av_find_common(const char *a, const char *b)
{
    size_t len = 0;
    while (a[len] != '\0' && a[len] == b[len]) {
        len++;
    }
    return len;
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
    size_t before = (size_t)(q.word.at - name);
    size_t len = 0;
    const char *rest = q.word.at + q.word.len;
    if (!append(keys, &len, name, before) || !append(keys, &len, word, strlen(word)) ||
        !append(keys, &len, rest, strlen(rest))) {
        return false;
    }
    /* Capitals where the other word has them: Query, Key; QUERY, KEY; Q, K. */
    for (size_t i = 0; i < strlen(word); i++) {
        if (isupper((unsigned char)q.word.at[i < q.word.len ? i : q.word.len - 1])) {
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
    struct word before = { name, 0 };
    size_t alone = AV_FIND_NONE;
    size_t glued = AV_FIND_NONE;
    for (struct word w = next_word(name); w.len > 0; before = w, w = next_word(w.at + w.len)) {
        if (!is_number(&w)) {
            continue;
        }
        if (is_one_of(&before, counted, COUNTED)) {
            return value(w.at, w.len);
        }
        bool is_glued = (w.at > name && isalnum((unsigned char)w.at[-1])) || isalnum((unsigned char)w.at[w.len]);
        size_t *first = is_glued ? &glued : &alone;
        *first = *first == AV_FIND_NONE ? value(w.at, w.len) : *first;
    }
    return alone != AV_FIND_NONE ? alone : glued;
}

bool av_find_counts(const char *name)
{
    struct word before = { name, 0 };
    bool counts = false;
    for (struct word w = next_word(name); w.len > 0 && !counts; before = w, w = next_word(w.at + w.len)) {
        counts = is_number(&w) && is_one_of(&before, counted, COUNTED);
    }
    return counts;
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
