/* The states of sums that go on, as bytes: those that joins make are the ones that the definition asks for, saved ones
 * are refused when damaged, and wrong calls are told why. */
#include "state.h"
#include "state/state_call.h"
#include "support/random.h"
#include "support/refusal.h"
#include "support/tables.h"

static const table_type types[] = {TABLE_U32, TABLE_U64, TABLE_I32, TABLE_I64, TABLE_F32, TABLE_F64};
enum { TYPES = sizeof types / sizeof *types };

/* Rows first to first + rows of all, of which the values are known. */
struct rows {
    table_type type;
    size_t columns;
    uint64_t first;
    size_t rows;
    char *values;
};

static size_t size_of_row(const struct rows *rows) { return rows->columns * element_size(rows->type); }

static struct rows make_rows(struct random *random, table_type type, size_t columns, uint64_t first, size_t count) {
    struct rows rows = {type, columns, first, count, NULL};
    const enum pattern pattern = random_once_in(random, 4) ? PATTERN_ZEROS : PATTERN_BITS;
    rows.values = get_memory(count * size_of_row(&rows));
    for (size_t i = 0; i < count * columns; i++)
        element_randomize(rows.values + i * element_size(type), type, random, pattern);
    return rows;
}

/* sum = left + right, in a row. */
static void add(const struct rows *rows, void *sum, const void *left, const void *right) {
    for (size_t j = 0; j < rows->columns; j++) {
        if (rows->type == TABLE_F32)
            ((float *)sum)[j] = ((const float *)left)[j] + ((const float *)right)[j];
        else if (rows->type == TABLE_F64)
            ((double *)sum)[j] = ((const double *)left)[j] + ((const double *)right)[j];
        else if (element_size(rows->type) == 4)
            ((uint32_t *)sum)[j] = ((const uint32_t *)left)[j] + ((const uint32_t *)right)[j];
        else
            ((uint64_t *)sum)[j] = ((const uint64_t *)left)[j] + ((const uint64_t *)right)[j];
    }
}

/* The total of the run of 2^level rows from row `from` of all on, by halves. */
static void total(const struct rows *rows, uint64_t from, unsigned level, void *sum) {
    if (level == 0) {
        memcpy(sum, rows->values + (from - rows->first) * size_of_row(rows), size_of_row(rows));
        return;
    }
    char right[64 * 8];
    total(rows, from, level - 1, sum);
    total(rows, from + ((uint64_t)1 << (level - 1)), level - 1, right);
    add(rows, sum, sum, right);
}

/* The bytes of a state whose rows are still zero; to be freed. */
static struct sum_state *empty_state(const struct rows *rows, uint64_t first, size_t *bytes) {
    struct sum_state *state;
    assert_int_equal(table_state_bytes(rows->type, rows->columns, bytes), TABLE_OK);
    state = get_memory(*bytes);
    memset(state, 0xa5, *bytes);
    assert_int_equal(table_state_begin(state, rows->type, rows->columns, first), TABLE_OK);
    return state;
}

/* One of the kinds of runs in the order in which they follow each other: `at` goes on, run by run. */
static void put_runs(const struct rows *rows, struct sum_state *state, unsigned slot, uint64_t levels, bool rising,
                     unsigned unit, uint64_t *at) {
    for (unsigned i = 0; i < 64; i++) {
        const unsigned level = rising ? i : 63 - i;
        if (!(levels >> level & 1))
            continue;
        assert_int_equal(*at % ((uint64_t)1 << (level + unit)), 0);
        total(rows, *at, level + unit, state_row(state, size_of_row(rows), slot + level));
        *at += (uint64_t)1 << (level + unit);
    }
}

