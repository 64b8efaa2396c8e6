#include "even_bins.h"

#include <float.h>
#include <math.h>

#include "status.h"

/* Double rounding here, with M the greater magnitude of low and high, and u = 2^-53: an edge is less than 8uM away from
 * where it were without rounding, and so is a guess, in widths of bins, from the value's place. With a margin of 32uM
 * no guess is too low, and with bins of 64uM none is 2 too high. */
#define GUESS_MARGIN   0x1p-48
#define WIDTH_LEAST    0x1p-47
#define INTEGERS_EXACT 0x1p53 /* integers between minus this and this are doubles */

static double width_of(double low, double high, size_t count) { return (high - low) / (double)count; }

static double edge_at(double low, double width, size_t edge) {
    const double from_low = (double)edge * width; /* rounded by itself, by compilers that would contract it, too */
    return low + from_low;
}

double table_even_edge(double low, double high, size_t count, size_t edge) {
    return edge >= count ? high : edge_at(low, width_of(low, high, count), edge);
}

table_status even_bins_check(const struct table_bins *bins) {
    const double low = bins->low, high = bins->high, most = fmax(fabs(low), fabs(high));
    const double width = width_of(low, high, bins->count);
    if (!isfinite(low) || !isfinite(high) || !isfinite(high - low))
        return status_fail(TABLE_ERROR_ARGUMENT, "bins: the range from low %g to high %g, or its width, is not finite",
                           low, high);
    if (!(low < high))
        return status_fail(TABLE_ERROR_ARGUMENT, "bins: the range from low %.17g to high %.17g is empty", low, high);
    if (width < most * WIDTH_LEAST || width < DBL_MIN || !isfinite((double)bins->count / (high - low)))
        return status_fail(TABLE_ERROR_ARGUMENT,
                           "bins: %zu bins from low %.17g to high %.17g are too narrow: each is %g wide, and so far "
                           "from 0 a bin has at least %g, so that the doubles of its edges can be told apart",
                           bins->count, low, high, width, fmax(most * WIDTH_LEAST, DBL_MIN));
    return TABLE_OK;
}

double even_first_from(table_type type, double x) {
    if (type == TABLE_F64)
        return x;
    if (type != TABLE_F32)
        return ceil(x);
    const float nearest = (float)x;
    return (double)((double)nearest < x ? nextafterf(nearest, INFINITY) : nearest);
}

double even_last_up_to(table_type type, double x) { return -even_first_from(type, -x); }

static double before(table_type type, double value) {
    return type == TABLE_F64   ? nextafter(value, -INFINITY)
           : type == TABLE_F32 ? (double)nextafterf((float)value, -INFINITY)
                               : value - 1;
}

static double guess(const struct even_bins *even, double value) {
    return (value - even->guess_low) * even->scale + EVEN_ROUNDING - EVEN_ROUNDING;
}

/* Guesses do not descend from one value to the next, so that all are right if those are at which a bin begins, and
 * before which it does. */
static bool guesses_are_exact(const struct even_bins *even, table_type type) {
    for (size_t bin = 1; bin < even->count; bin++) {
        const double first = even_first_from(type, edge_at(even->low, even->width, bin)), last = before(type, first);
        if (guess(even, first) < (double)bin || guess(even, last) >= (double)bin)
            return false;
    }
    return true;
}

/* The bits of the last integer of 64 bits that is not above x; of the first one where there is none. */
static uint64_t last_integer(table_type type, double x) {
    if (type == TABLE_U64)
        return x >= 0x1p64 ? UINT64_MAX : x > 0 ? (uint64_t)x : 0;
    return x >= 0x1p63 ? (uint64_t)INT64_MAX : x > -0x1p63 ? (uint64_t)(int64_t)floor(x) : (uint64_t)INT64_MIN;
}

struct even_bins even_bins_make(const struct table_bins *bins, table_type type, size_t trials) {
    const double low = bins->low, high = bins->high, width = width_of(low, high, bins->count);
    struct even_bins even = {.low = low,
                             .high = high,
                             .guess_low = low + (width / 2 - GUESS_MARGIN * fmax(fabs(low), fabs(high))),
                             .scale = (double)bins->count / (high - low),
                             .width = width,
                             .count = bins->count};
    even.wide = (type == TABLE_U64 || type == TABLE_I64) && !(low > -INTEGERS_EXACT && high < INTEGERS_EXACT);
    even.greatest = last_integer(type, high);
    even.exact = bins->count <= trials && !even.wide && guesses_are_exact(&even, type);
    return even;
}
