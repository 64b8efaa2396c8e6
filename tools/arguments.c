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
#include "values.h"
#include "words.h"

enum code {
    EXCLUSIVE = 256,
    TYPE,
    COLUMNS,
    SKIP,
    OUT_TYPE,
    INPUT_FORMAT,
    OUTPUT_FORMAT,
    BACKEND,
    DEVICES,
    STRATEGY,
    THREADS,
    CARRY_IN,
    CARRY_OUT,
    CONTINUE,
    TO,
    AT,
    REVERSE,
    OFFSETS,
    SKIP_NAN,
    CHECK_OVERFLOW,
    WRAP,
    JSON,
    MEMORY,
    NO_PROGRESS,
    ROWS,
    ROW_RANGE,
    SEED,
    FIELD,
    MEMBER,
    DELIMITER,
    MAX,
    BITS,
    FIRST_BIT,
    CHUNK,
    RANKS,
    BINS,
    RANGE,
    FIRST,
    EDGES,
    WEIGHTS,
    PLOT,
    VALUES,
    VALUES_OUT,
    VALUE_BYTES,
    DESCENDING,
    BY,
    ARGSORT
};

enum {
    ON_KEYS = FOR_COUNT | FOR_HIST | FOR_SORT, /* whatever shape they have */
    HAS_COLUMNS = FOR_SCAN | FOR_APPEND | FOR_VERIFY | FOR_SUM | FOR_INFO | FOR_RANKS,
    READS_TABLE = HAS_COLUMNS | ON_KEYS,
    WRITES_TABLE = FOR_SCAN | FOR_GEN | ON_KEYS | FOR_RANKS
};

static const struct rule {
    const char *name;
    int takes_value;
    int code; /* one of the above, or the letter of its short form */
    unsigned subcommands;
} rules[] = {
    {"help", no_argument, 'h', ~0u},
    {"output", required_argument, 'o', WRITES_TABLE},
    {"force", no_argument, 'f', WRITES_TABLE},
    {"quiet", no_argument, 'q', FOR_SCAN | FOR_APPEND | FOR_VERIFY | ON_KEYS | FOR_RANKS},
    {"memory", required_argument, MEMORY, READS_TABLE & ~FOR_RANKS},
    {"no-progress", no_argument, NO_PROGRESS, FOR_SCAN | FOR_APPEND},
    {"json", no_argument, JSON, (READS_TABLE & ~FOR_RANKS) | FOR_DEVICES},
    {"type", required_argument, TYPE, READS_TABLE | FOR_GEN},
    {"columns", required_argument, COLUMNS, HAS_COLUMNS | FOR_GEN | FOR_SORT},
    {"skip", required_argument, SKIP, READS_TABLE},
    {"field", required_argument, FIELD, READS_TABLE & ~FOR_SORT & ~FOR_RANKS},
    {"member", required_argument, MEMBER, READS_TABLE & ~FOR_RANKS},
    {"tensor", required_argument, MEMBER, READS_TABLE & ~FOR_RANKS},
    {"input-format", required_argument, INPUT_FORMAT, READS_TABLE},
    {"delimiter", required_argument, DELIMITER, READS_TABLE & ~FOR_RANKS},
    {"output-format", required_argument, OUTPUT_FORMAT, WRITES_TABLE | FOR_VERIFY},
    {"out-type", required_argument, OUT_TYPE, FOR_SCAN | FOR_APPEND | FOR_VERIFY | FOR_INFO | FOR_COUNT | FOR_RANKS},
    {"exclusive", no_argument, EXCLUSIVE, FOR_SCAN | FOR_APPEND | FOR_VERIFY | FOR_SUM | FOR_RANKS},
    {"reverse", no_argument, REVERSE, FOR_SCAN | FOR_VERIFY | FOR_RANKS},
    {"offsets", no_argument, OFFSETS, FOR_SCAN | FOR_VERIFY | FOR_RANKS},
    {"skip-nan", no_argument, SKIP_NAN, FOR_SCAN | FOR_VERIFY | FOR_RANKS},
    {"carry-in", required_argument, CARRY_IN, FOR_SCAN | FOR_VERIFY | FOR_SUM | FOR_RANKS},
    {"carry-out", required_argument, CARRY_OUT, FOR_SCAN | FOR_SUM},
    {"to", required_argument, TO, FOR_APPEND},
    {"continue", required_argument, CONTINUE, FOR_SCAN | FOR_VERIFY | FOR_SUM},
    {"at", required_argument, AT, FOR_SCAN | FOR_APPEND},
    {"backend", required_argument, BACKEND, FOR_SCAN | FOR_APPEND | ON_KEYS | FOR_RANKS},
    {"devices", required_argument, DEVICES, FOR_SCAN},
    {"strategy", required_argument, STRATEGY, FOR_SCAN | FOR_APPEND | FOR_RANKS},
    {"threads", required_argument, THREADS, FOR_SCAN | FOR_APPEND | ON_KEYS | FOR_RANKS},
    {"check-overflow", no_argument, CHECK_OVERFLOW, FOR_SCAN | FOR_RANKS},
    {"wrap", no_argument, WRAP, FOR_SCAN | FOR_APPEND | FOR_RANKS},
    {"rows", required_argument, ROWS, FOR_GEN},
    {"rows", required_argument, ROW_RANGE, FOR_SUM},
    {"seed", required_argument, SEED, FOR_GEN},
    {"max", required_argument, MAX, FOR_GEN},
    {"bits", required_argument, BITS, FOR_COUNT | FOR_SORT},
    {"first-bit", required_argument, FIRST_BIT, FOR_COUNT | FOR_SORT},
    {"chunk", required_argument, CHUNK, FOR_COUNT | FOR_HIST},
    {"ranks", no_argument, RANKS, FOR_COUNT},
    {"bins", required_argument, BINS, FOR_HIST},
    {"range", required_argument, RANGE, FOR_HIST},
    {"first", required_argument, FIRST, FOR_HIST},
    {"edges", required_argument, EDGES, FOR_HIST},
    {"weights", required_argument, WEIGHTS, FOR_HIST},
    {"plot", no_argument, PLOT, FOR_HIST},
    {"values", required_argument, VALUES, FOR_SORT},
    {"values-out", required_argument, VALUES_OUT, FOR_SORT},
    {"value-bytes", required_argument, VALUE_BYTES, FOR_SORT},
    {"descending", no_argument, DESCENDING, FOR_COUNT | FOR_SORT},
    {"by", required_argument, BY, FOR_SORT},
    {"argsort", no_argument, ARGSORT, FOR_SORT},
};
enum { RULES = sizeof rules / sizeof rules[0] };

