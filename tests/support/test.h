/* What each program of tests begins with: the public headers, and cmocka with the headers that it wants before it. */
#ifndef TEST_H
#define TEST_H

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tuplescan/tuplescan.h>

/* A test. What cmocka hands to it is seldom of use. It is noted before main() begins, so that none is listed again. */
#define TEST(name)                                                                                                     \
    static void name(void **state);                                                                                    \
    NOTE_TEST(name, name, NULL)                                                                                        \
    static void name(__attribute__((unused)) void **state)

/* After a function that looks at a number: a test of it with one. And in it the number. */
#define TEST_OF(function, number) NOTE_TEST(function##_##number, function, (void *)(number))
#define NUMBER_OF(state)          ((int)(uintptr_t) * (state))

#define NOTE_TEST(NAME, FUNCTION, NUMBER)                                                                              \
    __attribute__((constructor)) static void note_##NAME(void) {                                                       \
        note_test(&(struct CMUnitTest){#NAME, FUNCTION, NULL, NULL, NUMBER}, __LINE__);                                \
    }
void note_test(const struct CMUnitTest *test, int line);

/* Runs all tests of the program, as they stand in its file, between a setup and a teardown. Where there is a reason why
 * nothing can be tested here, it is told, and no test is run. The exit code. */
enum { SKIPPED = 77 };
int run_all_tests_within(const char *group, const char *reason, CMFixtureFunction setup, CMFixtureFunction teardown);
static inline int run_all_tests(const char *group, const char *reason) {
    return run_all_tests_within(group, reason, NULL, NULL);
}

#endif
