/* One sum, product, maximum, minimum or recurrence in pieces that go on by a state, cut anywhere, each piece in another
 * form of call, in any layout: rows from the last one to the first, data at any address, in place, sums from the end, a
 * row of offsets, NaN that count as nothing, no columns. Pieces have the bits of the whole table's sums, and leave the
 * state that the whole leaves. */
#include "support/chunk.h"
#include "support/piece_forms.h"
#include "support/places.h"
#include "support/recurrence.h"
#include "support/test.h"

enum { PARTS_MOST = 9 };

/* Near to where units and groups of them end, or anywhere. */
static size_t rows_of_part(struct trial *t, size_t left) {
    static const size_t units[] = {1, 512, 512, 4096, 512 * 512};
    const size_t unit = units[random_below(&t->random, sizeof units / sizeof *units)];
    const size_t rows = random_below(&t->random, left + 1);
    return random_once_in(&t->random, 6) ? 0 : random_once_in(&t->random, 2) ? rows / unit * unit : rows;
}

/* Parts on several devices and the host. The last part in the order of the table has the row of offsets. */
static void sum_parts(struct trial *t) {
    const size_t count = 1 + random_below(&t->random, PARTS_MOST), end = t->done + t->piece;
    struct tables tables[PARTS_MOST];
    table_part parts[PARTS_MOST] = {0};
    table_devices_report report;
    struct sides sides;
    for (size_t i = 0, first = t->done; i < count; first += tables[i++].rows) {
        const bool last = i + 1 == count;
        const struct place place = place_at(random_below(&t->random, place_count()));
        places_set_device(place.device);
        open_tables(t, &tables[i], place.memory, first, last ? end - first : rows_of_part(t, end - first),
                    t->offsets && (t->reverse ? i == 0 : last));
        parts[t->reverse ? count - 1 - i : i] = (table_part){
            .in = tables[i].from, .out = tables[i].out.view, .backend = place.backend, .device = place.device};
    }
    table_scan_options options = trial_options(t, &host_memory, &host_memory, false, &sides);
    const int device = place_at(random_below(&t->random, place_count())).device;
    options.backend = TABLE_BACKEND_AUTO;
    places_set_device(device);
    trial_ok(t, table_prefix_sum_devices(parts, count, &options, random_once_in(&t->random, 2) ? &report : NULL));
    trial_require(t, places_device() == device, "the current device is another one");
    places_set_device(0);
    for (size_t i = 0; i < count; i++)
        close_tables(t, &tables[i]);
    trial_close_sides(t, &options, &sides);
}

static bool is_on_cpu(const struct trial *t) { return t->way->backend == TABLE_BACKEND_CPU; }
static bool takes_all(const struct trial *t) { return t->way != NULL; }
static bool takes_parts(const struct trial *t) { return !trial_is_map(t); }
static bool takes_device_tables(const struct trial *t) { return t->way->direct; }
static bool takes_batches(const struct trial *t) { return !t->with_state && t->columns > 0; }
/* Only sums are told of another type to be kept in by calls without results. */
static bool takes_states(const struct trial *t) {
    return t->with_state && (!t->keeps_f64 || t->operation == TABLE_SUM);
}
static bool takes_begun_states(const struct trial *t) {
    table_state_facts facts;
    trial_ok(t, table_state_describe(t->state, t->state_bytes, &facts));
    return takes_states(t) && facts.version > 0;
}
static bool takes_columns(const struct trial *t) {
    return t->columns > 0 && t->columns <= PIECE_COLUMNS_MOST && !t->offsets && (is_on_cpu(t) || !trial_is_map(t));
}
static bool takes_files(const struct trial *t) { return t->columns > 0 && !(t->reverse && t->piece == 0); }

