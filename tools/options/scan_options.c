/* Options of scan, of append, which is a scan that goes on, and of tuplescan-mpi. */
#include "message.h"
#include "options/rows.h"

#define SCAN(MEMBER) offsetof(struct scan_arguments, MEMBER)

#define SUM_TYPES                                                                                                      \
    "type of the sums: u32 u64 i32 i64 f16 bf16 f32 f64. Default: u64 for u8 to u64 and bool, i64 for i8 to i64, "     \
    "else that of the input"
#define OVERFLOW                                                                                                       \
    "integers: do not look whether sums leave their type. Otherwise the first row and column whose true sum does is "  \
    "named, and the exit code is 65; "

/* A row more has no fields to keep, and the state has the carry. */
static option_names scan_apart[] = {{"offsets", "exclusive", "keep"},
                                    {"decay", "decay-file", "operation", "offsets", "wrap", "devices"},
                                    {"decay-file", "operation", "offsets", "wrap", "devices"},
                                    {"continue", "carry-out", "reverse"},
                                    {NULL}},
                    append_apart[] = {{"decay", "decay-file", "wrap"}, {"decay-file", "wrap"}, {NULL}},
                    ranks_apart[] = {{"offsets", "exclusive"}, {NULL}},
                    verify_apart[] = {{"offsets", "exclusive"}, {"continue", "carry-in"}, {NULL}};

