/* tuplescan bench: reads what is asked for, and runs it. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "bad_option.h"
#include "bench/bench.h"
#include "bench/lists.h"
#include "commands.h"
#include "complete.h"
#include "device_list.h"
#include "message.h"
#include "number.h"
#include "threads.h"
#include "values.h"
#include "words.h"

static const char HELP[] =
    "Usage: tuplescan bench [OPTION]...\n"
    "\n"
    "Measures table_prefix_sum() beside a plain copy of the same bytes, in one run, and prints medians. On the CPU it\n"
    "stands beside memcpy, a plain serial loop and numpy.cumsum(axis=0), on a GPU beside cudaMemcpy of device memory.\n"
    "Each result is compared with another way of computing it before it is timed.\n"
    "\n"
    "      --backend B       auto, cpu or cuda; auto is cuda where there is a GPU\n"
    "      --devices D       all, or numbers such as 0,1: a table in parts on these GPUs, --bytes or --rows on each,\n"
    "                        beside what they copy at the same time; with the time of the exchange, and of a call\n"
    "                        for 1024 rows on each. The ceiling is 1.5 copies: two reads and a write\n"
    "      --columns LIST    columns of the tables, such as 1,4,1000; 4/8 is a window of 4 columns in rows of 8\n"
    "      --stride N        windows in rows of N elements, for all columns\n"
    "      --types LIST      such as u32,f32, or pairs such as u8:u32\n"
    "      --pairs LIST      the same, beside the types\n"
    "      --bytes N         size of the larger of the two tables, such as 64M, the default on the CPU; on a GPU 512M\n"
    "      --rows LIST       that many rows instead, such as 1000,2^20; on a GPU the time of one scan in a replayed\n"
    "                        CUDA graph, as small tables want it\n"
    "      --table-rows N    tables of N rows each, as many as make the size or the rows, all in one call\n"
    "      --threads LIST    CPU threads, such as 1,2,all; all is as many as for scan without --threads\n"
    "      --strategy LIST   auto, host, recursive, fused; those that there are. Default: on the CPU auto\n"
    "      --repeat N        repetitions of each, taken in turns\n"
    "      --reverse         sums from the end\n"
    "      --check-overflow  integer sums are checked for overflow, of which these tables then have none; on a GPU\n"
    "                        also without the check, on the same tables, so that its cost is seen\n"
    "      --peers           on a GPU: also CUB's DeviceScan and a kernel that only copies\n"
    "      --pipelines       sorting and histograms instead: on the CPU beside qsort, std::sort and reading memory; "
    "with\n"
    "                        --backend cuda and --peers beside CUB's DeviceRadixSort and DeviceHistogram; takes\n"
    "                        --bytes (of keys; default 256M), --threads, --repeat, --quick, --json\n"
    "      --bus             the bus of a GPU instead: copies of page-locked memory one way and both ways at once, and "
    "how\n"
    "                        much of that a stream of rows (table_stream()) gets whose ends do nothing; takes --bytes\n"
    "                        (default 4G), --columns, --types, --repeat, --json\n"
    "      --keys N          with --pipelines on a GPU: N keys of each type, such as 2^27, instead of --bytes of them\n"
    "      --accuracy        errors against exact sums and differences between two runs, instead of times; on a GPU "
    "of\n"
    "                        each strategy\n"
    "      --quick           fewer and smaller tables\n"
    "      --no-check        do not look whether the results are right\n"
    "      --no-numpy        leave numpy out\n"
    "      --json            one JSON object on standard output; the table goes to standard error\n"
    "  -q, --quiet           no table beside the JSON\n"
    "  -h, --help            this help\n"
    "\n"
    "of memcpy is the time of the copy over the time of the scan: 1 is as fast as copying.\n";

struct line {
    struct bench_options options;
    size_t stride;
    bool quick;
};

/* What is done with the value of --`name`. `place` is in the line, or it is the options. */
typedef int taker(const char *name, const char *text, void *place);

static int take_true(const char *name, const char *text, void *place) {
    (void)name, (void)text;
    *(bool *)place = true;
    return EX_OK;
}

static int take_false(const char *name, const char *text, void *place) {
    (void)name, (void)text;
    *(bool *)place = false;
    return EX_OK;
}

