/* Ranges of rows are joined by MPI itself: MPI_Exscan with an operation of our own. */
#include "link.h"

#include <stddef.h>
#include <string.h>

enum { LARGE = 1 << 30 }; /* counts of MPI are ints: more bytes are a number of these, and a rest */

_Static_assert(_Alignof(max_align_t) >= TABLE_STATE_ALIGNMENT, "MPI's memory is aligned as malloc()'s is");

/* Makes MPI's error `code` of the function `name` the library's. */
static table_status mpi_failed(const char *name, int code) {
    char reason[MPI_MAX_ERROR_STRING] = "unknown";
    int length;
    MPI_Error_string(code, reason, &length);
    return ranks_fail(TABLE_ERROR_MPI, "%s: %s", name, reason);
}

static table_status checked(const char *name, int code) {
    return code == MPI_SUCCESS ? TABLE_OK : mpi_failed(name, code);
}

/* ---------------------------------------------------------------------------------------------------------- surveys */

/* An MPI_User_function. */
static void survey_two(void *one, void *all, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++)
        survey_add((struct survey *)all + i, (const struct survey *)one + i);
}

static int reduce(const struct mpi_link *link, struct survey *survey) {
    MPI_Datatype type;
    MPI_Op op;
    int code = MPI_Type_contiguous(sizeof *survey, MPI_BYTE, &type);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Type_commit(&type);
    if (code == MPI_SUCCESS && (code = MPI_Op_create(survey_two, 1, &op)) == MPI_SUCCESS) {
        code = MPI_Allreduce(MPI_IN_PLACE, survey, 1, type, op, link->comm);
        MPI_Op_free(&op);
    }
    MPI_Type_free(&type);
    return code;
}

static table_status mpi_survey(const struct together *all, uint64_t *words, int count, struct tally *tally) {
    const struct mpi_link *link = (const struct mpi_link *)all;
    struct survey survey = survey_begin(words, count, tally->own);
    TRY(checked("MPI_Allreduce()", reduce(link, &survey)));
    memcpy(words, survey.words, (size_t)count * sizeof *words);
    tally->total = survey.sum;
    if (!tally->asks_before)
        return TABLE_OK;
    TRY(checked("MPI_Exscan()", MPI_Exscan(&tally->own, &tally->before, 1, MPI_UINT64_T, MPI_SUM, link->comm)));
    if (all->rank == 0) /* MPI leaves rank 0's undefined */
        tally->before = 0;
    return TABLE_OK;
}

/* ----------------------------------------------------------------------------------------------------------- states */

/* An MPI_User_function. */
static void join_in_order(void *left, void *right, int *count, MPI_Datatype *type) {
    MPI_Count bytes = 0;
    if (MPI_Type_size_x(*type, &bytes) != MPI_SUCCESS || bytes <= 0)
        return;
    for (int i = 0; i < *count; i++)
        ranks_join((char *)left + (size_t)i * (size_t)bytes, (char *)right + (size_t)i * (size_t)bytes, (size_t)bytes);
}

/* `blocks` blocks of LARGE bytes and `rest` bytes. */
static int make_large_type(size_t blocks, size_t rest, MPI_Datatype *type) {
    MPI_Datatype block;
    int code = MPI_Type_contiguous(LARGE, MPI_BYTE, &block);
    if (code != MPI_SUCCESS)
        return code;
    const int counts[] = {(int)blocks, (int)rest};
    const MPI_Aint places[] = {0, (MPI_Aint)(blocks * LARGE)};
    const MPI_Datatype types[] = {block, MPI_BYTE};
    code = MPI_Type_create_struct(2, counts, places, types, type);
    MPI_Type_free(&block);
    return code;
}

