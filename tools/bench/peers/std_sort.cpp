/* std::sort, to stand beside. */
#include "peers.h"

#include <algorithm>

int peer_std_sort(uint32_t *keys, size_t count) {
    std::sort(keys, keys + count);
    return 0;
}
