/* Segments: threads take runs of whole segments of about the same weight, whatever their lengths. A segment that is
 * more than such a run is left over, and then has all threads, as a table of its own has. */
#include <string.h>

#include "../segments/segments.h"

#include "../checked.h"
#include "../interrupt.h"
#include "../pool.h"
#include "stages.h"
#include "team.h"

/* Runs for each thread, so that the last one to end has not long to go; the least bytes of sums of a run; and what a
 * segment weighs beside its values, in such bytes. */
enum { RUNS_OF_A_THREAD = 8, RUN_BYTES = 256 << 10, SEGMENT_BYTES = 128 };

/* The most rows of a short segment, a unit. */
enum { SHORT_ROWS = TABLE_UNIT_ROWS };

struct giant {
    size_t number;
    uint64_t first, end;
};

struct segmented {
    const struct scan *scan;
    const struct segments *segments;
    struct segment_weights weights;
    unsigned threads;
    struct segment_cut *cuts; /* one more than runs */
    struct giant *giants;
    atomic_size_t giant_count;
    char *memory;
    size_t worker_bytes, map_row_bytes; /* of a thread: the worker's, and of one of two rows of maps after them */
    bool has_short;                     /* short segments are taken together */
    struct findings found;
};

/* As the table of one segment that is all of it. */
static struct division divide(const struct scan *scan) { return division_make(scan, DIVISION_COLUMNS, 1); }

static size_t values_bytes(const struct scan *scan) { return scan->in.columns * table_type_size(scan->element->type); }

/* At least the weight of all segments; SIZE_MAX where that does not fit. */
static size_t total_weight(const struct scan *scan, const struct segments *segments) {
    const size_t most = segments->count < scan->in.rows ? scan->in.rows : segments->count;
    size_t values, beside, total;
    return checked_multiply(scan->in.rows, values_bytes(scan), &values) &&
                   checked_multiply(most, SEGMENT_BYTES, &beside) && checked_add(values, beside, &total)
               ? total
               : SIZE_MAX;
}

/* The sums, their cuts and the memory of workers, of which all but the places follows from the shapes. */
static struct segmented plan(const struct scan *scan, const struct segments *segments) {
    struct segmented all = {.scan = scan, .segments = segments, .threads = division_threads(scan)};
    const uint64_t part = total_weight(scan, segments) / ((size_t)all.threads * RUNS_OF_A_THREAD) + 1;
    all.weights = (struct segment_weights){values_bytes(scan), SEGMENT_BYTES, part > RUN_BYTES ? part : RUN_BYTES};
    if (all.threads == 1)
        all.weights.between = UINT64_MAX;
    if (scan->in.columns > 0) {
        const struct division division = divide(scan);
        all.worker_bytes = round_up(division.worker_bytes, CPU_ALIGNMENT);
        all.has_short = division.kernel->segments && !scan->first_overflow;
    }
    all.map_row_bytes = scan->element->is_map ? round_up(scan_row_bytes(scan), CPU_ALIGNMENT) : 0;
    return all;
}

static size_t cuts_most(const struct segmented *all) { return (size_t)all->threads * RUNS_OF_A_THREAD + 2; }

static size_t short_bytes(const struct segmented *all) {
    return all->has_short
               ? round_up((CPU_SHORT_VALUES + CPU_SHORT_SEGMENTS * CPU_NARROW_MOST) * sizeof(uint64_t), CPU_ALIGNMENT)
               : 0;
}

static size_t thread_bytes(const struct segmented *all) {
    return all->worker_bytes + 2 * all->map_row_bytes + 2 * short_bytes(all);
}

size_t cpu_segments_workspace(const struct scan *scan, const struct segments *segments) {
    const struct segmented all = plan(scan, segments);
    return all.threads * thread_bytes(&all) + cuts_most(&all) * (sizeof *all.cuts + sizeof *all.giants);
}

static void *cell(const struct table_view *table, uint64_t row) {
    return table->data ? division_cell(table, (size_t)row, 0) : NULL;
}

/* Makes `one` the scan of a segment, of which first_overflow counts from the value that is returned. */
static uint64_t take_segment(const struct segmented *all, const struct giant *segment, struct scan *one) {
    const struct scan *scan = all->scan;
    const uint64_t rows = segment->end - segment->first;
    const uint64_t first = all->segments->mirrored ? scan->in.rows - segment->end : segment->first;
    uint64_t out = first;
    one->in.rows = one->out.rows = (size_t)rows;
    one->in.data = cell(&scan->in, first);
    one->factors.data = scan_elements_on((void *)(uintptr_t)scan->factors.data, (ptrdiff_t)first * scan->factors.stride,
                                         scan->factors.type);
    if (all->segments->has_row_before) {
        out = all->segments->mirrored ? scan->out.rows - 1 - (segment->end + segment->number)
                                      : segment->first + segment->number;
        one->row_before = cell(&scan->out, out++);
    }
    one->out.data = cell(&scan->out, out);
    if (scan->carry_in)
        one->carry_in = (const char *)scan->carry_in + segment->number * values_bytes(scan);
    if (scan->carry_out)
        one->carry_out = (char *)scan->carry_out + segment->number * values_bytes(scan);
    return first * scan->in.columns;
}

