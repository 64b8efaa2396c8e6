/* Keys in order, with values that go with them, and the order alone; and both in memory that was asked for before.
 *
 * prints
 *
 *     order 1 3 0 2
 *     keys 1 1 2 3, values bdac
 *     order 0 1 2 3
 *     keys 3 2 1 1, values cabd */
#include "check.h"

enum { KEYS = 4 };

static float keys[KEYS] = {2, 1, 3, 1};
static char values[KEYS] = {'a', 'b', 'c', 'd'};
static uint32_t indices[KEYS];
static const table_view of_keys = {keys, KEYS, 1, 0, TABLE_F32}, order = {indices, KEYS, 1, 0, TABLE_U32};

static void print_order(void) {
    printf("order %d %d %d %d\n", (int)indices[0], (int)indices[1], (int)indices[2], (int)indices[3]);
}

static void print_keys(void) {
    printf("keys %g %g %g %g, values %.4s\n", (double)keys[0], (double)keys[1], (double)keys[2], (double)keys[3],
           values);
}

int main(void) {
    check(table_argsort(&of_keys, &order, NULL));
    print_order();
    check(table_radix_sort(&of_keys, values, 1, NULL));
    print_keys();

    table_sort_options up = {.run = {.backend = TABLE_BACKEND_CPU}}, down = {.run = up.run, .descending = 1};
    check(table_argsort_workspace(&of_keys, &order, &up, &up.run.workspace_bytes));
    check(table_radix_sort_workspace(&of_keys, values, 1, &down, &down.run.workspace_bytes));
    up.run.workspace = workspace_of(up.run.workspace_bytes);
    down.run.workspace = workspace_of(down.run.workspace_bytes);
    check(table_argsort_async(&of_keys, &order, &up));
    print_order();
    check(table_radix_sort_async(&of_keys, values, 1, &down));
    print_keys();
    free(up.run.workspace), free(down.run.workspace);
    return 0;
}
