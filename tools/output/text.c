/* Text: a line for each row, and before them one of the names that columns have, if they do. */
#include "output/text.h"

#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "text/field.h"
#include "text/number_text.h"

enum { ROOM = 64 << 10 };

static size_t no_header(const struct table_layout *layout, char header[OUTPUT_HEADER]) {
    (void)layout;
    (void)header;
    return 0;
}

static const char *const csv_endings[] = {"csv", NULL}, *const tsv_endings[] = {"tsv", NULL},
                         *const text_endings[] = {"txt", NULL};

const struct output_format output_csv = {"csv", csv_endings, no_header, ','};
const struct output_format output_tsv = {"tsv", tsv_endings, no_header, '\t'};
const struct output_format output_text = {"text", text_endings, no_header, ' '};

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

static int write_name(struct atomic_file *file, const struct output_format *format, const char *name, char delimiter) {
    if (is_one_field(name, delimiter) && !looks_like_numbers(name, format))
        return atomic_file_write(file, name, strlen(name));
    int code = atomic_file_write(file, "\"", 1);
    for (; *name && code == EX_OK; name++)
        code = atomic_file_write(file, *name == '"' ? "\"\"" : name, *name == '"' ? 2 : 1);
    return code == EX_OK ? atomic_file_write(file, "\"", 1) : code;
}

int output_text_has_names(const char *path, const struct output_format *format, const struct table_layout *layout) {
    const char *name = layout->names;
    if (!name || !format->delimiter || format == &output_text)
        return EX_OK;
    for (size_t i = 0; i < layout->columns; i++, name += strlen(name) + 1)
        if (what_is(name) >= TEXT_NUMBERS)
            return EX_OK;
    return fail(EX_DATAERR,
                "%s: all names of its columns are numbers, or empty, and a first line of %s with nothing else would be "
                "read as values; .txt (--output-format text) has # before names, and a .npy has none",
                path, format->name);
}

int output_text_names(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout) {
    const char delimiter = delimiter_of(format, layout), *name = layout->names;
    if (!number_text_is_here)
        return fail(EX_UNAVAILABLE, "%s: this program was built without a C++ library that writes numbers", file->name);
    int code = name && format == &output_text ? atomic_file_write(file, "# ", 2) : EX_OK;
    for (size_t i = 0; i < layout->columns && name && code == EX_OK; i++, name += strlen(name) + 1) {
        code = write_name(file, format, name, delimiter);
        if (code == EX_OK)
            code = atomic_file_write(file, i + 1 < layout->columns ? &delimiter : "\n", 1);
    }
    return code;
}

int output_text_values(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout,
                       size_t first, const void *values, size_t bytes) {
    const size_t size = table_type_size(layout->type), count = bytes / size;
    const char delimiter = delimiter_of(format, layout), *value = values;
    size_t column = count > 0 ? first % layout->columns : 0; /* no columns have no values */
    char *buffer = malloc(ROOM), *to = buffer;
    int code = buffer ? EX_OK : fail(EX_OSERR, "%s: out of memory", file->name);
    for (size_t i = 0; i < count && code == EX_OK; i++, value += size) {
        to = number_text_write(layout->type, value, to);
        column = column + 1 < layout->columns ? column + 1 : 0;
        *to++ = column > 0 ? delimiter : '\n';
        if (to - buffer < ROOM - NUMBER_TEXT - 1 && i + 1 < count)
            continue;
        code = atomic_file_write(file, buffer, (size_t)(to - buffer));
        to = buffer;
    }
    free(buffer);
    return code;
}
