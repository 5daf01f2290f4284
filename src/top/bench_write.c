/* bench_write.c - timings as text, JSON and CSV. */
#include "attnviz/json.h"
#include "attnviz/kernels.h"
#include "bench.h"

#include <math.h>
#include <stdbool.h>

/* Is this the first result of its stage? */
static bool begins_stage(const struct av_bench_result *results, size_t i)
{
    for (size_t before = 0; before < i; before++) {
        if (results[before].stage == results[i].stage) {
            return false;
        }
    }
    return true;
}

/* A line a variant: median and ratio to softmax for each stage and size that
 * variants are timed in. results: the first of softmax, and behind it. */
static void write_variants(struct av_str *out, const struct av_bench_result *results, size_t count)
{
    size_t variants = 1; /* the results of a stage and size */
    while (variants < count && results[variants].n_q == results[0].n_q && results[variants].stage == results[0].stage) {
        variants++;
    }
    av_str_addf(out, "\n%-15s", "stage");
    for (size_t i = 0; i < count; i += variants) {
        av_str_addf(out, " %15s", results[i].stage->name);
    }
    av_str_addf(out, "\n%-15s", "n_q = n_k");
    for (size_t i = 0; i < count; i += variants) {
        av_str_addf(out, " %15zu", results[i].n_q);
    }
    av_str_addf(out, "\n%-15s", "");
    for (size_t i = 0; i < count; i += variants) {
        av_str_addf(out, " %9s %5s", "median", "ratio");
    }
    for (size_t v = 0; v < variants; v++) {
        av_str_addf(out, "\n%-15s", results[v].variant);
        for (size_t i = v; i < count; i += variants) {
            av_str_addf(out, " %9.4f %5.2f", results[i].median, results[i].ratio);
        }
    }
    av_str_add(out, "\n");
}

static void write_text(struct av_str *out, const struct av_bench_result *results, size_t count)
{
    av_str_addf(out, "attnviz " AV_VERSION ", kernels %s, one thread; milliseconds of processor time\n\n",
                av_kernels_best()->name);
    av_str_addf(out, "%-13s %5s %5s %5s %10s %10s %5s %8s %7s\n", "stage", "n_q", "n_k", "d_k", "median", "fastest",
                "runs", "GFLOP/s", "MiB");
    size_t variants = count; /* where their results begin: the last ones */
    while (variants > 0 && results[variants - 1].variant != NULL) {
        variants--;
    }
    for (size_t i = 0; i < variants; i++) {
        const struct av_bench_result *r = &results[i];
        av_str_addf(out, "%-13s %5zu %5zu %5zu %10.4f %10.4f %5zu", r->stage->name, r->n_q, r->n_k, r->d, r->median,
                    r->fastest, r->runs);
        if (r->operations > 0) {
            av_str_addf(out, " %8.1f", av_bench_rate(r));
        }
        if (r->bytes > 0) {
            av_str_addf(out, " %7.1f", r->bytes / (1 << 20));
        }
        av_str_add(out, "\n");
    }
    if (variants < count) {
        write_variants(out, results + variants, count - variants);
    }
    av_str_add(out, "\n");
    for (size_t i = 0; i < count; i++) {
        if (begins_stage(results, i)) {
            av_str_addf(out, "%-13s %s\n", results[i].stage->name, results[i].stage->text);
        }
    }
}

static void write_csv(struct av_str *out, const struct av_bench_result *results, size_t count)
{
    av_str_add(out, "stage,n_q,n_k,d_k,median_ms,fastest_ms,runs,gflops,variant,ratio,bytes\n");
    for (size_t i = 0; i < count; i++) {
        const struct av_bench_result *r = &results[i];
        av_str_addf(out, "%s,%zu,%zu,%zu,%.6g,%.6g,%zu,", r->stage->name, r->n_q, r->n_k, r->d, r->median, r->fastest,
                    r->runs);
        if (r->operations > 0) {
            av_str_addf(out, "%.6g", av_bench_rate(r));
        }
        if (r->variant != NULL) {
            av_str_addf(out, ",%s,%.6g,", r->variant, r->ratio);
        } else {
            av_str_add(out, ",,,");
        }
        if (r->bytes > 0) {
            av_str_addf(out, "%.0f", r->bytes);
        }
        av_str_add(out, "\n");
    }
}

static void write_json(struct av_str *out, const struct av_bench_result *results, size_t count)
{
    struct av_json j;
    av_json_begin(&j, out);
    av_json_object(&j, NULL);
    av_json_string(&j, "version", AV_VERSION);
    av_json_string(&j, "kernels", av_kernels_best()->name);
    av_json_array(&j, "stages");
    for (size_t i = 0; i < count; i++) {
        av_json_object(&j, NULL);
        av_json_string(&j, "stage", results[i].stage->name);
        av_json_unsigned(&j, "n_q", results[i].n_q);
        av_json_unsigned(&j, "n_k", results[i].n_k);
        av_json_unsigned(&j, "d_k", results[i].d);
        av_json_number(&j, "median_ms", results[i].median);
        av_json_number(&j, "fastest_ms", results[i].fastest);
        av_json_unsigned(&j, "runs", results[i].runs);
        av_json_number(&j, "gflops", av_bench_rate(&results[i]));
        if (results[i].bytes > 0) {
            av_json_number(&j, "bytes", results[i].bytes);
        }
        if (results[i].variant != NULL) {
            av_json_string(&j, "variant", results[i].variant);
            av_json_number(&j, "ratio", results[i].ratio);
        }
        av_json_close(&j, '}');
    }
    av_json_close(&j, ']');
    av_json_close(&j, '}');
}

void av_bench_write(struct av_str *out, enum av_format format, const struct av_bench_result *results, size_t count)
{
    static void (*const writers[AV_FORMAT_COUNT])(struct av_str *, const struct av_bench_result *, size_t) = {
        [AV_FORMAT_TEXT] = write_text,
        [AV_FORMAT_JSON] = write_json,
        [AV_FORMAT_CSV] = write_csv,
    };
    writers[format](out, results, count);
}
