#include "arguments.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bad_option.h"
#include "complete.h"
#include "message.h"
#include "number.h"
#include "threads.h"
#include "values.h"
#include "words.h"

enum {
    ON_KEYS = FOR_COUNT | FOR_HIST | FOR_SORT, /* whatever shape they have */
    HAS_COLUMNS = FOR_SCAN | FOR_APPEND | FOR_VERIFY | FOR_SUM | FOR_INFO | FOR_RANKS,
    READS_TABLE = HAS_COLUMNS | ON_KEYS,
    WRITES_TABLE = FOR_SCAN | FOR_GEN | ON_KEYS | FOR_RANKS,
    HAS_THREADS = FOR_SCAN | FOR_APPEND | ON_KEYS | FOR_RANKS
};

/* What is done with the value of --`option`. `place` is in the arguments, or they are. */
typedef int taker(const char *option, char *text, void *place);

static int take_flag(const char *option, char *text, void *place) {
    (void)option, (void)text;
    *(bool *)place = true;
    return GO_ON;
}

/* What said something that no user can see: taken until 0.2, and in no help. */
static int ignore_flag(const char *option, char *text, void *place) {
    (void)option, (void)text, (void)place;
    return GO_ON;
}

static int ignore_value(const char *option, char *text, void *place) { return ignore_flag(option, text, place); }

static int take_text(const char *option, char *text, void *place) {
    (void)option;
    *(const char **)place = text;
    return GO_ON;
}

static int take_size_from(const char *option, const char *text, size_t least, size_t *size) {
    uint64_t number;
    if (!parse_number(text, SIZE_MAX, &number) || number < least)
        return fail(EX_USAGE, "--%s %s: not a number from %zu on, such as 1000, 64K, 2^20 or 1e6", option, text, least);
    *size = (size_t)number;
    return GO_ON;
}

static int take_size(const char *option, char *text, void *place) { return take_size_from(option, text, 1, place); }

static int take_size_or_0(const char *option, char *text, void *place) {
    return take_size_from(option, text, 0, place);
}

static int take_number_to(const char *option, const char *text, uint64_t most, uint64_t *number) {
    if (!parse_number(text, most, number))
        return fail(EX_USAGE, "--%s %s: not a number from 0 to %llu", option, text, (unsigned long long)most);
    return GO_ON;
}

static int take_number(const char *option, char *text, void *place) {
    return take_number_to(option, text, UINT64_MAX, place);
}

static int take_unsigned(const char *option, char *text, void *place) {
    uint64_t number = 0;
    const int code = take_number_to(option, text, UINT_MAX, &number);
    *(unsigned *)place = (unsigned)number;
    return code;
}

static int take_type(const char *option, char *text, void *place) {
    const table_type type = type_of_name(text);
    if (type == 0 && *text == '>')
        return fail(EX_USAGE, "--%s %s: not a type; big-endian values are neither read nor written", option, text);
    if (type == 0)
        return fail(EX_USAGE,
                    "--%s %s: not a type; there are i8 to i64, u8 to u64, f16, bf16, f32, f64 and bool, also as NumPy "
                    "writes them "
                    "(uint8, <f4)",
                    option, text);
    *(table_type *)place = type;
    return GO_ON;
}

static int take_format(const char *option, char *text, void *place) {
    if (word_place(format_words, text) < 0)
        return fail(EX_USAGE, "--%s %s: not a format; there are npy, raw, csv, tsv and text", option, text);
    return take_text(option, text, place);
}

static int take_backend(const char *option, char *text, void *place) {
    const int word = word_place(backend_words, text);
    if (word < 0)
        return fail(EX_USAGE, "--%s %s: not a backend; there are auto, cpu and cuda", option, text);
    *(table_backend *)place = (table_backend)word;
    return GO_ON;
}

static int take_devices(const char *option, char *text, void *place) {
    struct arguments *arguments = place;
    (void)option;
    const int code = device_list_read(text, arguments->devices, &arguments->device_count);
    return code == EX_OK ? GO_ON : code;
}

