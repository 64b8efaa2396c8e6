/* Histograms: counts of values by bins, or sums of their weights. Reads the values once. */
#include "keys/weights.cuh"

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
