/* What the CPU's files on keys share, and their inner loops, one table of them per instruction set: cpu_kernels.keys of
 * kernels.h.
 *
 * A sort key is made of a key by `flip`: see key_flip(). Digits are looked at in sort keys, and keys are moved as they
 * are. */
#ifndef CPU_KEY_KERNELS_H
#define CPU_KEY_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tuplescan/histogram.h>

#include "keys/keys.h"
#include "types.h"

enum { KEY_LINE = 64, KEY_TYPES = 9, KEY_MOVES = 5, BIN_BLOCK = 1024, BIN_TABLES = 4, BIN_CHUNKS = 4 };

/* Bytes that are counted at a time, and digits that are counted as bytes: see bytes.h. */
enum { BYTE_BLOCK = 4096, BYTE_BITS = 8, BYTE_BITS_LEAST = 4, BYTE_BINS = 256 };

/* Keys and values between two looks at interrupt_came(): about a hundredth of a second, or ten on a busy machine. */
enum { KEYS_AT_ONCE = 1 << 21 };

/* The keys counted, or moved, by one call. */
struct key_digits {
    const void *keys;
    size_t count; /* counting: less than 2^32 */
    uint64_t flip;
    unsigned shift, bits; /* of the first digit */
    unsigned digits;      /* counting: how many, one beside the other */
};

/* How many tables a digit is counted into in turns. A counter that was just written cannot be read again at once, so
 * that keys which repeat are slow in one table; but the tables must fit in a first cache. */
static inline unsigned key_tables(unsigned bits, unsigned digits) {
    return digits > 1 || bits > 12 ? 1 : bits == 12 ? 2 : 4;
}

/* What moves beside a key. */
enum key_move { MOVE_KEYS, MOVE_4, MOVE_8, MOVE_INDEX_4, MOVE_INDEX_8 };

/* Where keys go. `places` has the rank of the next key of each digit, and moves on. `lines` has, for each digit, a line
 * of keys and one of values, and `firsts` a word: they are written out when a line is full, so that the many places do
 * not push each other out of the caches. Without lines every key is written by itself. */
struct key_places {
    void *keys;
    const void *values_from; /* the values of key_digits.keys; NULL for indices */
    void *values;
    uint64_t first_index; /* of the first key */
    uint64_t *places, *firsts;
    char *key_lines, *value_lines; /* aligned to KEY_LINE; NULL: no lines */
    bool stream;                   /* lines are written past the caches */
};

/* bins, below: bins->count, above: bins->count + 1, not a number: bins->count + 2. */
struct bin_search {
    struct table_bins bins;
    struct even_bins even; /* EVEN */
};

typedef bool key_ascend(const struct key_digits *digits);
typedef void key_count(const struct key_digits *digits, uint32_t *tables);
typedef void key_scatter(const struct key_digits *digits, const struct key_places *places);
typedef void bin_find(const struct bin_search *search, const void *values, size_t count, uint32_t *bins);
typedef void byte_find(const struct even_bins *even, const void *values, uint8_t *bytes,
                       uint64_t outside[TABLE_OUTSIDE_WORDS]);
typedef void bin_add(void *const sums[BIN_CHUNKS], uint32_t *const bins[BIN_CHUNKS],
                     const void *const weights[BIN_CHUNKS], size_t count);

struct cpu_key_kernels {
    /* [key type] tables += counts: key_tables() times `digits` times 2^bits counters. */
    key_count *count[KEY_TYPES];
    key_scatter *scatter[KEY_TYPES][KEY_MOVES];

    /* [key type] whether no key's bits are more than the next one's; up to all of a key's. */
    key_ascend *ascend[KEY_TYPES];

    /* [value type][kind of bins] the bins of up to BIN_BLOCK values. */
    bin_find *find[KEY_TYPES][4];

    /* The bins of BYTE_BLOCK values as bytes, 0 for values outside of the range; outside += how many those are. NULL
     * for a type, or for all, where there is no such thing. */
    byte_find *find_bytes[KEY_TYPES];

    /* One more for each of BYTE_BLOCK bytes, all less than `counters`, in a table whose length is that, rounded up to
     * 16. `next` is what will be looked at next. NULL where there is no such thing. */
    void (*count_bytes)(const uint8_t *bytes, unsigned counters, uint32_t *table, const void *next, size_t next_bytes);

    /* One more for each bin, in BIN_TABLES tables, `pitch` counters apart, in turns. */
    void (*add_ones)(uint32_t *tables, size_t pitch, const uint32_t *bins, size_t count);

    /* sums[c][bins[c][i]] += weights[c][i], i ascending, in all or in the first of the BIN_CHUNKS chunks c: chunks that
     * take turns do not wait for each other's sums. [0]: f32 to f32, [1]: f32 to f64, [2]: f64 to f64. */
    bin_add *add_weights[3], *add_weights_alone[3];
};

/* What makes sort keys of keys, besides what floats do by themselves: see key_digits.h. */
static inline uint64_t key_flip(table_type type, bool descending) {
    const unsigned top = 8 * (unsigned)table_type_size(type) - 1;
    const bool has_sign = table_kind_of(type) != TABLE_UNSIGNED;
    return (has_sign ? (uint64_t)1 << top : 0) ^ (descending ? ~(uint64_t)0 : 0);
}

/* From how many keys on a chunk is worth a thread; from how many bytes of keys and values on they are written by lines,
 * past the caches; and, for fewer, how many digits may begin in one set of a first cache before they are written by
 * lines. Tests lower them, so that few keys are many. Not while a pipeline runs. */
struct key_limits {
    size_t chunk, lines, crowd;
};
extern struct key_limits key_limits;

/* Adds `tables` times `count` counters to a row, u32 or u64, table by table of `pitch` counters. */
void cpu_add_counters(void *row, table_type type, const uint32_t *counters, unsigned tables, size_t pitch,
                      size_t count);

/* See keys.h. */
size_t cpu_histogram_workspace(const struct scan *scan, const struct histogram_pass *pass);
table_status cpu_histogram(const struct scan *scan, const struct histogram_pass *pass, void *workspace);

#endif
