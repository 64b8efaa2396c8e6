#include "job.h"

#include <stdio.h>

#include "json.h"
#include "seconds.h"

static double last, seconds[STEPS];
static bool shows;

void job_clock_begin(void) { last = seconds_now(); }

void job_begin(const struct option_table *options, void *arguments, int argc, char **argv) {
    const struct arguments *const common = arguments;
    options_parse(options, arguments, argc, argv);
    shows = !common->quiet && !common->no_progress;
    progress_begin(shows);
}

void job_step(enum step step) {
    const double now = seconds_now();
    seconds[step] += now - last;
    last = now;
    progress_begin(shows);
}

void job_step_stream(const table_stream_report *report) {
    const double reading = report->read_seconds, writing = report->write_seconds;
    job_step(STEP_WORK);
    seconds[STEP_WORK] -= reading + writing;
    seconds[STEP_READ] += reading;
    seconds[STEP_WRITE] += writing;
}

double job_seconds(void) {
    double sum = 0;
    for (unsigned i = 0; i < STEPS; i++)
        sum += seconds[i];
    return sum;
}

void job_times_text(char text[JOB_TIMES_TEXT]) {
    snprintf(text, JOB_TIMES_TEXT, "%.4g ms in all: reading %.3g, working %.3g, writing %.3g", 1e3 * job_seconds(),
             1e3 * seconds[STEP_READ], 1e3 * seconds[STEP_WORK], 1e3 * seconds[STEP_WRITE]);
}

void job_times_json(void) {
    static const char *const names[STEPS] = {"read_seconds", "work_seconds", "write_seconds", "free_seconds"};
    for (unsigned i = 0; i < STEPS; i++)
        json_number(names[i], seconds[i]);
    json_number("total_seconds", job_seconds());
}
