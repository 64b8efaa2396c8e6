/* Failing with a reason. */
#ifndef STATUS_H
#define STATUS_H

#include <stddef.h>

#include <tuplescan/status.h>

#include "try.h"

/* Keeps the printf-like text as the calling thread's table_error_detail(), and returns `status`. */
table_status status_fail(table_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Puts where the calling thread's last failure was, as "column 3", in front of its reason, and returns `status`. */
table_status status_fail_at(table_status status, const char *what, size_t number);

/* A failure that another thread is to tell. All zero: none. */
enum { STATUS_DETAIL = 256 };
struct failure {
    table_status status;
    char detail[STATUS_DETAIL];
};

/* Keeps a failure of the calling thread, unless there is one already; and makes it the calling thread's. */
void failure_keep(struct failure *failure, table_status status);
table_status failure_tell(const struct failure *failure);

#endif
