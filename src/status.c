#include "status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char error_detail[STATUS_DETAIL];

static const struct {
    const char *name, *text;
} statuses[] = {
    [TABLE_OK] = {"TABLE_OK", "no error"},
    [TABLE_ERROR_ARGUMENT] = {"TABLE_ERROR_ARGUMENT", "an argument is missing, unknown or contradicts another"},
    [TABLE_ERROR_SHAPE] = {"TABLE_ERROR_SHAPE", "a table's shape is not possible or does not fit another table's"},
    [TABLE_ERROR_TYPE] = {"TABLE_ERROR_TYPE", "an element type is unknown, or the pair of types is not supported"},
    [TABLE_ERROR_ALIGNMENT] = {"TABLE_ERROR_ALIGNMENT", "data is not aligned to its element type"},
    [TABLE_ERROR_OVERLAP] = {"TABLE_ERROR_OVERLAP", "two tables share memory without being the same table"},
    [TABLE_ERROR_TOO_LARGE] = {"TABLE_ERROR_TOO_LARGE", "a size is larger than this machine can address"},
    [TABLE_ERROR_WORKSPACE] = {"TABLE_ERROR_WORKSPACE", "the workspace is missing, too small or misaligned"},
    [TABLE_ERROR_HOST_MEMORY] = {"TABLE_ERROR_HOST_MEMORY", "out of host memory"},
    [TABLE_ERROR_DEVICE_MEMORY] = {"TABLE_ERROR_DEVICE_MEMORY", "out of device memory"},
    [TABLE_ERROR_BACKEND] = {"TABLE_ERROR_BACKEND", "the backend cannot be used here or cannot reach the data"},
    [TABLE_ERROR_STRATEGY] = {"TABLE_ERROR_STRATEGY", "the backend does not have this strategy"},
    [TABLE_ERROR_DEVICE] = {"TABLE_ERROR_DEVICE", "a call of the CUDA runtime failed"},
    [TABLE_ERROR_STATE] = {"TABLE_ERROR_STATE", "the state of a sum that goes on is damaged or of other sums"},
    [TABLE_ERROR_READ] = {"TABLE_ERROR_READ", "rows could not be read, or the input ended within one"},
    [TABLE_ERROR_WRITE] = {"TABLE_ERROR_WRITE", "rows could not be written"},
    [TABLE_ERROR_CANCELED] = {"TABLE_ERROR_CANCELED", "the caller ended the call"},
    [TABLE_ERROR_RANKS] = {"TABLE_ERROR_RANKS", "the ranks of a communicator do not make the same call"},
    [TABLE_ERROR_MPI] = {"TABLE_ERROR_MPI", "a call of MPI failed"},
    [TABLE_ERROR_NCCL] = {"TABLE_ERROR_NCCL", "a call of NCCL failed"},
};

static int is_known(table_status status) { return (size_t)status < sizeof statuses / sizeof *statuses; }

const char *table_status_name(table_status status) {
    return is_known(status) ? statuses[status].name : "TABLE_ERROR_UNKNOWN";
}

const char *table_status_text(table_status status) {
    return is_known(status) ? statuses[status].text : "not a value of table_status";
}

const char *table_error_detail(void) { return error_detail; }

table_status table_error_set(table_status status, const char *text) {
    char copy[sizeof error_detail];
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    return status_fail(status, "%s", copy);
}

const char *table_version(void) { return TUPLESCAN_VERSION; }

table_status status_fail(table_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error_detail, sizeof error_detail, format, arguments);
    va_end(arguments);
    return status;
}

table_status status_fail_at(table_status status, const char *what, size_t number) {
    char reason[sizeof error_detail];
    snprintf(reason, sizeof reason, "%s", error_detail);
    return status_fail(status, "%s %zu: %s", what, number, reason);
}

void failure_keep(struct failure *failure, table_status status) {
    if (failure->status != TABLE_OK || status == TABLE_OK)
        return;
    failure->status = status;
    snprintf(failure->detail, sizeof failure->detail, "%s", error_detail);
}

table_status failure_tell(const struct failure *failure) {
    return failure->status == TABLE_OK ? TABLE_OK : status_fail(failure->status, "%s", failure->detail);
}
