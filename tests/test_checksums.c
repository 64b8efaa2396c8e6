/* The bits of results, which are a promise across versions: checksums of the running sums of certain tables, and of the
 * states that they leave, against tests/checksums.txt, on every way. A table is summed whole, or in three pieces.
 *
 *     test_checksums FILE            compares
 *     test_checksums --add FILE      adds the lines that the file lacks, as for new types. A line is never changed:
 *                                    to write the file anew, which is news, begin with an empty one
 *
 * Values and checksums are made here, and depend on nothing else in tests/. */
#include "support/random.h"
#include "support/tables.h"
#include "support/test.h"
#include "support/ways.h"

static const char *file_name;

struct line {
    table_operation operation;
    table_type in_type, out_type;
    size_t rows, columns;
    bool reverse;
    uint64_t inclusive, exclusive, state;
};

/* FNV-1a. */
static uint64_t checksum(const void *data, size_t bytes) {
    const unsigned char *at = data;
    uint64_t sum = 0xCBF29CE484222325u;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ at[i]) * 0x100000001B3u;
    return sum;
}

/* Integers of all bits. Floats of both signs, of 24 bits and magnitudes from 2^-8 to 2^8, so that sums round; some are
 * zeros of both signs. There are no infinities, and no NaN. */
static void make_value(void *values, size_t i, table_type type, uint64_t bits) {
    double real = (double)(1 + (bits >> 41)) * (double)(1u << (bits & 15)) * 0x1p-31;
    if (bits >> 4 & 1)
        real = -real;
    if ((bits >> 5 & 15) == 0)
        real *= 0;
    const unsigned sign = (unsigned)(bits >> 4 & 1) << 15, exponent = bits & 15;
    switch (type) {
    case TABLE_F16: /* 11 bits of the 24, and 8 below */
        ((uint16_t *)values)[i] = (uint16_t)(real == 0 ? sign : sign | (7 + exponent) << 10 | (unsigned)(bits >> 54));
        break;
    case TABLE_BF16:
        ((uint16_t *)values)[i] = (uint16_t)(real == 0 ? sign : sign | (119 + exponent) << 7 | (unsigned)(bits >> 57));
        break;
    case TABLE_F32:
        ((float *)values)[i] = (float)real;
        break;
    case TABLE_F64:
        ((double *)values)[i] = real;
        break;
    default:
        memcpy((char *)values + i * table_type_size(type), &bits, table_type_size(type)); /* little-endian */
    }
}

/* A table in host memory, and where it is summed. */
struct sums {
    const struct line *line;
    const struct way *way;
    table_strategy strategy;
    unsigned pieces;
    char *values, *results, *state;
    size_t in_bytes, out_bytes, state_bytes;
};

/* Rows `first` to `end`, as one call, through memory of the way. */
static void sum_piece(const struct sums *sums, bool exclusive, size_t first, size_t end) {
    const struct line *line = sums->line;
    const size_t in_row = line->columns * table_type_size(line->in_type);
    const size_t out_row = line->columns * table_type_size(line->out_type);
    struct block in, out;
    block_open(&in, sums->way->memory, (end - first) * in_row, 0, EDGE_FRONT);
    block_open(&out, sums->way->memory, (end - first) * out_row, 0, EDGE_FRONT);
    assert_true(block_upload(&in, sums->values + first * in_row));
    const table_view from = {in.address, end - first, line->columns, 0, line->in_type};
    const table_view to = {out.address, end - first, line->columns, 0, line->out_type};
    const table_scan_options options = {.operation = line->operation,
                                        .exclusive = exclusive,
                                        .backend = sums->way->backend,
                                        .strategy = sums->strategy,
                                        .threads = 1 + (unsigned)(line->rows % 4),
                                        .reverse = line->reverse,
                                        .state = sums->state};
    const table_status status = table_prefix_sum(&from, &to, &options);
    if (status != TABLE_OK)
        fail_msg("%s: %s", sums->way->name, table_error_detail());
    assert_true(block_download(&out, sums->results + first * out_row));
    block_close(&in);
    block_close(&out);
}

/* Rows that are counted from `first` to `end`. */
static void sum_counted(const struct sums *sums, bool exclusive, size_t first, size_t end) {
    const size_t rows = sums->line->rows;
    if (sums->line->reverse)
        sum_piece(sums, exclusive, rows - end, rows - first);
    else
        sum_piece(sums, exclusive, first, end);
}

static uint64_t sum_table(const struct sums *sums, bool exclusive) {
    const size_t rows = sums->line->rows, third = rows / 3 + 1;
    memset(sums->state, 0, sums->state_bytes);
    if (sums->pieces == 1) {
        sum_counted(sums, exclusive, 0, rows);
    } else {
        sum_counted(sums, exclusive, 0, rows - third);
        sum_counted(sums, exclusive, rows - third, rows - third / 2);
        sum_counted(sums, exclusive, rows - third / 2, rows);
    }
    return checksum(sums->results, sums->out_bytes);
}

static struct line compute(const struct line *line, const struct way *way, table_strategy strategy, unsigned pieces) {
    struct line found = *line;
    struct sums sums = {.line = line, .way = way, .strategy = strategy, .pieces = pieces};
    struct random random = {line->rows * 1000003 + line->columns};
    const table_type kept = table_kept_type(line->operation, line->out_type);
    assert_int_equal(table_state_bytes_of(line->operation, kept, line->columns, &sums.state_bytes), TABLE_OK);
    sums.in_bytes = line->rows * line->columns * table_type_size(line->in_type);
    sums.out_bytes = line->rows * line->columns * table_type_size(line->out_type);
    sums.values = get_memory(sums.in_bytes);
    sums.results = get_memory(sums.out_bytes);
    sums.state = get_memory(sums.state_bytes);
    for (size_t i = 0; i < line->rows * line->columns; i++)
        make_value(sums.values, i, line->in_type, random_bits(&random));
    found.exclusive = sum_table(&sums, true);
    found.inclusive = sum_table(&sums, false);
    found.state = checksum(sums.state, sums.state_bytes);
    free(sums.values);
    free(sums.results);
    free(sums.state);
    return found;
}

