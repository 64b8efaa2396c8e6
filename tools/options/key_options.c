/* Options of the commands on keys. */
#include "options/rows.h"

#define COUNT(MEMBER) offsetof(struct count_arguments, MEMBER)
#define HIST(MEMBER)  offsetof(struct hist_arguments, MEMBER)
#define SORT(MEMBER)  offsetof(struct sort_arguments, MEMBER)

#define IN_WHICH_FORMAT "where to, - is standard output; in which format, as for scan"
#define AS_SCAN_DOES    "replace OUTPUT if it exists, as scan does"
#define OF_RECORDS      "the values are these fields of the records of a .npy, as for scan"
#define ABOUT_THE_RUN   "print one object about the run on standard output"
#define ERRORS_ALONE    "print nothing but errors"

static const struct option_row count_rows[] = {
    TEXT("usage: tuplescan count KEYS -o OUTPUT [options]\n\n"
         "Takes all values of KEYS as one list, whatever their shape: columns are not told apart. Writes a table with "
         "one row for each chunk of consecutive keys and one column for each digit: how many keys of the chunk have "
         "that digit. The name of a file says its format, as for scan: of what is no .npy and no text (or with "
         "--input-format raw) the keys are bytes, whose digits are the bytes themselves, unless --type says more. The "
         "running sums of the table (tuplescan scan) give the counts of any range of chunks by one subtraction "
         "(tuplescan sum).\n"),
    OPTION_OUTPUT(IN_WHICH_FORMAT),
    OPTION_FORCE(AS_SCAN_DOES),
    VALUE("chunk", "N", take_size, COUNT(chunk),
          "keys in a chunk. Default: 16384, or 16 for each column if that is more"),
    NOTED("bits", "N", take_unsigned, COUNT(bits), COUNT(has_bits),
          "bits of a digit, 1 to 16, which make 2^N columns. Default: 8"),
    VALUE("first-bit", "N", take_unsigned, COUNT(first_bit),
          "the digit's lowest bit; 0 is the lowest of a key. Signed integers and floats are counted in their sort "
          "order: signs flipped, negative floats with all bits flipped. Default: 0"),
    FLAG("descending", COUNT(descending), "digits for descending order: all bits flipped"),
    FLAG("ranks", COUNT(ranks),
         "write where the keys of each chunk and digit go in a stable sort by that digit, instead of how many there "
         "are"),
    OPTION_OUT_TYPE("u32 or u64. Default: u64"),
    KEYS_RUN,
    OPTION_TYPE(NULL),
    KEYS_OF_RAW("raw keys, "),
    OPTION_FIELD(OF_RECORDS),
    KEYS_MEMBER,
    KEYS_END(ABOUT_THE_RUN, ERRORS_ALONE),
    TEXT("\nexample: the bytes of a file, in blocks of 64 KiB, and how many of each there are in its second MiB\n"
         "  tuplescan count FILE --chunk 65536 -o counts.npy\n"
         "  tuplescan scan counts.npy -o sums.npy\n"
         "  tuplescan sum sums.npy --rows 16:32"),
};
TABLE(count, 1, 24, count_rows, NULL);

