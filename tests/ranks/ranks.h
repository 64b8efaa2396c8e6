/* Tests that several ranks run together: processes of MPI, or threads with a communicator of NCCL. All have the same
 * random numbers, so that each knows what the others do. What fails ends all of them. */
#ifndef TEST_RANKS_H
#define TEST_RANKS_H

#ifdef TEST_RANKS_OF_NCCL
#include <tuplescan/nccl.h>
typedef ncclComm_t rank_comm;
#else
#include <tuplescan/mpi.h>
typedef MPI_Comm rank_comm;
#endif

#include "support/random.h"
#include "support/tables.h"

/* The number of ranks of the world that tests are cut for; and this rank among them. */
struct ranks {
    rank_comm comm; /* of the first `count` ranks of the world, in its order or against it */
    int rank, count;
};

/* Ends all ranks, naming the error and the rank that has it. */
#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
void check_that(bool condition, const char *text, const char *file, int line);
void check_note(const char *format, ...) __attribute__((format(printf, 1, 2))); /* of the case, for CHECK to print */

/* Makes a communicator of `count` ranks. False on those that are left out. */
bool group_open(struct ranks *ranks, int count, bool backwards);
void group_close(struct ranks *ranks);

/* The memory that some of the tables are in: the host's, or that of this rank's device. */
extern const struct memory *const ranks_memory;

/* The calls of the transport. */
table_status sum_over(const struct ranks *ranks, const table_view *in, const table_view *out,
                      const table_scan_options *options);
table_status recurrence_over(const struct ranks *ranks, const table_view *a, const table_view *b, const table_view *h,
                             const table_scan_options *options);
table_status totals_over(const struct ranks *ranks, const table_view *in, table_type type, void *totals,
                         const table_scan_options *options);

/* sum_over() and totals_over() of tables that lie packed on the host and are taken to ranks_memory for the call. */
table_status sum_placed(const struct ranks *ranks, const table_view *in, const table_view *out,
                        const table_scan_options *options);
table_status totals_placed(const struct ranks *ranks, const table_view *in, table_type type, void *totals,
                           const table_scan_options *options);

/* Whether the first rank has the same text; of no rank before all have come. */
bool same_text(const struct ranks *ranks, const char *text);

/* Requires that all ranks have been told `status`, in the same words, in which `word` is. */
void check_told(const struct ranks *ranks, table_status status, table_status wanted, const char *word);

void test_sums_of_ranks(int world, uint64_t seed);
void test_totals_of_ranks(int world, uint64_t seed);
void test_ranges_of_ranks(int world, uint64_t seed);
void test_errors_of_ranks(int world);

/* For a program whose arguments are ROWS COLUMNS [REPEAT]. */
void time_tables(const struct ranks *ranks, int argc, char **argv);

/* The greatest of all ranks' numbers; no rank has it before all have come. */
double greatest_over(const struct ranks *ranks, double mine);

/* The transport's own errors: communicators that are none. */
void test_communicators(const struct ranks *ranks);

#ifndef TEST_RANKS_OF_NCCL
/* What a program of MPI has beside the tests of ranks. begin_world() returns 0, or the program ends: with another exit
 * code, such as 77 where it has nothing to test; or, after DONE, with 0. */
enum { DONE = -1 };
int begin_world(const struct ranks *world, int argc, char **argv);
void test_world(const struct ranks *world);
#endif

#endif
