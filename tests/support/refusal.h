/* What a call that is refused says. */
#ifndef REFUSAL_H
#define REFUSAL_H

#include <string.h>

#include <tuplescan/status.h>

#include "test.h"

/* Fails the running test unless the call returned `status`, with the word in its reason. */
static inline void expect(table_status found, table_status status, const char *word) {
    if (found == status && strstr(table_error_detail(), word))
        return;
    print_error("%s: %s, and not %s: %s\n", table_status_name(found), table_error_detail(), table_status_name(status),
                word);
    fail();
}

#endif