static const struct option_row scan_rows[] = {
    TEXT("usage: tuplescan scan INPUT... -o OUTPUT [options]\n\n"
         "Writes the table of running sums down each column of INPUT; of several, one below the other, as one table. "
         "An N-d .npy is summed along its first axis, and the output has its shape; a structured one with fields of "
         "one type is a table with one more axis. Tables may be larger than memory, and pipes need no end: sums follow "
         "the rows that come within 0.1 s.\n"),
    OPTION_OUTPUT("where to: a .npy, raw values (.bin, .raw), text (.csv, .tsv, .txt), or else in the format of INPUT; "
                  "- is standard output. No output may be a file that is read"),
    OPTION_FORCE("replace OUTPUT (and the file of --carry-out) if it exists. Owner, group and permissions stay; where "
                 "that is not allowed, or an access control list says more, the new file is for its owner alone; its "
                 "other names (hard links) keep the old content"),
    VALUE("operation", "OP", take_operation, SCAN(operation),
          "sum, max, min or product: what goes down the columns in the place of sums. max and min keep the type of the "
          "input, and a NaN stays, as in numpy.maximum.accumulate. Begins with 0, 1, or the least or greatest value "
          "(--exclusive, --offsets)"),
    VALUE("decay", "A", take_text, SCAN(decay), NULL),
    VALUE(
        "decay-file", "FILE", take_input, SCAN(decay_file),
        "a recurrence in the place of sums: row i of the output is A times the row before it, and row i of "
        "INPUT, from 0 or --carry-in on; with --reverse A times the row after it. FILE has one number, a number "
        "for each column (a row), one for each row (a column), or one for each value, of the type of INPUT (or f32 "
        "for f16 and bf16): a .npy, which goes along the table as in NumPy, text, or raw values, which are a row where "
        "they are as many as the columns. It is read beside INPUT, may be as large unless it is text, and of several "
        "inputs has the rows of all. A 0 lets nothing through of the rows before. Floats only; text is f64. Sums in "
        "the help of "
        "other options are these results"),
    VALUE(
        "segments", "FILE", take_input, SCAN(segments),
        "sums begin anew at the rows that FILE names: a column of offsets, i32 or i64, that do not fall, such as 0, 3, "
        "7 for two segments of three and four rows. Each has the bits that it has alone; rows before the first offset "
        "and after the last one are 0. On the CPU. The table is read in pieces, and may be larger than memory; "
        "offsets, too, "
        "where they are a .npy or raw values in a file"),
    VALUE("by", "COLUMN", take_text, SCAN(by),
          "sums begin anew where this column changes, so that groups whose rows lie together are summed by themselves "
          "(sort --by brings them together). A name, or a number from 0 on; it has numbers, which are told apart by "
          "their bits (-0.0 is not 0.0), is not summed, and stays. Otherwise as --segments"),
    FLAG("exclusive", SCAN(exclusive), "row i without row i itself: the sums of the rows before it"),
    FLAG("reverse", SCAN(reverse),
         "sums from the end: row i is the sum of the rows from i to the last one. The input must be one table. Between "
         "files it is read and written from the end; one from or to a pipe, text, or values that are to be converted "
         "are taken into memory as a whole: see --memory"),
    FLAG("offsets", SCAN(offsets),
         "one row more: the start (zeros, or what was carried in), and then the sums, so that row i is the sum of the "
         "rows before row i, and the last one that of all"),
    FLAG("skip-nan", SCAN(skip_nan),
         "floats: a NaN counts as nothing, as does a missing field of text; it is said how many there were"),
    OPTION_OUT_TYPE(SUM_TYPES ". Also possible are each integer type of 32 and 64 bits that holds all values, f64 for "
                              "all but i64 and u64, and f32 for f16, bf16, bool and integers of up to 16 bits. Sums as "
                              "f16 and bf16 are kept as f32, as carries and states are, and each is rounded once"),
    VALUE("kept", "f64", take_type, SCAN(kept_type),
          "sums, products and recurrences of f32 are kept as f64 from row to row, as carries, states and the A of "
          "--decay are, and each result is rounded once"),
    VALUE("carry-in", "FILE", take_input, SCAN(carry_in),
          "a row that is added to every sum, such as the --carry-out of the part before. A table file of one row of "
          "the type of the sums"),
    VALUE("carry-out", "FILE", take_text, SCAN(carry_out),
          "write the sums through the last row, as a table file of one row"),
    VALUE("continue", "STATE", take_text, SCAN(state),
          "go on from the file STATE, and leave there what a sum must remember of the rows so far; begin, and make it, "
          "where there is none. Parts that are cut anywhere have the sums of the whole, bit for bit, floats too. STATE "
          "is replaced whole or not at all, after OUTPUT: who is interrupted between the two has the old STATE, and "
          "gets the same once more"),
    NOTED("at", "ROWS", take_number, SCAN(at), SCAN(has_at),
          "only if STATE has that many rows: a part that was summed before is not summed again"),
    FLAG("wrap", SCAN(wrap), OVERFLOW "the outputs are written all the same, wrapped"),
    OPTION_BACKEND("auto, cpu or cuda"),
    VALUE("devices", "D", take_devices, SCAN(devices),
          "all, or numbers such as 0,1: these CUDA devices sum, each its share of the rows"),
    OPTION_THREADS("CPU threads at most; it is said why fewer work. Default: the environment variable "
                   "TUPLESCAN_NUM_THREADS, or else, and for 0, as many as help of the processors that the process may "
                   "use, by its affinity and the CPU time of its cgroups"),
    OPTION_MEMORY("use at most so much at a time, such as 64M. Default: a quarter of what the process may use, by the "
                  "machine, cgroups and limits, of which a scan needs a few MB; and three quarters for what --reverse "
                  "takes into memory as a whole"),
    OPTION_JSON("print one object about the run on standard output. Of its times, read_seconds (waiting for the "
                "input), work_seconds (waiting for sums), write_seconds (fsync too) and free_seconds (memory) add up "
                "to total_seconds, of which total_gb_per_second is; seconds and gb_per_second are the scan by itself, "
                "most of it meanwhile"),
    OPTION_NO_PROGRESS("do not show on a terminal how far a scan of more than a second is"),
    OPTION_QUIET("print nothing but errors"),
    IGNORED("strategy", "S"),
    IGNORED("check-overflow", NULL),
    TEXT("\nA raw input (or one from a pipe that does not begin like a .npy) needs:"),
    OPTION_TYPE(NULL),
    OPTION_COLUMNS("u8 u16 u32 u64 i8 i16 i32 i64 bool f16 bf16 f32 f64, little-endian; values in a row"),
    OPTION_SKIP("what lies before the table"),
    OPTION_INPUT_FORMAT(NULL),
    OPTION_OUTPUT_FORMAT("npy, raw, csv, tsv or text, whatever the first bytes of the input or the names say. A .npy "
                         "says its rows before the values: out of a raw input from a pipe, or of text, it needs a "
                         "file, or memory for the input"),
    TEXT("\nText (.csv, .tsv, .txt) is read and written exactly, in no locale: what is written is the shortest text of "
         "the same bits. Without --type (or --out-type) a table of whole numbers is i64, for which a file is read once "
         "before, and any other is f64. What comes by a pipe has the type of what comes first, and what is added to "
         "other sums (of a state, or of an input above it) has their type. A first line without numbers has the names "
         "of the columns, which are kept, and which --field takes; some may be empty, or numbers in quotes. One of "
         "numbers alone, quoted or not, is data, so that no csv or tsv is written of columns whose names are all "
         "numbers. A first line that has all names that --field (or --by of sort) asks for has names, whatever else is "
         "in it. Where one column is summed, what begins as a number does and is none, such as 12abc, is an error, and "
         "a name only in quotes. Fields of .txt have blanks between them, and names # before them, as NumPy has it. Of "
         "several inputs with names all have the same ones; with --field each may have its own order. --field also "
         "takes numbers of fields, from 0 on, where there are no such names. Empty lines and lines that begin with # "
         "are no rows, unless #N/A or #NA is the whole first field, and a delimiter at the end of all lines counts for "
         "nothing; sep=; in the first line says the delimiter of csv. With --skip-nan missing fields (empty ones, NA, "
         "N/A, null, none) are NaN, and the type is f64. What else is no number is an error, with its line and "
         "column."),
    OPTION_DELIMITER("what is between the fields of csv, read or written: one character, or \\t"),
    TEXT("\nA .npy may be big-endian, or in Fortran order; in that order from a pipe it is brought into memory first. "
         "Of one of records:"),
    OPTION_FIELD("the columns are these fields of it, which have one type; the others are of no matter. Of text they "
                 "have the order of the names"),
    OPTION_KEEP("of text, these fields are not summed, such as dates and names, and stand before the sums of their "
                "rows as they are; the output must be text, too"),
    TEXT("\nWhat is compressed as a whole comes by a pipe (zstdcat big.npy.zst | tuplescan scan - -o sums.npy). A .npz "
         "(stored or compressed) or a safetensors file, by its name, has several tables:"),
    OPTION_MEMBER("which of them, where there is more than one"),
    TEXT("\nFloats are added in the order of a tree, so that some of the sums may be infinite, or not a number, where "
         "others after them are not, and where adding row after row would stay finite: f32 -3e38, 0, 3e38, 3e38. If a "
         "sum is not finite though all values are, standard error says so; --out-type f64 avoids it for f32.\n\n"
         "examples:\n"
         "  tuplescan scan counts.npy -o sums.npy\n"
         "  tuplescan scan counts.bin --type u32 --columns 256 --out-type u32 --wrap -o sums.npy\n"
         "  producer | tuplescan scan - --type f32 --columns 3 -o - | consumer\n"
         "  tuplescan scan part2.npy --carry-in totals1.npy --carry-out totals2.npy -o sums2.npy\n"
         "  tuplescan scan hour14.npy --continue day.state -o sums14.npy\n"
         "  tuplescan scan rewards.npy --reverse --decay 0.99 -o returns.npy"),
};
TABLE(scan, ANY_OPERANDS, 24, scan_rows, scan_apart);

