/* The kernel of recurrences and running products, for any number of columns: the wide kernel (wide.h) with maps as
 * elements (private/linear_map_rules.h). Part of type_kernels.h, once for each type of floats.
 *
 * The rows of a group are joined by the fast formulas, without the rules for values that are not finite and, as long as
 * there was none in the unit, for resets. Results that are finite show that they were enough. If any is not, the piece
 * is done once more, with all rules: the values of its rows are still there. */
#include "map_vectors.h"

/* What a group is, as far as compilers are told it as a constant: all of its rows are there; they are of products; its
 * lanes are of several units (map_units.h); coefficients may be the same in all columns (map_alike.h). */
#ifndef MAPS_HOW
#define MAPS_HOW
enum { WHOLE = 1, PRODUCTS = 2, SPREAD = 4, ALIKE = 8, STATE_UNIT_ROWS = 512 };
#endif

/* Where the lanes of a vector are, from the place of lane 0 on. */
struct NAME(spread) {
    int32_t places[LANES];
};

/* The rows of a group, in the columns of a vector. */
struct NAME(map_piece) {
    struct NAME(piece) rows; /* b, or of products their values; `rows` of them, after the missing ones */
    const SUM *factors;      /* a; of products NULL */
    ptrdiff_t factor_stride;
    size_t missing;     /* rows that came before, and are there as maps: `absent` at these columns */
    const char *absent; /* bytes from row to row of it, as of memory: pitch */
    char *memory;       /* cpu_state.memory at these columns */
    size_t pitch;
    const struct NAME(spread) * spread, *factor_spread, *out_spread;
};

INLINE VECTOR KERNEL(gather)(const SUM *from, const struct NAME(spread) * spread);

INLINE MAP KERNEL(load_row)(const struct NAME(map_piece) * piece, ptrdiff_t row, unsigned how) {
    const SUM *const from = piece->rows.in + row * piece->rows.in_stride;
    const VECTOR b = how & SPREAD ? KERNEL(gather)(from, piece->spread) : KERNEL(load_values)(from, piece->rows.lanes);
    if (how & PRODUCTS)
        return MAP_NAME(map_of_row)(b, (VECTOR){0}, MAP_PRODUCT);
    const SUM *const factors = piece->factors + row * piece->factor_stride;
    return MAP_NAME(map_of_row)(how & SPREAD ? KERNEL(gather)(factors, piece->factor_spread)
                                             : KERNEL(load_values)(factors, piece->rows.lanes),
                                b, MAP_CAREFUL);
}

/* The maps of the group's rows; of those that are not there, what changes nothing. */
INLINE void KERNEL(load_group)(MAP v[GROUP], const struct NAME(map_piece) * piece, unsigned how) {
    const VECTOR one = (VECTOR){0} + (SUM)1, zero = {0};
    UNROLL
    for (ptrdiff_t r = 0; r < GROUP; r++) {
        const ptrdiff_t row = how & WHOLE ? r : r - (ptrdiff_t)piece->missing;
        if (row < 0)
            v[r] = KERNEL(load)(piece->absent + (size_t)r * piece->pitch);
        else if ((how & WHOLE) || (size_t)row < piece->rows.rows)
            v[r] = KERNEL(load_row)(piece, row, how);
        else
            v[r] = (MAP){one, zero, how & PRODUCTS ? zero : -zero, MAP_ALL_FALSE};
    }
}

#define JOIN(first, second, known) MAP_NAME(map_after)(second, first, known)

/* Halves by halves, as group.h has it. Of a run that is missing the last row has the total already: what changes
 * nothing is not put before it, as it might make +0.0 of a term of -0.0. */
INLINE void KERNEL(join_group)(MAP v[GROUP], size_t missing, enum map_known known) {
    UNROLL
    for (size_t r = 1; r < GROUP; r += 2)
        if (r + 1 > missing)
            v[r] = JOIN(v[r - 1], v[r], known);
    UNROLL
    for (size_t r = 2; r < GROUP; r += 4)
        if (r + 2 > missing) {
            v[r] = JOIN(v[r - 1], v[r], known);
            v[r + 1] = JOIN(v[r - 1], v[r + 1], known);
        }
    UNROLL
    for (size_t r = 4; r < GROUP; r++)
        v[r] = JOIN(v[3], v[r], known);
}

INLINE void KERNEL(put_before_all)(MAP v[GROUP], MAP first, enum map_known known) {
    UNROLL
    for (int r = 0; r < GROUP; r++)
        v[r] = JOIN(first, v[r], known);
}

