/* The sort of the C++ library. */
#ifndef PEERS_SORT_PEER_H
#define PEERS_SORT_PEER_H

#include <stddef.h>
#include <stdint.h>

/* 0, or -1 in a command that was built without a C++ compiler. */
int peer_std_sort(uint32_t *keys, size_t count);

#endif
