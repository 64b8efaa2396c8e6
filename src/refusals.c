#include "refusals.h"

#include <stdbool.h>

#include "status.h"

#define IS_SET(OPTION, SAID)                                                                                           \
    static bool sets_##OPTION(const table_scan_options *options) { return SAID; }
IS_SET(exclusive, options->exclusive != 0)
IS_SET(offsets, options->offsets != 0)
IS_SET(tables, options->tables > 1)
IS_SET(carry_out, options->carry_out)
IS_SET(first_overflow, options->first_overflow)
IS_SET(skipped, options->skipped)
IS_SET(state, options->state)
IS_SET(backend, options->backend != TABLE_BACKEND_AUTO)
IS_SET(report, options->report)
IS_SET(stream, options->stream)
IS_SET(workspace, options->workspace || options->workspace_bytes)

#define ROW(OPTION) #OPTION, sets_##OPTION
static const struct refusal {
    const char *option;
    bool (*is_set)(const table_scan_options *options);
    unsigned callers;
} refusals[] = {
    {ROW(exclusive), CALLER_TOTALS},
    {ROW(offsets), CALLER_TOTALS | CALLER_STAGE | CALLER_COLUMNS},
    {ROW(tables), CALLER_TOTALS | CALLER_STAGE | CALLER_COLUMNS | CALLER_PARTS | CALLER_STREAM},
    {ROW(carry_out), CALLER_TOTALS},
    {ROW(first_overflow), CALLER_TOTALS},
    {ROW(skipped), CALLER_STAGE},
    {ROW(state), CALLER_STAGE},
    {ROW(backend), CALLER_PARTS},
    {ROW(report), CALLER_STREAM_FORM | CALLER_PARTS | CALLER_STREAM},
    {ROW(stream), CALLER_ONE_CALL | CALLER_STREAM},
    {ROW(workspace), CALLER_ONE_CALL | CALLER_STREAM},
};

static const char *name_of(enum caller caller) {
    switch (caller) {
    case CALLER_ONE_CALL:
        return "one-call forms, but for the stream forms";
    case CALLER_STREAM_FORM:
        return "stream forms, which cannot wait for the times";
    case CALLER_TOTALS:
        return "totals";
    case CALLER_STAGE:
        return "a stage by itself";
    case CALLER_COLUMNS:
        return "columns that lie apart, which are those of one table";
    case CALLER_PARTS:
        return "a table in parts, each of which has its own backend, and the call a report of its own";
    default:
        return "streams, which are of one table";
    }
}

table_status refuse(enum caller caller, const table_scan_options *options) {
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        if (refusals[i].callers & caller && refusals[i].is_set(options))
            return status_fail(TABLE_ERROR_ARGUMENT, "%s%s is not for %s",
                               caller == CALLER_STREAM ? "scan." : "options->", refusals[i].option, name_of(caller));
    return TABLE_OK;
}