static int take_number(const char *name, const char *text, size_t most, size_t *number) {
    if (bench_read_size(text, number) && *number <= most)
        return EX_OK;
    return fail(EX_USAGE, "--%s %s: not a number from 1 to %zu", name, text, most);
}

static int take_size(const char *name, const char *text, void *place) {
    return take_number(name, text, BENCH_SIZE_MOST, place);
}

/* A histogram counts in u32. */
static int take_keys(const char *name, const char *text, void *place) {
    return take_number(name, text, UINT32_MAX, place);
}

static int take_repeat(const char *name, const char *text, void *place) {
    size_t number = 0;
    const int code = take_number(name, text, BENCH_REPEAT_MOST, &number);
    *(unsigned *)place = (unsigned)number;
    return code;
}

static int take_backend(const char *name, const char *text, void *place) {
    const int word = word_place(backend_words, text);
    if (word < 0)
        return fail(EX_USAGE, "--%s %s: not a backend; there are auto, cpu and cuda", name, text);
    *(table_backend *)place = (table_backend)word;
    return EX_OK;
}

static int take_devices(const char *name, const char *text, void *place) {
    struct bench_options *options = place;
    (void)name;
    return device_list_read(text, options->devices, &options->device_count);
}

#define LIST_TAKER(TAKER, LIST)                                                                                        \
    static int TAKER(const char *name, const char *text, void *place) {                                                \
        (void)name;                                                                                                    \
        return bench_take_list(place, LIST, text);                                                                     \
    }
LIST_TAKER(take_columns, BENCH_COLUMNS)
LIST_TAKER(take_types, BENCH_TYPES)
LIST_TAKER(take_rows, BENCH_ROWS)
LIST_TAKER(take_threads, BENCH_THREADS)
LIST_TAKER(take_strategies, BENCH_STRATEGIES)

#define AT(member) offsetof(struct line, member)
#define ALL        AT(options) /* the options themselves */

static const struct rule {
    const char *name;
    taker *take;
    size_t place; /* where in the line the value goes */
} rules[] = {
    {"backend", take_backend, AT(options.backend)},
    {"devices", take_devices, ALL},
    {"columns", take_columns, ALL},
    {"stride", take_size, AT(stride)},
    {"types", take_types, ALL},
    {"pairs", take_types, ALL},
    {"bytes", take_size, AT(options.bytes)},
    {"rows", take_rows, ALL},
    {"table-rows", take_size, AT(options.table_rows)},
    {"threads", take_threads, ALL},
    {"strategy", take_strategies, ALL},
    {"repeat", take_repeat, AT(options.repeat)},
    {"reverse", take_true, AT(options.reverse)},
    {"check-overflow", take_true, AT(options.overflow)},
    {"peers", take_true, AT(options.peers)},
    {"accuracy", take_true, AT(options.accuracy)},
    {"pipelines", take_true, AT(options.pipelines)},
    {"bus", take_true, AT(options.bus)},
    {"keys", take_keys, AT(options.keys)},
    {"quick", take_true, AT(quick)},
    {"no-check", take_false, AT(options.check)},
    {"no-numpy", take_false, AT(options.numpy)},
    {"json", take_true, AT(options.json)},
    {"quiet", take_true, AT(options.quiet)},
};
enum { RULES = sizeof rules / sizeof rules[0], CODES = 256 };

static void fill_in_defaults(struct bench_options *options, bool quick) {
    const bool cuda = options->backend == TABLE_BACKEND_CUDA, small = options->row_count > 0;
    const char *types = options->accuracy ? "f32,f64" : small ? "u32" : quick ? "u32,f32" : "u32,f32,u64,f64";
    const char *columns = options->accuracy || small ? "1,4"
                          : quick                    ? "1,4,16,100,1000"
                          : cuda                     ? "1,2,3,4,5,7,8,12,16,32,64,100,256,1000,1024,4096"
                                                     : "1,2,3,4,5,8,16,64,1000";
    if (cuda && !options->accuracy && !small && !quick && options->pair_count == 0)
        types = "u32,f32,u64,f64,u8:u32";
    bench_default_list(options, BENCH_TYPES, types);
    bench_default_list(options, BENCH_COLUMNS, columns);
    bench_default_list(options, BENCH_THREADS, "1,all");
    bench_default_list(options, BENCH_STRATEGIES,
                       !cuda   ? "auto"
                       : small ? "recursive,fused,auto"
                               : "recursive,host,fused");
    if (options->bytes == 0)
        options->bytes = options->accuracy ? (quick ? 4u << 20 : 64u << 20)
                         : cuda            ? (quick ? 128u << 20 : 512u << 20)
                                           : (quick ? 16u << 20 : 64u << 20);
    if (options->repeat == 0)
        options->repeat = cuda ? (quick ? 7 : 15) : (quick ? 3 : 7);
}

