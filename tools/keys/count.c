/* tuplescan count: the digits of keys, chunk by chunk, as a table. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "json.h"
#include "keys.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "threads.h"

struct count_job {
    struct count_arguments arguments;
    struct input_file input;
    struct atomic_file output;
    struct table_layout layout;
    const struct output_format *format;
    size_t chunk;   /* keys */
    char *counters; /* room for counter_rows rows of row_bytes each */
    size_t counter_rows, row_bytes;
    table_digit digit;
    struct memory_budget budget;
    table_pipeline_report report;
};

static void check_arguments(struct count_job *job) {
    struct count_arguments *arguments = &job->arguments;
    job->digit = (table_digit){.first_bit = arguments->first_bit,
                               .bits = arguments->has_bits ? arguments->bits : 8,
                               .descending = arguments->descending};
    if (!arguments->common.output)
        die(EX_USAGE, "-o OUTPUT is missing");
    if (job->digit.bits < 1 || job->digit.bits > TABLE_DIGIT_BITS_MOST)
        die(EX_USAGE, "--bits %u: not 1 to %d", job->digit.bits, TABLE_DIGIT_BITS_MOST);
    if (arguments->common.out_type && arguments->common.out_type != TABLE_U32 &&
        arguments->common.out_type != TABLE_U64)
        die(EX_USAGE, "--out-type %s: counters are u32 or u64", table_type_name(arguments->common.out_type));
    check_outputs(&arguments->common, NULL, NULL, NULL);
}

/* Lays out the counters of `keys` keys. */
static void lay_out(struct count_job *job, uint64_t keys) {
    const table_type type = job->arguments.common.out_type ? job->arguments.common.out_type : TABLE_U64;
    if (type == TABLE_U32 && keys > UINT32_MAX)
        die(EX_DATAERR, "%s: has more than the 2^32 - 1 keys that u32 counts; --out-type u64 counts all",
            job->input.name);
    const size_t chunks = table_digit_chunks((size_t)keys, job->chunk, job->digit.bits);
    if (!layout_set(&job->layout, type, chunks, (size_t)1 << job->digit.bits))
        die(EX_DATAERR, "%s: its counters are beyond the address space", job->input.name);
}

static void open_input(struct count_job *job) {
    const struct count_arguments *arguments = &job->arguments;
    open_keys(&job->input, true, &arguments->common);
    const table_type type = job->input.layout.type;
    const size_t width = 8 * table_type_size(type);
    if (job->digit.first_bit >= width)
        die(EX_USAGE, "--first-bit %u: keys of %s have the bits 0 to %zu", job->digit.first_bit, table_type_name(type),
            width - 1);
    job->chunk = arguments->chunk ? arguments->chunk : table_digit_chunk_length(job->digit.bits);
    job->format =
        output_format_for(arguments->common.output, arguments->common.output_format, job->input.format->output);
    lay_out(job, keys_view(&job->input).rows);
}

/* Room for `rows` rows of counters in all: for more than that, if it is not known how many there will be. */
static void make_room(struct count_job *job, size_t rows) {
    const size_t most = memory_left(&job->budget) / job->row_bytes;
    size_t room = job->counter_rows ? 2 * job->counter_rows : rows;
    if (rows <= job->counter_rows)
        return;
    room = least(room < rows ? rows : room, most);
    if (room < rows)
        memory_charge(&job->budget, job->input.name, rows * job->row_bytes);
    void *counters =
        job->counter_rows > 0 ? realloc(job->counters, room * job->row_bytes) : memory_allocate(room * job->row_bytes);
    if (!counters)
        die(EX_OSERR, "%s: out of memory for %zu rows of %zu bytes of counters", job->input.name, rows, job->row_bytes);
    job->counters = counters;
    job->counter_rows = room;
}

static void add_row(table_type type, void *to, const void *from, size_t columns) {
    for (size_t i = 0; i < columns; i++) {
        if (type == TABLE_U32)
            ((uint32_t *)to)[i] += ((const uint32_t *)from)[i];
        else
            ((uint64_t *)to)[i] += ((const uint64_t *)from)[i];
    }
}

/* Counts keys from `place` on, of whole chunks, or of one whose first keys may have been counted. */
static void count_keys(struct count_job *job, const table_view *keys, uint64_t place, void *spare) {
    const struct count_arguments *arguments = &job->arguments;
    const size_t first = (size_t)(place / job->chunk), rows = table_digit_chunks(keys->rows, job->chunk, 1);
    const bool goes_on = place % job->chunk > 0;
    table_pipeline_report report = {0};
    const table_pipeline_options options = {
        .backend = arguments->common.backend, .threads = arguments->common.threads, .report = &report};
    make_room(job, first + rows);
    char *const row = job->counters + first * job->row_bytes;
    const table_view counters = {
        .data = goes_on ? spare : row, .rows = rows, .columns = job->layout.columns, .type = job->layout.type};
    die_unless_ok(job->input.name, table_digit_counts(keys, &job->digit, job->chunk, &counters, &options));
    if (goes_on && rows > 0)
        add_row(job->layout.type, row, spare, job->layout.columns);
    add_report(&job->report, &report);
}

