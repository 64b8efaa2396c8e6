#include "output/output.h"

#include <stddef.h>

static size_t header(const struct table_layout *layout, char header[OUTPUT_HEADER]) {
    (void)layout;
    (void)header;
    return 0;
}

static const char *const endings[] = {"bin", "raw", NULL};

const struct output_format output_raw = {"raw", endings, header, 0};
