/* Histograms: every chunk into its row, in any order. The bins of a block of values are found first, all together, and
 * counted then. */
#include <string.h>

#include "checked.h"
#include "cpu/isa.h"
#include "interrupt.h"
#include "key_kernels.h"
#include "pool.h"

/* Bins up to which several tables fit in a first cache, and up to which several chunks' sums fit in a second one. */
enum { BINS_IN_TABLES = 2048, BINS_IN_CHUNKS = 8192 };

struct filling {
    const struct histogram_pass *pass;
    const struct cpu_key_kernels *kernels;
    struct bin_search search;
    bool by_bytes;       /* whole blocks are counted as bytes */
    unsigned digit_bits; /* the bins are this many top bits of the values; 0: they are not */
    unsigned tables;     /* counters: taken in turns */
    size_t pitch;        /* counters, or sums, in one table */
    unsigned group;      /* weights: chunks taken in turns */
    char *workspace;
    size_t thread_bytes;
};

static struct filling filling_of(const struct histogram_pass *pass) {
    const bool bytes_alone =
        pass->values.type == TABLE_U8 && !pass->weights.data; /* what bins they are in is looked up */
    struct filling filling = {
        .pass = pass, .search = {pass->bins, pass->even}, .digit_bits = bytes_alone ? 8 : pass->digit_bits, .group = 1};
    const size_t bins = pass->bins.count + TABLE_OUTSIDE_WORDS;
    size_t bytes;
    filling.pitch = round_up(bins, KEY_LINE);
    if (pass->weights.data) {
        filling.group = bins <= BINS_IN_CHUNKS ? BIN_CHUNKS : 1;
        bytes = filling.group * filling.pitch * table_type_size(pass->result.type);
    } else {
        filling.tables = bins <= BINS_IN_TABLES ? BIN_TABLES : 1;
        if (filling.digit_bits > 0) {
            filling.tables = key_tables(filling.digit_bits, 1);
            filling.pitch = (size_t)1 << filling.digit_bits;
        }
        bytes = filling.tables * filling.pitch * sizeof(uint32_t);
    }
    filling.thread_bytes = round_up(bytes, KEY_LINE);
    return filling;
}

size_t cpu_histogram_workspace(const struct scan *scan, const struct histogram_pass *pass) {
    return jobs_threads(scan->threads, pass->chunks) * filling_of(pass).thread_bytes;
}

static const char *value_at(const struct table_view *view, size_t index) {
    return (const char *)view->data + index * table_type_size(view->type);
}

static char *row_at(const struct histogram_pass *pass, size_t chunk) {
    return (char *)pass->result.data + chunk * pass->result.stride * table_type_size(pass->result.type);
}

static size_t chunk_count(const struct histogram_pass *pass, size_t chunk) {
    const size_t left = pass->values.rows - chunk * pass->chunk_length;
    return left < pass->chunk_length ? left : pass->chunk_length;
}

static void add_outside(const struct histogram_pass *pass, const uint64_t outside[TABLE_OUTSIDE_WORDS]) {
    for (unsigned i = 0; i < TABLE_OUTSIDE_WORDS; i++)
        if (outside[i] > 0)
            __atomic_fetch_add(&pass->outside[i], outside[i], __ATOMIC_RELAXED);
}

/* Whole blocks of values into the first table. Returns how many values these are. */
static size_t count_bytes(const struct filling *filling, const char *values, size_t count, uint32_t *table) {
    const struct table_bins *bins = &filling->pass->bins;
    const struct cpu_key_kernels *kernels = filling->kernels;
    const table_type type = filling->pass->values.type;
    const size_t blocks = count / BYTE_BLOCK, block_bytes = BYTE_BLOCK * table_type_size(type);
    uint64_t outside[TABLE_OUTSIDE_WORDS] = {0};
    _Alignas(KEY_LINE) uint8_t bytes[BYTE_BLOCK];
    for (size_t block = 0; block < blocks; block++, values += block_bytes) {
        kernels->find_bytes[type](&filling->search.even, values, bytes, outside);
        kernels->count_bytes(bytes, (unsigned)bins->count, table, values + (block + 1 < blocks ? block_bytes : 0),
                             block_bytes);
    }
    for (unsigned i = 0; i < TABLE_OUTSIDE_WORDS; i++) {
        table[0] -= (uint32_t)outside[i];
        table[bins->count + i] += (uint32_t)outside[i];
    }
    return blocks * BYTE_BLOCK;
}

