#include "complete.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <tuplescan/table.h>

#include "message.h"
#include "words.h"

bool is_completion(int argc, char **argv) { return argc > 1 && strcmp(argv[1], "--complete") == 0; }

static void print_word(const char *begun, const char *name, const char *about, size_t length) {
    if (strncmp(name, begun, strlen(begun)) == 0)
        printf("%s%s%.*s\n", name, length > 0 ? "\t" : "", (int)length, about);
}

void complete_word(const char *begun, const char *name, const char *about) {
    print_word(begun, name, about, strlen(about));
}

/* The line of the help that begins with options, this one among them; NULL if there is none. */
static const char *line_about(const char *help, const char *option) {
    size_t length = strlen(option);
    for (const char *line = help; line; line = strchr(line, '\n')) {
        line += strspn(line, "\n");
        const char *head = line + strspn(line, " "), *end = strstr(head, "  "), *found = strstr(head, option);
        size_t head_length = strcspn(head, "\n");
        if (end && (size_t)(end - head) < head_length)
            head_length = (size_t)(end - head);
        for (; found && (size_t)(found - head) < head_length; found = strstr(found + 1, option))
            if (*head == '-' && !isalnum((unsigned char)found[length]) && found[length] != '-')
                return head + head_length;
    }
    return NULL;
}

/* Prints an option with the first words that the help has about it: up to the end of the line or of a clause. */
static void complete_option(const char *begun, const char *option, const char *help) {
    const char *about = line_about(help, option);
    size_t length = 0;
    if (about) {
        about += strspn(about, " \n");
        length = strcspn(about, "\n");
        for (size_t i = 0; i + 1 < length; i++)
            if (strchr(":;.", about[i]) && about[i + 1] == ' ')
                length = i;
    }
    print_word(begun, option, about ? about : "", length);
}

static const struct option *find_option(const struct option *options, const char *word) {
    for (; options->name; options++)
        if ((strncmp(word, "--", 2) == 0 && strcmp(word + 2, options->name) == 0) ||
            (word[0] == '-' && word[1] != '\0' && word[1] == options->val && word[2] == '\0'))
            return options;
    return NULL;
}

/* What the value of an option can be, for those that have few. */
static void complete_value(const char *begun, const char *option) {
    static const struct {
        const char *option;
        const char *const *words;
    } lists[] = {{"backend", backend_words},
                 {"strategy", strategy_words},
                 {"input-format", format_words},
                 {"output-format", format_words}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const char *const *word = lists[i].words; *word && strcmp(option, lists[i].option) == 0; word++)
            complete_word(begun, *word, "");
    if (strcmp(option, "type") != 0 && strcmp(option, "out-type") != 0 && strcmp(option, "types") != 0 &&
        strcmp(option, "pairs") != 0)
        return;
    for (int type = 1; table_type_name((table_type)type); type++)
        complete_word(begun, table_type_name((table_type)type), "");
}

int complete_options(int argc, char **argv, const struct option *options, const char *help) {
    const char *begun = argc > 2 ? argv[argc - 1] : "", *before = argc > 3 ? argv[argc - 2] : "";
    if (strcmp(begun, "=") == 0) { /* bash makes three words of --option=value */
        begun = "";
    } else if (strcmp(before, "=") == 0 && argc > 4) {
        before = argv[argc - 3];
    }
    const struct option *option = find_option(options, before);
    if (option && option->has_arg == required_argument) {
        complete_value(begun, option->name);
        return EX_OK;
    }
    for (; *begun == '-' && options->name; options++) {
        char name[64];
        snprintf(name, sizeof name, "--%s", options->name);
        complete_option(begun, name, help);
    }
    return EX_OK;
}
