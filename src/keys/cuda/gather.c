#include "kernel_keys.h"

table_status cuda_gather(const struct scan *scan, const struct gather *gather) {
    return cuda_check(kernel_gather(gather->to, gather->from, gather->value_bytes, gather->order, gather->order_bytes,
                                    gather->count, scan->stream),
                      "gather");
}
