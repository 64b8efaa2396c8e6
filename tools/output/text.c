/* Text: a line for each row, and before them one of the names that columns have, if they do. */
#include "output/output.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "message.h"
#include "text/beside.h"
#include "text/field.h"
#include "text/number_text.h"

enum { ROOM = 64 << 10 };

static char delimiter_of(const struct output_format *format, const struct table_layout *layout) {
    return layout->delimiter && format == &output_csv ? layout->delimiter : format->delimiter;
}

/* Whether the name, as it stands, is read again as one field. */
static bool is_one_field(const char *name, char delimiter) {
    bool quoted = false, ends = *name == '\0' && delimiter == ' ';
    for (const char *c = name; *c && !ends; c++) {
        quoted ^= *c == '"';
        ends = !quoted && (*c == delimiter || (delimiter == ' ' && *c == '\t'));
    }
    return !quoted && !ends;
}

static enum text_field what_is(const char *name) { return text_field_of(name, name + strlen(name)); }

/* Whether the name, without quotes, would be read again as values, in a line that has no # before it. */
static bool looks_like_numbers(const char *name, const struct output_format *format) {
    return format != &output_text && *name != '"' && what_is(name) >= TEXT_NUMBER && what_is(name) <= TEXT_NUMBERS;
}

/* Text that is written, piece by piece. */
struct sink {
    struct atomic_file *file;
    char *buffer; /* `used` of ROOM bytes */
    size_t used;
};

static void sink_flush(struct sink *sink) {
    atomic_file_write(sink->file, sink->buffer, sink->used);
    sink->used = 0;
}

static void sink_put(struct sink *sink, const char *text, size_t length) {
    for (size_t more; length > 0; text += more, length -= more) {
        if (sink->used == ROOM)
            sink_flush(sink);
        more = ROOM - sink->used < length ? ROOM - sink->used : length;
        memcpy(sink->buffer + sink->used, text, more);
        sink->used += more;
    }
}

static struct sink sink_begin(struct atomic_file *file) {
    return (struct sink){.file = file, .buffer = memory_for(file->name, ROOM)};
}

static void sink_end(struct sink *sink) {
    if (sink->used > 0)
        sink_flush(sink);
    free(sink->buffer);
}

/* In quotes, if it asks for them or would be no field without. */
static void put_field(struct sink *sink, const char *field, char delimiter, bool quoted) {
    if (is_one_field(field, delimiter) && !quoted) {
        sink_put(sink, field, strlen(field));
        return;
    }
    sink_put(sink, "\"", 1);
    for (; *field; field++)
        sink_put(sink, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
    sink_put(sink, "\"", 1);
}

/* Whether a line that begins with the field would be read as a comment. */
static bool begins_comment(const char *field) { return *field == '#'; }

/* The fields that stand before the values of a row, and before names are names. */
static void put_beside(struct sink *sink, struct text_beside *beside, const struct output_format *format,
                       char delimiter, bool are_names) {
    char *field = NULL;
    size_t room = 0;
    for (size_t k = 0; beside && k < beside->count; k++) {
        if (!text_beside_take(beside, &field, &room))
            die(EX_OSERR, "%s: out of memory", sink->file->name);
        put_field(sink, field, delimiter,
                  (k == 0 && begins_comment(field)) || (are_names && looks_like_numbers(field, format)));
        sink_put(sink, &delimiter, 1);
    }
    free(field);
}

/* Whether the first line of a text is one of names if it has this one. */
static bool is_name(const char *from, const char *end) { return text_field_of(from, end) >= TEXT_NUMBERS; }

static void check_names(const char *path, const struct output_format *format, const struct table_layout *layout) {
    const char *name = layout->names;
    if (!layout->type)
        die(EX_USAGE, "%s: records, and values that are moved as they are, are no text; .npy and .bin take them", path);
    if (!name || format == &output_text)
        return;
    for (size_t i = 0; i < layout->columns; i++, name += strlen(name) + 1)
        if (is_name(name, name + strlen(name)))
            return;
    if (layout->beside && text_beside_has(layout->beside, is_name))
        return;
    die(EX_DATAERR,
        "%s: all names of its columns are numbers, or empty, and a first line of %s with nothing else would be "
        "read as values; .txt (--output-format text) has # before names, and a .npy has none",
        path, format->name);
}

static void write_names(struct atomic_file *file, const struct output_format *format,
                        const struct table_layout *layout) {
    const char delimiter = delimiter_of(format, layout), *name = layout->names;
    if (!number_text_is_here)
        die(EX_UNAVAILABLE, "%s: this program was built without a C++ library that writes numbers", file->name);
    if (!name)
        return;
    struct sink sink = sink_begin(file);
    if (format == &output_text)
        sink_put(&sink, "# ", 2);
    put_beside(&sink, layout->beside, format, delimiter, true);
    for (size_t i = 0; i < layout->columns; i++, name += strlen(name) + 1) {
        const bool is_first = i == 0 && !layout->beside && format != &output_text; /* of .txt # is before all names */
        const bool is_typo = layout->columns == 1 && format != &output_text &&     /* as a reader would take it */
                             text_begins_as_number(name, name + strlen(name));
        put_field(&sink, name, delimiter,
                  (is_first && begins_comment(name)) || is_typo || looks_like_numbers(name, format));
        sink_put(&sink, i + 1 < layout->columns ? &delimiter : "\n", 1);
    }
    sink_end(&sink);
}

static void write_rows(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout,
                       size_t first, const void *values, size_t bytes) {
    const size_t size = table_type_size(layout->type), count = bytes / size;
    const char delimiter = delimiter_of(format, layout), *value = values;
    size_t column = count > 0 ? first % layout->columns : 0; /* no columns have no values */
    struct sink sink = sink_begin(file);
    for (size_t i = 0; i < count; i++, value += size) {
        if (column == 0 && layout->beside)
            put_beside(&sink, layout->beside, format, delimiter, false);
        if (sink.used > ROOM - NUMBER_TEXT - 1)
            sink_flush(&sink);
        char *const end = number_text_write(layout->type, value, sink.buffer + sink.used);
        column = column + 1 < layout->columns ? column + 1 : 0;
        *end = column > 0 ? delimiter : '\n';
        sink.used = (size_t)(end + 1 - sink.buffer);
    }
    sink_end(&sink);
}

static const char *const csv_endings[] = {"csv", NULL}, *const tsv_endings[] = {"tsv", NULL},
                         *const text_endings[] = {"txt", NULL};

const struct output_format output_csv = {"csv", csv_endings, ',', false, NULL, check_names, write_names, write_rows},
                           output_tsv = {"tsv", tsv_endings, '\t', false, NULL, check_names, write_names, write_rows},
                           output_text = {"text", text_endings, ' ', false, NULL, check_names, write_names, write_rows};
