/* What a call that is refused returns, says, and leaves alone. */
#ifndef REFUSAL_H
#define REFUSAL_H

#include "test.h"

/* Remembers what the memory holds, which no call that is expected from now on writes to. No bytes: of no memory. */
void watch(const void *memory, size_t bytes);

/* Fails the running test unless the call has returned the status, the word is in its reason, which is one line, and
 * watched memory is as it was. Messages name the call as it stands there. */
#define expect(CALL, STATUS, WORD) expect_refusal(CALL, STATUS, WORD, #CALL)
void expect_refusal(table_status found, table_status status, const char *word, const char *call);

#endif
