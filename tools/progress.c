#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "seconds.h"
#include "transfer.h"

#define CLEAR "\r\033[K"
#define FIRST 1.0
#define EVERY 0.2

static struct {
    bool wanted, shown;
    double begun, last; /* seconds */
} progress;

void progress_begin(bool wanted) {
    progress_end();
    progress.wanted = wanted && isatty(STDERR_FILENO);
    progress.begun = seconds_now();
}

void progress_show(uint64_t rows, uint64_t all, uint64_t bytes) {
    char line[160];
    const double now = progress.wanted ? seconds_now() : 0, since = now - progress.begun;
    if (!progress.wanted || since < FIRST || now - progress.last < EVERY)
        return;
    progress.last = now;
    progress.shown = true;
    int used = snprintf(line, sizeof line, CLEAR "%llu rows", (unsigned long long)rows);
    if (all > 0)
        used += snprintf(line + used, sizeof line - (size_t)used, " of %llu (%.0f %%)", (unsigned long long)all,
                         100.0 * (double)rows / (double)all);
    used += snprintf(line + used, sizeof line - (size_t)used, ", %.2f GB/s", (double)bytes / since / 1e9);
    if (all > 0 && rows > 0)
        snprintf(line + used, sizeof line - (size_t)used, ", %.0f s left", since * ((double)all / (double)rows - 1));
    transfer_write(STDERR_FILENO, line, strlen(line), -1);
}

void progress_end(void) {
    if (progress.shown)
        transfer_write(STDERR_FILENO, CLEAR, strlen(CLEAR), -1);
    progress.shown = false;
}
