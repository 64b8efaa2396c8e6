/* What each program of tests begins with: cmocka, with the headers that it wants before it. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* A test. What cmocka hands to it is seldom of use. */
#define TEST(name) static void name(__attribute__((unused)) void **state)

/* Whether there is a reason why nothing can be tested here: it is told, and the program ends with SKIPPED. */
enum { SKIPPED = 77 };
static inline bool is_skipped(const char *reason) {
    if (reason)
        printf("skipped: %s\n", reason);
    return reason != NULL;
}

#endif