/* A:B, A: or :B. */
static int take_row_range(const char *option, char *text, void *place) {
    struct arguments *arguments = place;
    const char *colon = strchr(text, ':');
    char left[24];
    uint64_t a = 0, b = SIZE_MAX;
    if (!colon || colon - text >= (ptrdiff_t)sizeof left)
        return fail(EX_USAGE, "--%s %s: not A:B", option, text);
    memcpy(left, text, (size_t)(colon - text));
    left[colon - text] = '\0';
    if ((*left && !parse_number(left, SIZE_MAX, &a)) || (colon[1] && !parse_number(colon + 1, SIZE_MAX, &b)))
        return fail(EX_USAGE, "--%s %s: not A:B with two numbers of rows", option, text);
    if (a > b)
        return fail(EX_USAGE, "--%s %s: A is greater than B", option, text);
    arguments->rows_from = (size_t)a;
    arguments->rows_to = (size_t)b;
    return GO_ON;
}

/* A:B, two numbers of any kind; what they may be is for the library to say. */
static int take_range(const char *option, char *text, void *place) {
    struct arguments *arguments = place;
    char *end = NULL, *last = NULL;
    arguments->low = strtod(text, &end);
    if (end == text || *end != ':')
        return fail(EX_USAGE, "--%s %s: not A:B", option, text);
    arguments->high = strtod(end + 1, &last);
    if (last == end + 1 || *last)
        return fail(EX_USAGE, "--%s %s: not A:B with two numbers", option, text);
    if (is_rounded_integer(text, arguments->low) || is_rounded_integer(end + 1, arguments->high))
        return fail(EX_USAGE, "--%s %s: the ends of a range are doubles, of which the nearest are %.0f and %.0f",
                    option, text, arguments->low, arguments->high);
    return GO_ON;
}

static int take_integer(const char *option, char *text, void *place) {
    if (!parse_integer(text, place))
        return fail(EX_USAGE, "--%s %s: not an integer from -2^63 to 2^63 - 1", option, text);
    return GO_ON;
}

static int take_by(const char *option, char *text, void *place) {
    struct arguments *arguments = place;
    if (arguments->by_count == BY_MOST)
        return fail(EX_USAGE, "--%s %s: is one more than the %d that are possible", option, text, BY_MOST);
    arguments->by[arguments->by_count++] = text;
    return GO_ON;
}

static int take_delimiter(const char *option, char *text, void *place) {
    const bool is_named = strcmp(text, "\\t") == 0;
    const char delimiter = is_named ? '\t' : text[0];
    if (!delimiter || (text[1] != '\0' && !is_named) || strchr("0123456789+-.eEinfa\"\r\n ", delimiter))
        return fail(EX_USAGE, "--%s '%s': not one character that is in no number, such as ';' or \\t", option, text);
    *(char *)place = delimiter;
    return GO_ON;
}

/* Names with commas between them, which are cut out of the word. */
static int take_names(const char *option, char *names, const char **list, unsigned *count) {
    for (char *name = names, *rest; name; name = rest) {
        rest = strchr(name, ',');
        if (rest)
            *rest++ = '\0';
        if (*name == '\0')
            return fail(EX_USAGE, "--%s: an empty name; there are names with commas between them", option);
        if (*count == BY_MOST)
            return fail(EX_USAGE, "--%s %s: is one more than the %d that are possible", option, name, BY_MOST);
        list[(*count)++] = name;
    }
    return GO_ON;
}

static int take_fields(const char *option, char *names, void *place) {
    struct arguments *arguments = place;
    return take_names(option, names, arguments->fields, &arguments->field_count);
}

static int take_kept(const char *option, char *names, void *place) {
    struct arguments *arguments = place;
    return take_names(option, names, arguments->kept, &arguments->kept_count);
}

#define AT(member) offsetof(struct arguments, member)
#define WHOLE      0 /* the arguments themselves */