static const struct option_row append_rows[] = {
    TEXT("usage: tuplescan append INPUT... --to SUMS [options]\n\n"
         "Writes the running sums of the rows of INPUT behind those that the .npy file SUMS holds, as if all rows had "
         "been scanned at once: floats have the same bits, too. What a sum must remember is in SUMS.state; both are "
         "made where there is no SUMS, or by scan INPUT -o SUMS --continue SUMS.state. Whatever goes wrong, and when, "
         "SUMS has the old rows or the new ones. Rows are appended also where the exit code is 65 for an overflow, "
         "which is in them, or 74 after the words that all is written. With 75 they are not: another command has SUMS "
         "or its state; try again. A SUMS.state that is missing is made by scan of what was summed, -o /dev/null "
         "--continue SUMS.state.\n"),
    VALUE("to", "FILE", take_text, SCAN(to), "the sums, which grow in place"),
    VALUE("decay", "A", take_text, SCAN(decay), NULL),
    VALUE("decay-file", "FILE", take_input, SCAN(decay_file),
          "SUMS was, and is, made with --decay or --decay-file; this is of the rows that are appended"),
    FLAG("exclusive", SCAN(exclusive), "SUMS was, and is, made with --exclusive"),
    NOTED("at", "ROWS", take_number, SCAN(at), SCAN(has_at),
          "only if SUMS has that many rows, 0 where there is none: rows that were appended before are not appended "
          "again, whatever the command that did it had to say"),
    OPTION_OUT_TYPE(NULL),
    FLAG("wrap", SCAN(wrap), NULL),
    OPTION_BACKEND(NULL),
    OPTION_THREADS(NULL),
    OPTIONS_OF_RAW,
    OPTION_FIELD(NULL),
    OPTION_MEMBER(NULL),
    OPTION_DELIMITER(NULL),
    OPTION_MEMORY(NULL),
    OPTION_JSON(NULL),
    OPTION_NO_PROGRESS(NULL),
    OPTION_QUIET("as for scan. Sums keep their type"),
    IGNORED("strategy", "S"),
    TEXT("\nexamples:\n"
         "  tuplescan append monday.npy --to sums.npy\n"
         "  tuplescan append tuesday.npy wednesday.npy --to sums.npy"),
};
TABLE(append, ANY_OPERANDS, 24, append_rows, append_apart);

