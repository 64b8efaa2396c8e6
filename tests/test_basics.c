/* The small calls: statuses, types, chunks, devices. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>

#include <tuplescan/tuplescan.h>

#include "reference.h"

static void test_statuses(void **state) {
    static const char *const names[] = {
        "TABLE_OK",
        "TABLE_ERROR_ARGUMENT",
        "TABLE_ERROR_SHAPE",
        "TABLE_ERROR_TYPE",
        "TABLE_ERROR_ALIGNMENT",
        "TABLE_ERROR_OVERLAP",
        "TABLE_ERROR_TOO_LARGE",
        "TABLE_ERROR_WORKSPACE",
        "TABLE_ERROR_HOST_MEMORY",
        "TABLE_ERROR_DEVICE_MEMORY",
        "TABLE_ERROR_BACKEND",
        "TABLE_ERROR_STRATEGY",
        "TABLE_ERROR_DEVICE",
    };
    const int count = sizeof names / sizeof *names;
    (void)state;
    for (int i = 0; i < count; i++) {
        assert_string_equal(table_status_name((table_status)i), names[i]);
        const char *text = table_status_text((table_status)i);
        assert_true(strlen(text) > 0);
        assert_int_not_equal(text[strlen(text) - 1], '.');
    }
    assert_string_equal(table_status_name((table_status)count), "TABLE_ERROR_UNKNOWN");
    assert_string_equal(table_status_name((table_status)-1), "TABLE_ERROR_UNKNOWN");
    assert_non_null(table_status_text((table_status)-1));
}

static void *detail_of_a_new_thread(void *unused) {
    (void)unused;
    return (void *)(size_t)(strlen(table_error_detail()) == 0);
}

static void test_detail_is_the_threads_own(void **state) {
    pthread_t thread;
    void *empty = NULL;
    (void)state;
    assert_string_equal(table_error_detail(), ""); /* the first test of all that could fail */
    assert_int_equal(table_prefix_sum(NULL, NULL, NULL), TABLE_ERROR_ARGUMENT);
    assert_true(strlen(table_error_detail()) > 0);
    assert_int_equal(pthread_create(&thread, NULL, detail_of_a_new_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &empty), 0);
    assert_non_null(empty);
    assert_true(strlen(table_error_detail()) > 0);
}

static void test_version(void **state) {
    (void)state;
    assert_string_equal(table_version(), TUPLESCAN_TEST_VERSION);
}

static void test_types(void **state) {
    static const char *const names[] = {NULL, "u8", "u16", "u32", "u64", "i32", "i64", "f32", "f64", NULL};
    static const size_t sizes[] = {0, 1, 2, 4, 8, 4, 8, 4, 8, 0};
    static const char *const pairs[] = {"u32u32", "u64u64", "i32i32", "i64i64", "f32f32", "f64f64", "u8u32",
                                        "u8u64",  "u16u32", "u16u64", "u32u64", "i32i64", "f32f64"};
    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_int_equal(table_type_size((table_type)i), sizes[i]);
        if (names[i])
            assert_string_equal(table_type_name((table_type)i), names[i]);
        else
            assert_null(table_type_name((table_type)i));
        for (int j = 0; j < 10; j++) {
            char pair[16];
            int expected = 0;
            snprintf(pair, sizeof pair, "%s%s", names[i] ? names[i] : "?", names[j] ? names[j] : "?");
            for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
                expected |= strcmp(pair, pairs[k]) == 0;
            assert_int_equal(table_types_supported((table_type)i, (table_type)j), expected);
        }
    }
    assert_int_equal(table_type_size((table_type)-1), 0);
    assert_null(table_type_name((table_type)-1));
    assert_int_equal(table_types_supported((table_type)-1, TABLE_U64), 0);
}

static void test_chunk_rows(void **state) {
    static const table_type types[] = {TABLE_U32, TABLE_U64, TABLE_I32, TABLE_I64, TABLE_F32, TABLE_F64};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (size_t columns = 1; columns < 300; columns++) {
            const size_t n = table_chunk_rows(types[t], columns);
            assert_int_equal(n, reference_chunk_rows(types[t], columns));
            assert_int_equal(table_seeds_rows(types[t], 0, columns), 1);
            assert_int_equal(table_seeds_rows(types[t], 1, columns), 2);
            assert_int_equal(table_seeds_rows(types[t], n, columns), 2);
            assert_int_equal(table_seeds_rows(types[t], n + 1, columns), 3);
        }
        assert_int_equal(table_chunk_rows(types[t], 0), 0);
        assert_int_equal(table_seeds_rows(types[t], 5, 0), 0);
        assert_int_equal(table_chunk_rows(types[t], SIZE_MAX), 512);
        assert_int_equal(table_seeds_rows(types[t], SIZE_MAX, 1000), SIZE_MAX / 512 + 2);
    }
    assert_int_equal(table_chunk_rows(TABLE_U32, 1), 16384);
    assert_int_equal(table_chunk_rows(TABLE_F32, 3), 4096);
    assert_int_equal(table_chunk_rows(TABLE_U8, 1), 0);
    assert_int_equal(table_chunk_rows(TABLE_U16, 1), 0);
    assert_int_equal(table_chunk_rows((table_type)0, 1), 0);
    assert_int_equal(table_chunk_rows((table_type)9, 1), 0);
}

static void test_devices(void **state) {
    table_device devices[64];
    const size_t count = table_devices(NULL, 0);
    (void)state;
    assert_in_range(count, 1, 64);
    memset(devices, 0x5A, sizeof devices);
    assert_int_equal(table_devices(devices, 1), count);
    assert_int_equal(devices[1].backend, 0x5A5A5A5A); /* no more than the room was used */
    assert_int_equal(table_devices(devices, 64), count);
    assert_int_equal(devices[0].backend, TABLE_BACKEND_CPU);
    assert_int_equal(devices[0].usable, 1);
    assert_true(strlen(devices[0].name) > 0);
    assert_true(devices[0].processors > 0);
    assert_true(devices[0].memory > 0);
    for (size_t i = 1; i < count; i++)
        assert_int_equal(devices[i].backend, TABLE_BACKEND_CUDA);
    if (!table_cuda_unavailable())
        assert_true(count > 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_detail_is_the_threads_own),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_chunk_rows),
        cmocka_unit_test(test_devices),
    };
    return cmocka_run_group_tests_name("basics", tests, NULL, NULL);
}
