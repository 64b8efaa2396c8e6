#include "output/output.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

#include "message.h"

static const struct output_format *const formats[] = {&output_npy, &output_raw, &output_csv, &output_tsv, &output_text};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static size_t no_header(const struct table_layout *layout, char header[OUTPUT_HEADER]) {
    (void)layout, (void)header;
    return 0;
}

/* Values and nothing else. */
static const char *const raw_endings[] = {"bin", "raw", NULL};
const struct output_format output_raw = {"raw", raw_endings, 0, false, no_header, NULL, NULL, NULL};

/* What files of other formats are called. */
static const char *const others[] = {
    "7z",  "arrow", "avro", "bz2",  "feather", "fits",   "gz",  "h5",      "hdf",  "hdf5", "ipc", "json", "lz4",
    "mat", "nc",    "npz",  "ods",  "orc",     "pickle", "pkl", "parquet", "pq",   "pt",   "pth", "rds",  "safetensors",
    "tar", "tgz",   "tif",  "tiff", "xls",     "xlsx",   "xml", "xz",      "yaml", "zarr", "zip", "zst",
};

/* The file's name after its last point; NULL if it has none. */
static const char *ending(const char *path) {
    const char *slash = strrchr(path, '/'), *point = strrchr(slash ? slash + 1 : path, '.');
    return point ? point + 1 : NULL;
}

const struct output_format *output_format_for(const char *path, const char *format, const char *otherwise) {
    const char *end = format ? NULL : ending(path);
    for (size_t i = 0; i < FORMATS && end; i++)
        for (const char *const *one = formats[i]->endings; *one; one++)
            if (strcasecmp(end, *one) == 0)
                return formats[i];
    for (size_t i = 0; i < FORMATS; i++)
        if (strcmp(format ? format : otherwise, formats[i]->name) == 0)
            return formats[i];
    return &output_raw;
}

const char *output_other_format(const char *path) {
    const char *end = ending(path);
    for (size_t i = 0; i < sizeof others / sizeof others[0] && end; i++)
        if (strcasecmp(end, others[i]) == 0)
            return others[i];
    return NULL;
}

void open_output(struct atomic_file *file, const char *path, bool force, const struct output_format *format,
                 const struct table_layout *layout) {
    char header[OUTPUT_HEADER];
    size_t bytes = format->header ? format->header(layout, header) : 0;
    if (__builtin_add_overflow(bytes, layout->bytes, &bytes))
        bytes = SIZE_MAX;
    if (format->check)
        format->check(path, format, layout);
    atomic_file_open(file, path, force);
    if (!format->delimiter) /* how many bytes a text will have is not known */
        atomic_file_reserve(file, bytes);
}

void write_header(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout) {
    char header[OUTPUT_HEADER];
    if (format->begin)
        format->begin(file, format, layout);
    else
        atomic_file_write(file, header, format->header(layout, header));
}

void write_values(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout,
                  size_t first, const void *values, size_t bytes) {
    if (format->write)
        format->write(file, format, layout, first, values, bytes);
    else
        atomic_file_write(file, values, bytes);
}

void rewrite_header(struct atomic_file *file, const struct output_format *format, const struct table_layout *layout) {
    char header[OUTPUT_HEADER];
    if (format->header)
        atomic_file_write_at(file, header, format->header(layout, header), 0);
}
