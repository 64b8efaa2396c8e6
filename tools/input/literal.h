/* The few kinds of Python literals that a .npy header is made of, read from bytes that may be anything. */
#ifndef INPUT_LITERAL_H
#define INPUT_LITERAL_H

#include <stdbool.h>
#include <stddef.h>

struct literal {
    const char *at, *end;
};

/* A string, without its quotes; escapes are kept as they are. */
struct literal_text {
    const char *start;
    size_t length;
};

/* All skip white space first. Each returns whether it was there, and only then moves on. */
bool literal_take(struct literal *literal, char wanted);
bool literal_word(struct literal *literal, const char *word);
bool literal_string(struct literal *literal, struct literal_text *text);
bool literal_at_end(struct literal *literal);

enum literal_number { NUMBER_NONE, NUMBER_OK, NUMBER_NEGATIVE, NUMBER_HUGE };

/* A decimal integer, with the L that Python 2 wrote or without. Only NUMBER_OK moves on. */
enum literal_number literal_integer(struct literal *literal, size_t *number);

bool literal_equals(struct literal_text text, const char *word);

#endif
