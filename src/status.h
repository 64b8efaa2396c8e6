/* Failing with a reason. */
#ifndef STATUS_H
#define STATUS_H

#include <tuplescan/status.h>

/* Keeps the printf-like text as the calling thread's table_error_detail(), and returns `status`. */
table_status status_fail(table_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
