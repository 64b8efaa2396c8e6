#include "plan.h"

#include <string.h>

#include <tuplescan/stages.h>

#include "status.h"
#include "views.h"

size_t table_seeds_rows(table_type type, size_t rows, size_t columns) {
    return columns > 0 && table_sum_type(type) != 0 ? divide_up(rows, TABLE_UNIT_ROWS) + 1 : 0;
}

void plan_chunks(struct scan *scan) {
    const size_t before = scan->state && scan->element->ordered ? scan->first_row % TABLE_UNIT_ROWS : 0;
    scan->chunk_rows = TABLE_UNIT_ROWS;
    scan->chunks = scan->in.rows > 0 && scan->in.columns > 0 ? divide_up(before + scan->in.rows, TABLE_UNIT_ROWS) : 0;
}

/* Down to a level of one unit. */
static void place_levels(struct plan *plan, struct layout *layout, const struct scan *scan, size_t row_bytes) {
    size_t rows = scan->in.rows, units;
    if (plan->strategy == TABLE_STRATEGY_HOST) {
        size_t bytes;
        layout->too_large =
            layout->too_large || !checked_multiply(divide_up(rows, TABLE_UNIT_ROWS) + 1, row_bytes, &bytes);
        return;
    }
    do {
        units = divide_up(rows, TABLE_UNIT_ROWS);
        rows = units + 1;
        plan->level_offset[plan->levels++] = layout_place(layout, rows, row_bytes);
    } while (units > 1);
}

bool plan_reaches(const struct backend *backend, const struct scan *scan, const void *memory) {
    const int device = backend->copy_rows && memory ? backend_device_of(memory) : -1;
    return !backend->copy_rows || !memory || (device >= 0 && device == backend_device_of(scan->in.data));
}

void plan_list_named(const struct scan *scan, size_t carries, struct plan_memory named[NAMED_MOST]) {
    const struct scan_factors *factors = &scan->factors;
    const table_type type = scan->element->type;
    const size_t carried = scan->in.columns * carries, state = scan->state ? scan_state_bytes(scan) : 0;
    const size_t first = factors->per_column ? carried : carries;
    const struct plan_memory all[NAMED_MOST] = {
        [NAMED_CARRY_IN] = {"options->carry_in", scan->carry_in, carried, type, false, false},
        [NAMED_CARRY_OUT] = {"options->carry_out", scan->carry_out, carried, type, true, false},
        [NAMED_FIRST_OVERFLOW] = {"options->first_overflow", scan->first_overflow, 1, TABLE_U64, true, false},
        [NAMED_NANS] = {"options->skipped", scan->load.nans, 1, TABLE_U64, true, false},
        [NAMED_STATE] = {"options->state", scan->state, state, TABLE_U8, true, false},
        [NAMED_FIRST_COEFFICIENTS] = {"options->first_coefficients", factors->first, first, factors->type, false,
                                      true}};
    memcpy(named, all, sizeof all);
}

void plan_place_named(const struct backend *backend, const struct scan *scan, const struct plan_memory *named,
                      unsigned count, struct layout *layout, struct plan_place *places) {
    for (unsigned i = 0; i < count; i++) {
        const size_t bytes = named[i].count * table_type_size(named[i].type);
        if (!plan_reaches(backend, scan, named[i].memory))
            places[i] = (struct plan_place){layout_place(layout, 1, bytes), bytes};
    }
}

void *plan_named_at(const struct plan_memory *named, const struct plan_place *place, char *workspace) {
    return place->bytes > 0 ? layout_at(workspace, place->offset) : (void *)(uintptr_t)named->memory;
}

table_status plan_move_named(const struct backend *backend, const struct scan *scan, const struct plan_memory *named,
                             const struct plan_place *places, unsigned which, bool back, char *workspace) {
    for (; which != 0; which &= which - 1) {
        const unsigned i = (unsigned)__builtin_ctz(which);
        void *const own = (void *)(uintptr_t)named[i].memory, *const place = layout_at(workspace, places[i].offset);
        if (places[i].bytes > 0)
            TRY(backend->copy(scan, back ? own : place, back ? place : own, places[i].bytes));
    }
    return TABLE_OK;
}

/* Separate stages read and write carries by copies, which cross sides. */
static void place_named(struct plan *plan, struct layout *layout, const struct backend *backend,
                        const struct scan *scan) {
    const bool copies_carries = scan->chunks > 0 && !scan->state && plan->strategy != TABLE_STRATEGY_FUSED;
    const unsigned first = copies_carries ? NAMED_FIRST_OVERFLOW : 0;
    struct plan_memory named[NAMED_MOST];
    plan_list_named(scan, 1, named);
    plan_place_named(backend, scan, named + first, NAMED_MOVED - first, layout, plan->named + first);
}