INLINE bool KERNEL(has_resets)(const MAP v[GROUP], size_t lanes) {
    MAP_TRUTH resets = MAP_ALL_FALSE;
    UNROLL
    for (int r = 0; r < GROUP; r++)
        resets |= v[r].reset;
    return KERNEL(any)(KERNEL(there)(resets, lanes));
}

/* Whether one of the results is not finite. */
INLINE bool KERNEL(are_not_finite)(const VECTOR h[GROUP], size_t lanes) {
    VECTOR zeros = {0};
    UNROLL
    for (int r = 0; r < GROUP; r++)
        zeros += h[r] - h[r];
    return KERNEL(any)(KERNEL(there)((MAP_TRUTH)~MAP_IS_ZERO(zeros), lanes));
}

/* The results of a group: its rows are joined, put after what their unit has before them, and applied to the seed. Runs
 * that the group completes join the stack. known: MAP_RESETS, where no resets are told apart on the way, or all rules.
 * Returns whether a result is not finite. */
INLINE bool KERNEL(results)(VECTOR h[GROUP], const struct cpu_state *state, const struct NAME(map_piece) * piece,
                            enum map_known known, unsigned how) {
    const bool fast = known == MAP_RESETS;
    char *stack = piece->memory + CPU_STACK_ROW * piece->pitch;
    const size_t missing = how & WHOLE ? 0 : piece->missing;
    MAP v[GROUP];
    KERNEL(load_group)(v, piece, how);
    bool plain = fast && ((how & PRODUCTS) || !KERNEL(has_resets)(v, piece->rows.lanes));
    if (plain)
        KERNEL(join_group)(v, missing, MAP_PLAIN);
    else
        KERNEL(join_group)(v, missing, known);
    size_t bits = state->group;
    for (bool completes = true; bits != 0 || completes; bits >>= 1, stack += piece->pitch) {
        if ((bits & 1) == 0) {
            if (completes)
                KERNEL(store)(stack, v[GROUP - 1]);
            completes = false;
            continue;
        }
        const MAP left = KERNEL(load)(stack);
        plain = plain && ((how & PRODUCTS) || !KERNEL(any)(KERNEL(there)(left.reset, piece->rows.lanes)));
        if (plain)
            KERNEL(put_before_all)(v, left, MAP_PLAIN);
        else
            KERNEL(put_before_all)(v, left, known);
    }
    const VECTOR seed = KERNEL(load)(piece->memory + CPU_SEED_ROW * piece->pitch).term;
    UNROLL
    for (int r = 0; r < GROUP; r++)
        h[r] = MAP_NAME(map_apply)(v[r], seed, fast ? MAP_PLAIN : known);
    return KERNEL(are_not_finite)(h, piece->rows.lanes);
}

#include "map_alike.h"

INLINE void KERNEL(fetch_ahead)(const struct NAME(map_piece) * piece, unsigned how) {
    WIDE(fetch)(&piece->rows, piece->rows.in, GROUP);
    if (!(how & PRODUCTS) && piece->factor_stride == piece->rows.in_stride)
        WIDE(fetch)(&piece->rows, piece->factors, GROUP);
}

/* To the next columns, or the next group. */
INLINE void KERNEL(step)(struct NAME(map_piece) * piece, unsigned how) {
    WIDE(step)(&piece->rows);
    piece->rows.out = piece->rows.out ? piece->rows.out + LANES : NULL;
    piece->factors = how & PRODUCTS ? NULL : piece->factors + LANES;
    piece->memory += 4 * VECTOR_BYTES;
    piece->absent = piece->missing > 0 ? piece->absent + 4 * VECTOR_BYTES : NULL;
}

INLINE void KERNEL(step_down)(struct NAME(map_piece) * piece, unsigned how) {
    const ptrdiff_t rows = (ptrdiff_t)piece->rows.rows;
    piece->rows.in += rows * piece->rows.in_stride;
    piece->rows.out = piece->rows.out ? piece->rows.out + rows * piece->rows.out_stride : NULL;
    piece->factors = how & PRODUCTS ? NULL : piece->factors + rows * piece->factor_stride;
}