static const struct rule {
    const char *name;
    int letter; /* its short form, or 0 */
    unsigned subcommands;
    taker *take;
    size_t place, has; /* where in the arguments the value goes; and a bool that says that there is one, or 0 */
} rules[] = {
    {"help", 'h', ~0u, NULL, WHOLE, 0},
    {"output", 'o', WRITES_TABLE, take_text, AT(output), 0},
    {"force", 'f', WRITES_TABLE, take_flag, AT(force), 0},
    {"quiet", 'q', FOR_SCAN | FOR_APPEND | FOR_VERIFY | ON_KEYS | FOR_RANKS, take_flag, AT(quiet), 0},
    {"memory", 0, READS_TABLE & ~FOR_RANKS, take_size, AT(memory), 0},
    {"no-progress", 0, FOR_SCAN | FOR_APPEND | FOR_VERIFY | FOR_GEN | ON_KEYS, take_flag, AT(no_progress), 0},
    {"json", 0, (READS_TABLE & ~FOR_RANKS) | FOR_DEVICES, take_flag, AT(json), 0},
    {"type", 0, READS_TABLE | FOR_GEN, take_type, AT(type), 0},
    {"columns", 0, HAS_COLUMNS | FOR_GEN | FOR_SORT, take_size, AT(columns), 0},
    {"skip", 0, READS_TABLE, take_size_or_0, AT(skip), 0},
    {"field", 0, READS_TABLE & ~FOR_SORT & ~FOR_RANKS, take_fields, WHOLE, 0},
    {"keep", 0, FOR_SCAN | FOR_VERIFY | FOR_SUM, take_kept, WHOLE, 0},
    {"member", 0, READS_TABLE & ~FOR_RANKS, take_text, AT(member), 0},
    {"tensor", 0, READS_TABLE & ~FOR_RANKS, take_text, AT(member), 0},
    {"input-format", 0, READS_TABLE, take_format, AT(input_format), 0},
    {"delimiter", 0, READS_TABLE & ~FOR_RANKS, take_delimiter, AT(delimiter), 0},
    {"output-format", 0, WRITES_TABLE | FOR_VERIFY, take_format, AT(output_format), 0},
    {"out-type", 0, FOR_SCAN | FOR_APPEND | FOR_VERIFY | FOR_INFO | FOR_COUNT | FOR_RANKS, take_type, AT(out_type), 0},
    {"exclusive", 0, FOR_SCAN | FOR_APPEND | FOR_VERIFY | FOR_SUM | FOR_RANKS, take_flag, AT(exclusive), 0},
    {"reverse", 0, FOR_SCAN | FOR_VERIFY | FOR_SUM | FOR_RANKS, take_flag, AT(reverse), 0},
    {"offsets", 0, FOR_SCAN | FOR_VERIFY | FOR_RANKS, take_flag, AT(offsets), 0},
    {"skip-nan", 0, FOR_SCAN | FOR_VERIFY | FOR_RANKS, take_flag, AT(skip_nan), 0},
    {"carry-in", 0, FOR_SCAN | FOR_VERIFY | FOR_SUM | FOR_RANKS, take_text, AT(carry_in), 0},
    {"carry-out", 0, FOR_SCAN | FOR_SUM, take_text, AT(carry_out), 0},
    {"to", 0, FOR_APPEND, take_text, AT(to), 0},
    {"continue", 0, FOR_SCAN | FOR_VERIFY | FOR_SUM, take_text, AT(state), 0},
    {"at", 0, FOR_SCAN | FOR_APPEND, take_number, AT(at), AT(has_at)},
    {"backend", 0, FOR_SCAN | FOR_APPEND | ON_KEYS | FOR_RANKS, take_backend, AT(backend), 0},
    {"devices", 0, FOR_SCAN, take_devices, WHOLE, 0},
    {"strategy", 0, FOR_SCAN | FOR_APPEND | FOR_RANKS, ignore_value, WHOLE, 0},
    {"threads", 0, HAS_THREADS, take_unsigned, AT(threads_asked), AT(has_threads)},
    {"check-overflow", 0, FOR_SCAN | FOR_RANKS, ignore_flag, WHOLE, 0},
    {"wrap", 0, FOR_SCAN | FOR_APPEND | FOR_RANKS, take_flag, AT(wrap), 0},
    {"rows", 0, FOR_GEN, take_size_or_0, AT(rows), AT(has_rows)},
    {"rows", 0, FOR_SUM, take_row_range, WHOLE, AT(has_rows)},
    {"seed", 0, FOR_GEN, take_number, AT(seed), 0},
    {"max", 0, FOR_GEN, take_number, AT(max), AT(has_max)},
    {"bits", 0, FOR_COUNT | FOR_SORT, take_unsigned, AT(bits), AT(has_bits)},
    {"first-bit", 0, FOR_COUNT | FOR_SORT, take_unsigned, AT(first_bit), 0},
    {"chunk", 0, FOR_COUNT | FOR_HIST, take_size, AT(chunk), 0},
    {"ranks", 0, FOR_COUNT, take_flag, AT(ranks), 0},
    {"bins", 0, FOR_HIST, take_size, AT(bins), 0},
    {"range", 0, FOR_HIST, take_range, WHOLE, AT(has_range)},
    {"first", 0, FOR_HIST, take_integer, AT(first), AT(has_first)},
    {"edges", 0, FOR_HIST, take_text, AT(edges), 0},
    {"weights", 0, FOR_HIST, take_text, AT(weights), 0},
    {"cumulative", 0, FOR_HIST, take_flag, AT(cumulative), 0},
    {"density", 0, FOR_HIST, take_flag, AT(density), 0},
    {"plot", 0, FOR_HIST, take_flag, AT(plot), 0},
    {"values", 0, FOR_SORT, take_text, AT(values), 0},
    {"values-out", 0, FOR_SORT, take_text, AT(values_out), 0},
    {"value-bytes", 0, FOR_SORT, take_size, AT(value_bytes), 0},
    {"descending", 0, FOR_COUNT | FOR_SORT, take_flag, AT(descending), 0},
    {"by", 0, FOR_SORT, take_by, WHOLE, 0},
    {"argsort", 0, FOR_SORT, take_flag, AT(argsort), 0},
};
enum { RULES = sizeof rules / sizeof rules[0], CODES = 256 };

