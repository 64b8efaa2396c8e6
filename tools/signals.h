/* What signals do to the command: those that would end it still do, but files that would stay are removed
 * first. Signals that were ignored when the command began stay ignored. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <sys/types.h>

/* Once, before the first file and the first thread. Afterwards writing to a closed pipe ends the command (SIGPIPE), and
 * writing beyond a limit of file sizes is an error of write(). */
void signals_catch(void);

/* No signal ends the command between these two. */
sigset_t signals_hold(void);
void signals_release(sigset_t before);

/* The files that a signal removes. Both are called with signals held. signals_will_remove() returns the path's place
 * among them, for signals_path() and signals_leave(), or -1 if there is no place left. */
int signals_will_remove(const char *path);
void signals_leave(int place);

/* A signal that ends the command cuts this file off there first; fd -1: none. The path is for messages, and must live
 * on. */
void signals_truncate(int fd, off_t size, const char *path);

/* What signals do first: cuts that file off, and removes files. The path of a file that could not be cut off, with
 * errno; NULL: there is none. */
const char *signals_clean_up(void);

/* A copy of the path that was given. */
const char *signals_path(int place);

#endif
