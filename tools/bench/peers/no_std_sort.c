/* In the place of std::sort where there is no C++ compiler. */
#include "sort_peer.h"

int peer_std_sort(uint32_t *keys, size_t count) {
    (void)keys, (void)count;
    return -1;
}
