/* The words that an option may be given where there are few of them, in the order of the library's numbers. Each list
 * ends with NULL. */
#ifndef WORDS_H
#define WORDS_H

extern const char *const backend_words[];   /* table_backend */
extern const char *const operation_words[]; /* table_operation */
extern const char *const strategy_words[];  /* table_strategy */
extern const char *const format_words[];

/* Word number `place` of a list; "unknown" where it has no such word. */
const char *word_at(const char *const *words, unsigned place);

/* The place of a word in a list; -1 if it is not there. */
int word_place(const char *const *words, const char *word);

#endif
