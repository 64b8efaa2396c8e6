/* Running sums of a table in a place, by this library and by others. */
#ifndef BENCH_SCAN_H
#define BENCH_SCAN_H

#include "bench/place.h"

enum scan_kind { SCAN_COPY, SCAN_SERIAL, SCAN_COPY_KERNEL, SCAN_CUB, SCAN_OURS };

/* One way of summing, or of copying, which stands beside it. */
struct scan_way {
    enum scan_kind kind;
    table_strategy strategy; /* of ours, like all up to `right` */
    unsigned threads;        /* 0: all */
    bool check_overflow;
    size_t workspace_bytes;
    int right; /* 1: right, 0: wrong, -1: not looked at */
    double queued_ms, call_ms;
    table_report report; /* of the last call */
    void *graph;
};

/* The tables, allocated once for the largest case of a run, and the sum in hand. */
struct scans {
    const struct bench_options *options;
    struct bench_report *report;
    struct bench_place place;
    void *in, *out;           /* in the place */
    void *host_in, *host_out; /* the same as these in host memory */
    void *expected;           /* on the host; NULL where nothing is compared */
    uint64_t *first_overflow;
    size_t bytes;
    struct bench_case table;
    table_segments segments[2]; /* in the place, and on the host; of kind 0: there are none */
};

/* EX_OK, or the exit code after a message; tables of `bytes` bytes each. To be closed in any case. */
int scans_open(struct scans *scans, table_backend backend, size_t bytes, bool compares);
void scans_close(struct scans *scans);

/* Takes a table, and makes its segments, if they are wanted. False after a note. */
bool scans_take(struct scans *scans, const struct bench_case *table);

/* The table's views in the place, or on the host. */
table_view scans_in(const struct scans *scans, bool on_host);
table_view scans_out(const struct scans *scans, void *data);

/* This library's sum, in its one-call form; of segments on the host, where `in` is there. */
table_status scans_sum(const struct scans *scans, const table_view *in, const table_view *out, bool on_host,
                       const table_scan_options *options);

/* Finds out how much workspace a way needs, and has it. False when this table cannot be had that way; `*reason` is
 * TABLE_OK for a peer, otherwise this library's answer. */
bool scan_prepare(struct scans *scans, struct scan_way *way, table_status *reason);

/* Runs it: at once on the host; on a GPU `queued` on the place's stream, which is then to be waited for, or as one
 * call, which fills way->report if the times of its `stages` are wanted. False after a note. */
enum scan_form { SCAN_QUEUED, SCAN_CALL, SCAN_STAGES };
bool scan_run(struct scans *scans, struct scan_way *way, enum scan_form form);

/* scan_right.c. Expects what the CPU backend makes of the table; on the CPU that is held against the serial loop.
 * Then a way of ours must have it, bit for bit, and CUB where its order of additions cannot be seen: an exit code. */
bool scans_expect(struct scans *scans);
int scan_check(struct scans *scans, struct scan_way *way, bool expected);

/* What a way is called in notes. */
enum { SCAN_NAME = 40 };
const char *scan_name(const struct scan_way *way, char name[SCAN_NAME]);

#endif
