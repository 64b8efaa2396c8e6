#include "pipeline.h"

#include <string.h>

#include "interrupt.h"
#include "parts/batch.h"
#include "state/state_scan.h"

/* A row of carry: the caller's, or zeros. */
static table_status put_carry_in(const struct backend *backend, const struct scan *scan, void *row, size_t row_bytes) {
    return scan->carry_in ? backend->copy(scan, row, scan->carry_in, row_bytes)
                          : backend->fill(scan, row, 0, row_bytes);
}

static table_status mark(const struct backend *backend, const struct scan *scan, unsigned number) {
    return scan->clock ? backend->clock_mark(scan, number) : TABLE_OK;
}

/* Rows that the backend cannot reach have a place in the workspace. */
static table_status stage_rows(const struct backend *backend, const struct plan *plan, struct scan *inner,
                               char *workspace, size_t row_bytes) {
    table_status status = TABLE_OK;
    if (!plan->carry_in_reached) {
        void *row = workspace + plan->carry_in_offset;
        status = backend->copy(inner, row, inner->carry_in, row_bytes);
        inner->carry_in = row;
    }
    if (!plan->carry_out_reached)
        inner->carry_out = workspace + plan->carry_out_offset;
    return status;
}

/* Zeros are made by the backend, in memory of its own. */
static table_status put_zeros(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              char *workspace, size_t row_bytes) {
    char *row = workspace + plan->carry_out_offset;
    if (!plan->needs_zeros)
        return backend->fill(scan, scan->carry_out, 0, row_bytes);
    const table_status status = backend->fill(scan, row, 0, row_bytes);
    return status == TABLE_OK ? backend->copy(scan, scan->carry_out, row, row_bytes) : status;
}

/* No rows: the carry goes through. */
static table_status run_nothing(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                char *workspace, size_t row_bytes) {
    table_status status = TABLE_OK;
    for (unsigned number = 0; number <= STAGES && status == TABLE_OK; number++)
        status = mark(backend, scan, number);
    if (status == TABLE_OK && scan->carry_out && !scan->carry_in)
        status = put_zeros(backend, plan, scan, workspace, row_bytes);
    else if (status == TABLE_OK && scan->carry_out && scan->carry_out != scan->carry_in)
        status = backend->copy(scan, scan->carry_out, scan->carry_in, row_bytes);
    return status;
}

static table_status run_stage2(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                               char *seeds, char *workspace) {
    if (plan->strategy == TABLE_STRATEGY_HOST)
        return stage2_host(backend, scan, seeds, scan->chunks + 1);
    return stage2_recursive(backend, plan, scan, seeds, scan->chunks + 1, 1, workspace);
}

/* `seeds` begins with the carry. */
static table_status run_seeds(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              char *seeds, char *workspace, size_t row_bytes) {
    table_status status = mark(backend, scan, 0);
    if (status == TABLE_OK)
        status = backend->stage1_local_counts(scan, seeds);
    if (status == TABLE_OK)
        status = mark(backend, scan, 1);
    if (status == TABLE_OK)
        status = run_stage2(backend, plan, scan, seeds, workspace);
    if (status == TABLE_OK)
        status = mark(backend, scan, 2);
    if (status == TABLE_OK && scan->out.data)
        status = backend->stage3_global_pass(scan, seeds);
    if (status == TABLE_OK)
        status = mark(backend, scan, 3);
    if (status == TABLE_OK && scan->carry_out)
        status = backend->copy(scan, scan->carry_out, seeds + scan->chunks * row_bytes, row_bytes);
    return status;
}

/* The seeds are in host memory from the beginning: stage 1 writes them there and stage 3 reads them over the bus, a
 * row of a panel for each tile, while they wait for the table anyway. Copies before and after stage 2 would take longer
 * than its additions. */
static table_status run_by_host(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                char *workspace, size_t row_bytes) {
    table_status status = TABLE_OK;
    char *seeds = stage2_host_seeds(backend, (scan->chunks + 1) * row_bytes, &status);
    if (!seeds)
        return status;
    memset(seeds, 0, row_bytes);
    if (scan->carry_in)
        status = backend->copy(scan, seeds, scan->carry_in, row_bytes);
    if (status == TABLE_OK)
        status = run_seeds(backend, plan, scan, seeds, workspace, row_bytes);
    const table_status waited = backend->wait(scan);
    backend->host_release(seeds);
    return status == TABLE_OK ? waited : status;
}

