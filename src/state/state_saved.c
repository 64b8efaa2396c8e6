/* Saved forms: the bytes of a state, but for the version, and a checksum of them all in the header. Their layout is in
 * docs/formats.md. */
#include <string.h>

#include "state_call.h"
#include "status.h"

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

uint32_t state_crc32c(uint32_t crc, const void *from, size_t bytes) {
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

/* The checksum of version 1, of `bytes` bytes, a multiple of 4, at any place. */
static uint64_t mix(uint64_t sum, const void *memory, size_t bytes) {
    const char *from = memory;
    for (size_t done = 0; done < bytes; done += sizeof(uint32_t)) {
        uint32_t word;
        memcpy(&word, from + done, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    return sum;
}

/* The checksum of the header, whose own one counts as 0, and of what follows it. In version 1 it is never 0. */
static uint64_t checksum(struct sum_state header, const void *rows, size_t bytes) {
    const size_t after = bytes - sizeof header;
    header.checksum = 0;
    if (header.version == STATE_SAVED_VERSION)
        return state_crc32c(state_crc32c(0, &header, sizeof header), rows, after);
    const uint64_t sum = mix(mix(STATE_MAGIC, &header, sizeof header), rows, after);
    return sum ? sum : 1;
}

table_status table_state_save(const void *state, void *to, size_t bytes) {
    size_t wanted;
    if (!to)
        return status_fail(TABLE_ERROR_ARGUMENT, "to is a null pointer");
    TRY(state_look("state", state, &wanted));
    if (wanted == 0)
        return status_fail(TABLE_ERROR_STATE, "state: has not begun, and has no type and columns to be saved with");
    if (bytes < wanted)
        return status_fail(TABLE_ERROR_ARGUMENT, "bytes: %zu at `to`, and the state has %zu", bytes, wanted);
    TRY(state_apart("state", state, "to", to, wanted, true));
    struct sum_state header = state_copy_header(state);
    header.version = STATE_SAVED_VERSION;
    header.checksum = checksum(header, (const struct sum_state *)state + 1, wanted);
    if (to != state)
        memcpy(to, state, wanted);
    memcpy(to, &header, sizeof header);
    return TABLE_OK;
}

/* Fails unless it is a saved state in every byte. */
static table_status check_saved(const void *from, size_t bytes, const struct sum_state *header) {
    const void *rows = (const char *)from + sizeof *header;
    if (header->magic == 0)
        return status_fail(TABLE_ERROR_STATE, "state: does not begin as the state of a sum does");
    if (state_kept("state", header) == TABLE_OK)
        return status_fail(TABLE_ERROR_STATE, "state: has no checksum, since it was not saved");
    if (header->checksum != checksum(*header, rows, bytes))
        return status_fail(TABLE_ERROR_STATE, "state: damaged, its checksum is not that of its bytes");
    return state_rows_clean("state", header, rows);
}

table_status table_state_load(const void *from, size_t bytes, void *state) {
    table_state_facts facts;
    TRY(state_pointer("state", state));
    TRY(table_state_describe(from, bytes, &facts));
    TRY(state_apart("from", from, "state", state, bytes, true));
    struct sum_state header = state_copy_header(from);
    TRY(check_saved(from, bytes, &header));
    header.version = STATE_VERSION;
    header.checksum = 0;
    if (state != from)
        memcpy(state, from, bytes);
    memcpy(state, &header, sizeof header);
    return TABLE_OK;
}
