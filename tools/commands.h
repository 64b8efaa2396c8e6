/* The subcommands. Each gets its own name as argv[0], its help with --help, and returns the exit code. */
#ifndef COMMANDS_H
#define COMMANDS_H

int scan_main(int argc, char **argv);
int append_main(int argc, char **argv);
int verify_main(int argc, char **argv);
int sum_main(int argc, char **argv);
int info_main(int argc, char **argv);
int gen_main(int argc, char **argv);
int count_main(int argc, char **argv);
int hist_main(int argc, char **argv);
int sort_main(int argc, char **argv);
int devices_main(int argc, char **argv);
int bench_main(int argc, char **argv);

#endif
