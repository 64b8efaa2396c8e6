/* tuplescan bench: reads the options, and runs what they ask for. */
#include <stdio.h>

#include "bench/bench.h"
#include "commands.h"
#include "message.h"
#include "threads.h"

static bench_function *const modes[BENCH_MODES] = {[BENCH_SCANS] = bench_scans,
                                                   [BENCH_KEYS] = bench_keys,
                                                   [BENCH_ACCURACY] = bench_accuracy,
                                                   [BENCH_BUS] = bench_bus,
                                                   [BENCH_DEVICES] = bench_devices};

/* Values that say nothing to a mode. Before defaults are filled in. */
static int check_values(const struct bench_options *options) {
    const bool on_gpu = options->mode == BENCH_BUS || options->mode == BENCH_DEVICES;
    if (on_gpu && options->backend == TABLE_BACKEND_CPU)
        return fail(EX_USAGE, "--%s: not with --backend cpu", options->mode == BENCH_BUS ? "bus" : "devices");
    if (options->has_segments && options->segments.kind == LENGTHS_BETWEEN &&
        (options->segments.rows.from == 0 || options->segments.rows.to == SIZE_MAX))
        return fail(EX_USAGE, "--segments: the least and the most rows of a segment, from 1 on, such as 1:50");
    if (options->mode != BENCH_BUS)
        return EX_OK;
    if (options->shape_count > 1 || options->pair_count > 1)
        return fail(EX_USAGE, "--%s: is one for --bus, and no list", options->shape_count > 1 ? "columns" : "types");
    if (options->shape_count == 1 && options->shapes[0].stride != options->shapes[0].columns)
        return fail(EX_USAGE, "--columns %zu/%zu: is no window for --bus", options->shapes[0].columns,
                    options->shapes[0].stride);
    return EX_OK;
}

/* The backend that is measured: never AUTO. */
static int choose_backend(struct bench_options *options) {
    const char *unavailable = table_cuda_unavailable();
    const bool wants_gpu = options->peers || options->mode == BENCH_BUS || options->mode == BENCH_DEVICES;
    if (options->backend == TABLE_BACKEND_AUTO)
        options->backend =
            !wants_gpu && (unavailable || options->mode == BENCH_KEYS) ? TABLE_BACKEND_CPU : TABLE_BACKEND_CUDA;
    if (options->backend == TABLE_BACKEND_CUDA && unavailable)
        return fail(EX_UNAVAILABLE, "%s", unavailable);
    if (options->backend == TABLE_BACKEND_CPU && options->peers)
        return fail(EX_USAGE, "--peers: CUB needs --backend cuda");
    if (options->keys > 0 && (options->mode != BENCH_KEYS || options->backend == TABLE_BACKEND_CPU))
        return fail(EX_USAGE, "--keys: goes with --pipelines and --backend cuda");
    return EX_OK;
}

static void fill_in_defaults(struct bench_options *options) {
    const bool cuda = options->backend == TABLE_BACKEND_CUDA, small = options->row_count > 0, quick = options->quick;
    const bool bus = options->mode == BENCH_BUS, accuracy = options->mode == BENCH_ACCURACY;
    const size_t mib = 1 << 20;
    const char *types = bus        ? "f32"
                        : accuracy ? "f32,f64"
                        : small    ? "u32"
                        : quick    ? "u32,f32"
                        : cuda     ? "u32,f32,u64,f64,u8:u32"
                                   : "u32,f32,u64,f64";
    const char *columns = bus                 ? "4"
                          : accuracy || small ? "1,4"
                          : quick             ? "1,4,16,100,1000"
                          : cuda              ? "1,2,3,4,5,7,8,12,16,32,64,100,256,1000,1024,4096"
                                              : "1,2,3,4,5,8,16,64,1000";
    bench_default_list(options, "types", types);
    bench_default_list(options, "columns", columns);
    bench_default_list(options, "threads", "1,all");
    bench_default_list(options, "strategy",
                       !cuda || options->has_segments ? "auto"
                       : small                        ? "recursive,fused,auto"
                                                      : "recursive,host,fused");
    if (options->bytes == 0)
        options->bytes = bus                           ? (quick ? 256 * mib : 4096 * mib)
                         : options->mode == BENCH_KEYS ? (quick ? 16 * mib : 256 * mib)
                         : accuracy                    ? (quick ? 4 * mib : 64 * mib)
                         : cuda                        ? (quick ? 128 * mib : 512 * mib)
                                                       : (quick ? 16 * mib : 64 * mib);
    if (options->repeat == 0)
        options->repeat = bus ? 5 : cuda ? (quick ? 7 : 15) : (quick ? 3 : 7);
}

/* Each `all` of the list becomes the number of those that may work. */
static void count_all_threads(struct bench_options *options) {
    const unsigned all = threads_there(true);
    table_device cpu;
    table_devices(&cpu, 1);
    for (size_t i = 0; i < options->thread_count; i++)
        if (options->threads[i] == 0)
            options->threads[i] = all > 0 ? all : (unsigned)cpu.processors;
}

int bench_main(int argc, char **argv) {
    static struct bench_options options = {.check = true, .numpy = true}; /* too large for a small stack */
    int code;
    options_parse(&options_of_bench, &options, argc, argv);
    options.modes[BENCH_DEVICES] = options.devices.count > 0;
    for (int mode = 0; mode < BENCH_MODES; mode++)
        options.mode = options.modes[mode] && options.mode == BENCH_SCANS ? (enum bench_mode)mode : options.mode;
    if ((code = check_values(&options)) != EX_OK || (code = choose_backend(&options)) != EX_OK)
        return code;
    fill_in_defaults(&options);
    count_all_threads(&options);
    struct bench_report *report = report_open(&options, argc, argv);
    if (!report)
        return fail(EX_OSERR, "out of memory");
    code = modes[options.mode](&options, report);
    if (code == EX_OK && report_is_empty(report))
        code = fail(EX_USAGE, "nothing of what was asked for can be measured");
    report_close(report);
    return code;
}