static void write_line(FILE *file, const struct line *line) {
    fprintf(file, "%s %s %zu %zu %016" PRIx64 " %016" PRIx64 " %016" PRIx64 "%s", table_type_name(line->in_type),
            table_type_name(line->out_type), line->rows, line->columns, line->inclusive, line->exclusive, line->state,
            line->reverse ? " reverse" : "");
    fprintf(file, line->operation == TABLE_SUM ? "\n" : " %s\n", table_operation_name(line->operation));
}

static table_type type_of(const char *name) {
    for (int type = 1; table_type_name((table_type)type); type++)
        if (strcmp(name, table_type_name((table_type)type)) == 0)
            return (table_type)type;
    return (table_type)0;
}

static bool read_line(FILE *file, struct line *line) {
    char text[200], in[8], out[8], words[2][8] = {"", ""};
    if (!fgets(text, sizeof text, file))
        return false;
    const int count = sscanf(text, "%7s %7s %zu %zu %" SCNx64 " %" SCNx64 " %" SCNx64 " %7s %7s", in, out, &line->rows,
                             &line->columns, &line->inclusive, &line->exclusive, &line->state, words[0], words[1]);
    assert_true(count >= 7);
    line->reverse = strcmp(words[0], "reverse") == 0;
    line->operation = TABLE_SUM;
    const char *const name = words[line->reverse];
    while (*name && table_operation_name(line->operation) && strcmp(name, table_operation_name(line->operation)) != 0)
        line->operation++;
    assert_non_null(table_operation_name(line->operation));
    line->in_type = type_of(in);
    line->out_type = type_of(out);
    return true;
}

TEST(test_bits_are_kept) {
    FILE *file = fopen(file_name, "r");
    struct random random = {run_seed()};
    struct line line;
    unsigned lines = 0;
    if (!file)
        fail_msg("%s cannot be read", file_name);
    for (; read_line(file, &line); lines++) {
        if (!random_once_in(&random, run_few()) || (run_small() && line.rows * line.columns > 1 << 14))
            continue;
        for (size_t i = 0; i < way_count; i++) {
            const table_strategy strategy = (table_strategy)random_below(&random, TABLE_STRATEGY_FUSED + 1);
            const unsigned pieces = random_once_in(&random, 2) ? 1 : 3;
            way_enter(&ways[i]);
            const struct line found = compute(&line, &ways[i], strategy, pieces);
            if (found.inclusive != line.inclusive || found.exclusive != line.exclusive || found.state != line.state) {
                write_line(stdout, &line);
                write_line(stdout, &found);
                fail_msg("other bits than in %s: %s, strategy %d, %u pieces", file_name, ways[i].name, (int)strategy,
                         pieces);
            }
        }
    }
    assert_true(feof(file) && lines > 200);
    fclose(file);
}

static bool is_there(FILE *file, const struct line *line) {
    struct line old;
    rewind(file);
    while (read_line(file, &old))
        if (old.operation == line->operation && old.in_type == line->in_type && old.out_type == line->out_type &&
            old.rows == line->rows && old.columns == line->columns && old.reverse == line->reverse)
            return true;
    return false;
}

static void add_line(FILE *file, struct line line) {
    if (is_there(file, &line))
        return;
    line = compute(&line, &ways[0], TABLE_STRATEGY_FUSED, 1);
    fseek(file, 0, SEEK_END);
    write_line(file, &line);
}

static int add_to_file(void) {
    static const size_t columns[] = {1, 3, 4, 7, 17, 64, 130}, rows[] = {1, 513, 1500, 20000, 70001};
    enum { COLUMNS = sizeof columns / sizeof *columns, ROWS = sizeof rows / sizeof *rows };
    struct type_pair pair;
    FILE *file = fopen(file_name, "a+");
    if (!file)
        return 1;
    way_enter(&ways[0]);
    for (size_t number = 0; operation_pair(TABLE_SUM, number, &pair); number++)
        for (size_t i = 0; i < 2 * COLUMNS * ROWS; i++) {
            const struct line line = {.in_type = pair.in,
                                      .out_type = pair.out,
                                      .rows = rows[i % ROWS],
                                      .columns = columns[i / ROWS % COLUMNS],
                                      .reverse = i / ROWS >= COLUMNS};
            const bool widens = line.in_type != line.out_type; /* of these, fewer tables tell as much */
            if (line.rows * line.columns <= 1 << 18 && (!widens || (!line.reverse && line.columns % 61 == 3)))
                add_line(file, line);
        }
    struct line line = {.operation = TABLE_MAXIMUM};
    for (; line.operation <= TABLE_PRODUCT; line.operation++)
        for (size_t number = 0; operation_pair(line.operation, number, &pair); number++)
            for (size_t i = 0; i < 4; i++) {
                line.in_type = pair.in;
                line.out_type = pair.out;
                line.rows = i % 2 ? 513 : 20000;
                line.columns = i / 2 ? 4 : 17;
                add_line(file, line);
            }
    return fclose(file) != 0;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return 2;
    file_name = argv[argc - 1];
    return argc == 3 && strcmp(argv[1], "--add") == 0 ? add_to_file() : run_all_tests("checksums", ways_unavailable());
}
