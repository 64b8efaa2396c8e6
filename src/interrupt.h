/* Whether the caller wants its call to end: table_set_interrupt() of tuplescan/status.h. Work that may take long lies
 * between interrupt_begin() and interrupt_end(), which may be nested, and looks at interrupt_came() now and then. */
#ifndef INTERRUPT_H
#define INTERRUPT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <tuplescan/status.h>

/* How old the last answer may be. Tests set it to 0. */
extern int64_t interrupt_ask_ms;

/* What the threads of a call share; NULL where the caller has set nothing. */
struct interrupt;
struct interrupt *interrupt_begin(void);

/* Makes the calling thread, which was started for the work, one that ends when its caller wants it to. */
void interrupt_follow(struct interrupt *interrupt);

/* Whether the work is to end. On the caller's own thread it asks, if the last answer is old enough. */
bool interrupt_came(void);

/* pthread_cond_wait(), but on the caller's own thread, which asks meanwhile, for a tenth of a second at most. */
void interrupt_wait(pthread_cond_t *moved, pthread_mutex_t *mutex);

/* The caller is not asked while it is too late to take back what the calling thread has done. Returns whether it was
 * so before. */
bool interrupt_hold(bool is_held);

/* CANCELED when the caller wanted the work to end, wherever that was noticed. */
table_status interrupt_end(void);

#endif
