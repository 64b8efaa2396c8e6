/* Even bins, as backends look for them. The edges are those of table_even_edge(); the bin of a value is first guessed,
 * then corrected against its left edge:
 *
 *   guess = min((value - guess_low) * scale, count - 1), rounded to an integer
 *   bin   = guess, or guess - 1 if value < low + guess * width
 *
 * each operation rounded as a double. guess_low lies half a bin above low, less so much that no rounding makes a guess
 * too low; and bins are so wide that none is more than 1 too high. All backends guess alike, so that `exact` is true of
 * each. */
#ifndef EVEN_BINS_H
#define EVEN_BINS_H

#include <stdbool.h>

#include <tuplescan/histogram.h>

/* Added to a double of less than 2^51 in magnitude, and taken away again: rounds it to an integer. */
#define EVEN_ROUNDING 0x1.8p52

struct even_bins {
    double low, high, guess_low, scale, width;
    size_t count;
    bool exact; /* for values of the type, guesses need no correction */

    /* The range reaches integers of 64 bits that are no doubles: an integer above `greatest`, whose bits these are, is
     * above the range, and comparisons with edges have to look at how the integer was rounded. */
    bool wide;
    uint64_t greatest;
};

/* ARGUMENT when there are no such bins: an empty or infinite range, or bins too narrow for doubles. */
table_status even_bins_check(const struct table_bins *bins);

/* Prepares bins that passed the check. Up to `trials` bins it finds out whether guesses are exact, which takes the time
 * of two divisions a bin; of more bins that is not known. */
struct even_bins even_bins_make(const struct table_bins *bins, table_type type, size_t trials);

/* The first number of the type that is not below x, and the last one that is not above it, were the type's integers
 * without end. Integers of 64 bits: as doubles. */
double even_first_from(table_type type, double x);
double even_last_up_to(table_type type, double x);

#endif
