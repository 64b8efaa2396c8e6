#ifndef CRC32C_H
#define CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The CRC32C (Castagnoli; RFC 3720, appendix B.4) of bytes whose CRC32C is `crc`, followed by `bytes` bytes more at
 * `from`. The CRC32C of no bytes is 0. */
uint32_t crc32c(uint32_t crc, const void *from, size_t bytes);

#endif