static table_status run_where_data_is(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                      char *workspace, size_t row_bytes) {
    char *seeds = workspace + plan->level_offset[0];
    const table_status status = put_carry_in(backend, scan, seeds, row_bytes);
    return status == TABLE_OK ? run_seeds(backend, plan, scan, seeds, workspace, row_bytes) : status;
}

/* The stages lower the finding. */
static table_status run_stages(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                               char *workspace, size_t row_bytes) {
    const table_status status =
        scan->first_overflow ? backend->fill(scan, scan->first_overflow, 0xff, sizeof *scan->first_overflow) : TABLE_OK;
    if (status != TABLE_OK)
        return status;
    return plan->strategy == TABLE_STRATEGY_HOST ? run_by_host(backend, plan, scan, workspace, row_bytes)
                                                 : run_where_data_is(backend, plan, scan, workspace, row_bytes);
}

static table_status run_fused(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              char *workspace, size_t row_bytes) {
    struct scan inner = *scan;
    table_status status = stage_rows(backend, plan, &inner, workspace, row_bytes);
    if (status == TABLE_OK)
        status = mark(backend, scan, 0);
    if (status == TABLE_OK)
        status = backend->fused(&inner, workspace + plan->fused_offset);
    if (status == TABLE_ERROR_STRATEGY)
        return run_stages(backend, plan, scan, workspace, row_bytes);
    if (status == TABLE_OK)
        status = mark(backend, scan, STAGES);
    if (status == TABLE_OK && inner.carry_out != scan->carry_out)
        status = backend->copy(scan, scan->carry_out, inner.carry_out, row_bytes);
    return status;
}

/* The carry out, if there is one, is memory of the backend: the state's, or a row beside it. */
static table_status run_piece(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              char *workspace) {
    table_status status = mark(backend, scan, 0);
    if (status == TABLE_OK)
        status = backend->piece(scan, plan->strategy == TABLE_STRATEGY_FUSED, workspace + plan->fused_offset);
    for (unsigned number = 1; number <= STAGES && status == TABLE_OK; number++)
        status = mark(backend, scan, number);
    return status;
}

table_status pipeline_run_stateless(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                    char *workspace) {
    const size_t row_bytes = scan_row_bytes(scan);
    if (scan->chunks == 0)
        return run_nothing(backend, plan, scan, workspace, row_bytes);
    if (plan_is_piece(backend, scan))
        return run_piece(backend, plan, scan, workspace);
    return plan->strategy == TABLE_STRATEGY_FUSED ? run_fused(backend, plan, scan, workspace, row_bytes)
                                                  : run_stages(backend, plan, scan, workspace, row_bytes);
}

static table_status run_either(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                               void *workspace) {
    return scan->state ? state_run(backend, plan, scan, workspace)
                       : pipeline_run_stateless(backend, plan, scan, workspace);
}

/* Puts sums, memory of the backend, into a row beside `out`. */
static table_status put_row(const struct backend *backend, const struct plan *plan, const struct scan *scan, void *row,
                            const void *sums, char *workspace) {
    const struct scan one = plan_row_scan(scan, row, sums);
    struct plan rounding;
    if (scan->out.type == scan->element->type || scan->in.columns == 0)
        return backend->copy(scan, row, sums, scan_row_bytes(scan));
    const table_status status = plan_make(backend, &one, TABLE_STRATEGY_RECURSIVE, false, &rounding);
    return status == TABLE_OK ? pipeline_run_stateless(backend, &rounding, &one, workspace + plan->row_work_offset)
                              : status;
}

/* What the sum begins with is what a scan of no rows carries out. A state has begun then. */
static table_status put_before(const struct backend *backend, const struct plan *plan, struct scan *scan,
                               char *workspace) {
    struct scan begin = *scan;
    begin.in.rows = begin.out.rows = begin.chunks = 0;
    scan_find_nothing(&begin);
    begin.carry_out = workspace + plan->row_offset;
    begin.clock = NULL;
    table_status status = run_either(backend, plan, &begin, workspace);
    if (status == TABLE_OK)
        status = put_row(backend, plan, scan, scan->row_before, begin.carry_out, workspace);
    if (status == TABLE_OK && scan->state && !plan->state_reached)
        status = backend->wait(scan); /* until the host has the state again, which is copied from there */
    if (scan->state) {
        scan->carry_in = NULL;
        scan->begins = false;
    }
    return status;
}

