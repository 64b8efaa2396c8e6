#include "mpi/shared_file.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "signals.h"

enum { PIECE = 1 << 30 }; /* bytes that MPI counts in an int */

static int this_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

int ranks_code(int code) {
    int greatest = EX_SOFTWARE;
    MPI_Allreduce(&code, &greatest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return greatest;
}

void ranks_share(void *data, size_t bytes) {
    for (size_t done = 0; done < bytes; done += PIECE)
        MPI_Bcast((char *)data + done, bytes - done < PIECE ? (int)(bytes - done) : PIECE, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static int fail_file(const char *path, int error) {
    char reason[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(error, reason, &length);
    return fail(EX_IOERR, "%s: rank %d: %s", path, this_rank(), reason);
}

/* Opens the file on all ranks, or on none. */
static int open_file(const char *path, int mode, MPI_File *file) {
    *file = MPI_FILE_NULL;
    const int error = MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, file);
    const int code = ranks_code(error == MPI_SUCCESS ? EX_OK : fail_file(path, error));
    if (code != EX_OK && *file != MPI_FILE_NULL)
        MPI_File_close(file);
    return code;
}

/* Reads this rank's bytes, or writes them. */
static int move_share(MPI_File file, const char *path, bool writes, size_t offset, char *data, size_t bytes) {
    for (size_t done = 0; done < bytes; done += PIECE) {
        const int count = bytes - done < PIECE ? (int)(bytes - done) : PIECE;
        const MPI_Offset at = (MPI_Offset)(offset + done);
        MPI_Status status;
        int moved = 0;
        const int error = writes ? MPI_File_write_at(file, at, data + done, count, MPI_BYTE, &status)
                                 : MPI_File_read_at(file, at, data + done, count, MPI_BYTE, &status);
        if (error != MPI_SUCCESS)
            return fail_file(path, error);
        MPI_Get_count(&status, MPI_BYTE, &moved);
        if (moved != count)
            return fail(EX_IOERR, "%s: rank %d: %s after %zu bytes", path, this_rank(),
                        writes ? "could not be written to its end, but ends" : "ends",
                        offset + done + (size_t)(moved > 0 ? moved : 0));
    }
    return EX_OK;
}

int shared_file_read(const char *path, size_t offset, void *data, size_t bytes) {
    MPI_File file;
    int code = open_file(path, MPI_MODE_RDONLY, &file);
    if (code != EX_OK)
        return code;
    code = move_share(file, path, false, offset, data, bytes);
    MPI_File_close(&file);
    return ranks_code(code);
}

/* Has rank 0 name its temporary. */
static int name_temporary(struct shared_output *output) {
    struct atomic_file *file = output->file;
    if (file->direct)
        return fail(EX_CANTCREAT, "%s: is not a file that ranks can write to, each its own share", file->name);
    snprintf(output->path, sizeof output->path, "%s", signals_path(file->slot));
    return EX_OK;
}

int shared_output_open(struct shared_output *output, struct atomic_file *file, int code) {
    *output = (struct shared_output){.file = file, .place = -1};
    if (this_rank() == 0 && code == EX_OK)
        code = name_temporary(output);
    code = ranks_code(code);
    if (code != EX_OK)
        return code;
    MPI_Bcast(output->path, sizeof output->path, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (this_rank() == 0)
        return EX_OK;
    const sigset_t before = signals_hold();
    output->place = signals_will_remove(output->path);
    signals_release(before);
    return EX_OK;
}

int shared_output_write(const struct shared_output *output, size_t offset, const void *data, size_t bytes) {
    MPI_File file;
    int code = open_file(output->path, MPI_MODE_WRONLY, &file);
    if (code != EX_OK)
        return code;
    code = move_share(file, output->path, true, offset, (char *)(uintptr_t)data, bytes);
    const int synced = MPI_File_sync(file), closed = MPI_File_close(&file);
    if (code == EX_OK && (synced != MPI_SUCCESS || closed != MPI_SUCCESS))
        code = fail_file(output->path, synced != MPI_SUCCESS ? synced : closed);
    return ranks_code(code);
}

static void publish(void *file) { atomic_file_publish(file, NULL); }

int shared_output_close(struct shared_output *output, int code) {
    code = ranks_code(code);
    if (this_rank() == 0 && code == EX_OK)
        code = attempt(publish, output->file);
    if (this_rank() == 0)
        atomic_file_discard(output->file);
    code = ranks_code(code);
    if (output->place >= 0)
        signals_leave(output->place);
    output->place = -1;
    return code;
}
