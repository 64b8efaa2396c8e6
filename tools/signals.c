#include "signals.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

/* The handler may find a place half filled only in another thread than the one that fills it with signals held; there
 * `used` is still 0. */
enum { PLACES = 4 };
static struct {
    volatile sig_atomic_t used;
    char path[PATH_MAX];
} removable[PLACES];

static volatile sig_atomic_t cut_is_wanted;
static int cut_fd;
static off_t cut_size;
static const char *cut_path;

const char *signals_clean_up(void) {
    const char *const left = cut_is_wanted && ftruncate(cut_fd, cut_size) != 0 ? cut_path : NULL;
    const int error = errno;
    for (int i = 0; i < PLACES; i++)
        if (removable[i].used)
            unlink(removable[i].path);
    errno = error;
    return left;
}

/* Says it if that takes no waiting: a reader that does not read must not keep the command from ending. */
static void say(const char *line, size_t bytes) {
    struct pollfd error = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&error, 1, 0) != 1 || !(error.revents & POLLOUT))
        return;
    ssize_t ignored = write(STDERR_FILENO, line, bytes);
    (void)ignored;
}

/* Ends the command as the signal would have done without a handler, so that shells see what ended it. */
static void on_ending_signal(int number) {
    static const char interrupted[] = "tuplescan: interrupted\n";
    signals_clean_up();
    if (number == SIGINT)
        say(interrupted, sizeof interrupted - 1);
    signal(number, SIG_DFL);
    raise(number);
}

/* A mapped input shrank, or its disk failed, while it was read: as a rule by several threads at a time. */
static void on_bus_error(int number) {
    static const char text[] = "tuplescan: the input could not be read to its end: it shrank, or its disk failed\n";
    static bool taken;
    (void)number;
    while (__atomic_test_and_set(&taken, __ATOMIC_ACQ_REL))
        pause();
    signals_clean_up();
    say(text, sizeof text - 1);
    _exit(EX_IOERR);
}

/* Whether the signal ends a program that does nothing about it, and can be caught. */
static bool ends_programs(int number) {
    static const int others[] = {SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGURG, SIGWINCH};
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++)
        if (number == others[i])
            return false;
    return true;
}

void signals_catch(void) {
    signal(SIGXFSZ, SIG_IGN);
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction action = {0}, old;
        if (!ends_programs(number) || sigaction(number, NULL, &old) != 0)
            continue; /* the C library keeps two for itself */
        action.sa_handler = number == SIGBUS ? on_bus_error : on_ending_signal;
        sigfillset(&action.sa_mask);
        /* A sanitizer has handlers of its own, and shows more than this one; but it does not know what SIGBUS means. */
        if (old.sa_handler == SIG_DFL || (number == SIGBUS && old.sa_handler != SIG_IGN))
            sigaction(number, &action, NULL);
    }
}

sigset_t signals_hold(void) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    return before;
}

void signals_release(sigset_t before) { pthread_sigmask(SIG_SETMASK, &before, NULL); }

int signals_will_remove(const char *path) {
    int place = 0;
    while (place < PLACES && removable[place].used)
        place++;
    if (place == PLACES || snprintf(removable[place].path, PATH_MAX, "%s", path) >= PATH_MAX)
        return -1;
    removable[place].used = 1;
    return place;
}

void signals_leave(int place) { removable[place].used = 0; }

void signals_truncate(int fd, off_t size, const char *path) {
    const sigset_t before = signals_hold();
    cut_is_wanted = fd >= 0;
    cut_fd = fd;
    cut_size = size;
    cut_path = path;
    signals_release(before);
}

const char *signals_path(int place) { return removable[place].path; }
