/* Moving keys to their ranks: every chunk from its row of ranks on, in any order. */
#include <string.h>

#include "checked.h"
#include "cpu/isa.h"
#include "interrupt.h"
#include "key_kernels.h"
#include "pipelines.h"
#include "pool.h"

/* Most places that lines are kept for: beyond, they are too many for the caches themselves. */
enum { LINES_BITS_MOST = 11 };

/* For each digit: two words, a line of keys, a line of values. */
size_t cpu_digit_scatter_bytes(const struct digit_pass *pass) {
    return round_up((2 * sizeof(uint64_t) + 2 * KEY_LINE) << pass->bits, KEY_LINE);
}

struct scattering {
    const struct digit_pass *pass;
    const struct digit_move *move;
    enum key_move kind;
    bool stream; /* lines are used, and written past the caches */
    char *workspace;
};

static enum key_move kind_of(const struct digit_move *move) {
    if (move->value_bytes == 0)
        return MOVE_KEYS;
    if (move->values_from)
        return move->value_bytes == 4 ? MOVE_4 : MOVE_8;
    return move->value_bytes == 4 ? MOVE_INDEX_4 : MOVE_INDEX_8;
}

static uint64_t counter_at(const void *counters, table_type type, size_t i) {
    return type == TABLE_U32 ? ((const uint32_t *)counters)[i] : ((const uint64_t *)counters)[i];
}

/* Where the chunk's keys of each digit begin. */
static void read_places(const struct digit_move *move, size_t chunk, uint64_t *places, size_t count) {
    uint64_t offset = 0; /* keys of lesser digits */
    for (size_t i = 0; i < count; i++) {
        places[i] = offset;
        if (move->ranks.data)
            places[i] += counter_at(move->ranks.data, move->type, chunk * move->ranks.stride + i);
        offset += counter_at(move->totals, move->type, i);
    }
}

/* Whether so many digits begin in one set of a first cache that they would push each other out of it: as they do where
 * digits have equally many keys, and these are in order: 4 to 18 times slower than others (2^18 keys of 32 bits, one
 * thread; by lines at most 2 times). */
static bool is_crowded(const struct scattering *scattering, const uint64_t *places, size_t count) {
    enum { SETS = 64 };
    const struct digit_move *move = scattering->move;
    const size_t size = table_type_size(scattering->pass->keys.type);
    size_t begin[SETS] = {0}, most = 0;
    for (size_t i = 0; i < count; i++) {
        size_t *here = &begin[((uintptr_t)move->keys + places[i] * size) / KEY_LINE % SETS];
        *here += counter_at(move->totals, move->type, i) > 0;
        most = *here > most ? *here : most;
    }
    return most > key_limits.crowd;
}

static void scatter_chunk(const struct jobs *jobs, size_t number, unsigned thread) {
    const struct scattering *scattering = jobs->context;
    const struct digit_pass *pass = scattering->pass;
    const struct digit_move *move = scattering->move;
    const size_t key_bytes = table_type_size(pass->keys.type), count = (size_t)1 << pass->bits;
    const size_t begin = number * pass->chunk_length, left = pass->keys.rows - begin;
    const size_t end = begin + (left < pass->chunk_length ? left : pass->chunk_length);
    char *memory = scattering->workspace + thread * cpu_digit_scatter_bytes(pass);
    char *lines = memory, *words = memory + 2 * KEY_LINE * count;
    struct key_digits digits = {
        .flip = key_flip(pass->keys.type, pass->descending), .shift = pass->first_bit, .bits = pass->bits, .digits = 1};
    struct key_places places = {.keys = move->keys,
                                .values = move->values,
                                .places = (uint64_t *)(void *)words,
                                .firsts = (uint64_t *)(void *)words + count,
                                .value_lines = lines + KEY_LINE * count,
                                .stream = scattering->stream};
    read_places(move, number, places.places, count);
    if (count <= (size_t)1 << LINES_BITS_MOST && (scattering->stream || is_crowded(scattering, places.places, count)))
        places.key_lines = lines;
    for (size_t i = begin; i < end && !interrupt_came(); i += digits.count) {
        digits.keys = (const char *)pass->keys.data + i * key_bytes;
        digits.count = end - i < KEYS_AT_ONCE ? end - i : KEYS_AT_ONCE;
        places.values_from = move->values_from ? (const char *)move->values_from + i * move->value_bytes : NULL;
        places.first_index = i;
        isa_kernels_in_use()->keys->scatter[pass->keys.type][scattering->kind](&digits, &places);
    }
}

table_status cpu_digit_scatter(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move,
                               void *workspace) {
    const size_t bytes = pass->keys.rows * (table_type_size(pass->keys.type) + move->value_bytes);
    const struct scattering scattering = {
        .pass = pass, .move = move, .kind = kind_of(move), .stream = bytes >= key_limits.lines, .workspace = workspace};
    struct jobs jobs = {.work = scatter_chunk, .context = &scattering, .count = pass->chunks};
    return jobs_run(&jobs, scan->threads);
}

/* Keys that a job puts: many beside all of their values, which it goes through. */
static size_t keys_of_fill(void) { return 16 * key_limits.chunk; }

static void fill_some(const struct jobs *jobs, size_t number, unsigned thread) {
    const struct scattering *scattering = jobs->context;
    const struct digit_pass *pass = scattering->pass;
    const size_t most = keys_of_fill(), begin = number * most, left = pass->keys.rows - begin;
    const size_t end = begin + (left < most ? left : most);
    const uint64_t flip = key_flip(pass->keys.type, pass->descending);
    size_t at = 0;
    (void)thread;
    for (uint64_t digit = 0; at < end; digit++) {
        const size_t behind = at + counter_at(scattering->move->totals, scattering->move->type, digit);
        const size_t from = at > begin ? at : begin, to = behind < end ? behind : end;
        const uint16_t key = (uint16_t)(digit ^ flip);
        if (pass->keys.type == TABLE_U8 && from < to)
            memset((uint8_t *)scattering->move->keys + from, (uint8_t)key, to - from);
        for (size_t i = from; pass->keys.type == TABLE_U16 && i < to; i++)
            ((uint16_t *)scattering->move->keys)[i] = key;
        at = behind;
    }
}

table_status cpu_digit_fill(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move) {
    const struct scattering scattering = {.pass = pass, .move = move};
    struct jobs jobs = {.work = fill_some, .context = &scattering, .count = divide_up(pass->keys.rows, keys_of_fill())};
    return jobs_run(&jobs, scan->threads);
}