static int take_size(const char *option, const char *text, size_t least, size_t *size) {
    uint64_t number;
    if (!parse_number(text, SIZE_MAX, &number) || number < least)
        return fail(EX_USAGE, "--%s %s: not a number from %zu on, such as 1000, 64K, 2^20 or 1e6", option, text, least);
    *size = (size_t)number;
    return GO_ON;
}

static int take_number(const char *option, const char *text, uint64_t most, uint64_t *number) {
    if (!parse_number(text, most, number))
        return fail(EX_USAGE, "--%s %s: not a number from 0 to %llu", option, text, (unsigned long long)most);
    return GO_ON;
}

static int take_threads(const char *text, unsigned *threads) {
    uint64_t number = 0;
    int code = take_number("threads", text, UINT_MAX, &number);
    *threads = (unsigned)number;
    return code;
}

static int take_type(const char *option, const char *text, table_type *type) {
    *type = type_of_name(text);
    if (*type == 0 && *text == '>')
        return fail(EX_USAGE, "--%s %s: not a type; big-endian values are neither read nor written", option, text);
    if (*type == 0)
        return fail(EX_USAGE,
                    "--%s %s: not a type; there are i8 to i64, u8 to u64, f16, bf16, f32, f64 and bool, also as NumPy "
                    "writes them "
                    "(uint8, <f4)",
                    option, text);
    return GO_ON;
}

static int take_format(const char *option, const char *text, const char **format) {
    if (word_place(format_words, text) < 0)
        return fail(EX_USAGE, "--%s %s: not a format; there are npy, raw, csv, tsv and text", option, text);
    *format = text;
    return GO_ON;
}

static int take_backend(const char *text, table_backend *backend) {
    int place = word_place(backend_words, text);
    if (place < 0)
        return fail(EX_USAGE, "--backend %s: not a backend; there are auto, cpu and cuda", text);
    *backend = (table_backend)place;
    return GO_ON;
}

static int take_strategy(const char *text, table_strategy *strategy) {
    int place = word_place(strategy_words, text);
    if (place < 0)
        return fail(EX_USAGE, "--strategy %s: not a strategy; there are auto, host, recursive and fused", text);
    *strategy = (table_strategy)place;
    return GO_ON;
}

