/* All three stages in one pass: every value comes from memory once and goes there once.
 *
 * One thread goes from top to bottom and needs no totals. So do several where the rows are long enough to give each
 * thread columns of its own. Where they are not, a thread takes the next chunk, sums it up, which brings it into the
 * core's cache, makes of its totals and what the chunk before has left the seed of the next chunk (chain.h), hands that
 * on, and only then goes through its own chunk again. The additions are those of one thread. */
#include <sched.h>
#include <string.h>

#include "../checked.h"
#include "../interrupt.h"
#include "chain.h"
#include "entry.h"
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
    pass->is_tiny = cpu_is_tiny(scan);
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

static void scan_columns(struct team *team, struct worker *worker, const struct part *part) {
    panel_scan(worker, team->division, part);
}

/* False when those who would hand them on may have ended before. */
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
        cpu_scan_tiny(scan);
        return TABLE_OK;
    }
    struct division division = division_for(&pass->division, scan);
    if (scan->state) {
        entry = entry_make(scan);
        division.entry = &entry;
    }
    struct team team = {.division = &division, .memory = workspace};
    team.work = division.kind == DIVISION_COLUMNS ? scan_columns : scan_chunk;
    if (scan->first_overflow)
        *scan->first_overflow = TABLE_NO_OVERFLOW;
    return division.kind == DIVISION_CACHED ? run_cached(&team, workspace) : team_run(&team);
}
