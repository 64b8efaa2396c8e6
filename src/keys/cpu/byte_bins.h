/* Even bins as bytes: what the kernels of find_bytes.h are told. */
#ifndef CPU_BYTE_BINS_H
#define CPU_BYTE_BINS_H

#include "key_kernels.h"

/* False where a search for these values and bins is not to be done by bytes. */
bool byte_search_make(const struct even_bins *even, table_type type, struct byte_search *search);

#endif
