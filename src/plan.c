#include "plan.h"

#include <tuplescan/stages.h>

#include "checked.h"
#include "layout.h"
#include "parts/batch.h"
#include "state/state_call.h"
#include "status.h"

size_t table_seeds_rows(table_type type, size_t rows, size_t columns) {
    return columns > 0 && table_sum_type(type) != 0 ? divide_up(rows, TABLE_UNIT_ROWS) + 1 : 0;
}

void plan_chunks(struct scan *scan) {
    const size_t before = scan->state && scan->element->ordered ? scan->first_row % TABLE_UNIT_ROWS : 0;
    scan->chunk_rows = TABLE_UNIT_ROWS;
    scan->chunks = scan->in.rows > 0 && scan->in.columns > 0 ? divide_up(before + scan->in.rows, TABLE_UNIT_ROWS) : 0;
}

/* Puts `bytes` at the end of the workspace. */
static bool place(struct plan *plan, size_t bytes, size_t *offset) {
    struct layout layout = {.bytes = plan->bytes};
    *offset = layout_place(&layout, bytes, 1);
    plan->bytes = layout.bytes;
    return !layout.too_large;
}

/* Down to a level of one unit. */
static bool place_levels(struct plan *plan, const struct scan *scan, size_t row_bytes) {
    size_t rows = scan->in.rows, units;
    do {
        size_t bytes;
        units = divide_up(rows, TABLE_UNIT_ROWS);
        rows = units + 1;
        if (!checked_multiply(rows, row_bytes, &bytes))
            return false;
        if (plan->strategy == TABLE_STRATEGY_HOST)
            return true;
        if (!place(plan, bytes, &plan->level_offset[plan->levels++]))
            return false;
    } while (units > 1);
    return true;
}

bool plan_reaches(const struct backend *backend, const struct scan *scan, const void *memory) {
    const int device = backend->copy_rows && memory ? backend_device_of(memory) : -1;
    return !backend->copy_rows || !memory || (device >= 0 && device == backend_device_of(scan->in.data));
}

/* A scan with a state has its carries in the state, or in rows of place_state(). */
static bool place_carries(struct plan *plan, const struct backend *backend, const struct scan *scan, size_t row_bytes) {
    plan->carry_in_reached = scan->state || plan_reaches(backend, scan, scan->carry_in);
    plan->carry_out_reached = scan->state || plan_reaches(backend, scan, scan->carry_out);
    return place(plan, plan->carry_in_reached ? 0 : row_bytes, &plan->carry_in_offset) &&
           place(plan, plan->carry_out_reached ? 0 : row_bytes, &plan->carry_out_offset);
}

static bool place_zeros(struct plan *plan, const struct backend *backend, const struct scan *scan, size_t row_bytes) {
    plan->needs_zeros =
        scan->carry_out && !scan->carry_in && backend->copy_rows && backend_device_of(scan->carry_out) < 0;
    return place(plan, plan->needs_zeros ? row_bytes : 0, &plan->carry_out_offset);
}

/* A fused pass has rows for carries that the backend cannot reach, and a workspace. The stages that take its place when
 * it is refused have the same room. */
static bool place_fused(struct plan *plan, const struct backend *backend, const struct scan *scan, size_t row_bytes) {
    if (!place_carries(plan, backend, scan, row_bytes))
        return false;
    const size_t rows_end = plan->bytes;
    bool may_be_refused;
    if (!place(plan, backend->fused_workspace(scan, &may_be_refused), &plan->fused_offset))
        return false;
    if (!may_be_refused)
        return true;
    const size_t fused_end = plan->bytes;
    plan->bytes = rows_end;
    if (!place_levels(plan, scan, row_bytes))
        return false;
    plan->bytes = plan->bytes > fused_end ? plan->bytes : fused_end;
    return true;
}

static bool place_state(struct plan *plan, const struct backend *backend, const struct scan *scan, size_t row_bytes) {
    size_t bytes;
    if (!scan->state)
        return true;
    plan->state_reached = plan_reaches(backend, scan, scan->state);
    return state_bytes(scan->element, scan->in.columns, &bytes) == TABLE_OK &&
           place(plan, plan->state_reached ? 0 : bytes, &plan->state_offset) &&
           place(plan,
                 scan->element->ordered ? bytes
                 : backend->copy_rows   ? 0
                                        : row_bytes,
                 &plan->state_out_offset) &&
           place(plan, backend->copy_rows ? 2 * row_bytes : 0, &plan->state_rows_offset);
}

