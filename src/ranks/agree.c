/* A survey, of maxima, says which rank failed and whether all agree. */
#include "call.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT = 256 };

table_status ranks_fail(table_status status, const char *format, ...) {
    char text[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return table_error_set(status, text);
}

#define OWN_FAILURE (1ULL << 63)

/* The greater, the lower the rank that failed is. */
static uint64_t failure_word(const struct together *all, table_status status, bool is_own) {
    if (status == TABLE_OK)
        return 0;
    return (is_own ? OWN_FAILURE : 0) | (uint64_t)(all->ranks - all->rank) << 32 | (uint32_t)status;
}

/* Has the rank of the greatest failure word tell all others its reason, and returns its status. */
static table_status share_failure(const struct together *all, uint64_t word) {
    const int rank = all->ranks - (int)((word & ~OWN_FAILURE) >> 32);
    const table_status status = (table_status)(uint32_t)word;
    char text[TEXT] = "";
    if (rank == all->rank && status == all->by->failure)
        snprintf(text, sizeof text, "%s", table_error_detail());
    else if (rank == all->rank)
        snprintf(text, sizeof text, "rank %d: %.200s", rank, table_error_detail());
    const table_status told = all->by->tell(all, text, sizeof text, rank);
    return told == TABLE_OK ? table_error_set(status, text) : told;
}

/* A value that all ranks must have, between its complement and itself: the maxima of both say the least and the
 * greatest. */
struct common {
    uint64_t greatest, least_flipped;
};

enum { CALL, COLUMNS, IN, OUT, DETAILS, COMMONS = DETAILS + RANKS_DETAILS };

static const char *value_name(unsigned which, uint64_t value, char text[32]) {
    static const char *const calls[] = {"prefix_sum", "column_totals", "linear_recurrence"};
    if (which == CALL && value < sizeof calls / sizeof *calls)
        return calls[value];
    if ((which == IN || which == OUT) && table_type_name((table_type)value))
        return table_type_name((table_type)value);
    snprintf(text, 32, "%llu", (unsigned long long)value);
    return text;
}

static table_status find_difference(const struct common *commons) {
    static const char *const names[COMMONS] = {
        "the call", "columns", "the type of in", "the type of out", "exclusive",
        "reverse",  "offsets", "skip_nan",       "operation",       "shifted_coefficients"};
    char least[32], greatest[32];
    for (unsigned i = 0; i < COMMONS; i++) {
        const uint64_t from = ~commons[i].least_flipped, to = commons[i].greatest;
        if (from == to)
            continue;
        return ranks_fail(TABLE_ERROR_RANKS, "ranks differ in %s: %s on one, %s on another", names[i],
                          value_name(i, from, least), value_name(i, to, greatest));
    }
    return TABLE_OK;
}

table_status together_agree(const struct together *all, struct plea *plea) {
    uint64_t values[COMMONS] = {plea->call, plea->columns, plea->in, plea->out};
    struct {
        uint64_t failed, wants_overflow, wants_count, wants_end;
        struct common commons[COMMONS];
    } words = {
        failure_word(all, plea->status, true), plea->wants_overflow, plea->wants_count, plea->wants_end, {{0, 0}}};
    _Static_assert(sizeof words <= SURVEY_WORDS * sizeof(uint64_t), "a survey has room for all words");
    for (unsigned i = 0; i < RANKS_DETAILS; i++)
        values[DETAILS + i] = plea->details[i];
    for (unsigned i = 0; i < COMMONS; i++)
        words.commons[i] = (struct common){values[i], ~values[i]};
    plea->rows.asks_before = true;
    const table_status status = all->by->survey(all, &words.failed, sizeof words / sizeof(uint64_t), &plea->rows);
    if (status != TABLE_OK)
        return status;
    if (words.failed != 0)
        return share_failure(all, words.failed);
    plea->wants_overflow = words.wants_overflow;
    plea->wants_count = words.wants_count;
    plea->wants_end = words.wants_end;
    return find_difference(words.commons);
}

table_status together_end(const struct together *all, struct outcome *outcome) {
    uint64_t words[] = {failure_word(all, outcome->status, outcome->is_own), ~outcome->first_overflow};
    const table_status surveyed = all->by->survey(all, words, 2, &outcome->counted);
    if (surveyed != TABLE_OK)
        return surveyed;
    outcome->first_overflow = ~words[1];
    return words[0] == 0 ? TABLE_OK : share_failure(all, words[0]);
}
