/* numpy.cumsum(axis=0), in a child process that times itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"

/* The first python3 that has numpy. In the quotes of a shell, so that it has none of these itself. */
static const char COMMAND[] = "for python in /usr/bin/python3 python3; do\n"
                              "$python -c 'import numpy' 2>/dev/null && exec $python -c '\n"
                              "import numpy, sys, time\n"
                              "rows, columns, stride, step, repeat = map(int, sys.argv[1:6])\n"
                              "def dtype(name):\n"
                              "    if name == \"bf16\":\n"
                              "        import ml_dtypes\n"
                              "        return numpy.dtype(ml_dtypes.bfloat16)\n"
                              "    names = dict(u=\"uint\", i=\"int\", f=\"float\")\n"
                              "    return numpy.dtype(name if name == \"bool\" else names[name[0]] + name[1:])\n"
                              "source, target = map(dtype, sys.argv[6:8])\n"
                              "random, cells = numpy.random.default_rng(1), rows * stride\n"
                              "if source.kind in \"fV\":\n"
                              "    wide = source if source.itemsize > 2 else numpy.float32\n"
                              "    values = (random.random(cells, dtype=wide) * 2 - 1).astype(source)\n"
                              "else:\n"
                              "    values = numpy.frombuffer(random.bytes(cells * source.itemsize), dtype=source)\n"
                              "values = values.reshape(rows, stride)[::step, :columns]\n"
                              "sums = numpy.zeros((rows, stride), target)[::step, :columns]\n"
                              "times = []\n"
                              "for k in range(repeat + 1):\n"
                              "    start = time.perf_counter()\n"
                              "    numpy.cumsum(values, axis=0, dtype=sums.dtype, out=sums)\n"
                              "    times.append(time.perf_counter() - start)\n"
                              "times = sorted(times[1:])\n"
                              "print(times[len(times) // 2] * 1e3)' %zu %zu %zu %d %u %s %s\n"
                              "done";

double bench_numpy_ms(struct bench_report *report, const struct bench_case *what, bool reverse, unsigned repeat) {
    static bool left_out; /* once, and from then on */
    char command[sizeof COMMAND + 120], line[64] = "", *end = line;
    const char *in = table_type_name(what->pair.in), *out = table_type_name(what->pair.out);
    if (left_out)
        return NAN;
    snprintf(command, sizeof command, COMMAND, what->rows, what->shape.columns, what->shape.stride, reverse ? -1 : 1,
             repeat, in, out);
    FILE *answer = popen(command, "r");
    const double ms = answer && fgets(line, sizeof line, answer) ? strtod(line, &end) : NAN;
    if (answer)
        pclose(answer);
    left_out = end == line;
    if (left_out)
        report_note(report, "numpy is left out from %s to %s on: there is no python3 with numpy that has such a sum",
                    in, out);
    return left_out ? NAN : ms;
}
