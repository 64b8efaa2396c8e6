/* A checked call carried out at once: stream, workspace, clock and waiting around the pipeline. */
#ifndef RUN_H
#define RUN_H

#include "pipeline.h"
#include "validate.h"

/* Opens a stream (and a clock, when timed), runs `work`, waits, closes. Whatever fails, all is given back. */
typedef table_status run_work(struct call *call, void *context);
table_status run_and_wait(struct call *call, bool timed, run_work *work, void *context);

/* Has `work` done in `bytes` bytes of the backend's memory, and waits. */
typedef table_status run_in(struct call *call, void *context, char *workspace);
table_status run_in_workspace(struct call *call, size_t bytes, run_in *work, void *context);

/* A report of the work done, without the times. */
struct table_report run_report_head(const struct call *call, table_strategy strategy);

/* Seconds between the clock's marks into the report: stages, or the fused pass. Fills in the work done, too. */
table_status run_report(const struct call *call, table_strategy strategy, struct table_report *report);

/* A whole call of the scan, or of column totals, at once. */
table_status run_scan(struct call *call, table_report *report);

/* How a call is done. Its workspace is `rows` bytes of rows of maps, and what the plan has. */
struct planned {
    bool appends; /* totals that a state goes on with, or is fed: stage 1, and additions on the host */
    struct plan plan;
    size_t rows, bytes;
};

/* A scan of tables where the backend works, in two halves, between which others can be queued. The second half waits,
 * and gives back what the first one took, whatever that returned. The scan begun last is ended first, so that each
 * finds the current device as it left it. */
struct run_begun {
    struct call call;
    struct planned planned;
    void *workspace;
    bool is_open;
};
table_status run_begin(struct run_begun *run);
table_status run_end(struct run_begun *run, table_status begun);

/* The call in the form that it was checked for. bytes: NULL, or where a stream form tells what it needs, no more. */
table_status run_call(struct call *call, const table_scan_options *options, size_t *bytes);

/* Moves the findings from where the scan wants them to the host, or back. Waits. */
table_status run_move_findings(const struct backend *backend, const struct scan *scan, struct findings *found,
                               bool back);

/* Adds what another call did to the report of several. */
void run_add_report(struct table_report *all, const struct table_report *one);

/* Host tables on a backend with memory of its own: in pieces. (parts/through_device.c) */
table_status run_through_device(struct call *call, table_report *report);

/* A checked call on host tables, shared out among CUDA devices in whole units. (parts/devices.c)
 * report: the work done. */
table_status run_on_devices(const struct call *whole, const int *devices, size_t device_count, table_report *report);

/* More than one range: a plan for them, in one pass of the backend's or range by range; and host tables on a
 * backend with memory of its own, one after the other. (parts/batch.c) */
table_status batch_plan(const struct backend *backend, const struct scan *scan, table_strategy strategy,
                        struct plan *plan);
table_status batch_run(const struct backend *backend, const struct plan *plan, const struct scan *scan,
                       void *workspace);
table_status batch_through_device(struct call *call, table_report *report);

#endif
