/* One MPI_Allreduce, of maxima, says who failed and whether all are of one mind. */
#include "agree.h"

#include <stdio.h>

enum { TEXT = 256 };

table_status mpi_failed(const char *name, int code) {
    char reason[MPI_MAX_ERROR_STRING] = "unknown", text[MPI_MAX_ERROR_STRING + TEXT];
    int length;
    MPI_Error_string(code, reason, &length);
    snprintf(text, sizeof text, "%s: %s", name, reason);
    return table_error_set(TABLE_ERROR_MPI, text);
}

table_status together_begin(struct together *all, MPI_Comm comm) {
    int begun = 0, ended = 0, inter = 0, code = MPI_Initialized(&begun);
    if (code == MPI_SUCCESS)
        code = MPI_Finalized(&ended);
    if (code != MPI_SUCCESS || !begun || ended)
        return table_error_set(TABLE_ERROR_MPI, ended ? "MPI_Finalize() was called" : "MPI_Init() was not called");
    if (comm == MPI_COMM_NULL)
        return table_error_set(TABLE_ERROR_ARGUMENT, "comm is MPI_COMM_NULL");
    *all = (struct together){.comm = comm};
    if ((code = MPI_Comm_test_inter(comm, &inter)) != MPI_SUCCESS)
        return mpi_failed("MPI_Comm_test_inter()", code);
    if (inter)
        return table_error_set(TABLE_ERROR_ARGUMENT, "comm is an intercommunicator");
    if ((code = MPI_Comm_rank(comm, &all->rank)) != MPI_SUCCESS)
        return mpi_failed("MPI_Comm_rank()", code);
    code = MPI_Comm_size(comm, &all->ranks);
    return code == MPI_SUCCESS ? TABLE_OK : mpi_failed("MPI_Comm_size()", code);
}

#define OWN_FAILURE (1ULL << 63)

/* The greater, the lower the rank that failed is. */
static uint64_t failure_word(const struct together *all, table_status status, bool is_own) {
    if (status == TABLE_OK)
        return 0;
    return (is_own ? OWN_FAILURE : 0) | (uint64_t)(all->ranks - all->rank) << 32 | (uint32_t)status;
}

/* The greatest of each word over the ranks. MPICH 4.0 compares unsigned integers as signed ones, so signed ones in the
 * same order are what it is given. */
static table_status reduce(const struct together *all, uint64_t *words, int count) {
    for (int i = 0; i < count; i++)
        words[i] ^= 1ULL << 63;
    const int code = MPI_Allreduce(MPI_IN_PLACE, words, count, MPI_INT64_T, MPI_MAX, all->comm);
    for (int i = 0; i < count; i++)
        words[i] ^= 1ULL << 63;
    return code == MPI_SUCCESS ? TABLE_OK : mpi_failed("MPI_Allreduce()", code);
}

/* Has the rank of the greatest failure word tell all others its reason, and returns its status. */
static table_status share_failure(const struct together *all, uint64_t word) {
    const int rank = all->ranks - (int)((word & ~OWN_FAILURE) >> 32);
    const table_status status = (table_status)(uint32_t)word;
    char text[TEXT] = "";
    if (rank == all->rank && status == TABLE_ERROR_MPI)
        snprintf(text, sizeof text, "%s", table_error_detail());
    else if (rank == all->rank)
        snprintf(text, sizeof text, "rank %d: %.200s", rank, table_error_detail());
    const int code = MPI_Bcast(text, sizeof text, MPI_CHAR, rank, all->comm);
    return code == MPI_SUCCESS ? table_error_set(status, text) : mpi_failed("MPI_Bcast()", code);
}

/* A value that all ranks must have, between its complement and itself: the maxima of both say the least and the
 * greatest. */
struct common {
    uint64_t greatest, least_flipped;
};

enum { CALL, COLUMNS, IN, OUT, DETAIL, COMMONS };

static const char *value_name(unsigned which, uint64_t value, char text[32]) {
    static const char *const calls[] = {"prefix_sum", "column_totals", "histogram", "digit_counts"};
    if (which == CALL && value < sizeof calls / sizeof *calls)
        return calls[value];
    if ((which == IN || which == OUT) && table_type_name((table_type)value))
        return table_type_name((table_type)value);
    snprintf(text, 32, "%llu", (unsigned long long)value);
    return text;
}

static table_status find_difference(const struct common *commons, const char *detail_name) {
    const char *const names[COMMONS] = {"the call", "columns", "the type of in", "the type of out", detail_name};
    char text[TEXT], least[32], greatest[32];
    for (unsigned i = 0; i < COMMONS; i++) {
        const uint64_t from = ~commons[i].least_flipped, to = commons[i].greatest;
        if (from == to)
            continue;
        snprintf(text, sizeof text, "ranks differ in %s: %s on one, %s on another", names[i],
                 value_name(i, from, least), value_name(i, to, greatest));
        return table_error_set(TABLE_ERROR_RANKS, text);
    }
    return TABLE_OK;
}

table_status together_agree(const struct together *all, struct plea *plea) {
    const uint64_t values[COMMONS] = {plea->call, plea->columns, plea->in, plea->out, plea->detail};
    struct {
        uint64_t failed, wants_overflow, wants_end;
        struct common commons[COMMONS];
    } words = {failure_word(all, plea->status, true), plea->wants_overflow, plea->wants_end, {{0, 0}}};
    for (unsigned i = 0; i < COMMONS; i++)
        words.commons[i] = (struct common){values[i], ~values[i]};
    const table_status status = reduce(all, &words.failed, sizeof words / sizeof(uint64_t));
    if (status != TABLE_OK)
        return status;
    if (words.failed != 0)
        return share_failure(all, words.failed);
    plea->wants_overflow = words.wants_overflow;
    plea->wants_end = words.wants_end;
    return find_difference(words.commons, plea->detail_name);
}

table_status together_end(const struct together *all, table_status status, bool is_own, uint64_t *first) {
    uint64_t words[] = {failure_word(all, status, is_own), ~*first};
    const table_status reduced = reduce(all, words, 2);
    if (reduced != TABLE_OK)
        return reduced;
    *first = ~words[1];
    return words[0] == 0 ? TABLE_OK : share_failure(all, words[0]);
}
