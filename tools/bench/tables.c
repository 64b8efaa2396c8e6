/* Tables to measure with. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "message.h"
#include "splitmix64.h"
#include "types.h"

static size_t rows_of(const struct bench_options *options, size_t which, const struct bench_case *what) {
    const size_t in_size = table_type_size(what->pair.in), out_size = table_type_size(what->pair.out);
    const size_t size = in_size > out_size ? in_size : out_size;
    const size_t rows = options->row_count ? options->rows[which] : options->bytes / size / what->shape.stride;
    return options->table_rows ? rows - rows % options->table_rows : rows;
}

static bool bytes_of(const struct bench_case *what, table_type type, size_t *bytes) {
    return !__builtin_mul_overflow(what->rows, what->shape.stride, bytes) &&
           !__builtin_mul_overflow(*bytes, table_type_size(type), bytes);
}

/* Case number `number` of a pair, whose rows count first; *fits: it can be. False where there are no more. */
static bool find_case(const struct bench_options *options, size_t number, struct bench_pair pair,
                      struct bench_case *what, bool *fits) {
    const size_t choices = options->row_count ? options->row_count : 1;
    if (number / choices >= options->shape_count)
        return false;
    *what = (struct bench_case){.shape = options->shapes[number / choices], .pair = pair};
    what->rows = rows_of(options, number % choices, what);
    *fits = bytes_of(what, pair.in, &what->in_bytes) && bytes_of(what, pair.out, &what->out_bytes);
    what->copy_bytes = (what->in_bytes + what->out_bytes) / 2 / what->shape.stride * what->shape.columns;
    return true;
}

table_view bench_view(const struct bench_case *what, void *data, table_type type) {
    return (table_view){data, what->rows, what->shape.columns, (ptrdiff_t)what->shape.stride, type};
}

/* The largest of the tables whose size fits in a number at all; the others are named when their turn comes. */
size_t bench_largest_bytes(const struct bench_options *options) {
    struct bench_case what;
    size_t largest = 0;
    bool fits;
    for (size_t p = 0; p < options->pair_count; ++p)
        for (size_t i = 0; find_case(options, i, options->pairs[p], &what, &fits); ++i) {
            const size_t bytes = what.in_bytes > what.out_bytes ? what.in_bytes : what.out_bytes;
            largest = fits && bytes > largest ? bytes : largest;
        }
    return largest;
}

int bench_each_case(const struct bench_options *options, struct bench_report *report, void *context,
                    int fill(void *context, struct bench_pair pair),
                    int run(void *context, const struct bench_case *what)) {
    struct bench_case what;
    bool fits;
    int code = EX_OK;
    for (size_t p = 0; p < options->pair_count && bench_goes_on(code); ++p) {
        code = bench_worse(code, fill ? fill(context, options->pairs[p]) : EX_OK);
        for (size_t i = 0; bench_goes_on(code) && find_case(options, i, options->pairs[p], &what, &fits); ++i) {
            if (what.rows > 0 && fits)
                code = bench_worse(code, run(context, &what));
            else
                report_note(report, "%zu columns are left out: %s", what.shape.columns,
                            what.rows > 0         ? "the size does not fit"
                            : options->table_rows ? "--table-rows is more than the rows"
                                                  : "a row is larger than --bytes");
        }
    }
    return code;
}

bool bench_checks_overflow(const struct bench_options *options, struct bench_pair pair) {
    return options->overflow && !type_is_float(pair.out);
}

void bench_split(const struct bench_options *options, table_view *in, table_view *out, table_scan_options *call) {
    call->reverse = options->reverse;
    call->skip_nan = options->skip_nan && type_is_float(out->type);
    if (options->table_rows == 0)
        return;
    call->tables = in->rows / options->table_rows;
    in->rows = out->rows = options->table_rows;
    call->in_step = (ptrdiff_t)(in->rows * in->stride);
    call->out_step = (ptrdiff_t)(out->rows * out->stride);
}

/* ------------------------------------------------------------------------------------------------------- values */

enum { THREADS_MOST = 16, SHARE_LEAST = 1 << 18, FILL_SEED = 1 };

struct share {
    void (*work)(void *context, size_t first, size_t last);
    void *context;
    size_t first, last;
};

static void *do_share(void *argument) {
    const struct share *share = argument;
    share->work(share->context, share->first, share->last);
    return NULL;
}

void bench_share(size_t count, void work(void *context, size_t first, size_t last), void *context) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t wanted = count < SHARE_LEAST || online < 1 ? 1 : (size_t)online;
    const size_t shares = wanted < THREADS_MOST ? wanted : THREADS_MOST;
    struct share share[THREADS_MOST];
    pthread_t threads[THREADS_MOST];
    bool started[THREADS_MOST] = {false};
    for (size_t t = 0; t < shares; t++) {
        share[t] =
            (struct share){work, context, count / shares * t, t + 1 == shares ? count : count / shares * (t + 1)};
        started[t] = t + 1 < shares && pthread_create(&threads[t], NULL, do_share, &share[t]) == 0;
        if (!started[t])
            do_share(&share[t]);
    }
    for (size_t t = 0; t < shares; t++)
        if (started[t])
            pthread_join(threads[t], NULL);
}

