/* What the command says on standard error: one line each, "tuplescan: SUBCOMMAND: what". */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <sysexits.h>

#include <tuplescan/status.h>

/* The subcommand named in all that follows; NULL for none. Must live on. */
void message_subcommand(const char *name);

/* Prints the line; control characters in it (a file may be called anything) become '?'. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* message(), and returns `code`, one of sysexits.h. */
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* fail() for a call of the library that returned `status` (not TABLE_OK): `what` it was about, and its own reason. */
int fail_status(const char *what, table_status status);

#endif
