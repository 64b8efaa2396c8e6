/* What a command is told. The arguments of a command begin with what several commands are told: tables that are read
 * and written, and how the work is done. Which options there are is said by the tables of options/. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tuplescan/prefix_sum.h>

#include "options/option.h"
#include "options/takers.h"

struct arguments {
    const struct option_table *table; /* whose options these are */
    const char
        *given[OPTIONS_MOST]; /* by their rows, the last value of each, "" where it takes none; NULL: not given */
    char **inputs;            /* the operands: input_count of them */
    unsigned input_count;
    const char *output, *output_format; /* the format: one of format_words, or NULL */
    bool force;
    const char *input_format;
    const char *member; /* of a .npz, or of a file of tensors */
    char delimiter;     /* 0: not said */
    table_type type, out_type;
    size_t columns, skip;             /* 0: not said */
    struct option_words fields, kept; /* --field, --keep */
    size_t memory;                    /* bytes that may be used at a time; 0: not said */
    table_backend backend;
    bool has_threads;
    unsigned threads_asked, threads; /* as --threads says; and the most that may work, whoever says it */
    bool json, quiet, no_progress;
};

/* Of scan, append and tuplescan-mpi; and of verify, sum and info, which are told how sums were made. */
struct scan_arguments {
    struct arguments common;
    table_operation operation;
    table_type kept_type; /* --kept; 0: not said */
    const char *carry_in, *carry_out, *state, *to;
    const char *decay, *decay_file; /* the coefficients of a recurrence */
    const char *segments, *by;      /* where sums begin anew */
    bool exclusive, reverse, offsets, skip_nan, wrap;
    bool looks; /* info: fields that are no numbers are no errors */
    bool has_at;
    uint64_t at; /* the rows that the state must have */
    struct option_devices devices;
};

struct sum_arguments {
    struct scan_arguments scan;
    bool has_rows;
    struct option_rows rows;
};

struct gen_arguments {
    struct arguments common;
    bool has_rows, has_max;
    size_t rows;
    uint64_t seed, max;
};

struct count_arguments {
    struct arguments common;
    size_t chunk;             /* 0: not said */
    unsigned bits, first_bit; /* bits 0: not said */
    bool has_bits, ranks, descending;
};

struct hist_arguments {
    struct arguments common;
    size_t chunk, bins; /* 0: not said */
    bool has_range, has_first;
    struct option_range range;
    int64_t first; /* of bins of one integer each */
    const char *edges, *weights;
    bool plot, cumulative, density;
};

struct sort_arguments {
    struct arguments common;
    size_t value_bytes; /* 0: not said */
    unsigned bits, first_bit;
    bool has_bits, descending, argsort;
    const char *values, *values_out;
    struct option_words by; /* columns or fields, the most significant one first */
};

extern const struct option_table options_of_scan, options_of_append, options_of_verify, options_of_sum, options_of_info,
    options_of_gen, options_of_devices, options_of_count, options_of_hist, options_of_sort, options_of_ranks;

/* A file that is read: what it is called in messages, with these dashes before it, and its path, or NULL. */
struct argument_input {
    const char *name, *path, *dashes;
    bool is_one; /* false: there are no more */
};

/* All of them, by numbers from 0 on. */
struct argument_input arguments_input(const struct arguments *arguments, unsigned number);

#endif
