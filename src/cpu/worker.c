#include "worker.h"

#include <string.h>

#include "../interrupt.h"
#include "../tree.h"

struct worker worker_make(const struct division *division, char *memory) {
    const struct scan *scan = division->scan;
    struct worker worker = {.found = FINDINGS_NONE};
    worker.before = memory;
    worker.start = worker.before + division->row_bytes;
    worker.above = worker.start + division->row_bytes;
    worker.sums = worker.above + division->row_bytes;
    worker.edge = worker.sums + division->row_bytes;
    worker.block_factors = worker.edge + division->edge_bytes;
    char *const products = worker.block_factors + division->factor_bytes;
    worker.block_in = products + division->product_bytes;
    worker.block_out = worker.block_in + (division->stage_in ? division->block_bytes : 0);
    worker.block_converted = worker.block_out + (division->stage_out ? division->block_bytes : 0);
    worker.state = (struct cpu_state){
        .memory = worker.block_converted + (division->convert_out ? division->block_bytes : 0),
        .row_bytes = division->kernel->packed ? division->kernels->vector_bytes : division->row_bytes,
        .groups = division->groups,
        .products = division->product_bytes > 0 ? products : NULL,
        .top = division->top,
        .in_format = division->in_format,
        .out_format = division->out_format,
        .exclusive = scan->exclusive,
        .signed_values = scan->first_overflow && type_is_signed_integer(division->element->type),
    };
    return worker;
}

/* Some rows of a part, as a kernel takes and gives them. */
struct block {
    size_t first_row, rows;
    const void *in;
    void *out;
    ptrdiff_t in_stride, out_stride;
};

/* The rows of the next block come while this one is worked on: the processor does not see the burst of loads coming. */
static void fetch_ahead(const struct division *division, const struct part *part, size_t done) {
    enum { LINE = 64 };
    const struct table_view *in = &division->scan->in;
    size_t rows = part->rows - done < division->block_rows ? part->rows - done : division->block_rows;
    const size_t size = table_type_size(in->type);
    size_t row_bytes = part->columns * size;
    const char *row = division_cell(in, part->first_row + done, part->first_column);
    if (in->stride == division_packed(in, part->columns)) {
        row -= division_first(in->stride, rows, size);
        row_bytes *= rows;
        rows = rows > 0;
    }
    for (; rows > 0; rows--, row += in->stride * (ptrdiff_t)size)
        for (size_t at = 0; at < row_bytes; at += LINE)
            __builtin_prefetch(row + at, 0, 3);
}

/* counts: what counts as nothing here is not seen again. */
static struct block make_block(struct worker *worker, const struct division *division, const struct part *part,
                               size_t done, bool counts) {
    const struct scan *scan = division->scan;
    struct block block = {.first_row = part->first_row + done, .rows = part->rows - done};
    if (block.rows > division->block_rows)
        block.rows = division->block_rows;
    if (scan->factors.data)
        block.rows = factors_point(worker, division, part, block.first_row, block.rows);
    block.in = division_cell(&scan->in, block.first_row, part->first_column);
    block.in_stride = scan->in.stride;
    if (division->stage_in) {
        block.in_stride = division_packed(&scan->in, part->columns);
        division_take(division, counts ? &worker->found : NULL, worker->block_in, block.in_stride, block.in, block.rows,
                      part->columns);
        fetch_ahead(division, part, done + block.rows);
        block.in = worker->block_in + division_first(block.in_stride, block.rows, division->value_bytes);
    }
    if (!division->stage_out && scan->out.data) {
        block.out = division_cell(&scan->out, block.first_row, part->first_column);
        block.out_stride = scan->out.stride;
    } else {
        block.out_stride = division_packed(&scan->out, part->columns);
        block.out = worker->block_out + division_first(block.out_stride, block.rows, division->value_bytes);
    }
    return block;
}

/* Brings results from the small buffer to where they belong, in long runs past the caches. */
static void write_block(const struct worker *worker, const struct division *division, const struct part *part,
                        const struct block *block) {
    const struct table_view *out = &division->scan->out;
    const size_t size = table_type_size(out->type);
    const ptrdiff_t stride = block->out_stride, step = out->stride * (ptrdiff_t)size;
    size_t rows = block->rows, row_bytes = part->columns * size;
    ptrdiff_t from_step = stride * (ptrdiff_t)size;
    char *to = division_cell(out, block->first_row, part->first_column);
    const char *from = block->out;
    if (!division->stream) {
        division_give(division, to, out->stride, from, stride, rows, part->columns);
        return;
    }
    if (division->convert_out) {
        char *const first = worker->block_converted + division_first(stride, rows, size);
        division_give(division, first, stride, from, stride, rows, part->columns);
        from = first;
    }
    if (out->stride == stride) {
        to -= division_first(stride, rows, size);
        from -= division_first(stride, rows, size);
        row_bytes *= rows;
        rows = 1;
    }
    for (; rows > 0; rows--, to += step, from += from_step)
        division->kernels->stream(to, from, row_bytes);
}

