/* The calls of tuplescan/segmented_prefix_sum.h: validate, bring what the backend does not reach, run. */
#include "../checked.h"
#include "../plan.h"
#include "../run.h"
#include "../status.h"
#include "segments.h"

/* Memory beside the tables, which has a place in the workspace where the backend does not reach it. */
enum { CARRY_IN, CARRY_OUT, FIRST_OVERFLOW, NANS, DATA, COUNT_AT, FOUND, WRONG, MEMORIES };
static const bool is_read[MEMORIES] = {[CARRY_IN] = true,
                                       [DATA] = true,
                                       [COUNT_AT] = true,
                                       [CARRY_OUT] = true}; /* rows without a segment stay as they are */
static const bool is_written[MEMORIES] = {
    [CARRY_OUT] = true, [FIRST_OVERFLOW] = true, [NANS] = true, [FOUND] = true, [WRONG] = true};

struct segmented_plan {
    size_t bytes[MEMORIES], places[MEMORIES]; /* no bytes: the caller's own memory does */
    struct layout layout;
};

static void list_memories(const struct scan *scan, const struct segments *segments, const void *memories[MEMORIES]) {
    memories[CARRY_IN] = scan->carry_in;
    memories[CARRY_OUT] = scan->carry_out;
    memories[FIRST_OVERFLOW] = scan->first_overflow;
    memories[NANS] = scan->load.nans;
    memories[DATA] = segments->data;
    memories[COUNT_AT] = segments->count_at;
    memories[FOUND] = segments->found;
    memories[WRONG] = segments->wrong;
}

static void take_memories(void *const memories[MEMORIES], struct scan *scan, struct segments *segments) {
    scan->carry_in = memories[CARRY_IN];
    scan->carry_out = memories[CARRY_OUT];
    scan->first_overflow = memories[FIRST_OVERFLOW];
    scan->load.nans = memories[NANS];
    segments->data = memories[DATA];
    segments->count_at = memories[COUNT_AT];
    segments->found = memories[FOUND];
    segments->wrong = memories[WRONG];
}

static size_t memory_bytes(const struct scan *scan, const struct segments *segments, int memory) {
    size_t values = 0;
    if (memory == CARRY_IN || memory == CARRY_OUT)
        return segments->count * scan->in.columns * table_type_size(scan->element->type);
    if (memory != DATA)
        return sizeof(uint64_t);
    segments_values(segments, scan->in.rows, &values);
    return values * table_type_size(segments->type);
}

static table_status make_plan(const struct call *call, const struct segments *segments, struct segmented_plan *plan) {
    const struct scan *scan = &call->scan;
    const void *memories[MEMORIES];
    *plan = (struct segmented_plan){.layout = {0}};
    layout_place(&plan->layout, 1, call->backend->segments_workspace(scan, segments));
    list_memories(scan, segments, memories);
    for (int i = 0; i < MEMORIES; i++) {
        if (plan_reaches(call->backend, scan, memories[i]))
            continue;
        plan->bytes[i] = memory_bytes(scan, segments, i);
        plan->places[i] = layout_place(&plan->layout, 1, plan->bytes[i]);
    }
    return plan->layout.too_large ? status_fail(TABLE_ERROR_TOO_LARGE,
                                                "the workspace for %zu segments of %zu columns does not fit in "
                                                "memory",
                                                segments->count, scan->in.columns)
                                  : TABLE_OK;
}

static table_status run_planned(const struct call *call, const struct segments *segments,
                                const struct segmented_plan *plan, char *workspace) {
    const struct backend *backend = call->backend;
    struct scan scan = call->scan;
    struct segments reached = *segments;
    const void *memories[MEMORIES];
    void *there[MEMORIES];
    table_status status = TABLE_OK;
    list_memories(&scan, segments, memories);
    for (int i = 0; i < MEMORIES && status == TABLE_OK; i++) {
        there[i] = plan->bytes[i] > 0 ? workspace + plan->places[i] : (void *)(uintptr_t)memories[i];
        if (plan->bytes[i] > 0 && is_read[i])
            status = backend->copy(&scan, there[i], memories[i], plan->bytes[i]);
    }
    if (status != TABLE_OK)
        return status;
    take_memories(there, &scan, &reached);
    status = scan.clock ? backend->clock_mark(&scan, 0) : TABLE_OK;
    if (status == TABLE_OK)
        status = backend->segments(&scan, &reached, workspace);
    for (unsigned mark = 1; mark <= STAGES && status == TABLE_OK && scan.clock; mark++)
        status = backend->clock_mark(&scan, mark);
    for (int i = 0; i < MEMORIES && status == TABLE_OK; i++)
        if (plan->bytes[i] > 0 && is_written[i])
            status = backend->copy(&scan, (void *)(uintptr_t)memories[i], there[i], plan->bytes[i]);
    return status;
}

/* Segments of the host for a device are looked at before anything is written. Their `wrong` is a word of the host. */
static table_status survey_on_host(const struct call *call, const struct segments *segments) {
    static const struct segment_weights weights = {.between = UINT64_MAX};
    struct segments own = *segments;
    struct segment_cut cuts[2];
    size_t count;
    uint64_t found, wrong = TABLE_SEGMENTS_RIGHT; /* an interrupt tells nothing */
    if (!call->backend->copy_rows || backend_device_of(segments->data) >= 0 ||
        (segments->count_at && backend_device_of(segments->count_at) >= 0))
        return TABLE_OK;
    own.found = &found;
    own.wrong = &wrong;
    const table_status status = segments_survey(&own, call->scan.in.rows, &weights, cuts, &count);
    *segments->wrong = wrong;
    return status;
}