/* Rows of maps take the place of rows of values. Returns where the last values go. */
static void *begin_maps(const struct segmented *all, char *memory, struct scan *one) {
    return all->map_row_bytes > 0 ? scan_begin_maps(one, memory, memory + all->map_row_bytes, one->in.columns) : NULL;
}

static void end_maps(void *values, const struct scan *one) {
    if (values)
        one->element->give(values, one->carry_out, one->in.columns);
}

/* What a thread works with; the division is that of `one`. Short segments are read from `in` and written to `out`,
 * buffers of CPU_SHORT_VALUES values and a row, where they cannot be so in the tables. */
struct member {
    struct segmented *all;
    struct scan one;
    struct division division;
    struct worker worker;
    char *maps, *in, *out;
    bool reads_buffer, writes_buffer;
    struct findings found;
};

static void begin_member(struct member *member, struct segmented *all, unsigned thread) {
    char *const memory = all->memory + thread * thread_bytes(all);
    *member = (struct member){.all = all, .one = *all->scan, .found = FINDINGS_NONE};
    member->division = divide(all->scan);
    member->division.scan = &member->one;
    member->maps = memory + all->worker_bytes;
    member->in = member->maps + 2 * all->map_row_bytes;
    member->out = member->in + short_bytes(all);
    member->worker = worker_make(&member->division, memory);
    const struct division *division = &member->division;
    const struct scan *scan = all->scan;
    const ptrdiff_t packed = (ptrdiff_t)scan->in.columns;
    member->reads_buffer = division->stage_in || division->in_format || scan->in.stride != packed;
    member->writes_buffer = !scan->out.data || division->stream || division->stage_out || division->out_format ||
                            scan->out.stride != packed;
}

static void scan_segment(struct member *member, const struct giant *segment) {
    struct scan *one = &member->one;
    struct worker *worker = &member->worker;
    const uint64_t from = take_segment(member->all, segment, one);
    void *const values = begin_maps(member->all, member->maps, one);
    worker->found = FINDINGS_NONE;
    panels_scan(worker, &member->division);
    findings_add(&member->found, &worker->found, from);
    end_maps(values, one);
}

/* Whether a segment is worth all threads. */
static bool is_giant(const struct member *member, const struct giant *segment) {
    const struct segmented *all = member->all;
    struct scan one = *all->scan;
    if ((segment->end - segment->first) * all->weights.row < all->weights.between)
        return false;
    one.in.rows = (size_t)(segment->end - segment->first);
    return division_threads(&one) > 1;
}

/* Results of `rows` rows that lie in the buffer. */
static void write_short(const struct member *member, void *to, size_t rows) {
    const struct division *division = &member->division;
    const struct table_view *out = &member->all->scan->out;
    const size_t columns = out->columns, bytes = rows * columns * table_type_size(out->type);
    if (division->stream && out->type == division->element->type && out->stride == (ptrdiff_t)columns)
        division->kernels->stream(to, member->out, bytes);
    else if (out->data)
        division_give(division, to, out->stride, member->out, (ptrdiff_t)columns, rows, columns);
}

/* `count` short segments side by side, the first of which is number `first`. */
static void scan_short(struct member *member, size_t first, const uint64_t *rows, size_t count) {
    const struct segmented *all = member->all;
    const struct scan *scan = all->scan;
    const bool mirrored = all->segments->mirrored, row_before = all->segments->has_row_before;
    const size_t columns = scan->in.columns, row_bytes = values_bytes(scan);
    const uint64_t begin = rows[0], end = rows[count];
    const uint64_t out_begin = begin + (row_before ? first : 0), out_end = end + (row_before ? first + count : 0);
    const void *in = cell(&scan->in, mirrored ? scan->in.rows - end : begin);
    void *const out = cell(&scan->out, mirrored ? scan->out.rows - out_end : out_begin);
    const size_t number = mirrored ? first + count - 1 : first;
    uint64_t turned[CPU_SHORT_SEGMENTS + 1];
    struct cpu_short some = {.bounds = rows, .count = count, .exclusive = scan->exclusive, .row_before = row_before};
    if (mirrored) {
        for (size_t k = 0; k <= count; k++)
            turned[k] = end - rows[count - k];
        some.bounds = turned;
    }
    if (member->reads_buffer) {
        division_take(&member->division, &member->found, member->in, (ptrdiff_t)columns, in, (size_t)(end - begin),
                      columns);
        in = member->in;
    }
    some.in = in;
    some.out = member->writes_buffer ? member->out : out;
    some.step = mirrored ? -(ptrdiff_t)columns : (ptrdiff_t)columns;
    some.starts = scan->carry_in ? (const char *)scan->carry_in + number * row_bytes : NULL;
    some.ends = scan->carry_out ? (char *)scan->carry_out + number * row_bytes : NULL;
    member->division.kernel->segments(&some);
    if (member->writes_buffer)
        write_short(member, out, (size_t)(out_end - out_begin));
}

