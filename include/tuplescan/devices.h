/* A table whose rows lie in several places of one machine: on several GPUs, on one of them in pieces, in host memory,
 * in any mixture. The sums have the bits that table_prefix_sum() of the whole table has, floats included, however the
 * rows are shared out.
 *
 * How: each place makes the totals of its rows, all at the same time; the host joins them (tuplescan/state.h), a few
 * kilobytes whatever the rows are; and each place sums its rows from there on. Values are thus read twice and written
 * once, and with equal parts two thirds of the speed at which all memories copy together is the most that can be
 * reached. The last part is not totalled, and the first one, whose sums wait for no other part, is summed meanwhile if
 * it is small enough. So, where shares may be chosen, give the device that has the last part half as many rows more,
 * the table's first ones, as a part of their own: of R rows and D devices others have R / (D + 1/2), and the ceiling is
 * that much higher, by a fourth for two devices. A single part that has rows is summed in one pass. */
#ifndef TUPLESCAN_DEVICES_H
#define TUPLESCAN_DEVICES_H

#include <tuplescan/prefix_sum.h>

TABLE_BEGIN

/* Some rows of the table. */
typedef struct table_part {
    table_view in, out; /* as table_prefix_sum() takes them: on one side, the same table or apart */

    /* AUTO: where the tables are. CUDA for tables in host memory: they are taken through `device` in pieces, while the
     * totals of their rows are made by the CPU. */
    table_backend backend;
    int device; /* looked at for such tables alone: the number of the CUDA device */
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_part;

/* What was done and how long it took, in wall-clock seconds. A call that is asked for it takes some 10 us longer, since
 * it waits for totals before it tells them to the host. */
typedef struct table_devices_report {
    unsigned devices;        /* that had rows; all parts on the CPU count as one */
    double totals_seconds;   /* until the totals of all parts were joined, exchange_seconds included */
    double exchange_seconds; /* of that: the longest way of a part's totals to the host, and joining them all */
    double scan_seconds;     /* summing; 0 for the rest if one part alone had rows */
    double seconds;
    uint64_t reserved[TABLE_RESERVED_WORDS];
} table_devices_report;

/* table_prefix_sum() of the table that is the rows of parts[0], followed by those of parts[1], and so on.
 *
 *   parts    `count` of them, at least one; any rows each, 0 too; all with the same columns and types. What one part
 *            writes lies in no other part's tables. Parts on different devices, and on the CPU, are summed at the same
 *            time, those on one device one after the other; host tables on a device two at a time
 *   options  operation (no products of floats: ARGUMENT), kept (all parts on the CPU), exclusive, reverse, offsets,
 *            skip_nan, skipped, strategy, threads, carry_in, carry_out, state, first_overflow, as for
 *            table_prefix_sum() of the whole table; all else must be 0 (ARGUMENT). NULL: all defaults. threads is the
 *            number for the CPU's parts. Carries, state, *first_overflow and *skipped are host memory (BACKEND).
 *            With offsets `out` of the last part has one row more than `in`, which is the whole table's last one; in
 *            other parts they have the same rows, and may be the same table
 *   report   NULL: no report
 *
 * Returns when all is done, with the caller's current device as it was. Device tables may be used by no other stream
 * meanwhile.
 *
 * Errors: as table_prefix_sum(), with the number of the part in front of the detail where one part is at fault. Those
 * that are found before anything is written are found of all parts before anything is written. After others all of
 * `out`, carry_out, *first_overflow and the state are unspecified. */
TABLE_API table_status table_prefix_sum_devices(const table_part *parts, size_t count,
                                                const table_scan_options *options, table_devices_report *report);

TABLE_END

#endif