static table_status mpi_open(struct together *all, size_t state_bytes) {
    struct mpi_link *link = (struct mpi_link *)all;
    MPI_Datatype type;
    state_bytes = together_state_step(state_bytes); /* MPI may keep several side by side */
    const int code = state_bytes <= LARGE ? MPI_Type_contiguous((int)state_bytes, MPI_BYTE, &type)
                                          : make_large_type(state_bytes / LARGE, state_bytes % LARGE, &type);
    if (code != MPI_SUCCESS)
        return mpi_failed("MPI_Type_contiguous()", code);
    link->state = type;
    TRY(checked("MPI_Type_commit()", MPI_Type_commit(&link->state)));
    return checked("MPI_Op_create()", MPI_Op_create(join_in_order, 0, &link->join));
}

/* The communicator whose ranks are in the order of the sum. */
static table_status open_order(const struct mpi_link *link, MPI_Comm *comm) {
    *comm = link->comm;
    if (!link->all.backwards)
        return TABLE_OK;
    return checked("MPI_Comm_split()", MPI_Comm_split(link->comm, 0, link->all.ranks - link->all.rank, comm));
}

static table_status close_order(const struct mpi_link *link, MPI_Comm *comm, const char *name, int code) {
    const table_status status = checked(name, code);
    if (*comm != link->comm)
        MPI_Comm_free(comm);
    return status;
}

static table_status mpi_before(const struct together *all, const void *range, void *before) {
    const struct mpi_link *link = (const struct mpi_link *)all;
    MPI_Comm comm;
    TRY(open_order(link, &comm));
    const int code = MPI_Exscan(range, before, 1, link->state, link->join, comm);
    return close_order(link, &comm, "MPI_Exscan()", code);
}

static table_status mpi_whole(const struct together *all, const void *range, void *whole) {
    const struct mpi_link *link = (const struct mpi_link *)all;
    MPI_Comm comm;
    TRY(open_order(link, &comm));
    const int code = MPI_Allreduce(range, whole, 1, link->state, link->join, comm);
    return close_order(link, &comm, "MPI_Allreduce()", code);
}

static table_status mpi_tell(const struct together *all, void *memory, size_t bytes, int rank) {
    const struct mpi_link *link = (const struct mpi_link *)all;
    char *at = memory;
    for (; bytes > LARGE; bytes -= LARGE, at += LARGE)
        TRY(checked("MPI_Bcast()", MPI_Bcast(at, LARGE, MPI_BYTE, rank, link->comm)));
    return checked("MPI_Bcast()", MPI_Bcast(at, (int)bytes, MPI_BYTE, rank, link->comm));
}

static const struct transport mpi_transport = {
    .failure = TABLE_ERROR_MPI,
    .survey = mpi_survey,
    .open = mpi_open,
    .before = mpi_before,
    .whole = mpi_whole,
    .tell = mpi_tell,
};

table_status mpi_link_begin(struct mpi_link *link, MPI_Comm comm) {
    int begun = 0, ended = 0, inter = 0, code = MPI_Initialized(&begun);
    *link = (struct mpi_link){.all = {.by = &mpi_transport}, .state = MPI_DATATYPE_NULL, .join = MPI_OP_NULL};
    if (code == MPI_SUCCESS)
        code = MPI_Finalized(&ended);
    if (code != MPI_SUCCESS || !begun || ended)
        return table_error_set(TABLE_ERROR_MPI, ended ? "MPI_Finalize() was called" : "MPI_Init() was not called");
    if (comm == MPI_COMM_NULL)
        return table_error_set(TABLE_ERROR_ARGUMENT, "comm is MPI_COMM_NULL");
    link->comm = comm;
    if ((code = MPI_Comm_test_inter(comm, &inter)) != MPI_SUCCESS)
        return mpi_failed("MPI_Comm_test_inter()", code);
    if (inter)
        return table_error_set(TABLE_ERROR_ARGUMENT, "comm is an intercommunicator");
    if ((code = MPI_Comm_rank(comm, &link->all.rank)) != MPI_SUCCESS)
        return mpi_failed("MPI_Comm_rank()", code);
    return checked("MPI_Comm_size()", MPI_Comm_size(comm, &link->all.ranks));
}

void mpi_link_close(struct mpi_link *link) {
    if (link->join != MPI_OP_NULL)
        MPI_Op_free(&link->join);
    if (link->state != MPI_DATATYPE_NULL)
        MPI_Type_free(&link->state);
}
