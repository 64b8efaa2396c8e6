#include "mpi/alike.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

#include "message.h"
#include "mpi/shared_file.h"

/* An option that ranks may be given each its own way. */
static bool is_own(const char *option) {
    static const char *const names[] = {"backend", "threads", "quiet", "strategy", "check-overflow"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(option, names[i]) == 0)
            return true;
    return false;
}

/* `own`: what this rank was given. */
static int check_one(const char *dashes, const char *name, const char own[PATH_MAX]) {
    char first[PATH_MAX];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memcpy(first, own, sizeof first);
    ranks_share(first, sizeof first);
    if (strcmp(own, first) == 0)
        return EX_OK;
    return fail(EX_USAGE, "rank %d: %s%s: %s, but on rank 0 %s: all ranks must be told the same", rank, dashes, name,
                own, first);
}

int check_alike(const struct scan_arguments *arguments) {
    const struct option_table *table = arguments->common.table;
    char own[PATH_MAX] = "";
    snprintf(own, sizeof own, "%s", arguments->common.inputs[0]);
    int code = check_one("", "INPUT", own);
    for (unsigned i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        if (!row->name || is_own(row->name))
            continue;
        const char *given = arguments->common.given[i];
        snprintf(own, sizeof own, "%s", !given ? "not given" : row->argument ? given : "given");
        const int found = check_one("--", row->name, own);
        code = code == EX_OK ? found : code;
    }
    return ranks_code(code);
}
