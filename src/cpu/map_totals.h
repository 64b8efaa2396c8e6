/* The totals of recurrences and running products alone, without results. Part of maps.h. */

/* Pushes a group's total, joined with the halves that it completes. Returns whether it is not finite. */
INLINE bool KERNEL(total)(const struct cpu_state *state, const struct NAME(map_piece) * piece, enum map_known known,
                          unsigned how) {
    char *stack = piece->memory + CPU_STACK_ROW * piece->pitch;
    MAP v[GROUP];
    /* Rows that are not there are not joined: they would make +0.0 of the factor of a row that resets by -0.0. */
    const size_t missing = how & WHOLE ? 0 : piece->missing;
    const size_t rows = how & WHOLE ? GROUP : missing + piece->rows.rows;
    KERNEL(load_group)(v, piece, how);
    for (size_t half = 1; half < GROUP; half *= 2)
        for (size_t r = 0; r < GROUP; r += 2 * half)
            if (r + 2 * half <= missing)
                v[r] = v[r + half];
            else if (r + half < rows)
                v[r] = JOIN(v[r], v[r + half], known);
    for (size_t bits = state->group; bits & 1; bits >>= 1, stack += piece->pitch)
        v[0] = JOIN(KERNEL(load)(stack), v[0], known);
    KERNEL(store)(stack, v[0]);
    const MAP_TRUTH finite = MAP_FINITE(v[0].factor) & MAP_FINITE(v[0].rest) & MAP_FINITE(v[0].term);
    return KERNEL(any)(KERNEL(there)((MAP_TRUTH)~finite, piece->rows.lanes));
}

INLINE void KERNEL(total_of_piece)(const struct cpu_state *state, const struct NAME(map_piece) * piece, unsigned how) {
    const enum map_known fast = how & PRODUCTS ? MAP_PLAIN : MAP_RESETS;
    const enum map_known careful = how & PRODUCTS ? MAP_PRODUCT : MAP_CAREFUL;
    const bool whole = (how & SPREAD) || (piece->rows.rows == GROUP && piece->missing == 0);
    if (!whole || KERNEL(total)(state, piece, fast, WHOLE | how))
        KERNEL(total)(state, piece, careful, how);
}

INLINE void KERNEL(totals_of_any)(struct cpu_state *state, struct NAME(map_piece) first, size_t rows, unsigned how) {
    for (size_t done = 0; done < rows; done += first.rows.rows, first.missing = 0) {
        const size_t room = GROUP - first.missing;
        first.rows.rows = rows - done < room ? rows - done : room;
        if (state->group == state->groups)
            KERNEL(next_unit)(state, false, how);
        struct NAME(map_piece) piece = first;
        size_t left = state->columns;
        for (; left >= LANES; left -= LANES, KERNEL(step)(&piece, how))
            KERNEL(total_of_piece)(state, &piece, how);
        piece.rows.lanes = left;
        if (left > 0)
            KERNEL(total_of_piece)(state, &piece, how);
        state->group++;
        KERNEL(step_down)(&first, how);
    }
}

static void KERNEL(totals)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, size_t rows) {
    KERNEL(totals_of_any)(state, KERNEL(begin)(state, in, in_stride, NULL, 0), rows, 0);
}

static void KERNEL(totals_of_products)(struct cpu_state *state, const void *in, ptrdiff_t in_stride, size_t rows) {
    KERNEL(totals_of_any)(state, KERNEL(begin)(state, in, in_stride, NULL, 0), rows, PRODUCTS);
}
