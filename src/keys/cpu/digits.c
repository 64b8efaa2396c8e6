/* What the CPU does with keys, by chunks in any order: it counts digits, each chunk into its row of the counter table;
 * moves keys to their ranks, each chunk from its row of ranks on; and fetches values in an order. */
#include <string.h>

#include "checked.h"
#include "cpu/isa.h"
#include "interrupt.h"
#include "key_kernels.h"
#include "pool.h"

struct key_limits key_limits = {.chunk = 1 << 16, .lines = 4 << 20, .crowd = 24};

/* So that a thread that is kept from its work holds up the others less. */
enum { CHUNKS_PER_THREAD = 4 };

static size_t chunk_length(const struct scan *scan, size_t keys) {
    const size_t useful = divide_up(keys, key_limits.chunk);
    const size_t wanted = scan->threads > 1 ? (size_t)jobs_threads(scan->threads, useful) * CHUNKS_PER_THREAD : 1;
    return divide_up(keys, useful < wanted ? useful : wanted);
}

static size_t counters_of(const struct digit_pass *pass) {
    return (size_t)pass->digits * key_tables(pass->bits, pass->digits) << pass->bits;
}

/* Bytes that a thread needs to count, and to move. */
static size_t count_bytes(const struct digit_pass *pass) {
    return round_up(counters_of(pass) * sizeof(uint32_t), KEY_LINE);
}

/* Most places that lines are kept for: beyond, they are too many for the caches themselves. */
enum { LINES_BITS_MOST = 11 };

/* For each digit: two words, a line of keys, a line of values. */
static size_t scatter_bytes(const struct digit_pass *pass) {
    return round_up((2 * sizeof(uint64_t) + 2 * KEY_LINE) << pass->bits, KEY_LINE);
}

static size_t digit_workspace(const struct scan *scan, const struct digit_pass *pass) {
    const size_t counts = count_bytes(pass), scatter = pass->is_moved ? scatter_bytes(pass) : 0;
    return jobs_threads(scan->threads, pass->chunks) * (counts > scatter ? counts : scatter);
}

#define DEFINE_ADD_COUNTERS(NAME, TYPE)                                                                                \
    static void NAME(TYPE *row, const uint32_t *counters, unsigned tables, size_t pitch, size_t count) {               \
        for (unsigned table = 0; table < tables; table++)                                                              \
            for (size_t i = 0; i < count; i++)                                                                         \
                row[i] += counters[table * pitch + i];                                                                 \
    }

DEFINE_ADD_COUNTERS(add_counters_u32, uint32_t)
DEFINE_ADD_COUNTERS(add_counters_u64, uint64_t)

void cpu_add_counters(void *row, table_type type, const uint32_t *counters, unsigned tables, size_t pitch,
                      size_t count) {
    if (type == TABLE_U32)
        add_counters_u32(row, counters, tables, pitch, count);
    else
        add_counters_u64(row, counters, tables, pitch, count);
}

struct counting {
    const struct digit_pass *pass;
    const struct table_view *counters;
    char *workspace;
};

static void count_chunk(const struct jobs *jobs, size_t number, unsigned thread) {
    const struct counting *counting = jobs->context;
    const struct digit_pass *pass = counting->pass;
    const struct table_view *counters = counting->counters;
    const size_t key_bytes = table_type_size(pass->keys.type), size = table_type_size(counters->type);
    const size_t columns = (size_t)pass->digits << pass->bits;
    const size_t begin = number * pass->chunk_length, left = pass->keys.rows - begin;
    uint32_t *tables = (uint32_t *)(void *)(counting->workspace + thread * count_bytes(pass));
    char *row = (char *)counters->data + number * counters->stride * size;
    struct key_digits digits = {.keys = (const char *)pass->keys.data + begin * key_bytes,
                                .flip = key_flip(pass->keys.type, pass->descending),
                                .shift = pass->first_bit,
                                .bits = pass->bits,
                                .digits = pass->digits};
    memset(row, 0, columns * size);
    for (size_t rest = left < pass->chunk_length ? left : pass->chunk_length; rest > 0 && !interrupt_came();
         rest -= digits.count) {
        digits.count = rest < KEYS_AT_ONCE ? rest : KEYS_AT_ONCE;
        memset(tables, 0, counters_of(pass) * sizeof *tables);
        isa_kernels_in_use()->keys->count[pass->keys.type](&digits, tables);
        cpu_add_counters(row, counters->type, tables, key_tables(pass->bits, pass->digits), columns, columns);
        digits.keys = (const char *)digits.keys + digits.count * key_bytes;
    }
}

