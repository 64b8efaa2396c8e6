/* How far a long run has come, on a terminal: one line on standard error that is written over itself. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

/* Begins a step of the run. Nothing is shown unless it is wanted and standard error is a terminal. */
void progress_begin(bool wanted);

/* `rows` of `all` rows (0: it is not known how many) are done, for which `bytes` bytes were read and written. Shown
 * from the second second on, a few times a second, by the thread that runs the command. */
void progress_show(uint64_t rows, uint64_t all, uint64_t bytes);

/* Takes the line away. */
void progress_end(void);

#endif
