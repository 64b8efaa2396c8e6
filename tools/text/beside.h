/* Fields that stand beside the values of a table and are no values, such as dates: the thread that reads rows puts them
 * in, the one that writes rows takes them out again. */
#ifndef TEXT_BESIDE_H
#define TEXT_BESIDE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct text_beside {
    size_t count;   /* fields of each row */
    size_t most;    /* bytes that may wait */
    bool has_begun; /* the names, if there are any, are in it */
    pthread_mutex_t lock;
    char *bytes; /* from `from` to `to` wait, a line feed after each field */
    size_t from, to, room;
};

/* False, when they would be more than may wait, or there is no memory. */
bool text_beside_put(struct text_beside *beside, const char *field, size_t length);

/* Copies the next field to *field, whose room grows, and adds a '\0'. False when there is none, or no memory. */
bool text_beside_take(struct text_beside *beside, char **field, size_t *room);

/* Whether one of the next `count` fields is like that. */
bool text_beside_has(struct text_beside *beside, bool is_like(const char *from, const char *end));

void text_beside_end(struct text_beside *beside);

#endif
