#include "words.h"

#include <string.h>

const char *const backend_words[] = {"auto", "cpu", "cuda", 0};
const char *const strategy_words[] = {"auto", "host", "recursive", "fused", 0};
const char *const format_words[] = {"npy", "raw", "csv", "tsv", "text", 0};

int word_place(const char *const *words, const char *word) {
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}
