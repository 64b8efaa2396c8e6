/* The kernel of recurrences and running products for few columns: a lane for each column of several units. Part of
 * maps.h.
 *
 * The units of a batch are summed up side by side; their totals, one after the other, make the seeds; then their rows
 * are gone through side by side once more. Rows that fill no batch, at both ends, are done as wider tables are. */

/* The vector at these places, and back. */
INLINE VECTOR KERNEL(gather)(const SUM *from, const struct NAME(spread) * spread) {
#if VECTOR_BYTES == 64 && SUM_BYTES == 4
    return (VECTOR)_mm512_i32gather_ps(_mm512_loadu_si512(spread->places), from, 4);
#elif VECTOR_BYTES == 64
    return (VECTOR)_mm512_i32gather_pd(_mm256_loadu_si256((const __m256i *)spread->places), from, 8);
#else
    VECTOR values = {0};
    for (int l = 0; l < LANES; l++)
        values[l] = from[spread->places[l]];
    return values;
#endif
}

INLINE void KERNEL(scatter)(SUM *to, const struct NAME(spread) * spread, VECTOR values, size_t lanes) {
    const SUM *const from = (const SUM *)&values;
    for (size_t l = 0; l < lanes; l++)
        to[spread->places[l]] = from[l];
}

/* Lanes that are left over are where lane 0 is, and are not looked at. */
INLINE void KERNEL(spread)(struct NAME(spread) * spread, ptrdiff_t stride, size_t columns, size_t units) {
    for (size_t l = 0; l < LANES; l++) {
        const size_t lane = l < units * columns ? l : 0;
        spread->places[l] =
            (int32_t)((ptrdiff_t)(lane / columns) * STATE_UNIT_ROWS * stride + (ptrdiff_t)(lane % columns));
    }
}

/* Whether places fit. */
INLINE bool KERNEL(reaches)(ptrdiff_t stride) {
    return (stride < 0 ? -stride : stride) <= INT32_MAX / (STATE_UNIT_ROWS * LANES) - 1;
}

/* Moves the totals of the units, one after the other, into the state, and their seeds out of it. */
INLINE void KERNEL(chain_units)(struct cpu_state *state, const char *totals, char *seeds, size_t units, bool wants_seed,
                                unsigned how) {
    const size_t bytes = state->columns * 4 * SUM_BYTES;
    for (size_t unit = 0; unit < units; unit++, totals += bytes, seeds += bytes) {
        if (unit > 0)
            KERNEL(next_unit)(state, wants_seed, how);
        memcpy(seeds, state->memory + CPU_SEED_ROW * state->row_bytes, bytes);
        memcpy(state->memory + (CPU_STACK_ROW + state->top) * state->row_bytes, totals, bytes);
        state->group = state->groups;
    }
}

/* Results of a group, where they belong. Exclusive ones of a unit's first row are known when all is done. */
INLINE void KERNEL(put_units)(const VECTOR h[GROUP], const struct cpu_state *own, const struct NAME(map_piece) * piece,
                              VECTOR *before, size_t lanes) {
    for (ptrdiff_t r = 0; r < GROUP; r++) {
        SUM *const to = piece->rows.out + r * piece->rows.out_stride;
        if (!own->exclusive)
            KERNEL(scatter)(to, piece->out_spread, h[r], lanes);
        else if (r > 0 || own->group > 0)
            KERNEL(scatter)(to, piece->out_spread, *before, lanes);
        *before = h[r];
    }
}

static __attribute__((noinline)) void KERNEL(units_by_rules)(VECTOR h[GROUP], const struct cpu_state *own,
                                                             const struct NAME(map_piece) * piece) {
    if (piece->factors)
        KERNEL(results)(h, own, piece, MAP_CAREFUL, WHOLE | SPREAD);
    else
        KERNEL(results)(h, own, piece, MAP_PRODUCT, WHOLE | SPREAD | PRODUCTS);
}

/* The exclusive results of the units' first rows: the last ones of the unit before, the first unit's being `last`. */
INLINE void KERNEL(put_first_rows)(const struct NAME(map_piece) * first, const SUM *last, VECTOR ends, size_t columns,
                                   size_t lanes) {
    for (size_t l = 0; l < lanes; l++)
        first->rows.out[first->out_spread->places[l]] = l < columns ? last[4 * l + 2] : ends[l - columns];
}

