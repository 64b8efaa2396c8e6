/* A table that is read and written bit by bit, larger than memory if it likes, by a call that can be asked to end.
 *
 * prints
 *
 *     3 rows, the last one 6 60
 *     asked to end: TABLE_ERROR_CANCELED */
#include <string.h>

#include "check.h"

enum { COLUMNS = 2 };

static const double table[][COLUMNS] = {{1, 10}, {2, 20}, {3, 30}};
static double last[COLUMNS];
static size_t given;

static int64_t read_some(void *context, void *to, size_t bytes) {
    (void)context;
    const size_t more = sizeof table - given < bytes ? sizeof table - given : bytes;
    memcpy(to, (const char *)table + given, more);
    given += more;
    return (int64_t)more;
}

static int write_all(void *context, const void *from, size_t bytes) {
    (void)context;
    memcpy(last, (const char *)from + bytes - sizeof last, sizeof last);
    return 0;
}

static int end(void *context) { return context != NULL; }

static int end_stream(void *context, const table_stream_report *so_far) {
    (void)so_far;
    return end(context);
}

int main(void) {
    table_stream_report report;
    table_stream_options options = {.in_type = TABLE_F64,
                                    .out_type = TABLE_F64,
                                    .columns = COLUMNS,
                                    .read = read_some,
                                    .write = write_all,
                                    .report = &report};
    const table_interrupt before = table_set_interrupt((table_interrupt){end, NULL}); /* asked in all calls */
    check(table_stream(&options));
    printf("%d rows, the last one %g %g\n", (int)report.rows, last[0], last[1]);
    table_set_interrupt(before);

    given = 0;
    options.progress = end_stream;
    options.progress_context = &options;
    printf("asked to end: %s\n", table_status_name(table_stream(&options)));
    table_trim_memory();
    return 0;
}
