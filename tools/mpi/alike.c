#include "mpi/alike.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <mpi.h>

#include "message.h"
#include "mpi/shared_file.h"

/* An option by its name, and what it was given: a text, or else a number, of which 0 is as good as none. */
struct said {
    const char *name, *text;
    size_t number;
};

static const char *if_given(bool flag) { return flag ? "given" : NULL; }

static void write_value(const struct said *said, char text[PATH_MAX]) {
    if (said->number > 0)
        snprintf(text, PATH_MAX, "%zu", said->number);
    else
        snprintf(text, PATH_MAX, "%s", said->text ? said->text : "not given");
}

static int check_one(const struct said *said) {
    char own[PATH_MAX] = "", first[PATH_MAX];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    write_value(said, own);
    memcpy(first, own, sizeof first);
    ranks_share(first, sizeof first);
    if (strcmp(own, first) == 0)
        return EX_OK;
    return fail(EX_USAGE, "rank %d: %s: %s, but on rank 0 %s: all ranks must be told the same", rank, said->name, own,
                first);
}

int check_alike(const struct scan_arguments *arguments) {
    const struct said all[] = {
        {"INPUT", arguments->common.inputs[0], 0},
        {"--output", arguments->common.output, 0},
        {"--carry-in", arguments->carry_in, 0},
        {"--input-format", arguments->common.input_format, 0},
        {"--output-format", arguments->common.output_format, 0},
        {"--type", table_type_name(arguments->common.type), 0},
        {"--out-type", table_type_name(arguments->common.out_type), 0},
        {"--columns", NULL, arguments->common.columns},
        {"--skip", NULL, arguments->common.skip},
        {"--force", if_given(arguments->common.force), 0},
        {"--wrap", if_given(arguments->wrap), 0},
        {"--exclusive", if_given(arguments->exclusive), 0},
        {"--reverse", if_given(arguments->reverse), 0},
        {"--offsets", if_given(arguments->offsets), 0},
        {"--skip-nan", if_given(arguments->skip_nan), 0},
    };
    int code = EX_OK;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        const int found = check_one(&all[i]);
        code = code == EX_OK ? found : code;
    }
    return ranks_code(code);
}
