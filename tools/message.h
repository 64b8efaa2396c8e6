/* What the command says on standard error, one line each, "tuplescan: SUBCOMMAND: what"; and how it ends. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <sysexits.h>

#include <tuplescan/status.h>

/* The subcommand named in all that follows; NULL for none. Must live on. */
void message_subcommand(const char *name);

/* Prints the line; control characters in it (a file may be called anything) become '?'. */
void message(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* message(), and returns `code`, one of sysexits.h: for callers that have more to do than to end. */
int fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* fail() for a call of the library that returned `status` (not TABLE_OK): `what` it was about, and its own reason. */
int fail_status(const char *what, table_status status);

/* message(), and the end of the command. So functions of the command do not say whether they could do
 * their work: they come back when it is done. Memory, descriptors and locks are the process's, and go with it. */
_Noreturn void die(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As fail_status(), and the end of the command, unless the status is TABLE_OK. */
void die_unless_ok(const char *what, table_status status);

/* Ends the command, or the innermost attempt() of the thread: with printed text written, and with nothing left of
 * outputs that have no name yet. */
_Noreturn void command_end(int code);

/* Takes a step whose failure does not end the command: in a thread of the library, or where others wait for what came
 * of it. EX_OK, or the code that the command would have ended with. */
int attempt(void (*step)(void *context), void *context);

#endif
