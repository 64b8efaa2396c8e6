/* The command: picks the subcommand, and looks after what all of them need. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <tuplescan/status.h>

#include "commands.h"
#include "guess.h"
#include "job.h"
#include "message.h"
#include "options/option.h"
#include "signals.h"
#include "transfer.h"

#ifdef TUPLESCAN_WITHOUT_KEYS
#define OF_KEYS " (not in this build)"
#else
#define OF_KEYS
#endif

static const struct subcommand {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *summary;
} subcommands[] = {
    {"scan", scan_main, "write the column-wise running sums of a table file"},
    {"append", append_main, "write the running sums of more rows behind those of a file"},
    {"verify", verify_main, "check running sums against an independent serial calculation"},
    {"sum", sum_main, "column sums of a range of rows, by one subtraction in the running sums"},
    {"info", info_main, "what is in a table file"},
    {"gen", gen_main, "write a table of random values"},
    {"count", count_main, "count the digits of keys, or the bytes of a file, chunk by chunk" OF_KEYS},
    {"hist", hist_main, "histogram of the values of a file" OF_KEYS},
    {"sort", sort_main, "sort keys, and values with them" OF_KEYS},
    {"devices", devices_main, "what can be used on this machine"},
    {"bench", bench_main, "how fast it is here, beside memcpy"},
};
enum { SUBCOMMANDS = sizeof subcommands / sizeof subcommands[0] };

static void print_help(FILE *to) {
    fprintf(to, "tuplescan %s: column-wise running sums (prefix sums) of tables\n\nusage:\n", table_version());
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        fprintf(to, "  tuplescan %-8s ...  %s\n", subcommands[i].name, subcommands[i].summary);
    fputs("  tuplescan help SUBCOMMAND   its options, with examples\n"
          "  tuplescan --version, -V\n"
          "\n"
          "A table file is a .npy (an N-d array is a table of shape[0] rows), one array of a .npz, a tensor of a\n"
          "safetensors file, text (.csv, .tsv, .txt), or raw values, row by row, in the byte order of this machine,\n"
          "described by --type and --columns. \"-\" is standard input or output. Types are u8\n"
          "u16 u32 u64 i8 i16 i32 i64 bool f16 bf16 f32 f64, also as NumPy writes them (float32, <f4). Numbers of\n"
          "rows, columns and bytes may be written 64K, 1M, 2G (powers of 1024), 2^20 or 1e6.\n"
          "\n"
          "exit codes: 0 fine, 64 wrong usage, 65 bad data (or an overflow, or a difference that was found),\n"
          "66 no such input, 69 that backend is not there or a CUDA call failed, 70 a wrong result (bench), 71 out\n"
          "of memory, 73 cannot make the output, 74 cannot read or write, or an input changed meanwhile, 75 another\n"
          "command goes on from the same sums or state: try again later\n",
          to);
}

static const struct subcommand *find(const char *name) {
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        if (strcmp(name, subcommands[i].name) == 0)
            return &subcommands[i];
    return NULL;
}

static _Noreturn void no_such_subcommand(const char *name) {
    struct guess guess = guess_what(name, strlen(name));
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        guess_consider(&guess, subcommands[i].name);
    if (guess.best)
        die(EX_USAGE, "%s: no such subcommand; did you mean %s?", name, guess.best);
    die(EX_USAGE, "%s: no such subcommand; see tuplescan help", name);
}

/* For the scripts in completion/: the words after --complete are those after `tuplescan` in a command line. */
static int complete(int argc, char **argv) {
    const char *begun = argc > 2 ? argv[2] : "";
    const struct subcommand *subcommand = argc > 3 ? find(argv[2]) : NULL;
    if (subcommand) {
        char *words[] = {argv[2], argv[1]};
        memcpy(argv + 1, words, sizeof words);
        return subcommand->main(argc - 1, argv + 1);
    }
    if (argc == 4 && strcmp(argv[2], "help") == 0)
        begun = argv[3];
    else if (argc > 3)
        return EX_OK;
    for (size_t i = 0; i < SUBCOMMANDS; i++)
        complete_word(begun, subcommands[i].name, subcommands[i].summary);
    if (argc < 4) {
        complete_word(begun, "help", "the options of a subcommand");
        complete_word(begun, "--help", "the subcommands");
        complete_word(begun, "--version", "which version this is");
    }
    return EX_OK;
}

static int run(int argc, char **argv) {
    char help_option[] = "--help";
    bool wants_help = argc > 1 && strcmp(argv[1], "help") == 0;
    if (argc > 1 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
        printf("tuplescan %s\n", table_version());
        return EX_OK;
    }
    if (is_completion(argc, argv))
        return complete(argc, argv);
    if (argc < 2) {
        print_help(stderr);
        return EX_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || (wants_help && argc == 2)) {
        print_help(stdout);
        return EX_OK;
    }
    char *name = argv[wants_help ? 2 : 1];
    const struct subcommand *subcommand = find(name);
    if (!subcommand)
        no_such_subcommand(name);
    message_subcommand(subcommand->name);
    if (wants_help)
        return subcommand->main(2, (char *[]){name, help_option, NULL});
    return subcommand->main(argc - 1, argv + 1);
}

/* What the caller closed is opened the wrong way round: reading or writing it is still an error, and no file of ours
 * can be given its number. */
static int open_standard_files(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) == -1 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return -1;
    return 0;
}

int main(int argc, char **argv) {
    job_clock_begin();
    if (open_standard_files() != 0)
        return EX_OSERR;
    signals_catch();
    transfer_stdout();
    command_end(run(argc, argv));
}
