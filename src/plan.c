#include "plan.h"

#include <tuplescan/stages.h>

#include "checked.h"
#include "status.h"

enum { CHUNK_BYTES = 65536, WIDEST_ROW_BYTES = 128 };

size_t table_chunk_rows(table_type type, size_t columns) {
    if (columns == 0 || !table_types_supported(type, type))
        return 0;
    size_t row_bytes = table_type_size(type);
    for (size_t width = 1; width < columns && row_bytes < WIDEST_ROW_BYTES; width *= 2)
        row_bytes *= 2;
    return CHUNK_BYTES / row_bytes;
}

size_t table_seeds_rows(table_type type, size_t rows, size_t columns) {
    const size_t chunk_rows = table_chunk_rows(type, columns);
    return chunk_rows ? divide_up(rows, chunk_rows) + 1 : 0;
}

void plan_chunks(struct scan *scan) {
    scan->chunk_rows = table_chunk_rows(scan->out.type, scan->in.columns);
    scan->chunks = divide_up(scan->in.rows, scan->chunk_rows);
}

/* Puts `bytes` at the end of the workspace. */
static bool place(struct plan *plan, size_t bytes, size_t *offset) {
    size_t rounded;
    *offset = plan->bytes;
    if (!checked_add(bytes, TABLE_WORKSPACE_ALIGNMENT - 1, &rounded))
        return false;
    rounded -= rounded % TABLE_WORKSPACE_ALIGNMENT;
    return checked_add(plan->bytes, rounded, &plan->bytes);
}

/* Floats need one level, because their totals are added from left to right; integers recurse until one chunk is left,
 * whose only seed is the row of zeros of the last level. */
static bool place_levels(struct plan *plan, const struct scan *scan, size_t row_bytes) {
    size_t rows = scan->in.rows;
    bool more = true;
    while (more) {
        const size_t chunks = divide_up(rows, scan->chunk_rows);
        size_t bytes;
        rows = chunks + 1;
        if (!checked_multiply(rows, row_bytes, &bytes))
            return false;
        if (plan->strategy != TABLE_STRATEGY_HOST && !place(plan, bytes, &plan->level_offset[plan->levels]))
            return false;
        plan->level_rows[plan->levels++] = rows;
        more = plan->strategy != TABLE_STRATEGY_HOST && plan_is_integer(scan->out.type) && chunks > 1;
    }
    return true;
}

bool plan_reaches(const struct backend *backend, const struct scan *scan, const void *memory) {
    const int device = backend->copy_rows && memory ? backend_device_of(memory) : -1;
    return !backend->copy_rows || !memory || (device >= 0 && device == backend_device_of(scan->in.data));
}

bool plan_needs_zeros(const struct backend *backend, const struct scan *scan) {
    return scan->carry_out && !scan->carry_in && backend->copy_rows && backend_device_of(scan->carry_out) < 0;
}

static bool place_carries(struct plan *plan, const struct backend *backend, const struct scan *scan, size_t row_bytes) {
    return place(plan, plan_reaches(backend, scan, scan->carry_in) ? 0 : row_bytes, &plan->carry_in_offset) &&
           place(plan, plan_reaches(backend, scan, scan->carry_out) ? 0 : row_bytes, &plan->carry_out_offset);
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

static table_strategy choose_strategy(const struct backend *backend, const struct scan *scan, table_strategy wanted,
                                      bool totals_only) {
    if (wanted == TABLE_STRATEGY_AUTO)
        wanted = backend->prefers_fused(scan) ? TABLE_STRATEGY_FUSED : TABLE_STRATEGY_RECURSIVE;
    if (wanted == TABLE_STRATEGY_FUSED && totals_only)
        return TABLE_STRATEGY_RECURSIVE; /* without results there is nothing to fuse */
    return wanted;
}

table_status plan_make(const struct backend *backend, const struct scan *scan, table_strategy strategy,
                       bool totals_only, struct plan *plan) {
    const size_t row_bytes = scan->in.columns * table_type_size(scan->out.type);
    *plan = (struct plan){.strategy = choose_strategy(backend, scan, strategy, totals_only)};
    bool fits = place(plan, sizeof(uint64_t), &plan->overflow_offset);
    if (scan->in.rows == 0)
        fits = fits && place(plan, plan_needs_zeros(backend, scan) ? row_bytes : 0, &plan->carry_out_offset);
    else if (plan->strategy == TABLE_STRATEGY_FUSED)
        fits = fits && place_fused(plan, backend, scan, row_bytes);
    else
        fits = fits && place_levels(plan, scan, row_bytes);
    if (!fits)
        return status_fail(TABLE_ERROR_TOO_LARGE, "the workspace for %zu rows of %zu columns does not fit in memory",
                           scan->in.rows, scan->in.columns);
    return TABLE_OK;
}
