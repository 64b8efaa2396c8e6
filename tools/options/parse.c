/* A command line, read by the table of its command. */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "arguments.h"
#include "guess.h"
#include "message.h"
#include "options/option.h"
#include "options/takers.h"
#include "threads.h"

/* A command line while it is read. */
struct line {
    const struct option_table *table;
    void *arguments;
    int argc, at; /* `at`: the word that comes next */
    char **argv;  /* operands are moved to its beginning, after argv[0] */
    int operands;
    const char *like_a_file; /* the first word that was taken for letters and may be the name of a file; or NULL */
};

static const struct option_row help_row = {.name = "help", .letter = 'h'};

/* Row number i of those that are options, --help being the first one; NULL: it is none. */
static const struct option_row *row_at(const struct option_table *table, unsigned i) {
    return i == 0 ? &help_row : table->rows[i - 1].name ? &table->rows[i - 1] : NULL;
}

/* `value`: NULL for an option that takes none. */
static void take_option(const struct line *line, const struct option_row *row, char *value) {
    char *const arguments = line->arguments;
    if (row == &help_row) {
        options_help(line->table, stdout);
        command_end(EX_OK);
    }
    ((struct arguments *)line->arguments)->given[row - line->table->rows] = value ? value : "";
    if (row->has)
        *(bool *)(arguments + row->has) = true;
    row->take(row->name, value, arguments + row->place);
}

/* How many options may be meant by the first `length` letters of a name, *row being one; `list` names them. */
static unsigned find_name(const struct option_table *table, const char *name, size_t length,
                          const struct option_row **row, char *list, size_t room) {
    unsigned matches = 0;
    size_t used = 0;
    list[0] = '\0';
    for (unsigned i = 0; i <= table->count; i++) {
        const struct option_row *one = row_at(table, i);
        if (!one || strncmp(one->name, name, length) != 0)
            continue;
        *row = one;
        if (one->name[length] == '\0')
            return 1;
        const int more = snprintf(list + used, room - used, "%s--%s", matches++ > 0 ? ", " : "", one->name);
        used += more > 0 && (size_t)more < room - used ? (size_t)more : 0;
    }
    return matches;
}

static bool takes(const struct option_table *table, const char *name, size_t length) {
    for (unsigned i = 0; i < table->count; i++)
        if (table->rows[i].name && strlen(table->rows[i].name) == length &&
            strncmp(table->rows[i].name, name, length) == 0)
            return true;
    return false;
}

static bool may_be_file(const char *word) { return strpbrk(word, "./") || access(word, F_OK) == 0; }

/* `shown`: the word that is no option; `name`: the name that it may have meant. */
static _Noreturn void no_such_option(const struct line *line, const char *shown, const char *name) {
    struct guess guess = guess_what(name, strcspn(name, "="));
    for (unsigned i = 0; i <= line->table->count; i++)
        if (row_at(line->table, i))
            guess_consider(&guess, row_at(line->table, i)->name);
    if (guess.best)
        die(EX_USAGE, "%s: no such option; did you mean --%s?", shown, guess.best);
    die(EX_USAGE, "%s: no such option; see tuplescan help %s", shown, line->argv[0]);
}

/* A name that no option has, or more than one. `list`: of the options that it may be short for, if there are any. */
static _Noreturn void refuse_name(const struct line *line, const char *word, int length, const char *list) {
    const bool is_other = strcmp(line->table->command, line->argv[0]) != 0; /* tuplescan-mpi, which has a scan, too */
    char others[100] = "";
    size_t used = 0;
    for (unsigned i = 0; option_tables[i]; i++)
        if (length > 0 && takes(option_tables[i], word + 2, (size_t)length))
            used += (size_t)snprintf(others + used, sizeof others - used, "%s%s", used ? ", " : "",
                                     option_tables[i]->command);
    if (used > 0)
        die(EX_USAGE, "%.*s: is not for %s, but for %s%s", length + 2, word, line->table->command,
            is_other ? "tuplescan " : "", others);
    if (*list)
        die(EX_USAGE, "%.*s: ambiguous, as there are %s", length + 2, word, list);
    if (may_be_file(word))
        die(EX_USAGE, "%s: no such option; if it is a file, write ./%s", word, word);
    no_such_option(line, word, word + 2);
}

/* --NAME, --NAME=VALUE or --NAME VALUE, the name being as long as it has to be. */
static void take_name(struct line *line, char *word) {
    const size_t length = strcspn(word + 2, "=");
    const struct option_row *row = NULL;
    char list[400], *value = word[2 + length] ? word + 3 + length : NULL;
    if (find_name(line->table, word + 2, length, &row, list, sizeof list) != 1)
        refuse_name(line, word, (int)length, list);
    if (!row->argument && value)
        die(EX_USAGE, "%.*s: takes no value", (int)length + 2, word);
    if (row->argument && !value && line->at == line->argc)
        die(EX_USAGE, "%s: needs a value", word);
    take_option(line, row, row->argument && !value ? line->argv[line->at++] : value);
}

