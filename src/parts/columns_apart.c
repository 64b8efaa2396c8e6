/* Whether columns that lie apart, and what the options name, share memory that is written. */
#include "columns_apart.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "checked.h"
#include "status.h"
#include "views.h"

table_view columns_view(const table_columns *table, size_t column) {
    const table_column *own = &table->columns[column];
    const bool is_said = own->stride != 0 && table->rows > 1; /* where the next value is */
    return (table_view){
        .data = own->data, .rows = table->rows, .columns = 1, .stride = is_said ? own->stride : 1, .type = table->type};
}

/* Memory that the call reads or writes, for the search for what lies in what. */
struct extent {
    const char *begin, *end;
    size_t width, pitch, place; /* bytes of a row, and from one to the next; the place: look_at_places() */
    struct table_view view;
    size_t column;       /* or NO_COLUMN */
    size_t next_written; /* among all that it is sorted with, beginning again after the last one; NO_COLUMN: none */
    const char *name;
    bool written;
};
#define NO_COLUMN SIZE_MAX

static int by_place(const void *a, const void *b) {
    const struct extent *left = a, *right = b;
    return (left->place > right->place) - (left->place < right->place);
}

static void put_extent(struct extent **to, const char *name, const struct table_view *view, size_t column,
                       bool written) {
    const size_t size = table_type_size(view->type);
    struct span span;
    if (!view->data || !view_span(view, &span) || span.bytes == 0)
        return;
    *(*to)++ = (struct extent){.begin = (const char *)span.lowest,
                               .end = (const char *)(span.lowest + span.bytes),
                               .width = view->columns * size,
                               .pitch = view_length(view->stride) * size,
                               .view = *view,
                               .column = column,
                               .name = name,
                               .written = written};
}

static table_status fail_overlap(const struct extent *a, const struct extent *b) {
    char left[64], right[64];
    snprintf(left, sizeof left, a->column == NO_COLUMN ? "%s" : "%s, column %zu", a->name, a->column);
    snprintf(right, sizeof right, b->column == NO_COLUMN ? "%s" : "%s, column %zu", b->name, b->column);
    return status_fail(TABLE_ERROR_OVERLAP, "%s, and %s share memory", left, right);
}

/* Two rows of carries may be one; what else the options name is bytes, U8. A column's own input and output were looked
 * at. */
static bool may_share(const struct extent *a, const struct extent *b) {
    if (!a->written && !b->written)
        return true;
    if (a->column == NO_COLUMN || b->column == NO_COLUMN)
        return a->column == b->column && a->begin == b->begin && a->end == b->end && a->view.type != TABLE_U8 &&
               b->view.type != TABLE_U8;
    return a->column == b->column;
}

static bool do_share(const struct extent *a, const struct extent *b) {
    return !may_share(a, b) && !views_are_apart(&a->view, &b->view);
}

/* Extents that are only read are not compared with each other, as there may be many in one place: next_written leads
 * from one to the next that is written, be it the first one again, as number `count` and so on. */
static void note_written(struct extent *extents, size_t count) {
    size_t next = NO_COLUMN;
    for (size_t i = 2 * count; i-- > 0;) {
        extents[i % count].next_written = next;
        next = extents[i % count].written ? i : next;
    }
}

/* The next one after number j that number i is compared with. */
static size_t next_after(const struct extent *extents, size_t count, size_t i, size_t j) {
    const size_t next = extents[j % count].next_written;
    if (extents[i].written)
        return j + 1;
    return next == NO_COLUMN ? next : next + (j < count ? 0 : count);
}

/* Looks at extents of which some may share memory. Each is compared with those that have their places within its own.
 *
 * Columns of one row-major table lie between each other: of one pitch, only those can share an element of which one has
 * its place in the pitch within the width of the other's rows; after the last place comes the first one again. The
 * place of others is where they begin, and their width is all that they have. */
