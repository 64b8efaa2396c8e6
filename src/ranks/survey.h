/* What ranks say in a survey, as one message: words of which the greatest is wanted, and a number that is added up. */
#ifndef RANKS_SURVEY_H
#define RANKS_SURVEY_H

#include <string.h>

#include "together.h"

struct survey {
    uint64_t words[SURVEY_WORDS], sum;
};

static inline struct survey survey_begin(const uint64_t *words, int count, uint64_t own) {
    struct survey survey = {.sum = own};
    memcpy(survey.words, words, (size_t)count * sizeof *words);
    return survey;
}

static inline void survey_add(struct survey *all, const struct survey *one) {
    for (int word = 0; word < SURVEY_WORDS; word++)
        all->words[word] = one->words[word] > all->words[word] ? one->words[word] : all->words[word];
    all->sum += one->sum;
}

#endif