static const struct form {
    const char *name;
    void (*sum)(struct trial *t);
    bool (*takes)(const struct trial *t);
} forms[] = {{"one call", sum_here, takes_all},
             {"on the CPU", sum_on_cpu, takes_all},
             {"one call, state on the host", sum_with_host_state, takes_all},
             {"stream form", sum_on_stream, takes_device_tables},
             {"totals", feed_totals, takes_states},
             {"a range that is joined", join_range, takes_begun_states},
             {"columns", sum_columns, takes_columns},
             {"columns as tables", sum_batch, takes_batches},
             {"parts", sum_parts, takes_parts},
             {"a stream", sum_stream, takes_files}};
enum { FORM_ON_CPU = 1, FORM_AS_TABLES = 7, FORMS = sizeof forms / sizeof *forms };

/* The state through the rows so far says so, also when it was saved and loaded, and gives their sums. */
static void require_state(const struct trial *t) {
    char *row = get_memory(t->columns * element_size(t->sum_type)), *saved = get_memory(t->state_bytes);
    uint64_t rows;
    trial_require(t,
                  table_state_save(t->state, saved, t->state_bytes) == TABLE_OK &&
                      table_state_load(saved, t->state_bytes, t->state) == TABLE_OK,
                  "the state is not saved and loaded");
    table_error_set(TABLE_ERROR_ARGUMENT, "");
    trial_ok(t, table_state_check(t->state, t->state_bytes, t->sum_type, t->columns));
    trial_ok(t, table_state_rows(t->state, &rows));
    trial_require(t, rows == t->before + t->done, "the state has another number of rows");
    trial_ok(t, table_state_sums(t->state, row));
    trial_require_row(t, trial_sums(t, t->done), row, "table_state_sums()");
    free(saved);
    free(row);
}

/* Most pieces end near a multiple of what something in the library is a multiple of. */
static size_t rows_of_piece(struct trial *t) {
    struct random *random = &t->random;
    const size_t left = t->rows - t->done, chunk = chunk_rows(t->out_type, t->columns);
    const size_t units[] = {512, 512, 512, 1024, 2048, 4096, 8192, chunk, chunk, 2 * chunk};
    const size_t unit = units[random_below(random, sizeof units / sizeof *units)];
    size_t rows = random_below(random, 6);
    if (random_once_in(random, 2))
        rows = unit - t->done % unit + random_below(random, 3) - 1;
    else if (random_once_in(random, 2))
        rows = random_below(random, 3 * unit);
    if (t->rows > 100000 && random_once_in(random, 2))
        rows += random_below(random, 400000);
    return rows < left && !random_once_in(random, 16) ? rows : left;
}

static void sum_in_pieces(struct trial *t, bool whole) {
    trial_begin(t);
    do {
        size_t form = whole ? FORM_ON_CPU : t->in_tables ? FORM_AS_TABLES : random_below(&t->random, FORMS);
        t->piece = whole || !t->with_state ? t->rows : rows_of_piece(t);
        if (!forms[form].takes(t))
            form = 0;
        t->form = forms[form].name;
        forms[form].sum(t);
        t->done += t->piece;
        t->piece = 0;
        if (t->with_state)
            require_state(t);
    } while (t->done < t->rows);
}

/* The whole table by the CPU, and twice in pieces. */
static void check_trial(struct trial *t, enum pattern pattern) {
    const size_t header = 64;
    way_enter(t->way);
    trial_open(t, pattern);
    char *whole = get_memory(t->state_bytes);
    sum_in_pieces(t, true);
    memcpy(whole, t->state, t->state_bytes);
    for (unsigned i = 0; i < 2; i++) {
        sum_in_pieces(t, false);
        bool same = memcmp(whole, t->state, header) == 0;
        for (size_t at = header; at < t->state_bytes; at += element_size(t->sum_type))
            same &= elements_same(element_bits(whole + at, t->sum_type), element_bits(t->state + at, t->sum_type),
                                  t->sum_type);
        trial_require(t, same, "the state is not that of the whole table");
    }
    free(whole);
    trial_close(t);
}

