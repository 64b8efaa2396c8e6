/* What a call gets when the host has no memory left. */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

/* The sanitizers end a program that runs out of memory, and take memory of their own. */
static int memory_can_run_out(void) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 0;
#elif defined(__has_feature)
    return !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer);
#else
    return 1;
#endif
}

/* Leaves this process no more than `bytes` of address space beyond what it has. */
static int limit_memory(size_t bytes) {
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lu", &pages) != 1)
        return -1;
    fclose(file);
    const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + bytes;
    return setrlimit(RLIMIT_AS, &(struct rlimit){most, most});
}

/* In a process of its own: 0 when all is as it should be. The table is one very wide row, so that the seeds are large.
 */
static int run_out_of_memory(table_strategy strategy) {
    const size_t columns = (size_t)1 << 24;
    uint8_t *in_data = mmap(NULL, columns, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t *out_data = mmap(NULL, columns * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const table_view in = {in_data, 1, columns, 0, TABLE_U8}, out = {out_data, 1, columns, 0, TABLE_U64};
    const table_scan_options options = {.backend = TABLE_BACKEND_CPU, .strategy = strategy, .threads = 2};
    if (in_data == MAP_FAILED || out_data == MAP_FAILED || limit_memory((size_t)24 << 20) != 0)
        return 2;
    const table_status status = table_prefix_sum(&in, &out, &options);
    if (status != TABLE_ERROR_HOST_MEMORY) {
        printf("expected TABLE_ERROR_HOST_MEMORY, found %s\n", table_status_name(status));
        return 1;
    }
    return *table_error_detail() ? 0 : 3;
}

TEST(test_out_of_host_memory) {
    if (!memory_can_run_out())
        skip();
    for (table_strategy strategy = TABLE_STRATEGY_HOST; strategy <= TABLE_STRATEGY_RECURSIVE; strategy++) {
        fflush(stdout);
        const pid_t child = fork();
        int ended = 0;
        assert_int_not_equal(child, -1);
        if (child == 0) {
            const int result = run_out_of_memory(strategy);
            fflush(stdout);
            _exit(result);
        }
        assert_int_equal(waitpid(child, &ended, 0), child);
        assert_true(WIFEXITED(ended));
        assert_int_equal(WEXITSTATUS(ended), 0);
    }
}

int main(void) { return run_all_tests("host_memory", NULL); }
