/* What control groups leave the process, and how many CPU threads may work where no option says a number. The Python
 * package is compiled with this, too. */
#ifndef THREAD_LIMIT_H
#define THREAD_LIMIT_H

#include <stdbool.h>

#define THREAD_LIMIT_VARIABLE "TUPLESCAN_NUM_THREADS"

/* *threads = the number in the environment variable, if `by_variable` and it is more than 0, or else what the CPU time
 * that control groups leave the process is worth; 0: as many as it has processors. False: the variable is no number, 0
 * to INT_MAX. */
bool thread_limit(unsigned *threads, bool by_variable);

/* Looks at one group, whose folder is open. `version` of control groups: 1 or 2. */
typedef void cgroup_look(int folder, unsigned version, void *result);

/* Has each group with that controller looked at: the one that the process is in, and those above it, which limit it,
 * too. */
void cgroups_each(const char *controller, cgroup_look *look, void *result);

/* Reads up to `count` numbers of the file `name` in the folder. How many there are; a word such as "max" ends them. */
unsigned cgroup_numbers(int folder, const char *name, unsigned count, unsigned long long *numbers);

#endif
