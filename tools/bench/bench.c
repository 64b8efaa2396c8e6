/* tuplescan bench: reads what is asked for, and runs it. */
#include <stdio.h>
#include <string.h>

#include "bench/line.h"
#include "commands.h"
#include "message.h"
#include "threads.h"

static void fill_in_defaults(struct bench_options *options, bool quick) {
    const bool cuda = options->backend == TABLE_BACKEND_CUDA, small = options->row_count > 0;
    const char *types = options->accuracy ? "f32,f64" : small ? "u32" : quick ? "u32,f32" : "u32,f32,u64,f64";
    const char *columns = options->accuracy || small ? "1,4"
                          : quick                    ? "1,4,16,100,1000"
                          : cuda                     ? "1,2,3,4,5,7,8,12,16,32,64,100,256,1000,1024,4096"
                                                     : "1,2,3,4,5,8,16,64,1000";
    if (cuda && !options->accuracy && !small && !quick && options->pair_count == 0)
        types = "u32,f32,u64,f64,u8:u32";
    bench_default_list(options, "types", types);
    bench_default_list(options, "columns", columns);
    bench_default_list(options, "threads", "1,all");
    bench_default_list(options, "strategy", !cuda ? "auto" : small ? "recursive,fused,auto" : "recursive,host,fused");
    if (options->bytes == 0)
        options->bytes = options->accuracy ? (quick ? 4u << 20 : 64u << 20)
                         : cuda            ? (quick ? 128u << 20 : 512u << 20)
                                           : (quick ? 16u << 20 : 64u << 20);
    if (options->repeat == 0)
        options->repeat = cuda ? (quick ? 7 : 15) : (quick ? 3 : 7);
}

/* One table, as large as makes what happens at its ends no matter. */
static void fill_in_bus(struct bench_options *options, bool quick) {
    bench_default_list(options, "types", "f32");
    bench_default_list(options, "columns", "4");
    options->bytes = options->bytes ? options->bytes : quick ? (size_t)256 << 20 : (size_t)4 << 30;
    options->repeat = options->repeat ? options->repeat : 5;
}

/* Each `all` of the list becomes the number of those that may work. */
static int count_all_threads(struct bench_options *options) {
    table_device cpu;
    unsigned all;
    const int code = threads_there(&all, true);
    table_devices(&cpu, 1);
    for (size_t i = 0; i < options->thread_count; i++)
        if (options->threads[i] == 0)
            options->threads[i] = all > 0 ? all : (unsigned)cpu.processors;
    return code;
}

/* What one of the other benchmarks would not look at. Before defaults are filled in. */
static int refuse_ignored(const struct bench_options *options) {
    const bool pipelines = options->pipelines, accuracy = options->accuracy, bus = options->bus;
    const bool devices = options->devices.count > 0, other = pipelines || accuracy;
    if (devices && (other || options->peers || options->backend == TABLE_BACKEND_CPU))
        return fail(EX_USAGE, "--devices: not with --pipelines, --accuracy, --peers or --backend cpu");
    if (bus && (other || options->peers || devices || options->backend == TABLE_BACKEND_CPU))
        return fail(EX_USAGE, "--bus: not with --pipelines, --accuracy, --peers, --devices or --backend cpu");
    const char *ignored = pipelines && accuracy                                   ? "--accuracy"
                          : pipelines && options->pair_count                      ? "--types"
                          : pipelines && options->shape_count                     ? "--columns"
                          : (accuracy || devices || bus) && options->thread_count ? "--threads"
                          : (other || bus) && options->row_count                  ? "--rows"
                          : (other || bus || devices) && options->table_rows      ? "--table-rows"
                          : (other || bus || devices) && options->strategy_count  ? "--strategy"
                          : (other || bus || devices) && options->overflow        ? "--check-overflow"
                          : (other || bus || devices) && options->reverse         ? "--reverse"
                                                                                  : NULL;
    const char *what = pipelines ? "--pipelines" : accuracy ? "--accuracy" : bus ? "--bus" : "--devices";
    if (ignored)
        return fail(EX_USAGE, "%s: is not for %s", ignored, what);
    if (bus && (options->shape_count > 1 || options->pair_count > 1))
        return fail(EX_USAGE, "--%s: is one for --bus, and no list", options->shape_count > 1 ? "columns" : "types");
    if (bus && options->shape_count == 1 && options->shapes[0].stride != options->shapes[0].columns)
        return fail(EX_USAGE, "--columns %zu/%zu: is no window for --bus", options->shapes[0].columns,
                    options->shapes[0].stride);
    return EX_OK;
}

/* The backend that is measured: never AUTO. */
static int choose_backend(struct bench_options *options) {
    const char *unavailable = table_cuda_unavailable();
    if (options->backend == TABLE_BACKEND_AUTO)
        options->backend = unavailable && !options->peers ? TABLE_BACKEND_CPU : TABLE_BACKEND_CUDA;
    if (options->backend == TABLE_BACKEND_CUDA && unavailable)
        return fail(EX_UNAVAILABLE, "%s", unavailable);
    if (options->backend == TABLE_BACKEND_CPU && options->peers)
        return fail(EX_USAGE, "--peers: CUB needs --backend cuda");
    if (options->backend == TABLE_BACKEND_CPU && options->bus)
        return fail(EX_UNAVAILABLE, "--bus: %s", unavailable);
    if (options->keys > 0 && (!options->pipelines || options->backend == TABLE_BACKEND_CPU))
        return fail(EX_USAGE, "--keys: goes with --pipelines and --backend cuda");
    return EX_OK;
}

int bench_main(int argc, char **argv) {
    struct bench_line line = {.options = {.check = true, .numpy = true}};
    struct bench_options *options = &line.options;
    int code = options_parse(&options_of_bench, &line, argc, argv);
    if (code != GO_ON)
        return code;
    if ((code = refuse_ignored(options)) != EX_OK)
        return code;
    if (options->pipelines) {
        if (options->backend == TABLE_BACKEND_AUTO && !options->peers)
            options->backend = TABLE_BACKEND_CPU;
        if (options->bytes == 0)
            options->bytes = line.quick ? 16u << 20 : 256u << 20;
    }
    if ((code = choose_backend(options)) != EX_OK)
        return code;
    if (options->bus)
        fill_in_bus(options, line.quick);
    fill_in_defaults(options, line.quick);
    if ((code = count_all_threads(options)) != EX_OK)
        return code;
    struct bench_report *report = report_open(options, argc, argv);
    if (!report)
        return fail(EX_OSERR, "out of memory");
    const bool on_cpu = options->backend == TABLE_BACKEND_CPU;
    if (options->pipelines)
        code = on_cpu ? bench_cpu_pipelines(options, report) : bench_cuda_pipelines(options, report);
    else if (options->bus)
        code = bench_cuda_bus(options, report);
    else if (options->devices.count)
        code = bench_cuda_devices(options, report);
    else if (options->accuracy)
        code = bench_accuracy(options, report);
    else
        code = on_cpu ? bench_cpu(options, report) : bench_cuda(options, report);
    if (code == EX_OK && !options->pipelines && !options->bus && !options->devices.count && report_is_empty(report))
        code = fail(EX_USAGE, "nothing of what was asked for can be measured");
    report_close(report);
    return code;
}
