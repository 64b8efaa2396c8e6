/* Shared memory: one arena for each block, its pieces set apart by zones that must not be touched. AddressSanitizer
 * watches the zones; without it they hold a pattern that is looked at when the block ends. */
#include <algorithm>

#include "internal.h"

namespace emulator {

namespace {

constexpr size_t ZONE = 64;
constexpr unsigned char ZONE_BYTE = 0xd7;

/* Aligned as much as was asked for and no more, so that a wider access than that is found by UBSan. Eight bytes are the
 * least that AddressSanitizer can tell apart. */
size_t next_offset(const block &in, size_t align) {
    const size_t unit = std::max<size_t>(align, 8);
    size_t offset = in.shared_used + ZONE;
    offset = (offset + unit - 1) / unit * unit;
    return offset / unit % 2 ? offset : offset + unit;
}

shared_piece &add_piece(block &in, const void *key, const char *name, size_t bytes, size_t align) {
    const size_t offset = next_offset(in, align);
    const as_worker memory;
    in.pieces.push_back({key, name, in.shared + offset, bytes});
    asan_unpoison(in.shared + offset, bytes);
    fill_raw(in.shared + offset, in.work->plan.fill, bytes);
    in.shared_used = offset + bytes;
    return in.pieces.back();
}

} // namespace

size_t shared_arena_bytes() { return SHARED_LIMIT + STATIC_SHARED_LIMIT + 64 * (ZONE + 256); }

void shared_open(block &in) {
    in.pieces.clear();
    in.shared_used = in.shared_static = 0;
    asan_unpoison(in.shared, shared_arena_bytes());
    if (!EMULATOR_ASAN)
        fill_raw(in.shared, ZONE_BYTE, shared_arena_bytes());
    asan_poison(in.shared, shared_arena_bytes());
    if (in.work->dynamic_bytes > 0)
        add_piece(in, nullptr, "dynamic", in.work->dynamic_bytes, 128);
}

void shared_close(block &in) {
    if (EMULATOR_ASAN)
        return;
    const unsigned char *from = in.shared;
    for (size_t piece = 0; piece <= in.pieces.size(); piece++) {
        const unsigned char *end = piece < in.pieces.size() ? in.pieces[piece].data : in.shared + in.shared_used + ZONE;
        for (const unsigned char *byte = from; byte < end; byte++)
            if (*byte != ZONE_BYTE) {
                const bool after = piece > 0;
                const shared_piece &near = in.pieces[after ? piece - 1 : piece];
                misuse_of(in.all[0], {near.name, 0},
                          "shared memory was written %zu bytes %s of '%s', which has %zu bytes",
                          after ? static_cast<size_t>(byte - from) : static_cast<size_t>(near.data - byte),
                          after ? "past the end" : "before the beginning", near.name, near.bytes);
                return;
            }
        if (piece < in.pieces.size())
            from = in.pieces[piece].data + in.pieces[piece].bytes;
    }
}

const shared_piece *shared_find(const block &in, const void *address, size_t bytes) {
    const unsigned char *from = static_cast<const unsigned char *>(address);
    for (const shared_piece &piece : in.pieces)
        if (from >= piece.data && from + bytes <= piece.data + piece.bytes)
            return &piece;
    return nullptr;
}

void *shared_array(const void *key, size_t count, size_t size, size_t align, const char *name, const char *file,
                   int line) {
    thread &self = current();
    block &in = *self.home;
    for (const shared_piece &piece : in.pieces)
        if (piece.key == key)
            return piece.data;
    self.at = {file, line};
    align = std::max<size_t>(align, 16); /* as the layer promises */
    const size_t bytes = count * size;
    in.shared_static = (in.shared_static + align - 1) / align * align + bytes;
    if (in.shared_static > STATIC_SHARED_LIMIT)
        misuse_of(self, self.at, "'%s' makes %zu bytes of fixed shared memory; %zu are the most", name,
                  in.shared_static, STATIC_SHARED_LIMIT);
    if (in.shared_static + in.work->dynamic_bytes > in.work->allowed_bytes)
        misuse_of(self, self.at, "'%s': %zu bytes of fixed and %zu of dynamic shared memory are more than %zu", name,
                  in.shared_static, in.work->dynamic_bytes, in.work->allowed_bytes);
    return add_piece(in, key, name, bytes, align).data;
}

void *shared_dynamic(const char *name, const char *file, int line) {
    thread &self = current();
    if (self.home->work->dynamic_bytes == 0)
        misuse_of(self, {file, line}, "'%s': the launch asked for no dynamic shared memory", name);
    return self.home->pieces[0].data;
}

} // namespace emulator
