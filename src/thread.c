#include "thread.h"

/* Four times what calls of the library need (tests/unit/test_threads.c). The system's default may be less (ulimit -s),
 * and is usually so much more that glibc does not keep the stacks of many threads for the next call. */
enum { STACK_BYTES = 256 << 10 };

/* Faults are not blocked: where a worker's access is at fault, such as of a mapped file that was cut short, a blocked
 * signal would end the process without its handler. */
void thread_block_signals(sigset_t *before) {
    static const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    sigset_t signals;
    sigfillset(&signals);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&signals, faults[i]);
    pthread_sigmask(SIG_BLOCK, &signals, before);
}

/* A program with much thread-local memory, which is a part of the stack, may need more than STACK_BYTES; the system's
 * default is tried then. */
bool thread_start(pthread_t *thread, void *(*work)(void *), void *argument) {
    pthread_attr_t attributes;
    bool started = false;
    if (pthread_attr_init(&attributes) == 0) {
        started = pthread_attr_setstacksize(&attributes, STACK_BYTES) == 0 &&
                  pthread_create(thread, &attributes, work, argument) == 0;
        pthread_attr_destroy(&attributes);
    }
    return started || pthread_create(thread, NULL, work, argument) == 0;
}
