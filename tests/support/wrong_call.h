/* A call of the scan that is right as it stands, of which a test makes one thing wrong; and what such a call gets: the
 * right status, the reason in table_error_detail(), and nothing written. */
#ifndef SUPPORT_WRONG_CALL_H
#define SUPPORT_WRONG_CALL_H

#include "refusal.h"

enum { ROWS = 10, COLUMNS = 4, CELLS = 2 * ROWS * COLUMNS };

struct call {
    table_view in, out, a; /* a: the coefficients, or without a type: no recurrence */
    table_scan_options options;
};

/* All memory that the calls could write to. */
struct call_memory {
    _Alignas(TABLE_WORKSPACE_ALIGNMENT) unsigned char workspace[1 << 16];
    _Alignas(TABLE_STATE_ALIGNMENT) unsigned char state[131 * 16 * COLUMNS + 64];
    uint64_t in[CELLS], out[CELLS], a[CELLS], first[COLUMNS], carry_in[COLUMNS], carry_out[COLUMNS], overflow[2];
    table_report report;
};
extern struct call_memory memory;
static inline void keep(void) { watch(&memory, sizeof memory); }

/* Fills the memory, too. */
struct call right_call(void);
struct call right_recurrence(void); /* of f32 */

/* What a call gets whose memory nothing is written to: one-call form, both stream forms, and all three. */
void expect_call(struct call call, table_status status, const char *word);
void expect_stream(struct call call, table_status status, const char *word);
void expect_all(struct call call, table_status status, const char *word);

/* A right call with something wrong made of it, in `all` forms, as one `call` or in both `stream` forms. */
#define WRONG(FORMS, STATUS, WORD, ...)                                                                                \
    do {                                                                                                               \
        struct call call = right_call();                                                                               \
        __VA_ARGS__;                                                                                                   \
        expect_##FORMS(call, TABLE_ERROR_##STATUS, WORD);                                                              \
    } while (0)

#define WRONG_RECURRENCE(STATUS, WORD, ...)                                                                            \
    do {                                                                                                               \
        struct call call = right_recurrence();                                                                         \
        __VA_ARGS__;                                                                                                   \
        expect_all(call, TABLE_ERROR_##STATUS, WORD);                                                                  \
    } while (0)

/* Any other call that is refused. */
#define REFUSED(CALL, STATUS, WORD)                                                                                    \
    do {                                                                                                               \
        keep();                                                                                                        \
        expect(CALL, TABLE_ERROR_##STATUS, WORD);                                                                      \
    } while (0)

#endif
