#include "append.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "message.h"
#include "transfer.h"
#include "types.h"
#include "values.h"

static int read_last_row(const struct growth *growth, char *row) {
    const struct table_layout *sums = &growth->old.layout;
    const size_t bytes = sums->columns * table_type_size(sums->type);
    return transfer_read_at(growth->fd, row, bytes, growth->end - (off_t)bytes)
               ? EX_OK
               : fail(EX_IOERR, "%s: %s", growth->old.name, errno ? strerror(errno) : "has become shorter");
}

/* Says in messages how to have a state again. Static text. */
static const char *how_to_remake(const struct growth *growth) {
    static char text[PATH_MAX + 120];
    snprintf(text, sizeof text,
             "tuplescan scan ROWS... -o /dev/null --continue %s makes it of the rows that were summed",
             growth->state_path);
    return text;
}

/* Whether the last row of the file is what the state goes on from. That of exclusive sums lacks a row of the input,
 * which is not kept anywhere. */
static int check_last_row(const struct growth *growth) {
    const struct table_layout *sums = &growth->old.layout;
    const size_t bytes = sums->columns * table_type_size(sums->type);
    if (sums->rows == 0 || bytes == 0 || growth->job.arguments.exclusive)
        return EX_OK;
    const table_type kept = table_sum_type(sums->type);
    const size_t kept_bytes = sums->columns * table_type_size(kept);
    char *kept_sums = memory_allocate(kept_bytes + 2 * bytes), *expected = kept_sums ? kept_sums + kept_bytes : NULL;
    char *last = expected ? expected + bytes : NULL;
    if (!last)
        return fail(EX_OSERR, "%s: out of memory for two rows of %zu bytes", growth->old.name, bytes);
    int code = read_last_row(growth, last);
    if (code == EX_OK && table_state_sums(growth->job.state.state, kept_sums) == TABLE_OK)
        row_round(sums->type, kept_sums, expected, sums->columns);
    else if (code == EX_OK)
        code = fail(EX_DATAERR, "%s: %s", growth->state_path, table_error_detail());
    if (code == EX_OK && (row_difference(sums->type, last, expected, sums->columns) != sums->columns))
        code = fail(EX_DATAERR,
                    "%s: is not the state of %s, whose last row has other sums; sums made with --exclusive go on with "
                    "--exclusive",
                    growth->state_path, growth->old.name);
    free(kept_sums);
    return code;
}

/* Whether the saved state at `from` is that of the sums; *whole: whether it is a state. */
static bool take_state(struct growth *growth, const char *from, size_t bytes, bool *whole) {
    struct state_file *state = &growth->job.state;
    const struct table_layout *sums = &growth->old.layout;
    *whole = table_state_load(from, bytes, state->state) == TABLE_OK;
    if (!*whole || table_state_describe(state->state, bytes, &state->facts) != TABLE_OK ||
        state->facts.operation != growth->job.arguments.operation || state->facts.rows != sums->rows ||
        state->facts.type != table_sum_type(sums->type) || state->facts.columns != sums->columns)
        return false;
    state->bytes = bytes;
    growth->saved_bytes = bytes;
    memmove(growth->saved, from, bytes);
    return true;
}

/* One state, or two. */
static int choose_state(struct growth *growth, size_t bytes) {
    const struct table_layout *sums = &growth->old.layout;
    table_state_facts facts;
    size_t one = 0, damaged = 0;
    bool whole;
    const bool known = table_state_bytes_of(growth->job.arguments.operation, table_sum_type(sums->type), sums->columns,
                                            &one) == TABLE_OK;
    for (size_t at = 0; known && at + one <= bytes && at <= one; at += one) {
        if (take_state(growth, growth->saved + at, one, &whole))
            return check_last_row(growth);
        damaged += !whole && table_state_describe(growth->saved + at, one, &facts) == TABLE_OK && facts.version != 0 &&
                   facts.operation == growth->job.arguments.operation;
    }
    if (damaged > 0)
        return fail(EX_DATAERR, "%s: is damaged, and no state of %s any more; without it, %s", growth->state_path,
                    growth->old.name, how_to_remake(growth));
    return fail(EX_DATAERR, "%s: is not the state of %s, which has %zu rows of %zu columns of %s, and of a %s",
                growth->state_path, growth->old.name, sums->rows, sums->columns, table_type_name(sums->type),
                table_operation_name(growth->job.arguments.operation));
}

