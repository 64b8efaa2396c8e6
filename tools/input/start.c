/* Table files that are read piece by piece. */
#include "input/start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/convert.h"
#include "input/text.h"
#include "input/zip.h"
#include "memory.h"
#include "message.h"
#include "transfer.h"

enum { DROP_BYTES = 1 << 14 }; /* on the stack */

bool input_ends_in(const char *path, const char *ending) {
    const size_t length = strlen(path), end = strlen(ending);
    return length >= end && strcasecmp(path + length - end, ending) == 0;
}

static int note_status(struct input_file *file) {
    struct stat status;
    if (fstat(file->fd, &status) != 0)
        return fail(EX_NOINPUT, "%s: %s", file->name, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return fail(EX_NOINPUT, "%s: is a directory", file->name);
    file->is_regular = S_ISREG(status.st_mode);
    file->size = status.st_size;
    file->modified = status.st_mtim;
    file->device = status.st_dev;
    file->inode = status.st_ino;
    return EX_OK;
}

int input_open_path(struct input_file *file, const char *path) {
    const bool standard = strcmp(path, "-") == 0;
    if (standard)
        file->name = "standard input";
    file->fd = standard ? STDIN_FILENO : transfer_open(path, O_RDONLY);
    if (file->fd < 0)
        return fail(EX_NOINPUT, "%s: %s", path, strerror(errno));
    file->is_open = !standard;
    transfer_widen(file->fd);
    const int code = note_status(file);
    const off_t at = lseek(file->fd, 0, SEEK_CUR);
    file->base = at > 0 ? at : 0;
    if (code == EX_OK && file->is_regular && (uintmax_t)file->size >= SIZE_MAX)
        return fail(EX_OSERR, "%s: larger than the address space", file->name);
    return code;
}

struct input_request input_request_for(const char *path, const struct input_request *request) {
    struct input_request result = *request;
    struct stat status;
    char state[PATH_MAX];
    result.longer = snprintf(state, sizeof state, "%s.state", path) < (int)sizeof state && stat(state, &status) == 0;
    return result;
}

/* A file of no bytes may be one of /proc, which has some. */
size_t input_bytes_ahead(const struct input_file *file) {
    if (file->zip)
        return file->zip_bytes;
    const off_t at = file->is_regular && file->size > 0 ? lseek(file->fd, 0, SEEK_CUR) : -1;
    return at < 0 ? INPUT_UNKNOWN : at < file->size ? (size_t)(file->size - at) : 0;
}

ssize_t input_failed(struct input_file *file, int code) {
    file->code = code;
    return -1;
}

ssize_t input_read_anew(struct input_file *file, void *to, size_t bytes) {
    if (file->zip)
        return input_zip_read(file, to, bytes);
    const ssize_t got = transfer_read(file->fd, to, bytes);
    return got >= 0 ? got : input_failed(file, fail(EX_IOERR, "%s: %s", file->name, strerror(errno)));
}

/* Reads what comes next, up to `wanted` bytes in all; *ended: nothing more comes. */
static int read_some(struct input_file *file, size_t wanted, bool *ended) {
    const size_t have = file->bytes, step = wanted - have < DROP_BYTES ? wanted - have : DROP_BYTES;
    void *memory = realloc(file->memory, have + step);
    if (!memory)
        return input_no_memory(file, wanted);
    file->memory = memory;
    const ssize_t got = input_read_anew(file, (char *)memory + have, step);
    if (got < 0)
        return file->code;
    file->bytes += (size_t)got;
    *ended = got == 0;
    return EX_OK;
}

size_t input_safetensors_header(const unsigned char *bytes, size_t count) {
    enum { MOST = 100000000 }; /* by the format's rules */
    size_t length = 0;
    if (count < INPUT_TENSORS_LEAST)
        return 0;
    for (unsigned i = INPUT_TENSORS_LEAST; i-- > 0;)
        length = length << 8 | bytes[i];
    return length <= MOST ? INPUT_TENSORS_LEAST + length : 0;
}

int input_header_fits(const struct input_file *file, size_t npy, size_t tensors) {
    enum { NPY_MOST = 1 << 20, JSON_SHARE = 40, JSON_LEAST = 16 << 10 }; /* json-c takes some 35 bytes for each */
    const size_t share = (file->most ? file->most : memory_there(0)) / JSON_SHARE;
    const size_t most = share > JSON_LEAST ? share : JSON_LEAST;
    if (npy > NPY_MOST)
        return fail(EX_DATAERR, "%s: its header says that it has %zu bytes, and of a .npy it has %d at most",
                    file->name, npy, NPY_MOST);
    if (tensors > most)
        return fail(EX_OSERR,
                    "%s: out of memory: its header has %zu bytes, and for reading it %zu bytes are needed; --memory "
                    "says how much may be used",
                    file->name, tensors, JSON_SHARE * tensors + file->used);
    return EX_OK;
}

int input_read_tensors_header(struct input_file *file) {
    size_t wanted = INPUT_TENSORS_LEAST;
    bool ended = false;
    int code = EX_OK;
    while (code == EX_OK && !ended && file->bytes < wanted) {
        code = read_some(file, wanted, &ended);
        if (code == EX_OK && file->bytes == INPUT_TENSORS_LEAST) {
            wanted = input_safetensors_header(file->memory, file->bytes);
            code = input_header_fits(file, 0, wanted);
        }
    }
    file->data = file->memory;
    return code;
}

static bool is_raw(const struct input_request *request) {
    return request->format && strcmp(request->format, input_raw.name) == 0;
}

/* What lies before the values, and no more of a .npy. Of what is none, a first byte may be all that comes for long. */
static int read_beginning(struct input_file *file, bool raw) {
    size_t wanted = raw ? 0 : INPUT_NPY_LEAST;
    bool ended = false;
    int code = EX_OK;
    while (code == EX_OK && !ended && file->bytes < wanted) {
        code = read_some(file, wanted, &ended);
        if (code == EX_OK && !input_npy_begins(file->memory, file->bytes))
            wanted = 0;
        else if (code == EX_OK && file->bytes == INPUT_NPY_LEAST) {
            wanted = input_npy_header(file->memory, file->bytes);
            code = input_header_fits(file, wanted, 0);
        }
    }
    file->data = file->memory;
    return code;
}

/* The bytes before the table that have not been read. */
static int skip(struct input_file *file, size_t bytes) {
    char dropped[DROP_BYTES];
    if (bytes > 0 && input_can_seek(file) && lseek(file->fd, (off_t)bytes, SEEK_CUR) >= 0)
        return EX_OK;
    while (bytes > 0) {
        const ssize_t got = input_read_anew(file, dropped, bytes < sizeof dropped ? bytes : sizeof dropped);
        if (got < 0)
            return file->code;
        if (got == 0)
            return fail(EX_DATAERR, "%s: has %zu bytes, fewer than the %zu to skip", file->name,
                        file->layout.offset - bytes, file->layout.offset);
        bytes -= (size_t)got;
    }
    return EX_OK;
}

/* The beginning is what it was read for, or the first bytes of the table. */
static int part_beginning(struct input_file *file, bool own) {
    const size_t have = file->bytes, offset = file->layout.offset;
    if (have > offset) {
        file->head = file->memory;
        file->head_given = offset;
        file->head_bytes = have;
        file->memory = NULL;
    } else if (own && file->format == &input_npy && file->layout.stored.element_bytes == 0) {
        file->header = file->memory;
        file->memory = NULL;
    }
    file->data = NULL;
    return have < offset ? skip(file, offset - have) : EX_OK;
}

int input_start(struct input_file *file, const char *path, const struct input_request *asked) {
    const struct input_request request_of_path = input_request_for(path, asked), *request = &request_of_path;
    struct input_reason reason;
    *file = (struct input_file){.name = path, .most = request->memory, .used = request->used};
    int code = input_open_path(file, path);
    if (code != EX_OK)
        return code;
    code = input_open_member(file, path, request);
    if (code != EX_OK)
        return code;
    file->format = input_text_format(file, request);
    if (file->format)
        return input_text_begin(file, request);
    const size_t ahead = input_bytes_ahead(file);
    code = input_has_tensors(file, request) ? input_read_tensors_header(file) : read_beginning(file, is_raw(request));
    if (code != EX_OK)
        return code;
    if (!input_choose_format(file, request, &reason) ||
        !file->format->locate(file->data, file->bytes, ahead, request, &file->layout, &reason))
        return fail(reason.code, "%s: %s", file->name, reason.text);
    file->rows_known = ahead != INPUT_UNKNOWN || file->format != &input_raw;
    code = input_keep_header(file, request);
    if (code == EX_OK)
        code = part_beginning(file, request->own);
    return code == EX_OK ? input_convert_begin(file, NULL, request->memory) : code;
}

int input_changed(const struct input_file *file) { return fail(EX_IOERR, "%s: changed while it was read", file->name); }

/* One with `kept` stays open: rows may be appended to it until its turn comes, and opened again it would be refused as
 * another file. */
void input_set_aside(struct input_file *file) {
    if (!file->is_open || !file->is_regular || file->size == 0 || file->kept)
        return;
    input_release(file);
    file->layout.names = NULL;
    file->is_aside = true;
}

int input_let_go(struct input_file *file) {
    void *const values = file->head;
    const int code = input_unchanged(file);
    file->head = NULL;
    input_release(file);
    file->head = values;
    file->layout.names = NULL;
    file->buffers = 0;
    return code;
}

int input_is_same(const struct input_file *file, const struct input_file *aside) {
    const bool same = file->device == aside->device && file->inode == aside->inode && file->size == aside->size &&
                      file->modified.tv_sec == aside->modified.tv_sec &&
                      file->modified.tv_nsec == aside->modified.tv_nsec;
    return same ? EX_OK : input_changed(file);
}

/* A file of no bytes may be one of /proc. */
bool input_can_seek(const struct input_file *file) { return file->is_regular && file->size > 0 && !file->zip; }

bool input_is_plain(const struct input_file *file) {
    return file->is_taken || (!file->converter && !file->zip && !file->text);
}

ssize_t input_bytes_read(struct input_file *file, void *to, size_t bytes) {
    const size_t there = file->head_bytes - file->head_given, count = there < bytes ? there : bytes;
    if (there > 0) {
        memcpy(to, (const char *)file->head + file->head_given, count);
        file->head_given += count;
        return (ssize_t)count;
    }
    return file->is_taken ? 0 : input_read_anew(file, to, bytes);
}

ssize_t input_some(struct input_file *file, void *to, size_t bytes) {
    if (file->text && !file->is_taken)
        return input_text_read(file, to, bytes);
    return file->converter ? input_convert_read(file, to, bytes) : input_bytes_read(file, to, bytes);
}

/* Has the file go on at that byte of the values, if it can. */
static bool seek(struct input_file *file, size_t place) {
    const off_t to = file->base + (off_t)(file->layout.offset + place);
    if (!input_can_seek(file) || lseek(file->fd, to, SEEK_SET) < 0)
        return false;
    file->head_given = file->head_bytes;
    return true;
}

int input_read(struct input_file *file, void *to, size_t bytes, size_t *got) {
    char *at = to;
    size_t done = 0;
    if (file->rows_known && bytes > file->layout.bytes - file->taken)
        bytes = file->layout.bytes - file->taken;
    while (done < bytes) {
        const ssize_t count = input_some(file, at + done, bytes - done);
        if (count < 0)
            return file->code;
        if (count == 0)
            break;
        done += (size_t)count;
    }
    *got = done;
    file->taken += done;
    return done < bytes ? input_ends(file, file->taken) : EX_OK;
}

/* Bytes of the file that so many bytes of values were. */
static size_t input_in_file(const struct input_file *file, uint64_t bytes) {
    return file->converter ? input_convert_taken(file) : (size_t)bytes;
}

int input_ends(struct input_file *file, uint64_t bytes) {
    struct table_layout *layout = &file->layout;
    struct input_reason reason;
    char beyond;
    if (file->is_regular && !file->zip && file->rows_known)
        return bytes == layout->bytes ? EX_OK : input_changed(file);
    if (file->text && file->rows_known)
        return EX_OK;
    if (layout->is_followed && bytes == layout->bytes)
        return EX_OK;
    if (file->rows_known && bytes == layout->bytes) {
        const ssize_t got = input_bytes_read(file, &beyond, 1);
        if (got < 0)
            return file->code;
        return got == 0 ? EX_OK
                        : fail(EX_DATAERR, "%s: bytes left over: its header says %zu bytes of values, and it has more",
                               file->name, layout->file_bytes);
    }
    const bool right = file->rows_known ? input_npy_has(layout, input_in_file(file, bytes), &reason)
                                        : input_raw_has(layout, layout->offset + (size_t)bytes, &reason);
    if (!right)
        return fail(reason.code, "%s: %s", file->name, reason.text);
    file->rows_known = true;
    return EX_OK;
}

int input_drain(struct input_file *file) {
    char dropped[DROP_BYTES];
    size_t got = sizeof dropped;
    int code = EX_OK;
    if (file->is_regular && !file->zip && file->rows_known)
        return EX_OK;
    while (code == EX_OK && got == sizeof dropped)
        code = input_read(file, dropped, sizeof dropped, &got);
    return code == EX_OK ? input_ends(file, file->taken) : code;
}

int input_go_to(struct input_file *file, size_t row) {
    const size_t row_bytes = file->layout.columns * table_type_size(file->layout.type), place = row * row_bytes;
    char dropped[DROP_BYTES];
    size_t got = 1;
    int code = EX_OK;
    const bool seeks = file->text ? false : file->converter ? input_convert_seek(file, row) : seek(file, place);
    if (seeks) {
        file->taken = place;
        return EX_OK;
    }
    while (code == EX_OK && got > 0 && file->taken < place)
        code = input_read(file, dropped, place - file->taken < sizeof dropped ? place - file->taken : sizeof dropped,
                          &got);
    return code;
}

bool input_has_tensors(const struct input_file *file, const struct input_request *request) {
    return !is_raw(request) && !file->zip && (request->member || input_ends_in(file->name, ".safetensors"));
}

/* Whether it begins like an archive; what comes from a pipe is not known yet. */
static bool is_archive(const struct input_file *file) {
    char begins[2] = "";
    return input_can_seek(file) && pread(file->fd, begins, 2, file->base) == 2 && memcmp(begins, "PK", 2) == 0;
}

int input_open_member(struct input_file *file, const char *path, const struct input_request *request) {
    const bool is_npz = input_ends_in(path, ".npz");
    if (is_raw(request) || (!is_npz && !(request->member && is_archive(file))))
        return EX_OK;
    if (!input_can_seek(file))
        return fail(
            EX_DATAERR,
            "%s: is not a file, and a .npz can only be read out of one: unzip -p FILE.npz MEMBER.npy | tuplescan "
            "... -",
            file->name);
    return input_zip_open(file, request->member);
}

bool input_comes_bit_by_bit(const char *path, const struct input_request *request) {
    struct stat status;
    const struct input_file named = {.name = path};
    if (!is_raw(request) && (request->member || input_ends_in(path, ".npz") || input_text_format(&named, request)))
        return true;
    const int found = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &status) : stat(path, &status);
    return found == 0 && !S_ISREG(status.st_mode);
}
