/* Keys for the tests of the pipelines, what sorting them means in plain words, and the forms in which a call is made.
 */
#ifndef KEY_CASE_H
#define KEY_CASE_H

#include "keys/calls.h"
#include "support/random.h"
#include "support/ways.h"

/* How keys are spread. SPECIAL: the ends of the type, and for floats infinities, both zeros and NaNs. */
enum spread { UNIFORM, ALL_EQUAL, SORTED, REVERSED, TWO_VALUES, ZIPF, SPECIAL, SPREADS };
extern const char *const spread_names[SPREADS];

extern const table_type key_types[];
enum { KEY_TYPE_COUNT = 8 };

void keys_fill(void *keys, table_type type, size_t count, enum spread spread, struct random *random);

/* The sort key of pipeline.h of keys[i]: greater means later. */
uint64_t keys_rank(const void *keys, table_type type, size_t i, bool descending);

/* order = the indices of the keys in the order of bits first_bit to first_bit + bits - 1 of their sort keys, those that
 * are equal as they were. */
void keys_order(const void *keys, table_type type, size_t count, bool descending, unsigned first_bit, unsigned bits,
                size_t *order);

/* Memory of a way, with `bytes` bytes of `contents` (NULL: rubbish), at either end of its surroundings or, if `align`
 * is less than 64, anywhere that is a multiple of that. */
struct placed {
    struct block block;
    void *address;
};
struct placed place(const struct way *way, const void *contents, size_t bytes, size_t align, struct random *random);

/* What it holds, into `contents` (NULL: not wanted), and gives it back. Fails the test when something around it was
 * written. */
void take_back(struct placed *placed, void *contents);

/* Makes the call in a random form, with a random number of threads and a workspace of just the bytes that it wants.
 * Fails the test when it does not go well; `what` says what it was. */
void make_call(const struct way *way, struct key_arguments *all, struct random *random, const char *what);

#endif
