/* Options of the commands that look at a table, or make one. */
#include "options/rows.h"

#define SUM(MEMBER) offsetof(struct sum_arguments, MEMBER)
#define GEN(MEMBER) offsetof(struct gen_arguments, MEMBER)

const struct option_table *const option_tables[] = {&options_of_scan,
                                                    &options_of_verify,
                                                    &options_of_sum,
                                                    &options_of_info,
                                                    &options_of_gen,
                                                    &options_of_devices,
                                                    &options_of_count,
                                                    &options_of_hist,
                                                    &options_of_sort,
                                                    &options_of_append,
                                                    NULL};

static const struct option_row sum_rows[] = {
    TEXT("usage: tuplescan sum SCANNED --rows A:B [options]\n\n"
         "Prints the column sums of the rows A to B - 1 of the table that SCANNED holds the running sums of, one line "
         "for each column, by one subtraction each. A: is to the end, :B is from the beginning. Integers are exact as "
         "long as the sum itself fits in their type, though the running sums have wrapped. Standard error says that "
         "they have where the two rows show it; `verify` always finds it. Floats are as exact as the running sums "
         "are.\n"),
    NOTED("rows", "A:B", take_row_range, SUM(rows), SUM(has_rows), "the rows that are summed, from A to B - 1"),
    FLAG("exclusive", SUM(scan.exclusive), "SCANNED was made with --exclusive, or with --offsets and not --reverse"),
    FLAG("reverse", SUM(scan.reverse),
         "SCANNED was made with --reverse, which its values do not show: it has to be said. The rows above A are not "
         "read then"),
    VALUE("carry-in", "FILE", take_input, SUM(scan.carry_in),
          "the one that scan was given, if it was: needed when A is 0, unless exclusive; with --reverse when B is the "
          "number of rows"),
    VALUE("continue", "STATE", take_text, SUM(scan.state),
          "the state that scan went on from, as it was before: a copy of it. Needed when A is 0"),
    VALUE("carry-out", "FILE", take_input, SUM(scan.carry_out),
          "the one that scan wrote: needed with --exclusive when B is the number of rows; with --exclusive --reverse "
          "when A is 0"),
    OPTIONS_OF_RAW,
    OPTION_FIELD(NULL),
    OPTION_KEEP(NULL),
    OPTION_MEMBER(NULL),
    OPTION_DELIMITER("describe SCANNED, as for scan"),
    OPTION_MEMORY(NEEDS_MEMORY),
    OPTION_JSON("print one object"),
    TEXT("\nexample:\n"
         "  tuplescan sum sums.npy --rows 1000:2000"),
};
static option_names sum_apart[] = {{"continue", "carry-in", "reverse"}, {NULL}};
TABLE(sum, 1, 24, sum_rows, sum_apart);

static const struct option_row info_rows[] = {
    TEXT("usage: tuplescan info FILE [--json] [--type T --columns C [--skip BYTES]] [--out-type T]\n\n"
         "Prints format, type and shape of a table file, and the type that its sums have; of text also the names of "
         "the columns, and which of them have something else than numbers; of a .npz or a safetensors file with "
         "several tables, of which --member says one, what they are. FILE may also be the state of a sum that goes on "
         "(scan --continue, append): its operation, type, columns and rows.\n"),
    OPTIONS_OF_RAW,
    OPTION_FIELD(NULL),
    OPTION_MEMBER(NULL),
    OPTION_DELIMITER(NULL),
    OPTION_OUT_TYPE(NULL),
    OPTION_MEMORY("as for scan"),
    OPTION_JSON("print one object"),
};
TABLE(info, 1, 24, info_rows, NULL);

static const struct option_row gen_rows[] = {
    TEXT("usage: tuplescan gen --type T --rows R --columns C [--seed N] [--max V] -o FILE\n\n"
         "Writes a table of random values. Floats are uniform in [-1, 1), f16 and bf16 rounded from such an f32; "
         "integers are uniform from 0 (signed ones from -V) to V, which is 100, and 1 of bool, unless --max says "
         "otherwise, so that sums stay readable and few overflow.\n"),
    OPTION_TYPE("u8 u16 u32 u64 i8 i16 i32 i64 bool f16 bf16 f32 f64"),
    NOTED("rows", "R", take_size_or_0, GEN(rows), GEN(has_rows), NULL),
    OPTION_COLUMNS("how many of each"),
    VALUE("seed", "N", take_number, GEN(seed),
          "default 0. Value k = i * C + j comes from number k + 1 of the generator splitmix64 started at N, so the "
          "first rows of a longer table are the shorter one"),
    NOTED("max", "V", take_number, GEN(max), GEN(has_max), "integers only"),
    OPTION_OUTPUT("a .npy, or text (.csv, .tsv, .txt), when its name says so, else raw values; - is standard output"),
    OPTION_OUTPUT_FORMAT("npy, raw, csv, tsv or text, whatever the name says"),
    OPTION_FORCE("replace FILE if it exists, as scan does"),
    OPTION_NO_PROGRESS(AFTER_A_SECOND),
    TEXT("\nexample:\n"
         "  tuplescan gen --type u32 --rows 1000000 --columns 4 --seed 7 -o table.npy"),
};
TABLE(gen, 0, 24, gen_rows, NULL);

static const struct option_row devices_rows[] = {
    TEXT("usage: tuplescan devices [--json]\n\n"
         "Lists the CPU and the GPUs that scan can use, and says why when there is no GPU.\n"),
    OPTION_JSON("print one object"),
};
TABLE(devices, 0, 24, devices_rows, NULL);