/* Results of `rows` rows, of which h[missing] is the first, and what the next group has before it. */
INLINE void KERNEL(put)(const VECTOR h[GROUP], const struct cpu_state *state, const struct NAME(map_piece) * piece,
                        struct NAME(line) * lines, bool keeps_last, size_t missing, size_t rows) {
    char *const last = piece->memory + CPU_LAST_ROW * piece->pitch;
    if (!state->exclusive) {
        UNROLL
        for (size_t row = 0; row < GROUP; row++)
            if (row < rows)
                WIDE(store_row)(piece->rows, lines, (ptrdiff_t)row, h[missing + row]);
    } else {
        WIDE(store_row)(piece->rows, lines, 0, KERNEL(load)(last).term);
        UNROLL
        for (size_t row = 1; row < GROUP; row++)
            if (row < rows)
                WIDE(store_row)(piece->rows, lines, (ptrdiff_t)row, h[missing + row - 1]);
    }
    if (keeps_last || state->exclusive)
        KERNEL(store)(last, MAP_NAME(map_constant)(h[missing + rows - 1]));
}

/* With all rules, or where rows or lanes are missing. Kept out of the loops. */
static __attribute__((noinline)) void KERNEL(scan_slowly)(const struct cpu_state *state,
                                                          const struct NAME(map_piece) * piece,
                                                          struct NAME(line) * lines, bool keeps_last, bool tries_fast) {
    VECTOR h[GROUP];
    const bool whole = piece->missing == 0 && piece->rows.rows == GROUP && tries_fast;
    if (piece->factors) {
        if (!whole || KERNEL(results)(h, state, piece, MAP_RESETS, WHOLE))
            KERNEL(results)(h, state, piece, MAP_CAREFUL, 0);
    } else if (!whole || KERNEL(results)(h, state, piece, MAP_RESETS, WHOLE | PRODUCTS)) {
        KERNEL(results)(h, state, piece, MAP_PRODUCT, PRODUCTS);
    }
    KERNEL(put)(h, state, piece, lines, keeps_last, piece->missing, piece->rows.rows);
}

INLINE void KERNEL(scan_piece)(const struct cpu_state *state, const struct NAME(alike) * alike,
                               const struct NAME(map_piece) * piece, struct NAME(line) * lines, bool keeps_last,
                               unsigned how) {
    if (how & ALIKE ? !alike : piece->missing > 0 || piece->rows.rows < GROUP || piece->rows.lanes < LANES) {
        KERNEL(scan_slowly)(state, piece, lines, keeps_last, true);
        return;
    }
    VECTOR h[GROUP];
    KERNEL(fetch_ahead)(piece, how);
    const bool fails = how & ALIKE ? KERNEL(alike_results)(h, alike, state, piece)
                                   : KERNEL(results)(h, state, piece, MAP_RESETS, WHOLE | how);
    if (fails)
        KERNEL(scan_slowly)(state, piece, lines, keeps_last, false);
    else
        KERNEL(put)(h, state, piece, lines, keeps_last, 0, GROUP);
}

/* A group, or the fewer rows that are there. alike: the group's products, or NULL. */
INLINE void KERNEL(scan_rows)(const struct cpu_state *state, const struct NAME(alike) * alike,
                              struct NAME(map_piece) piece, struct NAME(line) * lines, bool keeps_last, unsigned how) {
    size_t left = state->columns;
    piece.rows.lanes = LANES;
    for (; left >= LANES; left -= LANES) {
        KERNEL(scan_piece)(state, alike, &piece, lines, keeps_last, how);
        KERNEL(step)(&piece, how);
    }
    piece.rows.lanes = left;
    if (left > 0)
        KERNEL(scan_piece)(state, alike, &piece, lines, keeps_last, how);
#if CAN_TURN
    for (size_t r = 0; lines && left == 0 && r < piece.rows.rows; r++)
        NAME(end_line)(&lines[r], (VECTOR){0}, 0);
#endif
}

INLINE void KERNEL(scan_past_caches)(const struct cpu_state *state, const struct NAME(alike) * alike,
                                     struct NAME(map_piece) piece, bool keeps_last, unsigned how) {
#if CAN_TURN
    struct NAME(line) lines[GROUP];
    for (ptrdiff_t r = 0; r < GROUP; r++)
        lines[r] = NAME(begin_line)(piece.rows.out + r * piece.rows.out_stride);
    KERNEL(scan_rows)(state, alike, piece, lines, keeps_last, how);
#else
    KERNEL(scan_rows)(state, alike, piece, NULL, keeps_last, how);
#endif
}

