/* Results of groups of recurrences whose coefficients are the same in all columns, such as one number for all. Part of
 * maps.h.
 *
 * The products of coefficients are then known before the first column is looked at, and in each column the terms alone
 * are joined. */

/* The factors and rests of the rows of a group, each the product of the coefficients of some rows up to it. */
struct NAME(products) {
    SUM factor[GROUP], rest[GROUP];
};

struct NAME(inside) {
    struct NAME(products) own, pairs, quads; /* of the row, of its run of two rows up to it, of its run of four */
};

/* Where all coefficients are one number, its products: the same in all units. It is cpu_state.products. */
struct NAME(constant) {
    struct NAME(inside) inside;
    struct NAME(products) unit[STATE_UNIT_ROWS / GROUP]; /* of each group's rows, with all before it in the unit */
};
_Static_assert(sizeof(struct NAME(constant)) <= CPU_PRODUCTS * SUM_BYTES, "cpu_state.products has room for them");

/* The products of a group: of its rows alone; before[k]: with the first k lefts of the stack, up to all of them. */
struct NAME(alike) {
    const struct NAME(inside) * inside;
    const struct NAME(products) * before[CPU_LEVELS + 1];
    size_t count; /* of lefts */
    struct NAME(inside) own_inside;
    struct NAME(products) own_before[CPU_LEVELS + 1];
};

INLINE SUM KERNEL(fma_of)(SUM x, SUM y, SUM z) {
#if SUM_BYTES == 4
    return __builtin_fmaf(x, y, z);
#else
    return __builtin_fma(x, y, z);
#endif
}

/* JOIN of a row and the rows before it, as far as the factor and the rest go. */
INLINE void KERNEL(join_products)(struct NAME(products) * to, const struct NAME(products) * from, int row, SUM factor,
                                  SUM rest) {
    const SUM product = from->factor[row] * factor;
    const SUM error = KERNEL(fma_of)(from->factor[row], factor, -product);
    const SUM inner = KERNEL(fma_of)(from->factor[row], rest, error);
    to->factor[row] = product;
    to->rest[row] = KERNEL(fma_of)(from->rest[row], factor, inner) + 0;
}

/* Makes the products of a group's rows by themselves; the products of the run of eight rows come into `whole`. */
INLINE void KERNEL(find_inside)(struct NAME(inside) * inside, struct NAME(products) * whole, const SUM *factors,
                                ptrdiff_t stride) {
    for (int r = 0; r < GROUP; r++) {
        inside->own.factor[r] = factors[r * stride];
        inside->own.rest[r] = 0;
    }
    inside->pairs = inside->own;
    for (int r = 1; r < GROUP; r += 2)
        KERNEL(join_products)(&inside->pairs, &inside->own, r, inside->own.factor[r - 1], 0);
    const struct NAME(products) *const pairs = &inside->pairs, *const quads = &inside->quads;
    inside->quads = *pairs;
    for (int r = 2; r < GROUP; r++)
        if (r & 2)
            KERNEL(join_products)(&inside->quads, pairs, r, pairs->factor[(r & 4) + 1], pairs->rest[(r & 4) + 1]);
    *whole = *quads;
    for (int r = 4; r < GROUP; r++)
        KERNEL(join_products)(whole, quads, r, quads->factor[3], quads->rest[3]);
}

/* Makes the products of a group and of the runs in the stack before it, all of whose coefficients are alike, too. */
INLINE void KERNEL(find_before)(struct NAME(alike) * alike, const struct NAME(map_piece) * piece, size_t group) {
    const char *stack = piece->memory + CPU_STACK_ROW * piece->pitch;
    KERNEL(find_inside)(&alike->own_inside, &alike->own_before[0], piece->factors, piece->factor_stride);
    alike->inside = &alike->own_inside;
    alike->before[0] = &alike->own_before[0];
    alike->count = 0;
    for (; group != 0; group >>= 1, stack += piece->pitch) {
        if ((group & 1) == 0)
            continue;
        const SUM *const left = (const SUM *)stack;
        struct NAME(products) *const to = &alike->own_before[alike->count + 1];
        for (int r = 0; r < GROUP; r++)
            KERNEL(join_products)(to, alike->before[alike->count], r, left[0], left[1]);
        alike->before[++alike->count] = to;
    }
}

/* Whether no row resets, and no product has left the type. */
INLINE bool KERNEL(is_plain)(const struct NAME(alike) * alike) {
    const struct NAME(products) *const last = alike->before[alike->count];
    bool plain = true;
    for (int r = 0; r < GROUP; r++)
        plain &= alike->inside->own.factor[r] != 0 && last->factor[r] - last->factor[r] == 0;
    return plain;
}

/* Takes the products of one number, which are there already. A group and its first lefts have the products of the group
 * that comes as long after the beginning of a unit as this one after the end of the next left. */
INLINE void KERNEL(look_up)(struct NAME(alike) * alike, const struct NAME(constant) * constant, size_t group) {
    alike->inside = &constant->inside;
    alike->count = 0;
    for (size_t bit = 1; bit <= group; bit *= 2)
        if (group & bit)
            alike->before[alike->count++] = &constant->unit[group & (bit - 1)];
    alike->before[alike->count] = &constant->unit[group];
}

/* Whether products are likely to be of use. Where they are used once, making them takes as long as some vectors do. */
INLINE bool KERNEL(looks_for_alike)(const struct cpu_state *state) {
    enum { LEAST_VECTORS = 8 };
    return state->factors_alike && (state->products || state->columns >= LEAST_VECTORS * LANES);
}

