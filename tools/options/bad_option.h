/* What is wrong with an option that getopt_long() did not take. */
#ifndef BAD_OPTION_H
#define BAD_OPTION_H

#include <getopt.h>

/* Says in one line what getopt_long(), which returned `result` ('?' or ':'), objects to, and what may have been meant
 * instead; returns the exit code. argv[0] is the subcommand. */
int bad_option(char **argv, int result, const struct option *options);

/* The first argument that begins with one - and looks like the name of a file, of those that were taken for options; or
 * NULL. */
const char *file_among_options(char **argv);

#endif
