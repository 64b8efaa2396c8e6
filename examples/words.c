/* What types, operations and errors are called, and which go together.
 *
 * prints
 *
 *     f16: 2 bytes, summed as f32
 *     u8 into u32: 1, into f16: 0
 *     maximum of u8: 1, kept as u32
 *     TABLE_ERROR_SHAPE
 *     mine: no rows */
#include "check.h"

int main(void) {
    printf("%s: %d bytes, summed as %s\n", table_type_name(TABLE_F16), (int)table_type_size(TABLE_F16),
           table_type_name(table_sum_type(TABLE_F16)));
    printf("u8 into u32: %d, into f16: %d\n", table_types_supported(TABLE_U8, TABLE_U32),
           table_types_supported(TABLE_U8, TABLE_F16));
    printf("%s of u8: %d, kept as %s\n", table_operation_name(TABLE_MAXIMUM),
           table_operation_supported(TABLE_MAXIMUM, TABLE_U8, TABLE_U8),
           table_type_name(table_kept_type(TABLE_MAXIMUM, TABLE_U8)));

    int values[] = {0, 0, 0};
    const table_view narrow = {values, 2, 2, 1, TABLE_I32}; /* a stride of less than its columns */
    const table_status status = table_prefix_sum(&narrow, &narrow, NULL);
    printf("%s\n", table_status_name(status));
    if (table_error_set(TABLE_ERROR_SHAPE, "mine: no rows") ==
        TABLE_ERROR_SHAPE) /* for libraries that stand on this one */
        printf("%s\n", table_error_detail());
    fprintf(stderr, "tuplescan %s, %s: %s\n", table_version(), table_status_text(status),
            table_cuda_unavailable() ? table_cuda_unavailable() : "CUDA is there");
    return 0;
}
