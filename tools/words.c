#include "words.h"

#include <string.h>

const char *const backend_words[] = {"auto", "cpu", "cuda", 0};
const char *const operation_words[] = {"sum", "max", "min", "product", 0};
const char *const strategy_words[] = {"auto", "host", "recursive", "fused", 0};
const char *const format_words[] = {"npy", "raw", "csv", "tsv", "text", 0};

const char *word_at(const char *const *words, unsigned place) {
    for (unsigned i = 0; i < place; i++)
        if (!words[i])
            return "unknown";
    return words[place] ? words[place] : "unknown";
}

int word_place(const char *const *words, const char *word) {
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}
