/* The call of tuplescan/devices.h. All parts are checked, then summed: totals of each, joined on the host, and scans
 * from there, in two rounds of jobs. The parts in the memory of devices are one lane, whose thread queues the work of
 * all before it waits for any. The CPU is a lane, and a device that takes tables of the host through has two, so that
 * one copies in while the other copies out. */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

#include "checked.h"
#include "pool.h"
#include "refusals.h"
#include "seconds.h"
#include "status.h"

enum { PARTS_OF_DEVICE = 2 };  /* of a shared table: one copies in while the other copies out */
enum { CPU = -1, QUEUE = -2 }; /* workers, besides the lanes of devices */

static int device_of(const struct part *part) {
    return part->call.device >= 0 ? part->call.device : part->call.scan.on_device - 1;
}

static bool is_queued(const struct part *part) { return part->call.device >= 0; }

/* The worker of a part in a round. The totals of host tables are made by the CPU, which is near to them. */
static int worker_of(const struct part *part, unsigned round) {
    const int device = device_of(part);
    if (round == DEVICES)
        return device;
    if (is_queued(part))
        return QUEUE;
    return device < 0 || round == TOTALS ? CPU : PARTS_OF_DEVICE * device + (int)part->turn;
}

/* Gives each part its lane, or its device's number among the devices of the call, and returns how many there are. */
static unsigned choose_lanes(struct parts *parts, unsigned round) {
    unsigned lanes = 0;
    for (size_t i = 0; i < parts->count; i++) {
        size_t j = 0;
        while (worker_of(&parts->part[j], round) != worker_of(&parts->part[i], round))
            j++;
        parts->part[i].lane[round] = j < i ? parts->part[j].lane[round] : lanes++;
    }
    return lanes;
}

/* The options say how the whole sum begins and ends. */
static void scan_of_part(struct scan *scan, struct sum_state *state) {
    scan->carry_in = scan->carry_out = NULL;
    scan->state = state;
}

/* Memory for the part's states, and its findings. */
static table_status make_states(struct part *part, const struct call *call) {
    const struct scan *scan = &call->scan;
    size_t bytes;
    TRY(state_bytes(scan->element, scan->in.columns, &bytes));
    bytes = round_up(bytes, STATE_ALIGNMENT);
    const size_t all = 2 * bytes + sizeof *part->found;
    char *memory = call->backend->host_allocate(all);
    if (!memory)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for two states", all);
    part->owner = call->backend;
    part->range = (struct sum_state *)memory;
    part->before = (struct sum_state *)(memory + bytes);
    part->found = (struct findings *)(memory + 2 * bytes);
    *part->found = FINDINGS_NONE;
    state_make(part->range, scan->element, scan->in.columns, part->first_row);
    return TABLE_OK;
}

/* The totals of the part's rows, unless it is the last part. */
static table_status begin_totals(struct part *part, bool is_last) {
    struct call *call = &part->run.call;
    *call = part->call;
    scan_of_part(&call->scan, NULL);
    scan_find_nothing(&call->scan);
    if (!is_queued(part))
        call->backend = backend_cpu();
    part->totals = (struct appending){
        .backend = call->backend, .scan = &call->scan, .tell_seconds = part->is_timed ? &part->tell_seconds : NULL};
    TRY(call->backend->open(&call->scan));
    part->run.is_open = true;
    TRY(make_states(part, call));
    if (is_last || call->scan.in.rows == 0)
        return TABLE_OK;
    part->totals.state = part->range;
    return state_begin_rows(&part->totals);
}

static table_status end_totals(struct part *part, table_status status) {
    if (part->totals.state)
        status = state_end_rows(&part->totals, status);
    if (part->run.is_open)
        part->run.call.backend->close(&part->run.call.scan);
    return status;
}

/* Before the first row there is no state, only a row to start with, or none. A scan from there takes fewer launches. */
static void begin_without_state(struct scan *scan, const struct scan *whole) {
    if (whole->carry_in || whole->state)
        scan->carry_in = state_row(scan->state, scan_row_bytes(scan), STATE_START);
    scan->state = NULL;
}

static table_status begin_scan(struct part *part, const struct scan *whole, bool is_asked) {
    struct call *call = &part->run.call;
    *call = part->call;
    call->scan.state_ends = !is_asked && is_queued(part);
    scan_of_part(&call->scan, part->before);
    scan_find_into(&call->scan, &call->scan, part->found);
    if (call->scan.state_ends && part->before->rows == 0 && !call->scan.element->is_map)
        begin_without_state(&call->scan, whole);
    return is_queued(part) ? run_begin(&part->run) : run_scan(call, NULL);
}

