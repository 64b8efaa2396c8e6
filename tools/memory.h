/* Memory for tables. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Aligned for any type and, when large, backed by huge pages and touched beforehand: the first touch of fresh memory
 * costs many times the scan itself and is no part of it. NULL when there is none. Free with free(). bytes may be 0. */
void *memory_allocate(size_t bytes);

/* memory_allocate() for `name`, and the same cleared: where there is none, the command ends with a message. */
void *memory_for(const char *name, size_t bytes);
void *memory_cleared(const char *name, size_t bytes);

/* Whether `bytes` are little enough, beside all the memory there is, to be worth bringing in beforehand. */
bool memory_is_plenty_for(size_t bytes);

/* As madvise(), with MADV_POPULATE_READ or _WRITE, in pieces: a signal that comes meanwhile is seen between two. */
int memory_populate(void *memory, size_t bytes, int advice);

/* The bytes that the command may use at a time: `asked` (--memory), or, for 0, a quarter of what the process may use by
 * the machine, its cgroups and its limits. */
size_t memory_limit(size_t asked);

/* The bytes for a job that cannot be done in less memory than it needs: `asked`, or, for 0, three quarters of what the
 * process may use, as not all that it uses is counted. */
size_t memory_there(size_t asked);

/* What one job may use in all: everything large that it has in memory at a time is charged to it beforehand. */
struct memory_budget {
    size_t most, used; /* bytes */
    size_t buffers;    /* of those used: of buffers whose size is a share of `most`, which is a quarter or less */
};

size_t memory_left(const struct memory_budget *budget);

/* Charges bytes, and more are to be charged before memory_charge() looks at how many are used. */
void memory_add(struct memory_budget *budget, size_t bytes);

/* What `most` has to be for that which is used, which is more: buffers will be larger then, too. */
size_t memory_needed(const struct memory_budget *budget);

/* memory_add(); where more are used than may be, the command ends with EX_OSERR and a message about `name`, which says
 * how much is needed: the bytes and all that was charged before. */
void memory_charge(struct memory_budget *budget, const char *name, size_t bytes);

/* *result = a * b. False when that does not fit. */
static inline bool size_multiply(size_t a, size_t b, size_t *result) { return !__builtin_mul_overflow(a, b, result); }

#endif
