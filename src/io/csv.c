/* csv.c - cells of comma-separated values, quoted as in RFC 4180. */
#include "csv.h"

#include <math.h>
#include <string.h>

/* (A cell never ends with a newline: it would be quoted.) */
void av_csv_comma(struct av_str *out)
{
    if (out->len > 0 && out->text[out->len - 1] != '\n') {
        av_str_add(out, ",");
    }
}

void av_csv_text(struct av_str *out, const char *text)
{
    av_csv_comma(out);
    if (strpbrk(text, ",\"\r\n") == NULL) {
        av_str_add(out, text);
        return;
    }
    av_str_add(out, "\"");
    for (; *text != '\0'; text++) {
        av_str_add(out, *text == '"' ? "\"" : "");
        av_str_addn(out, text, 1);
    }
    av_str_add(out, "\"");
}

void av_csv_number(struct av_str *out, double x, bool whole)
{
    av_csv_comma(out);
    if (isfinite(x)) {
        av_str_addf(out, whole ? "%.0f" : "%.17g", x);
    }
}