/* Makes the products of the group that comes next. Returns whether they are of use. */
INLINE bool KERNEL(find_alike)(struct NAME(alike) * alike, struct cpu_state *state,
                               const struct NAME(map_piece) * piece) {
    struct NAME(constant) *const constant = state->products;
    const size_t group = state->group;
    const bool is_number = constant && piece->factor_stride == 0 && (group == 0 || state->has_number);
    if (state->alike_groups != group)
        return false;
    if (is_number && state->products_known > 0 && constant->inside.own.factor[0] != *piece->factors)
        state->products_known = 0;
    if (is_number && group < state->products_known) {
        KERNEL(look_up)(alike, constant, group);
        return true;
    }
    KERNEL(find_before)(alike, piece, group);
    const bool plain = KERNEL(is_plain)(alike);
    if (is_number && plain && group == state->products_known) {
        constant->inside = alike->own_inside;
        constant->unit[group] = *alike->before[alike->count];
        state->products_known = group + 1;
    }
    return plain;
}

/* Notes that the group that has come was one of them. */
INLINE void KERNEL(note_alike)(struct cpu_state *state, const struct NAME(map_piece) * piece) {
    state->has_number = piece->factor_stride == 0 && (state->alike_groups == 0 || state->has_number);
    state->alike_groups = state->group;
}

/* The term of a row joined after the term `earlier`. */
INLINE VECTOR KERNEL(join_term)(const struct NAME(products) * products, int row, VECTOR earlier, VECTOR term) {
    const VECTOR zero = {0};
    return MAP_FMA(products->factor[row] - zero, earlier, MAP_FMA(products->rest[row] - zero, earlier, term));
}

/* The terms of a group's rows, each joined after the term `earlier`, which is before all of them. */
INLINE void KERNEL(put_terms_after)(VECTOR to[GROUP], const VECTOR terms[GROUP], const struct NAME(products) * products,
                                    VECTOR earlier) {
    UNROLL
    for (int r = 0; r < GROUP; r++)
        to[r] = KERNEL(join_term)(products, r, earlier, terms[r]);
}

/* The terms of the maps at `from`, and back with the factor and rest of all of them. */
#define FRONT(l, part) ((l) % 4 == 2 ? LANES + (part) * (LANES / 4) + (l) / 4 : (l))
INLINE VECTOR KERNEL(load_terms)(const char *from) {
#if LANES < 4
    return KERNEL(load)(from).term;
#else
    const VECTOR *const m = (const VECTOR *)from;
    return SHUFFLE(SHUFFLE(m[0], m[1], PARTS, 2), SHUFFLE(m[2], m[3], PARTS, 2), JOINED, 0);
#endif
}

INLINE void KERNEL(store_terms)(char *to, SUM factor, SUM rest, VECTOR terms) {
#if LANES < 4
    KERNEL(store)(to, (MAP){(VECTOR){0} + factor, (VECTOR){0} + rest, terms, MAP_ALL_FALSE});
#else
    VECTOR *const m = (VECTOR *)to;
    VECTOR parts = {0};
    for (int l = 0; l < LANES; l += 4) {
        parts[l] = factor;
        parts[l + 1] = rest;
    }
    m[0] = SHUFFLE(parts, terms, FRONT, 0);
    m[1] = SHUFFLE(parts, terms, FRONT, 1);
    m[2] = SHUFFLE(parts, terms, FRONT, 2);
    m[3] = SHUFFLE(parts, terms, FRONT, 3);
#endif
}

/* As KERNEL(fast_results). */
INLINE bool KERNEL(alike_results)(VECTOR h[GROUP], const struct NAME(alike) * alike, const struct cpu_state *state,
                                  const struct NAME(map_piece) * piece) {
    const size_t lanes = piece->rows.lanes;
    char *stack = piece->memory + CPU_STACK_ROW * piece->pitch;
    const VECTOR zero = {0}, seed = KERNEL(load_terms)(piece->memory + CPU_SEED_ROW * piece->pitch);
    VECTOR v[GROUP];
    UNROLL
    for (int r = 0; r < GROUP; r++)
        v[r] = KERNEL(load_values)(piece->rows.in + r * piece->rows.in_stride, lanes);
    UNROLL
    for (int r = 1; r < GROUP; r += 2)
        v[r] = MAP_FMA(alike->inside->own.factor[r] - zero, v[r - 1], MAP_FMA(zero, v[r - 1], v[r]));
    UNROLL
    for (int r = 2; r < GROUP; r += 4) {
        v[r] = KERNEL(join_term)(&alike->inside->pairs, r, v[r - 1], v[r]);
        v[r + 1] = KERNEL(join_term)(&alike->inside->pairs, r + 1, v[r - 1], v[r + 1]);
    }
    UNROLL
    for (int r = 4; r < GROUP; r++)
        v[r] = KERNEL(join_term)(&alike->inside->quads, r, v[3], v[r]);
    const struct NAME(products) *const *before = alike->before;
    size_t bits = state->group;
    for (bool completes = true; bits != 0 || completes; bits >>= 1, stack += piece->pitch) {
        if (bits & 1) {
            KERNEL(put_terms_after)(v, v, *before++, KERNEL(load_terms)(stack));
            continue;
        }
        if (completes)
            KERNEL(store_terms)(stack, (*before)->factor[GROUP - 1], (*before)->rest[GROUP - 1], v[GROUP - 1]);
        completes = false;
    }
    KERNEL(put_terms_after)(h, v, *before, seed);
    return KERNEL(are_not_finite)(h, lanes);
}