/* The state of rows from to to, by the definition. */
static struct sum_state *defined_state(const struct rows *rows, uint64_t from, uint64_t to, size_t *bytes) {
    struct sum_state *state = empty_state(rows, from, bytes);
    const struct state_digits digits = state_digits(from, to - from);
    uint64_t at = from;
    state->rows = to - from;
    if (!element_is_float(rows->type)) {
        char *sum = state_row(state, size_of_row(rows), STATE_SUM);
        for (; at < to; at++)
            add(rows, sum, sum, rows->values + (at - rows->first) * size_of_row(rows));
        return state;
    }
    put_runs(rows, state, STATE_RISING_RUNS, digits.rising_runs, true, 0, &at);
    put_runs(rows, state, STATE_RISING_BLOCKS, digits.rising_blocks, true, STATE_UNIT_LEVEL, &at);
    put_runs(rows, state, STATE_BLOCKS, digits.blocks, false, STATE_UNIT_LEVEL, &at);
    assert_true(to == from || digits.runs + digits.rising_runs > 0);
    put_runs(rows, state, STATE_RUNS, digits.runs, false, 0, &at);
    assert_int_equal(at, to);
    return state;
}

/* The state of rows from to to, joined of parts that are cut and joined at random. */
static struct sum_state *joined_state(const struct rows *rows, struct random *random, uint64_t from, uint64_t to,
                                      unsigned depth) {
    size_t bytes;
    if (depth == 0 || (to - from > 1 && random_once_in(random, 8)))
        return defined_state(rows, from, to, &bytes);
    uint64_t middle = from + random_below(random, to - from + 1);
    if (random_once_in(random, 2))
        middle = middle / STATE_UNIT * STATE_UNIT < from ? middle : middle / STATE_UNIT * STATE_UNIT;
    struct sum_state *left = joined_state(rows, random, from, middle, depth - 1);
    struct sum_state *right = joined_state(rows, random, middle, to, depth - 1);
    assert_int_equal(table_state_join(left, right), TABLE_OK);
    free(right);
    return left;
}

static bool same_bits(const struct rows *rows, const void *a, const void *b, size_t bytes) {
    const size_t size = element_size(rows->type);
    for (size_t i = 0; i < bytes; i += size)
        if (!elements_same(element_bits((const char *)a + i, rows->type), element_bits((const char *)b + i, rows->type),
                           rows->type))
            return false;
    return true;
}

static void check_join(struct random *random, uint64_t first, size_t count) {
    const struct rows rows =
        make_rows(random, types[random_below(random, TYPES)], 1 + random_below(random, 5), first, count);
    size_t bytes;
    struct sum_state *whole = defined_state(&rows, first, first + count, &bytes);
    struct sum_state *joined = joined_state(&rows, random, first, first + count, 1 + random_below(random, 6));
    assert_memory_equal(whole, joined, sizeof *whole);
    assert_true(same_bits(&rows, whole + 1, joined + 1, bytes - sizeof *whole));
    assert_int_equal(table_state_check(joined, bytes, rows.type, rows.columns), TABLE_OK);
    free(joined);
    free(whole);
    free(rows.values);
}

TEST(test_joins) {
    static const size_t counts[] = {0, 1, 2, 3, 511, 512, 513, 1023, 1024, 1025, 1536, 2048, 2049, 4096, 4500};
    struct random random = {run_seed()};
    for (unsigned round = 0; round < 400 * run_rounds() / run_few() + 20; round++) {
        const size_t count = random_once_in(&random, 2) ? counts[random_below(&random, sizeof counts / sizeof *counts)]
                                                        : random_below(&random, 5000);
        uint64_t first = random_once_in(&random, 3) ? 0 : random_below(&random, 6000);
        if (random_once_in(&random, 4))
            first += (uint64_t)1 << random_below(&random, 62);
        if (random_once_in(&random, 16))
            first = STATE_ROWS_MOST - count;
        check_join(&random, first, count);
    }
}

