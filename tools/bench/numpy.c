/* numpy.cumsum(axis=0), in a child process that times itself: one line asks for one shape, one line answers. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bench.h"

struct bench_numpy {
    pid_t child;
    FILE *ask, *answer; /* ask is NULL as soon as the child has not answered */
    struct bench_report *report;
};

static const char SCRIPT[] =
    "import sys, time\n"
    "try:\n"
    "    import numpy\n"
    "except ImportError:\n"
    "    print('none', flush=True)\n"
    "    sys.exit(0)\n"
    "print(numpy.__version__, flush=True)\n"
    "names = {'u': 'uint', 'i': 'int', 'f': 'float'}\n"
    "def dtype(name):\n"
    "    if name == 'bf16':\n"
    "        import ml_dtypes\n"
    "        return numpy.dtype(ml_dtypes.bfloat16)\n"
    "    return numpy.dtype(name if name == 'bool' else names[name[0]] + name[1:])\n"
    "def table(kind, cells):\n"
    "    random = numpy.random.default_rng(1)\n"
    "    if kind.kind == 'f' and kind.itemsize > 2:\n"
    "        return random.random(cells, dtype=kind) * 2 - 1\n"
    "    if kind.kind in 'fV':\n"
    "        return (random.random(cells, dtype='f4') * 2 - 1).astype(kind)\n"
    "    return numpy.frombuffer(random.bytes(cells * kind.itemsize), dtype=kind)\n"
    "held = {}\n"
    "for line in sys.stdin:\n"
    "    rows, columns, stride, source, target, step, repeat = line.split()\n"
    "    rows, columns, stride = int(rows), int(columns), int(stride)\n"
    "    key = source, target\n"
    "    if key not in held or held[key][0].size < rows * stride:\n"
    "        held = {key: (table(dtype(source), rows * stride), numpy.zeros(rows * stride, dtype(target)))}\n"
    "    one = held[key][0][:rows * stride].reshape(rows, stride)[::int(step), :columns]\n"
    "    out = held[key][1][:rows * stride].reshape(rows, stride)[::int(step), :columns]\n"
    "    times = []\n"
    "    for k in range(int(repeat) + 1):\n"
    "        start = time.perf_counter()\n"
    "        numpy.cumsum(one, axis=0, dtype=out.dtype, out=out)\n"
    "        times.append(time.perf_counter() - start)\n"
    "    times = sorted(times[1:])\n"
    "    print(times[len(times) // 2] * 1e3, flush=True)\n";

/* Its own path is its first argument, as it looks for its modules by that. */
static void become_python(const char *python, int ask, int answer) {
    if (dup2(ask, STDIN_FILENO) < 0 || dup2(answer, STDOUT_FILENO) < 0)
        _exit(127);
    execlp(python, python, "-c", SCRIPT, (char *)NULL);
    _exit(127);
}

static bool start_child(struct bench_numpy *numpy, const char *python) {
    int ask[2], answer[2];
    if (pipe2(ask, O_CLOEXEC) != 0)
        return false;
    if (pipe2(answer, O_CLOEXEC) != 0) {
        close(ask[0]), close(ask[1]);
        return false;
    }
    numpy->child = fork();
    if (numpy->child == 0)
        become_python(python, ask[0], answer[1]);
    close(ask[0]), close(answer[1]);
    numpy->ask = fdopen(ask[1], "w");
    numpy->answer = fdopen(answer[0], "r");
    if (!numpy->ask)
        close(ask[1]);
    if (!numpy->answer)
        close(answer[0]);
    return numpy->child > 0 && numpy->ask && numpy->answer;
}

void numpy_stop(struct bench_numpy *numpy) {
    if (!numpy)
        return;
    if (numpy->ask)
        fclose(numpy->ask); /* which ends the child's loop */
    if (numpy->answer)
        fclose(numpy->answer);
    if (numpy->child > 0)
        while (waitpid(numpy->child, NULL, 0) < 0 && errno == EINTR)
            ;
    free(numpy);
}

struct bench_numpy *numpy_start(struct bench_report *report) {
    static const char *const PYTHONS[] = {"/usr/bin/python3", "python3"};
    bool answered = false;
    for (size_t k = 0; k < sizeof PYTHONS / sizeof *PYTHONS; ++k) {
        char version[64] = "";
        struct bench_numpy *numpy = calloc(1, sizeof *numpy);
        if (numpy && start_child(numpy, PYTHONS[k]) && fgets(version, sizeof version, numpy->answer) &&
            strcmp(version, "none\n") != 0) {
            numpy->report = report;
            return numpy;
        }
        answered |= version[0] != '\0';
        numpy_stop(numpy);
    }
    report_note(report, "numpy is left out: %s", answered ? "python3 has no numpy" : "python3 could not be run");
    return NULL;
}

double numpy_cumsum_ms(struct bench_numpy *numpy, size_t rows, struct bench_shape shape, struct bench_pair pair,
                       bool reverse, unsigned repeat) {
    char line[64] = "", *end = NULL;
    if (!numpy || !numpy->ask || rows == 0)
        return NAN;
    fprintf(numpy->ask, "%zu %zu %zu %s %s %d %u\n", rows, shape.columns, shape.stride, table_type_name(pair.in),
            table_type_name(pair.out), reverse ? -1 : 1, repeat);
    if (fflush(numpy->ask) == 0 && fgets(line, sizeof line, numpy->answer)) {
        const double ms = strtod(line, &end);
        if (end > line)
            return ms;
    }
    report_note(numpy->report, "numpy is left out from %s to %s on: it did not answer", table_type_name(pair.in),
                table_type_name(pair.out));
    fclose(numpy->ask); /* writing to a child that has ended would end this process, too */
    numpy->ask = NULL;
    return NAN;
}
