/* How a command runs: steps one after the other, each timed. Each moment from the beginning of main() to the last step
 * is in one of the steps, so that these add up to what the clock on the wall shows. */
#ifndef JOB_H
#define JOB_H

#include <tuplescan/stream.h>

#include "arguments.h"
#include "progress.h"

/* STEP_READ: opening inputs and waiting for what they say. STEP_WORK: memory for the results, and the results.
 * STEP_WRITE: opening the outputs, asking for their room, writing, and waiting for the disk. STEP_FREE: giving back
 * memory and mappings. */
enum step { STEP_READ, STEP_WORK, STEP_WRITE, STEP_FREE, STEPS };

enum { JOB_TIMES_TEXT = 160 };

/* At the beginning of main(). */
void job_clock_begin(void);

/* Takes the command's options, as options_parse(). */
void job_begin(const struct option_table *options, void *arguments, int argc, char **argv);

/* What went by since the last call belongs to this step, which ends. */
void job_step(enum step step);

/* What went by since the last call was a stream: it belongs to the steps as the report says, the rest to STEP_WORK. */
void job_step_stream(const table_stream_report *report);

double job_seconds(void); /* of all steps */

/* "12 ms in all: reading 2, working 3, writing 6"; the rest went by with giving back memory. */
void job_times_text(char text[JOB_TIMES_TEXT]);

/* read_seconds, work_seconds, write_seconds, free_seconds and their sum, total_seconds, as members of the object that
 * is being printed. */
void job_times_json(void);

#endif
