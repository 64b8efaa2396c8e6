/* "Did you mean": which of some candidates is likely to have been meant by a word. */
#ifndef GUESS_H
#define GUESS_H

#include <stddef.h>

struct guess {
    const char *word;
    size_t length;    /* of the word; text after it is ignored */
    const char *best; /* the candidate that is the fewest slips of the pen away, or NULL when none is near */
    size_t best_length, slips;
};

enum { GUESS_LONGEST = 32 };

struct guess guess_what(const char *word, size_t length);

/* Must live as long as the guess. */
void guess_consider(struct guess *guess, const char *candidate);
void guess_consider_part(struct guess *guess, const char *candidate, size_t length);

/* The best one, or "". */
void guess_name(const struct guess *guess, char name[GUESS_LONGEST + 1]);

#endif