/* One table, as large as makes what happens at its ends no matter. */
static void fill_in_bus(struct bench_options *options, bool quick) {
    bench_default_list(options, BENCH_TYPES, "f32");
    bench_default_list(options, BENCH_COLUMNS, "4");
    options->bytes = options->bytes ? options->bytes : quick ? (size_t)256 << 20 : (size_t)4 << 30;
    options->repeat = options->repeat ? options->repeat : 5;
}

static int set_stride(struct bench_options *options, size_t stride) {
    for (size_t s = 0; stride > 0 && s < options->shape_count; ++s) {
        if (stride < options->shapes[s].columns)
            return fail(EX_USAGE, "--stride %zu: less than %zu columns", stride, options->shapes[s].columns);
        options->shapes[s].stride = stride;
    }
    return EX_OK;
}

static int read_line(struct line *line, int argc, char **argv) {
    struct option options[RULES + 2] = {{0}};
    for (int i = 0; i < RULES; i++) {
        const bool takes_value = rules[i].take != take_true && rules[i].take != take_false;
        const bool is_quiet = strcmp(rules[i].name, "quiet") == 0;
        options[i] = (struct option){rules[i].name, takes_value, NULL, is_quiet ? 'q' : CODES + i};
    }
    options[RULES] = (struct option){"help", no_argument, NULL, 'h'};
    if (is_completion(argc, argv))
        return complete_options(argc, argv, options, HELP);
    optind = 0;
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, ":hq", options, NULL)) != -1;) {
        if (code == 'h') {
            fputs(HELP, stdout);
            return EX_OK;
        }
        if (code == '?' || code == ':')
            return bad_option(argv, code, options);
        const struct rule *rule = code == 'q' ? &rules[RULES - 1] : &rules[code - CODES];
        const int result = rule->take(rule->name, optarg, (char *)line + rule->place);
        if (result != EX_OK)
            return result;
    }
    return optind == argc ? GO_ON : fail(EX_USAGE, "%s: not wanted; see tuplescan help %s", argv[optind], argv[0]);
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
    return code == GO_ON ? EX_OK : code;
}

/* What one of the other benchmarks would not look at. Before defaults are filled in. */
static int refuse_ignored(const struct line *line) {
    const struct bench_options *options = &line->options;
    const bool pipelines = options->pipelines, accuracy = options->accuracy, bus = options->bus;
    const bool devices = options->device_count > 0, other = pipelines || accuracy;
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
                          : (other || bus) && line->stride                        ? "--stride"
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
    struct line line = {.options = {.check = true, .numpy = true}};
    struct bench_options *options = &line.options;
    int code = read_line(&line, argc, argv);
    if (code != GO_ON)
        return code;
    if ((code = refuse_ignored(&line)) != EX_OK)
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
    if ((code = set_stride(options, line.stride)) != EX_OK)
        return code;
    struct bench_report *report = report_open(options, argc, argv);
    if (!report)
        return fail(EX_OSERR, "out of memory");
    const bool on_cpu = options->backend == TABLE_BACKEND_CPU;
    if (options->pipelines)
        code = on_cpu ? bench_cpu_pipelines(options, report) : bench_cuda_pipelines(options, report);
    else if (options->bus)
        code = bench_cuda_bus(options, report);
    else if (options->device_count)
        code = bench_cuda_devices(options, report);
    else if (options->accuracy)
        code = bench_accuracy(options, report);
    else
        code = on_cpu ? bench_cpu(options, report) : bench_cuda(options, report);
    if (code == EX_OK && !options->pipelines && !options->bus && !options->device_count && report_is_empty(report))
        code = fail(EX_USAGE, "nothing of what was asked for can be measured");
    report_close(report);
    return code;
}
