#include "output/output.h"

#include <string.h>

static const struct output_format *const formats[] = {&output_npy, &output_raw};
enum { FORMATS = sizeof formats / sizeof formats[0] };

static bool ends_in(const char *path, const char *suffix) {
    size_t length = strlen(path), wanted = strlen(suffix);
    return length >= wanted && strcmp(path + length - wanted, suffix) == 0;
}

const struct output_format *output_format_for(const char *path, const char *format) {
    for (size_t i = 0; i < FORMATS; i++) {
        const char *suffix = formats[i]->suffix;
        if (format ? strcmp(format, formats[i]->name) == 0 : !suffix || ends_in(path, suffix))
            return formats[i];
    }
    return &output_raw;
}
