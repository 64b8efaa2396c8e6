#include "scan_run.h"

#include "test.h"
#include "types.h"

static const table_strategy all_strategies[] = {TABLE_STRATEGY_AUTO, TABLE_STRATEGY_HOST, TABLE_STRATEGY_RECURSIVE,
                                                TABLE_STRATEGY_FUSED};
enum { STRATEGIES = sizeof all_strategies / sizeof *all_strategies };

const char *strategy_name(table_strategy strategy) {
    static const char *const names[] = {"auto", "host", "recursive", "fused"};
    return names[strategy];
}

static bool ask_for_strategy(const struct way *way, table_strategy strategy, table_type in, table_type out) {
    uint64_t value = 1, sum;
    const table_view view = {.data = &value, .rows = 1, .columns = 1, .type = in};
    const table_view to = {.data = &sum, .rows = 1, .columns = 1, .type = out};
    const table_scan_options options = {.backend = way->backend, .strategy = strategy};
    way_enter(way);
    return table_prefix_sum(&view, &to, &options) != TABLE_ERROR_STRATEGY;
}

bool way_has_strategy(const struct way *way, table_strategy strategy, table_type in, table_type out) {
    enum { TYPES = TYPE_NUMBERS };
    static const struct way *asked_way;
    static bool asked[STRATEGIES][TYPES][TYPES], there[STRATEGIES][TYPES][TYPES];
    if (asked_way != way) {
        asked_way = way;
        memset(asked, 0, sizeof asked);
    }
    if (!asked[strategy][in][out])
        there[strategy][in][out] = ask_for_strategy(way, strategy, in, out);
    asked[strategy][in][out] = true;
    return there[strategy][in][out];
}

