/* Parts on several devices: totals of each, joined on the host, and scans from there. Each device, and the CPU, is a
 * lane of its own, with a thread; a device that takes tables of the host through has two, so that one copies in while
 * the other copies out. */
#include "devices_parts.h"

#include <string.h>

#include "seconds.h"
#include "state/state_call.h"
#include "status.h"

enum { TOTALS, SCANS, LANES_OF_DEVICE = 3 };

/* -1: the CPU. */
static int device_of(const struct part *part) {
    return part->call.device >= 0 ? part->call.device : part->call.scan.on_device - 1;
}

/* Who works on a part in a round. The totals of host tables are made by the CPU, which is near to them. */
static int worker_of(const struct part *part, unsigned round) {
    const int device = device_of(part);
    if (device < 0 || (round == TOTALS && part->call.device < 0))
        return -1;
    return LANES_OF_DEVICE * device + (part->call.device >= 0 ? 0 : 1 + (int)part->turn);
}

/* Gives each part its lane, and returns how many there are. */
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

/* Whether the first part can be summed, which takes as long as two of its totals, while parts on other devices are
 * totalled. The last one is not. */
static bool is_first_early(const struct parts *parts) {
    const struct part *first = &parts->part[0];
    size_t own = first->call.scan.in.rows, most = 0;
    if (first->call.device < 0)
        return false;
    for (size_t i = 0; i + 1 < parts->count; i++) {
        size_t rows = 0;
        for (size_t j = i; j + 1 < parts->count; j++)
            rows += parts->part[j].lane[TOTALS] == parts->part[i].lane[TOTALS] ? parts->part[j].call.scan.in.rows : 0;
        if (parts->part[i].lane[TOTALS] == first->lane[TOTALS])
            own += i == 0 ? rows : 0;
        else
            most = rows > most ? rows : most;
    }
    return own <= most;
}

static unsigned count_devices(const struct parts *parts) {
    unsigned devices = 0;
    for (size_t i = 0; i < parts->count; i++) {
        size_t j = 0;
        while (device_of(&parts->part[j]) != device_of(&parts->part[i]))
            j++;
        devices += j == i;
    }
    return devices;
}

struct counting {
    struct part *part;
    bool is_timed;
};

/* Memory for the part's states, and the totals of its rows; nobody asks for those of the last part. */
static table_status count_part(struct call *call, void *context) {
    const struct counting *counting = context;
    struct part *part = counting->part;
    const struct scan *scan = &call->scan;
    struct state_image image = {.backend = call->backend, .is_timed = counting->is_timed};
    table_status status = state_bytes(scan->element, scan->in.columns, &image.bytes);
    if (status != TABLE_OK)
        return status;
    const size_t bytes = (image.bytes + STATE_ALIGNMENT - 1) / STATE_ALIGNMENT * STATE_ALIGNMENT;
    char *memory = call->backend->host_allocate(2 * bytes);
    if (!memory)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory for two states", 2 * bytes);
    part->owner = call->backend;
    part->range = (struct sum_state *)memory;
    part->before = (struct sum_state *)(memory + bytes);
    state_make(part->range, scan->element, scan->in.columns, part->first_row);
    image.state = part->range;
    if (scan->in.rows > 0)
        status = state_image_add(&image, scan);
    part->tell_seconds = image.tell_seconds;
    return status;
}

static table_status total_part(const struct parts *parts, struct part *part, bool is_last) {
    struct counting counting = {part, parts->report != NULL};
    struct call call = part->call;
    call.scan.carry_in = NULL;
    call.scan.carry_out = NULL;
    scan_find_nothing(&call.scan);
    call.scan.state = NULL;
    if (call.device < 0)
        call.backend = backend_cpu();
    if (is_last)
        call.scan.in.rows = 0;
    return run_and_wait(&call, false, count_part, &counting);
}

static table_status scan_part(struct part *part, bool is_asked) {
    struct call call = part->call;
    call.scan.state_ends = !is_asked && call.device >= 0;
    call.scan.carry_in = NULL;
    call.scan.carry_out = NULL;
    call.scan.state = part->before;
    scan_find_into(&call.scan, &call.scan, &part->found);
    return run_scan(&call, NULL);
}

static bool asks_end(const struct parts *parts) { return parts->whole.scan.state || parts->whole.scan.carry_out; }