/* Keys of the next piece: whole chunks, or the rest of one. */
static size_t next_piece(const struct count_job *job, const struct key_pieces *pieces) {
    const size_t begun = (size_t)(pieces->done % job->chunk), most = pieces->most;
    return begun > 0 ? job->chunk - begun : job->chunk < most ? most / job->chunk * job->chunk : most;
}

static void count_pieces(struct count_job *job, struct key_pieces *pieces, void *spare) {
    for (bool over = false; !over;) {
        const uint64_t place = pieces->done;
        const table_view keys = keys_next(pieces, next_piece(job, pieces), &over);
        lay_out(job, pieces->done);
        count_keys(job, &keys, place, spare);
    }
}

static void rank_keys(struct count_job *job) {
    const table_view counters = {job->counters, job->layout.rows, job->layout.columns, 0, job->layout.type};
    table_pipeline_report report = {0};
    const table_pipeline_options options = {
        .backend = job->arguments.common.backend, .threads = job->arguments.common.threads, .report = &report};
    die_unless_ok(job->input.name, table_chunk_ranks(&counters, &counters, NULL, NULL, &options));
    job->report.scan_seconds += report.scan_seconds;
    job->report.seconds += report.seconds;
}

/* Whether a piece may begin within a chunk. */
static bool splits_chunks(const struct count_job *job, const struct key_pieces *pieces) {
    return job->chunk > pieces->most && !(job->input.rows_known && keys_view(&job->input).rows <= pieces->most);
}

/* There is memory for the counters before anything is counted, as far as it is known how many there are. */
static void count(struct count_job *job) {
    struct key_pieces pieces = {0};
    job->row_bytes = job->layout.columns * table_type_size(job->layout.type);
    job->budget.most = memory_there(job->arguments.common.memory);
    keys_begin(&pieces, &job->input, &job->budget);
    const bool splits = splits_chunks(job, &pieces);
    if (splits)
        memory_add(&job->budget, job->row_bytes);
    make_room(job, job->layout.rows ? job->layout.rows : 1);
    void *const spare = splits ? memory_for(job->input.name, job->row_bytes) : NULL;
    count_pieces(job, &pieces, spare);
    free(pieces.buffer);
    free(spare);
    if (job->arguments.ranks)
        rank_keys(job);
}

static void print_json(const struct count_job *job) {
    json_object(NULL);
    json_string("keys", job->input.name);
    json_string("output", job->arguments.common.output);
    json_string("type", table_type_name(job->input.layout.type));
    json_size("key_count", keys_view(&job->input).rows);
    json_size("chunk_length", job->report.chunk_length);
    json_size("chunks", job->layout.rows);
    json_size("first_bit", job->digit.first_bit);
    json_size("bits", job->digit.bits);
    json_string("out_type", table_type_name(job->layout.type));
    json_bool("ranks", job->arguments.ranks);
    print_report(&job->report, job->input.layout.bytes);
    job_times_json();
    json_end();
}

static void tell(const struct count_job *job) {
    char times[JOB_TIMES_TEXT], list[LIST_TEXT];
    job_times_text(times);
    if (job->arguments.common.json)
        print_json(job);
    else if (!job->arguments.common.quiet)
        message("%zu keys of %s%s in %zu chunks of %zu, %zu digits: %.3g ms; %s", keys_view(&job->input).rows,
                table_type_name(job->input.layout.type), list_text(&job->input, list), job->layout.rows,
                job->report.chunk_length, job->layout.columns, 1e3 * job->report.seconds, times);
    say_fewer_threads(&job->arguments.common, job->report.threads, job->report.backend);
}

int count_main(int argc, char **argv) {
    static struct count_job job;
    const struct arguments *const arguments = &job.arguments.common;
    job_begin(&options_of_count, &job.arguments, argc, argv);
    check_arguments(&job);
    open_input(&job);
    job_step(STEP_READ);
    open_output(&job.output, arguments->output, arguments->force, job.format, &job.layout);
    job_step(STEP_WRITE);
    count(&job);
    job_step(STEP_WORK);
    input_unchanged(&job.input);
    write_whole(&job.output, job.format, &job.layout, job.counters);
    atomic_file_publish(&job.output, NULL);
    job_step(STEP_WRITE);
    input_release(&job.input);
    free(job.counters);
    job_step(STEP_FREE);
    tell(&job);
    return EX_OK;
}
