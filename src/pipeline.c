#include "pipeline.h"

/* A row of carry: the caller's, or zeros. */
static table_status put_carry_in(const struct backend *backend, const struct scan *scan, void *row, size_t row_bytes) {
    return scan->carry_in ? backend->copy(scan, row, scan->carry_in, row_bytes)
                          : backend->fill(scan, row, 0, row_bytes);
}

static table_status mark(const struct backend *backend, const struct scan *scan, unsigned number) {
    return scan->clock ? backend->clock_mark(scan, number) : TABLE_OK;
}

static table_status run_fused(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                              char *workspace, size_t row_bytes) {
    struct scan inner = *scan;
    char *carry_in = workspace + plan->carry_in_offset, *carry_out = workspace + plan->carry_out_offset;
    table_status status = put_carry_in(backend, scan, carry_in, row_bytes);
    inner.carry_in = carry_in;
    inner.carry_out = carry_out;
    if (status == TABLE_OK)
        status = mark(backend, scan, 0);
    if (status == TABLE_OK && scan->chunks > 0)
        status = backend->fused(&inner, workspace + plan->fused_offset);
    if (status == TABLE_OK)
        status = mark(backend, scan, STAGES);
    if (status == TABLE_OK && scan->carry_out)
        status = backend->copy(scan, scan->carry_out, scan->chunks > 0 ? carry_out : carry_in, row_bytes);
    return status;
}

static table_status run_stage2(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                               char *workspace) {
    char *seeds = workspace + plan->level_offset[0];
    if (plan->strategy == TABLE_STRATEGY_HOST)
        return stage2_host(backend, scan, seeds, plan->level_rows[0]);
    return stage2_recursive(backend, plan, scan, seeds, plan->level_rows[0], 1, workspace);
}

static table_status run_stages(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                               char *workspace, size_t row_bytes) {
    char *seeds = workspace + plan->level_offset[0];
    table_status status = put_carry_in(backend, scan, seeds, row_bytes);
    if (status == TABLE_OK)
        status = mark(backend, scan, 0);
    if (status == TABLE_OK && scan->chunks > 0)
        status = backend->stage1_local_counts(scan, seeds);
    if (status == TABLE_OK)
        status = mark(backend, scan, 1);
    if (status == TABLE_OK && scan->chunks > 0)
        status = run_stage2(backend, plan, scan, workspace);
    if (status == TABLE_OK)
        status = mark(backend, scan, 2);
    if (status == TABLE_OK && scan->chunks > 0 && scan->out.data)
        status = backend->stage3_global_pass(scan, seeds);
    if (status == TABLE_OK)
        status = mark(backend, scan, 3);
    if (status == TABLE_OK && scan->carry_out)
        status = backend->copy(scan, scan->carry_out, seeds + scan->chunks * row_bytes, row_bytes);
    return status;
}

table_status pipeline_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                          void *workspace) {
    const size_t row_bytes = scan->in.columns * table_type_size(scan->out.type);
    uint64_t *found = (uint64_t *)((char *)workspace + plan->overflow_offset);
    struct scan inner = *scan;
    table_status status = TABLE_OK;
    if (scan->first_overflow) {
        inner.first_overflow = found;
        status = backend->fill(scan, found, 0xff, sizeof *found); /* TABLE_NO_OVERFLOW */
    }
    if (status == TABLE_OK)
        status = plan->strategy == TABLE_STRATEGY_FUSED ? run_fused(backend, plan, &inner, workspace, row_bytes)
                                                        : run_stages(backend, plan, &inner, workspace, row_bytes);
    if (status == TABLE_OK && scan->first_overflow)
        status = backend->copy(scan, scan->first_overflow, found, sizeof *found);
    return status;
}