bool plan_is_piece(const struct backend *backend, const struct scan *scan) {
    return scan->state && backend->piece && scan->element->ordered && scan->chunks > 0;
}

static bool place_piece(struct plan *plan, const struct backend *backend, const struct scan *scan) {
    return place(plan, backend->piece_workspace(scan, plan->strategy == TABLE_STRATEGY_FUSED), &plan->fused_offset);
}

static table_strategy choose_strategy(const struct backend *backend, const struct scan *scan, table_strategy wanted,
                                      bool totals_only) {
    if (scan->state && !backend->piece && scan->element->ordered)
        return TABLE_STRATEGY_FUSED; /* the stages know no state */
    if (wanted == TABLE_STRATEGY_AUTO)
        wanted = backend->prefers_fused(scan) ? TABLE_STRATEGY_FUSED : TABLE_STRATEGY_RECURSIVE;
    if (wanted == TABLE_STRATEGY_FUSED && totals_only)
        return TABLE_STRATEGY_RECURSIVE; /* without results there is nothing to fuse */
    return wanted;
}

struct scan plan_row_scan(const struct scan *scan, void *row, const void *sums) {
    struct scan one = {.exclusive = true, .carry_in = sums, .threads = 1, .stream = scan->stream};
    one.element = scan->element;
    one.out = scan->out;
    one.out.data = row;
    one.out.rows = 1;
    one.out.stride = (ptrdiff_t)scan->out.columns;
    one.in = one.out;
    plan_chunks(&one);
    return one;
}

struct scan plan_sums_scan(const struct scan *scan, void *sums, size_t rows) {
    const struct table_view view = {.data = sums,
                                    .rows = rows,
                                    .columns = scan->in.columns,
                                    .stride = (ptrdiff_t)scan->in.columns,
                                    .type = scan->element->type};
    struct scan inner = *scan;
    inner.in = view;
    inner.out = view;
    inner.exclusive = false;
    scan_reads_sums(&inner);
    inner.state = inner.state_out = NULL;
    plan_chunks(&inner);
    return inner;
}

/* The sums for rows beside `out`, and what it takes to round them if results are not sums. */
static bool place_row(struct plan *plan, const struct backend *backend, const struct scan *scan, size_t row_bytes) {
    struct plan rounding;
    rounding.bytes = 0;
    if (!scan_has_rows_beside(scan))
        return true;
    void *const row = scan->row_before ? scan->row_before : scan->row_after;
    const struct scan one = plan_row_scan(scan, row, row);
    if (scan->out.type != scan->element->type &&
        plan_make(backend, &one, TABLE_STRATEGY_RECURSIVE, false, &rounding) != TABLE_OK)
        return false;
    return place(plan, row_bytes, &plan->row_offset) && place(plan, rounding.bytes, &plan->row_work_offset);
}

table_status plan_make(const struct backend *backend, const struct scan *scan, table_strategy strategy,
                       bool totals_only, struct plan *plan) {
    if (scan_is_batch(scan))
        return batch_plan(backend, scan, strategy, plan);
    const size_t row_bytes = scan_row_bytes(scan);
    /* Where the host does not know how far a sum is, it cannot know either where the chunks of a fused pass begin. */
    const bool apart = plan_is_piece(backend, scan) && !scan->header_before;
    *plan = (struct plan){.strategy = choose_strategy(backend, scan, strategy, totals_only || apart)};
    bool fits = place(plan, sizeof(struct findings), &plan->findings_offset) &&
                place_row(plan, backend, scan, row_bytes) && place_state(plan, backend, scan, row_bytes);
    if (scan->chunks == 0)
        fits = fits && place_zeros(plan, backend, scan, row_bytes);
    else if (plan_is_piece(backend, scan))
        fits = fits && place_piece(plan, backend, scan);
    else if (plan->strategy == TABLE_STRATEGY_FUSED)
        fits = fits && place_fused(plan, backend, scan, row_bytes);
    else
        fits = fits && place_levels(plan, scan, row_bytes);
    if (!fits)
        return status_fail(TABLE_ERROR_TOO_LARGE, "the workspace for %zu rows of %zu columns does not fit in memory",
                           scan->in.rows, scan->in.columns);
    return TABLE_OK;
}
