/* Digit counts: every chunk into its row of the counter table, in any order. */
#include <string.h>

#include "checked.h"
#include "cpu/isa.h"
#include "interrupt.h"
#include "key_kernels.h"
#include "pipelines.h"
#include "pool.h"

struct key_limits key_limits = {.chunk = 1 << 16, .lines = 4 << 20, .crowd = 24};

/* So that a thread that is kept from its work holds up the others less. */
enum { CHUNKS_PER_THREAD = 4 };

size_t cpu_chunk_length(const struct scan *scan, size_t keys) {
    const size_t useful = divide_up(keys, key_limits.chunk);
    const size_t wanted = scan->threads > 1 ? (size_t)jobs_threads(scan->threads, useful) * CHUNKS_PER_THREAD : 1;
    return divide_up(keys, useful < wanted ? useful : wanted);
}

static size_t counters_of(const struct digit_pass *pass) {
    return (size_t)pass->digits * key_tables(pass->bits, pass->digits) << pass->bits;
}

size_t cpu_digit_counts_bytes(const struct digit_pass *pass) {
    return round_up(counters_of(pass) * sizeof(uint32_t), KEY_LINE);
}

size_t cpu_digit_workspace(const struct scan *scan, const struct digit_pass *pass) {
    const size_t counts = cpu_digit_counts_bytes(pass), scatter = pass->is_moved ? cpu_digit_scatter_bytes(pass) : 0;
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
    uint32_t *tables = (uint32_t *)(void *)(counting->workspace + thread * cpu_digit_counts_bytes(pass));
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

table_status cpu_digit_counts(const struct scan *scan, const struct digit_pass *pass, const struct table_view *counters,
                              void *workspace) {
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
    const size_t keys = key_limits.chunk; /* and the first one behind them */
    if (!atomic_load(&looking->descends) && !do_ascend(looking->pass, number * keys, keys + 1))
        atomic_store(&looking->descends, true);
}

table_status cpu_digit_order(const struct scan *scan, const struct digit_pass *pass, bool *ascends) {
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