/* Few, or so many that the tree above the table has many blocks, some of which become one in the table. */
static uint64_t rows_before(struct random *random) {
    const uint64_t any = random_below(random, (size_t)1 << (random_once_in(random, 3) ? 50 : 24));
    const uint64_t ones = (uint64_t)1 << random_below(random, 34);
    return random_once_in(random, 2) ? any
                                     : any / ones * ones + ones - 1 - random_below(random, ones < 4000 ? ones : 4000);
}

static void check_table(struct random *random, const struct way *way, table_operation operation, struct type_pair pair,
                        size_t rows, size_t columns, bool in_tables) {
    struct trial t = {.way = way,
                      .random = {random_bits(random)},
                      .operation = operation,
                      .in_type = pair.in,
                      .out_type = pair.out,
                      .rows = rows,
                      .columns = columns,
                      .reverse = random_once_in(random, 3),
                      .offsets = random_once_in(random, 3),
                      .has_start = random_once_in(random, 2),
                      .with_state = !in_tables && !random_once_in(random, 4),
                      .in_tables = in_tables};
    if (trial_is_map(&t))
        t.offsets = false;
    if (operation == TABLE_RECURRENCE) {
        t.a_type = pair.in == TABLE_F64 || random_once_in(random, 2) ? pair.in : TABLE_F32;
        t.a_by_row = !random_once_in(random, 3);
        t.a_by_column = !random_once_in(random, 3);
        t.shifted = random_once_in(random, 3);
    }
    t.exclusive = !t.offsets && random_once_in(random, 2);
    t.skip_nan = element_is_float(pair.out) && random_once_in(random, 3);
    if ((trial_is_map(&t) || operation == TABLE_SUM) && element_is_float(pair.out) && rows * columns < 100000 &&
        !in_tables && random_once_in(random, 4)) {
        t.shifted = false;
        t.before = 1 + rows_before(random);
        t.with_state = true;
        t.has_start = false;
    }
    t.keeps_f64 = pair.in == TABLE_F32 && pair.out == TABLE_F32 && operation != TABLE_MAXIMUM &&
                  operation != TABLE_MINIMUM && (t.before == 0 || operation == TABLE_SUM) && random_once_in(random, 3);
    check_trial(&t, (enum pattern)random_below(random, PATTERN_COUNT));
}

static void check_random_table(struct random *random, const struct way *way, table_operation operation,
                               struct type_pair pair) {
    const size_t few = 1 + random_below(random, 9),
                 many = 1 + random_below(random, random_once_in(random, 3) ? 700 : 130);
    const size_t columns = random_once_in(random, 12) ? 0 : random_once_in(random, 4) ? many : few;
    size_t rows = random_below(random, random_once_in(random, 3) ? 20 : 4000 / (columns + 1));
    if (random_once_in(random, 6))
        rows = random_below(random, run_small() ? 2000 : 20000) / (1 + columns / 8);
    else if (random_once_in(random, 12) && columns > 0) /* chunks for threads to share */
        rows = random_below(random, (run_small() ? 3 : 11) * chunk_rows(pair.out, columns));
    check_table(random, way, operation, pair, rows, columns, false);
}

/* Products of floats are made of what recurrences are made of. */
TEST(test_maps) {
    const unsigned rounds = (run_small() ? 8 : 40) * run_rounds();
    struct random random = {run_seed() + 2};
    struct type_pair pair;
    for (size_t i = 0; i < way_count; i++)
        for (size_t number = 0; operation_pair(TABLE_RECURRENCE, number, &pair); number++)
            for (unsigned round = 0; round < rounds; round++)
                if (!ways[i].fused_alone && random_once_in(&random, run_few()))
                    check_random_table(&random, &ways[i], round % 4 == 0 ? TABLE_PRODUCT : TABLE_RECURRENCE, pair);
}

/* Tables of f32, many of whose results are kept as f64. */
TEST(test_f32) {
    static const table_operation operations[] = {TABLE_SUM, TABLE_PRODUCT, TABLE_RECURRENCE};
    const unsigned rounds = (run_small() ? 30 : 150) * run_rounds();
    struct random random = {run_seed() + 4};
    for (size_t i = 0; i < way_count; i++)
        for (unsigned round = 0; round < rounds; round++)
            if (!ways[i].fused_alone && random_once_in(&random, run_few()))
                check_random_table(&random, &ways[i], operations[round % 3], (struct type_pair){TABLE_F32, TABLE_F32});
}

