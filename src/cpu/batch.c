/* Several tables at once: threads take runs of whole tables, each of which is one thread's from top to bottom. */
#include <string.h>

#include "../backend.h"
#include "../checked.h"
#include "../pool.h"
#include "../views.h"
#include "stages.h"
#include "team.h"

/* Bytes of sums that a thread takes at a time, in whole tables: small beside a core's own cache, and large beside what
 * it costs to take them. */
enum { RUN_BYTES = 128 << 10 };

struct batch {
    const struct scan *scan;
    char *memory;
    size_t worker_bytes;
    size_t run; /* tables of a job */
    cpu_tiny_kernel *tiny;
    bool converts; /* tiny tables are first made sums */
    struct findings found;
};

static size_t table_bytes(const struct scan *scan) {
    return scan->out.rows * scan->out.columns * table_type_size(scan->element->type);
}

static size_t run_of(const struct scan *scan) {
    const size_t bytes = table_bytes(scan);
    return bytes < RUN_BYTES ? RUN_BYTES / bytes : 1;
}

static unsigned threads_of(const struct scan *scan) {
    return jobs_threads(scan->threads, divide_up(scan->ranges.count, run_of(scan)));
}

static struct division divide(const struct scan *one) { return division_make(one, DIVISION_COLUMNS, 1); }

/* Whether tables have so few values that most of the time would go to the work done once a table. */
static bool are_tiny(const struct scan *scan) {
    const ptrdiff_t columns = (ptrdiff_t)scan->in.columns;
    return scan->out.type == scan->element->type && !scan->element->is_map && !scan->first_overflow &&
           scan->in.rows * scan->in.columns <= CPU_TINY_VALUES && scan->in.stride == columns &&
           scan->out.stride == columns && view_is_aligned(scan->out.data, scan->out.type);
}

/* Starts (NULL: what there is without) or last sums of `count` tables, rows side by side, into rows of results beside
 * them. */
static void put_rows(const struct division *division, const struct scan *first, void *rows, const void *sums,
                     size_t count) {
    uint64_t starts[CPU_TINY_VALUES];
    const size_t columns = first->in.columns;
    if (!sums)
        element_fill(division->element, starts, division->element->start, columns);
    division_give(division, rows, first->ranges.out, sums ? sums : starts, sums ? (ptrdiff_t)columns : 0, count,
                  columns);
}

static void scan_tiny(const struct jobs *jobs, size_t number, unsigned thread) {
    struct batch *batch = (struct batch *)(uintptr_t)jobs->context;
    const struct scan *scan = batch->scan;
    const size_t values = scan->in.rows * scan->in.columns;
    struct cpu_tiny tiny = {scan->in.rows, scan->in.columns, scan->ranges.in, scan->ranges.out, scan->exclusive};
    struct scan some = scan_first_range(scan);
    const struct division division = divide(&some);
    uint64_t converted[CPU_TINY_VALUES * CPU_TINY_TABLES], lasts[CPU_TINY_VALUES * CPU_TINY_TABLES];
    (void)thread;
    some.in.stride = scan->ranges.in; /* a row of the buffer is a table */
    if (batch->converts)
        tiny.in_step = (ptrdiff_t)values;
    const size_t row = scan_row_bytes(scan), first = number * batch->run;
    const size_t end = first + batch->run < scan->ranges.count ? first + batch->run : scan->ranges.count;
    struct findings found = FINDINGS_NONE;
    for (size_t table = first; table < end; table += CPU_TINY_TABLES) {
        const size_t count = end - table < CPU_TINY_TABLES ? end - table : CPU_TINY_TABLES;
        scan_go_to_range(scan, table, row, &some);
        if (batch->converts) {
            division_take(&division, &found, (char *)converted, (ptrdiff_t)values, some.in.data, count, values);
            some.in.data = converted;
        }
        if (some.row_before)
            put_rows(&division, &some, some.row_before, some.carry_in, count);
        batch->tiny(&tiny, some.in.data, some.out.data, some.carry_in, some.row_after ? lasts : some.carry_out, count);
        if (some.row_after)
            put_rows(&division, &some, some.row_after, lasts, count);
        if (some.row_after && some.carry_out)
            memcpy(some.carry_out, lasts, count * row);
    }
    findings_add(&batch->found, &found, 0);
}

/* A table that is worth several threads has them all, one table after the other. */
bool cpu_batch_plan(const struct scan *scan, struct backend_batch *pass) {
    const struct scan one = scan_first_range(scan);
    if (division_threads(&one) > 1)
        return false;
    *pass = (struct backend_batch){.bytes = threads_of(scan) * divide(&one).worker_bytes};
    return true;
}

static void scan_run(const struct jobs *jobs, size_t number, unsigned thread) {
    struct batch *batch = (struct batch *)(uintptr_t)jobs->context;
    const struct scan *scan = batch->scan;
    struct scan one = scan_first_range(scan);
    const struct division division = divide(&one);
    const size_t row = scan_row_bytes(scan), first = number * batch->run;
    const size_t end = first + batch->run < scan->ranges.count ? first + batch->run : scan->ranges.count;
    struct worker worker = worker_make(&division, batch->memory + thread * batch->worker_bytes);
    for (size_t table = first; table < end; table++) {
        scan_go_to_range(scan, table, row, &one);
        worker.found = FINDINGS_NONE;
        panels_scan(&worker, &division);
        findings_add(&batch->found, &worker.found, (uint64_t)table * scan->in.rows * scan->in.columns);
    }
    if (division.stream)
        division.kernels->stream_end();
}

table_status cpu_batch(const struct scan *scan, const struct backend_batch *pass, void *workspace) {
    const struct scan one = scan_first_range(scan);
    struct batch batch = {.scan = scan, .memory = workspace, .run = run_of(scan)};
    struct jobs jobs = {.work = scan_run, .context = &batch, .count = divide_up(scan->ranges.count, batch.run)};
    const struct division division = divide(&one);
    (void)pass;
    batch.worker_bytes = division.worker_bytes;
    batch.tiny = division.element_kernels->tiny;
    batch.converts = scan->in.type != scan->out.type || division.stage_in;
    if (are_tiny(scan))
        jobs.work = scan_tiny;
    batch.found = FINDINGS_NONE;
    const table_status status = jobs_run(&jobs, threads_of(scan));
    scan_tell(scan, &batch.found);
    return status;
}
