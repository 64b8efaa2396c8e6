/* Values and nothing else, in the byte order of this machine; the caller says what they are. */
#include "input/file.h"

#include <string.h>

#include "memory.h"
#include "message.h"

/* Files of other formats, by what they begin with, and what gets a table out of them. */
static const struct {
    const char *begins;
    size_t bytes;
    const char *what, *way;
} others[] = {
    {"PK\x03\x04", 4, "a .npz or other zip file",
     "--member NAME reads one of its tables out of a file, and out of a "
     "pipe unzip -p FILE.npz NAME.npy | tuplescan ... -"},
    {"\x1f\x8b", 2, "a gzip file", "zcat FILE | tuplescan ... -"},
    {"\x28\xb5\x2f\xfd", 4, "a zstd file", "zstdcat FILE | tuplescan ... -"},
    {"\xfd"
     "7zXZ",
     5, "an xz file", "xzcat FILE | tuplescan ... -"},
    {"BZh", 3, "a bzip2 file", "bzcat FILE | tuplescan ... -"},
    {"\x89HDF", 4, "an HDF5 file", "write its array with numpy.save()"},
    {"PAR1", 4, "a Parquet file", "write its columns with numpy.save()"},
    {"ARROW1", 6, "an Arrow file", "write its columns with numpy.save()"},
    {"\xff\xff\xff\xff", 4, "an Arrow stream", "write its columns with numpy.save()"},
    {"ORC", 3, "an ORC file", "write its columns with numpy.save()"},
    {"Obj\x01", 4, "an Avro file", "write its columns with numpy.save()"},
    {"\x04\x22\x4d\x18", 4, "an lz4 file", "lz4cat FILE | tuplescan ... -"},
    {"7z\xbc\xaf\x27\x1c", 6, "a 7z file", "7z x -so FILE | tuplescan ... -"},
    {"CDF\x01", 4, "a netCDF file", "write its variable with numpy.save()"},
    {"CDF\x02", 4, "a netCDF file", "write its variable with numpy.save()"},
    {"CDF\x05", 4, "a netCDF file", "write its variable with numpy.save()"},
    {"MATLAB 5.0", 10, "a MATLAB file", "write its array with numpy.save()"},
    {"SIMPLE  =", 9, "a FITS file", "write its array with numpy.save()"},
    {"II*\x00", 4, "a TIFF file", "write its array with numpy.save()"},
    {"MM\x00*", 4, "a TIFF file", "write its array with numpy.save()"},
    {"\x80\x02", 2, "a pickle", "write its array with numpy.save()"},
    {"\x80\x03", 2, "a pickle", "write its array with numpy.save()"},
    {"\x80\x04", 2, "a pickle", "write its array with numpy.save()"},
    {"\x80\x05", 2, "a pickle", "write its array with numpy.save()"},
    {"SQLite for", 10, "an SQLite database", "write its columns with numpy.save()"},
};

size_t input_safetensors_header(const unsigned char *bytes, size_t count) {
    enum { MOST = 100000000 }; /* by the format's rules */
    size_t length = 0;
    if (count < INPUT_TENSORS_LEAST)
        return 0;
    for (unsigned i = INPUT_TENSORS_LEAST; i-- > 0;)
        length = length << 8 | bytes[i];
    return length <= MOST ? INPUT_TENSORS_LEAST + length : 0;
}

static bool refuse_other(const unsigned char *bytes, size_t count, struct input_reason *reason) {
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (count >= others[i].bytes && memcmp(bytes, others[i].begins, others[i].bytes) == 0)
            return input_refuse(reason, EX_DATAERR, "is %s, which is not read so: %s", others[i].what, others[i].way);
    if (count > INPUT_TENSORS_LEAST && input_safetensors_header(bytes, count) > 0 && bytes[INPUT_TENSORS_LEAST] == '{')
        return input_refuse(reason, EX_USAGE, "is a safetensors file: --tensor NAME reads one of its tables");
    return input_refuse(
        reason, EX_USAGE,
        "is not a .npy file; a raw one needs --type (such as u32), and text --input-format csv (or tsv, text)");
}

static bool locate(const unsigned char *bytes, size_t count, size_t total, const struct input_request *request,
                   struct table_layout *layout, struct input_reason *reason) {
    size_t row;
    const table_type type = request->type ? request->type : request->raw_type;
    const size_t columns = request->columns ? request->columns : request->raw_type != 0;
    if (!type)
        return refuse_other(bytes, count, reason);
    if (request->field_count > 0 && request->elements == INPUT_VALUES)
        return input_refuse(reason, EX_USAGE, "is not a .npy file, and has no fields: --field is for those");
    if (!columns)
        return input_refuse(reason, EX_USAGE, "is not a .npy file, and a raw one needs --columns");
    if (!size_multiply(columns, table_type_size(type), &row))
        return input_refuse(reason, EX_USAGE, "a row of %zu columns is larger than the address space", columns);
    layout_set(layout, type, 0, columns);
    layout->offset = request->skip;
    if (total == INPUT_UNKNOWN)
        return true;
    return layout->offset <= total
               ? input_raw_has(layout, total - layout->offset, reason)
               : input_refuse(reason, EX_DATAERR, "has %zu bytes, fewer than the %zu to skip", total, layout->offset);
}

bool input_raw_has(struct table_layout *layout, size_t bytes, struct input_reason *reason) {
    const size_t row = layout->columns * table_type_size(layout->type);
    if (bytes % row != 0)
        return input_refuse(reason, EX_DATAERR, "%zu bytes%s are no whole number of rows of %zu x %s (%zu bytes)",
                            bytes, layout->offset ? " after the skipped ones" : "", layout->columns,
                            table_type_name(layout->type), row);
    layout->shape[0] = bytes / row;
    return layout_finish(layout);
}

static bool guess(struct input_file *file) {
    (void)file;
    return true;
}

const struct input_format input_raw = {
    .name = "raw", .output = "raw", .guess = guess, .is_bare = true, .locate = locate, .has = input_raw_has};
