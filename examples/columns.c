/* The columns of a frame lie apart, each in memory of its own: their running sums, and an average that forgets.
 *
 * prints
 *
 *     x 1 3 6
 *     y 0.5 0.75 1
 *     x halved each time 1 3.5 7.75 */
#include "check.h"

enum { ROWS = 3 };

static void print(const char *name, const double *values) {
    printf("%s %g %g %g\n", name, values[0], values[1], values[2]);
}

int main(void) {
    double x[ROWS] = {1, 2, 3}, y[ROWS] = {0.5, 0.25, 0.25}, half = 0.5;
    const table_column of_frame[] = {{.data = x}, {.data = y}}, of_half[] = {{.data = &half}};
    const table_columns frame = {of_frame, 2, ROWS, TABLE_F64}, factor = {of_half, 1, 1, TABLE_F64};
    check(table_prefix_sum_columns(&frame, &frame, NULL)); /* in place */
    print("x", x);
    print("y", y);
    check(table_linear_recurrence_columns(&factor, &frame, &frame, NULL)); /* h = h / 2 + x */
    print("x halved each time", x);
    return 0;
}
