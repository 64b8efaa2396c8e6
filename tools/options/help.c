/* What a table of options says of itself: the help, and completion in a shell. */
#include <stdio.h>
#include <string.h>

#include <tuplescan/table.h>

#include "options/option.h"
#include "words.h"

enum { WIDTH = 112, HEADS = 480 };

/* Prints a line of words from the place `at` on, and goes on at `column` where it would be too long. */
static void print_words(FILE *to, const char *line, size_t length, size_t at, size_t column) {
    const char *const begin = line, *const end = line + length;
    while (line < end) {
        const size_t word = strcspn(line, " \n");
        if (line > begin && at + 1 + word > WIDTH) {
            fprintf(to, "\n%*s", (int)column, "");
            at = column;
        } else if (line > begin) {
            fputc(' ', to);
            at++;
        }
        fprintf(to, "%.*s", (int)word, line);
        at += word;
        line += word + (line + word < end);
    }
}

/* Lines that begin with a blank, such as examples, stay as they are. */
static void print_text(FILE *to, const char *text, size_t at, size_t column) {
    for (;;) {
        const size_t length = strcspn(text, "\n");
        if (*text == ' ')
            fprintf(to, "%.*s", (int)length, text);
        else
            print_words(to, text, length, at, column);
        fputc('\n', to);
        if (text[length] == '\0')
            return;
        text += length + 1;
        fprintf(to, "%*s", (int)column, "");
        at = column;
    }
}

static void add_head(const struct option_row *row, char heads[HEADS]) {
    const size_t used = strlen(heads), line = used - (size_t)(strrchr(heads, '\n') ? strrchr(heads, '\n') - heads : 0);
    char head[80], letter[8] = "";
    if (row->letter)
        snprintf(letter, sizeof letter, "-%c, ", row->letter);
    snprintf(head, sizeof head, "%s--%s%s%s", letter, row->name, row->argument ? " " : "",
             row->argument ? row->argument : "");
    const char *between = used == 0 ? "" : line + strlen(head) > WIDTH - 2 ? ",\n  " : ", ";
    snprintf(heads + used, HEADS - used, "%s%s", between, head);
}

/* What an option does stands at `column`: in the line of its heads, or, where these are longer, in the next one. */
static void print_option(FILE *to, const char *heads, const char *help, size_t column) {
    const size_t used = 2 + strlen(heads);
    const bool fits = used + 2 <= column;
    fprintf(to, "  %s", heads);
    if (*help == '\0') {
        fputc('\n', to);
        return;
    }
    fprintf(to, "%s%*s", fits ? "" : "\n", (int)(fits ? column - used : column), "");
    print_text(to, help, column, column);
}

void options_help(const struct option_table *table, FILE *to) {
    char heads[HEADS] = "";
    for (unsigned i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        if (row->take == ignore_option)
            continue;
        if (row->name)
            add_head(row, heads);
        if (row->name && !row->help)
            continue;
        if (row->name)
            print_option(to, heads, row->help, table->column);
        else
            print_text(to, row->help, 0, 0);
        heads[0] = '\0';
    }
}

bool is_completion(int argc, char **argv) { return argc > 1 && strcmp(argv[1], "--complete") == 0; }

static void print_word(const char *begun, const char *name, const char *about, size_t length) {
    if (strncmp(name, begun, strlen(begun)) == 0)
        printf("%s%s%.*s\n", name, length > 0 ? "\t" : "", (int)length, about);
}

void complete_word(const char *begun, const char *name, const char *about) {
    print_word(begun, name, about, strlen(about));
}

/* What the help says of an option, up to the end of its first clause. */
static void complete_option(const struct option_row *row, const char *begun) {
    char option[64];
    snprintf(option, sizeof option, "--%s", row->name);
    while (!row->help)
        row++;
    size_t length = strcspn(row->help, "\n");
    for (size_t i = 0; i + 1 < length; i++)
        if (strchr(":;.", row->help[i]) && row->help[i + 1] == ' ')
            length = i;
    print_word(begun, option, row->help, length);
}

static const struct option_row *find_option(const struct option_table *table, const char *word) {
    for (unsigned i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        if (row->name && ((strncmp(word, "--", 2) == 0 && strcmp(word + 2, row->name) == 0) ||
                          (word[0] == '-' && word[1] != '\0' && word[1] == row->letter && word[2] == '\0')))
            return row;
    }
    return NULL;
}

/* What the value of an option can be, for those that have few. */
static void complete_value(const char *begun, const char *option) {
    static const struct {
        const char *option;
        const char *const *words;
    } lists[] = {{"backend", backend_words},
                 {"operation", operation_words},
                 {"strategy", strategy_words},
                 {"input-format", format_words},
                 {"output-format", format_words}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const char *const *word = lists[i].words; *word && strcmp(option, lists[i].option) == 0; word++)
            complete_word(begun, *word, "");
    if (strcmp(option, "type") != 0 && strcmp(option, "out-type") != 0 && strcmp(option, "types") != 0)
        return;
    for (int type = 1; table_type_name((table_type)type); type++)
        complete_word(begun, table_type_name((table_type)type), "");
}

void options_complete(const struct option_table *table, int argc, char **argv) {
    const char *begun = argc > 2 ? argv[argc - 1] : "", *before = argc > 3 ? argv[argc - 2] : "";
    if (strcmp(begun, "=") == 0) { /* bash makes three words of --option=value */
        begun = "";
    } else if (strcmp(before, "=") == 0 && argc > 4) {
        before = argv[argc - 3];
    }
    const struct option_row *option = find_option(table, before);
    if (option && option->argument && option->take != ignore_option) {
        complete_value(begun, option->name);
        return;
    }
    for (unsigned i = 0; *begun == '-' && i < table->count; i++)
        if (table->rows[i].name && table->rows[i].take != ignore_option)
            complete_option(&table->rows[i], begun);
    if (*begun == '-')
        complete_word(begun, "--help", "");
}
