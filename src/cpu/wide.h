/* The kernel for any number of columns: a vector is a piece of one row, and the last piece of a row may be part of a
 * vector. Included once for each element type. */
#define KERNEL(name) PASTE(NAME(name), wide)
#define TOTAL(v)     (v)
#define GROUP        4 /* rows; of 2, 4 and 8 the best together with the sizes in division.c */

#include "group.h"
/* Where a piece of a group comes from and goes to; rows from `rows` on are not there, nor lanes from `lanes` on. */
struct NAME(piece) {
    const SUM *in;
    SUM *out;
    ptrdiff_t in_stride, out_stride;
    size_t rows, lanes;
    ptrdiff_t ahead; /* bytes to where the same columns of a later group are */
    size_t column;   /* of the piece's first lane, */
    bool in_lines;   /* from which follow the lines to prefetch, where that is done in the order of memory */
};

/* How far ahead to prefetch. There are too many rows to read from at a time for the hardware to see all of them coming,
 * and it does not look at loads of a part of a vector at all: without this, 1000 columns of 64 MiB took 2.6 times as
 * long as a copy instead of 1.0 times (f32, groups of two rows, AMD Zen 5). */
INLINE ptrdiff_t KERNEL(ahead)(ptrdiff_t in_stride) {
    enum { DISTANCE = 4096 };
    const ptrdiff_t group_bytes = GROUP * in_stride * SUM_BYTES, length = group_bytes < 0 ? -group_bytes : group_bytes;
    return length < GROUP * DISTANCE * SUM_BYTES ? (DISTANCE / length + 1) * group_bytes : group_bytes;
}

/* Rows of these lengths that lie side by side are asked for in the order of memory, which is 1.04 to 1.5 times as fast
 * as the vector of each row of a group. Shorter and longer ones are slower so: docs/lab/2026-11-29.md. */
INLINE bool KERNEL(asks_in_lines)(ptrdiff_t in_stride, size_t columns) {
    enum { LEAST_LANES = 256 / SUM_BYTES, LANES_BEYOND = 2048 / SUM_BYTES };
    return in_stride == (ptrdiff_t)columns && columns >= LEAST_LANES && columns < LANES_BEYOND;
}

/* The first piece of the first group, of `rows` rows. */
INLINE struct NAME(piece) KERNEL(begin)(const struct cpu_state *state, const void *in, ptrdiff_t in_stride, void *out,
                                        ptrdiff_t out_stride, size_t rows) {
    return (struct NAME(piece)){.in = in,
                                .out = out,
                                .in_stride = in_stride,
                                .out_stride = out_stride,
                                .rows = rows,
                                .lanes = LANES,
                                .ahead = KERNEL(ahead)(in_stride),
                                .in_lines = KERNEL(asks_in_lines)(in_stride, state->columns)};
}

/* Asks for a part of a later group of `rows` rows, for another part at each of its pieces. from: the piece in the first
 * row of this group, of the values or of what lies as they do. */
INLINE void KERNEL(fetch)(const struct NAME(piece) * piece, const SUM *from, ptrdiff_t rows) {
    enum { LINE = 64 };
    const uintptr_t below = (uintptr_t)from + (uintptr_t)piece->ahead;
    if (piece->in_lines) {
        const uintptr_t next = below + piece->column * (size_t)(rows - 1) * SUM_BYTES;
        UNROLL
        for (ptrdiff_t at = 0; at < rows * VECTOR_BYTES; at += LINE)
            __builtin_prefetch((const void *)(next + (uintptr_t)at));
    } else {
        UNROLL
        for (ptrdiff_t r = 0; r < rows; r++)
            __builtin_prefetch((const void *)(below + (uintptr_t)(r * piece->in_stride * SUM_BYTES)));
    }
}

/* To the next columns of the input. */
INLINE void KERNEL(step)(struct NAME(piece) * piece) {
    piece->in += LANES;
    piece->column += LANES;
}

