/* How far a long run has come, on a terminal: one line on standard error that is written over itself. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    bool wanted, shown;
    double begun, last; /* seconds */
};

/* Nothing is shown unless it is wanted and standard error is a terminal. */
void progress_begin(struct progress *progress, bool wanted);

/* `rows` of `all` rows (0: it is not known how many) are done, for which `bytes` bytes were read and written. Shown
 * from the second second on, a few times a second. */
void progress_show(struct progress *progress, uint64_t rows, uint64_t all, uint64_t bytes);

/* Takes the line away. */
void progress_end(struct progress *progress);

#endif
