#include "text/beside.h"

#include <stdlib.h>
#include <string.h>

/* Makes room for `bytes` bytes after those that wait. */
static bool make_room(struct text_beside *beside, size_t bytes) {
    const size_t waiting = beside->to - beside->from;
    if (bytes > beside->most || waiting > beside->most - bytes)
        return false;
    if (beside->from > beside->room / 2) {
        memmove(beside->bytes, beside->bytes + beside->from, waiting);
        beside->from = 0;
        beside->to = waiting;
    }
    if (beside->room - beside->to >= bytes)
        return true;
    const size_t room = 2 * (beside->to + bytes);
    char *more = realloc(beside->bytes, room);
    if (!more)
        return false;
    beside->bytes = more;
    beside->room = room;
    return true;
}

bool text_beside_put(struct text_beside *beside, const char *field, size_t length) {
    pthread_mutex_lock(&beside->lock);
    const bool fits = make_room(beside, length + 1);
    if (fits) {
        memcpy(beside->bytes + beside->to, field, length);
        beside->bytes[beside->to + length] = '\n';
        beside->to += length + 1;
    }
    pthread_mutex_unlock(&beside->lock);
    return fits;
}

bool text_beside_take(struct text_beside *beside, char **field, size_t *room) {
    bool taken = false;
    pthread_mutex_lock(&beside->lock);
    const char *from = beside->bytes + beside->from;
    const char *end = beside->to > beside->from ? memchr(from, '\n', beside->to - beside->from) : NULL;
    const size_t length = end ? (size_t)(end - from) : 0;
    char *to = end && length >= *room ? realloc(*field, 2 * length + 1) : *field;
    if (to != *field)
        *room = 2 * length + 1;
    if (end && to) {
        *field = to;
        memcpy(to, from, length);
        to[length] = '\0';
        beside->from += length + 1;
        taken = true;
    }
    pthread_mutex_unlock(&beside->lock);
    return taken;
}

bool text_beside_has(struct text_beside *beside, bool is_like(const char *from, const char *end)) {
    bool has = false;
    pthread_mutex_lock(&beside->lock);
    const char *from = beside->bytes + beside->from, *const stop = beside->bytes + beside->to;
    for (size_t k = 0; k < beside->count && from < stop && !has; k++) {
        const char *end = memchr(from, '\n', (size_t)(stop - from));
        has = is_like(from, end);
        from = end + 1;
    }
    pthread_mutex_unlock(&beside->lock);
    return has;
}

void text_beside_end(struct text_beside *beside) {
    free(beside->bytes);
    beside->bytes = NULL;
}
