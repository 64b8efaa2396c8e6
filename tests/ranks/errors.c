/* Errors are everybody's: what one rank does wrong, all are told in the same words, and nobody waits for ever. */
#include <stdio.h>
#include <string.h>

#include "ranks/ranks.h"

enum { ROWS = 700, COLUMNS = 3, TEXT = 256 };

/* A call that is right on all ranks, of which one makes something wrong. */
struct call {
    table_view in, out;
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
    return (struct call){.in = {values, ROWS, COLUMNS, 0, TABLE_F32}, .out = {sums, ROWS, COLUMNS, 0, TABLE_F32}};
}

static void check_untouched(void) {
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        CHECK(sums[i] == -1);
}

static void no_data(struct call *call) { call->in.data = NULL; }
static void other_columns(struct call *call) { call->in.columns = call->out.columns = COLUMNS - 1; }
static void other_out_type(struct call *call) {
    call->out.type = TABLE_F64;
    call->in.rows = call->out.rows = 0;
}
static void other_types(struct call *call) { call->in.type = call->out.type = TABLE_I32; }
static void exclusive(struct call *call) { call->options.exclusive = 1; }
static void bad_exclusive(struct call *call) { call->options.exclusive = 2; }
static void other_rows(struct call *call) { call->out.rows--; }
static void overlapping(struct call *call) { call->out.data = values + COLUMNS; }
static void overflow_of_floats(struct call *call) {
    static _Thread_local uint64_t found;
    call->options.first_overflow = &found;
}
static void workspace(struct call *call) { call->options.workspace_bytes = 1; }
static void state_in_out(struct call *call) { call->options.state = sums; }
static void misaligned_state(struct call *call) { call->options.state = state + 4; }
static void reverse(struct call *call) { call->options.reverse = 1; }
static void bad_reverse(struct call *call) { call->options.reverse = 2; }
static void maximum(struct call *call) { call->options.operation = TABLE_MAXIMUM; }
static void skip_nan(struct call *call) { call->options.skip_nan = 1; }
static void skipped_alone(struct call *call) {
    static _Thread_local uint64_t found;
    call->options.skipped = &found;
}
static void offsets_and_exclusive(struct call *call) { call->options.offsets = call->options.exclusive = 1; }
static void more_offsets(struct call *call) {
    call->options.offsets = 1;
    call->in.rows -= 2;
}
static void tables(struct call *call) { call->options.tables = 2; }
static void kept(struct call *call) { call->options.kept = TABLE_F64; }
static void no_type(struct call *call) { call->out.type = (table_type)99; }

static const struct {
    void (*spoil)(struct call *);
    table_status status;
    const char *word;
} wrong_calls[] = {{no_data, TABLE_ERROR_ARGUMENT, "in->data"},
                   {other_columns, TABLE_ERROR_RANKS, "columns: 2 on one, 3 on another"},
                   {other_out_type, TABLE_ERROR_RANKS, "type of out: f32 on one, f64 on another"},
                   {other_types, TABLE_ERROR_RANKS, "type of in: i32 on one, f32 on another"},
                   {exclusive, TABLE_ERROR_RANKS, "exclusive"},
                   {bad_exclusive, TABLE_ERROR_ARGUMENT, "exclusive"},
                   {other_rows, TABLE_ERROR_SHAPE, "out is"},
                   {overlapping, TABLE_ERROR_OVERLAP, "share memory"},
                   {overflow_of_floats, TABLE_ERROR_ARGUMENT, "first_overflow"},
                   {workspace, TABLE_ERROR_ARGUMENT, "workspace"},
                   {state_in_out, TABLE_ERROR_OVERLAP, "options->state"},
                   {misaligned_state, TABLE_ERROR_ALIGNMENT, "options->state"},
                   {reverse, TABLE_ERROR_RANKS, "reverse: 0 on one, 1 on another"},
                   {bad_reverse, TABLE_ERROR_ARGUMENT, "reverse"},
                   {maximum, TABLE_ERROR_RANKS, "operation: 0 on one, 1 on another"},
                   {skip_nan, TABLE_ERROR_RANKS, "skip_nan: 0 on one, 1 on another"},
                   {skipped_alone, TABLE_ERROR_ARGUMENT, "skipped"},
                   {offsets_and_exclusive, TABLE_ERROR_ARGUMENT, "offsets and exclusive"},
                   {more_offsets, TABLE_ERROR_SHAPE, "in is"},
                   {tables, TABLE_ERROR_ARGUMENT, "tables"},
                   {kept, TABLE_ERROR_ARGUMENT, "kept"},
                   {no_type, TABLE_ERROR_TYPE, "out->type 99"}};

