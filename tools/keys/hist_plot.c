/* A histogram as bars. On a terminal they have a title and an axis, and where its characters are UTF-8 they end at
 * eighths of a character. Elsewhere there are bars of # alone, which any program can read. */
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hist.h"
#include "types.h"

enum {
    BAR = 50,        /* characters of the longest bar where output is no terminal */
    BAR_LEAST = 10,  /* and at least on one */
    EIGHTHS = 8,     /* of a character, in which bars of UTF-8 are measured */
    TICK_APART = 10, /* characters between two ticks of the axis, at least */
    AXIS_TEXT = 24,
};

/* What all lines of a plot have in common. */
struct plot {
    const struct hist_job *job;
    double most;        /* of all bins */
    size_t width, wide; /* characters of the longest edge, and of the longest count */
    int longest;        /* characters of the longest bar */
    bool terminal, utf8;
};

static double as_double(const struct hist_job *job, size_t bin) {
    const void *count = hist_count_at(job, bin);
    return job->layout.type == TABLE_U64 ? (double)*(const uint64_t *)count : *(const double *)count;
}

static bool locale_is_utf8(void) {
    const locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    const bool is = locale != (locale_t)0 && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    if (locale != (locale_t)0)
        freelocale(locale);
    return is;
}

/* What a terminal has beside the `taken` characters of a line. */
static int longest_bar(size_t taken) {
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return BAR;
    return size.ws_col > taken + BAR_LEAST ? size.ws_col - (int)taken : BAR_LEAST;
}

static struct plot plot_of(const struct hist_job *job) {
    struct plot plot = {.job = job, .terminal = isatty(STDOUT_FILENO)};
    char text[VALUE_TEXT];
    plot.utf8 = plot.terminal && locale_is_utf8();
    for (size_t bin = 0; bin < job->bins.count; bin++) {
        const double value = as_double(job, bin);
        plot.most = isfinite(value) && value > plot.most ? value : plot.most;
        hist_edge_text(job, bin, text);
        plot.width = strlen(text) > plot.width ? strlen(text) : plot.width;
        value_text(job->layout.type, hist_count_at(job, bin), text);
        plot.wide = strlen(text) > plot.wide ? strlen(text) : plot.wide;
    }
    plot.longest = longest_bar(plot.width + strlen(" | ") + plot.wide);
    return plot;
}

static void print_title(const struct plot *plot) {
    const struct hist_job *job = plot->job;
    const char *what = job->arguments.density ? "share" : job->arguments.weights ? "sum of the weights" : "values";
    printf("%s: %s %s each of %zu bins\n", job->input.name, what, job->arguments.cumulative ? "up to the end of" : "in",
           job->bins.count);
}

/* Sums of weights may be negative or no numbers: those have no bar. All others have a part of one at least. */
static void print_bar(const struct plot *plot, double count) {
    const int parts = plot->utf8 ? EIGHTHS : 1;
    const bool some = count > 0 && isfinite(count) && plot->most > 0;
    const double exact = some ? count / plot->most * plot->longest * parts : 0;
    const int length = some && exact < 1 ? 1 : (int)(exact + 0.5);
    const int used = length / parts;
    for (int i = 0; i < used; i++)
        fputs(plot->utf8 ? "\u2588" : "#", stdout);
    if (length % parts > 0) /* U+258F is one eighth, U+2589 seven of them */
        printf("\xE2\x96%c", 0x90 - length % parts);
    printf("%*s", plot->longest - used - (length % parts > 0), "");
}

static void print_bin(const struct plot *plot, size_t bin) {
    char from[VALUE_TEXT], count[VALUE_TEXT];
    hist_edge_text(plot->job, bin, from);
    value_text(plot->job->layout.type, hist_count_at(plot->job, bin), count);
    printf("%*s %s", (int)plot->width, from, plot->utf8 ? "\u2502" : "|");
    print_bar(plot, as_double(plot->job, bin));
    printf(" %s\n", count);
}

/* 1, 2 or 5 times a power of ten: how much is between two ticks, so that there is room for their numbers. */
static double tick_step(const struct plot *plot) {
    const double least = plot->most * TICK_APART / plot->longest, power = pow(10, floor(log10(least)));
    return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

/* A line with a tick for each step, and one with the numbers that begin below them. */
static void print_axis(const struct plot *plot) {
    const double step = plot->most > 0 ? tick_step(plot) : 1;
    int at = 0;
    printf("%*s %s", (int)plot->width, "", plot->utf8 ? "\u2514" : "+");
    for (int i = 0, tick = 1; i < plot->longest; i++) {
        const bool here = plot->most > 0 && i + 1 == (int)(tick * step / plot->most * plot->longest + 0.5);
        fputs(here ? plot->utf8 ? "\u2534" : "+" : plot->utf8 ? "\u2500" : "-", stdout);
        tick += here;
    }
    printf("\n%*s ", (int)plot->width, "");
    for (int tick = 0; plot->most > 0 && tick * step <= plot->most; tick++) {
        const int place = (int)(tick * step / plot->most * plot->longest + 0.5);
        char text[AXIS_TEXT];
        const int length = snprintf(text, sizeof text, "%g", tick * step);
        if (place + length > plot->longest + (int)plot->wide) /* it would be beyond the line */
            break;
        printf("%*s%s", place - at, "", text);
        at = place + length;
    }
    putchar('\n');
}

void hist_print_plot(const struct hist_job *job) {
    const struct plot plot = plot_of(job);
    if (plot.terminal)
        print_title(&plot);
    for (size_t bin = 0; bin < job->bins.count; bin++)
        print_bin(&plot, bin);
    if (plot.terminal)
        print_axis(&plot);
    hist_print_outside(job);
}
