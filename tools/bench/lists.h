/* What the benchmark is to measure, as lists with commas. */
#ifndef BENCH_LISTS_H
#define BENCH_LISTS_H

#include <stdint.h>

#include "bench.h"

#define BENCH_SIZE_MOST (SIZE_MAX / 2)

/* A number from 1 to BENCH_SIZE_MOST. */
bool bench_read_size(const char *text, size_t *size);

enum bench_list { BENCH_COLUMNS, BENCH_TYPES, BENCH_ROWS, BENCH_THREADS, BENCH_STRATEGIES };

/* Adds the items of the text to the list. EX_OK, or the code of what it has said of one. */
int bench_take_list(struct bench_options *options, enum bench_list list, const char *text);

/* A default is a list that was given by nobody. */
void bench_default_list(struct bench_options *options, enum bench_list list, const char *text);

#endif