struct segmented_call {
    struct segments segments;
    struct table_report *report;
};

static table_status run_in_own_workspace(struct call *call, void *context) {
    struct segmented_call *segmented = context;
    const struct backend *backend = call->backend;
    struct segmented_plan plan;
    uint64_t wrong = TABLE_SEGMENTS_RIGHT, *const word = segmented->segments.wrong;
    void *workspace = NULL;
    if (backend->copy_rows) /* what only the device sees */
        segmented->segments.wrong = &wrong;
    table_status status = survey_on_host(call, &segmented->segments);
    if (status == TABLE_OK)
        status = make_plan(call, &segmented->segments, &plan);
    if (status == TABLE_OK)
        status = backend->allocate(plan.layout.bytes, &workspace);
    if (status == TABLE_OK)
        status = run_planned(call, &segmented->segments, &plan, workspace);
    table_status waited = backend->wait(&call->scan);
    if (waited == TABLE_OK && backend->copy_rows && word) {
        waited = backend->copy(&call->scan, word, &wrong, sizeof wrong);
        waited = waited == TABLE_OK ? backend->wait(&call->scan) : waited;
    }
    status = status == TABLE_OK ? waited : status;
    if (workspace)
        backend->release(workspace);
    if (status == TABLE_OK && wrong != TABLE_SEGMENTS_RIGHT)
        status = segments_fail(&segmented->segments, call->scan.in.rows, wrong);
    return status == TABLE_OK && segmented->report ? run_report(call, TABLE_STRATEGY_FUSED, segmented->report) : status;
}

/* The calls of sums, and with coefficients those of recurrences. */
static table_status run_call(const table_view *a, const table_view *in, const table_view *out,
                             const table_segments *segments, const table_scan_options *options) {
    struct segmented_call segmented = {.report = options ? options->report : NULL};
    struct call call;
    const table_status status =
        validate_segments(a, in, out, segments, options, CALL_AND_WAIT, &call, &segmented.segments);
    return status == TABLE_OK ? run_and_wait(&call, segmented.report != NULL, run_in_own_workspace, &segmented)
                              : status;
}

static table_status ask_workspace(const table_view *a, const table_view *in, const table_view *out,
                                  const table_segments *segments, const table_scan_options *options, size_t *bytes) {
    struct call call;
    struct segments checked;
    struct segmented_plan plan;
    if (!bytes)
        return status_fail(TABLE_ERROR_ARGUMENT, "bytes is a null pointer");
    table_status status = validate_segments(a, in, out, segments, options, CALL_ON_STREAM, &call, &checked);
    if (status == TABLE_OK)
        status = make_plan(&call, &checked, &plan);
    if (status == TABLE_OK)
        *bytes = plan.layout.bytes;
    return status;
}

static table_status queue_call(const table_view *a, const table_view *in, const table_view *out,
                               const table_segments *segments, const table_scan_options *options) {
    struct call call;
    struct segments checked;
    struct segmented_plan plan;
    table_status status = validate_segments(a, in, out, segments, options, CALL_ON_STREAM, &call, &checked);
    if (status == TABLE_OK)
        status = make_plan(&call, &checked, &plan);
    if (status == TABLE_OK)
        status = validate_workspace(options ? options->workspace : NULL, options ? options->workspace_bytes : 0,
                                    plan.layout.bytes);
    return status == TABLE_OK ? run_planned(&call, &checked, &plan, options ? options->workspace : NULL) : status;
}

table_status table_segmented_prefix_sum(const table_view *in, const table_view *out, const table_segments *segments,
                                        const table_scan_options *options) {
    return run_call(NULL, in, out, segments, options);
}

table_status table_segmented_prefix_sum_workspace(const table_view *in, const table_view *out,
                                                  const table_segments *segments, const table_scan_options *options,
                                                  size_t *bytes) {
    return ask_workspace(NULL, in, out, segments, options, bytes);
}

table_status table_segmented_prefix_sum_async(const table_view *in, const table_view *out,
                                              const table_segments *segments, const table_scan_options *options) {
    return queue_call(NULL, in, out, segments, options);
}

static table_status fail_without_a(void) { return status_fail(TABLE_ERROR_ARGUMENT, "a is a null pointer"); }

table_status table_segmented_linear_recurrence(const table_view *a, const table_view *b, const table_view *h,
                                               const table_segments *segments, const table_scan_options *options) {
    return a ? run_call(a, b, h, segments, options) : fail_without_a();
}

table_status table_segmented_linear_recurrence_workspace(const table_view *a, const table_view *b, const table_view *h,
                                                         const table_segments *segments,
                                                         const table_scan_options *options, size_t *bytes) {
    return a ? ask_workspace(a, b, h, segments, options, bytes) : fail_without_a();
}

table_status table_segmented_linear_recurrence_async(const table_view *a, const table_view *b, const table_view *h,
                                                     const table_segments *segments,
                                                     const table_scan_options *options) {
    return a ? queue_call(a, b, h, segments, options) : fail_without_a();
}
