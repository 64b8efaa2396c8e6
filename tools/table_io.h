/* The steps that several subcommands have in common. */
#ifndef TABLE_IO_H
#define TABLE_IO_H

#include "arguments.h"
#include "atomic_file.h"
#include "input/input.h"
#include "output/output.h"
#include "state_file.h"

/* Before anything is read: whether -o, and the second output that `option` names (or NULL), can be written, have names
 * that do not promise another format, are no file that is read, and do not get in each other's way, nor in that of
 * printed output, be it by --json or by the option `printed` (or NULL). */
void check_outputs(const struct arguments *arguments, const char *printed, const char *option, const char *second);

/* Whether the output, or what else `option` names to be written, is no file that is read: whoever wants that has no way
 * back when something goes wrong. */
void check_is_no_input(const struct arguments *arguments, const char *option, const char *output);

/* What the command line says of the table, with the fields of --field to be looked for. */
struct input_request table_request(const struct arguments *arguments, struct input_field fields[BY_MOST]);

/* Opens the table that the command line describes, to be read piece by piece. `like`: the type of text without --type;
 * 0: what its values need. `beside`: where fields of --keep are put; NULL: nowhere. */
void start_input(struct input_file *file, const char *path, table_type like, struct text_beside *beside,
                 const struct scan_arguments *arguments);

/* The type of the sums: --out-type, or the default for the input. Refuses options that are for other types. */
table_type sum_type(const struct scan_arguments *arguments, const struct input_file *input);

/* *sums = the layout of the sums of that many rows of the input, in a table that messages call `name`. */
void lay_out_sums(const struct scan_arguments *arguments, const struct input_file *input, const char *name, size_t rows,
                  struct table_layout *sums);

/* Says that sums of one row are its values, unless something else is added to them, or --quiet. */
void say_one_row(const struct scan_arguments *arguments, const char *name, const struct table_layout *sums);

/* The one row of `columns` values in the table file `path`, a raw one or a .npy of any shape with that many values;
 * NULL for no path. free() it. */
void *read_row(const char *path, table_type type, size_t columns);

/* The sums that the sums of `input`, kept as `type`, went on from, as --continue or --carry-in says, of which the first
 * is in `state`, if it is given. NULL: there are none. free() it. */
void *row_above(const struct scan_arguments *arguments, struct state_file *state, const char *input, table_type type,
                size_t columns);

#endif
