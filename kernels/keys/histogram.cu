/* Histograms: counts of values by bins, or sums of their weights. Reads the values once. */
#include "keys/count.cuh"

/* Sums of weights by bins, in the order that tuplescan/histogram.h fixes: inside a chunk one after the other. A warp
 * has a chunk, of which it takes 32 values at a time; where several are in one bin, their lanes take turns from the
 * lowest. The sums are in shared memory if they are few, otherwise in the chunk's row itself. */
constexpr size_t WEIGHTS_SHARED_MOST = 48 << 10;
constexpr unsigned WEIGHTS_WARPS_MOST = 4;

struct weights_pass {
    kernel_histogram_pass histogram;
    size_t chunks;
    bool shared; /* the sums are there */
};

/* The sums of one warp's chunk. Lanes of a warp write in turns, with a warp_barrier() between. */
struct weight_sums {
    void *data;
    bool wide;

    DEVICE void clear(unsigned bin) const {
        if (wide)
            static_cast<double *>(data)[bin] = 0;
        else
            static_cast<float *>(data)[bin] = 0;
    }
    DEVICE void add(unsigned bin, double weight) const {
        if (wide)
            static_cast<double *>(data)[bin] += weight;
        else
            static_cast<float *>(data)[bin] += static_cast<float>(weight);
    }
    DEVICE void copy_to(const weight_sums &to, unsigned bin) const {
        if (wide)
            static_cast<double *>(to.data)[bin] = static_cast<double *>(data)[bin];
        else
            static_cast<float *>(to.data)[bin] = static_cast<float *>(data)[bin];
    }
};

/* A weight as a double, which holds each of either type. */
DEVICE double weight_at(const kernel_histogram_pass &pass, size_t index) {
    return pass.weight_type == TABLE_F64
               ? load_vector(static_cast<const double *>(pass.weights) + index)
               : static_cast<double>(load_vector(static_cast<const float *>(pass.weights) + index));
}

/* One value of each lane; `bin` is NONE where there is no value to add. */
DEVICE void add_in_turns(const weight_sums &sums, unsigned bin, double weight, bool inside) {
    const unsigned turn = bit_count(warp_match(WARP_ALL, bin) & lanes_below());
    for (unsigned now = 0; warp_any(WARP_ALL, inside && turn >= now); now++) {
        if (inside && turn == now)
            sums.add(bin, weight);
        warp_barrier(WARP_ALL);
    }
}

template <class BINS>
DEVICE void weigh_chunk(const weights_pass &pass, const BINS &bins, size_t chunk, const weight_sums &sums) {
    typedef typename BINS::Key Key;
    constexpr unsigned NONE = 0xffffffffu;
    const kernel_histogram_pass &histogram = pass.histogram;
    const size_t begin = chunk * histogram.chunk_length, left = histogram.count - begin;
    const size_t end = begin + (left < histogram.chunk_length ? left : histogram.chunk_length);
    const unsigned all = static_cast<unsigned>(histogram.result.columns);
    unsigned outside[TABLE_OUTSIDE_WORDS] = {};
    for (size_t first = begin; first < end; first += WARP_LANES) {
        const size_t index = first + warp_lane();
        const bool there = index < end;
        const unsigned bin = there ? bins(load_vector(static_cast<const Key *>(histogram.values) + index)) : NONE;
        add_in_turns(sums, bin, bin < all ? weight_at(histogram, index) : 0, bin < all);
        UNROLL
        for (unsigned word = 0; word < TABLE_OUTSIDE_WORDS; word++)
            outside[word] += there && bin - all == word;
    }
    UNROLL
    for (unsigned word = 0; word < TABLE_OUTSIDE_WORDS; word++)
        if (outside[word] > 0)
            atomic_add(histogram.outside + word, static_cast<uint64_t>(outside[word]));
}

template <class BINS> KERNEL LAUNCH_BOUNDS(WEIGHTS_WARPS_MOST *WARP_LANES, 1)
    weigh_kernel(weights_pass pass, BINS bins) {
    SHARED_DYNAMIC(unsigned char, memory);
    const kernel_counters &result = pass.histogram.result;
    const unsigned warps = block_threads() / WARP_LANES, warp = thread_index() / WARP_LANES;
    const unsigned all = static_cast<unsigned>(result.columns);
    const bool wide = result.type == TABLE_F64;
    const size_t size = wide ? sizeof(double) : sizeof(float);
    for (size_t chunk = static_cast<size_t>(block_index()) * warps + warp; chunk < pass.chunks;
         chunk += static_cast<size_t>(block_count()) * warps) {
        const weight_sums row = {static_cast<unsigned char *>(result.data) + chunk * result.stride * size, wide};
        const weight_sums sums = {pass.shared ? memory + warp * all * size : row.data, wide};
        for (unsigned bin = warp_lane(); bin < all; bin += WARP_LANES)
            sums.clear(bin);
        warp_barrier(WARP_ALL);
        weigh_chunk(pass, bins, chunk, sums);
        for (unsigned bin = warp_lane(); pass.shared && bin < all; bin += WARP_LANES)
            sums.copy_to(row, bin);
        warp_barrier(WARP_ALL);
    }
}

struct weights_launcher {
    const kernel_histogram_pass *histogram;

    template <class BINS> int run(const BINS &bins) const {
        constexpr size_t BLOCKS_MOST = 1 << 16;
        const size_t sums = histogram->result.columns * (histogram->result.type == TABLE_F64 ? 8 : 4);
        weights_pass pass = {};
        unsigned warps = WEIGHTS_WARPS_MOST;
        pass.histogram = *histogram;
        pass.chunks = (histogram->count - 1) / histogram->chunk_length + 1;
        while (warps > 1 && warps * sums > WEIGHTS_SHARED_MOST)
            warps /= 2;
        pass.shared = sums * warps <= WEIGHTS_SHARED_MOST;
        if (!pass.shared)
            warps = WEIGHTS_WARPS_MOST;
        /* The kernel names shared memory in any case, so a launch always has some. */
        const size_t shared = pass.shared ? sums * warps : sizeof(double);
        return launch(weigh_kernel<BINS>, grid_for(pass.chunks, warps, BLOCKS_MOST), warps * WARP_LANES, shared,
                      histogram->stream, pass, bins);
    }
};

static int run_weights(const kernel_histogram_pass &pass) { return run_histogram(pass, weights_launcher{&pass}); }

struct count_launcher {
    const kernel_histogram_pass *histogram;

    template <class BINS> int run(const BINS &bins) const {
        count_pass pass = {};
        pass.keys = histogram->values;
        pass.count = histogram->count;
        pass.chunk_length = histogram->chunk_length;
        pass.counters = histogram->result;
        pass.outside = histogram->outside;
        return run_count<BINS, sizeof(typename BINS::Key) == 1>(pass, bins, histogram->stream);
    }
};

int kernel_histogram(const kernel_histogram_pass *pass) {
    return pass->weights ? run_weights(*pass) : run_histogram(*pass, count_launcher{pass});
}