/* The sum through its last row is what the totals of the others join. */
static table_status scan_early(const struct parts *parts, struct part *part) {
    const table_status status = total_part(parts, part, true);
    if (status != TABLE_OK)
        return status;
    memcpy(part->before, parts->image->state, parts->image->bytes);
    return scan_part(part, true);
}

static table_status work_on_part(const struct parts *parts, size_t i, unsigned round) {
    struct part *part = &parts->part[i];
    const bool is_last = i + 1 == parts->count, is_early = i == 0 && parts->first_early;
    if (round == TOTALS)
        return is_early ? scan_early(parts, part) : total_part(parts, part, is_last);
    return is_early ? TABLE_OK : scan_part(part, is_last && asks_end(parts));
}

static void work_on_lane(void *job, unsigned round, unsigned lane) {
    struct parts *parts = job;
    for (size_t i = 0; i < parts->count && !atomic_load(&parts->failed); i++) {
        struct part *part = &parts->part[i];
        if (part->lane[round] != lane)
            continue;
        part->status = work_on_part(parts, i, round);
        if (part->status == TABLE_OK)
            continue;
        memcpy(part->detail, table_error_detail(), strlen(table_error_detail()) + 1);
        atomic_store(&parts->failed, true);
    }
}

/* The state before each part, from the one before it. */
static void join(void *job) {
    struct parts *parts = job;
    const double begun = seconds_now();
    double told = 0;
    parts->joined = begun;
    if (atomic_load(&parts->failed))
        return;
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->part[i];
        if (i > 0 || !parts->first_early)
            memcpy(part->before, i == 0 ? parts->image->state : part[-1].before, parts->image->bytes);
        if (i > 0)
            state_append(part->before, part[-1].range); /* which has no rows if these are in `before` */
        told = part->tell_seconds > told ? part->tell_seconds : told;
    }
    parts->joined = seconds_now();
    if (parts->report)
        parts->report->exchange_seconds = told + parts->joined - begun;
}

static table_status first_failure(const struct parts *parts) {
    for (size_t i = 0; i < parts->count; i++)
        if (parts->part[i].status != TABLE_OK)
            return status_fail(parts->part[i].status, "part %zu: %s", parts->part[i].number, parts->part[i].detail);
    return TABLE_OK;
}

static void tell_findings(const struct parts *parts) {
    const struct scan *scan = &parts->part[0].call.scan;
    struct findings found = FINDINGS_NONE;
    for (size_t i = 0; i < parts->count; i++)
        findings_add(&found, &parts->part[i].found, 0);
    run_put_findings(backend_cpu(), scan, &found);
}

/* Where each part's rows are in the sum, and which of a device's lanes it is on. */
static void place_parts(struct parts *parts) {
    uint64_t row = parts->image->state->rows;
    for (size_t i = 0; i < parts->count; i++) {
        struct part *part = &parts->part[i];
        part->first_row = row;
        part->found = FINDINGS_NONE;
        row += part->call.scan.in.rows;
        for (size_t j = i; j-- > 0;)
            if (parts->part[j].call.scan.on_device == part->call.scan.on_device) {
                part->turn = !parts->part[j].turn;
                break;
            }
    }
}

table_status parts_run(struct parts *parts) {
    const double begun = seconds_now();
    place_parts(parts);
    const struct rounds work = {.pieces = {choose_lanes(parts, TOTALS), choose_lanes(parts, SCANS)},
                                .work = work_on_lane,
                                .between = join,
                                .job = parts};
    parts->first_early = is_first_early(parts);
    const table_status ended = rounds_run(&work), failed = first_failure(parts);
    const table_status status = failed == TABLE_OK ? ended : failed;
    if (status == TABLE_OK) {
        memcpy(parts->image->state, parts->part[parts->count - 1].before, parts->image->bytes);
        tell_findings(parts);
    }
    for (size_t i = 0; i < parts->count; i++)
        if (parts->part[i].range)
            parts->part[i].owner->host_release(parts->part[i].range);
    if (parts->report) {
        parts->report->devices = count_devices(parts);
        parts->report->totals_seconds = parts->joined - begun;
        parts->report->scan_seconds = seconds_now() - parts->joined;
    }
    return status;
}
