#include "wrong_call.h"

#include "test.h"

struct call_memory memory;
static struct call_memory before;

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

void keep(void) { memcpy(&before, &memory, sizeof memory); }

void expect(table_status found, table_status expected, const char *word, const char *function) {
    if (found != expected)
        fail_msg("%s: expected %s, found %s (%s)", function, table_status_name(expected), table_status_name(found),
                 table_error_detail());
    if (!strstr(table_error_detail(), word))
        fail_msg("%s: the reason should name \"%s\", and is: %s", function, word, table_error_detail());
    if (strstr(table_error_detail(), "carry_in->") || strstr(table_error_detail(), "carry_out->") ||
        strstr(table_error_detail(), "first_overflow->"))
        fail_msg("%s: the reason takes a pointer for a table: %s", function, table_error_detail());
    if (strpbrk(table_error_detail(), "\n"))
        fail_msg("%s: the reason is not one line: %s", function, table_error_detail());
    if (memcmp(&before, &memory, sizeof memory) != 0)
        fail_msg("%s: something was written", function);
}

/* The one-call form. */
void expect_call(struct call call, table_status status, const char *word) {
    keep();
    if (call.a.type)
        expect(table_linear_recurrence(&call.a, &call.in, &call.out, &call.options), status, word,
               "table_linear_recurrence");
    else
        expect(table_prefix_sum(&call.in, &call.out, &call.options), status, word, "table_prefix_sum");
}

/* Both stream forms. What is in a state is looked at when it is used. */
void expect_stream(struct call call, table_status status, const char *word) {
    size_t bytes = 12345;
    keep();
    if (status != TABLE_ERROR_STATE)
        expect(call.a.type ? table_linear_recurrence_workspace(&call.a, &call.in, &call.out, &call.options, &bytes)
                           : table_prefix_sum_workspace(&call.in, &call.out, &call.options, &bytes),
               status, word, "the workspace");
    assert_int_equal(bytes, 12345);
    call.options.workspace = memory.workspace;
    call.options.workspace_bytes = sizeof memory.workspace;
    expect(call.a.type ? table_linear_recurrence_async(&call.a, &call.in, &call.out, &call.options)
                       : table_prefix_sum_async(&call.in, &call.out, &call.options),
           status, word, "the stream form");
}

void expect_all(struct call call, table_status status, const char *word) {
    expect_call(call, status, word);
    expect_stream(call, status, word);
}