/* A:B, A: or :B. */
static int take_row_range(const char *text, size_t *from, size_t *to) {
    const char *colon = strchr(text, ':');
    char left[24];
    uint64_t a = 0, b = SIZE_MAX;
    if (!colon || colon - text >= (ptrdiff_t)sizeof left)
        return fail(EX_USAGE, "--rows %s: not A:B", text);
    memcpy(left, text, (size_t)(colon - text));
    left[colon - text] = '\0';
    if ((*left && !parse_number(left, SIZE_MAX, &a)) || (colon[1] && !parse_number(colon + 1, SIZE_MAX, &b)))
        return fail(EX_USAGE, "--rows %s: not A:B with two numbers of rows", text);
    if (a > b)
        return fail(EX_USAGE, "--rows %s: A is greater than B", text);
    *from = (size_t)a;
    *to = (size_t)b;
    return GO_ON;
}

static int take_bits(const char *option, const char *text, unsigned *bits) {
    uint64_t number = 0;
    const int code = take_number(option, text, UINT_MAX, &number);
    *bits = (unsigned)number;
    return code;
}

/* A:B, two numbers of any kind; what they may be is for the library to say. */
static int take_range(const char *text, double *low, double *high) {
    char *end = NULL, *last = NULL;
    *low = strtod(text, &end);
    if (end == text || *end != ':')
        return fail(EX_USAGE, "--range %s: not A:B", text);
    *high = strtod(end + 1, &last);
    if (last == end + 1 || *last)
        return fail(EX_USAGE, "--range %s: not A:B with two numbers", text);
    if (is_rounded_integer(text, *low) || is_rounded_integer(end + 1, *high))
        return fail(EX_USAGE, "--range %s: the ends of a range are doubles, of which the nearest are %.0f and %.0f",
                    text, *low, *high);
    return GO_ON;
}

static int take_integer(const char *option, const char *text, int64_t *number) {
    if (!parse_integer(text, number))
        return fail(EX_USAGE, "--%s %s: not an integer from -2^63 to 2^63 - 1", option, text);
    return GO_ON;
}

static int take_by(struct arguments *arguments, const char *text) {
    if (arguments->by_count == BY_MOST)
        return fail(EX_USAGE, "--by %s: is one more than the %d that are possible", text, BY_MOST);
    arguments->by[arguments->by_count++] = text;
    return GO_ON;
}

static int take_delimiter(const char *text, char *delimiter) {
    *delimiter = strcmp(text, "\\t") == 0 ? '\t' : text[0];
    if ((text[1] == '\0' || *delimiter == '\t') && *delimiter && !strchr("0123456789+-.eEinfa\"\r\n ", *delimiter))
        return GO_ON;
    return fail(EX_USAGE, "--delimiter '%s': not one character that is in no number, such as ';' or \\t", text);
}

/* Names with commas between them, which are cut out of the word. */
static int take_fields(struct arguments *arguments, char *names) {
    for (char *name = names, *rest; name; name = rest) {
        rest = strchr(name, ',');
        if (rest)
            *rest++ = '\0';
        if (*name == '\0')
            return fail(EX_USAGE, "--field: an empty name; there are names with commas between them");
        if (arguments->field_count == BY_MOST)
            return fail(EX_USAGE, "--field %s: is one more than the %d that are possible", name, BY_MOST);
        arguments->fields[arguments->field_count++] = name;
    }
    return GO_ON;
}

/* The options of count, hist and sort. */
static int take_key_option(struct arguments *arguments, int code, const char *value) {
    switch (code) {
    case BITS:
        arguments->has_bits = true;
        return take_bits("bits", value, &arguments->bits);
    case FIRST_BIT:
        return take_bits("first-bit", value, &arguments->first_bit);
    case CHUNK:
        return take_size("chunk", value, 1, &arguments->chunk);
    case BINS:
        return take_size("bins", value, 1, &arguments->bins);
    case RANGE:
        arguments->has_range = true;
        return take_range(value, &arguments->low, &arguments->high);
    case FIRST:
        arguments->has_first = true;
        return take_integer("first", value, &arguments->first);
    case VALUE_BYTES:
        return take_size("value-bytes", value, 1, &arguments->value_bytes);
    case EDGES:
        arguments->edges = value;
        return GO_ON;
    case WEIGHTS:
        arguments->weights = value;
        return GO_ON;
    case VALUES:
        arguments->values = value;
        return GO_ON;
    case VALUES_OUT:
        arguments->values_out = value;
        return GO_ON;
    default: /* BY */
        return take_by(arguments, value);
    }
}

