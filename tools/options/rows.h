/* Options that several commands have, and how a table is written. */
#ifndef OPTIONS_ROWS_H
#define OPTIONS_ROWS_H

#include "arguments.h"

#define COMMON(MEMBER) offsetof(struct arguments, MEMBER)
#define TEXT(WORDS)                                                                                                    \
    { NULL, 0, NULL, NULL, 0, 0, WORDS }
#define FLAG(NAME, PLACE, HELP)                                                                                        \
    { NAME, 0, NULL, take_flag, PLACE, 0, HELP }
#define VALUE(NAME, ARGUMENT, TAKER, PLACE, HELP)                                                                      \
    { NAME, 0, ARGUMENT, TAKER, PLACE, 0, HELP }
#define NOTED(NAME, ARGUMENT, TAKER, PLACE, HAS, HELP)                                                                 \
    { NAME, 0, ARGUMENT, TAKER, PLACE, HAS, HELP }
#define TABLE(NAME, OPERANDS, COLUMN, ROWS, APART)                                                                     \
    _Static_assert(sizeof(ROWS) / sizeof(ROWS)[0] <= OPTIONS_MOST, "more rows than are noted when they are given");    \
    const struct option_table options_of_##NAME = {#NAME, OPERANDS, COLUMN, sizeof(ROWS) / sizeof(ROWS)[0], ROWS, APART}

#define OPTION_OUTPUT(HELP)                                                                                            \
    { "output", 'o', "FILE", take_text, COMMON(output), 0, HELP }
#define OPTION_FORCE(HELP)                                                                                             \
    { "force", 'f', NULL, take_flag, COMMON(force), 0, HELP }
#define OPTION_QUIET(HELP)                                                                                             \
    { "quiet", 'q', NULL, take_flag, COMMON(quiet), 0, HELP }
#define OPTION_JSON(HELP)          FLAG("json", COMMON(json), HELP)
#define OPTION_NO_PROGRESS(HELP)   FLAG("no-progress", COMMON(no_progress), HELP)
#define OPTION_MEMORY(HELP)        VALUE("memory", "BYTES", take_size, COMMON(memory), HELP)
#define OPTION_TYPE(HELP)          VALUE("type", "T", take_type, COMMON(type), HELP)
#define OPTION_OUT_TYPE(HELP)      VALUE("out-type", "T", take_type, COMMON(out_type), HELP)
#define OPTION_COLUMNS(HELP)       VALUE("columns", "C", take_size, COMMON(columns), HELP)
#define OPTION_SKIP(HELP)          VALUE("skip", "BYTES", take_size_or_0, COMMON(skip), HELP)
#define OPTION_INPUT_FORMAT(HELP)  VALUE("input-format", "F", take_format, COMMON(input_format), HELP)
#define OPTION_OUTPUT_FORMAT(HELP) VALUE("output-format", "F", take_format, COMMON(output_format), HELP)
#define OPTION_FIELD(HELP)         VALUE("field", "NAME,...", take_words, COMMON(fields), HELP)
#define OPTION_KEEP(HELP)          VALUE("keep", "NAME,...", take_words, COMMON(kept), HELP)
#define OPTION_DELIMITER(HELP)     VALUE("delimiter", "C", take_delimiter, COMMON(delimiter), HELP)
#define OPTION_BACKEND(HELP)       VALUE("backend", "B", take_backend, COMMON(backend), HELP)
#define OPTION_MEMBER(HELP)                                                                                            \
    VALUE("member", "NAME", take_text, COMMON(member), NULL), VALUE("tensor", "NAME", take_text, COMMON(member), HELP)

/* Options that describe a raw table, and its format. */
#define OPTIONS_OF_RAW OPTION_TYPE(NULL), OPTION_COLUMNS(NULL), OPTION_SKIP(NULL), OPTION_INPUT_FORMAT(NULL)

#define OPTION_THREADS(HELP) NOTED("threads", "N", take_unsigned, COMMON(threads_asked), COMMON(has_threads), HELP)

/* Options that were taken and did nothing: --strategy outside of bench, and --check-overflow. */
#define IGNORED(NAME, ARGUMENT) VALUE(NAME, ARGUMENT, ignore_option, 0, "")

#define AFTER_A_SECOND "do not show on a terminal how far it is, after a second"
#define NEEDS_MEMORY                                                                                                   \
    "use at most so much for what cannot be done piece by piece. Default: 3/4 of what the process may use. What "      \
    "needs more is refused before it begins, with how much it needs"

/* What the commands on keys have in common. */
#define KEYS_RUN                                                                                                       \
    OPTION_BACKEND("auto, cpu or cuda; auto is cpu, as the keys are in host memory"),                                  \
        OPTION_THREADS("CPU threads at most, as for scan")
#define KEYS_OF_RAW(WHAT)                                                                                              \
    OPTION_SKIP(NULL), OPTION_INPUT_FORMAT(NULL),                                                                      \
        OPTION_OUTPUT_FORMAT("describe " WHAT "u8 u16 u32 u64 i32 i64 f32 f64, as for scan")
#define KEYS_MEMBER                                                                                                    \
    OPTION_MEMBER("which table of a .npz or a safetensors file, as for scan"), OPTION_DELIMITER("of csv, as for scan")
#define KEYS_END(JSON, QUIET)                                                                                          \
    OPTION_MEMORY(NEEDS_MEMORY), OPTION_JSON(JSON), OPTION_NO_PROGRESS(AFTER_A_SECOND), OPTION_QUIET(QUIET)

#endif
