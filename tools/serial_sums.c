#include "serial_sums.h"

#include <string.h>

#include "memory.h"
#include "values.h"

/* Binary digits of the number of units in `rows` rows. */
static unsigned levels_of(uint64_t rows) {
    unsigned levels = 1;
    for (uint64_t units = rows / SERIAL_UNIT; units > 1; units /= 2)
        levels++;
    return levels;
}

static size_t rows_at_a_time(uint64_t rows) { return rows < SERIAL_UNIT ? (size_t)rows : SERIAL_UNIT; }

bool serial_sums_bytes(table_type type, uint64_t rows, size_t columns, size_t *bytes) {
    return size_multiply(columns, table_type_size(table_sum_type(type)), bytes) &&
           size_multiply(*bytes, 4 + levels_of(rows) + rows_at_a_time(rows), bytes);
}

void serial_sums_begin(struct serial_sums *sums, table_type in_type, table_type type, uint64_t rows, size_t columns,
                       const void *carry) {
    size_t bytes;
    type = table_sum_type(type);
    *sums = (struct serial_sums){.in_type = in_type, .type = type, .columns = columns};
    const bool fits = serial_sums_bytes(type, rows, columns, &bytes);
    sums->above = memory_cleared("the sums", fits ? bytes : SIZE_MAX);
    const size_t row_bytes = sums->row_bytes = columns * table_type_size(type);
    sums->sums = sums->above + row_bytes;
    sums->start = sums->sums + rows_at_a_time(rows) * row_bytes;
    sums->seed = sums->start + row_bytes;
    sums->total = sums->seed + row_bytes;
    sums->blocks = sums->total + row_bytes;
    if (carry) {
        memcpy(sums->start, carry, row_bytes);
        memcpy(sums->above, carry, row_bytes);
    }
}

enum { UNIT_LEVEL = STATE_UNIT_LEVEL };

/* How many rows of the next unit were summed before; runs of them are in the state. */
static size_t rows_before(const struct serial_sums *sums) {
    return (size_t)((sums->above_rows + sums->row) % SERIAL_UNIT);
}

static const void *run_of(const struct serial_sums *sums, size_t level) {
    return state_row(sums->state, sums->row_bytes, STATE_RUNS + (unsigned)level);
}

size_t serial_sums_next(const struct serial_sums *sums) { return SERIAL_UNIT - rows_before(sums); }

/* Adds, in each run of 2 * half values, the total of the left half, from the left, to each value of the right one. */
#define HALVE(TYPE, half)                                                                                              \
    for (size_t run = 0; run < SERIAL_UNIT; run += 2 * (half)) {                                                       \
        const TYPE left = values[run + (half)-1];                                                                      \
        for (size_t i = run + (half); i < run + 2 * (half); i++)                                                       \
            values[i] = left + values[i];                                                                              \
    }

/* One column of a unit, whose missing rows are -0.0, which changes no sum. Rows of the unit that were summed before are
 * -0.0, too, but for the last one of each run, which is the total of the run. */
#define SUM_FLOATS(NAME, TYPE)                                                                                         \
    static void NAME(struct serial_sums *sums, size_t column, size_t count) {                                          \
        TYPE values[SERIAL_UNIT], *to = (TYPE *)sums->sums + column;                                                   \
        const TYPE seed = ((const TYPE *)sums->seed)[column];                                                          \
        const size_t before = rows_before(sums);                                                                       \
        for (size_t i = 0; i < before; i++)                                                                            \
            values[i] = (TYPE)-0.0;                                                                                    \
        for (size_t level = UNIT_LEVEL, end = 0; level-- > 0;)                                                         \
            if (before >> level & 1)                                                                                   \
                values[(end += (size_t)1 << level) - 1] = ((const TYPE *)run_of(sums, level))[column];                 \
        for (size_t i = before; i < SERIAL_UNIT; i++)                                                                  \
            values[i] = i - before < count ? to[(i - before) * sums->columns] : (TYPE)-0.0;                            \
        HALVE(TYPE, 1)                                                                                                 \
        HALVE(TYPE, 2)                                                                                                 \
        HALVE(TYPE, 4)                                                                                                 \
        for (size_t half = 8; half < SERIAL_UNIT; half *= 2)                                                           \
            HALVE(TYPE, half)                                                                                          \
        ((TYPE *)sums->total)[column] = values[SERIAL_UNIT - 1];                                                       \
        for (size_t i = 0; i < count; i++)                                                                             \
            to[i * sums->columns] = seed + values[before + i];                                                         \
    }