/* Row by row, with the running sums by the definition after each. */
static void check_rows(struct random *random, table_type type, size_t count, bool started) {
    const struct rows rows = make_rows(random, type, 1 + random_below(random, 3), 0, count);
    const struct rows start = make_rows(random, type, rows.columns, 0, 1);
    char seed[64], inner[64], sums[64];
    size_t bytes;
    struct sum_state *sum = empty_state(&rows, 0, &bytes);
    if (started) {
        memcpy(state_row(sum, size_of_row(&rows), STATE_START), start.values, size_of_row(&rows));
        if (!element_is_float(type))
            memcpy(state_row(sum, size_of_row(&rows), STATE_SUM), start.values, size_of_row(&rows));
    }
    for (uint64_t i = 0; i < count; i++) {
        struct sum_state *row = defined_state(&rows, i, i + 1, &bytes);
        assert_int_equal(table_state_join(sum, row), TABLE_OK);
        free(row);
        memset(seed, 0, sizeof seed);
        if (started)
            memcpy(seed, start.values, size_of_row(&rows));
        uint64_t at = 0;
        for (unsigned level = 63; level >= STATE_UNIT_LEVEL; level--)
            if (i >> level & 1) {
                total(&rows, at, level, inner);
                add(&rows, seed, seed, inner);
                at += (uint64_t)1 << level;
            }
        uint64_t end = i + 1;
        for (unsigned level = 0; end > at; level++)
            if (end >> level & 1 || (end - at) == (uint64_t)1 << level) {
                end -= (uint64_t)1 << level;
                total(&rows, end, level, sums);
                if (end + ((uint64_t)1 << level) == i + 1)
                    memcpy(inner, sums, sizeof inner);
                else
                    add(&rows, inner, sums, inner);
            }
        add(&rows, seed, seed, inner);
        assert_int_equal(table_state_sums(sum, sums), TABLE_OK);
        assert_true(same_bits(&rows, seed, sums, size_of_row(&rows)));
    }
    free(sum);
    free(start.values);
    free(rows.values);
}

TEST(test_sums) {
    struct random random = {run_seed()};
    for (unsigned i = 0; i < TYPES; i++) {
        check_rows(&random, types[i], 1100 + random_below(&random, 1500), i % 2 == 0);
        check_rows(&random, types[i], 513, i % 2 != 0);
    }
}

/* A state of some rows, and room for as many bytes. */
struct saved {
    struct sum_state *state;
    char *bytes, *room;
    size_t size;
};

static struct saved save(struct random *random, table_type type, size_t columns, uint64_t first, size_t count) {
    const struct rows rows = make_rows(random, type, columns, first, count);
    struct saved saved;
    saved.state = defined_state(&rows, first, first + count, &saved.size);
    saved.bytes = get_memory(saved.size + 1);
    saved.room = get_memory(saved.size + 1);
    free(rows.values);
    assert_int_equal(table_state_save(saved.state, saved.bytes + 1, saved.size), TABLE_OK);
    return saved;
}

static void release(struct saved *saved) {
    free(saved->state);
    free(saved->bytes);
    free(saved->room);
}

#define expect_refused(CALL, WORD) expect(CALL, TABLE_ERROR_STATE, WORD)

TEST(test_saved_and_loaded) {
    struct random random = {run_seed()};
    for (unsigned i = 0; i < TYPES; i++) {
        struct saved saved = save(&random, types[i], 3, i * 1000, 1500);
        table_state_facts facts;
        memset(saved.room, 0x5a, saved.size);
        assert_int_equal(table_state_load(saved.bytes + 1, saved.size, saved.room), TABLE_OK);
        assert_memory_equal(saved.room, saved.state, saved.size);
        assert_true(table_state_equal(saved.room, saved.state));
        assert_int_equal(table_state_describe(saved.bytes + 1, saved.size, &facts), TABLE_OK);
        assert_int_equal(facts.version, STATE_SAVED_VERSION);
        assert_int_equal(facts.type, types[i]);
        assert_int_equal(facts.columns, 3);
        assert_int_equal(facts.first_row, i * 1000);
        assert_int_equal(facts.rows, 1500);
        /* The sums are made in place. */
        assert_int_equal(table_state_save(saved.room, saved.room, saved.size), TABLE_OK);
        assert_memory_equal(saved.room, saved.bytes + 1, saved.size);
        expect_refused(table_state_check(saved.room, saved.size, types[i], 3), "saved form");
        assert_int_equal(table_state_load(saved.room, saved.size, saved.room), TABLE_OK);
        assert_memory_equal(saved.room, saved.state, saved.size);
        release(&saved);
    }
}

