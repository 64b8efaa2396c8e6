/* What the kernels of each instruction set of the CPU are by themselves: conversions, exhaustively. What they sum is
 * the matter of the conformance tests, with each of them by force (ways_isa.c). */
#include "isa.h"
#include "support/reference.h"
#include "support/test.h"

/* Floats around every half: each upper half of a float, with lower bits that make ties and their neighbours. */
TEST(test_halves) {
    static const uint32_t lower[] = {0, 1, 0xfff, 0x1000, 0x1001, 0x2fff, 0x3000, 0x7fff, 0x8000, 0x8001, 0xffff};
    enum { LOWER = sizeof lower / sizeof *lower, UPPER = 1 << 16, FLOATS = LOWER * UPPER };
    uint32_t *floats = malloc(FLOATS * sizeof *floats), *widened = malloc(2 * UPPER * sizeof *widened);
    uint16_t *rounded = malloc(2 * FLOATS * sizeof *rounded), *halves = malloc(UPPER * sizeof *halves);
    double *doubles = malloc(UPPER * sizeof *doubles);
    assert_true(floats && widened && rounded && halves && doubles);
    for (size_t i = 0; i < FLOATS; i++) /* NaN lie far from each other in one order, and together in the other */
        floats[i] = (uint32_t)(i % 2 ? i / LOWER : i % UPPER) << 16 | lower[i % 2 ? i % LOWER : i / UPPER];
    for (size_t i = 0; i < UPPER; i++)
        halves[i] = (uint16_t)i;
    for (int isa = 0; isa < CPU_ISAS; isa++) {
        const struct cpu_kernels *kernels = isa_kernels((enum cpu_isa)isa);
        if (!kernels)
            continue;
        cpu_convert *const(*convert)[TYPE_NUMBERS] = kernels->conversions->convert;
        convert[TABLE_F32][TABLE_F16](rounded, 1, floats, 1, FLOATS, 1);
        convert[TABLE_F32][TABLE_BF16](rounded + FLOATS, 1, floats, 1, FLOATS, 1);
        convert[TABLE_F16][TABLE_F32](widened, 1, halves, 1, UPPER, 1);
        convert[TABLE_BF16][TABLE_F32](widened + UPPER, 1, halves, 1, UPPER, 1);
        for (size_t i = 0; i < FLOATS; i++) {
            const float value = value_float_of_bits(floats[i]);
            uint16_t expected[2];
            reference_round(TABLE_F32, &value, TABLE_F16, &expected[0], 1);
            reference_round(TABLE_F32, &value, TABLE_BF16, &expected[1], 1);
            if (value != value) { /* the reference makes another NaN of it */
                expected[0] = (uint16_t)(floats[i] >> 16 & 0x8000) | 0x7e00;
                expected[1] = (uint16_t)(floats[i] >> 16 | 0x40);
            }
            if (rounded[i] != expected[0] || rounded[FLOATS + i] != expected[1])
                fail_msg("%s: %08x is rounded to %04x, %04x, not %04x, %04x", kernels->name, floats[i], rounded[i],
                         rounded[FLOATS + i], expected[0], expected[1]);
        }
        for (size_t i = 0; i < UPPER; i++) {
            const float found = value_float_of_bits(widened[i]), expected = value_of_f16((value_f16){halves[i]});
            if (found != found ? expected == expected : widened[i] != value_bits_of_float(expected))
                fail_msg("%s: f16 %04zx becomes %08x", kernels->name, i, widened[i]);
            if (widened[UPPER + i] != (uint32_t)i << 16)
                fail_msg("%s: bf16 %04zx becomes %08x", kernels->name, i, widened[UPPER + i]);
        }
        convert[TABLE_F16][TABLE_F64](doubles, 1, halves, 1, UPPER, 1);
        for (size_t i = 0; i < UPPER; i++) {
            const double expected = value_of_f16((value_f16){halves[i]});
            if (expected == expected ? memcmp(&doubles[i], &expected, sizeof expected) != 0 : doubles[i] == doubles[i])
                fail_msg("%s: f16 %04zx becomes %a", kernels->name, i, doubles[i]);
        }
        convert[TABLE_BOOL][TABLE_F32](widened, 1, halves, 1, sizeof(uint16_t) * UPPER, 1);
        for (size_t i = 0; i < sizeof(uint16_t) * UPPER; i++)
            if (value_float_of_bits(widened[i]) != (((const char *)halves)[i] != 0))
                fail_msg("%s: the byte %d becomes %08x", kernels->name, ((const char *)halves)[i], widened[i]);
    }
    free(floats);
    free(widened);
    free(rounded);
    free(halves);
    free(doubles);
}

TEST(test_kernels_are_there) {
    assert_non_null(isa_kernels(CPU_ISA_PLAIN));
    for (int isa = 0; isa < CPU_ISAS; isa++)
        print_message("%s\n", isa_kernels((enum cpu_isa)isa) ? isa_kernels((enum cpu_isa)isa)->name : "(not here)");
    print_message("in use: %s\n", isa_kernels_in_use()->name);
}

int main(void) { return run_all_tests("cpu_kernels", NULL); }
