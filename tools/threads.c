#include "threads.h"

#include <limits.h>
#include <stdlib.h>

#include "message.h"
#include "thread_limit.h"

unsigned threads_there(bool by_variable) {
    unsigned threads;
    if (!thread_limit(&threads, by_variable))
        die(EX_USAGE, "%s=%s: not a number of threads, 0 to %d", THREAD_LIMIT_VARIABLE, getenv(THREAD_LIMIT_VARIABLE),
            INT_MAX);
    return threads;
}

void say_fewer_threads(const struct arguments *arguments, unsigned took, table_backend backend) {
    const unsigned asked = arguments->threads_asked;
    table_device cpu;
    if (took >= asked || arguments->quiet)
        return;
    table_devices(&cpu, 1);
    if (backend == TABLE_BACKEND_CUDA)
        message("--threads %u: is for the CPU, and the work was done on a GPU", asked);
    else if (took >= (unsigned)cpu.processors)
        message("--threads %u: %u took part, as the process may use %d processor%s", asked, took, cpu.processors,
                cpu.processors == 1 ? "" : "s");
    else
        message("--threads %u: %u took part, as more would not be done sooner with data of this size and shape", asked,
                took);
}
