#include "division.h"

#include <stdlib.h>

#include "../backend.h"
#include "../checked.h"
#include "../plan.h"
#include "../pool.h"
#include "../views.h"
#include "worker.h"

/* Sizes in bytes, measured on an AMD EPYC of the Zen 5 generation (48 KiB of first-level cache, 1 MiB of second-level),
 * one thread, tables of 64 MiB: 64 to 4096 columns of f32 and f64 take 1.04 times as long as memcpy on average with
 * these, 1.13 with blocks of 8192 and 1.34 with panels of 1024. Results that are written past the caches:
 * docs/lab/2026-11-28.md. */
enum {
    WIDE_PANEL = 2048,
    STREAMED_PANEL = 4096, /* of results that are written past the caches, */
    FAR_APART = 8192,      /* but for rows a multiple of this apart, which share their places in a cache */
    BLOCK = 2048,          /* staged at a time; at least one group of rows: docs/lab/2026-11-27.md */
    CACHED_PANEL = 512,    /* of 512 rows: 256 KiB, for the second-level cache */
    COLUMNS_PANEL = 512,   /* narrower ones are not worth going from top to bottom for */
    CHUNK = 65536,
    STREAM_RUN = 1024,   /* less than this between gaps is not written past the caches: half lines would count */
    ASK_BLOCK = 4 << 20, /* of sums, between two looks at interrupt_came(): a millisecond */
    NUMBER_ROWS = 4 * TABLE_UNIT_ROWS, /* from here on products of one coefficient for all pay for being made */
    CHECK_BLOCK = 65536                /* looked through again when some sum in it is wrong */
};

struct division_limits division_limits = {
    .thread_bytes = (size_t)2 << 20, .stream_bytes = (size_t)24 << 20, .turned_bytes = 2048};

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

unsigned division_threads(const struct scan *scan) {
    const size_t bytes = scan->in.rows * scan->in.columns * table_type_size(scan->element->type);
    if (scan->threads < 2 || bytes < division_limits.thread_bytes)
        return 1;
    const size_t worth = smaller(bytes / division_limits.thread_bytes, POOL_THREADS_MOST);
    if (worth < 2)
        return 1;
    const unsigned most = division_limits.threads ? division_limits.threads : backend_cpu_processors();
    return (unsigned)smaller(smaller(scan->threads, most), worth);
}

/* Panels of whole lines, as even as they can be. */
static void cut_columns(struct division *division) {
    const size_t columns = division->scan->in.columns, row = columns * division->value_bytes;
    if (row <= COLUMNS_PANEL) { /* what follows comes to the same, by divisions that small tables would feel */
        division->panel_columns = columns;
        division->panels = 1;
        return;
    }
    const bool streams = division->leaves_caches && (division->element_kernels->wide.turns || row % FAR_APART != 0);
    const size_t wide = streams ? STREAMED_PANEL : WIDE_PANEL;
    size_t panels = divide_up(row, division->kind == DIVISION_CACHED ? CACHED_PANEL : wide);
    if (division->kind == DIVISION_COLUMNS) {
        panels = round_up(panels, division->threads);
        panels = smaller(panels, divide_up(row, COLUMNS_PANEL));
    }
    division->panel_columns =
        smaller(columns, round_up(divide_up(columns, panels), CPU_ALIGNMENT / division->value_bytes));
    division->panels = divide_up(columns, division->panel_columns);
}

/* Where a sum that goes on has chunks, counted from the first row of all. */
static void place_chunks(struct division *division) {
    const struct scan *scan = division->scan;
    if (division->kind != DIVISION_COLUMNS) {
        division->lead = scan->state ? scan->first_row % division->chunk_rows : 0;
        division->chunks = divide_up(division->lead + scan->in.rows, division->chunk_rows);
    }
    division->parts = division->panels * division->chunks;
}

/* Chunks are worth taking, and small enough for a core's own cache: up to 64 KiB of rows, or a unit. A kernel has the
 * blocks of the binary digits of a unit's number, counted from where it begins. */
static void cut_rows(struct division *division) {
    const struct scan *scan = division->scan;
    const size_t row = scan->in.columns * division->value_bytes;
    division->chunk_rows = TABLE_UNIT_ROWS;
    division->chunks = 1;
    while (division->kind != DIVISION_COLUMNS && 2 * division->chunk_rows * row <= CHUNK)
        division->chunk_rows *= 2;
    place_chunks(division);
    const size_t units = (division->kind == DIVISION_COLUMNS ? scan->in.rows : division->chunk_rows) / TABLE_UNIT_ROWS;
    division->blocks = units > 0 ? 64 - (unsigned)__builtin_clzll(units) : 0;
    if (scan->state && division->kind == DIVISION_COLUMNS)
        division->blocks = STATE_BLOCK_LEVELS;
}

static void choose_kernel(struct division *division) {
    const struct cpu_element_kernels *kernels = division->element_kernels;
    const size_t columns = division->panel_columns;
    const bool narrow = columns <= CPU_NARROW_MOST && kernels->narrow[columns].scan;
    division->kernel = narrow                            ? &kernels->narrow[columns]
                       : columns <= kernels->few_columns ? &kernels->few
                                                         : &kernels->wide;
    division->top = STATE_UNIT_LEVEL - (unsigned)__builtin_ctzll(division->kernel->group_rows);
    division->groups = (size_t)1 << division->top;
}

static bool is_packed(const struct table_view *view) { return (size_t)llabs(view->stride) == view->columns; }

/* Bytes that a kernel may write one after the other, when its results do not lie in between. */
static size_t run_bytes(const struct division *division) {
    const struct scan *scan = division->scan;
    const size_t row = division->panel_columns * table_type_size(scan->out.type);
    return division->panels == 1 && is_packed(&scan->out) ? row * scan->out.rows : row;
}

