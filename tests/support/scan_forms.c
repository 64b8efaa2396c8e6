#include "scan_run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <tuplescan/stages.h>

#include "call.h"

static void require_ok(const struct run *run, table_status status) {
    if (status != TABLE_OK)
        fail_run(run, "%s: %s", table_status_name(status), table_error_detail());
    if (table_error_detail()[0]) /* no call has failed before */
        fail_run(run, "a call that has succeeded says: %s", table_error_detail());
}

static void require_image(const struct run *run, const struct table *table, const char *name) {
    struct difference difference;
    if (table_holds_image(table, &difference))
        return;
    if (difference.row >= table->view.rows)
        fail_run(run, "%s: the memory around the table was written (or cannot be read)", name);
    fail_run(run, "%s is wrong at row %zu, column %zu%s: expected %#" PRIx64 ", found %#" PRIx64, name, difference.row,
             difference.column, difference.column >= table->view.columns ? " (in the gap after the row)" : "",
             difference.expected, difference.found);
}

/* One row or word beside the tables: a carry, or the overflow report. */
static void open_side_block(const struct run *run, struct block *block, bool on_host, size_t bytes, const void *from) {
    const struct memory *memory = on_host ? &host_memory : run->way->memory;
    require(run, block_open(block, memory, bytes, 0, EDGE_BACK) && (!from || block_upload(block, from)),
            "no memory for a row of carry");
}

static void close_side_block(const struct run *run, struct block *block, const char *name) {
    if (!block_surroundings_intact(block))
        fail_run(run, "the memory around %s was written", name);
    block_close(block);
}

static void require_row(const struct run *run, const struct block *block, const void *expected, const char *name) {
    const struct scan_case *c = run->scan_case;
    const table_type type = reference_kept_type(c->operation, c->out_type);
    const size_t size = element_size(type);
    unsigned char *found = malloc(block->bytes);
    require(run, found && block_download(block, found), "a row of carry cannot be read");
    for (size_t j = 0; j < c->columns; j++) {
        const uint64_t right = element_bits((const char *)expected + j * size, type);
        const uint64_t wrong = element_bits(found + j * size, type);
        if (!elements_same(right, wrong, type))
            fail_run(run, "%s is wrong at column %zu: expected %#" PRIx64 ", found %#" PRIx64, name, j, right, wrong);
    }
    free(found);
}

static void require_skipped(const struct run *run, const struct block *word) {
    uint64_t found;
    require(run, block_download(word, &found), "skipped cannot be read");
    if (found != run->expected.skipped)
        fail_run(run, "skipped: expected %" PRIu64 ", found %" PRIu64, run->expected.skipped, found);
}

static void require_overflow(const struct run *run, const struct block *word) {
    uint64_t found;
    require(run, block_download(word, &found), "first_overflow cannot be read");
    if (found != run->expected.first_overflow)
        fail_run(run, "first_overflow: expected %" PRIu64 ", found %" PRIu64, run->expected.first_overflow, found);
}

/* Puts the input back, and rubbish into the output. */
static void reset_tables(struct run *run) {
    memcpy(run->in.image, run->in_values, run->in.block.bytes);
    require(run, table_upload(&run->in), "the input cannot be written");
    if (run->out_table == &run->in)
        return;
    table_fill_rubbish(&run->out, &run->random);
    require(run, table_upload(&run->out), "the output cannot be written");
}

static void require_results(struct run *run) {
    table_set_packed(run->out_table, run->expected.sums);
    require_image(run, run->out_table, "out");
    if (run->out_table != &run->in)
        require_image(run, &run->in, "in");
}

static table_view seen(const struct run *run, const struct table *table) {
    table_view view = table->view;
    if (run->scan_case->zero_stride && view.stride == (ptrdiff_t)view.columns)
        view.stride = 0;
    return view;
}