INLINE void KERNEL(load_group)(VECTOR v[GROUP], struct NAME(piece) piece) {
    if (piece.rows == GROUP)
        KERNEL(fetch)(&piece, piece.in, GROUP);
    for (ptrdiff_t r = 0; r < GROUP; r++) {
        if ((size_t)r >= piece.rows)
            v[r] = IDENTITY;
        else if (piece.lanes == LANES)
            v[r] = NAME(load)(piece.in + r * piece.in_stride);
        else
            v[r] = NAME(load_part)(piece.in + r * piece.in_stride, piece.lanes);
    }
}

#if !CAN_TURN
struct NAME(line) {
    char none;
};
#endif

/* lines: NULL, or where the rows are on their way past the caches. */
INLINE void KERNEL(store_row)(struct NAME(piece) piece, struct NAME(line) * lines, ptrdiff_t row, VECTOR values) {
    if ((size_t)row >= piece.rows)
        return;
#if CAN_TURN
    if (lines && piece.lanes == LANES) {
        NAME(put_vector)(&lines[row], values);
        return;
    }
    if (lines) {
        NAME(end_line)(&lines[row], values, (unsigned)piece.lanes);
        return;
    }
#else
    (void)lines;
#endif
    if (piece.lanes == LANES)
        NAME(store)(piece.out + row * piece.out_stride, values);
    else
        NAME(store_part)(piece.out + row * piece.out_stride, values, piece.lanes);
}

/* memory: this piece's vector in each row of cpu_state.memory, `pitch` vectors from one to the next. */
INLINE void KERNEL(scan_piece)(const struct cpu_state *state, VECTOR *memory, size_t pitch, struct NAME(piece) piece,
                               struct NAME(line) * lines, VECTOR *wrong) {
    VECTOR v[GROUP], before[GROUP];
    KERNEL(load_group)(v, piece);
    KERNEL(sum_group)(v);
    VECTOR *const last = memory + CPU_LAST_ROW * pitch;
    before[0] = *last;
#if ORDERED
    VECTOR *const seed = memory + CPU_SEED_ROW * pitch, *const stack = memory + CPU_STACK_ROW * pitch;
    const VECTOR total = v[GROUP - 1];
    KERNEL(put_left)(v, stack, pitch, state->group, *seed);
    KERNEL(push)(total, stack, pitch, state->group);
#else
    KERNEL(put_before_all)(v, before[0]);
#endif
    *last = v[GROUP - 1];
    for (int r = 1; r < GROUP; r++)
        before[r] = v[r - 1];
#if CHECKED
    if (state->check)
        *wrong |= KERNEL(overflow)(before, v, state->signed_values);
#else
    (void)wrong;
#endif
    for (ptrdiff_t r = 0; r < GROUP; r++)
        KERNEL(store_row)(piece, lines, r, state->exclusive ? before[r] : v[r]);
}

/* A group, or the fewer rows that are left. */
INLINE void KERNEL(scan_rows)(const struct cpu_state *state, struct NAME(piece) piece, struct NAME(line) * lines,
                              VECTOR *wrong) {
    VECTOR *memory = (VECTOR *)state->memory;
    const size_t pitch = state->row_bytes / VECTOR_BYTES;
    size_t left = state->columns;
    piece.lanes = LANES;
    for (; left >= LANES; left -= LANES, memory++, KERNEL(step)(&piece), piece.out += LANES)
        KERNEL(scan_piece)(state, memory, pitch, piece, lines, wrong);
    piece.lanes = left;
    if (left > 0)
        KERNEL(scan_piece)(state, memory, pitch, piece, lines, wrong);
#if CAN_TURN
    for (size_t r = 0; lines && left == 0 && r < piece.rows; r++)
        NAME(end_line)(&lines[r], IDENTITY, 0);
#endif
}

/* Each row of a group by lines of its own, past the caches. */
INLINE void KERNEL(scan_past_caches)(const struct cpu_state *state, struct NAME(piece) piece, VECTOR *wrong) {
#if CAN_TURN
    struct NAME(line) lines[GROUP];
    for (ptrdiff_t r = 0; r < GROUP; r++)
        lines[r] = NAME(begin_line)(piece.out + ((size_t)r < piece.rows ? r : 0) * piece.out_stride);
    KERNEL(scan_rows)(state, piece, lines, wrong);
#else
    KERNEL(scan_rows)(state, piece, NULL, wrong);
#endif
}

