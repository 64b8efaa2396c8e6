/* The control groups that the process is in, and what they limit. */
#ifndef CGROUPS_H
#define CGROUPS_H

#include <stddef.h>

/* Looks at one group, whose folder is open. `version` of control groups: 1 or 2. */
typedef void cgroup_look(int folder, unsigned version, void *result);

/* Has each group with that controller looked at: the one that the process is in, and those above it, which limit it,
 * too. */
void cgroups_each(const char *controller, cgroup_look *look, void *result);

/* Reads up to `count` numbers of the file `name` in the folder. How many there are; a word such as "max" ends them. */
unsigned cgroup_numbers(int folder, const char *name, unsigned count, unsigned long long *numbers);

#endif
