#include "crc32c.h"

#include <string.h>

static const uint32_t POLYNOMIAL = 0x82f63b78; /* 0x1edc6f41 with its lowest bit first */

enum { WORD = 8 };

/* Row k has the remainder of each byte followed by k bytes of zeros. */
static void make_tables(uint32_t tables[WORD][256]) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (unsigned bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        tables[0][byte] = crc;
    }
    for (unsigned k = 1; k < WORD; k++)
        for (uint32_t byte = 0; byte < 256; byte++)
            tables[k][byte] = tables[k - 1][byte] >> 8 ^ tables[0][tables[k - 1][byte] & 0xff];
}

uint32_t crc32c(uint32_t crc, const void *from, size_t bytes) {
    uint32_t tables[WORD][256]; /* made in a few microseconds */
    const unsigned char *at = from;
    make_tables(tables);
    crc = ~crc;
    for (; bytes >= WORD; bytes -= WORD, at += WORD) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        word ^= crc;
        crc = 0;
        for (unsigned k = 0; k < WORD; k++)
            crc ^= tables[WORD - 1 - k][word >> 8 * k & 0xff];
    }
    for (; bytes > 0; bytes--, at++)
        crc = crc >> 8 ^ tables[0][(crc ^ *at) & 0xff];
    return ~crc;
}
