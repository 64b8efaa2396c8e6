/* Counting values by bins: each block has a table of counters in shared memory, and adds it to a row of the counter
 * table in the end.
 *
 * A few bins have several tables side by side, up to one for each lane of a warp, the counters of a bin neighbours: so
 * the lanes of a warp meet neither at one counter nor in one bank of shared memory, whatever the values are. Bins that
 * are too many for one block are counted in ranges, the values being read once for each; more than a few ranges would
 * be dearer than to count in global memory. */
#ifndef COUNT_CUH
#define COUNT_CUH

#include "keys/bins.cuh"

constexpr unsigned COUNT_THREADS = 512;
constexpr unsigned COUNT_RANGES_MOST = 4;
/* A table of 256 bins for each lane of a warp: a multiprocessor has room for several blocks of that. */
constexpr unsigned COUNT_WORDS = (256 + TABLE_OUTSIDE_WORDS) * WARP_LANES;
constexpr size_t PIECE_LEAST = 32768; /* values that are worth a block */
constexpr size_t PIECE_MOST = 1 << 30;

struct count_pass {
    const void *keys;
    size_t count, chunk_length, chunks;
    size_t piece_length, pieces; /* of a chunk */
    kernel_counters counters;
    unsigned width, ranges, copies; /* bins of a range, and tables of them */
    uint64_t *outside;              /* counters of values outside of all bins */
};

/* Bins of a value, with the bins for values outside. */
template <class BINS> static size_t all_bins(const count_pass &pass) {
    return pass.counters.columns + (BINS::OUTSIDE ? TABLE_OUTSIDE_WORDS : 0);
}

DEVICE void add_to_counter(const count_pass &pass, size_t chunk, size_t column, unsigned number) {
    const size_t at = chunk * pass.counters.stride + column;
    if (pass.counters.type == TABLE_U32)
        atomic_add(static_cast<uint32_t *>(pass.counters.data) + at, static_cast<uint32_t>(number));
    else
        atomic_add(static_cast<uint64_t *>(pass.counters.data) + at, static_cast<uint64_t>(number));
}

DEVICE void set_counter(const count_pass &pass, size_t chunk, size_t column, unsigned number) {
    const size_t at = chunk * pass.counters.stride + column;
    if (pass.counters.type == TABLE_U32)
        static_cast<uint32_t *>(pass.counters.data)[at] = number;
    else
        static_cast<uint64_t *>(pass.counters.data)[at] = number;
}

/* The work that a block counts at a time: a piece of a chunk, by the bins of a range. */
struct count_item {
    size_t chunk, begin, end;
    unsigned first_bin;
};

DEVICE count_item count_item_of(const count_pass &pass, size_t number) {
    count_item item;
    const size_t piece = number / pass.ranges % pass.pieces;
    item.chunk = number / pass.ranges / pass.pieces;
    item.first_bin = static_cast<unsigned>(number % pass.ranges) * pass.width;
    const size_t chunk_begin = item.chunk * pass.chunk_length, left = pass.count - chunk_begin;
    const size_t chunk_end = chunk_begin + (left < pass.chunk_length ? left : pass.chunk_length);
    item.begin = chunk_begin + piece * pass.piece_length;
    item.begin = item.begin < chunk_end ? item.begin : chunk_end;
    item.end = chunk_end - item.begin < pass.piece_length ? chunk_end : item.begin + pass.piece_length;
    return item;
}

/* ALL: the range has all bins, so that no value has to be left out. */
template <class BINS, bool BYTES, bool ALL>
DEVICE void count_piece(const count_pass &pass, const BINS &bins, const count_item &item, uint32_t *table) {
    typedef typename BINS::Key Key;
    const unsigned copies = BYTES ? WARP_LANES : pass.copies;
    uint32_t *const mine = table + (warp_lane() & (copies - 1));
    for_each_key(static_cast<const Key *>(pass.keys), item.begin, item.end, [&](Key key, bool there) {
        const auto add = [&](unsigned bin) {
            if (there && (ALL || bin - item.first_bin < pass.width))
                atomic_add(&mine[(bin - (ALL ? 0 : item.first_bin)) * copies], 1u);
        };
        if constexpr (BYTES)
            add(static_cast<unsigned>(key));
        else
            for_each_bin(bins, key, add);
    });
}

