#include "interrupt.h"

#include <stdatomic.h>
#include <time.h>

#include "seconds.h"
#include "status.h"

int64_t interrupt_ask_ms = 100;

struct interrupt {
    table_interrupt set;
    int64_t asked;  /* when, in milliseconds */
    unsigned depth; /* of work within work */
    bool is_held;   /* the caller is not asked for now */
    atomic_bool came;
};

static _Thread_local struct interrupt own;
static _Thread_local struct interrupt *current; /* &own, or that of the caller for whom this thread works */

table_interrupt table_set_interrupt(table_interrupt interrupt) {
    const table_interrupt before = own.set;
    own.set = interrupt;
    return before;
}

struct interrupt *interrupt_begin(void) {
    if (!current && own.set.ask) {
        const int64_t now = milliseconds_now();
        current = &own;
        atomic_store(&own.came, false);
        if (now - own.asked > interrupt_ask_ms) /* the caller has had its turn meanwhile */
            own.asked = now;
    }
    if (current == &own)
        own.depth++;
    return current;
}

void interrupt_follow(struct interrupt *interrupt) { current = interrupt; }

bool interrupt_came(void) {
    if (!current || atomic_load_explicit(&current->came, memory_order_relaxed))
        return current != NULL;
    if (current != &own || own.is_held || !own.set.ask || milliseconds_now() - own.asked < interrupt_ask_ms)
        return false;
    own.is_held = true;
    const bool came = own.set.ask(own.set.context) != 0;
    own.is_held = false;
    own.asked = milliseconds_now();
    if (came)
        atomic_store(&own.came, true);
    return came;
}

void interrupt_wait(pthread_cond_t *moved, pthread_mutex_t *mutex) {
    const struct timespec then = moment_after(CLOCK_REALTIME, interrupt_ask_ms);
    if (current != &own) {
        pthread_cond_wait(moved, mutex);
        return;
    }
    pthread_cond_timedwait(moved, mutex, &then);
    pthread_mutex_unlock(mutex);
    interrupt_came();
    pthread_mutex_lock(mutex);
}

bool interrupt_hold(bool is_held) {
    const bool before = own.is_held;
    own.is_held = is_held;
    return before;
}

table_status interrupt_end(void) {
    const bool came = interrupt_came();
    if (current == &own && --own.depth == 0)
        current = NULL;
    return came ? status_fail(TABLE_ERROR_CANCELED, "the interrupt of this thread ended the call") : TABLE_OK;
}
