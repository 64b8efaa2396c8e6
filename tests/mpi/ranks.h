/* Tests that several ranks run together, each in its own process. All have the same random numbers, so that each knows
 * what the others do. What fails ends all of them. */
#ifndef TEST_RANKS_H
#define TEST_RANKS_H

#include <tuplescan/mpi.h>

#include "support/random.h"
#include "support/tables.h"

/* The number of ranks in MPI_COMM_WORLD that tests are cut for; and this process among them. */
struct ranks {
    MPI_Comm comm; /* of the first `count` processes, in the order of the world or against it */
    int rank, count;
};

/* Ends all processes, saying what is wrong on which rank. */
#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
void check_that(bool condition, const char *text, const char *file, int line);
void check_note(const char *format, ...) __attribute__((format(printf, 1, 2))); /* of the case, for CHECK to print */

/* Makes a communicator of `count` processes. False on those that are left out. */
bool group_open(struct ranks *ranks, int count, bool backwards);
void group_close(struct ranks *ranks);

/* Requires that all ranks have been told `status`, in the same words, in which `word` is. */
void check_told(const struct ranks *ranks, table_status status, table_status wanted, const char *word);

void test_sums_of_ranks(int world, uint64_t seed);
void test_totals_of_ranks(int world, uint64_t seed);
void test_keys_of_ranks(int world, uint64_t seed);
void test_errors_of_ranks(int world);

#endif
