#include "keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "memory.h"
#include "message.h"
#include "number.h"
#include "types.h"
#include "words.h"

/* Bytes of keys that are looked at at a time, of a file that is mapped and of one that is read: a
 * share of what may be used, if that is less. */
enum { MAPPED_BYTES = 256 << 20, READ_BYTES = 4 << 20, READ_SHARE = 4, WRITE_BYTES = 4 << 20 };

struct input_request keys_request(const struct arguments *arguments, struct input_field fields[BY_MOST]) {
    struct input_request request = table_request(arguments, fields);
    request.raw_type = TABLE_U8;
    request.whole = true;
    return request;
}

void open_keys(struct input_file *file, bool pieces, const struct arguments *arguments) {
    struct input_field fields[BY_MOST];
    struct input_request request = keys_request(arguments, fields);
    request.pieces = pieces;
    input_open(file, arguments->inputs[0], &request);
    file->layout.type = key_type(file->layout.type);
}

size_t keys_held(const struct input_file *file) {
    const bool is_mapped = file->mapping && file->data != file->head;
    return input_memory(file) + (file->data && !is_mapped ? file->layout.bytes : 0);
}

void keys_begin(struct key_pieces *pieces, struct input_file *input, struct memory_budget *budget) {
    const size_t size = table_type_size(input->layout.type), share = budget->most / READ_SHARE;
    const size_t wanted = input->data ? MAPPED_BYTES : least(share, READ_BYTES);
    *pieces = (struct key_pieces){.input = input, .most = wanted > size ? wanted / size : 1};
    const size_t buffer = input->data ? 0 : pieces->most * size;
    memory_add(budget, keys_held(input));
    memory_add(budget, buffer);
    budget->buffers += input->buffers + buffer;
}

table_view keys_next(struct key_pieces *pieces, size_t wanted, bool *over) {
    struct input_file *input = pieces->input;
    const size_t size = table_type_size(input->layout.type);
    const char *data = pieces->buffer;
    size_t got;
    wanted = least(wanted, pieces->most);
    if (input->data) {
        const size_t left = input->layout.bytes / size - (size_t)pieces->done;
        data = (const char *)input->data + pieces->done * size;
        got = least(left, wanted) * size;
        *over = got == left * size;
    } else {
        if (!data)
            data = pieces->buffer = memory_for(input->name, pieces->most * size);
        got = input_read(input, pieces->buffer, wanted * size);
        *over = got < wanted * size;
        if (*over)
            input_ends(input, input->taken);
    }
    const table_view keys = {
        .data = (void *)(uintptr_t)data, .rows = got / size, .columns = 1, .type = input->layout.type};
    pieces->done += keys.rows;
    progress_show(pieces->done, input->rows_known ? keys_view(input).rows : 0, pieces->done * size);
    return keys;
}

void add_report(table_pipeline_report *sum, const table_pipeline_report *report) {
    sum->backend = report->backend;
    sum->threads = report->threads > sum->threads ? report->threads : sum->threads;
    sum->passes += report->passes;
    sum->chunk_length = report->chunk_length;
    sum->chunks += report->chunks;
    sum->count_seconds += report->count_seconds;
    sum->scan_seconds += report->scan_seconds;
    sum->move_seconds += report->move_seconds;
    sum->seconds += report->seconds;
}

table_type key_type(table_type type) { return type == TABLE_BOOL ? TABLE_U8 : type; }

void keys_request_rest(struct input_request *request, const struct memory_budget *budget) {
    const size_t left = memory_left(budget);
    request->memory = left > 0 ? left : 1; /* 0 would be any */
    request->used = budget->most - request->memory;
}

void open_beside_keys(struct input_file *file, const char *path, table_type type, bool own,
                      const struct memory_budget *budget) {
    struct input_request request = {.type = type, .columns = 1, .type_is_a_hint = true, .whole = true, .own = own};
    keys_request_rest(&request, budget);
    input_open(file, path, &request);
}

table_view keys_view(const struct input_file *file) {
    table_view view = input_view(file);
    view.rows *= view.columns;
    view.columns = 1;
    return view;
}

const char *list_text(const struct input_file *file, char text[LIST_TEXT]) {
    const struct table_layout *layout = &file->layout;
    text[0] = '\0';
    if (layout->columns > 1)
        snprintf(text, LIST_TEXT, " (%zu x %zu, as one list)", layout->rows, layout->columns);
    return text;
}

#define AS_DOUBLE(TYPE, NAME, C, KIND, NUMPY, CODE)                                                                    \
    case TABLE_##TYPE:                                                                                                 \
        return (double)((const C *)keys->data)[i];

double key_as_double(const table_view *keys, size_t i) {
    switch (keys->type) {
        TABLE_KEY_TYPES(AS_DOUBLE)
    default:
        return 0;
    }
}

/* The values of the layout, whole rows at a time. */
static void write_rows(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout,
                       const void *data) {
    const size_t element = layout_element_bytes(layout), row = layout->columns * element;
    const size_t step = row > 0 && row < WRITE_BYTES ? WRITE_BYTES / row * row : row;
    for (size_t done = 0, more; done < layout->bytes; done += more) {
        more = layout->bytes - done < step ? layout->bytes - done : step;
        write_values(file, format, layout, done / element, (const char *)data + done, more);
        progress_show((done + more) / row, layout->rows, done + more);
    }
}

void write_whole(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout,
                 const void *data) {
    write_header(file, format, layout);
    write_rows(file, format, layout, data);
}

void write_as(struct atomic_file *file, const struct output_format *format, const struct input_file *like,
              const void *data) {
    if (!like->header || strcmp(like->format->name, format->name) != 0)
        write_header(file, format, &like->layout);
    else
        atomic_file_write(file, like->header, like->layout.offset);
    write_rows(file, format, &like->layout, data);
}

void print_report(const table_pipeline_report *report, size_t bytes) {
    json_string("backend", word_at(backend_words, report->backend));
    json_size("threads", report->threads);
    json_number("count_seconds", report->count_seconds);
    json_number("scan_seconds", report->scan_seconds);
    json_number("move_seconds", report->move_seconds);
    json_number("seconds", report->seconds);
    json_number("gb_per_second", report->seconds > 0 ? (double)bytes / report->seconds / 1e9 : 0);
}
