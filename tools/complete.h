/* Completion of command lines in a shell: `tuplescan --complete WORD...` prints what the last word, which may be empty
 * or begun, can become: a line each, with a tab and a few words about it behind. No line at all means a file. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include <getopt.h>
#include <stdbool.h>

/* Whether a subcommand was given --complete WORD... instead of a command line of its own. */
bool is_completion(int argc, char **argv);

/* Prints `name`, and what is said about it, if it begins as `begun` does. */
void complete_word(const char *begun, const char *name, const char *about);

/* Completes the last of the words behind --complete: an option, of those that end with a null name, or the value of
 * one. What an option is for is read from `help`. Returns EX_OK. */
int complete_options(int argc, char **argv, const struct option *options, const char *help);

#endif
