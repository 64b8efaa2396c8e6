/* Errors are shared: what one rank does wrong, all are told in the same words, and no rank waits for ever. */
#include <stdio.h>
#include <string.h>

#include "ranks/ranks.h"

enum { ROWS = 700, COLUMNS = 3, TEXT = 256 };

/* A call that is right on all ranks, of which one makes something wrong. */
struct call {
    table_view in, out, a; /* a: the coefficients of a recurrence */
    table_scan_options options;
};

static _Thread_local _Alignas(64) float values[ROWS * COLUMNS], sums[ROWS * COLUMNS];
static _Thread_local _Alignas(64) char state[64 + 131 * COLUMNS * 16]; /* an element of a recurrence has 16 bytes */
static _Thread_local float row[COLUMNS];

void check_told(const struct ranks *ranks, table_status status, table_status wanted, const char *word) {
    check_note("%s, not %s", table_status_name(status), table_status_name(wanted));
    CHECK(status == wanted);
    CHECK(strstr(table_error_detail(), word) != NULL);
    CHECK(same_text(ranks, table_error_detail()));
}

static struct call right_call(void) {
    memset(state, 0, sizeof state);
    for (size_t i = 0; i < ROWS * COLUMNS; i++) {
        values[i] = 1;
        sums[i] = -1;
    }
    return (struct call){.in = {values, ROWS, COLUMNS, 0, TABLE_F32},
                         .out = {sums, ROWS, COLUMNS, 0, TABLE_F32},
                         .a = {values, ROWS, COLUMNS, 0, TABLE_F32}};
}

static void check_untouched(void) {
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        CHECK(sums[i] == -1);
}

/* All ranks make a right call, of which one makes something wrong: each rank in turn, or rank 0 alone. */
static _Thread_local int next_guilty;

static bool is_guilty(const struct ranks *ranks) { return ranks->rank == next_guilty % ranks->count; }

/* With one rank alone no call differs from another, and the calls that should are left out. */
static void check_wrong(const struct ranks *ranks, const struct call *call, bool recurs, table_status wanted,
                        const char *word) {
    char name[32];
    snprintf(name, sizeof name, "rank %d: ", next_guilty++ % ranks->count);
    if (wanted == TABLE_ERROR_RANKS && ranks->count == 1)
        return;
    const table_status status = recurs ? recurrence_over(ranks, &call->a, &call->in, &call->out, &call->options)
                                       : sum_over(ranks, &call->in, &call->out, &call->options);
    check_told(ranks, status, wanted, word);
    check_untouched();
    CHECK(wanted == TABLE_ERROR_RANKS || strncmp(table_error_detail(), name, strlen(name)) == 0);
}

