/* A command's options: one table, from which come parsing, --help, the manual page and completion. */
#ifndef OPTIONS_OPTION_H
#define OPTIONS_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Puts the value of --`option` where it belongs. */
typedef void option_taker(const char *option, char *text, void *place);

struct option_row {
    const char *name;     /* NULL: the row is text that stands between options in the help */
    int letter;           /* the short form, or 0 */
    const char *argument; /* in the help; NULL: the option takes none */
    option_taker *take;
    size_t place, has; /* offsets in the command's arguments: of the value, and of a bool that says that it is there */
    const char *help;  /* NULL: the help of the next row is also for this one; a text may have line feeds */
};

enum { OPTIONS_MOST = 64, OPTIONS_APART = 8 };

typedef const char *const option_names[OPTIONS_APART];

struct option_table {
    const char *command;
    int operands;    /* file names, or ANY_OPERANDS, at least one */
    unsigned column; /* where the help says what an option does */
    unsigned count;  /* of rows */
    const struct option_row *rows;
    option_names *apart; /* options that do not go together: the first of a row with any other; NULL names end it */
};

enum { ANY_OPERANDS = -1 };

/* The tables of all commands but bench, to say which command takes an option that this one does not; NULL ends them. */
extern const struct option_table *const option_tables[];

/* Parses the options and operands of the command argv[0] into `arguments`, which begin with a struct arguments. After
 * --help and --complete the command ends. */
void options_parse(const struct option_table *table, void *arguments, int argc, char **argv);

/* Prints the help. */
void options_help(const struct option_table *table, FILE *to);

/* Whether a command was given --complete WORD... instead of a command line of its own: what the last word, which may be
 * empty or begun, can become, is printed, a line each, with a tab and a few words about it. No line at all means a
 * file. */
bool is_completion(int argc, char **argv);

/* Prints `name`, and its description, if it begins as `begun` does. */
void complete_word(const char *begun, const char *name, const char *about);

/* Completes the last of the words after --complete: an option, or the value of one. */
void options_complete(const struct option_table *table, int argc, char **argv);

/* Of options that have no effect any more, in no help, and are errors from 0.2 on. */
option_taker ignore_option;

#endif