char *worker_row(const struct worker *worker, const struct division *division, size_t row) {
    return worker->state.memory + row * worker->state.row_bytes + division->kernel->last * division->element->bytes;
}

const void *worker_last(const struct worker *worker, const struct division *division) {
    return worker_row(worker, division, CPU_LAST_ROW);
}

void worker_set_row(struct worker *worker, const struct division *division, const struct part *part, size_t row,
                    const void *sums) {
    const size_t lanes = division->kernels->vector_bytes / division->value_bytes;
    const size_t slots = lanes - division->kernel->last, bytes = division_part_bytes(division, part);
    char *to = worker_row(worker, division, row);
    for (size_t lane = division->kernel->last;; lane -= slots, to -= slots * division->element->bytes) {
        memcpy(to, sums, bytes);
        if (lane == 0)
            break;
    }
}

/* In all lanes of the row that elements in any order gather in. */
static void put_identity(const struct worker *worker, const struct division *division) {
    const struct element *element = division->element;
    char *const last = worker->state.memory + CPU_LAST_ROW * worker->state.row_bytes;
    element_fill(element, last, element->identity, worker->state.row_bytes / element->bytes);
}

void worker_begin(struct worker *worker, const struct division *division, const struct part *part, const void *start,
                  const void *above) {
    const void *const last = above ? above : start;
    const size_t bytes = division_part_bytes(division, part);
    memset(worker->state.memory, 0, CPU_STACK_ROW * worker->state.row_bytes);
    if (last)
        memcpy(worker_row(worker, division, CPU_LAST_ROW), last, bytes);
    else if (!division->element->start_is_zero)
        put_identity(worker, division);
    if (start && division->element->ordered) {
        memcpy(worker_row(worker, division, CPU_START_ROW), start, bytes);
        memcpy(worker_row(worker, division, CPU_SEED_ROW), start, bytes);
    }
    worker->state.columns = part->columns;
    worker->state.group = worker->state.alike_groups = 0;
    worker->state.unit = 0;
    worker->state.check = false;
    worker->state.overflowed = false;
    worker->missing = 0;
    worker->keeps = false;
}

/* The totals that wait to be joined: of groups in the unit, and of units, by the kernel's two counters. */
static struct tree pending(const struct worker *worker, const struct division *division, const struct part *part,
                           bool of_units) {
    return (struct tree){.element = division->element,
                         .of_units = of_units,
                         .columns = part->columns,
                         .levels = worker_row(worker, division, CPU_STACK_ROW + (of_units ? division->top + 1 : 0)),
                         .pitch = worker->state.row_bytes};
}

void worker_put_total(const struct worker *worker, const struct division *division, const struct part *part, void *to) {
    if (!division->element->ordered) {
        memcpy(to, worker_last(worker, division), division_part_bytes(division, part));
        return;
    }
    const struct tree groups = pending(worker, division, part, false), units = pending(worker, division, part, true);
    tree_total(&groups, worker->state.group, to);
    if (worker->state.unit > 0)
        tree_push(&units, worker->state.unit, to);
}

