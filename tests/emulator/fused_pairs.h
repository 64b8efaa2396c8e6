/* The pairs of types that the table of test_fused.cpp names. */
#ifndef FUSED_PAIRS_H
#define FUSED_PAIRS_H

#include <vector>

#include "fused_case.h"

typedef std::vector<pair> pairs;

/* By the size of their sums, 4 bytes or 8, where values are as long; and where they are shorter. */
inline pairs such_as(bool (*is_such)(const pair &)) {
    pairs some;
    for (const pair &each : PAIRS)
        if (is_such(each))
            some.push_back(each);
    return some;
}
inline size_t in_bytes(const pair &each) { return type_bytes(each.in); }
inline size_t out_bytes(const pair &each) { return type_bytes(each.out); }
inline const pairs ALL = such_as([](const pair &) { return true; });
inline const pairs WORDS = such_as([](const pair &each) { return in_bytes(each) == 4 && out_bytes(each) == 4; });
inline const pairs LONG_WORDS = such_as([](const pair &each) { return in_bytes(each) == 8; });
inline const pairs WIDENED = such_as([](const pair &each) { return in_bytes(each) < out_bytes(each); });
inline const pairs FROM_INTEGERS =
    such_as([](const pair &each) { return type_is_float(each.out) && !type_is_float(each.in); });
inline const pairs SHORT = such_as([](const pair &each) { return in_bytes(each) < 4; });
inline const pair F32_F32 = {TABLE_F32, TABLE_F32};
inline const pair F32_F64 = {TABLE_F32, TABLE_F64};
inline const pair F64_F64 = {TABLE_F64, TABLE_F64};
inline const pair I32_I64 = {TABLE_I32, TABLE_I64};
inline const pair U16_U32 = {TABLE_U16, TABLE_U32};
inline const pair U16_U64 = {TABLE_U16, TABLE_U64};
inline const pair U32_U32 = {TABLE_U32, TABLE_U32};
inline const pair U32_U64 = {TABLE_U32, TABLE_U64};
inline const pair U64_U64 = {TABLE_U64, TABLE_U64};
inline const pair U8_U32 = {TABLE_U8, TABLE_U32};
inline const pair U8_U64 = {TABLE_U8, TABLE_U64};
inline const pair I8_I32 = {TABLE_I8, TABLE_I32}, I8_I64 = {TABLE_I8, TABLE_I64}, I16_I32 = {TABLE_I16, TABLE_I32};
inline const pair BOOL_I32 = {TABLE_BOOL, TABLE_I32}, BOOL_U64 = {TABLE_BOOL, TABLE_U64},
                  U8_I32 = {TABLE_U8, TABLE_I32};
inline const pair F16_F16 = {TABLE_F16, TABLE_F16}, F16_F32 = {TABLE_F16, TABLE_F32};
inline const pair BF16_BF16 = {TABLE_BF16, TABLE_BF16}, BF16_F32 = {TABLE_BF16, TABLE_F32};
inline const pairs WORD = {U32_U32};
inline const pairs WIDENED_LONG = {U8_U64, U16_U64, U32_U64, I32_I64, F32_F64, I8_I64};
inline const pairs BYTES = {U8_U32, BOOL_I32, U8_I32}, ANY_BYTES = {U8_U32, U8_U32, U8_U64, BOOL_I32, BOOL_U64, I8_I32};
inline const pairs SHORTS = {U16_U32, I16_I32, F16_F32, BF16_BF16};
inline const pairs FLOATS = {F32_F32, F64_F64, F32_F64, F16_F16, BF16_F32};
inline const pairs SHORT_FLOATS = {F32_F32, F16_F32, BF16_BF16}, LONG_FLOATS = {F64_F64, F32_F64};
inline const pairs UNSIGNED = {U32_U32, U64_U64};

#endif
