/* One call of the fused pass with a form by force: on the emulator and by the CPU backend, all bits alike, with all
 * that a call may ask for; captured in a graph, whose nodes are counted, and as one call. */
#ifndef FUSED_CASE_H
#define FUSED_CASE_H

#include <cstddef>
#include <cstdint>

#include <tuplescan/tuplescan.h>

extern "C" {
#include "../../src/cuda/fused.h"
}
#include "choose/problem.h"
#include "choose/tuning.h"
#include "support/forms.h"
#include "types.h"

/* All random choices follow from it. */
void seed_choices(uint64_t seed);
uint64_t random_bits();
bool one_in(unsigned times);

struct pair {
    table_type in, out;
};
#define TYPE_PAIR(IN, IN_NAME, IN_C, OUT, OUT_NAME, OUT_C) {TABLE_##IN, TABLE_##OUT},
constexpr pair PAIRS[] = {TABLE_PAIRS(TYPE_PAIR)};
constexpr size_t PAIR_COUNT = sizeof PAIRS / sizeof *PAIRS;

struct request {
    pair types;
    size_t rows, columns, in_gap, out_gap, offset;
    bool in_place, exclusive, reversed, carry_in, carry_out, same_carry, overflow, skip_nan;
    unsigned width; /* of integers, in bits; 64: any */
};

/* Any such table and call. */
request vary(pair types, size_t rows, size_t columns);
/* Every other time at least the carry is read by the first tile and written by the last one. */
void share_carry(request &made);

/* The device that is played from now on. */
void play_device(unsigned processors, unsigned major);

/* What may become of a workspace between two replays: nothing, or it was used for something else, all of it or a part;
 * or so many replays go by that the wave's count of them is at its end (kernels/resident/wave_epoch.cuh). Or the word
 * of the count is made to say that a block is clearing. The count is on a boundary of 256 bytes, wherever in the
 * workspace the wave has its part. */
enum disturbance { NOTHING, FILLED, COUNT_LOST, COUNT_LEFT, COUNT_ENDS, TICKET, BYTE, CLEARS, DISTURBANCES };

/* From now on that happens between two replays of a graph, of which there are three. NOTHING: any of them does. */
void harm_counts(disturbance each_time);

/* A form by its name, or FORM_BEST. Errors are printed and counted. */
void check(const request &what, const char *form);
int checks_passed();
int checks_failed();

#endif