static table_status digit_counts(const struct scan *scan, const struct digit_pass *pass,
                                 const struct table_view *counters, void *workspace) {
    const struct counting counting = {.pass = pass, .counters = counters, .workspace = workspace};
    struct jobs jobs = {.work = count_chunk, .context = &counting, .count = pass->chunks};
    return jobs_run(&jobs, scan->threads);
}

/* Keys of a first look, which nearly always shows that keys which are not in order are not. */
enum { KEYS_AT_FIRST = 1 << 10 };

struct looking {
    const struct digit_pass *pass;
    atomic_bool descends;
};

static bool do_ascend(const struct digit_pass *pass, size_t begin, size_t count) {
    const size_t left = pass->keys.rows - begin;
    const struct key_digits digits = {.keys = (const char *)pass->keys.data + begin * table_type_size(pass->keys.type),
                                      .count = left < count ? left : count,
                                      .flip = key_flip(pass->keys.type, pass->descending),
                                      .shift = pass->first_bit,
                                      .bits = pass->bits};
    return isa_kernels_in_use()->keys->ascend[pass->keys.type](&digits);
}

static void look_at_some(const struct jobs *jobs, size_t number, unsigned thread) {
    struct looking *looking = (struct looking *)(uintptr_t)jobs->context;
    (void)thread;
    const size_t keys = key_limits.chunk; /* and the first one after them */
    if (!atomic_load(&looking->descends) && !do_ascend(looking->pass, number * keys, keys + 1))
        atomic_store(&looking->descends, true);
}

static table_status digit_order(const struct scan *scan, const struct digit_pass *pass, bool *ascends) {
    struct looking looking = {.pass = pass};
    struct jobs jobs = {
        .work = look_at_some, .context = &looking, .count = divide_up(pass->keys.rows, key_limits.chunk)};
    *ascends = do_ascend(pass, 0, KEYS_AT_FIRST);
    if (!*ascends)
        return TABLE_OK;
    const table_status status = jobs_run(&jobs, scan->threads);
    *ascends = !atomic_load(&looking.descends);
    return status;
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
    char *memory = scattering->workspace + thread * scatter_bytes(pass);
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

static table_status digit_scatter(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move,
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

static table_status digit_fill(const struct scan *scan, const struct digit_pass *pass, const struct digit_move *move) {
    const struct scattering scattering = {.pass = pass, .move = move};
    struct jobs jobs = {.work = fill_some, .context = &scattering, .count = divide_up(pass->keys.rows, keys_of_fill())};
    return jobs_run(&jobs, scan->threads);
}

enum { VALUES_PER_JOB = 1 << 16 };

static void gather_some(const struct jobs *jobs, size_t number, unsigned thread) {
    const struct gather *gather = jobs->context;
    const size_t begin = number * VALUES_PER_JOB, left = gather->count - begin, bytes = gather->value_bytes;
    const size_t end = begin + (left < VALUES_PER_JOB ? left : VALUES_PER_JOB);
    (void)thread;
    for (size_t i = begin; i < end; i++) {
        const uint64_t from =
            gather->order_bytes == 4 ? ((const uint32_t *)gather->order)[i] : ((const uint64_t *)gather->order)[i];
        memcpy((char *)gather->to + i * bytes, (const char *)gather->from + from * bytes, bytes);
    }
}

static table_status gather(const struct scan *scan, const struct gather *order) {
    struct jobs jobs = {.work = gather_some, .context = order, .count = divide_up(order->count, VALUES_PER_JOB)};
    return jobs_run(&jobs, scan->threads);
}

const struct key_backend key_backend_cpu = {
    .chunk_length = chunk_length,
    .digit_workspace = digit_workspace,
    .digit_counts = digit_counts,
    .digit_scatter = digit_scatter,
    .digit_order = digit_order,
    .digit_fill = digit_fill,
    .gather = gather,
    .histogram_workspace = cpu_histogram_workspace,
    .histogram = cpu_histogram,
};
