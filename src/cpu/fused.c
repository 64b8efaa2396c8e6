/* All three stages in one pass: every value comes from memory once and goes there once.
 *
 * One thread goes from top to bottom and needs no totals. So do several where the rows are long enough to give each
 * thread columns of its own. Where they are not, a thread takes the next chunk, sums it up, which brings it into the
 * core's cache, makes of its totals and what the chunk before has left the seed of the next chunk (the chain), hands
 * that on, and only then goes through its own chunk again. The additions are the same as by one thread. */
#include <sched.h>
#include <string.h>

#include "../checked.h"
#include "../interrupt.h"
#include "../tree.h"
#include "../views.h"
#include "entry.h"
#include "stages.h"
#include "team.h"

/* The chain is what threads hand on from chunk to chunk: the seed of the next one, and the totals of blocks of chunks
 * that later seeds are made of.
 *
 * Ordered elements have for each binary digit of the number of chunks the total of the digit's block, and the seed
 * through that digit: of the chunk whose number has no lower digits. */
enum { CHAIN_SEED, CHAIN_LAST, CHAIN_START, CHAIN_LEVELS };

static size_t count_levels(const struct division *division) {
    size_t levels = 0;
    if (division->scan->state)
        return ENTRY_LEVELS;
    for (size_t chunks = division->element->ordered ? division->chunks : 0; chunks > 0; chunks /= 2)
        levels++;
    return levels;
}

/* Rows of elements, of all columns side by side. */
static size_t chain_rows(const struct division *division) {
    return division->element->ordered ? CHAIN_LEVELS + 2 * count_levels(division) : 1;
}

/* A sum that goes on has blocks of chunks from the beginning. */
static void go_on(char *chain, const struct division *division) {
    const struct entry *const entry = division->entry;
    const struct scan *scan = division->scan;
    const size_t row_bytes = scan_row_bytes(scan);
    const unsigned chunk = division_chunk_levels(division);
    memcpy(chain + CHAIN_START * row_bytes, entry->start, row_bytes);
    memcpy(chain + CHAIN_LAST * row_bytes, entry->above, row_bytes);
    entry_put_seed(entry, scan, chunk, chain + CHAIN_SEED * row_bytes);
    for (uint64_t digits = entry->unit >> chunk; digits != 0; digits &= digits - 1) {
        const unsigned level = (unsigned)__builtin_ctzll(digits);
        char *const total = chain + (CHAIN_LEVELS + 2 * level) * row_bytes;
        memcpy(total, tree_level(&entry->blocks, chunk + level), row_bytes);
        entry_put_seed(entry, scan, chunk + level, total + row_bytes);
    }
}

/* The blocks that the last chunk has before it. */
static void leave(const char *chain, const struct division *division) {
    const struct scan *scan = division->scan;
    const size_t row_bytes = scan_row_bytes(scan);
    const unsigned chunk = division_chunk_levels(division);
    tree_copy_levels(state_row(scan->state_out, row_bytes, STATE_BLOCKS + chunk), row_bytes,
                     chain + CHAIN_LEVELS * row_bytes, 2 * row_bytes, entry_last_unit(scan) >> chunk, row_bytes);
}

/* The chain leads from the carry in, before the first chunk, to the carry out, after the last. */
static void chain_begin(char *chain, const struct division *division) {
    const struct scan *scan = division->scan;
    const size_t row_bytes = scan_row_bytes(scan);
    const size_t rows = division->element->ordered ? CHAIN_LEVELS : 1;
    if (division->entry) {
        go_on(chain, division);
        return;
    }
    for (size_t row = 0; row < rows; row++) {
        if (scan->carry_in)
            memcpy(chain + row * row_bytes, scan->carry_in, row_bytes);
        else
            element_fill(division->element, chain + row * row_bytes, division->element->start, scan->in.columns);
    }
}

static void chain_end(const char *chain, const struct division *division) {
    const size_t row_bytes = scan_row_bytes(division->scan);
    if (division->scan->carry_out)
        memcpy(division->scan->carry_out, chain + (division->element->ordered ? CHAIN_LAST : CHAIN_SEED) * row_bytes,
               row_bytes);
    if (division->entry)
        leave(chain, division);
}