void worker_add_rows(const struct worker *worker, const struct division *division, const struct part *part, void *to) {
    if (!division->element->ordered) {
        division->element->combine(to, to, worker_last(worker, division), part->columns);
        return;
    }
    const struct tree groups = pending(worker, division, part, false), units = pending(worker, division, part, true);
    tree_seed(&units, worker->state.unit, to);
    tree_total(&groups, worker->state.group, worker->before);
    division->element->combine(to, to, worker->before, part->columns);
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

static void note_overflow(struct worker *worker, const struct division *division, const struct part *part, size_t row,
                          size_t column) {
    const uint64_t found = (uint64_t)row * division->scan->in.columns + part->first_column + column;
    if (found < worker->found.first_overflow)
        worker->found.first_overflow = found;
}

/* The first wrong sum of a block in which there is one. Inclusive sums are the results; exclusive ones are one row
 * further up, and the kernel has the last row's. */
static void locate_overflow(struct worker *worker, const struct division *division, const struct part *part,
                            const struct block *block) {
    const size_t bytes = division->value_bytes;
    const ptrdiff_t pitch = block->out_stride * (ptrdiff_t)bytes;
    const bool is_signed = worker->state.signed_values, is_long = bytes == sizeof(uint64_t);
    const char *before = worker->before, *results = block->out;
    for (size_t i = 0; i < block->rows; i++) {
        const char *sums = results + (ptrdiff_t)i * pitch;
        if (worker->state.exclusive)
            sums = i + 1 < block->rows ? sums + pitch : worker_last(worker, division);
        for (size_t j = 0; j < part->columns; j++)
            if (has_left(before + j * bytes, sums + j * bytes, is_signed, is_long)) {
                note_overflow(worker, division, part, block->first_row + i, j);
                return;
            }
        before = sums;
    }
}

/* Whether `running` leaves its type when it is multiplied by the value, which it is; it wraps. */
static bool multiply(void *running, const char *value, table_type type) {
    switch (type) {
    case TABLE_U32:
        return __builtin_mul_overflow(*(uint32_t *)running, *(const uint32_t *)value, (uint32_t *)running);
    case TABLE_I32:
        return __builtin_mul_overflow(*(int32_t *)running, *(const int32_t *)value, (int32_t *)running);
    case TABLE_U64:
        return __builtin_mul_overflow(*(uint64_t *)running, *(const uint64_t *)value, (uint64_t *)running);
    default:
        return __builtin_mul_overflow(*(int64_t *)running, *(const int64_t *)value, (int64_t *)running);
    }
}

/* The first wrong product of a block, from its values: a product that has wrapped may look like any other, or be 0. */
static void check_products(struct worker *worker, const struct division *division, const struct part *part,
                           const struct block *block) {
    const size_t bytes = division->value_bytes;
    const table_type type = division->element->type;
    const char *row = block->in;
    memcpy(worker->before, worker_last(worker, division), part->columns * bytes);
    for (size_t i = 0; i < block->rows; i++, row += block->in_stride * (ptrdiff_t)bytes)
        for (size_t j = 0; j < part->columns; j++)
            if (multiply(worker->before + j * bytes, row + j * bytes, type)) {
                note_overflow(worker, division, part, block->first_row + i, j);
                return;
            }
}

/* Vectors are written from the first row on, or from its end on in the other direction. */
static bool is_aligned_to_vectors(const struct block *block, size_t row_bytes) {
    const uintptr_t begin = (uintptr_t)block->out;
    return (block->out_stride < 0 ? begin + row_bytes : begin) % CPU_ALIGNMENT == 0;
}

static void scan_block(struct worker *worker, const struct division *division, const struct part *part,
                       const struct block *block) {
    struct cpu_state *state = &worker->state;
    const size_t row_bytes = part->columns * division->value_bytes;
    const bool check = division->scan->first_overflow &&
                       (uint64_t)block->first_row * division->scan->in.columns < worker->found.first_overflow;
    if (check && division->element->check == CHECKS_PRODUCTS)
        check_products(worker, division, part, block);
    state->check = check && division->element->check == CHECKS_SUMS;
    if (state->check)
        memcpy(worker->before, worker_last(worker, division), row_bytes);
    state->past_caches = division->stream && !division->stage_out &&
                         (division->kernel->turns ||
                          is_aligned_to_vectors(block, part->columns * table_type_size(division->scan->out.type)));
    division->kernel->scan(state, block->in, block->in_stride, block->out, block->out_stride, block->rows);
    if (state->overflowed) {
        locate_overflow(worker, division, part, block);
        state->overflowed = false;
    }
    if (division->stage_out)
        write_block(worker, division, part, block);
}

/* The rows between the whole groups and where the part begins and ends: a sum that goes on does so anywhere. */
static struct part take_head(struct worker *worker, const struct division *division, const struct part *part,
                             bool results) {
    const size_t group_rows = division->kernel->group_rows, room = group_rows - worker->missing;
    const size_t head = worker->missing == 0 ? 0 : part->rows < room ? part->rows : room;
    struct part body = *part;
    if (head > 0)
        edge_take(worker, division, part, 0, head, results);
    body.first_row += head;
    body.rows -= head;
    body.rows -= body.rows % group_rows;
    return body;
}

void worker_take(struct worker *worker, const struct division *division, const struct part *part, bool results) {
    const bool counts = results || !division->scan->out.data;
    const struct part body = division->has_edges ? take_head(worker, division, part, results) : *part;
    const size_t head = body.first_row - part->first_row;
    for (size_t done = 0, asked = 0; done < body.rows;) {
        const struct block block = make_block(worker, division, &body, done, counts);
        if (results)
            scan_block(worker, division, &body, &block);
        else
            division->kernel->totals(&worker->state, block.in, block.in_stride, block.rows);
        done += block.rows;
        if (done - asked >= division->ask_rows && done < body.rows) {
            asked = done;
            if (interrupt_came()) /* the rows summed so far are not looked at any more */
                return;
        }
    }
    if (head + body.rows < part->rows)
        edge_take(worker, division, part, head + body.rows, part->rows - head - body.rows, results);
}