void fail_run(const struct run *run, const char *format, ...) {
    const struct scan_case *c = run->scan_case;
    char what[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    print_error(
        "%s\n  %s, %s->%s, backend %s, strategy %s, %s, %zu rows x %zu columns, strides %zu -> %zu, offsets %zu (%s)"
        " -> %zu (%s)%s%s%s%s%s%s%s%s%s%s%s, skews %zu -> %zu, pattern %d, threads %u\n  TUPLESCAN_TEST_SEED=%" PRIu64
        "\n",
        what, table_operation_name(c->operation), table_type_name(c->in_type), table_type_name(c->out_type),
        run->way->name, strategy_name(run->strategy), run->form, c->rows, c->columns, c->columns + c->in_gap,
        c->columns + c->out_gap, c->in_offset, c->in_edge == EDGE_BACK ? "back" : "front", c->out_offset,
        c->out_edge == EDGE_BACK ? "back" : "front", c->zero_stride ? ", stride 0" : "",
        c->in_place ? ", in place" : "", c->exclusive ? ", exclusive" : "", c->carry_in ? ", carry in" : "",
        c->carry_out ? ", carry out" : "", c->same_carry ? " (the same row)" : "", c->check_overflow ? ", checked" : "",
        c->reverse ? ", reverse" : "", c->skip_nan ? ", skip NaN" : "", c->in_turned ? ", in turned" : "",
        c->out_turned ? ", out turned" : "", c->in_skew, c->out_skew, c->pattern, c->threads, run_seed());
    fail();
}

void require(const struct run *run, bool condition, const char *what) {
    if (!condition)
        fail_run(run, "%s", what);
}

static void open_run(struct run *run) {
    const struct scan_case *c = run->scan_case;
    const struct memory *memory = run->way->memory;
    const size_t row_bytes = c->columns * element_size(reference_kept_type(c->operation, c->out_type));
    const ptrdiff_t in_stride = (ptrdiff_t)(c->columns + c->in_gap), out_stride = (ptrdiff_t)(c->columns + c->out_gap);
    const size_t units = c->rows / REFERENCE_UNIT + 1;
    bool opened =
        table_open_anywhere(&run->in, memory, c->in_type, c->rows, c->columns, c->in_turned ? -in_stride : in_stride,
                            c->in_offset * element_size(c->in_type) + c->in_skew, c->in_edge);
    run->out_table = &run->in;
    if (opened && !c->in_place) {
        run->out_table = &run->out;
        opened = opened && table_open_anywhere(&run->out, memory, c->out_type, c->rows, c->columns,
                                               c->out_turned ? -out_stride : out_stride,
                                               c->out_offset * element_size(c->out_type) + c->out_skew, c->out_edge);
    }
    run->expected.operation = c->operation;
    run->expected.type = c->out_type;
    run->expected.reverse = c->reverse;
    run->expected.skip_nan = c->skip_nan;
    run->expected.sums = malloc(c->rows * row_bytes + 1);
    run->expected.totals = malloc(units * row_bytes);
    run->expected.seeds = malloc((units + 1) * row_bytes);
    run->expected.carry_out = malloc(row_bytes);
    run->in_values = malloc(run->in.block.bytes + 1);
    run->carry = c->carry_in ? malloc(row_bytes) : NULL;
    require(run,
            opened && run->expected.sums && run->expected.totals && run->expected.seeds && run->expected.carry_out &&
                run->in_values && (run->carry || !c->carry_in),
            "out of memory");
}

static void close_run(struct run *run) {
    table_close(&run->in);
    if (run->out_table == &run->out)
        table_close(&run->out);
    free(run->expected.sums);
    free(run->expected.totals);
    free(run->expected.seeds);
    free(run->expected.carry_out);
    free(run->in_values);
    free(run->carry);
}

void scan_case_check(const struct scan_case *scan_case, const struct way *way) {
    struct run run = {.scan_case = scan_case, .way = way, .form = "preparation", .random = {scan_case->seed}};
    const table_type sum_type = reference_kept_type(scan_case->operation, scan_case->out_type);
    way_enter(way);
    open_run(&run);
    table_randomize(&run.in, &run.random, scan_case->pattern);
    memcpy(run.in_values, run.in.image, run.in.block.bytes);
    for (size_t j = 0; scan_case->carry_in && j < scan_case->columns; j++)
        element_randomize((char *)run.carry + j * element_size(sum_type), sum_type, &run.random, scan_case->pattern);
    const table_view in = table_image_view(&run.in);
    reference_prefix_sum(&in, run.carry, scan_case->exclusive, &run.expected);

    /* Two of the strategies, and the dearer forms in one of them: there are thousands of tables. */
    const size_t chosen = way->fused_alone ? STRATEGIES - 1 : random_below(&run.random, STRATEGIES);
    const size_t other = (chosen + 1 + random_below(&run.random, STRATEGIES - 1)) % STRATEGIES;
    for (size_t i = 0; i < STRATEGIES; i++) {
        run.strategy = all_strategies[i];
        if ((i != chosen && (i != other || way->fused_alone)) ||
            (scan_case->operation == TABLE_SUM &&
             !way_has_strategy(way, run.strategy, scan_case->in_type, scan_case->out_type)))
            continue;
        check_one_call(&run);
        if (way->direct && i == chosen)
            check_stream_form(&run);
        if (way->direct && run.strategy != TABLE_STRATEGY_FUSED && i == chosen && scan_case->operation == TABLE_SUM)
            check_stages(&run);
        if (i == chosen && !way->fused_alone)
            check_totals(&run);
    }
    close_run(&run);
}

void scan_case_vary(struct scan_case *c, struct random *random) {
    c->seed = random_bits(random);
    c->pattern = (enum pattern)random_below(random, PATTERN_COUNT);
    c->in_gap = random_once_in(random, 3) ? 1 + random_below(random, 9) : 0;
    c->out_gap = random_once_in(random, 3) ? 1 + random_below(random, 9) : 0;
    c->in_offset = random_below(random, 4);
    c->out_offset = random_below(random, 4);
    c->in_edge = random_once_in(random, 2) ? EDGE_FRONT : EDGE_BACK;
    c->out_edge = random_once_in(random, 2) ? EDGE_FRONT : EDGE_BACK;
    c->zero_stride = random_once_in(random, 4);
    c->in_place = c->in_type == c->out_type && random_once_in(random, 3);
    c->exclusive = random_once_in(random, 2);
    c->carry_in = random_once_in(random, 2);
    c->carry_out = random_once_in(random, 2);
    c->same_carry = c->carry_in && c->carry_out && random_once_in(random, 3);
    c->check_overflow = !element_is_float(c->out_type) &&
                        (c->operation == TABLE_SUM || c->operation == TABLE_PRODUCT) && random_once_in(random, 2);
    c->reverse = random_once_in(random, 4);
    c->skip_nan = element_is_float(c->out_type) && random_once_in(random, 3);
    c->in_turned = random_once_in(random, 5);
    c->out_turned = c->in_place ? c->in_turned : random_once_in(random, 5);
    c->in_skew = random_once_in(random, 8) ? random_below(random, element_size(c->in_type)) : 0;
    c->out_skew = random_once_in(random, 8) ? random_below(random, element_size(c->out_type)) : 0;
    if (c->in_skew > 0)
        c->in_edge = EDGE_FRONT; /* the other one is aligned */
    if (c->out_skew > 0)
        c->out_edge = EDGE_FRONT;
    c->host_rows = random_once_in(random, 2);
    c->threads = (unsigned)random_below(random, 5);
}