static table_status look_at_places(struct extent *extents, size_t count, size_t pitch) {
    for (size_t i = 0; i < count; i++) {
        struct extent *own = &extents[i];
        own->place = pitch > 0 ? (uintptr_t)own->begin % pitch : (uintptr_t)own->begin;
        own->width = pitch > 0 ? own->width : (size_t)(own->end - own->begin);
    }
    qsort(extents, count, sizeof *extents, by_place);
    note_written(extents, count);
    for (size_t i = 0; i < count; i++)
        for (size_t j = next_after(extents, count, i, i); j < i + count; j = next_after(extents, count, i, j)) {
            const struct extent *next = &extents[j % count];
            const size_t shift = next->place - extents[i].place + (j < count ? 0 : pitch);
            if (shift >= extents[i].width)
                break;
            if (do_share(&extents[i], next))
                return fail_overlap(&extents[i], next);
        }
    return TABLE_OK;
}

/* Takes one heap after the other: nothing of a later heap lies in an earlier one. */
static table_status look_for_shared(struct extent *extents, size_t count) {
    for (size_t i = 0; i < count; i++)
        extents[i].place = (uintptr_t)extents[i].begin;
    qsort(extents, count, sizeof *extents, by_place);
    for (size_t first = 0, next; first < count; first = next) {
        const char *end = extents[first].end;
        size_t pitch = extents[first].pitch;
        for (next = first + 1; next < count && extents[next].begin < end; next++) {
            end = extents[next].end > end ? extents[next].end : end;
            pitch = extents[next].pitch == pitch ? pitch : 0;
        }
        TRY(look_at_places(extents + first, next - first, pitch));
    }
    return TABLE_OK;
}

static void put_option(struct extent **to, const char *name, const void *row, size_t count, table_type type,
                       bool written) {
    const struct table_view view = {
        .data = (void *)(uintptr_t)row, .rows = 1, .columns = count, .stride = (ptrdiff_t)count, .type = type};
    put_extent(to, name, &view, NO_COLUMN, written);
}

table_status columns_look_apart(const table_columns *a, const table_columns *in, const table_columns *out,
                                const table_scan_options *options, table_type kept, const void *state,
                                size_t state_bytes) {
    const size_t count = in->count, factors = a ? a->count : 0;
    size_t bytes;
    if (!checked_multiply(count, 3 * sizeof(struct extent), &bytes) ||
        !checked_add(bytes, 6 * sizeof(struct extent), &bytes))
        return status_fail(TABLE_ERROR_TOO_LARGE, "in: %zu columns are beyond the address space", count);
    struct extent *extents = malloc(bytes), *end = extents;
    if (!extents)
        return status_fail(TABLE_ERROR_HOST_MEMORY, "no %zu bytes of host memory to compare columns", bytes);
    for (size_t j = 0; j < count; j++) {
        const table_view from = columns_view(in, j), to = columns_view(out, j);
        put_extent(&end, a ? "b" : "in", &from, j, false);
        put_extent(&end, a ? "h" : "out", &to, j, true);
    }
    for (size_t j = 0; j < factors; j++) {
        const table_view of_column = columns_view(a, j);
        put_extent(&end, "a", &of_column, j, false);
    }
    if (factors > 0)
        put_option(&end, "options->first_coefficients", options->first_coefficients, factors, a->type, false);
    put_option(&end, "options->carry_in", options->carry_in, count, kept, false);
    put_option(&end, "options->carry_out", options->carry_out, count, kept, true);
    put_option(&end, "options->first_overflow", options->first_overflow, sizeof(uint64_t), TABLE_U8, true);
    put_option(&end, "options->skipped", options->skipped, sizeof(uint64_t), TABLE_U8, true);
    put_option(&end, "options->state", state, state_bytes, TABLE_U8, true);
    const table_status status = look_for_shared(extents, (size_t)(end - extents));
    free(extents);
    return status;
}