/* seed(next) = seed(next without its lowest digit) + T(block of that digit). */
static void make_seed(char *chain, struct worker *worker, const struct division *division, const struct part *part,
                      uint64_t next) {
    const size_t bytes = division_part_bytes(division, part);
    const struct tree totals = {.element = division->element,
                                .of_units = true,
                                .columns = part->columns,
                                .levels = division_sums(division, chain, CHAIN_LEVELS, part),
                                .pitch = 2 * scan_row_bytes(division->scan)};
    const size_t level = tree_push(&totals, next - 1, worker->sums);
    const uint64_t above = next & (next - 1);
    const size_t base = above ? CHAIN_LEVELS + 2 * (size_t)__builtin_ctzll(above) + 1 : CHAIN_START;
    char *const total = division_sums(division, chain, CHAIN_LEVELS + 2 * level, part);
    char *const seed = division_sums(division, chain, CHAIN_LEVELS + 2 * level + 1, part);
    memcpy(total, worker->sums, bytes);
    division->element->combine(seed, division_sums(division, chain, base, part), total, part->columns);
    memcpy(division_sums(division, chain, CHAIN_SEED, part), seed, bytes);
}

/* How many chunks come before the table's first one. */
static uint64_t first_chunk(const struct division *division) {
    return division->entry ? division->entry->unit >> division_chunk_levels(division) : 0;
}

/* By the worker that has summed up the chunk, its total in worker->sums, when the chunk before was handed on: takes the
 * chunk's seed as worker->start and, for exclusive sums, the inclusive sums of the row before as worker->above, and
 * puts the rows of the next chunk into their place. */
static void chain_hand_on(char *chain, struct worker *worker, const struct division *division,
                          const struct part *part) {
    const size_t bytes = division_part_bytes(division, part);
    char *const seed = division_sums(division, chain, CHAIN_SEED, part);
    memcpy(worker->start, seed, bytes);
    if (!division->element->ordered) {
        division->element->combine(seed, seed, worker->sums, part->columns);
        return;
    }
    const bool ends = part->chunk + 1 == division->chunks;
    char *const last = division_sums(division, chain, CHAIN_LAST, part);
    if (division->scan->exclusive)
        memcpy(worker->above, last, bytes);
    if (division->scan->exclusive || ends) {
        memcpy(last, worker->start, bytes);
        worker_add_rows(worker, division, part, last);
    }
    if (!ends)
        make_seed(chain, worker, division, part, first_chunk(division) + part->chunk + 1);
}

/* How many chunks of a panel have handed on their sums; each in a line of its own. */
struct progress {
    _Alignas(CPU_ALIGNMENT) atomic_size_t chunks;
};

/* Times to look before giving the processor to others. */
enum { SPINS = 2000 };

/* Bytes of a row that make it worth to give each thread columns of its own. And the threads below which going through
 * everything twice is not worth it: two took between 0.9 and 1.2 times as long as one (64 MiB, 1 to 64 columns, AMD Zen
 * 5, where one is close to what the memory can do), and several times as long when other processes took their turn. */
enum { COLUMN_BYTES_PER_THREAD = 1024, CACHED_THREADS_LEAST = 3 };

/* A call for 4 x 3 values of f32 takes 165 ns by the kernel for tiny tables, which is made for many of them, and 240 ns
 * otherwise; for 24 values both take as long (Intel Xeon with AVX-512, one thread). */
enum { LONE_VALUES = 16 };

/* Whether one table has so few values, and so few wishes, that it needs no workspace: by its shape and the options,
 * wherever it lies. */
static bool is_tiny(const struct scan *scan) {
    const ptrdiff_t columns = (ptrdiff_t)scan->in.columns;
    return scan->in.rows > 0 && !scan->element->is_map && scan->in.rows * scan->in.columns <= LONE_VALUES &&
           scan->in.type == scan->out.type && scan->out.type == scan->element->type && scan->in.stride == columns &&
           scan->out.stride == columns && scan->out.data && scan_is_plain(scan) && !scan->state;
}

static void scan_tiny(const struct scan *scan) {
    const struct cpu_tiny tiny = {.rows = scan->in.rows, .columns = scan->in.columns, .exclusive = scan->exclusive};
    const size_t bytes = tiny.rows * tiny.columns * table_type_size(scan->out.type);
    uint64_t from[LONE_VALUES], to[LONE_VALUES];
    const void *in = scan->in.data;
    void *const out = view_is_aligned(scan->out.data, scan->out.type) ? scan->out.data : to;
    if (!view_is_aligned(in, scan->in.type))
        in = memcpy(from, in, bytes);
    isa_kernels_in_use()->elements[scan->element->id]->tiny(&tiny, in, out, scan->carry_in, scan->carry_out, 1);
    if (out == to)
        memcpy(scan->out.data, to, bytes);
}

