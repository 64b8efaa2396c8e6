/* What each program of tests begins with: cmocka, with the headers that it wants before it. */
#ifndef TEST_H
#define TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A test. What cmocka hands to it is seldom of use. */
#define TEST(name) static void name(__attribute__((unused)) void **state)

#endif