/* The block's tables into the chunk's row. */
template <class BINS, bool BYTES>
DEVICE void put_counts(const count_pass &pass, const BINS &bins, const count_item &item, const uint32_t *table) {
    const unsigned all = static_cast<unsigned>(pass.counters.columns);
    for (unsigned bin = thread_index(); bin < pass.width; bin += block_threads()) {
        unsigned number = 0;
        for (unsigned copy = 0; copy < pass.copies; copy++) /* each lane begins in a bank of its own */
            number += table[bin * pass.copies + ((copy + bin) & (pass.copies - 1))];
        unsigned column = item.first_bin + bin;
        if constexpr (BYTES)
            column = bins(static_cast<typename BINS::Key>(bin));
        if (column >= all && number > 0 && column - all < TABLE_OUTSIDE_WORDS)
            atomic_add(pass.outside + (column - all), static_cast<uint64_t>(number));
        else if (column < all && !BYTES && pass.pieces == 1)
            set_counter(pass, item.chunk, column, number);
        else if (column < all && number > 0)
            add_to_counter(pass, item.chunk, column, number);
    }
}

/* HAS_RANGES: whether there may be several. */
template <class BINS, bool BYTES, bool HAS_RANGES> KERNEL LAUNCH_BOUNDS(COUNT_THREADS, 2)
    count_kernel(count_pass pass, BINS bins) {
    SHARED_DYNAMIC(uint32_t, table);
    const size_t items = pass.chunks * pass.pieces * pass.ranges;
    for (size_t number = block_index(); number < items; number += block_count()) {
        const count_item item = count_item_of(pass, number);
        for (unsigned word = thread_index(); word < pass.width * pass.copies; word += block_threads())
            table[word] = 0;
        block_barrier();
        if (HAS_RANGES && pass.ranges > 1)
            count_piece<BINS, BYTES, !HAS_RANGES>(pass, bins, item, table);
        else
            count_piece<BINS, BYTES, true>(pass, bins, item, table);
        block_barrier();
        put_counts<BINS, BYTES>(pass, bins, item, table);
        block_barrier();
    }
}

/* More bins than shared memory has room for: the lanes of a warp that have the same bin add to it together. */
template <class BINS> KERNEL LAUNCH_BOUNDS(COUNT_THREADS, 2) count_in_memory_kernel(count_pass pass, BINS bins) {
    typedef typename BINS::Key Key;
    constexpr unsigned NONE = 0xffffffffu;
    const Key *keys = static_cast<const Key *>(pass.keys);
    const unsigned all = static_cast<unsigned>(pass.counters.columns);
    const size_t items = pass.chunks * pass.pieces;
    for (size_t number = block_index(); number < items; number += block_count()) {
        const count_item item = count_item_of(pass, number);
        for (size_t first = item.begin; first < item.end; first += COUNT_THREADS) {
            const bool there = thread_index() < item.end - first;
            const unsigned bin = there ? bins(load_vector(keys + first + thread_index())) : NONE;
            const unsigned peers = warp_match(WARP_ALL, bin), together = bit_count(peers);
            const bool leads = there && warp_lane() == lowest_bit(peers);
            if (leads && bin < all)
                add_to_counter(pass, item.chunk, bin, together);
            else if (leads)
                atomic_add(pass.outside + (bin - all), static_cast<uint64_t>(together));
        }
    }
}

/* Plans how `bins` bins are counted: in how many ranges, and in how many tables, unless clearing and adding up the
 * tables would take as long as counting. A block may take `most` bytes of shared memory; GREEDY: it takes them all. A
 * width of 0: counted in global memory. */
