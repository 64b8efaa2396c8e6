/* Prints the last row of a table's running sums, and which library has made it. */
#include <stdio.h>

#include <tuplescan/tuplescan.h>

int main(void) {
    float values[4][2] = {{1, 10}, {2, 20}, {3, 30}, {4, 40}};
    const table_view table = {.data = values, .rows = 4, .columns = 2, .type = TABLE_F32};
    if (table_prefix_sum(&table, &table, NULL) != TABLE_OK) { /* in place */
        fprintf(stderr, "%s\n", table_error_detail());
        return 1;
    }
    printf("%g %g by tuplescan %s\n", values[3][0], values[3][1], table_version());
    return 0;
}
