/* The calls on keys of a library that was built without them: each says so, and by the same status. */
#include "keys/calls.h"
#include "support/test.h"

TEST(test_all) {
    size_t bytes = 7;
    for (enum operation operation = 0; operation < OPERATIONS; operation++)
        for (enum form form = NOW; form <= QUEUE; form++) {
            const struct key_arguments nothing = {.operation = operation};
            assert_int_equal(call_on_keys(form, &nothing, &bytes), TABLE_ERROR_BACKEND);
            assert_non_null(strstr(table_error_detail(), "built without"));
            assert_non_null(strstr(table_error_detail(), "-Dkeys"));
            assert_int_equal(bytes, 7);
        }
}

int main(void) { return run_all_tests("absent", NULL); }