/* The elements that a sum leaves for its state. In any order a sum goes on from a row, as from a carry, and leaves one;
 * where nothing ends a call halfway, that row is the state's own. */
static void place_state(struct plan *plan, struct layout *layout, const struct backend *backend,
                        const struct scan *scan, size_t row_bytes) {
    plan->state_out_offset = layout_place(layout, 1,
                                          scan->element->ordered ? scan_state_bytes(scan)
                                          : backend->copy_rows   ? 0
                                                                 : row_bytes);
}

static table_strategy choose_strategy(const struct backend *backend, const struct scan *scan, table_strategy wanted,
                                      bool totals_only) {
    const bool goes_on = scan->state && scan->element->ordered;
    const bool by_operators = backend->takes_values && scan->element->operation != TABLE_SUM;
    if ((goes_on && !backend->copy_rows) || scan->element->is_map || by_operators)
        return TABLE_STRATEGY_FUSED; /* the stages know no state, and no table of maps */
    /* Where the host does not know how far a sum is, it cannot know either where the chunks of a fused pass begin. */
    totals_only = totals_only || (goes_on && scan->chunks > 0 && !scan->header_before);
    if (wanted == TABLE_STRATEGY_AUTO)
        wanted =
            !backend->prefers_fused || backend->prefers_fused(scan) ? TABLE_STRATEGY_FUSED : TABLE_STRATEGY_RECURSIVE;
    if (wanted == TABLE_STRATEGY_FUSED && totals_only)
        return TABLE_STRATEGY_RECURSIVE; /* without results there is nothing to fuse */
    return wanted;
}

struct scan plan_rows_scan(const struct scan *scan, size_t first, size_t rows) {
    struct scan some = *scan;
    some.in = view_rows(&scan->in, first, rows);
    some.out = view_rows(&scan->out, first, rows);
    scan_move_factors(&some.factors, first);
    plan_chunks(&some);
    return some;
}

struct scan plan_sums_scan(const struct scan *scan, void *sums, size_t rows) {
    const struct table_view view = {.data = sums,
                                    .rows = rows,
                                    .columns = scan->in.columns,
                                    .stride = (ptrdiff_t)scan->in.columns,
                                    .type = scan->element->type};
    struct scan inner = *scan;
    inner.in = view;
    inner.out = view;
    inner.exclusive = false;
    scan_reads_sums(&inner);
    inner.state = inner.state_out = NULL;
    plan_chunks(&inner);
    return inner;
}

/* The stages that take the place of a pass which is refused have the same room. */
static void place_work(struct plan *plan, struct layout *layout, const struct backend *backend, const struct scan *scan,
                       size_t row_bytes) {
    struct scan stateless;
    const struct scan *pass = scan;
    bool may_be_refused = true;
    if (scan->state && !scan->element->ordered) { /* the pass is from row to row */
        stateless = *scan;
        stateless.state = NULL;
        pass = &stateless;
    }
    plan->fused_offset = layout->bytes;
    if (plan->is_fused) {
        struct layout stages = *layout;
        const bool in_one = plan->strategy == TABLE_STRATEGY_FUSED;
        layout_place(layout, backend->fused_plan(pass, in_one, &plan->pass, &may_be_refused), 1);
        if (may_be_refused)
            place_levels(plan, &stages, scan, row_bytes);
        layout->bytes = stages.bytes > layout->bytes ? stages.bytes : layout->bytes;
        layout->too_large = layout->too_large || stages.too_large;
    } else {
        place_levels(plan, layout, scan, row_bytes);
    }
}

table_status plan_make(const struct backend *backend, const struct scan *scan, table_strategy strategy,
                       bool totals_only, struct plan *plan) {
    const size_t row_bytes = scan_row_bytes(scan);
    struct layout layout = {0};
    memset(plan, 0, offsetof(struct plan, pass));
    plan->strategy = choose_strategy(backend, scan, strategy, totals_only);
    plan->is_fused = plan->strategy == TABLE_STRATEGY_FUSED || (scan->state && scan->element->ordered);
    if (backend->copy_rows && scan_names_memory(scan))
        place_named(plan, &layout, backend, scan);
    if (scan_has_rows_beside(scan))
        plan->row_offset = layout_place(&layout, 2, row_bytes);
    if (scan->state)
        place_state(plan, &layout, backend, scan, row_bytes);
    if (scan->chunks > 0)
        place_work(plan, &layout, backend, scan, row_bytes);
    plan->bytes = layout.bytes;
    return layout.too_large
               ? status_fail(TABLE_ERROR_TOO_LARGE, "the workspace for %zu rows of %zu columns does not fit in memory",
                             scan->in.rows, scan->in.columns)
               : TABLE_OK;
}
