#include "wrong_call.h"

#include "test.h"

struct call_memory memory;

struct call right_call(void) {
    memset(&memory, 0x5A, sizeof memory);
    return (struct call){
        .in = {memory.in, ROWS, COLUMNS, 0, TABLE_U64},
        .out = {memory.out, ROWS, COLUMNS, 0, TABLE_U64},
        .options = {.carry_in = memory.carry_in, .carry_out = memory.carry_out, .first_overflow = memory.overflow},
    };
}

struct call right_recurrence(void) {
    struct call call = right_call();
    call.in.type = call.out.type = TABLE_F32;
    call.a = (table_view){memory.a, ROWS, COLUMNS, 0, TABLE_F32};
    call.options.first_overflow = NULL;
    return call;
}

/* The one-call form. */
void expect_call(struct call call, table_status status, const char *word) {
    keep();
    if (call.a.type)
        expect(table_linear_recurrence(&call.a, &call.in, &call.out, &call.options), status, word);
    else
        expect(table_prefix_sum(&call.in, &call.out, &call.options), status, word);
}

/* Both stream forms. A state's content is checked when it is used. */
void expect_stream(struct call call, table_status status, const char *word) {
    size_t bytes = 12345;
    keep();
    if (status != TABLE_ERROR_STATE)
        expect(call.a.type ? table_linear_recurrence_workspace(&call.a, &call.in, &call.out, &call.options, &bytes)
                           : table_prefix_sum_workspace(&call.in, &call.out, &call.options, &bytes),
               status, word);
    assert_int_equal(bytes, 12345);
    call.options.workspace = memory.workspace;
    call.options.workspace_bytes = sizeof memory.workspace;
    expect(call.a.type ? table_linear_recurrence_async(&call.a, &call.in, &call.out, &call.options)
                       : table_prefix_sum_async(&call.in, &call.out, &call.options),
           status, word);
}

void expect_all(struct call call, table_status status, const char *word) {
    expect_call(call, status, word);
    expect_stream(call, status, word);
}