/* Begins the unit that follows on a full one. */
static __attribute__((noinline)) void KERNEL(next_unit)(struct cpu_state *state, bool wants_seed, unsigned how) {
    const enum map_known known = how & PRODUCTS ? MAP_PRODUCT : MAP_CAREFUL;
    const size_t pitch = state->row_bytes;
    const uint64_t unit = state->unit++;
    state->group = state->alike_groups = 0;
    for (char *memory = state->memory; memory < state->memory + pitch; memory += 4 * VECTOR_BYTES) {
        char *const blocks = memory + (CPU_STACK_ROW + state->top + 1) * pitch, *block = blocks;
        MAP total = MAP_NAME(map_settle)(KERNEL(load)(blocks - pitch), known);
        for (uint64_t bits = unit; bits & 1; bits >>= 1, block += pitch)
            total = MAP_NAME(map_settle)(JOIN(KERNEL(load)(block), total, known), known);
        KERNEL(store)(block, total);
        VECTOR seed = KERNEL(load)(memory + CPU_START_ROW * pitch).term;
        for (uint64_t bits = wants_seed ? unit + 1 : 0; bits != 0;) {
            const unsigned level = 63 - (unsigned)__builtin_clzll(bits);
            seed = MAP_NAME(map_apply)(KERNEL(load)(blocks + level * pitch), seed, known);
            bits ^= (uint64_t)1 << level;
        }
        if (wants_seed)
            KERNEL(store)(memory + CPU_SEED_ROW * pitch, MAP_NAME(map_constant)(seed));
    }
}

INLINE struct NAME(map_piece)
    KERNEL(begin)(const struct cpu_state *state, const void *in, ptrdiff_t in_stride, void *out, ptrdiff_t out_stride) {
    return (struct NAME(map_piece)){.rows = WIDE(begin)(state, in, in_stride, out, out_stride, GROUP),
                                    .factors = state->factors,
                                    .factor_stride = state->factor_stride,
                                    .missing = state->missing,
                                    .absent = state->absent,
                                    .memory = state->memory,
                                    .pitch = state->row_bytes};
}

INLINE void KERNEL(scan_any)(struct cpu_state *state, struct NAME(map_piece) piece, size_t rows, unsigned how) {
    struct NAME(alike) alike;
    for (size_t done = 0; done < rows; done += piece.rows.rows, piece.missing = 0) {
        const size_t room = GROUP - piece.missing;
        piece.rows.rows = rows - done < room ? rows - done : room;
        if (state->group == state->groups)
            KERNEL(next_unit)(state, true, how);
        const bool is_last = done + piece.rows.rows == rows, whole = piece.rows.rows == GROUP;
        const bool known = (how & ALIKE) && whole && KERNEL(find_alike)(&alike, state, &piece);
        if (state->past_caches && whole)
            KERNEL(scan_past_caches)(state, known ? &alike : NULL, piece, is_last, how);
        else
            KERNEL(scan_rows)(state, known ? &alike : NULL, piece, NULL, is_last, how);
        state->group++;
        if (known)
            KERNEL(note_alike)(state, &piece);
        KERNEL(step_down)(&piece, how);
    }
}

static __attribute__((noinline)) void KERNEL(scan_alike)(struct cpu_state *state, const void *in, ptrdiff_t in_stride,
                                                         void *out, ptrdiff_t out_stride, size_t rows) {
    KERNEL(scan_any)(state, KERNEL(begin)(state, in, in_stride, out, out_stride), rows, ALIKE);
}

static void KERNEL(scan)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, void *out, ptrdiff_t out_stride,
                         size_t rows) {
    if (KERNEL(looks_for_alike)(state))
        KERNEL(scan_alike)(state, in, in_stride, out, out_stride, rows);
    else
        KERNEL(scan_any)(state, KERNEL(begin)(state, in, in_stride, out, out_stride), rows, 0);
}

static void KERNEL(scan_products)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, void *out,
                                  ptrdiff_t out_stride, size_t rows) {
    KERNEL(scan_any)(state, KERNEL(begin)(state, in, in_stride, out, out_stride), rows, PRODUCTS);
}

#include "map_totals.h"
#include "map_units.h"

#define FEW_COLUMNS (LANES == 16 ? 5 : LANES / 2) /* from there on columns have lanes enough */
#define OF_MAPS(scan, totals)                                                                                          \
    { KERNEL(scan), KERNEL(totals), GROUP, 0, false, 0, CAN_TURN, NULL }

static const struct cpu_element_kernels NAME(map_kernels) = {
    .few_columns = FEW_COLUMNS, .few = OF_MAPS(scan_narrow, totals_narrow), .wide = OF_MAPS(scan, totals)};
static const struct cpu_element_kernels NAME(product_kernels) = {
    .few_columns = FEW_COLUMNS,
    .few = OF_MAPS(scan_narrow_products, totals_of_narrow_products),
    .wide = OF_MAPS(scan_products, totals_of_products)};

#undef GROUP
#undef KERNEL
#undef MAP_IF
#undef MAP_CHOOSE
#undef MAP_IS_ZERO