static table_status end_scan(struct part *part, table_status status) {
    return is_queued(part) ? run_end(&part->run, status) : status;
}

static bool asks_end(const struct parts *parts) { return parts->whole.scan.state || parts->whole.scan.carry_out; }

static table_status begin_part(const struct parts *parts, size_t i, unsigned round) {
    const bool is_last = i + 1 == parts->count;
    return round == TOTALS ? begin_totals(&parts->part[i], is_last)
                           : begin_scan(&parts->part[i], &parts->whole.scan, is_last && asks_end(parts));
}

static table_status end_part(struct part *part, unsigned round) {
    return round == TOTALS ? end_totals(part, part->failure.status) : end_scan(part, part->failure.status);
}

static void note_status(struct parts *parts, struct part *part, table_status status) {
    failure_keep(&part->failure, status);
    if (status != TABLE_OK)
        atomic_store(&parts->failed, true);
}

/* One of the two rounds of the work. */
struct round {
    struct parts *parts;
    unsigned number;
};

/* Parts are ended from the last one to the first: see run_end(). */
static void work_on_lane(const struct jobs *jobs, size_t lane, unsigned thread) {
    const struct round *own = jobs->context;
    struct parts *parts = own->parts;
    const unsigned round = own->number;
    size_t i = 0;
    (void)thread;
    for (; i < parts->count && !atomic_load(&parts->failed); i++)
        if (parts->part[i].lane[round] == lane)
            note_status(parts, &parts->part[i], begin_part(parts, i, round));
    while (i-- > 0)
        if (parts->part[i].lane[round] == lane)
            note_status(parts, &parts->part[i], end_part(&parts->part[i], round));
}

static table_status first_failure(const struct parts *parts) {
    for (size_t i = 0; i < parts->count; i++)
        if (failure_tell(&parts->part[i].failure) != TABLE_OK)
            return status_fail_at(parts->part[i].failure.status, "part", parts->part[i].number);
    return TABLE_OK;
}

/* Each lane by a thread of its own. The first failure of a part is the one that is told, and after it the call ends. */
static table_status run_round(struct parts *parts, unsigned number) {
    const struct round round = {parts, number};
    struct jobs jobs = {.work = work_on_lane, .context = &round, .count = choose_lanes(parts, number)};
    const table_status ended = jobs_run(&jobs, (unsigned)jobs.count), failed = first_failure(parts);
    return failed == TABLE_OK ? ended : failed;
}

/* The state before each part, from the one before it. */
static void join(struct parts *parts) {
    const double begun = seconds_now();
    double told = 0;
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->part[i];
        memcpy(part->before, i == 0 ? parts->state : part[-1].before, scan_state_bytes(&parts->whole.scan));
        if (i > 0)
            state_append(part->before, part[-1].range);
        told = part->tell_seconds > told ? part->tell_seconds : told;
    }
    parts->joined = seconds_now();
    if (parts->report)
        parts->report->exchange_seconds = told + parts->joined - begun;
}

static void tell_findings(const struct parts *parts) {
    const struct scan *scan = &parts->part[0].call.scan;
    struct findings found = FINDINGS_NONE;
    for (size_t i = 0; i < parts->count; i++)
        findings_add(&found, parts->part[i].found, 0);
    run_move_findings(backend_cpu(), scan, &found, true);
}

/* Where each part's rows are in the sum, and which of a device's lanes it is on. */
static void place_parts(struct parts *parts) {
    uint64_t row = parts->state->rows;
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->part[i];
        part->first_row = row;
        row += part->call.scan.in.rows;
        for (size_t j = i; j-- > 0;)
            if (parts->part[j].call.scan.on_device == part->call.scan.on_device) {
                part->turn = !parts->part[j].turn;
                break;
            }
    }
}

/* Sums at least two parts that have rows, from what parts->state says to what it says afterwards. */
static table_status run_parts(struct parts *parts) {
    const double begun = seconds_now();
    place_parts(parts);
    table_status status = run_round(parts, TOTALS);
    parts->joined = seconds_now();
    if (status == TABLE_OK) {
        join(parts);
        status = run_round(parts, SCANS);
    }
    if (status == TABLE_OK) {
        memcpy(parts->state, parts->part[parts->count - 1].before, scan_state_bytes(&parts->whole.scan));
        tell_findings(parts);
    }
    for (size_t i = 0; i < parts->count; i++)
        if (parts->part[i].range)
            parts->part[i].owner->host_release(parts->part[i].range);
    if (parts->report) {
        parts->report->devices = choose_lanes(parts, DEVICES);
        parts->report->totals_seconds = parts->joined - begun;
        parts->report->scan_seconds = seconds_now() - parts->joined;
    }
    return status;
}

