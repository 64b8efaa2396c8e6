#include "options/bad_option.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guess.h"
#include "message.h"

static bool is_long(const char *argument) { return strncmp(argument, "--", 2) == 0; }

static bool may_be_file(const char *argument) { return strpbrk(argument, "./") || access(argument, F_OK) == 0; }

const char *file_among_options(char **argv) {
    for (int i = 1; i < optind; i++)
        if (argv[i][0] == '-' && argv[i][1] != '-' && strlen(argv[i]) > 2 && may_be_file(argv[i]))
            return argv[i];
    return NULL;
}

/* How many options may be meant by the first `length` letters of `name`; `list` names them if they are several. */
static unsigned count_matches(const struct option *options, const char *name, size_t length, char *list, size_t room) {
    unsigned matches = 0;
    size_t used = 0;
    list[0] = '\0';
    for (; options->name; options++) {
        if (strncmp(options->name, name, length) != 0)
            continue;
        if (options->name[length] == '\0')
            return 1;
        int more = snprintf(list + used, room - used, "%s--%s", matches++ > 0 ? ", " : "", options->name);
        used += more > 0 && (size_t)more < room - used ? (size_t)more : 0;
    }
    return matches;
}

static int no_such_option(char **argv, const char *shown, const char *name, const struct option *options) {
    struct guess guess = guess_what(name, strcspn(name, "="));
    for (; options->name; options++)
        guess_consider(&guess, options->name);
    if (guess.best)
        return fail(EX_USAGE, "%s: no such option; did you mean --%s?", shown, guess.best);
    return fail(EX_USAGE, "%s: no such option; see tuplescan help %s", shown, argv[0]);
}

static int bad_long_option(char **argv, const char *argument, const struct option *options) {
    char list[400];
    const char *name = argument + 2;
    size_t length = strcspn(name, "=");
    unsigned matches = count_matches(options, name, length, list, sizeof list);
    if (matches == 1)
        return fail(EX_USAGE, "%.*s: takes no value", (int)length + 2, argument);
    if (matches > 1)
        return fail(EX_USAGE, "%.*s: ambiguous, as there are %s", (int)length + 2, argument, list);
    if (may_be_file(argument))
        return fail(EX_USAGE, "%s: no such option; if it is a file, write ./%s", argument, argument);
    return no_such_option(argv, argument, name, options);
}

/* `argument` is the one with the letter in it: -x, or one of several letters. */
static int bad_letter(char **argv, const char *argument, const struct option *options) {
    const char shown[] = {'-', (char)optopt, '\0'};
    if (strlen(argument) == 2)
        return fail(EX_USAGE, "%s: no such option; see tuplescan help %s", shown, argv[0]);
    if (may_be_file(argument))
        return fail(EX_USAGE, "%s: no such option; if %s is a file, write ./%s", shown, argument, argument);
    return no_such_option(argv, shown, argument + 1, options);
}

/* getopt_long() goes on to the next argument when it has come to the last letter of one. */
static const char *argument_of_letter(char **argv) {
    const char *last = argv[optind - 1];
    size_t length = strlen(last);
    bool done = length > 1 && last[0] == '-' && last[1] != '-' && last[length - 1] == optopt;
    return done || !argv[optind] ? last : argv[optind];
}

static bool is_code(int code, const struct option *options) {
    for (; options->name; options++)
        if (options->val == code)
            return true;
    return false;
}

/* optopt is the code of an option that takes no value, 0 for a name, or a letter that is no option's. */
int bad_option(char **argv, int result, const struct option *options) {
    const char *last = argv[optind - 1];
    if (result == ':' && !is_long(last))
        return fail(EX_USAGE, "-%c: needs a value", optopt);
    if (result == ':')
        return fail(EX_USAGE, "%s: needs a value", last);
    if (optopt != 0 && !is_code(optopt, options))
        return bad_letter(argv, argument_of_letter(argv), options);
    return bad_long_option(argv, last, options);
}