/* What a backend_pass holds here. */
struct pass {
    bool is_tiny;
    struct division division;
};
_Static_assert(sizeof(struct pass) <= sizeof(struct backend_pass), "a division has room in a plan");

/* The workspace: the workers' memory; and for chunks in a cache the sums that are handed on and the progress of each
 * panel. */
static size_t sums_bytes(const struct division *division) {
    const size_t row_bytes = scan_row_bytes(division->scan);
    return round_up(chain_rows(division) * row_bytes, CPU_ALIGNMENT);
}

static size_t shared_bytes(const struct division *division) {
    return sums_bytes(division) + division->panels * sizeof(struct progress);
}

size_t cpu_fused_plan(const struct scan *scan, bool in_one, struct backend_pass *own, bool *may_be_refused) {
    struct pass *const pass = (void *)own;
    (void)in_one;
    *may_be_refused = false;
    pass->is_tiny = is_tiny(scan);
    if (pass->is_tiny)
        return 0;
    unsigned threads = division_threads(scan);
    const bool long_rows = scan_row_bytes(scan) / COLUMN_BYTES_PER_THREAD >= threads;
    if (!long_rows && threads < CACHED_THREADS_LEAST)
        threads = 1;
    pass->division = division_make(scan, threads == 1 || long_rows ? DIVISION_COLUMNS : DIVISION_CACHED, threads);
    const size_t shared = pass->division.kind == DIVISION_CACHED ? shared_bytes(&pass->division) : 0;
    return shared + pass->division.threads * pass->division.worker_bytes;
}

/* False when the threads that would hand them on may have ended before. */
static bool wait_for(atomic_size_t *chunks, size_t wanted) {
    for (unsigned spins = 0; atomic_load_explicit(chunks, memory_order_acquire) != wanted; spins++)
        if (spins >= SPINS) {
            if (interrupt_came())
                return false;
            sched_yield();
        }
    return true;
}

static void begin_chunk(struct worker *worker, const struct division *division, const struct part *part,
                        const void *start, const void *above) {
    worker_begin(worker, division, part, start, above);
    if (division->entry && part->chunk == 0)
        entry_begin(division->entry, worker, division, part, division_chunk_levels(division));
}

/* The sums that are handed on belong to whoever does the chunk that `progress` names. */
static void scan_chunk(struct team *team, struct worker *worker, const struct part *part) {
    const struct division *division = team->division;
    struct progress *progress = (struct progress *)team->progress + part->panel;
    const bool ends = division->entry && part->chunk + 1 == division->chunks;
    begin_chunk(worker, division, part, NULL, NULL);
    worker->keeps = ends;
    worker_take(worker, division, part, false);
    worker_put_total(worker, division, part, worker->sums);
    if (!wait_for(&progress->chunks, part->chunk))
        return;
    chain_hand_on(team->seeds, worker, division, part);
    atomic_store_explicit(&progress->chunks, part->chunk + 1, memory_order_release);
    if (ends)
        entry_leave(worker, division, part, division_chunk_levels(division));
    begin_chunk(worker, division, part, worker->start,
                division->element->ordered && division->scan->exclusive ? worker->above : NULL);
    if (division->scan->out.data)
        worker_take(worker, division, part, true);
}

static table_status run_cached(struct team *team, char *workspace) {
    const struct division *division = team->division;
    struct progress *progress = (void *)(workspace + sums_bytes(division));
    team->seeds = workspace;
    team->progress = progress;
    team->memory = workspace + shared_bytes(division);
    for (size_t panel = 0; panel < division->panels; panel++)
        atomic_init(&progress[panel].chunks, 0);
    chain_begin(workspace, division);
    const table_status status = team_run(team);
    if (status == TABLE_OK)
        chain_end(workspace, division);
    return status;
}

table_status cpu_fused(const struct scan *scan, const struct backend_pass *own, void *workspace) {
    const struct pass *const pass = (const void *)own;
    struct entry entry;
    if (pass->is_tiny) {
        scan_tiny(scan);
        return TABLE_OK;
    }
    struct division division = division_for(&pass->division, scan);
    if (scan->state) {
        entry = entry_make(scan);
        division.entry = &entry;
    }
    struct team team = {.division = &division, .memory = workspace};
    team.work = division.kind == DIVISION_COLUMNS ? NULL : scan_chunk;
    if (scan->first_overflow)
        *scan->first_overflow = TABLE_NO_OVERFLOW;
    return division.kind == DIVISION_CACHED ? run_cached(&team, workspace) : team_run(&team);
}