/* The sums through the last row come by way of the workspace, if they are wanted as results. */
static table_status run_with_rows_beside(const struct backend *backend, const struct plan *plan,
                                         const struct scan *scan, char *workspace) {
    struct scan inner = *scan;
    table_status status = scan->row_before ? put_before(backend, plan, &inner, workspace) : TABLE_OK;
    inner.carry_out = scan->row_after ? workspace + plan->row_offset : scan->carry_out;
    if (status == TABLE_OK)
        status = run_either(backend, plan, &inner, workspace);
    const bool was_held = interrupt_hold(true); /* the state is behind all rows */
    if (status == TABLE_OK && scan->row_after)
        status = put_row(backend, plan, scan, scan->row_after, inner.carry_out, workspace);
    interrupt_hold(was_held);
    return status == TABLE_OK && scan->carry_out && scan->row_after
               ? backend->copy(scan, scan->carry_out, inner.carry_out, scan_row_bytes(scan))
               : status;
}

/* What is found goes by way of the workspace, unless a fused pass sets it where it is wanted. */
static table_status begin_findings(const struct backend *backend, const struct plan *plan, struct scan *scan,
                                   char *workspace) {
    struct findings *found = (struct findings *)(workspace + plan->findings_offset);
    const bool is_fused = plan->strategy == TABLE_STRATEGY_FUSED && scan->chunks > 0;
    table_status status = TABLE_OK;
    if (scan->first_overflow && !(is_fused && !scan->state && plan_reaches(backend, scan, scan->first_overflow)))
        scan->first_overflow = &found->first_overflow;
    if (scan->first_overflow && scan->chunks == 0)
        status = backend->fill(scan, scan->first_overflow, 0xff, sizeof(uint64_t)); /* TABLE_NO_OVERFLOW */
    if (scan->skipped) {
        scan->skipped = &found->skipped;
        status = status == TABLE_OK ? backend->fill(scan, scan->skipped, 0, sizeof(uint64_t)) : status;
    }
    return status;
}

table_status pipeline_take_findings(const struct backend *backend, const struct scan *scan, struct findings *found) {
    table_status status = TABLE_OK;
    if (scan->first_overflow)
        status = backend->copy(scan, &found->first_overflow, scan->first_overflow, sizeof(uint64_t));
    if (status == TABLE_OK && scan->skipped)
        status = backend->copy(scan, &found->skipped, scan->skipped, sizeof(uint64_t));
    const table_status waited = backend->wait(scan);
    return status == TABLE_OK ? waited : status;
}

table_status pipeline_put_findings(const struct backend *backend, const struct scan *scan,
                                   const struct findings *found) {
    table_status status = TABLE_OK;
    if (!scan_finds(scan))
        return TABLE_OK;
    if (scan->first_overflow)
        status = backend->copy(scan, scan->first_overflow, &found->first_overflow, sizeof(uint64_t));
    if (status == TABLE_OK && scan->skipped)
        status = backend->copy(scan, scan->skipped, &found->skipped, sizeof(uint64_t));
    const table_status waited = backend->wait(scan);
    return status == TABLE_OK ? waited : status;
}

bool pipeline_reaches_findings(const struct backend *backend, const struct scan *scan) {
    return plan_reaches(backend, scan, scan->first_overflow) && plan_reaches(backend, scan, scan->skipped);
}

static table_status run_with_findings(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                      char *workspace) {
    struct scan inner = *scan;
    table_status status = begin_findings(backend, plan, &inner, workspace);
    if (status == TABLE_OK)
        status = scan_has_rows_beside(scan) ? run_with_rows_beside(backend, plan, &inner, workspace)
                                            : run_either(backend, plan, &inner, workspace);
    if (status == TABLE_OK && scan->first_overflow != inner.first_overflow)
        status = backend->copy(scan, scan->first_overflow, inner.first_overflow, sizeof(uint64_t));
    if (status == TABLE_OK && scan->skipped)
        status = backend->copy(scan, scan->skipped, inner.skipped, sizeof(uint64_t));
    return status;
}

table_status pipeline_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                          void *workspace) {
    if (scan_is_batch(scan))
        return batch_run(backend, plan, scan, workspace);
    const bool is_bare = !scan_finds(scan) && !scan_has_rows_beside(scan);
    const table_status status =
        is_bare ? run_either(backend, plan, scan, workspace) : run_with_findings(backend, plan, scan, workspace);
    if (status == TABLE_ERROR_CANCELED)
        state_restore(backend, scan);
    return status;
}