/* The examples of RFC 3720, appendix B.4; and one in two parts, at any place. */
TEST(test_crc32c) {
    static const unsigned char command[48] = {0x01, 0xc0, 0, 0, 0, 0, 0,    0, 0,    0, 0, 0,    0, 0, 0, 0,
                                              0x14, 0,    0, 0, 0, 0, 0x04, 0, 0,    0, 0, 0x14, 0, 0, 0, 0x18,
                                              0x28, 0,    0, 0, 0, 0, 0,    0, 0x02, 0, 0, 0,    0, 0, 0, 0};
    unsigned char bytes[3][32], rising[33];
    memset(bytes[0], 0, sizeof *bytes);
    memset(bytes[1], 0xff, sizeof *bytes);
    for (unsigned i = 0; i < sizeof *bytes; i++) {
        rising[1 + i] = (unsigned char)i;
        bytes[2][i] = (unsigned char)(31 - i);
    }
    assert_int_equal(state_crc32c(0, bytes[0], 32), 0x8a9136aa);
    assert_int_equal(state_crc32c(0, bytes[1], 32), 0x62a8ab43);
    assert_int_equal(state_crc32c(0, bytes[2], 32), 0x113fdb5c);
    assert_int_equal(state_crc32c(0, command, sizeof command), 0xd9963a56);
    assert_int_equal(state_crc32c(0, "123456789", 9), 0xe3069283);
    for (size_t cut = 0; cut <= 32; cut++)
        assert_int_equal(state_crc32c(state_crc32c(0, rising + 1, cut), rising + 1 + cut, 32 - cut), 0x46dd794e);
}

/* Each byte, in one bit and in several. A refusal leaves the memory as it was. */
static void damage_every_byte(char *bytes, size_t size, char *room) {
    static const unsigned char damages[] = {0x01, 0x80, 0xff, 0x03}; /* 3 makes the one version of the other */
    memset(room, 0x5a, size);
    for (size_t at = 0; at < size; at++)
        for (unsigned j = 0; j < sizeof damages; j++) {
            bytes[at] ^= (char)damages[j];
            expect_refused(table_state_load(bytes, size, room), "state: ");
            bytes[at] ^= (char)damages[j];
        }
    for (size_t at = 0; at < size; at++)
        assert_int_equal(room[at], 0x5a);
}

TEST(test_damaged_in_every_byte) {
    struct random random = {run_seed()};
    for (unsigned i = 0; i < TYPES; i++) {
        struct saved saved = save(&random, types[i], 1 + i % 2, i % 3 * 777, 1000 + 512 * i);
        damage_every_byte(saved.bytes + 1, saved.size, saved.room);
        for (size_t size = 0; size < saved.size; size++)
            expect_refused(table_state_load(saved.bytes + 1, size, saved.room), "bytes");
        expect_refused(table_state_load(saved.bytes, saved.size + 1, saved.room), "state: ");
        release(&saved);
    }
}

static char **old_forms; /* files */

/* Forms that were saved before version 2. */
TEST(test_saved_before) {
    assert_non_null(*old_forms);
    for (char **name = old_forms; *name; name++) {
        static char bytes[4096];
        static _Alignas(16) char room[4096], again[4096];
        table_state_facts facts;
        FILE *file = fopen(*name, "rb");
        assert_non_null(file);
        const size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        assert_int_equal(table_state_describe(bytes, size, &facts), TABLE_OK);
        assert_int_equal(facts.version, 1);
        damage_every_byte(bytes, size, room);
        assert_int_equal(table_state_load(bytes, size, room), TABLE_OK);
        assert_int_equal(table_state_check(room, size, facts.type, facts.columns), TABLE_OK);
        assert_int_equal(table_state_save(room, again, size), TABLE_OK);
        assert_int_equal(table_state_load(again, size, again), TABLE_OK);
        assert_memory_equal(again, room, size);
    }
}

/* A state in memory has no checksum: each byte that is damaged is found, or is a value like any other. Whatever it is,
 * nothing is read or written outside, which the guards around the memory and the sanitizers see. */