static table_scan_options plain_options(const struct run *run) {
    return (table_scan_options){
        .backend = run->way->backend,
        .operation = run->scan_case->operation,
        .strategy = run->strategy,
        .threads = run->scan_case->threads,
        .reverse = run->scan_case->reverse,
        .skip_nan = run->scan_case->skip_nan,
    };
}

/* The carries and the overflow word of a call. */
struct sides {
    struct block carry_in, carry_out, overflow, skipped;
};

static void open_sides(struct run *run, bool on_host, table_scan_options *options, struct sides *sides) {
    const struct scan_case *c = run->scan_case;
    const size_t row_bytes = c->columns * element_size(reference_kept_type(c->operation, c->out_type));
    if (c->carry_in) {
        open_side_block(run, &sides->carry_in, on_host, row_bytes, run->carry);
        options->carry_in = sides->carry_in.address;
    }
    if (c->carry_out && c->same_carry) {
        options->carry_out = sides->carry_in.address;
    } else if (c->carry_out) {
        open_side_block(run, &sides->carry_out, on_host, row_bytes, NULL);
        options->carry_out = sides->carry_out.address;
    }
    if (c->check_overflow) {
        const uint64_t rubbish = 3;
        open_side_block(run, &sides->overflow, on_host, sizeof rubbish, &rubbish);
        options->first_overflow = sides->overflow.address;
    }
    if (c->skip_nan) {
        const uint64_t rubbish = 5;
        open_side_block(run, &sides->skipped, on_host, sizeof rubbish, &rubbish);
        options->skipped = sides->skipped.address;
    }
}

static void require_sides(struct run *run, struct sides *sides) {
    const struct scan_case *c = run->scan_case;
    if (c->carry_out)
        require_row(run, c->same_carry ? &sides->carry_in : &sides->carry_out, run->expected.carry_out, "carry_out");
    if (c->carry_in && !c->same_carry)
        require_row(run, &sides->carry_in, run->carry, "carry_in after the call");
    if (c->check_overflow)
        require_overflow(run, &sides->overflow);
    if (c->skip_nan) {
        require_skipped(run, &sides->skipped);
        close_side_block(run, &sides->skipped, "skipped");
    }
    if (c->carry_in)
        close_side_block(run, &sides->carry_in, "carry_in");
    if (c->carry_out && !c->same_carry)
        close_side_block(run, &sides->carry_out, "carry_out");
    if (c->check_overflow)
        close_side_block(run, &sides->overflow, "first_overflow");
}

static void require_report(const struct run *run, const table_report *report) {
    const struct scan_case *c = run->scan_case;
    require(run, report->backend == run->way->backend, "the report names another backend");
    require(run, report->strategy != TABLE_STRATEGY_AUTO, "the report's strategy is AUTO");
    require(run, run->strategy == TABLE_STRATEGY_AUTO || report->strategy == run->strategy,
            "the report names another strategy");
    require(run, report->units == c->rows / REFERENCE_UNIT + (c->rows % REFERENCE_UNIT != 0),
            "the report's units is wrong");
    require(run, report->seconds >= 0 && report->transfer_seconds >= 0, "the report's seconds are negative");
}

void check_one_call(struct run *run) {
    table_scan_options options = plain_options(run);
    struct sides sides = {0};
    table_report report = {0};
    const table_view in = seen(run, &run->in), out = seen(run, run->out_table);
    run->form = "one call";
    options.exclusive = run->scan_case->exclusive;
    if (random_once_in(&run->random, 2))
        options.report = &report;
    reset_tables(run);
    open_sides(run, run->scan_case->host_rows, &options, &sides);
    require_ok(run, table_prefix_sum(&in, &out, &options));
    require_results(run);
    require_sides(run, &sides);
    if (options.report)
        require_report(run, &report);
}