/* Where an option that takes no value is noted; NULL for one that takes a value. */
static bool *flag_of(struct arguments *arguments, int code) {
    switch (code) {
    case 'f':
        return &arguments->force;
    case 'q':
        return &arguments->quiet;
    case JSON:
        return &arguments->json;
    case NO_PROGRESS:
        return &arguments->no_progress;
    case EXCLUSIVE:
        return &arguments->exclusive;
    case REVERSE:
        return &arguments->reverse;
    case OFFSETS:
        return &arguments->offsets;
    case SKIP_NAN:
        return &arguments->skip_nan;
    case CHECK_OVERFLOW:
        return &arguments->check_overflow;
    case WRAP:
        return &arguments->wrap;
    case RANKS:
        return &arguments->ranks;
    case PLOT:
        return &arguments->plot;
    case DESCENDING:
        return &arguments->descending;
    case ARGSORT:
        return &arguments->argsort;
    default:
        return NULL;
    }
}

static int take_option(struct arguments *arguments, int code, char *value) {
    bool *const flag = flag_of(arguments, code);
    if (flag) {
        *flag = true;
        return GO_ON;
    }
    if (code > MAX)
        return take_key_option(arguments, code, value);
    switch (code) {
    case 'o':
        arguments->output = value;
        return GO_ON;
    case CARRY_IN:
        arguments->carry_in = value;
        return GO_ON;
    case CARRY_OUT:
        arguments->carry_out = value;
        return GO_ON;
    case TO:
        arguments->to = value;
        return GO_ON;
    case CONTINUE:
        arguments->state = value;
        return GO_ON;
    case AT:
        arguments->has_at = true;
        return take_number("at", value, UINT64_MAX, &arguments->at);
    case TYPE:
        return take_type("type", value, &arguments->type);
    case OUT_TYPE:
        return take_type("out-type", value, &arguments->out_type);
    case INPUT_FORMAT:
        return take_format("input-format", value, &arguments->input_format);
    case OUTPUT_FORMAT:
        return take_format("output-format", value, &arguments->output_format);
    case COLUMNS:
        return take_size("columns", value, 1, &arguments->columns);
    case MEMORY:
        return take_size("memory", value, 1, &arguments->memory);
    case SKIP:
        return take_size("skip", value, 0, &arguments->skip);
    case BACKEND:
        return take_backend(value, &arguments->backend);
    case DEVICES:
        code = device_list_read(value, arguments->devices, &arguments->device_count);
        return code == EX_OK ? GO_ON : code;
    case STRATEGY:
        return take_strategy(value, &arguments->strategy);
    case THREADS:
        return take_threads(value, &arguments->threads);
    case ROWS:
        arguments->has_rows = true;
        return take_size("rows", value, 0, &arguments->rows);
    case ROW_RANGE:
        arguments->has_rows = true;
        return take_row_range(value, &arguments->rows_from, &arguments->rows_to);
    case DELIMITER:
        return take_delimiter(value, &arguments->delimiter);
    case MEMBER:
        arguments->member = value;
        return GO_ON;
    case FIELD:
        return take_fields(arguments, value);
    case SEED:
        return take_number("seed", value, UINT64_MAX, &arguments->seed);
    default: /* MAX */
        arguments->has_max = true;
        return take_number("max", value, UINT64_MAX, &arguments->max);
    }
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

/* Standard input can be read once. */
static int check_standard_input(const struct arguments *arguments, unsigned subcommand) {
    const struct {
        const char *name, *path;
    } inputs[] = {{"the input", arguments->operands[0]},
                  {"the second file", arguments->operands[1]},
                  {"--carry-in", arguments->carry_in},
                  {"--carry-out", subcommand == FOR_SUM ? arguments->carry_out : NULL}, /* written by the others */
                  {"--edges", arguments->edges},
                  {"--weights", arguments->weights},
                  {"--values", arguments->values}};
    const char *taken_by = NULL;
    for (unsigned i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
        if (!inputs[i].path || strcmp(inputs[i].path, "-") != 0)
            continue;
        if (taken_by)
            return fail(EX_USAGE, "%s and %s both want standard input", taken_by, inputs[i].name);
        taken_by = inputs[i].name;
    }
    for (unsigned i = 2; i < arguments->input_count; i++) {
        if (strcmp(arguments->inputs[i], "-") != 0)
            continue;
        if (taken_by)
            return fail(EX_USAGE, "%s and another input both want standard input", taken_by);
        taken_by = "an input";
    }
    return GO_ON;
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
        if (!(rules[i].subcommands & subcommand))
            continue;
        options[used++] = (struct option){rules[i].name, rules[i].takes_value, NULL, rules[i].code};
        if (rules[i].code < 256) {
            letters[length++] = (char)rules[i].code;
            if (rules[i].takes_value)
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
    const int code = take_operands(arguments, argc, argv, operands);
    return code == GO_ON ? check_standard_input(arguments, subcommand) : code;
}
