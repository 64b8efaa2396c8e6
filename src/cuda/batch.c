#include "../status.h"
#include "fused.h"
#include "pass.h"
#include "runtime.h"

/* How fast tables are summed: bytes a second that the memory moves, where enough blocks are at work; and what queuing
 * one table costs. Rough, as it only has to tell many small tables from a few large ones. */
#define BYTES_PER_SECOND   3e12
#define SECONDS_PER_TABLE  4e-6
#define BLOCKS_AT_WORK     800.0
#define COLUMNS_OF_A_BLOCK 8 /* the least */

static double batch_seconds(const struct scan *scan, double table_bytes) {
    const size_t panels = (scan->in.columns + COLUMNS_OF_A_BLOCK - 1) / COLUMNS_OF_A_BLOCK;
    const double blocks = (double)scan->ranges.count * (double)panels;
    const double part = blocks < BLOCKS_AT_WORK ? blocks / BLOCKS_AT_WORK : 1;
    return (double)scan->ranges.count * table_bytes / (part * BYTES_PER_SECOND);
}

static struct kernel_batch batch_of(const struct scan *scan) {
    return (struct kernel_batch){.in = scan->in.data,
                                 .out = scan->out.data,
                                 .ranges = scan->ranges,
                                 .rows = scan->in.rows,
                                 .columns = scan->in.columns,
                                 .in_stride = scan->in.stride,
                                 .out_stride = scan->out.stride,
                                 .in_type = scan->in.type,
                                 .out_type = cuda_out_type(scan),
                                 .exclusive = scan->exclusive,
                                 .load = scan->load,
                                 .carry_in = scan->carry_in,
                                 .carry_out = scan->carry_out,
                                 .first_overflow = scan->first_overflow,
                                 .stream = scan->stream};
}

/* 0: the tables are not summed as panels of one pass. */
static size_t panels_workspace(const struct scan *scan) {
    const struct kernel_batch batch = batch_of(scan);
    const struct cuda_device device = cuda_device_facts(scan);
    return device.is_known ? kernel_batch_panels_workspace(&batch, device.processors, device.gpu) : 0;
}

bool cuda_batch_plan(const struct scan *scan, struct backend_batch *pass) {
    const double values = (double)scan->in.rows * (double)scan->in.columns;
    const double bytes = values * (double)(table_type_size(scan->in.type) + table_type_size(scan->out.type));
    const double one = SECONDS_PER_TABLE + bytes / BYTES_PER_SECOND;
    if (cuda_is_operator(scan)) {
        *pass = (struct backend_batch){.bytes = cuda_operator_workspace(scan)};
        return true;
    }
    const size_t panels = panels_workspace(scan);
    *pass = (struct backend_batch){.bytes = panels, .may_be_refused = panels > 0};
    /* When something is to be found, the host would have to look at each of several tables one after the other. */
    return panels > 0 || scan_finds(scan) || batch_seconds(scan, bytes) < (double)scan->ranges.count * one;
}

static table_status run_panels(const struct kernel_batch *batch, void *workspace) {
    const int error = kernel_run_batch_panels(batch, workspace);
    if (!kernel_is_refused(error))
        return cuda_check(error, "several tables in one pass");
    cuda_forget((cudaError_t)error);
    return TABLE_ERROR_STRATEGY;
}

table_status cuda_batch(const struct scan *scan, const struct backend_batch *pass, void *workspace) {
    const struct kernel_batch batch = batch_of(scan);
    if (cuda_is_operator(scan))
        return cuda_operator(scan, workspace);
    if (pass->may_be_refused)
        return run_panels(&batch, workspace);
    TRY(cuda_check(cuda_forget_findings(scan), "filling device memory"));
    return cuda_check(kernel_run_batch(&batch), "several tables");
}
