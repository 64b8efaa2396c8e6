/* The entry points of the fused pass's algorithms. The kernels of an algorithm are compiled in parts, one for each pair
 * of types, so that all cores of a machine build them: a file that is compiled for a part has KERNEL_PART defined, and
 * specialises run<KERNEL_PART>(). */
#ifndef CHOOSE_ALGORITHMS_H
#define CHOOSE_ALGORITHMS_H

#include <cstdint>
#include <type_traits>

#include "choose/pairs.h"
#include "choose/problem.h"

/* The part that compiles a pair of kernels' types. */
template <class INPUT, class SUM> constexpr int part_of_pair() {
    if (is_from_integer<INPUT, SUM>())
        return sizeof(SUM) == 4 ? 11 : 12;
    if (std::is_same<SUM, float>::value)
        return std::is_same<INPUT, float>::value ? 0 : 7;
    if (std::is_same<SUM, double>::value)
        return std::is_same<INPUT, double>::value ? 1 : 8;
    if (sizeof(SUM) == 4)
        return sizeof(INPUT) == 4 ? 2 : sizeof(INPUT) == 2 ? 3 : 9;
    return sizeof(INPUT) == 8 ? 4 : sizeof(INPUT) == 4 ? 5 : sizeof(INPUT) == 2 ? 6 : 10;
}
constexpr int KERNEL_PARTS = 13, RESIDENT_PARTS = 11; /* the last two are of integers that become floats */

template <class INPUT, class SUM> constexpr int part_of_kernels(type_pair<INPUT, SUM>) {
    return part_of_pair<INPUT, SUM>();
}
static inline int part_of_types(table_type in, table_type out) {
#define PART_OF_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                          \
    if (in == TABLE_##IN && out == TABLE_##OUT)                                                                        \
        return part_of_kernels(kernel_pair<IN_C, OUT_C>());
    TABLE_PAIRS(PART_OF_PAIR)
#undef PART_OF_PAIR
    return 0;
}

/* Whether this file is compiled for the pair. */
template <class INPUT, class SUM> constexpr bool in_this_part() {
#ifdef KERNEL_PART
    return part_of_pair<INPUT, SUM>() == KERNEL_PART;
#else
    return true;
#endif
}

constexpr unsigned ALONE_SHARES = 4; /* of a chunk: a lone block has at most one of them */

/* run() returns an error that kernel_is_refused() knows where the algorithm cannot do the pass. */
struct algorithm_alone {
    static int run(const kernel_pass *pass, const kernel_carry *carry, void *workspace);
};
struct algorithm_wave {
    static constexpr int PARTS = RESIDENT_PARTS;
    static size_t workspace(const kernel_pass *pass);
    template <int PART> static int run(const kernel_pass *pass, const kernel_carry *carry, void *workspace);
};
struct algorithm_rows {
    static constexpr int PARTS = KERNEL_PARTS;
    static size_t workspace(const kernel_pass *pass);
    template <int PART> static int run(const kernel_pass *pass, const kernel_carry *carry, void *workspace);
};
struct algorithm_buffered {
    static constexpr int PARTS = KERNEL_PARTS;
    static size_t workspace(const kernel_pass *pass);
    template <int PART> static int run(const kernel_pass *pass, const kernel_carry *carry, void *workspace);
};
struct algorithm_batch { /* buffered, each table of a batch of few columns being a panel */
    static constexpr int PARTS = RESIDENT_PARTS;
    template <int PART> static int run(const kernel_batch *batch, void *workspace);
};
struct algorithm_no_bulk { /* buffered, with the fewest bulk copies (9.0) and the least shared memory */
    static constexpr int PARTS = KERNEL_PARTS;
    template <int PART> static int run(const kernel_pass *pass, const kernel_carry *carry, void *workspace);
};
struct algorithm_bytes {
    static size_t workspace(const kernel_pass *pass);
    static int run(const kernel_pass *pass, const kernel_carry *carry, void *workspace);
};

#endif