/* Whether the kernel takes the table's values, or gives results, where they are, and in which format then. */
static bool takes(const struct division *division, const struct table_view *view, enum cpu_format *format) {
    const struct cpu_kernel *kernel = division->kernel;
    const enum cpu_format half = view->type == TABLE_F16 ? CPU_F16 : view->type == TABLE_BF16 ? CPU_BF16 : CPU_AS_SUMS;
    const bool known = view->type == division->element->type || (half && kernel->formats >> half & 1);
    if (!known || !view_is_aligned(view->data, view->type) || (kernel->packed && !is_packed(view)))
        return false;
    *format = half;
    return true;
}

static void choose_staging(struct division *division) {
    const struct scan *scan = division->scan;
    const bool is_wide = division->kernel == &division->element_kernels->wide;
    division->stage_in = scan->load.without_nan || !takes(division, &scan->in, &division->in_format);
    division->stage_factors = scan->factors.data && factors_are_staged(division);
    if (!scan->out.data)
        return;
    const bool turned =
        division->kernel->turns && division->panel_columns * division->value_bytes >= division_limits.turned_bytes;
    division->stream = division->leaves_caches && run_bytes(division) >= STREAM_RUN;
    division->stage_out =
        (division->stream && is_wide && !turned) || !takes(division, &scan->out, &division->out_format);
    division->convert_out = division->stream && division->stage_out && scan->out.type != division->element->type;
}

/* Blocks of rows are whole groups; and between two looks at interrupt_came() are whole units, after which vectors are
 * where they were. */
static void lay_out_worker(struct division *division) {
    const struct scan *scan = division->scan;
    const size_t panel_bytes = division->panel_columns * division->value_bytes;
    const size_t group_bytes = division->kernel->group_rows * panel_bytes;
    const bool by_rows = division->stage_factors && scan->factors.stride != 0;
    const bool staged = division->stage_in || division->stage_out || by_rows;
    division->ask_rows = SIZE_MAX;
    if (scan->in.rows * panel_bytes > ASK_BLOCK) {
        const size_t units = ASK_BLOCK / panel_bytes / TABLE_UNIT_ROWS;
        division->ask_rows = (units > 0 ? units : 1) * TABLE_UNIT_ROWS;
    }
    if (staged || scan->first_overflow) {
        const size_t groups = (staged ? BLOCK : CHECK_BLOCK) / group_bytes;
        division->block_rows = division->kernel->group_rows * (groups > 1 ? groups : 1);
        division->block_bytes = round_up(division->block_rows * panel_bytes, CPU_ALIGNMENT);
    } else {
        division->block_rows = division->ask_rows;
    }
    division->row_bytes = round_up(panel_bytes, CPU_ALIGNMENT) * (division->element->bytes / division->value_bytes);
    if (scan->factors.data)
        division->factor_bytes = round_up(factors_rows(division) * panel_bytes, CPU_ALIGNMENT);
    if (scan->factors.data && !scan->factors.per_column && scan->factors.stride == 0 && scan->in.rows >= NUMBER_ROWS)
        division->product_bytes = CPU_PRODUCTS * division->value_bytes;
    const size_t stack_rows = division->element->ordered ? division->top + 1 + division->blocks : 0;
    division->has_edges = scan->state || division->in_format || division->out_format;
    division->edge_bytes = division->has_edges ? edge_bytes(division, panel_bytes) : 0;
    division->worker_bytes =
        division->edge_bytes + division->factor_bytes + division->product_bytes +
        (CPU_STACK_ROW + stack_rows + WORKER_ROWS) * division->row_bytes +
        ((size_t)division->stage_in + (size_t)division->stage_out + (size_t)division->convert_out) *
            division->block_bytes;
}

struct division division_make(const struct scan *scan, enum division_kind kind, unsigned threads) {
    struct division division = {.scan = scan, .kind = kind, .kernels = isa_kernels_in_use(), .threads = threads};
    division.element = scan->element;
    division.element_kernels = division.kernels->elements[scan->element->id];
    division.value_bytes = table_type_size(scan->element->type);
    division.leaves_caches =
        scan->out.data && scan->out.data != scan->in.data &&
        scan->in.rows * scan->in.columns * table_type_size(scan->out.type) >= division_limits.stream_bytes;
    cut_columns(&division);
    cut_rows(&division);
    choose_kernel(&division);
    choose_staging(&division);
    lay_out_worker(&division);
    return division;
}

struct division division_for(const struct division *made, const struct scan *scan) {
    struct division division = *made;
    division.scan = scan;
    place_chunks(&division);
    return division;
}

struct part division_part(const struct division *division, size_t index) {
    const struct scan *scan = division->scan;
    struct part part = {.panel = index, .rows = scan->in.rows};
    if (division->kind != DIVISION_COLUMNS) {
        part.panel = index % division->panels;
        part.chunk = index / division->panels;
        const size_t lead = part.chunk == 0 ? division->lead : 0;
        part.first_row = part.chunk * division->chunk_rows + lead - division->lead;
        part.rows = smaller(division->chunk_rows - lead, scan->in.rows - part.first_row);
    }
    part.first_column = part.panel * division->panel_columns;
    part.columns = smaller(division->panel_columns, scan->in.columns - part.first_column);
    return part;
}

struct part division_unit(const struct part *part, size_t first_row) {
    struct part unit = *part;
    unit.chunk = first_row / TABLE_UNIT_ROWS;
    unit.first_row = first_row;
    unit.rows = smaller(TABLE_UNIT_ROWS, part->first_row + part->rows - first_row);
    return unit;
}
