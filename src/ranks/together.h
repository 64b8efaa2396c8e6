/* A collective call on its way, and what the calls for ranks ask of the transport between them. */
#ifndef RANKS_TOGETHER_H
#define RANKS_TOGETHER_H

#include <stdbool.h>
#include <string.h>

#include <tuplescan/tuplescan.h>

#include "try.h"

struct together;

/* A number of each rank: what it adds, and the sums over all ranks and, if all ask for that, those before it. */
struct tally {
    uint64_t own, total, before;
    bool asks_before;
};

/* All but open() are collective, in host memory. Each returns the transport's own error, of the status `failure`, after
 * which this rank can do no more. */
struct transport {
    table_status failure; /* a status that nothing else returns */

    /* words[i] = the greatest over all ranks, of at most SURVEY_WORDS; and the sums of the tally, all modulo 2^64. */
    table_status (*survey)(const struct together *all, uint64_t *words, int count, struct tally *tally);

    /* Gets ready for states of `state_bytes` bytes, which are told as one thing, in memory of together_state_step()
     * bytes. Local. */
    table_status (*open)(struct together *all, size_t state_bytes);

    /* before = the ranges of all ranks before this one in the order of the sum, joined by ranks_join(); unspecified on
     * the first one. whole = the ranges of all of them, joined. */
    table_status (*before)(const struct together *all, const void *range, void *before);
    table_status (*whole)(const struct together *all, const void *range, void *whole);

    /* The bytes of one rank go to all. */
    table_status (*tell)(const struct together *all, void *memory, size_t bytes, int rank);
};

enum { SURVEY_WORDS = 24 };

/* The beginning of a transport's own struct. */
struct together {
    const struct transport *by;
    int rank, ranks;
    bool backwards; /* whether the sum begins with the last rank's last row */
};

/* Fails with a printf-like reason, as table_error_set() does. (agree.c) */
table_status ranks_fail(table_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The bytes from one state to the next where they lie side by side, each of them aligned. */
static inline size_t together_state_step(size_t state_bytes) {
    return (state_bytes + TABLE_STATE_ALIGNMENT - 1) / TABLE_STATE_ALIGNMENT * TABLE_STATE_ALIGNMENT;
}

/* The rank's place in the order of the sum; and the rank at a place. */
static inline int together_place(const struct together *all, int rank) {
    return all->backwards ? all->ranks - 1 - rank : rank;
}

/* What ranks say in a survey, as one message: words of which the greatest is wanted, and a number that is added up. */
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

/* States as ranks tell them. One that is lost, since its rank has failed, makes all that it is joined with lost. */

/* Makes a state of `bytes` bytes a lost one: a header of zeros but for the reason, a failure, and zeros after it. */
void ranks_lose(void *state, size_t bytes, table_status reason);

/* Why a state is lost; TABLE_OK if it is not. */
table_status ranks_lost(const void *state);

/* right = left followed by right, or lost if that cannot be; left stays as it is. Both of `bytes` bytes, aligned to
 * TABLE_STATE_ALIGNMENT. */
void ranks_join(const void *left, void *right, size_t bytes);

#endif
