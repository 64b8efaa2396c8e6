#include "pipeline.h"

#include "status.h"
#include "tree.h"

table_status pipeline_mark(const struct backend *backend, const struct scan *scan, unsigned first, unsigned last) {
    for (unsigned number = first; scan->clock && number <= last; number++)
        TRY(backend->clock_mark(scan, number));
    return TABLE_OK;
}

/* Row 0 of the seeds is what the table begins with. The stages lower the finding. */
static table_status begin_stages(const struct backend *backend, const struct scan *scan, char *seeds, bool by_host) {
    if (scan->first_overflow)
        TRY(backend->fill(scan, scan->first_overflow, 0xff, sizeof *scan->first_overflow)); /* TABLE_NO_OVERFLOW */
    if (scan->carry_in)
        return backend->copy(scan, seeds, scan->carry_in, scan_row_bytes(scan));
    if (!by_host)
        return backend_put_start(backend, scan, seeds);
    element_fill(scan->element, seeds, scan->element->start, scan->in.columns);
    return TABLE_OK;
}

static table_status run_stage(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              unsigned stage, char *seeds, char *workspace) {
    const size_t rows = scan->chunks + 1;
    switch (stage) {
    case 1:
        return backend->stage1_local_counts(scan, seeds);
    case 2:
        return plan->strategy == TABLE_STRATEGY_HOST ? stage2_host(backend, scan, seeds, rows)
                                                     : stage2_recursive(backend, plan, scan, seeds, rows, 1, workspace);
    default:
        return scan->out.data ? backend->stage3_global_pass(scan, seeds) : TABLE_OK;
    }
}

/* With stage 2 by the host the seeds are in host memory from the beginning: stage 1 writes them there and stage 3 reads
 * them over the bus, a row of a panel for each tile, while they wait for the table anyway. Copies before and after
 * stage 2 would take longer than its additions. */
static table_status run_stages(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                               char *workspace) {
    const size_t row_bytes = scan_row_bytes(scan);
    const bool by_host = plan->strategy == TABLE_STRATEGY_HOST;
    table_status status = TABLE_OK;
    char *const seeds = by_host ? stage2_host_seeds(backend, (scan->chunks + 1) * row_bytes, &status)
                                : layout_at(workspace, plan->level_offset[0]);
    if (status == TABLE_OK)
        status = begin_stages(backend, scan, seeds, by_host);
    if (status == TABLE_OK)
        status = pipeline_mark(backend, scan, 0, 0);
    for (unsigned stage = 1; stage <= STAGES && status == TABLE_OK; stage++) {
        status = run_stage(backend, plan, scan, stage, seeds, workspace);
        if (status == TABLE_OK)
            status = pipeline_mark(backend, scan, stage, stage);
    }
    if (status == TABLE_OK && scan->carry_out)
        status = backend->copy(scan, scan->carry_out, seeds + scan->chunks * row_bytes, row_bytes);
    if (by_host && seeds) {
        status = wait_after(backend, scan, status);
        backend->host_release(seeds);
    }
    return status;
}

/* No rows: the carry goes through. */
static table_status run_nothing(const struct backend *backend, const struct scan *scan) {
    TRY(pipeline_mark(backend, scan, 0, STAGES));
    if (!scan->carry_out || scan->carry_out == scan->carry_in)
        return TABLE_OK;
    return scan->carry_in ? backend->copy(scan, scan->carry_out, scan->carry_in, backend_carry_bytes(backend, scan))
                          : backend_put_start(backend, scan, scan->carry_out);
}

static table_status run_rows(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                             char *workspace) {
    if (scan->chunks == 0)
        return run_nothing(backend, scan);
    if (!plan->is_fused)
        return run_stages(backend, plan, scan, workspace);
    TRY(pipeline_mark(backend, scan, 0, 0));
    const table_status status = backend->fused(scan, &plan->pass, layout_at(workspace, plan->fused_offset));
    if (status == TABLE_ERROR_STRATEGY) /* refused */
        return run_stages(backend, plan, scan, workspace);
    TRY(status);
    return pipeline_mark(backend, scan, plan->strategy == TABLE_STRATEGY_FUSED ? STAGES : 1, STAGES);
}

/* Integers go on from one row, the sum so far, as from a carry; floats from the runs of the state, which the backend
 * knows how to use. An empty table leaves a state as it is. */
static struct scan rows_of_state(const struct scan *scan) {
    struct scan rows = *scan;
    const bool any_order = !scan->element->ordered;
    void *const sum = state_row(scan->state, scan_row_bytes(scan), STATE_SUM);
    rows.carry_in = any_order ? sum : NULL;
    if (any_order)
        rows.carry_out = scan->state_out ? (void *)scan->state_out : sum;
    else if (scan->chunks == 0)
        rows.carry_out = NULL;
    if (any_order || scan->chunks == 0)
        rows.state = rows.state_out = NULL;
    return rows;
}

/* Whether the state after the rows is wanted. The finding of an overflow, which is the state's to count on,
 * and the sums of no rows are asked for with it. */
static bool leaves_state(const struct scan *scan) {
    return !scan->state_ends || scan->chunks == 0 || scan->first_overflow;
}

/* All that the scan names is memory of the backend. */
static table_status run_sum(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                            char *workspace) {
    if (!scan->state)
        return run_rows(backend, plan, scan, workspace);
    TRY(backend->state_enter(scan));
    const struct scan rows = rows_of_state(scan);
    TRY(run_rows(backend, plan, &rows, workspace));
    if (leaves_state(scan))
        TRY(backend->state_leave(scan));
    if (scan->carry_out && !scan->element->ordered)
        TRY(backend->copy(scan, scan->carry_out, state_row(scan->state, scan_row_bytes(scan), STATE_SUM),
                          scan_row_bytes(scan)));
    return TABLE_OK;
}

