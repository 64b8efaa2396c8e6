/* Numbers on the command line. */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* A number of at most `most`: decimal digits, or two numbers as in 2^20 or 1e6; then K, M or G, which stand for powers
 * of 1024, or nothing. */
bool parse_number(const char *text, uint64_t most, uint64_t *number);

/* An integer of 64 bits, with a minus before it or not. */
bool parse_integer(const char *text, int64_t *number);

/* Whether a text, up to its end or a colon, is an integer that is not the double that was made of it. */
bool is_rounded_integer(const char *text, double number);

#endif