static const struct option_row ranks_rows[] = {
    TEXT("usage: mpirun -n RANKS tuplescan-mpi scan INPUT -o OUTPUT [options]\n\n"
         "Writes the table of running sums down each column of INPUT, as tuplescan scan does, bit for bit, with as "
         "many ranks as mpirun begins. Each reads, sums and writes its own share of the rows, so that a table may be "
         "larger than the memory of one machine. INPUT and OUTPUT are files that all ranks reach under these names. "
         "OUTPUT appears whole, when all ranks have brought their shares to the disk, or not at all.\n"),
    OPTION_OUTPUT("where to: a .npy, raw values (.bin, .raw), or else in the format of INPUT"),
    OPTION_FORCE("replace OUTPUT if it exists"),
    FLAG("exclusive", SCAN(exclusive), "row i without row i itself: the sums of the rows before it"),
    FLAG("reverse", SCAN(reverse), "sums from the end: row i is the sum of the rows from i to the last one"),
    FLAG("offsets", SCAN(offsets), "one row more: the start (zeros, or what was carried in), and then the sums"),
    FLAG("skip-nan", SCAN(skip_nan), "floats: a NaN counts as nothing; it is said how many there were"),
    OPTION_OUT_TYPE(SUM_TYPES),
    VALUE("carry-in", "FILE", take_input, SCAN(carry_in),
          "a row that is added to every sum, as a table file of one row"),
    FLAG("wrap", SCAN(wrap), OVERFLOW "the output is written all the same"),
    OPTION_BACKEND(NULL),
    OPTION_THREADS("of each rank, as tuplescan scan takes them; all other options, and the files, must be the same on "
                   "all ranks"),
    OPTIONS_OF_RAW,
    OPTION_OUTPUT_FORMAT("of raw files, as tuplescan scan takes them"),
    OPTION_QUIET("print nothing but errors"),
    IGNORED("strategy", "S"),
    IGNORED("check-overflow", NULL),
    TEXT("\nexample:\n"
         "  mpirun -n 4 tuplescan-mpi scan big.npy -o sums.npy\n\n"
         "exit codes: those of tuplescan"),
};
const struct option_table options_of_ranks = {"tuplescan-mpi", 1,          24, sizeof ranks_rows / sizeof *ranks_rows,
                                              ranks_rows,      ranks_apart};

static const struct option_row verify_rows[] = {
    TEXT("usage: tuplescan verify INPUT SCANNED [options]\n\n"
         "Calculates the running sums of INPUT serially, straight from their definition and without the library's "
         "scan, and compares those in SCANNED with them: floats bit for bit (except that any NaN is as good as "
         "another). Exits with 65 and names the first row and column that is wrong. Integers wrap by definition: sums "
         "that are right although they have left their type are said to have wrapped, from which row and column of "
         "INPUT on.\n"),
    FLAG("exclusive", SCAN(exclusive), NULL),
    FLAG("reverse", SCAN(reverse), NULL),
    FLAG("offsets", SCAN(offsets), NULL),
    FLAG("skip-nan", SCAN(skip_nan), NULL),
    VALUE("carry-in", "FILE", take_input, SCAN(carry_in), NULL),
    OPTIONS_OF_RAW,
    OPTION_FIELD(NULL),
    OPTION_KEEP(NULL),
    OPTION_MEMBER(NULL),
    OPTION_DELIMITER("as they were given to scan. They describe INPUT; SCANNED is a .npy, or raw without anything "
                     "before its values"),
    VALUE("continue", "STATE", take_text, SCAN(state),
          "the state that scan went on from, as it was before: a copy of it"),
    OPTION_OUT_TYPE("of the sums in a raw SCANNED, if it was given to scan. Default: as for scan, i64 or u64 for "
                    "integers"),
    OPTION_OUTPUT_FORMAT("npy, raw, csv, tsv or text, of SCANNED, whatever its name and its first bytes say"),
    OPTION_MEMORY("use at most so much at a time, as for scan"),
    OPTION_JSON("print one object"),
    OPTION_NO_PROGRESS(AFTER_A_SECOND),
    OPTION_QUIET("print nothing but errors"),
};
TABLE(verify, 2, 18, verify_rows, verify_apart);