#define WRONG_CALL(RECURS, STATUS, WORD, ...)                                                                          \
    do {                                                                                                               \
        struct call call = right_call();                                                                               \
        if (is_guilty(ranks)) {                                                                                        \
            __VA_ARGS__;                                                                                               \
        }                                                                                                              \
        check_wrong(ranks, &call, RECURS, TABLE_ERROR_##STATUS, WORD);                                                 \
    } while (0)
#define WRONG(STATUS, WORD, ...)            WRONG_CALL(false, STATUS, WORD, __VA_ARGS__)
#define WRONG_RECURRENCE(STATUS, WORD, ...) WRONG_CALL(true, STATUS, WORD, __VA_ARGS__)

static void test_wrong_calls(const struct ranks *ranks) {
    uint64_t word;
    next_guilty = 0;
    WRONG(ARGUMENT, "in->data", call.in.data = NULL);
    WRONG(RANKS, "columns: 2 on one, 3 on another", call.in.columns = call.out.columns = COLUMNS - 1);
    WRONG(RANKS, "type of out: f32 on one, f64 on another", call.out.type = TABLE_F64,
          call.in.rows = call.out.rows = 0);
    WRONG(RANKS, "type of in: i32 on one, f32 on another", call.in.type = call.out.type = TABLE_I32);
    WRONG(RANKS, "exclusive", call.options.exclusive = 1);
    WRONG(ARGUMENT, "exclusive", call.options.exclusive = 2);
    WRONG(SHAPE, "out is", call.out.rows--);
    WRONG(OVERLAP, "share memory", call.out.data = values + COLUMNS);
    WRONG(ARGUMENT, "first_overflow", call.options.first_overflow = &word);
    WRONG(ARGUMENT, "workspace", call.options.workspace_bytes = 1);
    WRONG(OVERLAP, "options->state", call.options.state = sums);
    WRONG(ALIGNMENT, "options->state", call.options.state = state + 4);
    WRONG(RANKS, "reverse: 0 on one, 1 on another", call.options.reverse = 1);
    WRONG(ARGUMENT, "reverse", call.options.reverse = 2);
    WRONG(RANKS, "operation: 0 on one, 1 on another", call.options.operation = TABLE_MAXIMUM);
    WRONG(RANKS, "skip_nan: 0 on one, 1 on another", call.options.skip_nan = 1);
    WRONG(ARGUMENT, "skipped", call.options.skipped = &word);
    WRONG(ARGUMENT, "offsets and exclusive", call.options.offsets = call.options.exclusive = 1);
    WRONG(SHAPE, "in is", call.options.offsets = 1, call.in.rows -= 2);
    WRONG(ARGUMENT, "tables", call.options.tables = 2);
    WRONG(ARGUMENT, "kept", call.options.kept = TABLE_F64);
    WRONG(TYPE, "out->type 99", call.out.type = (table_type)99);
}

/* The kinds of calls, by the names that errors give them. */
static const char *const kinds[] = {"prefix_sum", "column_totals", "linear_recurrence"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static table_status call_of_kind(const struct ranks *ranks, unsigned kind, bool is_right) {
    struct call call = right_call();
    const table_view *const in = is_right ? &call.in : NULL;
    return kind == 0   ? sum_over(ranks, in, &call.out, &call.options)
           : kind == 1 ? totals_over(ranks, in, TABLE_F32, row, NULL)
                       : recurrence_over(ranks, &call.in, in, &call.out, &call.options);
}

/* The first rank makes one call, all others another one, and each of them is right or wrong. Kinds come last first, so
 * that no rank is helped out by a message left of a call before. */
static void test_other_calls(const struct ranks *ranks) {
    for (unsigned i = 0; i < KINDS * KINDS * 4 && ranks->count > 1; i++) {
        const unsigned first = KINDS - 1 - i / 4 / KINDS, others = i / 4 % KINDS;
        const bool is_first = ranks->rank == 0, first_right = i & 1, others_right = i & 2;
        char differ[TEXT];
        check_note("%s on the first rank, %s, %s on others, %s", kinds[first], first_right ? "right" : "wrong",
                   kinds[others], others_right ? "right" : "wrong");
        const table_status status =
            call_of_kind(ranks, is_first ? first : others, is_first ? first_right : others_right);
        snprintf(differ, sizeof differ, "the call: %s on one, %s on another", kinds[first < others ? first : others],
                 kinds[first < others ? others : first]);
        if (!first_right || !others_right)
            check_told(ranks, status, TABLE_ERROR_ARGUMENT, first_right ? "rank 1: " : "rank 0: ");
        else if (first != others)
            check_told(ranks, status, TABLE_ERROR_RANKS, differ);
        else
            CHECK(status == TABLE_OK);
        if (!first_right || !others_right || first != others)
            check_untouched();
    }
}

/* Totals are kept in the types of sums, and are as wide: nothing is written after a row of narrower ones. */
static void test_narrow_totals(const struct ranks *ranks) {
    static const table_type narrow[] = {TABLE_F16, TABLE_BF16};
    for (unsigned i = 0; i < 2; i++) {
        uint16_t totals[2 * COLUMNS];
        const table_view in = {values, ROWS, COLUMNS, 0, narrow[i]};
        memset(totals, 0x5a, sizeof totals);
        check_told(ranks, totals_over(ranks, &in, narrow[i], totals, NULL), TABLE_ERROR_TYPE, "f32 is what");
        for (unsigned j = 0; j < 2 * COLUMNS; j++)
            CHECK(totals[j] == 0x5a5a);
    }
}

/* One row of offsets more is the last rank's alone. */
static void test_offsets(const struct ranks *ranks) {
    static _Thread_local float more[(ROWS + 1) * COLUMNS];
    struct call call = right_call();
    call.options.offsets = 1;
    if (ranks->rank == ranks->count - 1)
        call.out = (table_view){more, ROWS + 1, COLUMNS, 0, TABLE_F32};
    CHECK(sum_over(ranks, &call.in, &call.out, &call.options) == TABLE_OK);
    CHECK((ranks->rank == ranks->count - 1 ? more : sums)[0] == (float)(ranks->rank * ROWS));
    CHECK(ranks->rank < ranks->count - 1 || more[ROWS * COLUMNS] == (float)(ranks->count * ROWS));
    call = right_call();
    call.options.offsets = ranks->rank == 0 && ranks->count > 1;
    if (ranks->count > 1) {
        check_told(ranks, sum_over(ranks, &call.in, &call.out, &call.options), TABLE_ERROR_RANKS,
                   "offsets: 0 on one, 1 on another");
        check_untouched();
    }
}

/* The state is that of rank 0, and the row before the own ones is for all others to have. */
static void test_wrong_recurrences(const struct ranks *ranks) {
    next_guilty = 0;
    WRONG_RECURRENCE(SHAPE, "a is 699 x 3 and b is 700 x 3", call.a.rows--);
    WRONG_RECURRENCE(TYPE, "a->type is f64", call.a.type = TABLE_F64, call.a.rows = call.a.columns = 1);
    WRONG_RECURRENCE(OVERLAP, "a and h share memory", call.a.data = call.out.data);
    WRONG_RECURRENCE(RANKS, "shifted_coefficients: 0 on one, 1 on another", call.options.shifted_coefficients = 1,
                     call.options.first_coefficients = row);
    WRONG_RECURRENCE(ARGUMENT, "h->data is a null pointer", call.out.data = NULL);
    next_guilty = 0;
    WRONG_RECURRENCE(STATE, "that of a sum, not of a recurrence",
                     CHECK(table_state_begin(state, TABLE_F32, COLUMNS, 0) == TABLE_OK), call.options.state = state);
    struct call call = right_call();
    call.options.shifted_coefficients = 1;
    if (ranks->count > 1)
        check_told(ranks, recurrence_over(ranks, &call.in, &call.in, &call.out, &call.options), TABLE_ERROR_ARGUMENT,
                   "rank 1: options->first_coefficients is a null pointer");
    check_untouched();
}

/* What rank 0 alone can do wrong. */
static void test_wrong_beginnings(const struct ranks *ranks) {
    struct call call = right_call();
    call.options.state = state;
    memset(state, 0x5a, sizeof state);
    check_told(ranks, sum_over(ranks, &call.in, &call.out, &call.options), TABLE_ERROR_STATE, "state");
    CHECK(table_state_begin(state, TABLE_F32, COLUMNS, 0) == TABLE_OK);
    call.options.carry_in = row;
    check_told(ranks, sum_over(ranks, &call.in, &call.out, &call.options), TABLE_ERROR_ARGUMENT, "carry_in");
    call.options.carry_in = NULL;
    CHECK(table_state_begin(state, TABLE_F32, COLUMNS, 5) == TABLE_OK);
    check_told(ranks, sum_over(ranks, &call.in, &call.out, &call.options), TABLE_ERROR_STATE, "row 5");
    check_untouched();
}

/* Totals of a range that begins beyond row 0 are not known, whichever rank wants them. */
static void test_totals_of_range(const struct ranks *ranks) {
    for (int guilty = 0; guilty < ranks->count; guilty++) {
        struct call call = right_call();
        char begun[sizeof state];
        CHECK(table_state_begin(state, TABLE_F32, COLUMNS, 5) == TABLE_OK);
        memcpy(begun, state, sizeof state);
        row[0] = -1;
        call.options.state = state;
        check_told(ranks, totals_over(ranks, &call.in, TABLE_F32, ranks->rank == guilty ? row : NULL, &call.options),
                   TABLE_ERROR_ARGUMENT, "totals: options->state begins at row 5");
        CHECK(row[0] == -1 && memcmp(begun, state, sizeof state) == 0);
    }
}

/* Work fails on one rank, when all have agreed: rows that are NULL, or a backend that is not there. */
static void test_failing_work(const struct ranks *ranks) {
    for (int guilty = 0; guilty < ranks->count; guilty++) {
        struct call call = right_call();
        if (ranks->rank == guilty)
            call.in.data = NULL;
        check_told(ranks, totals_over(ranks, &call.in, TABLE_F32, row, NULL), TABLE_ERROR_ARGUMENT, "in->data");
        call = right_call();
        call.options.carry_out = row;
        if (ranks->rank == guilty)
            call.options.backend = TABLE_BACKEND_CUDA;
        if (table_cuda_unavailable())
            check_told(ranks, sum_over(ranks, &call.in, &call.out, &call.options), TABLE_ERROR_BACKEND, "CUDA");
    }
}

void test_errors_of_ranks(int world) {
    for (int count = 1; count <= world; count++) {
        struct ranks ranks;
        if ((count > 3 && count < world) || !group_open(&ranks, count, false))
            continue;
        check_note("%d ranks", count);
        test_wrong_calls(&ranks);
        test_other_calls(&ranks);
        test_narrow_totals(&ranks);
        test_offsets(&ranks);
        test_wrong_recurrences(&ranks);
        test_wrong_beginnings(&ranks);
        test_totals_of_range(&ranks);
        test_failing_work(&ranks);
        test_communicators(&ranks);
        group_close(&ranks);
    }
}
