/* The command line. One set of options for all subcommands: each names those that it takes. */
#ifndef ARGUMENTS_H
#define ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tuplescan/prefix_sum.h>

#include "device_list.h"

/* One bit for each subcommand that is parsed here. */
enum {
    FOR_SCAN = 1,
    FOR_VERIFY = 2,
    FOR_SUM = 4,
    FOR_INFO = 8,
    FOR_GEN = 16,
    FOR_DEVICES = 32,
    FOR_COUNT = 64,
    FOR_HIST = 128,
    FOR_SORT = 256,
    FOR_APPEND = 512,
    FOR_RANKS = 1 << 15 /* tuplescan-mpi scan, which takes no others than scan does */
};

enum { GO_ON = -1, BY_MOST = 16, ANY_OPERANDS = -1 };

struct arguments {
    const char *operands[2];
    char **inputs; /* all operands: input_count of them */
    unsigned input_count;
    const char *output, *carry_in, *carry_out, *state, *to;
    const char *member;                       /* of a .npz, or of a file of tensors */
    const char *input_format, *output_format; /* one of format_words, or NULL */
    char delimiter;                           /* 0: not said */
    table_type type, out_type;                /* 0: not said */
    size_t columns, skip;                     /* 0: not said */
    const char *fields[BY_MOST];              /* of records, that are the columns; the words of --field */
    unsigned field_count;
    const char *kept[BY_MOST]; /* of text, fields that stand beside the sums; the words of --keep */
    unsigned kept_count;
    bool has_rows;
    size_t rows; /* gen: how many */
    bool has_at;
    uint64_t at;               /* scan: the rows that the state must have */
    size_t rows_from, rows_to; /* sum: A and B of A:B; SIZE_MAX: to the end */
    uint64_t seed, max;
    bool has_max;
    table_backend backend;
    int devices[DEVICES_MOST]; /* CUDA devices that share the work: device_count of them, 0: not said */
    unsigned device_count;
    bool has_threads;
    unsigned threads_asked, threads; /* as --threads says; and the most that may work, whoever says it */
    size_t memory;                   /* bytes that may be used at a time; 0: not said */
    size_t chunk, bins, value_bytes; /* count, hist, sort; 0: not said */
    unsigned bits, first_bit;        /* count, sort; bits 0: not said */
    bool has_bits;
    bool has_range, has_first;
    double low, high; /* hist: of the range */
    int64_t first;    /* hist: of bins of one integer each */
    const char *edges, *weights, *values, *values_out;
    const char *by[BY_MOST]; /* sort: columns or fields, the most significant one first */
    unsigned by_count;
    bool looks; /* info: fields that are no numbers are no errors */
    bool ranks, plot, cumulative, density, descending, argsort;
    bool exclusive, reverse, offsets, skip_nan, wrap, json, force, quiet, no_progress;
};

/* Parses the options and exactly `operands` operands of the subcommand argv[0], or ANY_OPERANDS, at least one. GO_ON,
 * or the exit code: after --help, which prints `help`, and after an error, which prints one line. */
int arguments_parse(struct arguments *arguments, int argc, char **argv, unsigned subcommand, int operands,
                    const char *help);

/* A file that is read: what it is called in messages, and its path, or NULL. */
struct argument_input {
    const char *name, *path;
    bool is_one; /* false: there are no more */
};

/* All of them, by numbers from 0 on. */
struct argument_input arguments_input(const struct arguments *arguments, unsigned number);

#endif