static int take_option(struct arguments *arguments, int code, char *value) {
    const struct rule *rule = rules;
    while (code != (rule->letter ? rule->letter : CODES + (int)(rule - rules)))
        rule++;
    if (rule->has)
        *(bool *)((char *)arguments + rule->has) = true;
    return rule->take(rule->name, value, (char *)arguments + rule->place);
}

/* The complaint about an option that only other subcommands take; GO_ON when it is not that. */
static int refuse_option_of_others(char **argv, unsigned subcommand) {
    static const char *const names[] = {"scan",    "verify", "sum",  "info", "gen", /* by the bits FOR_... */
                                        "devices", "count",  "hist", "sort", "append"};
    const char *last = argv[optind - 1];
    size_t length = strcspn(last, "="), used = 0;
    char list[100] = "";
    unsigned takers = 0;
    for (size_t i = 0; i < RULES; i++)
        if (length > 2 && strncmp(last, "--", 2) == 0 && strlen(rules[i].name) == length - 2 &&
            strncmp(last + 2, rules[i].name, length - 2) == 0)
            takers |= rules[i].subcommands;
    if (takers == 0 || takers & subcommand)
        return GO_ON;
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++)
        if (takers >> i & 1)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", names[i]);
    return fail(EX_USAGE, "%.*s: is not for %s, but for %s%s", (int)length, last,
                subcommand == FOR_RANKS ? "tuplescan-mpi" : argv[0], subcommand == FOR_RANKS ? "tuplescan " : "", list);
}

static int refuse_option(char **argv, int result, unsigned subcommand, const struct option *options) {
    int code = optopt == 0 ? refuse_option_of_others(argv, subcommand) : GO_ON;
    return code == GO_ON ? bad_option(argv, result, options) : code;
}

