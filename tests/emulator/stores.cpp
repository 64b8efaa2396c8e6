/* Stores that other blocks see late. A block's stores through the layer wait in a list until it releases, or until they
 * are taken out at random; its own loads look there first. Not used under ThreadSanitizer, which knows without it which
 * accesses are ordered. */
#include <cstring>

#include "internal.h"

namespace emulator {

namespace {

constexpr size_t MOST_LATE = 8192, HEADS = 8192;

/* Stores are aligned to their size, at most 16 bytes, so each lies in one granule of 16. */
int32_t &head_of(block &of, const void *address) {
    const uint64_t granule = reinterpret_cast<uintptr_t>(address) >> 4;
    return of.late_heads[granule * 0x9e3779b97f4a7c15u >> 51];
}

void show(const late_store &store) {
    switch (store.bytes) {
    case 1:
        __atomic_store_n(store.to, store.value[0], __ATOMIC_RELAXED);
        break;
    case 2: {
        uint16_t bits;
        memcpy(&bits, store.value, 2);
        __atomic_store_n(reinterpret_cast<uint16_t *>(store.to), bits, __ATOMIC_RELAXED);
        break;
    }
    case 4: {
        uint32_t bits;
        memcpy(&bits, store.value, 4);
        __atomic_store_n(reinterpret_cast<uint32_t *>(store.to), bits, __ATOMIC_RELAXED);
        break;
    }
    case 8: {
        uint64_t bits;
        memcpy(&bits, store.value, 8);
        __atomic_store_n(reinterpret_cast<uint64_t *>(store.to), bits, __ATOMIC_RELAXED);
        break;
    }
    default:
        store_sixteen(store.to, store.value);
        break;
    }
}

/* The entry that touches the bytes, or NULL. There is at most one: a newer one takes the older's place. */
late_store *find(block &of, const void *address, size_t bytes) {
    if (of.late.empty())
        return nullptr;
    const unsigned char *from = static_cast<const unsigned char *>(address);
    for (int32_t index = head_of(of, address); index >= 0; index = of.late[static_cast<size_t>(index)].next) {
        late_store &store = of.late[static_cast<size_t>(index)];
        if (store.to < from + bytes && from < store.to + store.bytes)
            return &store;
    }
    return nullptr;
}

} // namespace

void show_all(block &of) {
    if (of.late.empty())
        return;
    for (const late_store &store : of.late)
        if (store.bytes > 0)
            show(store);
    of.late.clear();
    of.late_heads.assign(HEADS, -1);
    progress();
}

void show_one(block &of, random_numbers &random) {
    if (of.late.empty() || of.work->plan.late == 1)
        return;
    late_store &store = of.late[random.below(static_cast<unsigned>(of.late.size()))];
    if (store.bytes == 0)
        return;
    show(store);
    store.bytes = 0; /* it stays in the list, and touches nothing */
    progress();
}

bool store_late(void *to, const void *value, size_t bytes) {
    worker &self = *here();
    block &of = *self.current->home;
    const unsigned late = of.work->plan.late;
    const bool at_once = EMULATOR_TSAN || late == 0 || (late == 2 && self.random.one_in(2)) || bytes > 16;
    if (late_store *old = find(of, to, bytes)) {
        if (old->to == to && old->bytes == bytes && !at_once) {
            memcpy(old->value, value, bytes);
            return true;
        }
        show_all(of);
    }
    if (at_once)
        return false;
    if (of.late.size() >= MOST_LATE)
        show_all(of);
    if (of.late_heads.empty())
        of.late_heads.assign(HEADS, -1);
    int32_t &head = head_of(of, to);
    of.late.push_back({static_cast<unsigned char *>(to), static_cast<unsigned char>(bytes), {}, head});
    memcpy(of.late.back().value, value, bytes);
    head = static_cast<int32_t>(of.late.size()) - 1;
    return true;
}

bool load_own(const void *from, void *value, size_t bytes) {
    block &of = *current().home;
    const late_store *store = find(of, from, bytes);
    if (!store)
        return false;
    if (store->to != from || store->bytes != bytes) { /* a part of one, or of several */
        show_all(of);
        return false;
    }
    memcpy(value, store->value, bytes);
    return true;
}

void show_stores_at(const void *address) {
    block &of = *current().home;
    if (find(of, address, 1))
        show_all(of);
}

void show_stores() { show_all(*current().home); }

#if defined(__x86_64__)
void store_sixteen(void *to, const void *value) {
    uint64_t wanted[2], low, high;
    memcpy(wanted, value, 16);
    low = static_cast<volatile uint64_t *>(to)[0];
    high = static_cast<volatile uint64_t *>(to)[1];
    asm volatile("1: lock cmpxchg16b (%2)\n\tjnz 1b"
                 : "+a"(low), "+d"(high)
                 : "r"(to), "b"(wanted[0]), "c"(wanted[1])
                 : "memory", "cc");
}
void load_sixteen(const void *from, void *value) {
    uint64_t got[2] = {0, 0};
    asm volatile("lock cmpxchg16b (%2)"
                 : "+a"(got[0]), "+d"(got[1])
                 : "r"(from), "b"(0ull), "c"(0ull)
                 : "memory", "cc");
    memcpy(value, got, 16);
}
#else
void store_sixteen(void *to, const void *value) { memcpy(to, value, 16); }
void load_sixteen(const void *from, void *value) { memcpy(value, from, 16); }
#endif

/* ThreadSanitizer knows no fences; what they order here are atomic words. */
void fence() {
#if !EMULATOR_TSAN
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

} // namespace emulator