#if ORDERED
/* Begins the unit that follows on a full one. Kept out of the loops, which would have fewer registers for it. */
static __attribute__((noinline)) void KERNEL(next_unit)(struct cpu_state *state, bool wants_seed) {
    const size_t pitch = state->row_bytes / VECTOR_BYTES;
    VECTOR *memory = (VECTOR *)state->memory;
    const uint64_t unit = state->unit++;
    state->group = 0;
    for (size_t k = 0; k < pitch; k++, memory++) {
        VECTOR *const stack = memory + CPU_STACK_ROW * pitch, start = memory[CPU_START_ROW * pitch];
        KERNEL(push_unit)(stack, pitch, state->top, unit);
        if (wants_seed)
            memory[CPU_SEED_ROW * pitch] = KERNEL(seed_of)(start, stack, pitch, state->top, unit + 1);
    }
}
#define BEGIN_GROUP(wants_seed)                                                                                        \
    if (state->group == state->groups)                                                                                 \
    KERNEL(next_unit)(state, wants_seed)
#else
#define BEGIN_GROUP(wants_seed) ((void)0)
#endif

static void KERNEL(scan)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, void *out, ptrdiff_t out_stride,
                         size_t rows) {
    struct NAME(piece) piece = KERNEL(begin)(state, in, in_stride, out, out_stride, GROUP);
    VECTOR wrong = {0};
    for (; rows >= GROUP; rows -= GROUP) {
        BEGIN_GROUP(true);
        if (state->past_caches)
            KERNEL(scan_past_caches)(state, piece, &wrong);
        else
            KERNEL(scan_rows)(state, piece, NULL, &wrong);
        state->group++;
        piece.in += GROUP * in_stride;
        piece.out += GROUP * out_stride;
    }
    piece.rows = rows;
    if (rows > 0) {
        BEGIN_GROUP(true);
        KERNEL(scan_rows)(state, piece, NULL, &wrong);
        state->group++;
    }
    NAME(note_overflow)(state, wrong);
}

INLINE void KERNEL(total_of_piece)(VECTOR *memory, size_t pitch, size_t group, struct NAME(piece) piece) {
    VECTOR v[GROUP];
    KERNEL(load_group)(v, piece);
    const VECTOR total = COMBINE(COMBINE(v[0], v[1]), COMBINE(v[2], v[3]));
#if ORDERED
    KERNEL(push)(total, memory + CPU_STACK_ROW * pitch, pitch, group);
#else
    (void)group;
    memory[CPU_LAST_ROW * pitch] = COMBINE(memory[CPU_LAST_ROW * pitch], total);
#endif
}

INLINE void KERNEL(totals_of_rows)(const struct cpu_state *state, struct NAME(piece) piece) {
    VECTOR *memory = (VECTOR *)state->memory;
    const size_t pitch = state->row_bytes / VECTOR_BYTES;
    size_t left = state->columns;
    piece.lanes = LANES;
    for (; left >= LANES; left -= LANES, memory++, KERNEL(step)(&piece))
        KERNEL(total_of_piece)(memory, pitch, state->group, piece);
    piece.lanes = left;
    if (left > 0)
        KERNEL(total_of_piece)(memory, pitch, state->group, piece);
}

static void KERNEL(totals)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, size_t rows) {
    struct NAME(piece) piece = KERNEL(begin)(state, in, in_stride, NULL, 0, GROUP);
    for (; rows >= GROUP; rows -= GROUP, state->group++) {
        BEGIN_GROUP(false);
        KERNEL(totals_of_rows)(state, piece);
        piece.in += GROUP * in_stride;
    }
    piece.rows = rows;
    if (rows > 0) {
        BEGIN_GROUP(false);
        KERNEL(totals_of_rows)(state, piece);
        state->group++;
    }
}

#undef KERNEL
#undef TOTAL
#undef BEGIN_GROUP
#undef GROUP