struct argument_input arguments_input(const struct arguments *arguments, unsigned number) {
    static const char *const names[] = {"--carry-in", "--edges", "--weights", "--values"};
    const char *const paths[] = {arguments->carry_in, arguments->edges, arguments->weights, arguments->values};
    enum { OPTIONS = sizeof paths / sizeof paths[0] };
    if (number < OPTIONS)
        return (struct argument_input){names[number], paths[number], true};
    number -= OPTIONS;
    const char *name = number == 0 ? "the input" : number == 1 ? "the second file" : "another input";
    if (number < arguments->input_count)
        return (struct argument_input){name, arguments->inputs[number], true};
    return (struct argument_input){.is_one = false};
}

/* Standard input can be read once. */
static int check_standard_input(const struct arguments *arguments, unsigned subcommand) {
    const char *taken_by = NULL;
    if (subcommand == FOR_SUM && arguments->carry_out && strcmp(arguments->carry_out, "-") == 0)
        taken_by = "--carry-out"; /* which the others write */
    struct argument_input input = arguments_input(arguments, 0);
    for (unsigned i = 0; input.is_one; input = arguments_input(arguments, ++i)) {
        if (!input.path || strcmp(input.path, "-") != 0)
            continue;
        if (taken_by)
            return fail(EX_USAGE, "%s and %s both want standard input", input.name, taken_by);
        taken_by = input.name;
    }
    return GO_ON;
}

/* Options of which one says what the other takes back. */
static int check_pairs(const struct arguments *arguments) {
    if (arguments->offsets && arguments->exclusive)
        return fail(EX_USAGE, "--offsets and --exclusive: only one of them");
    return GO_ON;
}

/* Of --threads 0, too, the cgroups leave no more. */
static int limit_threads(struct arguments *arguments, unsigned subcommand) {
    if (arguments->threads_asked > 0 || !(subcommand & HAS_THREADS)) {
        arguments->threads = arguments->threads_asked;
        return GO_ON;
    }
    return threads_there(&arguments->threads, !arguments->has_threads);
}

static int take_operands(struct arguments *arguments, int argc, char **argv, int operands) {
    const int found = argc - optind, least = operands == ANY_OPERANDS ? 1 : operands;
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
    for (int i = 0; i < found && i < 2; i++)
        arguments->operands[i] = argv[optind + i];
    return GO_ON;
}

int arguments_parse(struct arguments *arguments, int argc, char **argv, unsigned subcommand, int operands,
                    const char *help) {
    struct option options[RULES + 1] = {{0}};
    char letters[2 * RULES + 3] = ":";
    size_t used = 0, length = 1;
    for (size_t i = 0; i < RULES; i++) {
        taker *const take = rules[i].take;
        const bool is_ignored = take == ignore_flag || take == ignore_value;
        if (!(rules[i].subcommands & subcommand) || (is_ignored && is_completion(argc, argv)))
            continue;
        const bool takes_value = take && take != take_flag && take != ignore_flag;
        const int code = rules[i].letter ? rules[i].letter : CODES + (int)i;
        options[used++] = (struct option){rules[i].name, takes_value, NULL, code};
        if (rules[i].letter) {
            letters[length++] = (char)code;
            if (takes_value)
                letters[length++] = ':';
        }
    }

    if (is_completion(argc, argv))
        return complete_options(argc, argv, options, help);
    *arguments = (struct arguments){0};
    optind = 0;
    opterr = 0;
    for (int code; (code = getopt_long(argc, argv, letters, options, NULL)) != -1;) {
        if (code == 'h') {
            fputs(help, stdout);
            return EX_OK;
        }
        int result = code == '?' || code == ':' ? refuse_option(argv, code, subcommand, options)
                                                : take_option(arguments, code, optarg);
        if (result != GO_ON)
            return result;
    }
    int code = take_operands(arguments, argc, argv, operands);
    if (code == GO_ON)
        code = check_pairs(arguments);
    if (code == GO_ON)
        code = limit_threads(arguments, subcommand);
    return code == GO_ON ? check_standard_input(arguments, subcommand) : code;
}
