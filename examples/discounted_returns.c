/* Discounted returns, as reinforcement learning wants them: R(t) = r(t) + gamma R(t + 1), from the end, for several
 * environments side by side. Where an episode is over, nothing of the next one counts: its gamma is 0. And the moving
 * average of the same rewards, with a decay of 0.5 for all.
 *
 * prints
 *
 *     returns 1.75 3
 *     returns 1.5 6
 *     returns 1 4
 *     returns 2 8
 *     average 0.5 0
 *     average 0.75 2
 *     average 0.875 1
 *     average 1.4375 4.5 */
#include "check.h"

enum { STEPS = 4, ENVIRONMENTS = 2 };

static void print(const char *what, float values[STEPS][ENVIRONMENTS]) {
    for (int t = 0; t < STEPS; t++)
        printf("%s %g %g\n", what, (double)values[t][0], (double)values[t][1]);
}

int main(void) {
    float rewards[STEPS][ENVIRONMENTS] = {{1, 0}, {1, 4}, {1, 0}, {2, 8}}, results[STEPS][ENVIRONMENTS];
    float discounts[STEPS][ENVIRONMENTS] = {
        {0.5f, 0.5f}, {0.5f, 0.5f}, {0, 0.5f}, {0.5f, 0.5f}}; /* over after step 2 */
    float half = 0.5f, scaled[STEPS][ENVIRONMENTS];

    const table_view a = {.data = discounts, .rows = STEPS, .columns = ENVIRONMENTS, .type = TABLE_F32};
    const table_view b = {.data = rewards, .rows = STEPS, .columns = ENVIRONMENTS, .type = TABLE_F32};
    const table_view h = {.data = results, .rows = STEPS, .columns = ENVIRONMENTS, .type = TABLE_F32};
    const table_scan_options from_the_end = {.reverse = 1};
    check(table_linear_recurrence(&a, &b, &h, &from_the_end));
    print("returns", results);

    for (int t = 0; t < STEPS; t++)
        for (int e = 0; e < ENVIRONMENTS; e++)
            scaled[t][e] = (1 - half) * rewards[t][e];
    const table_view decay = {.data = &half, .rows = 1, .columns = 1, .type = TABLE_F32};
    const table_view terms = {.data = scaled, .rows = STEPS, .columns = ENVIRONMENTS, .type = TABLE_F32};
    check(table_linear_recurrence(&decay, &terms, &terms, NULL)); /* in place */
    print("average", scaled);
    return 0;
}