enum { LONE_WIDTH = 2, LONE_ROWS_MOST = 1025 };
enum lone_block { LONE_A, LONE_B, LONE_H, LONE_START, LONE_CARRY, LONE_STATE, LONE_BLOCKS };

/* Sums the first `rows` rows by one call, if `begins` from the start on. `carry` and `left` are what it leaves. */
static void sum_lone(const struct way *way, const struct block *blocks, size_t rows, bool results, bool begins,
                     bool with_state, void *carry, void *left) {
    const table_view a = {blocks[LONE_A].address, rows, LONE_WIDTH, 0, TABLE_F32};
    const table_view b = {blocks[LONE_B].address, rows, LONE_WIDTH, 0, TABLE_F32};
    const table_view h = {blocks[LONE_H].address, rows, LONE_WIDTH, 0, TABLE_F32};
    const table_scan_options options = {.backend = way->backend,
                                        .carry_in = begins ? blocks[LONE_START].address : NULL,
                                        .carry_out = blocks[LONE_CARRY].address,
                                        .state = with_state ? blocks[LONE_STATE].address : NULL};
    assert_int_equal(table_linear_recurrence(&a, &b, results ? &h : NULL, &options), TABLE_OK);
    assert_true(block_download(&blocks[LONE_CARRY], carry) && block_download(&blocks[LONE_STATE], left));
}

/* The last of the rows is a run of the tree by itself, and resets by -0.0: carries and states have that sign. */
static void check_lone_reset(const struct way *way, size_t rows) {
    static float a[LONE_ROWS_MOST * LONE_WIDTH], b[LONE_ROWS_MOST * LONE_WIDTH];
    static const float start[LONE_WIDTH] = {1, -1};
    const size_t bytes = rows * LONE_WIDTH * sizeof *a;
    float last[LONE_WIDTH], carry[LONE_WIDTH];
    struct block blocks[LONE_BLOCKS];
    size_t state_bytes;
    assert_int_equal(table_state_bytes_of(TABLE_RECURRENCE, TABLE_F32, LONE_WIDTH, &state_bytes), TABLE_OK);
    char *const none = get_memory(state_bytes), *const whole = get_memory(state_bytes),
                *const left = get_memory(state_bytes);
    for (size_t i = 0; i < rows * LONE_WIDTH; i++) {
        a[i] = i / LONE_WIDTH + 1 == rows ? -0.0f : 1;
        b[i] = -0.0f;
    }
    recurrence_reference(&(struct recurrence){
        .type = TABLE_F32, .rows = rows, .columns = LONE_WIDTH, .a = a, .b = b, .start = start, .last = last});
    const table_view factors = {a, rows, LONE_WIDTH, 0, TABLE_F32}, terms = {b, rows, LONE_WIDTH, 0, TABLE_F32};
    const table_scan_options on_cpu = {.backend = TABLE_BACKEND_CPU, .carry_in = start, .state = whole};
    assert_int_equal(table_linear_recurrence(&factors, &terms, NULL, &on_cpu), TABLE_OK);
    const size_t sizes[LONE_BLOCKS] = {bytes, bytes, bytes, sizeof start, sizeof carry, state_bytes};
    const void *const from[LONE_BLOCKS] = {a, b, a, start, start, none};
    for (unsigned how = 0; how < 8; how++) {
        const bool results = how & 1, with_state = how & 2, again = how & 4;
        for (unsigned k = 0; k < LONE_BLOCKS; k++) {
            block_open(&blocks[k], way->memory, sizes[k], 0, EDGE_FRONT);
            assert_true(block_upload(&blocks[k], from[k]));
        }
        sum_lone(way, blocks, rows, results, true, with_state, carry, left);
        if (with_state && again) /* without rows the state alone says what the last row has */
            sum_lone(way, blocks, 0, results, false, true, carry, left);
        if (memcmp(carry, last, sizeof last) != 0 || memcmp(left, with_state ? whole : none, state_bytes) != 0)
            fail_msg("%s, %zu rows%s%s%s: %g and %g, not %g and %g; or the state", way->name, rows,
                     results ? ", results" : "", with_state ? ", state" : "", again ? ", again" : "", (double)carry[0],
                     (double)carry[1], (double)last[0], (double)last[1]);
        for (unsigned k = 0; k < LONE_BLOCKS; k++)
            block_close(&blocks[k]);
    }
    free(none);
    free(whole);
    free(left);
}