/* `units` units from the first row of one on. */
static void KERNEL(take_units)(struct cpu_state *state, const struct NAME(map_piece) * first, size_t units,
                               bool wants_results, unsigned how) {
    enum { PITCH = 4 * VECTOR_BYTES, ROWS = CPU_STACK_ROW + 10 };
    _Alignas(VECTOR_BYTES) char memory[ROWS * PITCH] = {0};
    struct cpu_state own = *state;
    struct NAME(map_piece) piece = *first;
    const size_t lanes = units * state->columns;
    own.memory = piece.memory = memory;
    own.row_bytes = piece.pitch = PITCH;
    own.columns = piece.rows.lanes = LANES;
    for (own.group = 0; own.group < own.groups; own.group++, KERNEL(step_down)(&piece, how))
        KERNEL(total_of_piece)(&own, &piece, SPREAD | how);
    KERNEL(chain_units)
    (state, memory + (CPU_STACK_ROW + own.top) * PITCH, memory + CPU_SEED_ROW * PITCH, units, wants_results, how);
    if (!wants_results)
        return;
    VECTOR before = {0};
    piece.rows.in = first->rows.in;
    piece.factors = first->factors;
    for (piece.rows.out = first->rows.out, own.group = 0; own.group < own.groups;
         own.group++, KERNEL(step_down)(&piece, how)) {
        VECTOR h[GROUP];
        if (KERNEL(results)(h, &own, &piece, MAP_RESETS, WHOLE | SPREAD | how)) {
            VECTOR careful[GROUP];
            KERNEL(units_by_rules)(careful, &own, &piece);
            KERNEL(put_units)(careful, &own, &piece, &before, lanes);
        } else {
            KERNEL(put_units)(h, &own, &piece, &before, lanes);
        }
    }
    char *const last = state->memory + CPU_LAST_ROW * state->row_bytes;
    if (state->exclusive)
        KERNEL(put_first_rows)(first, (const SUM *)last, before, state->columns, lanes);
    KERNEL(store)(memory, MAP_NAME(map_constant)(before));
    memcpy(last, memory + (units - 1) * state->columns * 4 * SUM_BYTES, state->columns * 4 * SUM_BYTES);
}

/* How many units a batch from here on has; fewer than two are none. */
INLINE size_t KERNEL(units_at)(const struct cpu_state *state, const struct NAME(map_piece) * piece, size_t rows) {
    const size_t most = LANES / state->columns, there = rows / STATE_UNIT_ROWS;
    const bool begins = state->missing == 0 && (state->group == 0 || state->group == state->groups);
    const bool reaches = KERNEL(reaches)(piece->rows.in_stride) && KERNEL(reaches)(piece->rows.out_stride) &&
                         KERNEL(reaches)(piece->factor_stride);
    return !begins || !reaches ? 0 : there < most ? there : most;
}

INLINE void KERNEL(take_narrow)(struct cpu_state *state, struct NAME(map_piece) piece, size_t rows, bool wants_results,
                                unsigned how) {
    struct NAME(spread) b, a, out;
    for (size_t taken; rows > 0; rows -= taken) {
        const size_t units = KERNEL(units_at)(state, &piece, rows);
        taken = units * STATE_UNIT_ROWS;
        if (units >= 2) {
            KERNEL(spread)(&b, piece.rows.in_stride, state->columns, units);
            KERNEL(spread)(&a, piece.factor_stride, state->columns, units);
            KERNEL(spread)(&out, piece.rows.out_stride, state->columns, units);
            piece.spread = &b;
            piece.factor_spread = &a;
            piece.out_spread = &out;
            if (state->group == state->groups)
                KERNEL(next_unit)(state, wants_results, how);
            KERNEL(take_units)(state, &piece, units, wants_results, how);
        } else {
            const size_t left = (state->groups - state->group % state->groups) * GROUP - piece.missing;
            taken = left < rows ? left : rows;
            if (wants_results)
                KERNEL(scan_any)(state, piece, taken, how);
            else
                KERNEL(totals_of_any)(state, piece, taken, how);
            piece.missing = 0;
        }
        piece.rows.rows = taken;
        KERNEL(step_down)(&piece, how);
        piece.rows.rows = GROUP;
    }
}

static void KERNEL(scan_narrow)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, void *out,
                                ptrdiff_t out_stride, size_t rows) {
    /* From there on products of one number are worth more than lanes of several units, but not past the caches. */
    enum { LEAST_COLUMNS = 3 };
    if (KERNEL(looks_for_alike)(state) && state->columns >= LEAST_COLUMNS && !state->past_caches)
        KERNEL(scan_alike)(state, in, in_stride, out, out_stride, rows);
    else
        KERNEL(take_narrow)(state, KERNEL(begin)(state, in, in_stride, out, out_stride), rows, true, 0);
}

static void KERNEL(scan_narrow_products)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, void *out,
                                         ptrdiff_t out_stride, size_t rows) {
    KERNEL(take_narrow)(state, KERNEL(begin)(state, in, in_stride, out, out_stride), rows, true, PRODUCTS);
}

static void KERNEL(totals_narrow)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, size_t rows) {
    KERNEL(take_narrow)(state, KERNEL(begin)(state, in, in_stride, NULL, 0), rows, false, 0);
}

static void KERNEL(totals_of_narrow_products)(struct cpu_state *state, const void *in, ptrdiff_t in_stride,
                                              size_t rows) {
    KERNEL(take_narrow)(state, KERNEL(begin)(state, in, in_stride, NULL, 0), rows, false, PRODUCTS);
}
