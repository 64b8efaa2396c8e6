/* Why fewer threads worked than were asked for. */
#ifndef THREADS_H
#define THREADS_H

#include <tuplescan/prefix_sum.h>

/* A line about --threads, if `took` (of the report) are fewer than `asked` (0: as many as help). */
void say_fewer_threads(unsigned asked, unsigned took, table_backend backend);

#endif