/* -X, or several letters, the last of which may have its value right after it. */
static void take_letters(struct line *line, char *word) {
    if (strlen(word) > 2 && !line->like_a_file && may_be_file(word))
        line->like_a_file = word;
    for (char *letter = word + 1; *letter; letter++) {
        const char shown[] = {'-', *letter, '\0'};
        unsigned i = 0;
        while (i <= line->table->count && !(row_at(line->table, i) && row_at(line->table, i)->letter == *letter))
            i++;
        if (i > line->table->count && strlen(word) > 2 && may_be_file(word))
            die(EX_USAGE, "%s: no such option; if %s is a file, write ./%s", shown, word, word);
        if (i > line->table->count)
            no_such_option(line, shown, strlen(word) > 2 ? word + 1 : "");
        const struct option_row *row = row_at(line->table, i);
        if (row->argument && !letter[1] && line->at == line->argc)
            die(EX_USAGE, "%s: needs a value", shown);
        take_option(line, row, !row->argument ? NULL : letter[1] ? letter + 1 : line->argv[line->at++]);
        if (row->argument)
            return;
    }
}

/* All words: options, and between them operands, and after -- operands alone. */
static void take_words_of(struct line *line) {
    bool has_options = true;
    while (line->at < line->argc) {
        char *const word = line->argv[line->at++];
        if (!has_options || word[0] != '-' || word[1] == '\0')
            line->argv[++line->operands] = word;
        else if (strcmp(word, "--") == 0)
            has_options = false;
        else
            (word[1] == '-' ? take_name : take_letters)(line, word);
    }
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
static void check_standard_input(const struct arguments *arguments) {
    struct argument_input taken_by = {0}, input = arguments_input(arguments, 0);
    for (unsigned i = 0; input.is_one; input = arguments_input(arguments, ++i)) {
        if (!input.path || strcmp(input.path, "-") != 0)
            continue;
        if (taken_by.is_one)
            die(EX_USAGE, "%s%s and %s%s both want standard input", input.dashes, input.name, taken_by.dashes,
                taken_by.name);
        taken_by = input;
    }
}

static bool is_given(const struct arguments *arguments, const char *name) {
    const struct option_table *table = arguments->table;
    for (unsigned i = 0; i < table->count; i++)
        if (arguments->given[i] && strcmp(table->rows[i].name, name) == 0)
            return true;
    return false;
}

static void check_apart(const struct arguments *arguments) {
    option_names *names = arguments->table->apart;
    for (; names && (*names)[0]; names++)
        for (unsigned k = 1; k < OPTIONS_APART && (*names)[k]; k++)
            if (is_given(arguments, (*names)[0]) && is_given(arguments, (*names)[k]))
                die(EX_USAGE, "--%s and --%s: only one of them", (*names)[0], (*names)[k]);
}

/* Of --threads 0, too, the cgroups leave no more. */
static void limit_threads(struct arguments *arguments) {
    const struct option_table *table = arguments->table;
    bool has_threads = false;
    for (unsigned i = 0; i < table->count; i++)
        has_threads =
            has_threads || (table->rows[i].name && table->rows[i].place == offsetof(struct arguments, threads_asked));
    arguments->threads = arguments->threads_asked;
    if (arguments->threads == 0 && has_threads)
        arguments->threads = threads_there(!arguments->has_threads);
}

static void take_operands(const struct line *line, struct arguments *arguments) {
    const int operands = line->table->operands, found = line->operands, least = operands == ANY_OPERANDS ? 1 : operands;
    const char *more = operands == ANY_OPERANDS ? "at least 1" : operands == 1 ? "1" : operands == 2 ? "2" : "0";
    const char *file = line->like_a_file;
    if (found < least && file)
        die(EX_USAGE, "%d file name%s given and %s wanted; if %s is one, write ./%s", found, found == 1 ? "" : "s",
            more, file, file);
    if (found < least || (found > least && operands != ANY_OPERANDS))
        die(EX_USAGE, "%d file name%s given and %s wanted; see tuplescan help %s", found, found == 1 ? "" : "s", more,
            line->argv[0]);
    arguments->inputs = line->argv + 1;
    arguments->input_count = (unsigned)found;
}

void options_parse(const struct option_table *table, void *arguments, int argc, char **argv) {
    struct line line = {.table = table, .arguments = arguments, .argc = argc, .at = 1, .argv = argv};
    struct arguments *const common = arguments;
    if (is_completion(argc, argv)) {
        options_complete(table, argc, argv);
        command_end(EX_OK);
    }
    common->table = table;
    take_words_of(&line);
    take_operands(&line, common);
    check_apart(common);
    limit_threads(common);
    check_standard_input(common);
}
