/* What test_faults.cpp runs with a fault: small tables by each form and by the stages, keys, and the examples, each by
 * the emulator and by the CPU backend. In a mask, part i is bit i. */
#ifndef FAULT_PARTS_H
#define FAULT_PARTS_H

#include <cstddef>
#include <cstdint>

extern const size_t FAULT_PARTS; /* how many there are */
constexpr uint32_t ALL_FAULT_PARTS = ~0u;

const char *fault_part_name(size_t index);
/* Without a misuse, and all bits as they should be. */
bool fault_parts_are_right(uint32_t parts);

#endif
