/* std::sort, to stand beside. */
#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" int peer_std_sort(uint32_t *keys, size_t count);

int peer_std_sort(uint32_t *keys, size_t count) {
    std::sort(keys, keys + count);
    return 0;
}