TEST(test_damaged_while_in_use) {
    struct random random = {run_seed()};
    for (unsigned i = 0; i < TYPES; i++) {
        struct saved saved = save(&random, types[i], 2, i % 2 * 600, 1300);
        const struct state_digits digits = state_digits(saved.state->first, saved.state->rows);
        struct block block;
        size_t found = 0;
        block_open(&block, &host_memory, saved.size, 0, EDGE_FRONT);
        for (size_t at = 0; at < saved.size; at++) {
            char sums[64];
            memcpy(block.address, saved.state, saved.size);
            ((unsigned char *)block.address)[at] ^= (unsigned char)(1 + random_below(&random, 255));
            const table_status status = table_state_check(block.address, saved.size, types[i], 2);
            assert_true(status == TABLE_OK || status == TABLE_ERROR_STATE);
            found += status != TABLE_OK;
            assert_false(table_state_equal(block.address, saved.state));
            if (status == TABLE_OK && ((struct sum_state *)block.address)->first == 0)
                assert_int_equal(table_state_sums(block.address, sums), TABLE_OK);
        }
        assert_true(block_surroundings_intact(&block));
        /* All but the counts and rows that mean something. */
        const size_t counts = 2 * sizeof(uint64_t), row = 2 * element_size(types[i]);
        size_t rows = 2;
        if (element_is_float(types[i]))
            rows = (saved.state->first == 0) + (size_t)__builtin_popcountll(digits.runs) +
                   (size_t)__builtin_popcountll(digits.blocks) + (size_t)__builtin_popcountll(digits.rising_runs) +
                   (size_t)__builtin_popcountll(digits.rising_blocks);
        else if (saved.state->first != 0)
            rows = 1;
        assert_in_range(found, saved.size - counts - rows * row, saved.size - rows * row);
        block_close(&block);
        release(&saved);
    }
}

TEST(test_equal) {
    struct random random = {run_seed()};
    struct saved saved = save(&random, TABLE_F32, 2, 0, 700);
    _Alignas(16) char zeros[64] = {0}, other_zeros[64] = {0};
    memcpy(saved.room, saved.state, saved.size);
    assert_true(table_state_equal(saved.state, saved.room));
    saved.room[saved.size - 1] ^= 1;
    assert_false(table_state_equal(saved.state, saved.room));
    assert_true(table_state_equal(zeros, other_zeros));
    assert_false(table_state_equal(zeros, saved.state));
    assert_false(table_state_equal(saved.state, zeros));
    assert_false(table_state_equal(NULL, saved.state));
    assert_false(table_state_equal(saved.state, saved.bytes + 3));
    release(&saved);
}

