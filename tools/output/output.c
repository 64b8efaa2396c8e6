#include "output/output.h"

#include <string.h>
#include <strings.h>

static const struct output_format *const formats[] = {&output_npy, &output_raw, &output_csv, &output_tsv, &output_text};
enum { FORMATS = sizeof formats / sizeof formats[0] };

/* What files of other formats are called. */
static const char *const others[] = {
    "7z",  "arrow", "avro", "bz2",  "feather", "fits",   "gz",  "h5",      "hdf",  "hdf5", "ipc", "json", "lz4",
    "mat", "nc",    "npz",  "ods",  "orc",     "pickle", "pkl", "parquet", "pq",   "pt",   "pth", "rds",  "safetensors",
    "tar", "tgz",   "tif",  "tiff", "xls",     "xlsx",   "xml", "xz",      "yaml", "zarr", "zip", "zst",
};

/* The file's name behind its last point; NULL if it has none. */
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
