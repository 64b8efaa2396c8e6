/* A case on its way through the forms of call: between scan_case.c, which prepares it, and scan_forms.c. */
#ifndef SCAN_RUN_H
#define SCAN_RUN_H

#include "scan_case.h"

/* All that is needed while a case is computed in one way after the other. */
struct run {
    const struct scan_case *scan_case;
    const struct way *way;
    const char *form; /* for messages */
    table_strategy strategy;
    struct table in, out; /* out is `in` again in place */
    struct table *out_table;
    struct reference expected;
    void *carry;              /* what is carried in, on the host; NULL for none */
    unsigned char *in_values; /* the image of `in` before it is written in place */
    struct random random;
};

/* Fail the test, saying all that is needed to have the same case again. */
void fail_run(const struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
void require(const struct run *run, bool condition, const char *what);

/* Each computes the case in one form and requires the expected results. */
void check_one_call(struct run *run);
void check_stream_form(struct run *run);
void check_totals(struct run *run);
void check_stages(struct run *run);

#endif
