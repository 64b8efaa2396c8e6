/* How a command runs: steps one after the other, up to the first that fails, each timed. */
#ifndef JOB_H
#define JOB_H

#include "arguments.h"
#include "progress.h"
#include "stopwatch.h"

/* What the work of each command begins with. */
struct job {
    struct progress progress;
    struct stopwatch watch;
};

/* A function of the work as a whole: EX_OK, or the exit code after a message. */
typedef int job_function(void *context);

struct job_step {
    job_function *take;
    enum step time; /* what its time counts as */
    bool shows;     /* how far it is may be seen on a terminal */
};

struct job_table {
    const struct option_table *options;
    job_function *check; /* of options that do not go together, before anything is read; NULL: all do */
    const struct job_step *steps;
    unsigned count;
    job_function *tell;             /* what is printed when all is done and memory was given back; or NULL */
    void (*release)(void *context); /* gives back what takes time to give back; NULL: nothing */
    void (*close)(void *context);   /* in any case, and last */
};

#define JOB_STEPS(STEPS) STEPS, sizeof(STEPS) / sizeof(STEPS)[0]

/* Runs a command, whose work and arguments these are: too large for a small stack. The exit code. */
int job_run(const struct job_table *table, void *context, struct arguments *arguments, int argc, char **argv);

#endif
