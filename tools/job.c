#include "job.h"

#include "message.h"

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
    if (code == EX_OK && table->release) {
        table->release(context);
        stopwatch_step(&job->watch, STEP_FREE);
    }
    if (code == EX_OK && table->tell)
        code = table->tell(context);
    table->close(context);
    return code;
}
