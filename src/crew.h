/* Work in two rounds, each of them some pieces that may be done at the same time. */
#ifndef CREW_H
#define CREW_H

#include <tuplescan/status.h>

enum { CREW_ROUNDS = 2 };

struct crew_work {
    unsigned pieces[CREW_ROUNDS];
    void (*work)(void *job, unsigned round, unsigned piece);
    void (*between)(void *job); /* after all of the first round, before any of the second */
    void *job;
};

/* Returns when all is done. As many threads as a round has pieces take part, the calling one among them; where the
 * system grants fewer, they do one piece after the other. CANCELED: the caller of the call wanted it to end,
 * which pieces see by interrupt_came(). */
table_status crew_run(const struct crew_work *work);

#endif
