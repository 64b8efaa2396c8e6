/* Threads that the library starts beside the caller's, outside of the CPU backend. */
#ifndef THREAD_H
#define THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* Blocks, in the calling thread, all signals but those of faults, which threads that it starts inherit: program-wide
 * signals are for the program's own threads. */
void thread_block_signals(sigset_t *before);

/* Starts a thread with a stack large enough for calls of the library. */
bool thread_start(pthread_t *thread, void *(*work)(void *), void *argument);

#endif
