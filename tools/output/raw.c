/* Values and nothing else. */
#include "output/output.h"

static size_t header(const struct table_layout *layout, char header[OUTPUT_HEADER]) {
    (void)layout, (void)header;
    return 0;
}

static const char *const endings[] = {"bin", "raw", NULL};

const struct output_format output_raw = {"raw", endings, 0, header, NULL, NULL, NULL};
