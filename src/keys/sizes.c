/* How keys are cut where nobody says so. */
#include "checked.h"
#include "keys.h"

enum { LEAST_KEYS = 16384, KEYS_PER_COUNTER = 16, LEAST_VALUES = 65536 };

size_t table_digit_chunk_length(unsigned bits) {
    if (bits < 1 || bits > TABLE_DIGIT_BITS_MOST)
        return 0;
    const size_t length = (size_t)KEYS_PER_COUNTER << bits;
    return length > LEAST_KEYS ? length : LEAST_KEYS;
}

size_t table_digit_chunks(size_t keys, size_t chunk_length, unsigned bits) {
    const size_t length = chunk_length ? chunk_length : table_digit_chunk_length(bits);
    return length ? divide_up(keys, length) : 0;
}

size_t table_histogram_chunk_length(size_t bins) {
    size_t length;
    if (!checked_multiply(bins, VALUES_PER_BIN, &length))
        return SIZE_MAX;
    return length > LEAST_VALUES ? length : LEAST_VALUES;
}
