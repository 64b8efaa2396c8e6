#include "guess.h"

#include <string.h>

#include "number.h"

struct guess guess_what(const char *word, size_t length) {
    return (struct guess){.word = word, .length = length};
}

/* Letters that are missing, too many, wrong, or two that changed places (the optimal string alignment distance), row by
 * row of the table of all beginnings of one word against all beginnings of the other. */
static size_t slips_between(const char *a, size_t a_length, const char *b, size_t b_length) {
    size_t rows[3][GUESS_LONGEST + 1];
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *now = rows[i % 3];
        const size_t *before = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            now[j] = least(least(before[j], now[j - 1]) + 1, before[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], second[j - 2] + 1);
        }
    }
    return rows[a_length % 3][b_length];
}

/* More than one slip in three letters is no slip any more. */
void guess_consider_part(struct guess *guess, const char *candidate, size_t length) {
    if (length > GUESS_LONGEST || guess->length > GUESS_LONGEST)
        return;
    size_t slips = slips_between(guess->word, guess->length, candidate, length);
    if (slips > length / 3 || (guess->best && slips >= guess->slips))
        return;
    guess->best = candidate;
    guess->best_length = length;
    guess->slips = slips;
}

void guess_consider(struct guess *guess, const char *candidate) {
    guess_consider_part(guess, candidate, strlen(candidate));
}

void guess_name(const struct guess *guess, char name[GUESS_LONGEST + 1]) {
    const size_t length = guess->best ? guess->best_length : 0;
    memcpy(name, guess->best ? guess->best : "", length);
    name[length] = '\0';
}