/* Counts `count` values into the thread's tables. */
static void count_values(const struct filling *filling, const char *values, size_t count, uint32_t *tables) {
    const struct histogram_pass *pass = filling->pass;
    const size_t size = table_type_size(pass->values.type), pitch = filling->tables > 1 ? filling->pitch : 0;
    _Alignas(KEY_LINE) uint32_t bins[BIN_BLOCK];
    if (filling->digit_bits > 0) {
        const struct key_digits digits = {.keys = values,
                                          .count = count,
                                          .flip = key_flip(pass->values.type, false),
                                          .shift = 8 * (unsigned)size - filling->digit_bits,
                                          .bits = filling->digit_bits,
                                          .digits = 1};
        filling->kernels->count[pass->values.type](&digits, tables);
        return;
    }
    for (size_t done = filling->by_bytes ? count_bytes(filling, values, count, tables) : 0; done < count;) {
        const size_t some = count - done < BIN_BLOCK ? count - done : BIN_BLOCK;
        const size_t left = count - done - some, next = left < BIN_BLOCK ? left : BIN_BLOCK;
        filling->kernels->find[pass->values.type][pass->bins.kind](&filling->search, values + done * size, some, bins);
        done += some;
        for (size_t line = 0; line < next * size; line += KEY_LINE)
            __builtin_prefetch(values + done * size + line); /* or memory would rest while bins are counted */
        filling->kernels->add_ones(tables, pitch, bins, some);
    }
}

/* A counter for each of the 256 values of a byte, to the bins of those values. */
static void add_bytes(const struct filling *filling, char *row, const uint32_t *tables, uint64_t *outside) {
    const struct histogram_pass *pass = filling->pass;
    uint32_t bins[256], count;
    uint8_t values[256];
    for (unsigned i = 0; i < 256; i++)
        values[i] = (uint8_t)i;
    filling->kernels->find[TABLE_U8][pass->bins.kind](&filling->search, values, 256, bins);
    for (unsigned i = 0; i < 256; i++) {
        count = 0;
        for (unsigned table = 0; table < filling->tables; table++)
            count += tables[table * filling->pitch + i];
        if (bins[i] >= pass->bins.count)
            outside[bins[i] - pass->bins.count] += count;
        else
            cpu_add_counters(row + bins[i] * table_type_size(pass->result.type), pass->result.type, &count, 1, 1, 1);
    }
}

static void add_tables(const struct filling *filling, char *row, const uint32_t *tables, uint64_t *outside) {
    const struct histogram_pass *pass = filling->pass;
    if (pass->values.type == TABLE_U8) {
        add_bytes(filling, row, tables, outside);
        return;
    }
    cpu_add_counters(row, pass->result.type, tables, filling->tables, filling->pitch, pass->bins.count);
    for (unsigned table = 0; filling->digit_bits == 0 && table < filling->tables; table++)
        for (unsigned i = 0; i < TABLE_OUTSIDE_WORDS; i++)
            outside[i] += tables[table * filling->pitch + pass->bins.count + i];
}

static void count_chunk(const struct jobs *jobs, size_t number, unsigned thread) {
    const struct filling *filling = jobs->context;
    const struct histogram_pass *pass = filling->pass;
    uint32_t *tables = (uint32_t *)(void *)(filling->workspace + thread * filling->thread_bytes);
    uint64_t outside[TABLE_OUTSIDE_WORDS] = {0};
    char *row = row_at(pass, number);
    const size_t count = chunk_count(pass, number);
    memset(row, 0, pass->bins.count * table_type_size(pass->result.type));
    for (size_t done = 0; done < count && !interrupt_came();) {
        const size_t some = count - done < KEYS_AT_ONCE ? count - done : KEYS_AT_ONCE;
        memset(tables, 0, filling->thread_bytes);
        count_values(filling, value_at(&pass->values, number * pass->chunk_length + done), some, tables);
        add_tables(filling, row, tables, outside);
        done += some;
    }
    add_outside(pass, outside);
}

