/* The bus between host and GPU: copies of page-locked memory one way and both ways at once, beside a stream whose ends
 * do nothing, which the bus alone holds up. */
#include <string.h>

#include <cuda_runtime_api.h>

#include "bench/cuda_work.h"
#include "message.h"

enum { PIECE = 16 << 20 };

struct bus {
    const struct bench_options *options;
    struct bench_report *report;
    void *host[2], *device[2];
    cudaStream_t streams[2];
};

/* What takes turns. */
enum { IN, OUT, BOTH, STREAM, WAYS };

static bool open_bus(struct bus *bus) {
    bool open = true;
    for (unsigned i = 0; i < 2; i++)
        open = open && CUDA(bus->report, cudaMallocHost, &bus->host[i], PIECE) &&
               CUDA(bus->report, cudaMalloc, &bus->device[i], PIECE) &&
               CUDA(bus->report, cudaStreamCreate, &bus->streams[i]);
    if (open)
        memset(bus->host[0], 0, PIECE);
    return open && CUDA(bus->report, cudaMemset, bus->device[1], 0, PIECE);
}

static void close_bus(struct bus *bus) {
    for (unsigned i = 0; i < 2; i++) {
        cudaFreeHost(bus->host[i]);
        cudaFree(bus->device[i]);
        if (bus->streams[i])
            cudaStreamDestroy(bus->streams[i]);
    }
}

/* `bytes` bytes to the device, from it, or both ways at once, piece by piece. */
static bool copy(const struct bus *bus, size_t bytes, bool in, bool out) {
    bool good = true;
    for (size_t done = 0; done < bytes && good; done += PIECE) {
        const size_t some = bytes - done < PIECE ? bytes - done : PIECE;
        if (in)
            good = CUDA(bus->report, cudaMemcpyAsync, bus->device[0], bus->host[0], some, cudaMemcpyHostToDevice,
                        bus->streams[0]);
        if (out && good)
            good = CUDA(bus->report, cudaMemcpyAsync, bus->host[1], bus->device[1], some, cudaMemcpyDeviceToHost,
                        bus->streams[1]);
    }
    for (unsigned i = 0; i < 2; i++)
        good = CUDA(bus->report, cudaStreamSynchronize, bus->streams[i]) && good;
    return good;
}

/* Callbacks that neither fill nor read the buffers: only the bus works. */
static int64_t read_nothing(void *context, void *to, size_t bytes) {
    (void)context, (void)to;
    return (int64_t)bytes;
}

static int write_nothing(void *context, const void *from, size_t bytes) {
    (void)context, (void)from, (void)bytes;
    return 0;
}

static bool stream(const struct bus *bus) {
    const struct bench_options *options = bus->options;
    const struct bench_pair pair = options->pairs[0];
    const size_t columns = options->shapes[0].columns, row = columns * table_type_size(pair.in);
    const table_stream_options stream = {.in_type = pair.in,
                                         .out_type = pair.out,
                                         .columns = columns,
                                         .rows = options->bytes / row > 0 ? options->bytes / row : 1,
                                         .read = read_nothing,
                                         .write = write_nothing,
                                         .scan = {.backend = TABLE_BACKEND_CUDA}};
    const table_status status = table_stream(&stream);
    if (status != TABLE_OK)
        report_failure(bus->report, status, "a stream");
    return status == TABLE_OK;
}

static bool run_way(void *context, size_t way, double *ms) {
    const struct bus *bus = context;
    const double begun = bench_seconds();
    const bool good = way == STREAM ? stream(bus) : copy(bus, bus->options->bytes, way != OUT, way != IN);
    *ms = 1e3 * (bench_seconds() - begun);
    return good;
}

static void say(const struct bus *bus, const struct bench_way *ways) {
    double speeds[WAYS];
    for (unsigned way = 0; way < WAYS; way++)
        speeds[way] = (double)bus->options->bytes / 1e6 / ways[way].ms;
    const struct bench_figure line[] = {
        COUNT_FIGURE("bytes", NULL, 0, bus->options->bytes),
        NUMBER_FIGURE("in_gb_per_second", "in GB/s", 12, 2, speeds[IN]),
        NUMBER_FIGURE("out_gb_per_second", "out GB/s", 13, 2, speeds[OUT]),
        NUMBER_FIGURE("both_gb_per_second", "both, each GB/s", 17, 2, speeds[BOTH]),
        NUMBER_FIGURE("stream_gb_per_second", "a stream GB/s", 17, 2, speeds[STREAM]),
        NUMBER_FIGURE("of_both", "of both", 9, 2, speeds[STREAM] / speeds[BOTH]),
    };
    report_line(bus->report, line, sizeof line / sizeof *line);
}

int bench_cuda_bus(const struct bench_options *options, struct bench_report *report) {
    static struct bench_way ways[WAYS]; /* too large for a stack */
    struct bus bus = {.options = options, .report = report};
    const bool good = open_bus(&bus) && stream(&bus) && /* which locks pages, and has memory cleared */
                      bench_measure(ways, WAYS, options->repeat, &bus, run_way, NULL);
    if (good)
        say(&bus, ways);
    close_bus(&bus);
    return good ? EX_OK : EX_UNAVAILABLE;
}