SUM_FLOATS(sum_f32, float)
SUM_FLOATS(sum_f64, double)

/* No order of additions shows in integers. */
#define SUM_INTEGERS(NAME, TYPE)                                                                                       \
    static void NAME(struct serial_sums *sums, size_t column, size_t count) {                                          \
        TYPE *to = (TYPE *)sums->sums + column, sum = ((const TYPE *)sums->above)[column];                             \
        for (size_t i = 0; i < count; i++) {                                                                           \
            if (__builtin_add_overflow(sum, to[i * sums->columns], &sum))                                              \
                note_overflow(sums, sums->row + i, column);                                                            \
            to[i * sums->columns] = sum;                                                                               \
        }                                                                                                              \
    }

static void note_overflow(struct serial_sums *sums, uint64_t row, size_t column) {
    const bool earlier = row < sums->overflow_row || (row == sums->overflow_row && column < sums->overflow_column);
    if (sums->overflowed && !earlier)
        return;
    sums->overflowed = true;
    sums->overflow_row = row;
    sums->overflow_column = column;
}
SUM_INTEGERS(sum_u32, uint32_t)
SUM_INTEGERS(sum_u64, uint64_t)
SUM_INTEGERS(sum_i32, int32_t)
SUM_INTEGERS(sum_i64, int64_t)

static void sum_column(struct serial_sums *sums, size_t column, size_t count) {
    switch (sums->type) {
    case TABLE_F32:
        sum_f32(sums, column, count);
        break;
    case TABLE_F64:
        sum_f64(sums, column, count);
        break;
    case TABLE_U32:
        sum_u32(sums, column, count);
        break;
    case TABLE_I32:
        sum_i32(sums, column, count);
        break;
    case TABLE_I64:
        sum_i64(sums, column, count);
        break;
    default:
        sum_u64(sums, column, count);
    }
}

/* The start, and from left to right the blocks of the binary digits of `units`, the largest first. */
static void make_seed(struct serial_sums *sums, uint64_t units) {
    memcpy(sums->seed, sums->start, sums->row_bytes);
    for (unsigned level = 64; level-- > 0;)
        if (units >> level & 1)
            row_add(sums->type, sums->seed, sums->seed, sums->blocks + level * sums->row_bytes, sums->columns);
}

/* Puts the total of unit number `unit` to the blocks that end before it. */
static void add_block(struct serial_sums *sums, uint64_t unit) {
    unsigned level = 0;
    for (; unit >> level & 1; level++)
        row_add(sums->type, sums->total, sums->blocks + level * sums->row_bytes, sums->total, sums->columns);
    memcpy(sums->blocks + level * sums->row_bytes, sums->total, sums->row_bytes);
}

void serial_sums_unit(struct serial_sums *sums, const void *rows, size_t count) {
    const bool is_float = type_is_float(sums->type);
    const uint64_t unit = (sums->above_rows + sums->row) / SERIAL_UNIT;
    const bool is_whole = rows_before(sums) + count == SERIAL_UNIT;
    if (sums->row > 0)
        memcpy(sums->above, sums->sums + (sums->count - 1) * sums->row_bytes, sums->row_bytes);
    sums->count = count;
    if (is_float)
        make_seed(sums, unit);
    row_convert(sums->in_type, rows, sums->type, sums->sums, count * sums->columns);
    if (sums->skip_nan)
        sums->skipped += row_skip_nan(sums->type, sums->sums, count * sums->columns);
    for (size_t column = 0; column < sums->columns; column++)
        sum_column(sums, column, count);
    if (is_float && is_whole)
        add_block(sums, unit);
    sums->row += count;
}

/* The unit of the last row is no block yet, even if it is whole: then its total is the total of its only run. */
void serial_sums_go_on(struct serial_sums *sums, const void *state) {
    const struct sum_state *header = state;
    const struct state_digits digits = state_digits(0, header->rows);
    sums->state = header;
    sums->above_rows = header->rows;
    memcpy(sums->start, state_row(header, sums->row_bytes, STATE_START), sums->row_bytes);
    for (unsigned level = 0; level < STATE_BLOCK_LEVELS; level++)
        if (digits.blocks >> level & 1)
            memcpy(sums->blocks + level * sums->row_bytes, state_row(header, sums->row_bytes, STATE_BLOCKS + level),
                   sums->row_bytes);
    if (header->rows > 0 && header->rows % SERIAL_UNIT == 0) {
        memcpy(sums->total, run_of(sums, UNIT_LEVEL), sums->row_bytes);
        add_block(sums, header->rows / SERIAL_UNIT - 1);
    }
}
