/* A command line, read by the table of its command. */
#include <stdint.h>
#include <string.h>

#include "arguments.h"
#include "message.h"
#include "options/bad_option.h"
#include "options/option.h"
#include "options/takers.h"
#include "threads.h"

enum { OPTIONS = 64, CODES = 256 };

static int code_of(const struct option_table *table, unsigned row) {
    return table->rows[row].letter ? table->rows[row].letter : CODES + (int)row;
}

static int take_option(const struct option_table *table, void *arguments, int code, char *value) {
    const struct option_row *row = table->rows;
    while (!row->name || code != code_of(table, (unsigned)(row - table->rows)))
        row++;
    if (row->has)
        *(bool *)((char *)arguments + row->has) = true;
    return row->take(row->name, value, (char *)arguments + row->place);
}

static bool takes(const struct option_table *table, const char *name, size_t length) {
    for (unsigned i = 0; i < table->count; i++)
        if (table->rows[i].name && strlen(table->rows[i].name) == length &&
            strncmp(table->rows[i].name, name, length) == 0)
            return true;
    return false;
}

/* The complaint about an option that only other commands take; GO_ON when it is not that. */
static int refuse_option_of_others(const struct option_table *table, char **argv) {
    const char *last = argv[optind - 1];
    const size_t length = strcspn(last, "=");
    char list[100] = "";
    size_t used = 0;
    if (length <= 2 || strncmp(last, "--", 2) != 0 || takes(table, last + 2, length - 2))
        return GO_ON;
    for (unsigned i = 0; option_tables[i]; i++)
        if (takes(option_tables[i], last + 2, length - 2))
            used +=
                (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", option_tables[i]->command);
    const bool is_other = strcmp(table->command, argv[0]) != 0; /* tuplescan-mpi, whose subcommand is scan, too */
    return used == 0 ? GO_ON
                     : fail(EX_USAGE, "%.*s: is not for %s, but for %s%s", (int)length, last, table->command,
                            is_other ? "tuplescan " : "", list);
}

static int refuse_option(const struct option_table *table, char **argv, int result, const struct option *options) {
    const int code = optopt == 0 ? refuse_option_of_others(table, argv) : GO_ON;
    return code == GO_ON ? bad_option(argv, result, options) : code;
}

struct argument_input arguments_input(const struct arguments *arguments, unsigned number) {
    const struct option_table *table = arguments->table;
    for (unsigned i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        if (row->take == take_input && number-- == 0)
            return (struct argument_input){row->name, *(char *const *)((const char *)arguments + row->place), "--",
                                           true};
    }
    const char *name = number == 0 ? "the input" : number == 1 ? "the second file" : "another input";
    if (number < arguments->input_count)
        return (struct argument_input){name, arguments->inputs[number], "", true};
    return (struct argument_input){.is_one = false};
}

/* Standard input can be read once. */
static int check_standard_input(const struct arguments *arguments) {
    struct argument_input taken_by = {0}, input = arguments_input(arguments, 0);
    for (unsigned i = 0; input.is_one; input = arguments_input(arguments, ++i)) {
        if (!input.path || strcmp(input.path, "-") != 0)
            continue;
        if (taken_by.is_one)
            return fail(EX_USAGE, "%s%s and %s%s both want standard input", input.dashes, input.name, taken_by.dashes,
                        taken_by.name);
        taken_by = input;
    }
    return EX_OK;
}

/* Of --threads 0, too, the cgroups leave no more. */
static int limit_threads(struct arguments *arguments) {
    const struct option_table *table = arguments->table;
    bool has_threads = false;
    for (unsigned i = 0; i < table->count; i++)
        has_threads =
            has_threads || (table->rows[i].name && table->rows[i].place == offsetof(struct arguments, threads_asked));
    arguments->threads = arguments->threads_asked;
    return arguments->threads > 0 || !has_threads ? EX_OK : threads_there(&arguments->threads, !arguments->has_threads);
}

static int take_operands(struct arguments *arguments, int argc, char **argv) {
    const int operands = arguments->table->operands, found = argc - optind,
              least = operands == ANY_OPERANDS ? 1 : operands;
    const char *more = operands == ANY_OPERANDS ? "at least 1" : operands == 1 ? "1" : operands == 2 ? "2" : "0";
    const char *file = found < least ? file_among_options(argv) : NULL;
    if (file)
        return fail(EX_USAGE, "%d file name%s given and %s wanted; if %s is one, write ./%s", found,
                    found == 1 ? "" : "s", more, file, file);
    if (found < least || (found > least && operands != ANY_OPERANDS))
        return fail(EX_USAGE, "%d file name%s given and %s wanted; see tuplescan help %s", found, found == 1 ? "" : "s",
                    more, argv[0]);
    arguments->inputs = argv + optind;
    arguments->input_count = (unsigned)found;
    return EX_OK;
}

/* What getopt_long() is told of the options. */
static void list_options(const struct option_table *table, struct option options[OPTIONS],
                         char letters[2 * OPTIONS + 2]) {
    size_t used = 0, length = 0;
    letters[length++] = ':';
    letters[length++] = 'h';
    options[used++] = (struct option){"help", no_argument, NULL, 'h'};
    for (unsigned i = 0; i < table->count && used + 1 < OPTIONS; i++) {
        const struct option_row *row = &table->rows[i];
        if (!row->name)
            continue;
        options[used++] =
            (struct option){row->name, row->argument ? required_argument : no_argument, NULL, code_of(table, i)};
        if (row->letter)
            letters[length++] = (char)row->letter;
        if (row->letter && row->argument)
            letters[length++] = ':';
    }
    options[used] = (struct option){0};
    letters[length] = '\0';
}

int options_parse(const struct option_table *table, void *arguments, int argc, char **argv) {
    struct option options[OPTIONS];
    char letters[2 * OPTIONS + 2];
    struct arguments *const common = arguments;
    if (is_completion(argc, argv))
        return options_complete(table, argc, argv);
    list_options(table, options, letters);
    common->table = table;
    optind = 0;
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, letters, options, NULL)) != -1;) {
        if (code == 'h') {
            options_help(table, stdout);
            return EX_OK;
        }
        const int result = code == '?' || code == ':' ? refuse_option(table, argv, code, options)
                                                      : take_option(table, arguments, code, optarg);
        if (result != EX_OK)
            return result;
    }
    int code = take_operands(common, argc, argv);
    if (code == EX_OK && table->check)
        code = table->check(arguments);
    if (code == EX_OK)
        code = limit_threads(common);
    if (code == EX_OK)
        code = check_standard_input(common);
    return code == EX_OK ? GO_ON : code;
}