template <bool GREEDY> static void plan_table(size_t bins, size_t most, count_pass *pass) {
    constexpr size_t VALUES_PER_COUNTER = 8;
    const size_t words = bins <= COUNT_WORDS && !GREEDY ? COUNT_WORDS : most / sizeof(uint32_t);
    const size_t ranges = (bins + words - 1) / words;
    pass->copies = 1;
    while (pass->copies < WARP_LANES && 2 * pass->copies * bins <= words &&
           2 * pass->copies * bins <= pass->chunk_length / VALUES_PER_COUNTER)
        pass->copies *= 2;
    pass->ranges = ranges <= COUNT_RANGES_MOST ? static_cast<unsigned>(ranges) : 1;
    pass->width = ranges <= COUNT_RANGES_MOST ? static_cast<unsigned>((bins + ranges - 1) / ranges) : 0;
}

/* Pieces of a chunk, so that there is work for `blocks` blocks, each piece worth one. */
static void plan_pieces(unsigned blocks, count_pass *pass) {
    constexpr size_t ALIGNED = 64; /* so that pieces begin where whole vectors do, if the keys do */
    const size_t items = pass->chunks * pass->ranges, worth = (pass->chunk_length - 1) / PIECE_LEAST + 1;
    const size_t least = (pass->chunk_length - 1) / PIECE_MOST + 1, wanted = (blocks - 1) / items + 1;
    pass->pieces = wanted < worth ? wanted : worth;
    if (pass->pieces < least)
        pass->pieces = least;
    pass->piece_length = (pass->chunk_length - 1) / pass->pieces + 1;
    if (pass->pieces > 1)
        pass->piece_length += ALIGNED - 1 - (pass->piece_length - 1) % ALIGNED;
}

/* Queues zeros in all rows of the counters (digit_counts.cu). */
int clear_counters(const kernel_counters &counters, size_t rows, void *stream);

/* BYTES: the values are bytes, which are counted as they are, in 256 bins and a table for each lane: what bins the
 * values are in is asked but once, when all are counted. SEVERAL: a value is in several bins, and there are few of
 * them. */
template <class BINS, bool BYTES, bool SEVERAL = false>
static int run_count(count_pass pass, const BINS &bins, void *stream) {
    constexpr unsigned ROUNDS = 4; /* blocks that end early leave room for others */
    unsigned resident;
    size_t most;
    int error = most_shared_bytes(&most);
    if (error != 0)
        return error;
    if (pass.chunk_length > pass.count)
        pass.chunk_length = pass.count;
    pass.chunks = (pass.count - 1) / pass.chunk_length + 1;
    plan_table<SEVERAL>(BYTES ? 256 : all_bins<BINS>(pass), most, &pass);
    if (BYTES)
        pass.copies = WARP_LANES;
    const bool in_memory = pass.width == 0;
    constexpr bool HAS_RANGES = !SEVERAL && !BYTES;
    auto kernel = count_kernel<BINS, BYTES, HAS_RANGES>;
    if constexpr (HAS_RANGES)
        kernel = in_memory ? count_in_memory_kernel<BINS> : kernel;
    const size_t shared = sizeof(uint32_t) * pass.width * pass.copies;
    error = allow_shared_bytes(kernel);
    if (error == 0)
        error = resident_blocks(kernel, COUNT_THREADS, shared, &resident);
    if (error != 0)
        return error;
    plan_pieces(resident, &pass);
    if (BYTES || in_memory || pass.pieces > 1)
        error = clear_counters(pass.counters, pass.chunks, stream);
    const size_t items = pass.chunks * pass.pieces * pass.ranges, blocks = static_cast<size_t>(resident) * ROUNDS;
    return error == 0 ? launch(kernel, static_cast<unsigned>(items < blocks ? items : blocks), COUNT_THREADS, shared,
                               stream, pass, bins)
                      : error;
}

#endif
