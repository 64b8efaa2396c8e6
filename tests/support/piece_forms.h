/* The forms of call that a piece of a trial may be summed by: each opens tables at random, sums the piece, and requires
 * all that the call has left. */
#ifndef PIECE_FORMS_H
#define PIECE_FORMS_H

#include "trial.h"

enum { PIECE_FORMS = 10, FORM_ON_CPU = 1, FORM_AS_TABLES = 7 };

struct piece_form {
    const char *name;
    void (*sum)(struct trial *t);
    bool (*takes)(const struct trial *t);
};
extern const struct piece_form piece_forms[PIECE_FORMS];

bool is_on_cpu(const struct trial *t);

/* The form of table_stream(): piece_stream.c. */
void sum_stream(struct trial *t);

#endif
