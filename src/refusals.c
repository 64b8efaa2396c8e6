#include "refusals.h"

#include <inttypes.h>
#include <stdbool.h>

#include "status.h"

/* X(option, as it is called, whether it is set) */
#define OPTIONS(X)                                                                                                     \
    X(OPERATION, operation, options->operation != TABLE_SUM)                                                           \
    X(EXCLUSIVE, exclusive, options->exclusive != 0)                                                                   \
    X(REVERSE, reverse, options->reverse != 0)                                                                         \
    X(OFFSETS, offsets, options->offsets != 0)                                                                         \
    X(SKIP_NAN, skip_nan, options->skip_nan != 0)                                                                      \
    X(TABLES, tables, options->tables > 1)                                                                             \
    X(CARRY_OUT, carry_out, options->carry_out != NULL)                                                                \
    X(FIRST_OVERFLOW, first_overflow, options->first_overflow != NULL)                                                 \
    X(SKIPPED, skipped, options->skipped != NULL)                                                                      \
    X(STATE, state, options->state != NULL)                                                                            \
    X(BACKEND, backend, options->backend != TABLE_BACKEND_AUTO)                                                        \
    X(REPORT, report, options->report != NULL)                                                                         \
    X(STREAM, stream, options->stream != NULL)                                                                         \
    X(WORKSPACE, workspace, options->workspace || options->workspace_bytes)                                            \
    X(SHIFTED_COEFFICIENTS, shifted_coefficients, options->shifted_coefficients != 0)                                  \
    X(FIRST_COEFFICIENTS, first_coefficients, options->first_coefficients != NULL)                                     \
    X(COEFFICIENT_STEP, coefficient_step, options->coefficient_step != 0)                                              \
    X(KEPT, kept, options->kept != 0)

#define NUMBER(OPTION, NAME, IS_SET) OPTION,
enum { OPTIONS(NUMBER) };

#define NAME_OF(OPTION, NAME, IS_SET) #NAME,
static const char *const names[] = {OPTIONS(NAME_OF)};

#define BIT(OPTION) 1u << OPTION
static const struct {
    unsigned refused;
    const char *name;
} callers[] = {
    [CALLER_WITHOUT_COEFFICIENTS] = {BIT(SHIFTED_COEFFICIENTS) | BIT(FIRST_COEFFICIENTS) | BIT(COEFFICIENT_STEP),
                                     "calls without coefficients"},
    [CALLER_RECURRENCE] = {BIT(OPERATION) | BIT(OFFSETS) | BIT(FIRST_OVERFLOW), "recurrences"},
    [CALLER_LAST_VALUES] = {BIT(EXCLUSIVE) | BIT(TABLES) | BIT(KEPT), "recurrences without a table of results"},
    [CALLER_OFFSETS] = {0, "offsets"},
    [CALLER_TABLES] = {BIT(STATE), "several tables, which are sums of their own"},
    [CALLER_ONE_CALL] = {BIT(STREAM) | BIT(WORKSPACE), "the one-call forms, but for the stream forms"},
    [CALLER_STREAM_FORM] = {BIT(REPORT), "the stream forms, which wait for nothing"},
    [CALLER_TOTALS] = {BIT(EXCLUSIVE) | BIT(OFFSETS) | BIT(TABLES) | BIT(CARRY_OUT) | BIT(FIRST_OVERFLOW) | BIT(KEPT),
                       "totals"},
    [CALLER_STAGE] = {BIT(OPERATION) | BIT(OFFSETS) | BIT(TABLES) | BIT(SKIPPED) | BIT(STATE), "a stage by itself"},
    [CALLER_SEGMENTS] = {BIT(TABLES) | BIT(STATE) | BIT(FIRST_COEFFICIENTS) | BIT(COEFFICIENT_STEP), "segments"},
    [CALLER_TOTALS_OF_SEGMENTS] = {BIT(EXCLUSIVE) | BIT(OFFSETS) | BIT(TABLES) | BIT(FIRST_OVERFLOW) | BIT(STATE) |
                                       BIT(KEPT) | BIT(FIRST_COEFFICIENTS) | BIT(COEFFICIENT_STEP),
                                   "totals of segments"},
    [CALLER_EXTREME_ROWS] = {BIT(OPERATION) | BIT(EXCLUSIVE) | BIT(REVERSE) | BIT(OFFSETS) | BIT(SKIP_NAN) |
                                 BIT(FIRST_OVERFLOW) | BIT(STATE) | BIT(REPORT) | BIT(KEPT),
                             "the rows of extremes"},
    [CALLER_COLUMNS] = {BIT(OFFSETS) | BIT(TABLES) | BIT(COEFFICIENT_STEP),
                        "columns that lie apart, which are those of one table"},
    [CALLER_PARTS] = {BIT(TABLES) | BIT(BACKEND) | BIT(REPORT),
                      "a table in parts: each has a backend, and the call its own report"},
    [CALLER_STREAM] = {BIT(TABLES) | BIT(REPORT) | BIT(STREAM) | BIT(WORKSPACE) | BIT(SHIFTED_COEFFICIENTS) |
                           BIT(FIRST_COEFFICIENTS) | BIT(COEFFICIENT_STEP),
                       "streams, which are of one table"},
};

#define SET_BIT(OPTION, NAME, IS_SET) | (unsigned)(IS_SET) << OPTION
static unsigned set_of(const table_scan_options *options) { return 0 OPTIONS(SET_BIT); }

table_status refuse(enum caller caller, const table_scan_options *options) {
    const unsigned refused = callers[caller].refused & set_of(options);
    return refused ? status_fail(TABLE_ERROR_ARGUMENT, "%s%s is not for %s",
                                 caller == CALLER_STREAM ? "scan." : "options->", names[__builtin_ctz(refused)],
                                 callers[caller].name)
                   : TABLE_OK;
}