/* Parts without rows to read or write have been looked at, and that was all. One is left if no part has rows. */
static void drop_empty(struct parts *parts) {
    size_t kept = 0;
    for (size_t i = 0; i < parts->count; i++)
        if (parts->part[i].call.scan.in.rows > 0 || scan_has_rows_beside(&parts->part[i].call.scan))
            parts->part[kept++] = parts->part[i];
    parts->count = kept > 0 ? kept : 1;
}

static void turn_around(struct parts *parts) {
    for (size_t i = 0, j = parts->count; i + 1 < j; i++) {
        const struct part part = parts->part[--j];
        parts->part[j] = parts->part[i];
        parts->part[i] = part;
    }
}

/* The whole sum's beginning and end, on the host. */
static table_status run_all(struct parts *parts, size_t rows) {
    struct call *whole = &parts->whole;
    *whole = parts->part[0].call;
    whole->backend = backend_cpu();
    whole->scan.in.rows = whole->scan.out.rows = rows;
    table_status status = state_inspect(whole);
    if (status == TABLE_OK)
        status = state_fetch(whole, &parts->state);
    if (status == TABLE_OK)
        status = run_parts(parts);
    if (status == TABLE_OK)
        status = state_store(whole, parts->state);
    free(parts->state);
    return status;
}

/* The parts are in the order in which they are summed. */
static table_status run_checked(struct parts *parts, size_t rows) {
    const double begun = seconds_now();
    drop_empty(parts);
    if (parts->report)
        *parts->report = (table_devices_report){.devices = 1};
    struct part *alone = &parts->part[0];
    const table_status status = parts->count == 1 ? run_scan(&alone->call, NULL) : run_all(parts, rows);
    if (parts->report)
        parts->report->seconds = seconds_now() - begun;
    if (parts->report && parts->count == 1)
        parts->report->scan_seconds = parts->report->seconds;
    return status;
}

table_status table_prefix_sum_devices(const table_part *given, size_t count, const table_scan_options *options,
                                      table_devices_report *report) {
    struct parts parts = {.count = count, .report = report};
    size_t rows, bytes;
    options = options_of(options);
    if (!given || count == 0)
        return status_fail(TABLE_ERROR_ARGUMENT, given ? "count is 0" : "parts is a null pointer");
    TRY(refuse(CALLER_PARTS, options));
    TRY(validate_on_host(options));
    parts.part = checked_multiply(count, sizeof *parts.part, &bytes) ? calloc(count, sizeof *parts.part) : NULL;
    if (!parts.part)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no host memory for %zu parts", count);
    table_status status = validate_parts(given, options, &parts, &rows);
    if (status == TABLE_OK && parts.part->call.turned)
        turn_around(&parts);
    if (status == TABLE_OK)
        status = run_checked(&parts, rows);
    free(parts.part);
    return status;
}

table_status run_on_devices(const struct call *whole, const int *devices, size_t device_count, table_report *report) {
    const size_t rows = whole->scan.in.rows, count = PARTS_OF_DEVICE * device_count;
    const size_t units = divide_up(rows, TABLE_UNIT_ROWS), each = divide_up(units, count) * TABLE_UNIT_ROWS;
    table_devices_report done;
    struct parts parts = {.part = calloc(count, sizeof *parts.part), .count = count, .report = &done};
    if (!parts.part)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no memory for the shares of %zu devices", device_count);
    for (size_t i = 0; i < count; i++) {
        const size_t first = i * each < rows ? i * each : rows, left = rows - first;
        struct part *part = &parts.part[i];
        *part = (struct part){.number = i, .call = *whole, .is_timed = true};
        part->call.scan = plan_rows_scan(&whole->scan, first, left < each ? left : each);
        part->call.scan.on_device = devices[i / PARTS_OF_DEVICE] + 1;
    }
    const table_status status = run_checked(&parts, rows);
    *report = (table_report){.backend = whole->backend->id,
                             .strategy = whole->strategy ? whole->strategy : TABLE_STRATEGY_FUSED,
                             .units = units,
                             .seconds = done.seconds};
    free(parts.part);
    return status;
}
