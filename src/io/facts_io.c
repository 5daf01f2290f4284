/* facts_io.c - measured claims in the format asked for. */
#include "attnviz/facts_io.h"

#include "facts_formats.h"

enum av_status av_facts_write(struct av_str *out, enum av_format format, const struct av_facts *facts,
                              struct av_error *e)
{
    static void (*const writers[AV_FORMAT_COUNT])(struct av_str *, const struct av_facts *) = {
        [AV_FORMAT_TEXT] = av_facts_text,
        [AV_FORMAT_JSON] = av_facts_json,
        [AV_FORMAT_CSV] = av_facts_csv,
    };
    writers[format](out, facts);
    return out->failed ? av_fail_nomem(e, "the facts") : AV_OK;
}