table_status refuse_host_tables(enum caller caller, bool are_on_host) {
    return are_on_host
               ? status_fail(TABLE_ERROR_BACKEND, "tables in host memory do not go through a CUDA device for %s",
                             callers[caller].name)
               : TABLE_OK;
}

static const char *name_of(table_type type) { return table_type_size(type) ? table_type_name(type) : "(none)"; }

table_status refuse_types(table_operation operation, table_type in, table_type out, const char *to) {
    const char *const name = table_operation_name(operation);
    if (!name)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->operation %d is no operation", (int)operation);
    if (table_operation_supported(operation, in, out))
        return TABLE_OK;
    if (operation == TABLE_SUM)
        return status_fail(TABLE_ERROR_TYPE, "in->type %s cannot be summed into %s %s", name_of(in), to, name_of(out));
    if (operation == TABLE_RECURRENCE)
        return status_fail(TABLE_ERROR_TYPE, "b->type %s cannot be taken into h->type %s", name_of(in), name_of(out));
    return status_fail(TABLE_ERROR_TYPE, "options->operation: there is no %s of in->type %s as %s %s", name,
                       name_of(in), to, name_of(out));
}

table_status refuse_kept(table_operation operation, table_type out, table_type kept) {
    const struct element *usual = element_of(operation, out, 0);
    return !usual || element_of(operation, out, kept)
               ? TABLE_OK
               : status_fail(TABLE_ERROR_TYPE, "options->kept %d (%s): %s of %s are not kept as that", (int)kept,
                             table_type_name(kept) ? table_type_name(kept) : "no type", element_plural(usual),
                             table_type_name(out));
}

table_status refuse_float_products(enum caller caller, table_operation operation, table_type out) {
    const struct element *element = element_of(operation, out, 0);
    return operation == TABLE_PRODUCT && element && element->is_map
               ? status_fail(TABLE_ERROR_ARGUMENT, "options->operation: products of floats are not for %s",
                             callers[caller].name)
               : TABLE_OK;
}

table_status refuse_segments(const struct call *call, uint64_t count) {
    const struct element *element = call->scan.element;
    if (call->scan.out.type == TABLE_F32 && element->type == TABLE_F64)
        return status_fail(TABLE_ERROR_BACKEND,
                           "options->kept: segments on the CUDA backend do not keep %s of f32 as f64 yet",
                           element_plural(element));
    if (element->operation == TABLE_PRODUCT && call->scan.first_overflow)
        return status_fail(TABLE_ERROR_BACKEND,
                           "products of segments on the CUDA backend do not know first_overflow yet");
    if (count >= UINT32_MAX)
        return status_fail(TABLE_ERROR_BACKEND, "segments on the CUDA backend: %" PRIu64 " of them are too many",
                           count);
    return TABLE_OK;
}

table_status validate_reserved(const char *name, const uint64_t *reserved, int words) {
    for (int i = 0; i < words; i++)
        if (reserved[i] != 0)
            return status_fail(
                TABLE_ERROR_ARGUMENT,
                "%s->reserved[%d] is not 0: the struct was not cleared, or is of a later version than this library, %s",
                name, i, table_version());
    return TABLE_OK;
}

/* Names the one of several that is neither 0 nor 1. */
static table_status fail_switch(const struct table_scan_options *options) {
    const struct {
        const char *name;
        int value;
    } switches[] = {{"exclusive", options->exclusive},
                    {"reverse", options->reverse},
                    {"offsets", options->offsets},
                    {"skip_nan", options->skip_nan},
                    {"shifted_coefficients", options->shifted_coefficients}};
    size_t i = 0;
    while (switches[i].value == 0 || switches[i].value == 1)
        i++;
    return status_fail(TABLE_ERROR_ARGUMENT, "options->%s is %d, not 0 or 1", switches[i].name, switches[i].value);
}

table_status refuse_wrong_options(const table_scan_options *options, enum call_form form, bool is_recurrence) {
    if ((unsigned)(options->exclusive | options->reverse | options->offsets | options->skip_nan |
                   options->shifted_coefficients) > 1)
        return fail_switch(options);
    if (options->offsets && options->exclusive)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->offsets and exclusive: only one of them");
    if (options->skipped && !options->skip_nan)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->skipped is for skip_nan, which is 0");
    if (!table_operation_name(options->operation))
        return status_fail(TABLE_ERROR_ARGUMENT, "options->operation %d is no operation", (int)options->operation);
    if ((unsigned)options->backend > TABLE_BACKEND_CUDA)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->backend %d is no backend", (int)options->backend);
    if ((unsigned)options->strategy > TABLE_STRATEGY_FUSED)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->strategy %d is no strategy", (int)options->strategy);
    if (options->operation == TABLE_RECURRENCE)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->operation: recurrences are table_linear_recurrence()");
    if (options->first_coefficients && !options->shifted_coefficients)
        return status_fail(TABLE_ERROR_ARGUMENT, "options->first_coefficients is for shifted_coefficients, which is 0");
    const enum caller kind = is_recurrence ? CALLER_RECURRENCE : CALLER_WITHOUT_COEFFICIENTS;
    const enum caller shape = form == CALL_ON_STREAM ? CALLER_STREAM_FORM : CALLER_ONE_CALL;
    const enum caller count = options->tables > 1 ? CALLER_TABLES : shape;
    if (set_of(options) & (callers[kind].refused | callers[shape].refused | callers[count].refused)) {
        TRY(refuse(kind, options));
        TRY(refuse(shape, options));
        return refuse(count, options);
    }
    return validate_reserved("options", options->reserved, RESERVED_WORDS(options));
}