TEST(test_lone_resets) {
    static const size_t rows[] = {1, 3, 33, 45, 511, 513, 515, LONE_ROWS_MOST};
    for (size_t i = 0; i < way_count; i++)
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            if (!ways[i].fused_alone) {
                way_enter(&ways[i]);
                check_lone_reset(&ways[i], rows[k]);
            }
}

TEST(test_random_cuts) {
    const unsigned rounds = (run_small() ? 2 : 14) * run_rounds();
    struct random random = {run_seed()};
    struct type_pair pair;
    for (size_t i = 0; i < way_count; i++)
        for (table_operation operation = TABLE_SUM; operation <= TABLE_PRODUCT; operation++)
            for (size_t number = 0; operation_pair(operation, number, &pair); number++)
                for (unsigned round = 0; round < rounds; round += operation == TABLE_SUM ? 1 : 3)
                    if ((operation == TABLE_SUM || !ways[i].fused_alone) && random_once_in(&random, run_few()))
                        check_random_table(&random, &ways[i], operation, pair);
}

/* Pieces that are worth several threads, and parts of more than 512 units, whose totals have totals of their own. */
TEST(test_large_pieces) {
    struct random random = {run_seed() + 1};
    const unsigned count = run_small() ? 1 : 20 * run_rounds() / run_few() + 2;
    for (unsigned i = 0; i < count; i++)
        check_table(&random, &ways[random_below(&random, way_count)], TABLE_SUM,
                    type_pairs[random_below(&random, type_pair_count)],
                    300000 + random_below(&random, run_small() ? 50000 : 800000),
                    run_small() ? 1 : 1 + random_below(&random, 4), false);
}

/* Several tables in one call: few or many of them, of few rows or many, wide ones, and such as are worth several
 * threads each. */
TEST(test_batches) {
    const unsigned cases = (run_small() ? 300 : 2000) * run_rounds() / run_few();
    const size_t most = run_small() ? 4000 : 20000;
    struct random random = {run_seed() + 3};
    for (unsigned i = 0; i < cases; i++) {
        const struct way *way = &ways[random_below(&random, way_count)];
        size_t columns = 1 + random_below(&random, random_once_in(&random, 5) ? TRIAL_COLUMNS_MOST : 24);
        size_t rows = random_below(&random, random_once_in(&random, 3) ? 1500 : 20);
        if (random_once_in(&random, 5)) { /* rows of whole vectors, and often many of them */
            columns = 8 * (2 + random_below(&random, 20));
            rows = 1 + random_below(&random, random_once_in(&random, 2) ? 80 : 1400);
        }
        if (rows * columns > most)
            rows = most / columns;
        check_table(&random, way, TABLE_SUM, type_pairs[random_below(&random, type_pair_count)], rows, columns, true);
    }
    for (unsigned i = 0; i < 4 && !run_small(); i++)
        check_table(&random, &ways[random_below(&random, way_count)], TABLE_SUM,
                    i % 2 ? (struct type_pair){TABLE_I32, TABLE_I32} : (struct type_pair){TABLE_F32, TABLE_F32}, 300000,
                    8, true);
}

int main(void) { return run_all_tests("pieces", ways_unavailable() ? ways_unavailable() : places_unavailable()); }