void check_stream_form(struct run *run) {
    table_scan_options options = plain_options(run);
    struct sides sides = {0};
    const table_view in = seen(run, &run->in), out = seen(run, run->out_table);
    run->form = "workspace and stream";
    options.exclusive = run->scan_case->exclusive;
    reset_tables(run);
    open_sides(run, false, &options, &sides);
    const char *wrong = call_on_stream(run->way, NULL, &in, &out, &options, &run->random);
    if (wrong)
        fail_run(run, "%s: %s", wrong, table_error_detail());
    require_ok(run, TABLE_OK);
    require_results(run);
    require_sides(run, &sides);
}

void check_totals(struct run *run) {
    const struct scan_case *c = run->scan_case;
    table_scan_options options = plain_options(run);
    struct block carry_in = {0}, totals;
    const size_t row_bytes = c->columns * element_size(reference_kept_type(c->operation, c->out_type));
    const table_view in = seen(run, &run->in);
    run->form = "column totals";
    reset_tables(run);
    if (c->carry_in) {
        open_side_block(run, &carry_in, c->host_rows, row_bytes, run->carry);
        options.carry_in = carry_in.address;
    }
    open_side_block(run, &totals, c->host_rows, row_bytes, NULL);
    require_ok(run, table_column_totals(&in, reference_kept_type(c->operation, c->out_type), totals.address, &options));
    require_row(run, &totals, run->expected.carry_out, "totals");
    require_image(run, &run->in, "in");
    close_side_block(run, &totals, "totals");
    if (c->carry_in)
        close_side_block(run, &carry_in, "carry_in");
}

/* Row 0 of the seeds holds the carry; rubbish elsewhere. */
static void open_seeds(struct run *run, struct table *seeds) {
    const struct scan_case *c = run->scan_case;
    const size_t rows = table_seeds_rows(c->out_type, c->rows, c->columns);
    const size_t row_bytes = c->columns * element_size(reference_kept_type(c->operation, c->out_type));
    require(run, rows == c->rows / REFERENCE_UNIT + (c->rows % REFERENCE_UNIT != 0) + 1, "table_seeds_rows is wrong");
    require(run,
            table_open(seeds, run->way->memory, reference_kept_type(c->operation, c->out_type), rows, c->columns,
                       c->columns, random_below(&run->random, 3),
                       random_once_in(&run->random, 2) ? EDGE_FRONT : EDGE_BACK),
            "no memory for the seeds");
    table_randomize(seeds, &run->random, PATTERN_BITS);
    memcpy(seeds->image, run->expected.seeds, row_bytes); /* the carry */
    require(run, table_upload(seeds), "the seeds cannot be written");
}

void check_stages(struct run *run) {
    const struct scan_case *c = run->scan_case;
    table_scan_options options = plain_options(run);
    const table_view in = seen(run, &run->in), out = seen(run, run->out_table);
    const size_t row_bytes = c->columns * element_size(reference_kept_type(c->operation, c->out_type));
    const uint64_t rubbish = 3;
    struct block overflow = {0};
    struct table seeds;
    reset_tables(run);
    open_seeds(run, &seeds);

    run->form = "stage 1 by itself";
    require_ok(run, table_stage1_local_counts(&in, &seeds.view, &options));
    memcpy(seeds.image + row_bytes, run->expected.totals, seeds.block.bytes - row_bytes);
    require_image(run, &seeds, "seeds");
    require_image(run, &run->in, "in");

    run->form = "stage 2 by itself";
    require_ok(run, table_stage2_scan_totals(&seeds.view, &options));
    memcpy(seeds.image, run->expected.seeds, seeds.block.bytes);
    require_image(run, &seeds, "seeds");

    run->form = "stage 3 by itself";
    options.exclusive = c->exclusive;
    if (c->check_overflow) {
        open_side_block(run, &overflow, c->host_rows, sizeof rubbish, &rubbish);
        options.first_overflow = overflow.address;
    }
    require_ok(run, table_stage3_global_pass(&in, &seeds.view, &out, &options));
    require_results(run);
    require_image(run, &seeds, "seeds");
    if (c->check_overflow) {
        require_overflow(run, &overflow);
        close_side_block(run, &overflow, "first_overflow");
    }
    table_close(&seeds);
}