TEST(test_sizes) {
    size_t bytes;
    assert_int_equal(table_state_bytes(TABLE_F64, 3, &bytes), TABLE_OK);
    assert_int_equal(bytes, 64 + 131 * 3 * 8);
    assert_int_equal(table_state_bytes(TABLE_I32, 5, &bytes), TABLE_OK);
    assert_int_equal(bytes, 64 + 2 * 5 * 4);
    assert_int_equal(table_state_bytes(TABLE_U8, 5, &bytes), TABLE_ERROR_TYPE);
    assert_int_equal(table_state_bytes((table_type)0, 5, &bytes), TABLE_ERROR_TYPE);
    assert_int_equal(table_state_bytes(TABLE_F16, 5, &bytes), TABLE_ERROR_TYPE);
    assert_int_equal(table_state_bytes(TABLE_I8, 5, &bytes), TABLE_ERROR_TYPE);
    assert_int_equal(table_state_bytes(TABLE_F32, SIZE_MAX / 4, &bytes), TABLE_ERROR_TOO_LARGE);
    assert_int_equal(table_state_bytes(TABLE_F32, SIZE_MAX / (4 * 131), &bytes), TABLE_ERROR_TOO_LARGE);
    assert_int_equal(table_state_bytes(TABLE_F32, 1, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(bytes, 64 + 2 * 5 * 4);
    assert_int_equal(table_state_bytes(TABLE_F32, 0, &bytes), TABLE_OK);
    assert_int_equal(bytes, 64);
}

TEST(test_not_begun) {
    _Alignas(16) char zeros[64 + 2 * 4] = {0}, row[8];
    table_state_facts facts;
    uint64_t rows = 5;
    assert_int_equal(table_state_rows(zeros, &rows), TABLE_OK);
    assert_int_equal(rows, 0);
    assert_int_equal(table_state_describe(zeros, sizeof zeros, &facts), TABLE_OK);
    assert_int_equal(facts.version, 0);
    assert_int_equal(table_state_check(zeros, sizeof zeros, TABLE_U32, 1), TABLE_OK);
    assert_int_equal(table_state_check(zeros, sizeof zeros, (table_type)0, 0), TABLE_OK);
    expect_refused(table_state_check(zeros, sizeof zeros, TABLE_U32, 2), "bytes");
    expect_refused(table_state_sums(zeros, row), "not begun");
    expect_refused(table_state_save(zeros, row, sizeof row), "not begun");
    expect_refused(table_state_load(zeros, sizeof zeros, zeros), "does not begin");
    zeros[70] = 1;
    expect_refused(table_state_check(zeros, sizeof zeros, TABLE_U32, 1), "header is zero");
    zeros[3] = 1;
    expect_refused(table_state_rows(zeros, &rows), "does not begin");
}

TEST(test_wrong_joins) {
    struct random random = {run_seed()};
    struct saved left = save(&random, TABLE_F32, 2, 0, 700), right = save(&random, TABLE_F32, 2, 701, 700);
    struct saved wide = save(&random, TABLE_F32, 3, 700, 700), other = save(&random, TABLE_F64, 2, 700, 700);
    struct saved begun = save(&random, TABLE_F32, 2, 0, 700);
    _Alignas(16) static char zeros[2048];
    expect_refused(table_state_join(left.state, right.state), "begins at row 701");
    expect_refused(table_state_join(left.state, left.state), "begins at row 0");
    expect_refused(table_state_join(left.state, wide.state), "columns");
    expect_refused(table_state_join(left.state, other.state), "f64");
    expect_refused(table_state_join(left.state, zeros), "not begun");
    expect_refused(table_state_join(zeros, left.state), "not begun");
    assert_int_equal(table_state_begin(left.room, TABLE_F32, 0, 700), TABLE_OK);
    expect_refused(table_state_join(left.room, wide.state), "3 columns, not 0");
    assert_int_equal(table_state_begin(left.room, TABLE_F32, 2, 0), TABLE_OK);
    begun.state[1].magic = 1; /* into the start */
    expect_refused(table_state_join(left.room, begun.state), "start of its own");
    begun.state->flags = STATE_REFUSED;
    expect_refused(table_state_join(left.room, begun.state), "refused");
    begun.state->flags = 2;
    expect_refused(table_state_join(left.room, begun.state), "header");
    begun.state->version = 3;
    expect_refused(table_state_join(left.room, begun.state), "version 3");
    begun.state->version = STATE_VERSION;
    begun.state->type = TABLE_U16;
    expect_refused(table_state_join(left.room, begun.state), "type 2");
    begun.state->type = TABLE_F32;
    begun.state->rows = UINT64_MAX;
    expect_refused(table_state_join(left.room, begun.state), "2^63");
    assert_int_equal(table_state_join(left.state, NULL), TABLE_ERROR_ARGUMENT);
    assert_int_equal(table_state_join(left.state, left.bytes + 1), TABLE_ERROR_ALIGNMENT);
    assert_int_equal(table_state_begin(left.room, TABLE_F32, 2, UINT64_MAX), TABLE_ERROR_TOO_LARGE);
    expect_refused(table_state_sums(right.state, left.bytes), "row 701");
    assert_int_equal(table_state_sums(left.state, left.state + 1), TABLE_ERROR_OVERLAP);
    assert_int_equal(table_state_begin(left.room, TABLE_F32, 2, 0), TABLE_OK);
    assert_int_equal(table_state_save(left.state, left.state, left.size), TABLE_OK);
    expect_refused(table_state_sums(left.state, zeros), "saved form");
    expect_refused(table_state_join(left.room, left.state), "right: is a saved form");
    expect_refused(table_state_join(left.state, right.state), "left: is a saved form");
    release(&left);
    release(&right);
    release(&wide);
    release(&other);
    release(&begun);
}

int main(int count, char **arguments) {
    (void)count;
    old_forms = arguments + 1;
    return run_all_tests("state", NULL);
}