static void test_wrong_calls(const struct ranks *ranks) {
    for (size_t i = 0; i < sizeof wrong_calls / sizeof *wrong_calls; i++) {
        const int guilty = (int)i % ranks->count;
        struct call call = right_call();
        if (ranks->rank == guilty)
            wrong_calls[i].spoil(&call);
        if (wrong_calls[i].status == TABLE_ERROR_RANKS && ranks->count == 1)
            continue;
        check_told(ranks, sum_over(ranks, &call.in, &call.out, &call.options), wrong_calls[i].status,
                   wrong_calls[i].word);
        check_untouched();
        if (wrong_calls[i].status != TABLE_ERROR_RANKS) {
            char name[32] = "rank ";
            snprintf(name, sizeof name, "rank %d: ", guilty);
            CHECK(strncmp(table_error_detail(), name, strlen(name)) == 0);
        }
    }
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
 * that nobody is helped out by a message that is left of a call before. */
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

/* Totals are kept in the types of sums, and are as wide: nothing is written behind a row of narrower ones. */
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

/* One row of offsets more is the last rank's, and nobody else's. */
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

static void few_coefficients(struct call *call, table_view *a) {
    a->rows--;
    (void)call;
}
static void wide_coefficients(struct call *call, table_view *a) {
    a->type = TABLE_F64;
    a->rows = a->columns = 1;
    (void)call;
}
static void written_coefficients(struct call *call, table_view *a) { a->data = call->out.data; }
static void shifted(struct call *call, table_view *a) {
    call->options.shifted_coefficients = 1;
    call->options.first_coefficients = row;
    (void)a;
}
static void no_results(struct call *call, table_view *a) {
    call->out.data = NULL;
    (void)a;
}
static void state_of_a_sum(struct call *call, table_view *a) {
    CHECK(table_state_begin(state, TABLE_F32, COLUMNS, 0) == TABLE_OK);
    call->options.state = state;
    (void)a;
}

static const struct {
    void (*spoil)(struct call *, table_view *a);
    table_status status;
    const char *word;
} wrong_recurrences[] = {{few_coefficients, TABLE_ERROR_SHAPE, "a is 699 x 3 and b is 700 x 3"},
                         {wide_coefficients, TABLE_ERROR_TYPE, "a->type is f64"},
                         {written_coefficients, TABLE_ERROR_OVERLAP, "a and h share memory"},
                         {shifted, TABLE_ERROR_RANKS, "shifted_coefficients: 0 on one, 1 on another"},
                         {no_results, TABLE_ERROR_ARGUMENT, "h->data is a null pointer"},
                         {state_of_a_sum, TABLE_ERROR_STATE, "that of a sum, not of a recurrence"}};

/* The state is that of rank 0, and the row before the own ones is for all others to have. */
static void test_wrong_recurrences(const struct ranks *ranks) {
    struct call call;
    for (size_t i = 0; i < sizeof wrong_recurrences / sizeof *wrong_recurrences; i++) {
        const int guilty = wrong_recurrences[i].spoil == state_of_a_sum ? 0 : (int)i % ranks->count;
        call = right_call();
        table_view a = call.in;
        if (ranks->rank == guilty)
            wrong_recurrences[i].spoil(&call, &a);
        if (wrong_recurrences[i].status == TABLE_ERROR_RANKS && ranks->count == 1)
            continue;
        check_told(ranks, recurrence_over(ranks, &a, &call.in, &call.out, &call.options), wrong_recurrences[i].status,
                   wrong_recurrences[i].word);
        check_untouched();
    }
    call = right_call();
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

/* Work fails on one rank, when all have agreed: totals of what is nowhere; and a backend that is not there. */
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
