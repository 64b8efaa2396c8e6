#include "message.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "progress.h"
#include "signals.h"
#include "transfer.h"

static const char *subcommand;
static _Thread_local jmp_buf *attempted; /* where the innermost attempt() of the thread goes on; NULL: there is none */
static _Thread_local int attempt_code;

void message_subcommand(const char *name) { subcommand = name; }

static void print_line(const char *format, va_list arguments) {
    char text[1024];
    vsnprintf(text, sizeof text, format, arguments);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = '?';
    char line[sizeof text + 64];
    snprintf(line, sizeof line, "tuplescan: %s%s%s\n", subcommand ? subcommand : "", subcommand ? ": " : "", text);
    transfer_write(STDERR_FILENO, line, strlen(line), -1);
}

void message(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
}

int fail(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
    return code;
}

void die(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line(format, arguments);
    va_end(arguments);
    command_end(code);
}

int attempt(void (*step)(void *context), void *context) {
    jmp_buf here, *const outer = attempted;
    attempted = &here;
    if (setjmp(here) == 0) {
        step(context);
        attempt_code = EX_OK; /* whatever came of another one within this one */
    }
    attempted = outer;
    return attempt_code;
}

void command_end(int code) {
    attempt_code = code;
    if (attempted)
        longjmp(*attempted, 1);
    progress_end();
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EX_OK) {
        code = EX_IOERR;
        message("standard output: %s", strerror(errno));
    }
    const char *const left = signals_clean_up();
    if (left)
        message("%s: what lies after its rows could not be cut off: %s", left, strerror(errno));
    exit(code);
}

static int exit_code(table_status status) {
    switch (status) {
    case TABLE_ERROR_HOST_MEMORY:
    case TABLE_ERROR_DEVICE_MEMORY:
        return EX_OSERR;
    case TABLE_ERROR_BACKEND:
    case TABLE_ERROR_STRATEGY:
    case TABLE_ERROR_DEVICE:
    case TABLE_ERROR_MPI:
    case TABLE_ERROR_NCCL:
        return EX_UNAVAILABLE;
    case TABLE_ERROR_SHAPE:
    case TABLE_ERROR_TYPE:
    case TABLE_ERROR_TOO_LARGE:
    case TABLE_ERROR_STATE:
        return EX_DATAERR;
    default:
        return EX_SOFTWARE;
    }
}

int fail_status(const char *what, table_status status) {
    return fail(exit_code(status), "%s: %s: %s", what, table_status_text(status), table_error_detail());
}

void die_unless_ok(const char *what, table_status status) {
    if (status != TABLE_OK)
        command_end(fail_status(what, status));
}
