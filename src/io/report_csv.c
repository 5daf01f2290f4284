/* report_csv.c - a report as a header line and a row, or a row per head.
 *
 * Columns are block.field; what is not known is empty. The query's weights,
 * as many as there are keys, stay out, and so do the verdicts' texts:
 * verdicts.worst is the worst severity, verdicts.codes all codes, the worst
 * first, each as severity:code, with blanks between. With files a row also has
 * layer, head and k_head, and the evidence that the verdicts go by. */
#include "csv.h"
#include "report_formats.h"

#include <math.h>

static void add_name(struct av_str *out, const char *block, const char *name)
{
    av_csv_comma(out);
    av_str_addf(out, "%s.%s", block, name);
}

void av_report_csv_header(struct av_str *out, bool files)
{
    size_t params;
    size_t count;
    const struct av_param *rows = av_params_table(&params);
    const struct av_field *fields = av_report_fields(&count);
    av_str_add(out, files ? "layer,head,k_head" : "");
    for (size_t i = 0; i < params; i++) {
        add_name(out, "params", rows[i].name);
    }
    add_name(out, "params", "alpha");
    for (size_t i = 0; i < count; i++) {
        add_name(out, fields[i].block, fields[i].name);
    }
    add_name(out, "verdicts", "worst");
    add_name(out, "verdicts", "codes");
    const struct av_evidence_field *evidence = av_evidence_fields(&count);
    for (size_t i = 0; files && i < count; i++) {
        add_name(out, "evidence", evidence[i].name);
    }
    av_str_add(out, "\n");
}

static void add_params(struct av_str *out, const struct av_snapshot *s)
{
    size_t count;
    const struct av_param *rows = av_params_table(&count);
    struct av_str text = AV_STR_INIT;
    for (size_t i = 0; i < count; i++) {
        av_str_clear(&text);
        if ((rows[i].kind != AV_PARAM_LOGITS || s->params.logits.n > 0) && av_report_has_param(s, &rows[i])) {
            av_param_format(&rows[i], &s->params, &text);
        }
        out->failed = out->failed || text.failed;
        av_csv_text(out, av_str_text(&text));
    }
    av_str_free(&text);
    av_csv_number(out, s->alpha, false);
}

static void add_verdicts(struct av_str *out, const struct av_snapshot *s)
{
    const struct av_verdict *verdicts[AV_REPORT_VERDICTS];
    size_t count = av_report_codes(s, verdicts);
    struct av_str codes = AV_STR_INIT;
    for (size_t i = 0; i < count; i++) {
        av_str_addf(&codes, "%s%s:%s", i == 0 ? "" : " ", av_report_severity(verdicts[i]->severity), verdicts[i]->code);
    }
    av_csv_text(out, count > 0 ? av_report_severity(verdicts[0]->severity) : "");
    av_csv_text(out, av_str_text(&codes));
    out->failed = out->failed || codes.failed;
    av_str_free(&codes);
}

static void add_evidence(struct av_str *out, const struct av_diagnosis *d)
{
    size_t count;
    const struct av_evidence_field *fields = av_evidence_fields(&count);
    for (size_t i = 0; i < count; i++) {
        av_csv_number(out, d != NULL ? av_evidence_get(&fields[i], &d->evidence) : (double)NAN, fields[i].whole);
    }
}

void av_report_csv_row(struct av_str *out, const struct av_snapshot *s)
{
    size_t count;
    const struct av_field *fields = av_report_fields(&count);
    if (s->from_files) {
        av_str_addf(out, "%zu,%zu,", s->layer->number, s->head);
        if (s->from == AV_PART_Q) {
            av_str_addf(out, "%zu", s->k_head);
        }
    }
    add_params(out, s);
    for (size_t i = 0; i < count; i++) {
        bool known = av_report_has_block(s, fields[i].block);
        av_csv_number(out, known ? av_report_value(&fields[i], s) : (double)NAN, fields[i].whole);
    }
    add_verdicts(out, s);
    if (s->from_files) {
        add_evidence(out, s->diagnosis);
    }
    av_str_add(out, "\n");
}

static void write_state(struct av_report_sheet *sheet, const struct av_snapshot *s)
{
    av_report_csv_header(&sheet->first, s->from_files);
    av_report_csv_row(&sheet->state, s);
}

static void write_row(struct av_str *out, const struct av_snapshot *s, size_t i)
{
    (void)i; /* the snapshot says which layer and head it is of */
    av_report_csv_row(out, s);
}

static void join(struct av_str *out, const struct av_report_sheet *sheet)
{
    const struct av_str *rows = sheet->has_heads ? &sheet->rows : &sheet->state;
    av_str_add(out, av_str_text(&sheet->first));
    av_str_add(out, av_str_text(rows));
}

const struct av_report_writer av_report_csv = { write_state, write_row, join };
