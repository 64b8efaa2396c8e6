/* All three stages in one pass: every value comes from memory once and goes there once.
 *
 * One thread goes from top to bottom and needs no totals. So do several where the rows are long enough to give each
 * thread columns of its own. Where they are not, a thread takes the next chunk, sums it up, which brings it into the
 * core's cache, adds its totals to the seed that the chunk before has left, hands the sum on to the next chunk, and
 * only then goes through its own chunk again. The order of the additions is that of one thread. */
#include <sched.h>
#include <string.h>

#include "../checked.h"
#include "../fold.h"
#include "stages.h"
#include "team.h"

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

static struct division divide(const struct scan *scan, enum division_kind *kind) {
    const size_t row_bytes = scan->in.columns * table_type_size(scan->out.type);
    unsigned threads = division_threads(scan);
    const bool long_rows = row_bytes / COLUMN_BYTES_PER_THREAD >= threads;
    if (!long_rows && threads < CACHED_THREADS_LEAST)
        threads = 1;
    *kind = threads == 1 || long_rows ? DIVISION_COLUMNS : DIVISION_CACHED;
    return division_make(scan, *kind, threads);
}

/* The workspace: the workers' memory; and for chunks in a cache the row of sums and the progress of each panel. */
static size_t sums_bytes(const struct division *division) {
    const size_t row_bytes = division->scan->in.columns * division->value_bytes;
    return divide_up(row_bytes, CPU_ALIGNMENT) * CPU_ALIGNMENT;
}

static size_t shared_bytes(const struct division *division) {
    return sums_bytes(division) + division->panels * sizeof(struct progress);
}

/* Separate stages read everything twice. */
bool cpu_prefers_fused(const struct scan *scan) {
    (void)scan;
    return true;
}

size_t cpu_fused_workspace(const struct scan *scan, bool *may_be_refused) {
    *may_be_refused = false;
    enum division_kind kind;
    const struct division division = divide(scan, &kind);
    const size_t shared = kind == DIVISION_CACHED ? shared_bytes(&division) : 0;
    return shared + division.threads * division.worker_bytes;
}

static void only_total(struct worker *worker, const struct division *division, const struct unit *unit) {
    struct unit chunk = *unit;
    for (size_t done = 0; done < unit->rows; done += chunk.rows) {
        chunk.first_row = unit->first_row + done;
        chunk.rows = unit->rows - done;
        if (chunk.rows > division->scan->chunk_rows)
            chunk.rows = division->scan->chunk_rows;
        worker_totals(worker, division, &chunk);
        fold_row(worker->totals, worker->sums, unit->columns, division->scan->out.type);
    }
}

static void scan_columns(struct team *team, struct worker *worker, const struct unit *unit) {
    const struct division *division = team->division;
    const struct scan *scan = division->scan;
    const size_t bytes = unit->columns * division->value_bytes;
    if (scan->carry_in)
        memcpy(worker->sums, division_sums(division, scan->carry_in, 0, unit), bytes);
    else
        memset(worker->sums, 0, bytes);
    if (division->scan->out.data)
        worker_scan(worker, division, unit);
    else
        only_total(worker, division, unit);
    if (scan->carry_out)
        memcpy(division_sums(division, scan->carry_out, 0, unit), worker->sums, bytes);
}

static void wait_for(atomic_size_t *chunks, size_t wanted) {
    for (unsigned spins = 0; atomic_load_explicit(chunks, memory_order_acquire) != wanted; spins++)
        if (spins >= SPINS)
            sched_yield();
}

/* The row of sums belongs to whoever does the chunk that `progress` names. */
static void scan_chunk(struct team *team, struct worker *worker, const struct unit *unit) {
    const struct division *division = team->division;
    const size_t bytes = unit->columns * division->value_bytes;
    struct progress *progress = (struct progress *)team->progress + unit->panel;
    char *sums = division_sums(division, team->seeds, 0, unit);
    worker_totals(worker, division, unit);
    wait_for(&progress->chunks, unit->chunk);
    memcpy(worker->sums, sums, bytes);
    fold_row(worker->totals, sums, unit->columns, division->scan->out.type);
    atomic_store_explicit(&progress->chunks, unit->chunk + 1, memory_order_release);
    if (division->scan->out.data)
        worker_scan(worker, division, unit);
}

/* The row of sums goes from the carry in to the carry out. */
static void run_cached(struct team *team, char *workspace) {
    const struct division *division = team->division;
    const struct scan *scan = division->scan;
    const size_t row_bytes = scan->in.columns * division->value_bytes;
    struct progress *progress = (void *)(workspace + sums_bytes(division));
    team->seeds = workspace;
    team->progress = progress;
    team->memory = workspace + shared_bytes(division);
    for (size_t panel = 0; panel < division->panels; panel++)
        atomic_init(&progress[panel].chunks, 0);
    if (scan->carry_in)
        memcpy(workspace, scan->carry_in, row_bytes);
    else
        memset(workspace, 0, row_bytes);
    team_run(team);
    if (scan->carry_out)
        memcpy(scan->carry_out, workspace, row_bytes);
}

table_status cpu_fused(const struct scan *scan, void *workspace) {
    enum division_kind kind;
    const struct division division = divide(scan, &kind);
    struct team team = {.division = &division, .kind = kind, .memory = workspace};
    team.work = kind == DIVISION_COLUMNS ? scan_columns : scan_chunk;
    if (scan->first_overflow)
        *scan->first_overflow = TABLE_NO_OVERFLOW;
    if (kind == DIVISION_CACHED)
        run_cached(&team, workspace);
    else
        team_run(&team);
    return TABLE_OK;
}
