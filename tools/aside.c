#include "aside.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The functions of the other processes make calls of the system alone: they have the command's memory, errno and all.
 */
#define ASIDE __attribute__((no_sanitize("thread", "address"))) static int
enum { STACK = 16 << 10 };

/* So that whoever waits for the end of a pipe does not wait for this process. */
ASIDE leave_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        syscall(SYS_close, fd);
    return 0;
}

ASIDE outlive(void *command) {
    const struct timespec moment = {.tv_nsec = 1000000};
    leave_standard_files();
    while (syscall(SYS_getppid) == *(const pid_t *)command)
        syscall(SYS_nanosleep, &moment, NULL);
    return 0;
}

void aside_outlive(void) {
    static char stack[STACK] __attribute__((aligned(16)));
    static pid_t command;
    command = getpid();
    clone(outlive, stack + STACK, CLONE_VM, &command);
}

/* Ends when the command has closed its copy of the file, or is gone. */
ASIDE end_last(void *closed) {
    const struct timespec moment = {.tv_nsec = 100000};
    const pid_t command = (pid_t)syscall(SYS_getppid);
    leave_standard_files();
    while (!__atomic_load_n((const bool *)closed, __ATOMIC_ACQUIRE) && syscall(SYS_getppid) == command)
        syscall(SYS_nanosleep, &moment, NULL);
    return 0;
}

void aside_close(int fd) {
    static char stack[STACK] __attribute__((aligned(16)));
    static bool closed;
    sigset_t all, before;
    closed = false;
    sigfillset(&all); /* none of the command's handlers runs in the other process */
    sigprocmask(SIG_BLOCK, &all, &before);
    const pid_t other = clone(end_last, stack + STACK, CLONE_VM, &closed);
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(fd);
    __atomic_store_n(&closed, true, __ATOMIC_RELEASE);
    while (other > 0 && waitpid(other, NULL, __WALL) < 0 && errno == EINTR)
        continue;
}
