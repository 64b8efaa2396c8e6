/* A program outside of the project, for the tests of installing and of use as a subproject. */
#include <stdio.h>

#include <tuplescan/tuplescan.h>

int main(void) {
    unsigned char values[] = {1, 2, 3, 4, 5, 6};
    uint32_t sums[6];
    const table_view in = {values, 3, 2, 0, TABLE_U8}, out = {sums, 3, 2, 0, TABLE_U32};
    if (table_prefix_sum(&in, &out, NULL) != TABLE_OK) {
        puts(table_error_detail());
        return 1;
    }
    return sums[4] == 9 && sums[5] == 12 ? 0 : 2;
}
