/* files_tokens.c - labels of positions: a text file with one a line. */
#include "attnviz/mem.h"
#include "attnviz/textfile.h"
#include "attnviz/utf8.h"
#include "files_parts.h"
#include "shown.h"

#include <string.h>

void av_files_labels_free(struct av_files_labels *labels)
{
    av_free(labels->text);
    av_free(labels->lines);
    memset(labels, 0, sizeof *labels);
}

static size_t count_lines(const struct av_str *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->len; i++) {
        lines += text->text[i] == '\n';
    }
    return lines + (text->len > 0 && text->text[text->len - 1] != '\n');
}

/* Copies a line, a tab as `\t`, each other control character and byte that is
 * not UTF-8 replaced; returns where the copy ends. At most three bytes come of
 * one. */
static char *copy_line(char *to, const char *from, const char *end)
{
    while (from < end) {
        uint32_t code = av_utf8_next(&from);
        if (code == '\t') {
            *to++ = '\\';
            code = 't';
        }
        to += av_utf8_put(to, code < 0x20 || (code >= 0x7F && code < 0xA0) ? AV_UTF8_UNKNOWN : code);
    }
    *to = '\0';
    return to + 1;
}

static enum av_status cut(struct av_files_labels *labels, const struct av_str *text, size_t lines, struct av_error *e)
{
    labels->text = av_alloc(3 * text->len + lines + 1, 1);
    labels->lines = av_alloc(lines, sizeof *labels->lines);
    if (labels->text == NULL || labels->lines == NULL) {
        return av_fail_nomem(e, "labels of tokens");
    }
    const char *at = text->text;
    char *to = labels->text;
    for (size_t i = 0; i < lines; i++) {
        size_t len = strcspn(at, "\n");
        size_t kept = len > 0 && at[len - 1] == '\r' ? len - 1 : len;
        labels->lines[i] = to;
        to = copy_line(to, at, at + kept);
        at += len + (at[len] == '\n');
    }
    return AV_OK;
}

enum av_status av_files_tokens(struct av_source *source, struct av_files_labels *labels,
                               const struct av_source_layer *layers, size_t count, const char *path, struct av_error *e)
{
    struct av_str text = AV_STR_INIT;
    bool missing;
    size_t positions = 0;
    for (size_t i = 0; i < count; i++) {
        size_t longest = layers[i].n_q > layers[i].n_k ? layers[i].n_q : layers[i].n_k;
        positions = longest > positions ? longest : positions;
    }
    enum av_status s = av_textfile_read(&text, path, &missing, e);
    size_t lines = s == AV_OK ? count_lines(&text) : 0;
    if (s == AV_OK && lines != positions) {
        s = av_fail(e, AV_FAILED, "%s: %zu labels, one a line, for %zu positions", av_shown(path).text, lines,
                    positions);
    }
    if (s == AV_OK) {
        s = cut(labels, &text, lines, e);
    }
    if (s == AV_OK) {
        source->tokens = labels->lines;
        source->token_count = lines;
    }
    av_str_free(&text);
    return s;
}
