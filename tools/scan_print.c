#include <stdio.h>

#include "json.h"
#include "message.h"
#include "scan.h"
#include "threads.h"
#include "words.h"

/* Of what is read and what is written. */
static double gigabytes_per_second(const struct scan_job *job, double seconds) {
    double bytes = (double)job->report.bytes_read + (double)job->out_layout.bytes;
    return seconds > 0 ? bytes / seconds / 1e9 : 0;
}

static void print_place(const char *key, uint64_t place, size_t columns) {
    const bool found = place != SCAN_NONE;
    json_place(key, found, found ? place / columns : 0, found ? place % columns : 0);
}

static void print_json(const struct scan_job *job) {
    const struct table_layout *out = &job->out_layout;
    json_object(NULL);
    json_string("input", job->name);
    json_string("output", job->arguments.common.output);
    json_shape(out);
    json_size("rows", out->rows);
    json_size("columns", out->columns);
    json_string("in_type", table_type_name(job->inputs[0].layout.type));
    json_string("out_type", table_type_name(out->type));
    json_bool("exclusive", job->arguments.exclusive);
    json_string("backend", word_at(backend_words, job->report.scan.backend));
    json_string("strategy", word_at(strategy_words, job->report.scan.strategy));
    json_size("threads", job->report.scan.threads);
    json_size("units", job->report.scan.units);
    json_array("stage_seconds");
    for (unsigned i = 0; i < 3; i++)
        json_number(NULL, job->report.scan.stage_seconds[i]);
    json_end();
    json_number("seconds", job->report.scan.seconds);
    json_number("transfer_seconds", job->report.scan.transfer_seconds);
    stopwatch_json(&job->base.watch);
    if (job->arguments.state) {
        json_size("rows_before", job->state.facts.rows);
        json_size("rows_after", job->state.facts.rows + out->rows);
    }
    json_number("gb_per_second", gigabytes_per_second(job, job->report.scan.seconds));
    json_number("total_gb_per_second", gigabytes_per_second(job, stopwatch_total(&job->base.watch)));
    json_size("memory", job->report.memory);
    json_bool("overflow_checked", job->checked);
    print_place("overflow", job->first_overflow, out->columns);
    if (job->arguments.skip_nan)
        json_size("nan_skipped", job->skipped);
    print_place("not_finite", job->not_finite.first, out->columns);
    json_end();
}

static void print_summary(const struct scan_job *job) {
    const struct table_layout *out = &job->out_layout;
    const double seconds = stopwatch_total(&job->base.watch);
    message("%zu x %zu, %s -> %s", out->rows, out->columns, table_type_name(job->inputs[0].layout.type),
            table_type_name(out->type));
    message("%.3g s, %.3g GB/s", seconds, gigabytes_per_second(job, seconds));
}

static int warn_of_sums(const struct scan_job *job) {
    const size_t columns = job->out_layout.columns;
    const table_type type = job->out_layout.type;
    const unsigned long long not_finite = job->not_finite.first, overflow = job->first_overflow;
    if (not_finite != SCAN_NONE && !job->arguments.common.quiet)
        message("%s: row %llu, column %llu is the first whose sum as %s is not finite though the values in it are%s",
                job->name, not_finite / columns, not_finite % columns, table_type_name(type),
                type == TABLE_F32 ? "; --out-type f64 avoids it" : "");
    say_one_row(&job->arguments, job->name, &job->out_layout);
    if (job->skipped > 0 && !job->arguments.common.quiet)
        message("%s: %llu NaN were skipped", job->name, (unsigned long long)job->skipped);
    if (overflow == SCAN_NONE)
        return EX_OK;
    const char *const result = table_operation_name(job->arguments.operation);
    return fail(EX_DATAERR,
                "%s: overflow: row %llu, column %llu is the first whose %s does not fit in %s; the %ss are written, "
                "wrapped (--wrap: without looking%s)",
                job->name, overflow / columns, overflow % columns, result, table_type_name(type), result,
                table_type_size(type) < 8 ? "; without --out-type they have 64 bits" : "");
}

int scan_tell(void *context) {
    const struct scan_job *job = context;
    if (job->arguments.common.json)
        print_json(job);
    else if (!job->arguments.common.quiet)
        print_summary(job);
    say_fewer_threads(&job->arguments.common, job->report.scan.threads, job->report.scan.backend);
    return warn_of_sums(job);
}
