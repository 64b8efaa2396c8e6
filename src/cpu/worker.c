#include "worker.h"

#include <string.h>

struct worker worker_make(const struct division *division, char *memory) {
    const struct scan *scan = division->scan;
    struct worker worker = {.first_overflow = TABLE_NO_OVERFLOW};
    worker.before = memory;
    worker.sums = worker.before + division->row_bytes;
    worker.totals = worker.sums + division->row_bytes;
    worker.block_in = worker.totals + division->row_bytes;
    worker.block_out = worker.block_in + (division->stage_in ? division->block_bytes : 0);
    worker.state = (struct cpu_state){
        .memory = worker.block_out + (division->stage_out ? division->block_bytes : 0),
        .row_bytes = division->row_bytes,
        .groups = division->groups,
        .exclusive = scan->exclusive,
        .signed_values = scan->out.type == TABLE_I32 || scan->out.type == TABLE_I64,
    };
    return worker;
}

static char *cell(const struct table_view *table, size_t row, size_t column) {
    return (char *)table->data + (row * table->stride + column) * table_type_size(table->type);
}

/* Some rows of a unit, as a kernel takes and gives them. */
struct block {
    size_t first_row, rows;
    const void *in;
    void *out;
    size_t in_stride, out_stride;
};

static struct block make_block(const struct worker *worker, const struct division *division, const struct unit *unit,
                               size_t done) {
    const struct scan *scan = division->scan;
    struct block block = {.first_row = unit->first_row + done, .rows = unit->rows - done};
    if (block.rows > division->block_rows)
        block.rows = division->block_rows;
    block.in = cell(&scan->in, block.first_row, unit->first_column);
    block.in_stride = scan->in.stride;
    if (division->stage_in) {
        division->kernels->convert[scan->in.type][scan->out.type](worker->block_in, unit->columns, block.in,
                                                                  block.in_stride, block.rows, unit->columns);
        block.in = worker->block_in;
        block.in_stride = unit->columns;
    }
    block.out = worker->block_out;
    block.out_stride = unit->columns;
    if (!division->stage_out && scan->out.data) {
        block.out = cell(&scan->out, block.first_row, unit->first_column);
        block.out_stride = scan->out.stride;
    }
    return block;
}

/* From the small buffer to where the results belong. */
static void write_block(const struct division *division, const struct unit *unit, const struct block *block) {
    const struct table_view *out = &division->scan->out;
    char *to = cell(out, block->first_row, unit->first_column);
    const char *from = block->out;
    size_t rows = block->rows, row_bytes = unit->columns * division->value_bytes;
    if (!division->stream) {
        division->kernels->convert[out->type][out->type](to, out->stride, from, unit->columns, rows, unit->columns);
        return;
    }
    if (out->stride == unit->columns) {
        row_bytes *= rows;
        rows = 1;
    }
    for (size_t i = 0; i < rows; i++)
        division->kernels->stream(to + i * out->stride * division->value_bytes, from + i * row_bytes, row_bytes);
}

/* Puts a row of sums where the kernel looks for the row before the first, or takes it from there. */
static char *last_row(const struct worker *worker, const struct division *division) {
    return worker->state.memory + CPU_LAST_ROW * division->row_bytes + division->kernel->last * division->value_bytes;
}

static void begin(struct worker *worker, const struct division *division, const struct unit *unit, const void *sums) {
    memset(worker->state.memory, 0, CPU_STACK_ROW * division->row_bytes);
    if (sums)
        memcpy(last_row(worker, division), sums, unit->columns * division->value_bytes);
    worker->state.columns = unit->columns;
    worker->state.group = 0;
    worker->state.check = false;
    worker->state.overflowed = false;
}

void worker_totals(struct worker *worker, const struct division *division, const struct unit *unit) {
    begin(worker, division, unit, NULL);
    for (size_t done = 0; done < unit->rows;) {
        const struct block block = make_block(worker, division, unit, done);
        division->kernel->totals(&worker->state, block.in, block.in_stride, block.rows);
        done += block.rows;
    }
    memcpy(worker->totals, last_row(worker, division), unit->columns * division->value_bytes);
}

/* Whether `sum`, which follows `before` in its column, has left its type: see vector.h. */
static bool has_left(const char *before, const char *sum, bool is_signed, bool is_long) {
    uint64_t a = 0, b = 0;
    uint32_t a32 = 0, b32 = 0;
    if (is_long) {
        memcpy(&a, before, sizeof a);
        memcpy(&b, sum, sizeof b);
    } else {
        memcpy(&a32, before, sizeof a32);
        memcpy(&b32, sum, sizeof b32);
        a = (uint64_t)a32 << 32; /* the same question in the upper half */
        b = (uint64_t)b32 << 32;
    }
    return is_signed ? ((a ^ b) & (b ^ (b - a))) >> 63 != 0 : b < a;
}

/* The first wrong sum of a block in which there is one. Inclusive sums are the results; exclusive ones are one row
 * further up, and those of the last row with the kernel. */
static void locate_overflow(struct worker *worker, const struct division *division, const struct unit *unit,
                            const struct block *block) {
    const size_t bytes = division->value_bytes, pitch = block->out_stride * bytes;
    const bool is_signed = worker->state.signed_values, is_long = bytes == sizeof(uint64_t);
    const char *before = worker->before, *results = block->out;
    for (size_t i = 0; i < block->rows; i++) {
        const char *sums = results + i * pitch;
        if (worker->state.exclusive)
            sums = i + 1 < block->rows ? sums + pitch : last_row(worker, division);
        for (size_t j = 0; j < unit->columns; j++)
            if (has_left(before + j * bytes, sums + j * bytes, is_signed, is_long)) {
                const uint64_t found =
                    (uint64_t)(block->first_row + i) * division->scan->in.columns + unit->first_column + j;
                if (found < worker->first_overflow)
                    worker->first_overflow = found;
                return;
            }
        before = sums;
    }
}

static void scan_block(struct worker *worker, const struct division *division, const struct unit *unit,
                       const struct block *block) {
    struct cpu_state *state = &worker->state;
    const size_t row_bytes = unit->columns * division->value_bytes;
    state->check = division->scan->first_overflow &&
                   (uint64_t)block->first_row * division->scan->in.columns < worker->first_overflow;
    if (state->check)
        memcpy(worker->before, last_row(worker, division), row_bytes);
    state->past_caches = division->stream && !division->stage_out &&
                         (division->kernel->turns || (uintptr_t)block->out % CPU_ALIGNMENT == 0);
    division->kernel->scan(state, block->in, block->in_stride, block->out, block->out_stride, block->rows);
    if (state->overflowed) {
        locate_overflow(worker, division, unit, block);
        state->overflowed = false;
    }
    if (division->stage_out)
        write_block(division, unit, block);
}

void worker_scan(struct worker *worker, const struct division *division, const struct unit *unit) {
    begin(worker, division, unit, worker->sums);
    for (size_t done = 0; done < unit->rows;) {
        const struct block block = make_block(worker, division, unit, done);
        scan_block(worker, division, unit, &block);
        done += block.rows;
    }
    memcpy(worker->sums, last_row(worker, division), unit->columns * division->value_bytes);
    if (division->stream)
        division->kernels->stream_end();
}