static const struct option_row hist_rows[] = {
    TEXT("usage: tuplescan hist VALUES [--bins N] [--range A:B | --edges FILE | --first I] [options]\n\n"
         "Takes all values of VALUES as one list, whatever their shape: columns are not told apart. Prints a line for "
         "each bin: where it begins, where it ends, and how many of the values are in it. A bin has its left end, and "
         "the last one its right end too: exactly as they are printed. Values in no bin, and NaNs, are counted apart, "
         "in lines that begin with #. The name of a file says its format, as for scan: of what is no .npy and no text "
         "(or with --input-format raw) the values are bytes, unless --type says more.\n"),
    VALUE("bins", "N", take_size, HIST(bins), "that many bins, up to 2^20. Default: 10; 256 for bytes without --range"),
    NOTED("range", "A:B", take_range, HIST(range), HIST(has_range),
          "of one width, from A to B; at least 2^-47 of |A| and |B| wide, and 2^-1022. Default: from the least to the "
          "greatest value, NaNs and infinities aside, and beyond where the bins would be too narrow; for bytes 0:256"),
    VALUE("edges", "FILE", take_input, HIST(edges),
          "between the edges in a table file of the type of the values, which ascend"),
    NOTED("first", "I", take_integer, HIST(first), HIST(has_first), "of one integer each, from I on"),
    VALUE("weights", "FILE", take_input, HIST(weights),
          "sum up what each value weighs, f32 or f64, instead of counting; a raw file has f64"),
    FLAG("cumulative", HIST(cumulative), "how many values there are up to the end of each bin, from the first bin on"),
    FLAG("density", HIST(density),
         "f64: shares of what is in the bins, by a bin's width, so that their integral is 1; with --cumulative the "
         "share up to the end of each bin, which is 1 of the last one"),
    OPTION_OUTPUT("write the counts (u64), or sums (f64), as a table of one column, a bin in each row; in which "
                  "format, as for scan"),
    VALUE("chunk", "N", take_size, HIST(chunk), "with -o: for each N values a row, which has a column for each bin"),
    OPTION_FORCE(AS_SCAN_DOES),
    FLAG("plot", HIST(plot),
         "print a bar for each bin; on a terminal with a title and an axis, and of eighths of a character in UTF-8"),
    KEYS_MEMBER,
    KEYS_END("print one object instead of lines; infinite edges are the strings \"inf\" and \"-inf\"",
             "with -o: print nothing but errors"),
    KEYS_RUN,
    OPTION_TYPE(NULL),
    KEYS_OF_RAW("raw values, "),
    OPTION_FIELD(OF_RECORDS),
    TEXT("\nexamples:\n"
         "  tuplescan hist ages.npy --bins 12 --range 0:120 --plot\n"
         "  tuplescan hist FILE --json\n"
         "  tuplescan hist prices.npy --bins 1000 --cumulative --density -o cdf.npy\n"
         "  tuplescan hist prices.npy --edges edges.npy --chunk 100000 -o counts.npy"),
};
static option_names hist_apart[] = {
    {"edges", "range", "first", "bins"}, {"range", "first"}, {"plot", "chunk", "json"}, {NULL}};
TABLE(hist, 1, 24, hist_rows, hist_apart);

static const struct option_row sort_rows[] = {
    TEXT("usage: tuplescan sort TABLE [--by COLUMN|FIELD]... -o OUTPUT [options]\n\n"
         "Writes the rows of TABLE in the order of their keys; rows whose keys are equal keep their order. A row stays "
         "whole: it is what lies at one index of the first axis, such as a record of a structured .npy, whatever other "
         "fields that has. Floats are in the total order: -0.0 before +0.0, NaNs at the ends by their sign. The name "
         "of a file says its format, as for scan: of what is no .npy and no text (or with --input-format raw) the rows "
         "are bytes, unless --type and --columns say more.\n"),
    VALUE("by", "COLUMN|FIELD", take_word, SORT(by),
          "the key: a column, counted from 0 on, or a field of a structured .npy; one of several values is compared "
          "from the first to the last. Up to 16 of them, the most significant one first. Default: the column, where "
          "there is one only"),
    OPTION_OUTPUT(IN_WHICH_FORMAT),
    OPTION_FORCE("replace OUTPUT (and the file of --values-out) if it exists, as scan does"),
    VALUE("values", "FILE", take_input, SORT(values),
          "a value for each row, which moves with it: a .npy with as many rows, of any type but Python objects (text, "
          "dates, records, ...), or raw values of --value-bytes"),
    VALUE("value-bytes", "N", take_size, SORT(value_bytes),
          "bytes of a raw value. Default: the size of the file divided by the number of rows"),
    VALUE("values-out", "FILE", take_text, SORT(values_out),
          "where the values go to, in the format of their file unless the name says another"),
    FLAG("argsort", SORT(argsort), "write the index of each row instead of the row: u32, or u64 beyond 2^32 rows"),
    FLAG("descending", SORT(descending), "the greatest key first"),
    VALUE("first-bit", "N", take_unsigned, SORT(first_bit), NULL),
    NOTED("bits", "N", take_unsigned, SORT(bits), SORT(has_bits),
          "sort by these bits of the key alone; 0 is the lowest bit"),
    OPTION_BACKEND("auto, cpu or cuda; auto is cpu, as the rows are in host memory"),
    OPTION_THREADS("CPU threads at most, as for scan"),
    OPTION_TYPE(NULL),
    OPTION_COLUMNS(NULL),
    KEYS_OF_RAW("raw rows, of C values of "),
    KEYS_MEMBER,
    KEYS_END(ABOUT_THE_RUN, ERRORS_ALONE),
    TEXT("\nexamples:\n"
         "  tuplescan sort ages.npy -o sorted.npy --values names.npy --values-out names-by-age.npy\n"
         "  tuplescan sort people.npy --by age --by height -o sorted.npy\n"
         "  tuplescan sort words.bin --type u32 --argsort -o order.npy"),
};
static option_names sort_apart[] = {{"argsort", "values"}, {NULL}};
TABLE(sort, 1, 24, sort_rows, sort_apart);
