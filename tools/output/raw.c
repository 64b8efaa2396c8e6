#include "output/output.h"

static size_t header(const struct table_layout *layout, char header[OUTPUT_HEADER]) {
    (void)layout;
    (void)header;
    return 0;
}

const struct output_format output_raw = {"raw", NULL, header};
