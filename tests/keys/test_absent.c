/* The calls on keys of a library that was built without them: each says so, and by the same status. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

#define SAYS_SO(CALL)                                                                                                  \
    do {                                                                                                               \
        assert_int_equal(CALL, TABLE_ERROR_BACKEND);                                                                   \
        assert_non_null(strstr(table_error_detail(), "built without"));                                                \
        assert_non_null(strstr(table_error_detail(), "-Dkeys"));                                                       \
    } while (0)

static void test_all(void **state) {
    size_t bytes = 7;
    (void)state;
    SAYS_SO(table_digit_counts(NULL, NULL, 0, NULL, NULL));
    SAYS_SO(table_digit_counts_workspace(NULL, NULL, 0, NULL, NULL, &bytes));
    SAYS_SO(table_digit_counts_async(NULL, NULL, 0, NULL, NULL));
    SAYS_SO(table_chunk_ranks(NULL, NULL, NULL, NULL, NULL));
    SAYS_SO(table_chunk_ranks_workspace(NULL, NULL, NULL, NULL, NULL, &bytes));
    SAYS_SO(table_chunk_ranks_async(NULL, NULL, NULL, NULL, NULL));
    SAYS_SO(table_histogram(NULL, NULL, NULL, NULL));
    SAYS_SO(table_histogram_workspace(NULL, NULL, NULL, NULL, &bytes));
    SAYS_SO(table_histogram_async(NULL, NULL, NULL, NULL));
    SAYS_SO(table_radix_sort(NULL, NULL, 0, NULL));
    SAYS_SO(table_radix_sort_workspace(NULL, NULL, 0, NULL, &bytes));
    SAYS_SO(table_radix_sort_async(NULL, NULL, 0, NULL));
    SAYS_SO(table_argsort(NULL, NULL, NULL));
    SAYS_SO(table_argsort_workspace(NULL, NULL, NULL, &bytes));
    SAYS_SO(table_argsort_async(NULL, NULL, NULL));
    assert_int_equal(bytes, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
