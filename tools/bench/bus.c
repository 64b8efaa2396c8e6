/* The bus between host and GPU: copies of page-locked memory one way and both ways at once, beside a stream whose ends
 * do nothing, which the bus alone holds up. */
#include "bench/place.h"
#include "message.h"

enum { PIECE = 16 << 20 };

/* What takes turns. */
enum bus_way { IN, OUT, BOTH, STREAM, WAYS };

struct bus {
    const struct bench_options *options;
    struct bench_report *report;
    struct bench_place places[2]; /* with a stream for each of the two ways */
    void *host[2], *device[2];
    enum bus_way way;
};

static bool open_bus(struct bus *bus) {
    bool open = true;
    for (unsigned i = 0; i < 2; i++) {
        struct bench_place *place = &bus->places[i];
        open = place_open(place, TABLE_BACKEND_CUDA, 0, bus->report) && open &&
               (bus->device[i] = place_allocate(place, PIECE, false)) &&
               (bus->host[i] = place_mirror(place, bus->device[i], PIECE)) &&
               place->kind->clear(place, bus->device[i], PIECE) &&
               place_copy(place, bus->host[i], bus->device[i], PIECE);
    }
    return open;
}

/* To the device, from it, or both ways at once, piece by piece. */
static bool copy(struct bus *bus) {
    struct bench_place *in = &bus->places[IN], *out = &bus->places[OUT];
    bool good = true;
    for (size_t done = 0; done < bus->options->bytes && good; done += PIECE) {
        const size_t some = bus->options->bytes - done < PIECE ? bus->options->bytes - done : PIECE;
        good = (bus->way == OUT || in->kind->copy(in, bus->device[IN], bus->host[IN], some, some, 1)) &&
               (bus->way == IN || out->kind->copy(out, bus->host[OUT], bus->device[OUT], some, some, 1));
    }
    return in->kind->wait(in) && out->kind->wait(out) && good;
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

static bool work(void *context) {
    struct bus *bus = context;
    return bus->way == STREAM ? stream(bus) : copy(bus);
}

static bool run_way(void *context, size_t way, struct bench_times *times) {
    struct bus *bus = context;
    bus->way = (enum bus_way)way;
    return place_time(&bus->places[IN], true, work, bus, 1, &times->ms);
}

static void say(const struct bus *bus, const struct bench_way *ways) {
    double speeds[WAYS];
    for (unsigned way = 0; way < WAYS; way++)
        speeds[way] = (double)bus->options->bytes / 1e6 / ways[way].median.ms;
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

int bench_bus(const struct bench_options *options, struct bench_report *report) {
    static struct bench_way ways[WAYS]; /* too large for a stack */
    struct bus bus = {.options = options, .report = report};
    const bool good = open_bus(&bus) && stream(&bus) && /* which locks pages, and has memory cleared */
                      bench_measure(ways, WAYS, options->repeat, &bus, run_way);
    if (good)
        say(&bus, ways);
    place_close(&bus.places[0]);
    place_close(&bus.places[1]);
    return good ? EX_OK : EX_UNAVAILABLE;
}
