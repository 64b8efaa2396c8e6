/* Recurrences and products of floats whose tables come in parts: a table at random, and what the plain call makes of
 * it, to be compared bit for bit. */
#ifndef RECURRENCE_PARTS_H
#define RECURRENCE_PARTS_H

#include <stdbool.h>
#include <stdint.h>

#include <tuplescan/tuplescan.h>

#include "random.h"

enum form { FORM_TABLE, FORM_ROW, FORM_COLUMN, FORM_NUMBER, FORM_PRODUCT, FORMS };
enum { ROWS_MOST = 9000, COLUMNS_MOST = 40, CELLS_MOST = 60000 };

/* Tables in host memory, side by side, and what the plain call makes of them. */
struct parts_trial {
    table_type in, out, kept, a_type;
    enum form form;
    size_t rows, columns, cut; /* the first call takes the rows before the cut, or with reverse those from it on */
    bool has_start;
    table_scan_options options; /* without carries */
    table_view a, b;
    char *values_a, *values_b, *h, *wanted;
    char first[8 * COLUMNS_MOST]; /* coefficients, if they are shifted */
    char start[8 * COLUMNS_MOST], end[8 * COLUMNS_MOST], wanted_end[8 * COLUMNS_MOST];
    uint64_t skipped, wanted_skipped;
};

/* Memory of that many bytes and 64 more, filled with rubbish; fails the running test where there is none. */
void *parts_memory(size_t bytes);

/* Makes trial number `number`, and the plain call. parts_end() fails the running test unless `h`, `end` and `skipped`
 * are what the plain call made; parts_close() frees the trial's memory. */
void parts_begin(struct parts_trial *t, struct random *random, unsigned number);
void parts_end(struct parts_trial *t, const char *what);
void parts_close(struct parts_trial *t);

/* The coefficients that a row has in the recurrence. */
const char *parts_factors_at(const struct parts_trial *t, size_t row);

/* Whether `count` values are alike, NaNs all being so. */
bool parts_same(table_type type, const char *found, const char *wanted, size_t count);

#endif
