#include "test.h"

enum { MOST = 64 };

static struct CMUnitTest tests[MOST];
static int lines[MOST];
static size_t count;

/* Functions that run before main() are called in any order. */
void note_test(const struct CMUnitTest *test, int line) {
    size_t place = count++;
    if (count > MOST)
        abort();
    for (; place > 0 && lines[place - 1] > line; place--) {
        tests[place] = tests[place - 1];
        lines[place] = lines[place - 1];
    }
    tests[place] = *test;
    lines[place] = line;
}

int run_all_tests_within(const char *group, const char *reason, CMFixtureFunction setup, CMFixtureFunction teardown) {
    if (reason) {
        printf("skipped: %s\n", reason);
        return SKIPPED;
    }
    return _cmocka_run_group_tests(group, tests, count, setup, teardown);
}
