/* A sort of rows, and what it is by. */
#ifndef SORT_H
#define SORT_H

#include "keys.h"

struct sort_job {
    struct sort_arguments arguments;
    struct input_file input, value_file;
    struct atomic_file output, value_output;
    struct input_field by[BY_MOST]; /* the columns or fields, and where they are in a row */
    unsigned by_count;
    size_t rows, row_bytes, value_bytes;
    bool row_is_key;
    void *keys;  /* of one column; NULL where rows are keys */
    void *order; /* --argsort */
    struct table_layout order_layout;
    const struct output_format *format, *value_format;
    struct memory_budget budget;
    table_pipeline_report report;
};

/* After the input was opened and job->by says which fields were found: chooses the columns or fields that the rows are
 * sorted by. */
void sort_choose_keys(struct sort_job *job);

/* Bytes of each key, of those that are brought together; 0: the rows are keys. */
size_t sort_key_bytes(const struct sort_job *job);

/* Bytes of memory that the library takes for a sort. */
size_t sort_scratch(const struct sort_job *job);

/* Sorts the rows in memory. */
void sort_rows(struct sort_job *job);

#endif
