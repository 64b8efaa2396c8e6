/* Saved forms: the bytes of a state, but for the version, and a checksum of them all in the header. What is where is in
 * docs/formats.md. */
#include <string.h>

#include "crc32c.h"
#include "state_call.h"
#include "status.h"

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

/* The checksum of the header, whose own one counts as 0, and of what follows it. That of version 1 is never 0. */
static uint64_t checksum(struct sum_state header, const void *rows, size_t bytes) {
    const size_t after = bytes - sizeof header;
    header.checksum = 0;
    if (header.version == STATE_SAVED_VERSION)
        return crc32c(crc32c(0, &header, sizeof header), rows, after);
    const uint64_t sum = mix(mix(STATE_MAGIC, &header, sizeof header), rows, after);
    return sum ? sum : 1;
}

table_status table_state_save(const void *state, void *to, size_t bytes) {
    size_t wanted;
    if (!to)
        return status_fail(TABLE_ERROR_ARGUMENT, "to is a null pointer");
    table_status status = state_pointer("state", state);
    if (status == TABLE_OK)
        status = state_header("state", state, &wanted);
    if (status != TABLE_OK)
        return status;
    if (wanted == 0)
        return status_fail(TABLE_ERROR_STATE, "state: has not begun, and has no type and columns to be saved with");
    if (bytes < wanted)
        return status_fail(TABLE_ERROR_ARGUMENT, "bytes: %zu at `to`, and the state has %zu", bytes, wanted);
    status = state_apart("state", state, "to", to, wanted, true);
    if (status != TABLE_OK)
        return status;
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
    table_status status = state_pointer("state", state);
    if (status == TABLE_OK)
        status = table_state_describe(from, bytes, &facts);
    if (status == TABLE_OK)
        status = state_apart("from", from, "state", state, bytes, true);
    if (status != TABLE_OK)
        return status;
    struct sum_state header = state_copy_header(from);
    status = check_saved(from, bytes, &header);
    if (status != TABLE_OK)
        return status;
    header.version = STATE_VERSION;
    header.checksum = 0;
    if (state != from)
        memcpy(state, from, bytes);
    memcpy(state, &header, sizeof header);
    return TABLE_OK;
}