/* Up to BIN_CHUNKS chunks, a block of each in turns. Those that are not there, or that end before the others, are left
 * out. */
struct chunks {
    void *sums[BIN_CHUNKS];
    uint32_t *bins[BIN_CHUNKS];
    const void *weights[BIN_CHUNKS];
};

static void find_block(const struct filling *filling, size_t first, size_t some, uint32_t *bins, uint64_t *outside) {
    const struct histogram_pass *pass = filling->pass;
    const uint32_t inside = (uint32_t)pass->bins.count;
    filling->kernels->find[pass->values.type][pass->bins.kind](&filling->search, value_at(&pass->values, first), some,
                                                               bins);
    for (size_t i = 0; i < some; i++)
        for (unsigned word = 0; word < TABLE_OUTSIDE_WORDS; word++)
            outside[word] += bins[i] == inside + word;
}

static void weigh_chunks(const struct filling *filling, size_t first_chunk, unsigned chunks, size_t from, size_t to,
                         char *sums, uint64_t *outside) {
    const struct histogram_pass *pass = filling->pass;
    const size_t table_bytes = filling->pitch * table_type_size(pass->result.type);
    const unsigned types = pass->weights.type == TABLE_F64 ? 2 : pass->result.type == TABLE_F64 ? 1 : 0;
    bin_add *add = (chunks == BIN_CHUNKS ? filling->kernels->add_weights : filling->kernels->add_weights_alone)[types];
    _Alignas(KEY_LINE) uint32_t bins[BIN_CHUNKS][BIN_BLOCK];
    for (size_t done = from; done < to && !(done % KEYS_AT_ONCE == 0 && interrupt_came());) {
        const size_t some = to - done < BIN_BLOCK ? to - done : BIN_BLOCK;
        struct chunks work = {0};
        for (unsigned c = 0; c < chunks; c++) {
            const size_t first = (first_chunk + c) * pass->chunk_length + done;
            find_block(filling, first, some, bins[c], outside);
            work.sums[c] = sums + c * table_bytes;
            work.bins[c] = bins[c];
            work.weights[c] = value_at(&pass->weights, first);
        }
        add(work.sums, work.bins, work.weights, some);
        done += some;
    }
}

static void weigh_group(const struct jobs *jobs, size_t number, unsigned thread) {
    const struct filling *filling = jobs->context;
    const struct histogram_pass *pass = filling->pass;
    const size_t first = number * filling->group, left = pass->chunks - first;
    const size_t size = table_type_size(pass->result.type), table_bytes = filling->pitch * size;
    const unsigned chunks = left < filling->group ? (unsigned)left : filling->group;
    char *sums = filling->workspace + thread * filling->thread_bytes;
    uint64_t outside[TABLE_OUTSIDE_WORDS] = {0};
    size_t together = 0;
    memset(sums, 0, chunks * table_bytes); /* all bits zero are +0.0 */
    if (chunks == BIN_CHUNKS) {
        together = chunk_count(pass, first + chunks - 1);
        weigh_chunks(filling, first, chunks, 0, together, sums, outside);
    }
    for (unsigned c = 0; c < chunks; c++) {
        weigh_chunks(filling, first + c, 1, together, chunk_count(pass, first + c), sums + c * table_bytes, outside);
        memcpy(row_at(pass, first + c), sums + c * table_bytes, pass->bins.count * size);
    }
    add_outside(pass, outside);
}

table_status cpu_histogram(const struct scan *scan, const struct histogram_pass *pass, void *workspace) {
    struct filling filling = filling_of(pass);
    filling.kernels = isa_kernels_in_use()->keys;
    filling.by_bytes = pass->bins.kind == TABLE_BINS_EVEN && pass->bins.count <= BYTE_BINS && !pass->weights.data &&
                       filling.kernels->find_bytes[pass->values.type];
    filling.workspace = workspace;
    struct jobs jobs = {.work = pass->weights.data ? weigh_group : count_chunk,
                        .context = &filling,
                        .count = divide_up(pass->chunks, filling.group)};
    return jobs_run(&jobs, scan->threads);
}