/* Puts sums as results into a row beside `out`. Where they are rounded on a device, its stage 3 does it, with the sums
 * as the seed of a row that is exclusive, and leaves other values in their place and in the row after them. */
static table_status put_row(const struct backend *backend, const struct scan *scan, void *row, void *sums) {
    struct scan one = {.exclusive = true,
                       .out = scan->out,
                       .ranges = {.count = 1},
                       .element = scan->element,
                       .threads = 1,
                       .stream = scan->stream};
    if (scan->out.type == scan->element->type || scan->in.columns == 0)
        return backend->copy(scan, row, sums, scan_row_bytes(scan));
    if (!backend->copy_rows) {
        round_row(scan->element, sums, row, scan->in.columns, scan->out.type);
        return TABLE_OK;
    }
    one.out.data = row;
    one.out.rows = 1;
    one.out.stride = (ptrdiff_t)scan->out.columns;
    one.in = one.out;
    plan_chunks(&one);
    return backend->stage3_global_pass(&one, sums);
}

/* What the sum begins with is what a scan of no rows carries out. A state has begun then. */
static table_status put_before(const struct backend *backend, const struct plan *plan, struct scan *scan,
                               char *workspace) {
    struct scan begin = *scan;
    begin.in.rows = begin.out.rows = begin.chunks = 0;
    scan_find_nothing(&begin);
    begin.carry_out = layout_at(workspace, plan->row_offset);
    begin.clock = NULL;
    TRY(run_sum(backend, plan, &begin, workspace));
    TRY(put_row(backend, scan, scan->row_before, begin.carry_out));
    if (scan->state) {
        scan->carry_in = NULL;
        scan->begins = false;
    }
    return TABLE_OK;
}

/* Makes the scan one of memory that the backend reaches, which has memory of its own. */
static table_status bring_named(const struct backend *backend, const struct plan *plan, struct scan *scan,
                                char *workspace) {
    struct plan_memory named[NAMED_MOST];
    void *at[NAMED_MOVED];
    plan_list_named(scan, 1, named);
    TRY(plan_move_named(backend, scan, named, plan->named, 1u << NAMED_CARRY_IN | 1u << NAMED_STATE, false, workspace));
    for (unsigned i = 0; i < NAMED_MOVED; i++)
        at[i] = plan_named_at(&named[i], &plan->named[i], workspace);
    scan->carry_in = at[NAMED_CARRY_IN];
    scan->carry_out = at[NAMED_CARRY_OUT];
    scan->state = at[NAMED_STATE];
    scan->first_overflow = at[NAMED_FIRST_OVERFLOW];
    scan->load.nans = at[NAMED_NANS];
    return TABLE_OK;
}

/* The state after the rows may not be wanted. */
static table_status give_named(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                               char *workspace) {
    const unsigned written = 1u << NAMED_CARRY_OUT | 1u << NAMED_FIRST_OVERFLOW | 1u << NAMED_NANS;
    struct plan_memory named[NAMED_MOST];
    plan_list_named(scan, 1, named);
    return plan_move_named(backend, scan, named, plan->named, written | (unsigned)leaves_state(scan) << NAMED_STATE,
                           true, workspace);
}

static table_status begin_findings(const struct backend *backend, const struct scan *scan) {
    if (scan->first_overflow && scan->chunks == 0)
        TRY(backend->fill(scan, scan->first_overflow, 0xff, sizeof(uint64_t))); /* TABLE_NO_OVERFLOW */
    return scan->load.nans ? backend->fill(scan, scan->load.nans, 0, sizeof(uint64_t)) : TABLE_OK;
}

/* The sums through the last row, if they are wanted as results, come by way of the workspace. */
static table_status run_with_rows_beside(const struct backend *backend, const struct plan *plan, struct scan *scan,
                                         char *workspace) {
    void *const last = layout_at(workspace, plan->row_offset), *const carry_out = scan->carry_out;
    if (scan->row_before)
        TRY(put_before(backend, plan, scan, workspace));
    if (scan->row_after)
        scan->carry_out = last;
    TRY(run_sum(backend, plan, scan, workspace));
    if (scan->row_after && carry_out)
        TRY(backend->copy(scan, carry_out, last, scan_row_bytes(scan)));
    return scan->row_after ? put_row(backend, scan, scan->row_after, last) : TABLE_OK;
}

/* A call that was canceled leaves a state that began with it as it was: zeros. All others change when all is summed. */
static void restore_state(const struct backend *backend, const struct scan *scan) {
    if (scan->state && scan->begins && !backend->copy_rows)
        backend->fill(scan, scan->state, 0, scan_state_bytes(scan));
}

static table_status run_with_named(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                                   char *workspace) {
    struct scan inner = *scan;
    table_status status = backend->copy_rows ? bring_named(backend, plan, &inner, workspace) : TABLE_OK;
    if (status == TABLE_OK)
        status = begin_findings(backend, &inner);
    if (scan->state && (scan->element->ordered || !backend->copy_rows))
        inner.state_out = layout_at(workspace, plan->state_out_offset);
    if (status == TABLE_OK)
        status = scan_has_rows_beside(scan) ? run_with_rows_beside(backend, plan, &inner, workspace)
                                            : run_sum(backend, plan, &inner, workspace);
    if (status == TABLE_OK && backend->copy_rows)
        status = give_named(backend, plan, scan, workspace);
    if (status == TABLE_ERROR_CANCELED)
        restore_state(backend, scan);
    return status;
}

table_status pipeline_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                          void *workspace) {
    return scan_names_memory(scan) || scan_has_rows_beside(scan) ? run_with_named(backend, plan, scan, workspace)
                                                                 : run_rows(backend, plan, scan, workspace);
}
