/* The command line of tuplescan bench. */
#ifndef BENCH_LINE_H
#define BENCH_LINE_H

#include "arguments.h"
#include "bench/bench.h"

struct bench_line {
    struct arguments common;
    struct bench_options options;
    bool quick;
};

extern const struct option_table options_of_bench;

/* A default of a list that no option has said. */
void bench_default_list(struct bench_options *options, const char *option, const char *text);

#endif
