#include <tuplescan/table.h>

static const struct {
    const char *name;
    size_t size;
} types[] = {
    [TABLE_U8] = {"u8", 1},   [TABLE_U16] = {"u16", 2}, [TABLE_U32] = {"u32", 4}, [TABLE_U64] = {"u64", 8},
    [TABLE_I32] = {"i32", 4}, [TABLE_I64] = {"i64", 8}, [TABLE_F32] = {"f32", 4}, [TABLE_F64] = {"f64", 8},
};

static int is_known(table_type type) { return (size_t)type < sizeof types / sizeof *types; }

size_t table_type_size(table_type type) { return is_known(type) ? types[type].size : 0; }

const char *table_type_name(table_type type) { return is_known(type) ? types[type].name : NULL; }

int table_types_supported(table_type in, table_type out) {
    switch (in) {
    case TABLE_U8:
    case TABLE_U16:
        return out == TABLE_U32 || out == TABLE_U64;
    case TABLE_U32:
        return out == TABLE_U32 || out == TABLE_U64;
    case TABLE_I32:
        return out == TABLE_I32 || out == TABLE_I64;
    case TABLE_F32:
        return out == TABLE_F32 || out == TABLE_F64;
    case TABLE_U64:
    case TABLE_I64:
    case TABLE_F64:
        return out == in;
    }
    return 0;
}
