/* The work before any row is read: offsets (CSR's indptr), lengths, keys or flags become checked offsets in the
 * workspace, and each tile gets the segment that it begins with. */
#include "segments/segment_tile.cuh"

/* The caller's description of segments, in device memory: `items` values at most, of `size` bytes. */
struct segment_given {
    kernel_segment_kind kind;
    unsigned size;
    const void *data;
    const uint64_t *count_at;
    uint64_t items, limit; /* the most segments that there may be */
    uint64_t *found, *wrong;
    uint64_t *chunk_sums; /* lengths, or segments that begin, of each chunk of items; then of all chunks above it */
};
constexpr unsigned OFFSETS_AT_ONCE = 4, CHUNK_ROUNDS = 16, CHUNK_ITEMS = CHUNK_ROUNDS * EACH_THREADS,
                   BASES_THREADS = 1024;

DEVICE uint64_t given_bits(const segment_given &given, uint64_t index) {
    switch (given.size) {
    case 1:
        return load_vector(static_cast<const uint8_t *>(given.data) + index);
    case 2:
        return load_vector(static_cast<const uint16_t *>(given.data) + index);
    case 4:
        return load_vector(static_cast<const uint32_t *>(given.data) + index);
    default:
        return load_vector(static_cast<const uint64_t *>(given.data) + index);
    }
}
/* An offset or a length. */
DEVICE int64_t given_number(const segment_given &given, uint64_t index) {
    const uint64_t bits = given_bits(given, index);
    return given.size == sizeof(int32_t) ? static_cast<int32_t>(bits) : static_cast<int64_t>(bits);
}

/* Sums of lengths stay at one more than the rows, where they would be more, and so do not wrap. */
DEVICE uint64_t add_up_to(uint64_t most, uint64_t a, uint64_t b) { return b > most - a ? most : a + b; }

/* The rows of a segment whose length is given, or whether one begins. */
DEVICE uint64_t given_item(const segment_where &where, const segment_given &given, uint64_t index) {
    const uint64_t most = where.rows + 1;
    if (given.kind == KERNEL_SEGMENT_HEADS)
        return index == 0 || given_bits(given, index) != 0;
    if (given.kind == KERNEL_SEGMENT_KEYS)
        return index == 0 || given_bits(given, index) != given_bits(given, index - 1);
    if (index >= where.count())
        return 0;
    const int64_t length = given_number(given, index);
    return length < 0 || static_cast<uint64_t>(length) > most ? most : static_cast<uint64_t>(length);
}

KERNEL LAUNCH_BOUNDS(WARP_LANES, 1) segment_begin_kernel(segment_where where, segment_given given) {
    if (thread_index() != 0)
        return;
    const uint64_t count = !is_counted(given.kind) ? 0 : given.count_at ? load_vector(given.count_at) : given.items;
    const bool is_right = count <= given.limit;
    store_vector(&where.header->count, is_right ? count : uint64_t(0));
    store_vector(&where.header->wrong, is_right ? uint64_t(KERNEL_SEGMENTS_RIGHT) : given.limit + 1);
    store_vector(&where.header->has_units, uint64_t(0));
    store_vector(&where.header->has_long, uint64_t(0));
}

/* The tables of all levels. */
struct segment_tables {
    segment_level level[SEGMENT_LEVELS + 1];
    unsigned levels;
};
/* Notes whose the rows of totals are, of offsets that may be wrong. */
template <class OFFSET> DEVICE void find_owners(const segment_tables &tables, uint64_t count, const OFFSET &offset) {
    KEEP_LOOP
    for (unsigned level = 1; level <= tables.levels && count > 0; level++)
        each_index(tables.level[level].rows, [&](uint64_t row) {
            store_vector(tables.level[level].owners + row,
                         static_cast<uint32_t>(last_segment_before(row, level, count, offset)));
        });
}

KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1)
    segment_offsets_kernel(segment_where where, segment_given given, segment_tables tables) {
    const uint64_t count = where.count();
    /* Other threads may lower the word meanwhile, to an index, which is less than this: so the load is atomic, too. */
    if (!given.data || load_relaxed(&where.header->wrong) == given.limit + 1)
        return;
    const auto see = [&](uint64_t index, int64_t before, int64_t offset) {
        if (offset < 0 || static_cast<uint64_t>(offset) > where.rows || offset < before) {
            atomic_min(&where.header->wrong, index);
            return;
        }
        where.put_offset(count, index, static_cast<uint64_t>(offset));
        where.see_rows(static_cast<uint64_t>(offset - before));
    };
    each_index((count / (OFFSETS_AT_ONCE * WARP_LANES) + 1) * WARP_LANES, [&](uint64_t group) {
        const uint64_t first = group / WARP_LANES * WARP_LANES * OFFSETS_AT_ONCE + group % WARP_LANES;
        int64_t offsets[OFFSETS_AT_ONCE], befores[OFFSETS_AT_ONCE];
        UNROLL
        for (unsigned k = 0; k < OFFSETS_AT_ONCE; k++) {
            const uint64_t index = first + k * WARP_LANES;
            offsets[k] = index <= count ? given_number(given, index) : 0;
            befores[k] = index > 0 && index <= count ? given_number(given, index - 1) : offsets[k];
        }
        UNROLL
        for (unsigned k = 0; k < OFFSETS_AT_ONCE; k++)
            if (first + k * WARP_LANES <= count)
                see(first + k * WARP_LANES, befores[k], offsets[k]);
    });
    find_owners(tables, count, [&](uint64_t index) {
        return where.is_reversed ? where.rows - static_cast<uint64_t>(given_number(given, count - index))
                                 : static_cast<uint64_t>(given_number(given, index));
    });
}

/* Returns the sum of the values of the threads before this one, and sets `all` to the sum of all. All threads of the
 * block call it together. */
DEVICE uint64_t sum_before_thread(uint64_t own, uint64_t most, uint64_t *warp_sums, uint64_t &all) {
    const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
    uint64_t sum = own, before = 0;
    UNROLL
    for (unsigned apart = 1; apart < WARP_LANES; apart *= 2) {
        const uint64_t left = warp_shuffle_up(WARP_ALL, sum, apart);
        sum = lane >= apart ? add_up_to(most, left, sum) : sum;
    }
    const uint64_t left = warp_shuffle_up(WARP_ALL, sum, 1);
    if (lane == WARP_LANES - 1)
        warp_sums[warp] = sum;
    block_barrier();
    all = 0;
    KEEP_LOOP
    for (unsigned number = 0; number < block_threads() / WARP_LANES; number++) {
        before = number == warp ? all : before;
        all = add_up_to(most, all, warp_sums[number]);
    }
    block_barrier();
    return lane > 0 ? add_up_to(most, before, left) : before;
}

KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1) segment_sums_kernel(segment_where where, segment_given given, uint64_t chunks) {
    SHARED_ARRAY(uint64_t, warp_sums, EACH_THREADS / WARP_LANES);
    const uint64_t most = where.rows + 1;
    KEEP_LOOP
    for (uint64_t chunk = block_index(); chunk < chunks; chunk += block_count()) {
        uint64_t sum = 0, all = 0;
        UNROLL
        for (unsigned round = 0; round < CHUNK_ROUNDS; round++) {
            const uint64_t index = chunk * CHUNK_ITEMS + round * EACH_THREADS + thread_index();
            sum = add_up_to(most, sum, index < given.items ? given_item(where, given, index) : uint64_t(0));
        }
        sum_before_thread(sum, most, warp_sums, all);
        if (thread_index() == 0)
            store_vector(given.chunk_sums + chunk, all);
    }
}

/* One block. Of keys and flags, the sum is how many segments there are, the last of which ends with the rows. */
KERNEL LAUNCH_BOUNDS(BASES_THREADS, 1) segment_bases_kernel(segment_where where, segment_given given, uint64_t chunks) {
    SHARED_ARRAY(uint64_t, warp_sums, BASES_THREADS / WARP_LANES);
    const uint64_t most = where.rows + 1;
    uint64_t above = 0;
    KEEP_LOOP
    for (uint64_t first = 0; first < chunks; first += BASES_THREADS) {
        const uint64_t chunk = first + thread_index();
        uint64_t all = 0;
        const uint64_t own = chunk < chunks ? load_vector(given.chunk_sums + chunk) : uint64_t(0);
        const uint64_t before = sum_before_thread(own, most, warp_sums, all);
        if (chunk < chunks)
            store_vector(given.chunk_sums + chunk, add_up_to(most, above, before));
        above = add_up_to(most, above, all);
    }
    if (given.kind == KERNEL_SEGMENT_LENGTHS || thread_index() != 0)
        return;
    store_vector(&where.header->count, above <= given.limit ? above : uint64_t(0));
    if (above <= given.limit)
        where.put_offset(above, above, where.rows);
    else
        store_vector(&where.header->wrong, given.limit + 1);
}

KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1) segment_places_kernel(segment_where where, segment_given given, uint64_t chunks) {
    SHARED_ARRAY(uint64_t, warp_sums, EACH_THREADS / WARP_LANES);
    const uint64_t most = where.rows + 1, count = where.count();
    const bool is_lengths = given.kind == KERNEL_SEGMENT_LENGTHS;
    if (!is_lengths && !where.is_right())
        return;
    if (is_lengths && block_index() == 0 && thread_index() == 0)
        where.put_offset(count, 0, 0);
    KEEP_LOOP
    for (uint64_t chunk = block_index(); chunk < chunks; chunk += block_count()) {
        uint64_t above = load_vector(given.chunk_sums + chunk);
        KEEP_LOOP
        for (unsigned round = 0; round < CHUNK_ROUNDS; round++) {
            const uint64_t index = chunk * CHUNK_ITEMS + round * EACH_THREADS + thread_index();
            const uint64_t own = index < given.items ? given_item(where, given, index) : uint64_t(0);
            uint64_t all = 0;
            const uint64_t before = add_up_to(most, above, sum_before_thread(own, most, warp_sums, all));
            const uint64_t through = add_up_to(most, before, own);
            if (!is_lengths && own != 0)
                where.put_offset(count, before, index);
            if (is_lengths && index < count && through <= where.rows)
                where.put_offset(count, index + 1, through);
            if (is_lengths && index < count && through > where.rows)
                atomic_min(&where.header->wrong, index);
            above = add_up_to(most, above, all);
        }
    }
}

/* Reports to the caller how many segments were found, and the first wrong offset. */
KERNEL LAUNCH_BOUNDS(WARP_LANES, 1) segment_report_kernel(segment_where where, segment_given given) {
    if (thread_index() == 0 && given.found)
        store_vector(given.found, where.count());
    if (thread_index() == 0 && given.wrong)
        store_vector(given.wrong, load_vector(&where.header->wrong));
}

/* Offsets that were made of lengths, keys or flags are looked at once more. */
KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1) segment_owners_kernel(segment_where where, segment_tables tables) {
    if (!where.is_right() || where.count() == 0)
        return;
    each_index(where.count(), [&](uint64_t segment) { where.see_rows(where.range(segment, 0).rows); });
    find_owners(tables, where.count(), [&](uint64_t index) { return where.offset(index); });
}

static segment_given given_of(const kernel_segmented_pass &from, const segment_plan &plan) {
    const kernel_segments &segments = from.segments;
    segment_given given = {};
    given.kind = segments.kind;
    given.size = static_cast<unsigned>(type_bytes(segments.type));
    given.data = segments.data;
    given.count_at = segments.count_at;
    given.items = is_counted(segments.kind) ? segments.count : from.pass.rows;
    given.limit = segments_limit(from);
    given.found = segments.found;
    given.wrong = segments.wrong;
    given.chunk_sums = plan.chunk_sums;
    return given;
}

static int run_places(const segment_where &where, const segment_given &given, void *stream) {
    const uint64_t chunks = (given.items + CHUNK_ITEMS - 1) / CHUNK_ITEMS;
    const unsigned blocks = each_blocks(chunks * EACH_THREADS);
    int error = launch(segment_sums_kernel, blocks, EACH_THREADS, 0, stream, where, given, chunks);
    if (error == 0)
        error = launch(segment_bases_kernel, 1, BASES_THREADS, 0, stream, where, given, chunks);
    return error == 0 ? launch(segment_places_kernel, blocks, EACH_THREADS, 0, stream, where, given, chunks) : error;
}

int run_segment_offsets(const kernel_segmented_pass &from, const segment_plan &plan) {
    const segment_given given = given_of(from, plan);
    void *const stream = from.pass.stream;
    const uint64_t units = from.pass.rows / UNIT_ROWS, groups = given.limit / OFFSETS_AT_ONCE;
    const uint64_t most = groups < units ? units : groups;
    segment_tables tables = {};
    int error = launch(segment_begin_kernel, 1, WARP_LANES, 0, stream, plan.where, given);
    tables.levels = plan.levels;
    for (unsigned level = 1; level <= plan.levels; level++)
        tables.level[level] = plan.level[level];
    if (error == 0 && given.kind == KERNEL_SEGMENT_OFFSETS)
        error =
            launch(segment_offsets_kernel, each_blocks(most + 1), EACH_THREADS, 0, stream, plan.where, given, tables);
    else if (error == 0)
        error = run_places(plan.where, given, stream);
    if (error == 0 && given.kind != KERNEL_SEGMENT_OFFSETS)
        error = launch(segment_owners_kernel, each_blocks(most), EACH_THREADS, 0, stream, plan.where, tables);
    return error == 0 && (given.found || given.wrong)
               ? launch(segment_report_kernel, 1, WARP_LANES, 0, stream, plan.where, given)
               : error;
}
