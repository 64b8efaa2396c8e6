#include "refusal.h"

static const void *watched;
static void *before;
static size_t watched_bytes;

void watch(const void *memory, size_t bytes) {
    before = realloc(before, bytes + 1);
    assert_non_null(before);
    if (bytes > 0)
        memcpy(before, memory, bytes);
    watched = memory;
    watched_bytes = bytes;
}

void expect_refusal(table_status found, table_status status, const char *word, const char *call) {
    const char *const reason = table_error_detail();
    if (found != status)
        fail_msg("%s: expected %s, found %s (%s)", call, table_status_name(status), table_status_name(found), reason);
    if (!strstr(reason, word))
        fail_msg("%s: the reason should name \"%s\", and is: %s", call, word, reason);
    if (strstr(reason, "carry_in->") || strstr(reason, "carry_out->") || strstr(reason, "first_overflow->"))
        fail_msg("%s: the reason takes a pointer for a table: %s", call, reason);
    if (strchr(reason, '\n'))
        fail_msg("%s: the reason is not one line: %s", call, reason);
    if (watched_bytes > 0 && memcmp(watched, before, watched_bytes) != 0)
        fail_msg("%s: something was written", call);
}
