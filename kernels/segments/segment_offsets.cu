/* The work before any row is read: offsets (CSR's indptr), lengths, keys or flags become checked offsets in the
 * workspace, and each tile gets the segment that it begins with. */
#include "segments/segment_plan.cuh"

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
    store_vector(&where.header->long_ones, uint64_t(0));
    for (unsigned counter = 0; counter < 2 * TILE_COUNTERS; counter++)
        store_vector(where.header->tile_counters + counter * COUNTER_WORDS, uint32_t(0));
    store_vector(&where.header->has_units, uint32_t(0));
}

/* Whose the rows of tables of units are. */
struct segment_owners {
    uint32_t *owners;
    size_t rows;
};
/* Notes them, of offsets that may be wrong, and lists long segments, each of which is the last one that begins in its
 * row. */
template <class OFFSET>
DEVICE void find_owners(const segment_where &where, const segment_owners &of, uint64_t count, const OFFSET &offset) {
    each_index(count > 0 ? of.rows : 0, [&](uint64_t row) {
        const uint64_t segment = last_segment_before(row, count, offset), begin = offset(segment);
        store_vector(of.owners + row, static_cast<uint32_t>(segment));
        if (begin >> UNIT_BITS == row)
            where.see_segment(segment, offset(segment + 1) - begin);
    });
}

/* Looks at each offset and at the one before it, and puts it into the workspace: a warp has some of them side by side.
 * */
template <class OFFSET> DEVICE void put_offsets(const segment_where &where, uint64_t count, const OFFSET *given) {
    constexpr unsigned OF_WARP = OFFSETS_AT_ONCE * WARP_LANES;
    bool have_units = false;
    each_index((count / OF_WARP + 1) * WARP_LANES, [&](uint64_t thread) {
        const uint64_t first = thread / WARP_LANES * OF_WARP + thread % WARP_LANES;
        OFFSET offsets[OFFSETS_AT_ONCE], befores[OFFSETS_AT_ONCE];
        UNROLL
        for (unsigned k = 0; k < OFFSETS_AT_ONCE; k++) {
            const uint64_t index = first + k * WARP_LANES;
            offsets[k] = index <= count ? load_vector(given + index) : OFFSET(0);
            befores[k] = index > 0 && index <= count ? load_vector(given + index - 1) : offsets[k];
        }
        UNROLL
        for (unsigned k = 0; k < OFFSETS_AT_ONCE; k++) {
            const uint64_t index = first + k * WARP_LANES;
            if (index > count)
                break;
            if (offsets[k] < 0 || static_cast<uint64_t>(offsets[k]) > where.rows || offsets[k] < befores[k]) {
                atomic_min(&where.header->wrong, index);
                continue;
            }
            where.put_offset(count, index, static_cast<uint64_t>(offsets[k]));
            have_units |= static_cast<uint64_t>(offsets[k]) - static_cast<uint64_t>(befores[k]) > UNIT_ROWS;
        }
    });
    where.see_rows(have_units);
}

KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1)
    segment_offsets_kernel(segment_where where, segment_given given, segment_owners owners) {
    const uint64_t count = where.count();
    /* Other threads may lower the word meanwhile, to an index, which is less than this: so the load is atomic, too. */
    if (!given.data || load_relaxed(&where.header->wrong) == given.limit + 1)
        return;
    if (given.size == sizeof(int32_t))
        put_offsets(where, count, static_cast<const int32_t *>(given.data));
    else
        put_offsets(where, count, static_cast<const int64_t *>(given.data));
    find_owners(where, owners, count, [&](uint64_t index) {
        return where.is_reversed ? where.rows - static_cast<uint64_t>(given_number(given, count - index))
                                 : static_cast<uint64_t>(given_number(given, index));
    });
}

/* Returns the sum of the values of the threads before this one, and sets `all` to the sum of all. All threads of the
 * block call it together. */
DEVICE uint64_t sum_before_thread(uint64_t own, uint64_t most, uint64_t *warp_sums, uint64_t &all) {
    const unsigned lane = thread_index() % WARP_LANES, warp = thread_index() / WARP_LANES;
    const uint64_t sum = sum_in_warp(own, [&](uint64_t a, uint64_t b) { return add_up_to(most, a, b); });
    uint64_t before = 0;
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
KERNEL LAUNCH_BOUNDS(EACH_THREADS, 1) segment_owners_kernel(segment_where where, segment_owners owners) {
    if (!where.is_right() || where.count() == 0)
        return;
    bool have_units = false;
    each_index(where.count(), [&](uint64_t segment) { have_units |= where.range(segment).rows > UNIT_ROWS; });
    where.see_rows(have_units);
    find_owners(where, owners, where.count(), [&](uint64_t index) { return where.offset(index); });
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
    const segment_owners owners = {plan.owners, plan.unit_rows};
    int error = launch(segment_begin_kernel, 1, WARP_LANES, 0, stream, plan.where, given);
    if (error == 0 && given.kind == KERNEL_SEGMENT_OFFSETS)
        error =
            launch(segment_offsets_kernel, each_blocks(most + 1), EACH_THREADS, 0, stream, plan.where, given, owners);
    else if (error == 0)
        error = run_places(plan.where, given, stream);
    if (error == 0 && given.kind != KERNEL_SEGMENT_OFFSETS)
        error = launch(segment_owners_kernel, each_blocks(most), EACH_THREADS, 0, stream, plan.where, owners);
    return error == 0 && (given.found || given.wrong)
               ? launch(segment_report_kernel, 1, WARP_LANES, 0, stream, plan.where, given)
               : error;
}
