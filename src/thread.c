#include "thread.h"

enum { STACK_BYTES = 256 << 10 };

void thread_block_signals(sigset_t *before) {
    static const int faults[] = {SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSYS, SIGTRAP};
    sigset_t signals;
    sigfillset(&signals);
    for (unsigned i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(&signals, faults[i]);
    pthread_sigmask(SIG_BLOCK, &signals, before);
}

/* A program with much thread-local memory may need more stack than calls of the library do. */
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
