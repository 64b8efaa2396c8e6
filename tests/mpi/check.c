#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "ranks/ranks.h"

static char note[512];

void check_note(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
}

void check_that(bool condition, const char *text, const char *file, int line) {
    int rank;
    if (condition)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr, "%s:%d: process %d: %s\n  %s\n  last error: %s\n", file, line, rank, text, note,
            table_error_detail());
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}
