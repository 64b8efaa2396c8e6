#include "job.h"

#include <stdio.h>

#include "json.h"
#include "message.h"
#include "seconds.h"

static double begun;

void stopwatch_begin(void) { begun = seconds_now(); }

void stopwatch_step(struct stopwatch *watch, enum step step) {
    const double now = seconds_now();
    watch->seconds[step] += now - (watch->last > 0 ? watch->last : begun);
    watch->last = now;
}

void stopwatch_stream(struct stopwatch *watch, const table_stream_report *report) {
    const double reading = report->read_seconds, writing = report->write_seconds;
    stopwatch_step(watch, STEP_WORK);
    watch->seconds[STEP_WORK] -= reading + writing;
    watch->seconds[STEP_READ] += reading;
    watch->seconds[STEP_WRITE] += writing;
}

double stopwatch_total(const struct stopwatch *watch) {
    double sum = 0;
    for (unsigned i = 0; i < STEPS; i++)
        sum += watch->seconds[i];
    return sum;
}

void stopwatch_text(const struct stopwatch *watch, char text[STOPWATCH_TEXT]) {
    const double *seconds = watch->seconds;
    snprintf(text, STOPWATCH_TEXT, "%.4g ms in all: reading %.3g, working %.3g, writing %.3g",
             1e3 * stopwatch_total(watch), 1e3 * seconds[STEP_READ], 1e3 * seconds[STEP_WORK],
             1e3 * seconds[STEP_WRITE]);
}

void stopwatch_json(const struct stopwatch *watch) {
    static const char *const names[STEPS] = {"read_seconds", "work_seconds", "write_seconds", "free_seconds"};
    for (unsigned i = 0; i < STEPS; i++)
        json_number(names[i], watch->seconds[i]);
    json_number("total_seconds", stopwatch_total(watch));
}

static int run_steps(const struct job_table *table, void *context, const struct arguments *arguments) {
    struct job *const job = context;
    int code = EX_OK;
    for (unsigned i = 0; i < table->count && code == EX_OK; i++) {
        const struct job_step *step = &table->steps[i];
        progress_begin(&job->progress, step->shows && !arguments->quiet && !arguments->no_progress);
        code = step->take(context);
        progress_end(&job->progress);
        stopwatch_step(&job->watch, step->time);
    }
    return code;
}

int job_run(const struct job_table *table, void *context, struct arguments *arguments, int argc, char **argv) {
    struct job *const job = context;
    int code = options_parse(table->options, arguments, argc, argv);
    if (code != GO_ON)
        return code;
    code = table->check ? table->check(context) : EX_OK;
    if (code == EX_OK)
        code = run_steps(table, context, arguments);
    if (table->release) {
        table->release(context);
        stopwatch_step(&job->watch, STEP_FREE);
    }
    if (code == EX_OK && table->tell)
        code = table->tell(context);
    table->close(context);
    return code;
}