static unsigned long long word_of(table_type type, unsigned long long bits) {
    unsigned long long word = bits;
    if (type == TABLE_F32) {
        const float pair[2] = {(float)(int)(unsigned)bits * 0x1p-31f, (float)(int)(unsigned)(bits >> 32) * 0x1p-31f};
        memcpy(&word, pair, sizeof word);
    } else if (type == TABLE_F64) {
        const double value = (double)(long long)bits * 0x1p-63;
        memcpy(&word, &value, sizeof word);
    } else if (type == TABLE_F16 || type == TABLE_BF16) {
        uint16_t four[4];
        for (int i = 0; i < 4; i++) {
            const float value = (float)(int16_t)(bits >> 16 * i) * 0x1p-15f;
            four[i] = type == TABLE_F16 ? value_f16_of(value).bits : value_bf16_of(value).bits;
        }
        memcpy(&word, four, sizeof word);
    }
    return word;
}

/* One word of 8 bytes in GAPS has no other values than NaN, or than -0.0. */
enum { GAPS = 32 };
struct filling {
    unsigned char *data;
    table_type type;
    unsigned long long mask, gap; /* gap: 0 where there are none */
};

static unsigned long long word_at(const struct filling *filling, size_t k) {
    const unsigned long long random = splitmix64_at(FILL_SEED * 0xd1342543de82ef95ull, k);
    return filling->gap && random % GAPS == 0 ? filling->gap : word_of(filling->type, random & filling->mask);
}

enum bench_values bench_values_of(const struct bench_options *options, struct bench_pair pair) {
    const bool nan = options->skip_nan && type_is_float(pair.in);
    return nan ? VALUES_NAN : options->overflow ? VALUES_SMALL : VALUES_ANY;
}

static void fill_words(void *context, size_t first, size_t last) {
    const struct filling *filling = context;
    for (size_t k = first; k < last; k++) {
        const unsigned long long word = word_at(filling, k);
        memcpy(filling->data + k * 8, &word, 8);
    }
}

/* Small integers keep their three lowest bits. All bits are a NaN of any type, and the highest one -0.0. */
void bench_fill(void *data, size_t bytes, table_type type, enum bench_values values) {
    static const unsigned long long ones[] = {
        0, 0x0101010101010101ull, 0x0001000100010001ull, 0, 0x0000000100000001ull, 0, 0, 0, 1};
    const size_t size = table_type_size(type);
    const bool masked = values == VALUES_SMALL && !type_is_float(type);
    struct filling filling = {data, type, masked ? 7 * ones[size] : ~0ull, 0};
    if (values == VALUES_NAN)
        filling.gap = ~0ull;
    else if (values == VALUES_ZERO)
        filling.gap = ones[size] << (8 * size - 1);
    const unsigned long long last = word_at(&filling, bytes / 8);
    bench_share(bytes / 8, fill_words, &filling);
    memcpy((unsigned char *)data + bytes / 8 * 8, &last, bytes % 8);
}

struct comparison {
    const char *a, *b;
    size_t size;
    atomic_size_t differing;
};

static void compare(void *context, size_t first, size_t last) {
    struct comparison *comparison = context;
    const size_t size = comparison->size, end = last * size;
    const char *a = comparison->a, *b = comparison->b;
    size_t differing = 0;
    if (memcmp(a + first * size, b + first * size, end - first * size) == 0)
        return;
    for (size_t at = first * size; at < end; at += size)
        differing += memcmp(a + at, b + at, size) != 0;
    comparison->differing += differing;
}

size_t bench_count_differing(const void *a, const void *b, size_t count, size_t size) {
    struct comparison comparison = {.a = a, .b = b, .size = size};
    bench_share(count, compare, &comparison);
    return comparison.differing;
}

/* ----------------------------------------------------------------------------------------------- the serial loop */

/* SUM: the type to add in, unsigned for integers so that they wrap. */
#define DEFINE_SERIAL(name, IN, SUM, OUT, AS_NUMBER, AS_RESULT)                                                        \
    static void name(const table_view *in, const table_view *out, void *accumulators) {                                \
        const IN *from = in->data;                                                                                     \
        OUT *to = out->data;                                                                                           \
        SUM *acc = accumulators;                                                                                       \
        for (size_t i = 0; i < in->rows; ++i, from += in->stride, to += out->stride)                                   \
            for (size_t j = 0; j < in->columns; ++j) {                                                                 \
                acc[j] += (SUM)AS_NUMBER(from[j]);                                                                     \
                to[j] = AS_RESULT(acc[j]);                                                                             \
            }                                                                                                          \
    }

#define ADDED_AS(TYPE, NAME, C) typedef C added_##TYPE;
TABLE_SUMS(ADDED_AS)
#define DEFINE_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C)                                                           \
    DEFINE_SERIAL(serial_##IN##_##OUT, IN_C, added_##OUT, added_##OUT, value_of_##IN_NAME, )
TABLE_SUM_PAIRS(DEFINE_PAIR)
DEFINE_SERIAL(serial_F16_F16, value_f16, float, value_f16, value_of_f16, value_f16_of)
DEFINE_SERIAL(serial_BF16_BF16, value_bf16, float, value_bf16, value_of_bf16, value_bf16_of)

#define SERIAL_ENTRY(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C) {TABLE_##IN, TABLE_##OUT, serial_##IN##_##OUT},
typedef void serial_function(const table_view *in, const table_view *out, void *accumulators);

static const struct {
    table_type in, out;
    serial_function *scan;
} SERIAL[] = {TABLE_PAIRS(SERIAL_ENTRY)};

bool bench_serial_scan(const table_view *in, const table_view *out) {
    void *accumulators = calloc(in->columns, table_type_size(table_sum_type(out->type)));
    bool done = false;
    for (size_t k = 0; accumulators && k < sizeof SERIAL / sizeof *SERIAL && !done; k++)
        if (SERIAL[k].in == in->type && SERIAL[k].out == out->type) {
            SERIAL[k].scan(in, out, accumulators);
            done = true;
        }
    free(accumulators);
    return done;
}