/* Integers go on from their last sums: the state of a table of these and then zeros. */
static int remake_state(struct growth *growth, size_t bytes) {
    enum { AT_ONCE = 1 << 20 };
    struct state_file *state = &growth->job.state;
    const struct table_layout *sums = &growth->old.layout;
    const size_t row = sums->columns * table_type_size(sums->type), most = row > 0 && row < AT_ONCE ? AT_ONCE / row : 1;
    char *rows = calloc(2, most * row), *scratch = rows ? rows + most * row : NULL;
    int code = rows ? EX_OK : fail(EX_OSERR, "%s: out of memory for two rows of %zu bytes", growth->old.name, row);
    table_status status = table_state_begin(state->state, sums->type, sums->columns, 0);
    if (code == EX_OK && sums->rows > 0)
        code = read_last_row(growth, rows);
    const table_scan_options options = {.state = state->state, .threads = 1};
    for (size_t done = 0, count = 1; code == EX_OK && status == TABLE_OK && done < sums->rows; done += count) {
        count = done == 0 ? 1 : sums->rows - done < most ? sums->rows - done : most;
        const table_view in = {.data = rows, .rows = count, .columns = sums->columns, .type = sums->type};
        const table_view out = {.data = scratch, .rows = count, .columns = sums->columns, .type = sums->type};
        status = table_prefix_sum(&in, &out, &options);
        memset(rows, 0, row);
    }
    free(rows);
    if (code == EX_OK && status == TABLE_OK)
        status = table_state_describe(state->state, bytes, &state->facts);
    if (code == EX_OK && status == TABLE_OK)
        status = table_state_save(state->state, growth->saved, bytes);
    state->bytes = growth->saved_bytes = bytes;
    growth->is_remade = true;
    if (code == EX_OK && status == TABLE_OK && !growth->job.arguments.common.quiet)
        message("%s: is missing; integers go on from the last row of %s, too", growth->state_path, growth->old.name);
    return status == TABLE_OK ? code : fail_status(growth->state_path, status);
}

static int missing_state(struct growth *growth, size_t bytes) {
    if (!growth->job.arguments.exclusive && !type_is_float(growth->old.layout.type))
        return remake_state(growth, bytes);
    return fail(EX_NOINPUT, "%s: %s; %s", growth->state_path, strerror(ENOENT), how_to_remake(growth));
}

int append_read_state(void *context) {
    struct growth *growth = context;
    const struct table_layout *sums = &growth->old.layout;
    size_t one = 0;
    if (growth->fd < 0)
        return EX_OK;
    const table_status status =
        table_state_bytes_of(growth->job.arguments.operation, table_sum_type(sums->type), sums->columns, &one);
    if (status != TABLE_OK)
        return fail_status(growth->old.name, status);
    growth->job.kept = 2 * one;
    growth->saved = malloc(2 * one);
    growth->job.state.state = calloc(1, one);
    if (one > memory_limit(growth->job.arguments.common.memory) / 3 || !growth->saved || !growth->job.state.state)
        return fail(EX_OSERR, "%s: out of memory for three times %zu bytes; --memory says how much may be used",
                    growth->state_path, one);
    const int fd = growth->job.state.lock = transfer_open(growth->state_path, O_RDONLY);
    if (fd < 0 && errno == ENOENT)
        return missing_state(growth, one);
    if (fd < 0)
        return fail(EX_NOINPUT, "%s: %s", growth->state_path, strerror(errno));
    const int code = state_file_take_lock(growth->state_path, fd);
    if (code != EX_OK)
        return code;
    const ssize_t got = transfer_read_all(fd, growth->saved, 2 * one);
    return got < 0 ? fail(EX_IOERR, "%s: %s", growth->state_path, strerror(errno)) : choose_state(growth, (size_t)got);
}

/* Replaces the state's file: by the old state, if it is wanted and there is one, and the new one, if that is, after
 * it. Where there were no sums, no file is replaced: it is that of another append, which was faster. */
static int write_state(struct growth *growth, bool with_old, bool with_new) {
    struct state_file *state = &growth->job.state;
    struct atomic_file *file = &growth->state_file;
    int code = atomic_file_open(file, growth->state_path, growth->fd >= 0);
    if (code == EX_OK && with_old && growth->saved)
        code = atomic_file_write(file, growth->saved, growth->saved_bytes);
    if (code == EX_OK && with_new)
        code = atomic_file_write(file, state->state, state->bytes);
    return code == EX_OK ? atomic_file_publish(file, NULL) : code;
}

int append_publish_remade_state(struct growth *growth) {
    struct state_file *state = &growth->job.state;
    const int code = growth->is_remade ? write_state(growth, true, false) : EX_OK;
    if (code != EX_OK || !growth->is_remade)
        return code;
    state->lock = transfer_open(growth->state_path, O_RDONLY);
    return state->lock < 0 ? fail(EX_IOERR, "%s: %s", growth->state_path, strerror(errno))
                           : state_file_take_lock(growth->state_path, state->lock);
}

int append_save_state(struct growth *growth) {
    struct state_file *state = &growth->job.state;
    const table_status status = table_state_save(state->state, state->state, state->bytes);
    return status == TABLE_OK ? write_state(growth, true, true) : fail_status(growth->state_path, status);
}

int append_settle_state(struct growth *growth) { return write_state(growth, false, true); }
