/* The calls of tuplescan/segmented_prefix_sum.h: validate, bring what the backend does not reach, run. */
#include "../checked.h"
#include "../plan.h"
#include "../run.h"
#include "../status.h"
#include "segments.h"

/* Memory beside the tables, which has a place in the workspace where the backend does not reach it: all that is named.
 * Rows of carry_out that belong to no segment stay as they are. */
enum { CARRY_IN, CARRY_OUT, FIRST_OVERFLOW, NANS, DATA, COUNT_AT, FOUND, WRONG };
enum {
    READ = 1 << CARRY_IN | 1 << CARRY_OUT | 1 << DATA | 1 << COUNT_AT,
    WRITTEN = 1 << CARRY_OUT | 1 << FIRST_OVERFLOW | 1 << NANS | 1 << FOUND | 1 << WRONG
};

/* A checked call on its way. */
struct segmented_call {
    struct segments segments;
    struct table_report *report;
    struct plan_memory named[SEGMENTS_NAMED];
    struct plan_place places[SEGMENTS_NAMED];
    struct layout layout;
};

static table_status make_plan(const struct call *call, struct segmented_call *plan) {
    const struct scan *scan = &call->scan;
    const struct segments *segments = &plan->segments;
    TRY(segments_list_named(scan, segments, plan->named));
    layout_place(&plan->layout, 1, call->backend->segments_workspace(scan, segments));
    plan_place_named(call->backend, scan, plan->named, SEGMENTS_NAMED, &plan->layout, plan->places);
    return plan->layout.too_large ? status_fail(TABLE_ERROR_TOO_LARGE,
                                                "the workspace for %zu segments of %zu columns does not fit in "
                                                "memory",
                                                segments->count, scan->in.columns)
                                  : TABLE_OK;
}

static table_status run_planned(struct call *call, void *context, char *workspace) {
    const struct segmented_call *plan = context;
    const struct backend *backend = call->backend;
    struct scan scan = call->scan;
    struct segments reached = plan->segments;
    void *at[SEGMENTS_NAMED];
    TRY(plan_move_named(backend, &scan, plan->named, plan->places, READ, false, workspace));
    for (int i = 0; i < SEGMENTS_NAMED; i++)
        at[i] = plan_named_at(&plan->named[i], &plan->places[i], workspace);
    scan.carry_in = at[CARRY_IN];
    scan.carry_out = at[CARRY_OUT];
    scan.first_overflow = at[FIRST_OVERFLOW];
    scan.load.nans = at[NANS];
    reached.data = at[DATA];
    reached.count_at = at[COUNT_AT];
    reached.found = at[FOUND];
    reached.wrong = at[WRONG];
    TRY(pipeline_mark(backend, &scan, 0, 0));
    TRY(backend->segments(&scan, &reached, workspace));
    TRY(pipeline_mark(backend, &scan, 1, STAGES));
    return plan_move_named(backend, &scan, plan->named, plan->places, WRITTEN, true, workspace);
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

static table_status run_at_once(struct call *call, void *context) {
    struct segmented_call *segmented = context;
    const struct backend *backend = call->backend;
    uint64_t wrong = TABLE_SEGMENTS_RIGHT, *const word = segmented->segments.wrong;
    if (backend->copy_rows) /* what only the device sees */
        segmented->segments.wrong = &wrong;
    table_status status = survey_on_host(call, &segmented->segments);
    if (status == TABLE_OK)
        status = make_plan(call, segmented);
    if (status == TABLE_OK)
        status = run_in_workspace(call, segmented->layout.bytes, run_planned, segmented);
    if (backend->copy_rows && word) {
        const table_status told = backend->copy(&call->scan, word, &wrong, sizeof wrong);
        const table_status waited = wait_after(backend, &call->scan, told);
        status = status == TABLE_OK ? waited : status;
    }
    if (status == TABLE_OK && wrong != TABLE_SEGMENTS_RIGHT)
        status = segments_fail(&segmented->segments, call->scan.in.rows, wrong);
    return status == TABLE_OK && segmented->report ? run_report(call, TABLE_STRATEGY_FUSED, segmented->report) : status;
}

/* The calls of sums, or with coefficients of recurrences, in each form.
 * bytes: NULL, or where a stream form tells what it needs. */
static table_status sum(const table_view *a, const table_view *in, const table_view *out,
                        const table_segments *segments, const table_scan_options *options, enum call_form form,
                        size_t *bytes) {
    struct segmented_call segmented = {.report = options_of(options)->report};
    struct call call;
    options = options_of(options);
    TRY(validate_segments(a, in, out, segments, options, form, &call, &segmented.segments));
    if (form == CALL_AND_WAIT)
        return run_and_wait(&call, segmented.report != NULL, run_at_once, &segmented);
    TRY(make_plan(&call, &segmented));
    if (bytes) {
        *bytes = segmented.layout.bytes;
        return TABLE_OK;
    }
    TRY(validate_workspace(options->workspace, options->workspace_bytes, segmented.layout.bytes));
    return run_planned(&call, &segmented, options->workspace);
}

static table_status fail_null(const char *name) {
    return status_fail(TABLE_ERROR_ARGUMENT, "%s is a null pointer", name);
}

table_status table_segmented_prefix_sum(const table_view *in, const table_view *out, const table_segments *segments,
                                        const table_scan_options *options) {
    return sum(NULL, in, out, segments, options, CALL_AND_WAIT, NULL);
}

table_status table_segmented_prefix_sum_workspace(const table_view *in, const table_view *out,
                                                  const table_segments *segments, const table_scan_options *options,
                                                  size_t *bytes) {
    return bytes ? sum(NULL, in, out, segments, options, CALL_ON_STREAM, bytes) : fail_null("bytes");
}

table_status table_segmented_prefix_sum_async(const table_view *in, const table_view *out,
                                              const table_segments *segments, const table_scan_options *options) {
    return sum(NULL, in, out, segments, options, CALL_ON_STREAM, NULL);
}

table_status table_segmented_linear_recurrence(const table_view *a, const table_view *b, const table_view *h,
                                               const table_segments *segments, const table_scan_options *options) {
    return a ? sum(a, b, h, segments, options, CALL_AND_WAIT, NULL) : fail_null("a");
}

table_status table_segmented_linear_recurrence_workspace(const table_view *a, const table_view *b, const table_view *h,
                                                         const table_segments *segments,
                                                         const table_scan_options *options, size_t *bytes) {
    if (!a || !bytes)
        return fail_null(a ? "bytes" : "a");
    return sum(a, b, h, segments, options, CALL_ON_STREAM, bytes);
}

table_status table_segmented_linear_recurrence_async(const table_view *a, const table_view *b, const table_view *h,
                                                     const table_segments *segments,
                                                     const table_scan_options *options) {
    return a ? sum(a, b, h, segments, options, CALL_ON_STREAM, NULL) : fail_null("a");
}