/* How many segments from the first of `rows` on are short, and have at most `most` rows together. */
static size_t count_short(const uint64_t *rows, size_t count, uint64_t longest, uint64_t most) {
    enum { TOGETHER = 64 };
    size_t k = 0;
    while (k + TOGETHER <= count && rows[k + TOGETHER] - rows[k] <= longest && rows[k + TOGETHER] - rows[0] <= most)
        k += TOGETHER; /* segments that are short together are short alone */
    while (k < count && rows[k + 1] - rows[k] <= longest && rows[k + 1] - rows[0] <= most)
        k++;
    return k;
}

/* Takes segments from the first of `rows` on, short ones that follow each other together, and returns how many. */
static size_t take_some(struct member *member, size_t first, const uint64_t *rows, size_t count) {
    struct segmented *all = member->all;
    const uint64_t most = CPU_SHORT_VALUES / all->scan->in.columns;
    const uint64_t longest = most < SHORT_ROWS ? most : SHORT_ROWS;
    const size_t k = all->has_short ? count_short(rows, count, longest, most) : 0;
    if (k > 0) {
        scan_short(member, first, rows, k);
        return k;
    }
    const struct giant segment = {first, rows[0], rows[1]};
    if (is_giant(member, &segment))
        all->giants[atomic_fetch_add(&all->giant_count, 1)] = segment;
    else
        scan_segment(member, &segment);
    return 1;
}

static void scan_run(const struct jobs *jobs, size_t number, unsigned thread) {
    struct segmented *all = (struct segmented *)(uintptr_t)jobs->context;
    struct segment_reader reader = {.segments = all->segments,
                                    .rows = all->scan->in.rows,
                                    .end = all->cuts[number + 1].segment,
                                    .next = all->cuts[number]};
    uint64_t memory[CPU_SHORT_SEGMENTS + 1];
    struct member member;
    begin_member(&member, all, thread);
    while (!interrupt_came()) {
        const uint64_t *bounds;
        const size_t first = reader.next.segment;
        const size_t count = segments_read(&reader, memory, CPU_SHORT_SEGMENTS, &bounds);
        if (count == 0)
            break;
        for (size_t done = 0; done < count;)
            done += take_some(&member, first + done, bounds + done, count - done);
    }
    if (member.division.stream)
        member.division.kernels->stream_end();
    findings_add(&all->found, &member.found, 0);
}

/* By one thread, in the memory that it has. */
static table_status scan_giant_alone(struct member *member, const struct giant *segment) {
    interrupt_begin();
    scan_segment(member, segment);
    if (member->division.stream)
        member->division.kernels->stream_end();
    findings_add(&member->all->found, &member->found, 0);
    return interrupt_end();
}

/* A table of its own, with memory of its own, as it may be divided in another way. Where there is none, the segments
 * before have been written, and one thread goes on without. */
static table_status scan_giant(struct segmented *all, const struct giant *segment) {
    struct scan one = *all->scan;
    struct findings found = FINDINGS_NONE;
    struct member member;
    struct backend_pass pass;
    bool ignored;
    void *memory;
    begin_member(&member, all, 0);
    const uint64_t from = take_segment(all, segment, &one);
    one.row_before = NULL;
    void *const values = begin_maps(all, member.maps, &one);
    scan_find_into(&one, all->scan, &found);
    if (backend_cpu()->allocate(cpu_fused_plan(&one, true, &pass, &ignored), &memory) != TABLE_OK)
        return scan_giant_alone(&member, segment);
    take_segment(all, segment, &member.one);
    panels_put_start(&member.worker, &member.division);
    const table_status status = cpu_fused(&one, &pass, memory);
    backend_cpu()->release(memory);
    if (status == TABLE_OK)
        end_maps(values, &one);
    findings_add(&all->found, &found, from);
    return status;
}

table_status cpu_segments(const struct scan *scan, const struct segments *segments, void *workspace) {
    struct segmented all = plan(scan, segments);
    struct jobs jobs = {.work = scan_run, .context = &all};
    all.memory = workspace;
    all.cuts = (void *)(all.memory + all.threads * thread_bytes(&all));
    all.giants = (void *)(all.cuts + cuts_most(&all));
    all.found = FINDINGS_NONE;
    atomic_init(&all.giant_count, 0);
    table_status status = segments_survey(segments, scan->in.rows, &all.weights, all.cuts, &jobs.count);
    if (status == TABLE_OK && scan->in.columns > 0)
        status = jobs_run(&jobs, all.threads);
    for (size_t i = 0; i < all.giant_count && status == TABLE_OK; i++)
        status = scan_giant(&all, &all.giants[i]);
    if (status == TABLE_OK)
        scan_tell(scan, &all.found);
    return status;
}
