/* The elements joined down the rows of a segment: sums, and the numbers of operators/operator_ops.cuh. An element is
 * its value, and each operation on a type of values has kernels of its own. */
#ifndef SEGMENTS_SEGMENT_OPS_CUH
#define SEGMENTS_SEGMENT_OPS_CUH

#include "operators/operator_ops.cuh"

template <int OPERATION, class VALUE> struct segment_ops {
    typedef VALUE Value;
    static constexpr bool IS_SUM = OPERATION == KERNEL_SUM;
    static constexpr bool CHECKS_OVERFLOW = IS_SUM && is_checked<VALUE>(), ADDS_ONCE = may_reorder<VALUE>();

    /* `later` follows `earlier` in the table. */
    static DEVICE Value join(Value earlier, Value later) {
        if constexpr (IS_SUM)
            return combine(earlier, later);
        else
            return number_ops<VALUE>::template after<OPERATION>(later, earlier);
    }
    /* A value that changes no result. */
    static DEVICE Value nothing() {
        if constexpr (IS_SUM)
            return sum_identity<VALUE>();
        else
            return number_ops<VALUE>::no_term(OPERATION);
    }
    /* The start of a segment where the caller has no row for it. */
    static HOST_DEVICE Value start() {
        if constexpr (IS_SUM)
            return 0;
        else
            return number_ops<VALUE>::no_term(OPERATION);
    }
};

template <class OPS> struct join_values {
    typedef typename OPS::Value Value;
    DEVICE Value operator()(Value earlier, Value later) const { return OPS::join(earlier, later); }
};

/* Calls run(OPS()) for the operation on values that are kept as that type. Integers that wrap are unsigned ones. */
template <int OPERATION, class RUN> static int with_segment_ops(table_type kept, const RUN &run) {
#define RUN_OPS(TYPE, C)                                                                                               \
    if (kept == TABLE_##TYPE)                                                                                          \
        return run(segment_ops<OPERATION, C>());
    RUN_OPS(U32, uint32_t)
    RUN_OPS(U64, uint64_t)
    if constexpr (OPERATION == KERNEL_SUM || OPERATION == KERNEL_PRODUCT) {
        RUN_OPS(I32, uint32_t)
        RUN_OPS(I64, uint64_t)
    } else {
        RUN_OPS(I32, int32_t)
        RUN_OPS(I64, int64_t)
    }
    if constexpr (OPERATION != KERNEL_PRODUCT) {
        RUN_OPS(F32, float)
        RUN_OPS(F64, double)
    }
#undef RUN_OPS
    return static_cast<int>(cudaErrorInvalidValue);
}

#endif
