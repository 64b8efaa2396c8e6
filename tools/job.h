/* How a command runs: steps one after the other, up to the first that fails, each timed. Each moment from the beginning
 * of main() to the last step is in one of the steps, so that these add up to what the clock on the wall shows. */
#ifndef JOB_H
#define JOB_H

#include <tuplescan/stream.h>

#include "arguments.h"
#include "progress.h"

/* STEP_READ: opening inputs and waiting for what they say. STEP_WORK: memory for the results, and the results.
 * STEP_WRITE: opening the outputs, asking for their room, writing, and waiting for the disk. STEP_FREE: giving back
 * memory and mappings. */
enum step { STEP_READ, STEP_WORK, STEP_WRITE, STEP_FREE, STEPS };

struct stopwatch {
    double last; /* 0: nothing yet, and the time since stopwatch_begin() belongs to the first step */
    double seconds[STEPS];
};

enum { STOPWATCH_TEXT = 160 };

/* At the beginning of main(). */
void stopwatch_begin(void);

/* What went by since the last call belongs to this step. */
void stopwatch_step(struct stopwatch *watch, enum step step);

/* What went by since the last call was a stream: it belongs to the steps as the report says, the rest to STEP_WORK. */
void stopwatch_stream(struct stopwatch *watch, const table_stream_report *report);

double stopwatch_total(const struct stopwatch *watch);

/* "12 ms in all: reading 2, working 3, writing 6"; what is left of it went by with giving back memory. */
void stopwatch_text(const struct stopwatch *watch, char text[STOPWATCH_TEXT]);

/* read_seconds, work_seconds, write_seconds, free_seconds and their sum, total_seconds, as members of the object that
 * is being printed. */
void stopwatch_json(const struct stopwatch *watch);

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
    void (*release)(void *context); /* in any case: gives back what takes time to give back; NULL: nothing */
    void (*close)(void *context);   /* in any case, and last */
};

#define JOB_STEPS(STEPS) STEPS, sizeof(STEPS) / sizeof(STEPS)[0]

/* Runs a command, whose work and arguments these are: too large for a small stack. The exit code. */
int job_run(const struct job_table *table, void *context, struct arguments *arguments, int argc, char **argv);

#endif
