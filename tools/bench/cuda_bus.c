/* The bus between host and GPU: copies of page-locked memory one way and both ways at once, beside a stream whose ends
 * do nothing, which the bus alone holds up. */
#include <math.h>
#include <string.h>

#include <cuda_runtime_api.h>

#include "../json.h"
#include "../message.h"
#include "bench.h"

enum { PIECE = 16 << 20 };

struct bus {
    struct bench_report *report;
    void *host[2], *device[2];
    cudaStream_t streams[2];
};

/* Seconds of one repetition each, then medians. */
struct bus_line {
    double in[BENCH_REPEAT_MOST], out[BENCH_REPEAT_MOST], both[BENCH_REPEAT_MOST], stream[BENCH_REPEAT_MOST];
};

static bool succeeded(const struct bus *bus, cudaError_t error, const char *what) {
    if (error == cudaSuccess)
        return true;
    report_note(bus->report, "%s: %s (%s)", what, cudaGetErrorString(error), cudaGetErrorName(error));
    return false;
}

static bool open_bus(struct bus *bus) {
    bool open = true;
    for (unsigned i = 0; i < 2; i++)
        open = open && succeeded(bus, cudaMallocHost(&bus->host[i], PIECE), "cudaMallocHost") &&
               succeeded(bus, cudaMalloc(&bus->device[i], PIECE), "cudaMalloc") &&
               succeeded(bus, cudaStreamCreate(&bus->streams[i]), "cudaStreamCreate");
    if (open)
        memset(bus->host[0], 0, PIECE);
    return open && succeeded(bus, cudaMemset(bus->device[1], 0, PIECE), "cudaMemset");
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
static bool copy(const struct bus *bus, size_t bytes, bool in, bool out, double *seconds) {
    const double begun = bench_seconds();
    bool good = true;
    for (size_t done = 0; done < bytes && good; done += PIECE) {
        const size_t some = bytes - done < PIECE ? bytes - done : PIECE;
        if (in)
            good = succeeded(
                bus, cudaMemcpyAsync(bus->device[0], bus->host[0], some, cudaMemcpyHostToDevice, bus->streams[0]),
                "cudaMemcpyAsync");
        if (out && good)
            good = succeeded(
                bus, cudaMemcpyAsync(bus->host[1], bus->device[1], some, cudaMemcpyDeviceToHost, bus->streams[1]),
                "cudaMemcpyAsync");
    }
    for (unsigned i = 0; i < 2; i++)
        good = succeeded(bus, cudaStreamSynchronize(bus->streams[i]), "cudaStreamSynchronize") && good;
    *seconds = bench_seconds() - begun;
    return good;
}

/* Rows that are whatever the buffer has, and sums that nobody reads. */
static int64_t read_nothing(void *context, void *to, size_t bytes) {
    (void)context, (void)to;
    return (int64_t)bytes;
}

static int write_nothing(void *context, const void *from, size_t bytes) {
    (void)context, (void)from, (void)bytes;
    return 0;
}

static bool stream(const struct bus *bus, const struct bench_options *options, double *seconds) {
    const struct bench_pair pair = options->pairs[0];
    const size_t columns = options->shapes[0].columns, row = columns * table_type_size(pair.in);
    const table_stream_options stream = {.in_type = pair.in,
                                         .out_type = pair.out,
                                         .columns = columns,
                                         .rows = options->bytes / row > 0 ? options->bytes / row : 1,
                                         .read = read_nothing,
                                         .write = write_nothing,
                                         .scan = {.backend = TABLE_BACKEND_CUDA}};
    const double begun = bench_seconds();
    const table_status status = table_stream(&stream);
    *seconds = bench_seconds() - begun;
    if (status != TABLE_OK)
        report_note(bus->report, "a stream: %s: %s", table_status_text(status), table_error_detail());
    return status == TABLE_OK;
}

static void say(const struct bench_options *options, struct bench_report *report, struct bus_line *line) {
    const double bytes = (double)options->bytes / 1e9;
    const double in = bytes / bench_median(line->in, options->repeat);
    const double out = bytes / bench_median(line->out, options->repeat);
    const double both = bytes / bench_median(line->both, options->repeat);
    const double stream = bytes / bench_median(line->stream, options->repeat);
    FILE *to = report_table(report);
    if (to)
        fprintf(to, "%12s %12s %16s %16s %8s\n%12.2f %12.2f %16.2f %16.2f %8.2f\n", "in GB/s", "out GB/s",
                "both, each GB/s", "a stream GB/s", "of both", in, out, both, stream, stream / both);
    if (!options->json)
        return;
    json_object(NULL);
    json_size("bytes", options->bytes);
    json_number("in_gb_per_second", in);
    json_number("out_gb_per_second", out);
    json_number("both_gb_per_second", both);
    json_number("stream_gb_per_second", stream);
    json_number("of_both", stream / both);
    json_end();
}

int bench_cuda_bus(const struct bench_options *options, struct bench_report *report) {
    static struct bus_line line; /* too large for a stack */
    struct bus bus = {.report = report};
    double first;
    bool good = open_bus(&bus) && stream(&bus, options, &first); /* locks pages, and has memory cleared */
    for (unsigned r = 0; r < options->repeat && good; r++)
        good = copy(&bus, options->bytes, true, false, &line.in[r]) &&
               copy(&bus, options->bytes, false, true, &line.out[r]) &&
               copy(&bus, options->bytes, true, true, &line.both[r]) && stream(&bus, options, &line.stream[r]);
    if (good)
        say(options, report, &line);
    close_bus(&bus);
    return good ? EX_OK : EX_UNAVAILABLE;
}
