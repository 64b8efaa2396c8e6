/* Bulk copies into shared memory with the barriers that count their bytes. Until a copy is done its target holds a
 * pattern (and is poison to AddressSanitizer). It is done at some time between its start and when it is waited
 * for, in any order: to ThreadSanitizer each copy is a thread, started by whoever starts the copy and joined by whoever
 * waits for it. */
#include <cstring>

#include "internal.h"

namespace emulator {

namespace {

constexpr unsigned char NOT_COME = 0xe1;
constexpr int64_t MOST_PENDING = (1 << 20) - 1;

uint64_t stamp(const void *barrier) { return 0x6d62617272696572u ^ reinterpret_cast<uintptr_t>(barrier); }

copy_barrier &find_barrier(const thread &self, void *address, const char *what, place at) {
    uint64_t word = 0;
    for (auto &barrier : self.home->copy_barriers)
        if (barrier->address == address) {
            memcpy(&word, address, 8);
            if (word != stamp(address))
                misuse_of(self, at, "%s: the barrier's memory was overwritten", what);
            if (barrier->made_at == self.home->barriers_passed && barrier->maker->index / LANES != self.index / LANES)
                misuse_of(self, at, "%s: no block_barrier() since thread %u made the barrier", what,
                          barrier->maker->index);
            return *barrier;
        }
    misuse_of(self, at, "%s: not a barrier that bulk_barrier_init() made", what);
    __builtin_unreachable();
}

void look_at_phase(copy_barrier &barrier) {
    if (barrier.arrived == barrier.arrivals && barrier.pending == 0) {
        barrier.arrived = 0;
        barrier.phase++;
        progress();
    }
}

void arrive(copy_barrier &barrier, const thread &self, place at) {
    if (barrier.arrived == barrier.arrivals)
        misuse_of(self, at, "the barrier is for %u arrivals, all of which have come in this phase", barrier.arrivals);
    tsan_release(&barrier.sync);
    barrier.arrived++;
    look_at_phase(barrier);
}

void check_copy(const void *shared, const void *global, unsigned bytes, const char *what, place at) {
    thread &self = current();
    if (bytes == 0 || bytes % 16 != 0)
        misuse_of(self, at, "%s: %u bytes are not a positive multiple of 16", what, bytes);
    if (reinterpret_cast<uintptr_t>(shared) % 16 != 0 || reinterpret_cast<uintptr_t>(global) % 16 != 0)
        misuse_of(self, at, "%s: shared %p or global %p is not aligned to 16 bytes", what, shared, global);
    if (!shared_find(*self.home, shared, bytes))
        misuse_of(self, at, "%s: %u bytes at %p are not in the block's shared memory", what, bytes, shared);
    check_global(global, bytes, 16, what, at.file, at.line);
}

bool overlap(const unsigned char *a, size_t a_bytes, const void *b, size_t b_bytes) {
    const unsigned char *other = static_cast<const unsigned char *>(b);
    return a < other + b_bytes && other < a + a_bytes;
}

/* Shared memory that a copy still needs is not for another one. */
void check_in_use(const void *shared, unsigned bytes, const char *what, place at) {
    const thread &self = current();
    for (const auto &other : self.home->copies)
        if (overlap(other->to, other->bytes, shared, bytes))
            misuse_of(self, at, "%s: a bulk_load from %s:%d into this shared memory has not completed", what,
                      other->at.file, other->at.line);
}

void load_now(block &of, const copy &load) {
    asan_unpoison(load.to, load.bytes);
    copy_seen(load.to, load.from, load.bytes, true, true);
    for (auto &barrier : of.copy_barriers)
        if (barrier->address == load.barrier) {
            tsan_release(&barrier->sync);
            barrier->pending -= load.bytes;
            look_at_phase(*barrier);
        }
}

void forget(block &of, size_t index) {
    const as_worker memory;
    tsan_thread_destroy(of.copies[index]->tsan);
    if (index + 1 < of.copies.size())
        of.copies[index] = std::move(of.copies.back());
    of.copies.pop_back();
}

void complete(block &of, size_t index) {
    copy &now = *of.copies[index];
    void *self = tsan_thread();
    tsan_thread_switch(now.tsan);
    load_now(of, now);
    tsan_release(&of.work->sync);
    tsan_thread_switch(self);
    forget(of, index);
}

void add_copy(block &of, copy &&started) {
    {
        const as_worker memory;
        of.copies.emplace_back(new copy(std::move(started)));
    }
    if (here()->random.one_in(of.work->plan.copy_delay))
        complete_some_copy(of, here()->random);
}

} // namespace

void complete_some_copy(block &of, random_numbers &random) {
    if (!of.copies.empty())
        complete(of, random.below(static_cast<unsigned>(of.copies.size())));
}

void copies_close(block &of) {
    if (!of.copies.empty())
        return misuse_of(of.all[0], of.copies.back()->at, "bulk_load: the block ended without waiting for it");
    for (const auto &barrier : of.copy_barriers)
        if (barrier->pending != 0)
            misuse_of(*barrier->maker, barrier->maker->at, "the block ended with %lld announced bytes not come",
                      static_cast<long long>(barrier->pending));
}

void copy_barrier_init(void *address, unsigned arrivals, const char *file, int line) {
    thread &self = current();
    block &in = *self.home;
    self.at = {file, line};
    if (!shared_find(in, address, 8) || reinterpret_cast<uintptr_t>(address) % 8 != 0)
        misuse_of(self, self.at, "bulk_barrier_init: %p is not an aligned word of the block's shared memory", address);
    if (arrivals == 0 || arrivals >= 1u << 20)
        misuse_of(self, self.at, "bulk_barrier_init: %u arrivals", arrivals);
    for (const auto &barrier : in.copy_barriers)
        if (barrier->address == address)
            misuse_of(self, self.at, "bulk_barrier_init: the barrier was made already, by thread %u",
                      barrier->maker->index);
    const uint64_t word = stamp(address);
    memcpy(address, &word, 8);
    const as_worker memory;
    in.copy_barriers.emplace_back(new copy_barrier{address, arrivals, 0, 0, 0, &self, in.barriers_passed, 0});
}

void copy_barrier_expect(void *address, unsigned bytes, const char *file, int line) {
    thread &self = current();
    self.at = {file, line};
    copy_barrier &barrier = find_barrier(self, address, "bulk_barrier_expect", self.at);
    barrier.pending += bytes;
    if (barrier.pending > MOST_PENDING)
        misuse_of(self, self.at, "bulk_barrier_expect: %lld bytes are more than a barrier can count",
                  static_cast<long long>(barrier.pending));
    arrive(barrier, self, self.at);
}

bool copy_barrier_passed(void *address, unsigned parity, const char *file, int line) {
    thread &self = current();
    copy_barrier &barrier = find_barrier(self, address, "bulk_barrier_passed", {file, line});
    if (fault_is(EMULATOR_FAULT_COPY_WAIT))
        return true;
    if ((barrier.phase & 1) == (parity & 1))
        give_way(file, line, true);
    if ((barrier.phase & 1) == (parity & 1))
        return false;
    tsan_acquire(&barrier.sync);
    return true;
}

void copy_load(void *shared, const void *global, unsigned bytes, void *barrier, const char *file, int line) {
    thread &self = current();
    block &in = *self.home;
    self.at = {file, line};
    find_barrier(self, barrier, "bulk_load", self.at);
    check_copy(shared, global, bytes, "bulk_load", self.at);
    check_in_use(shared, bytes, "bulk_load", self.at);
    fill_raw(shared, NOT_COME, bytes);
    asan_poison(shared, bytes);
    add_copy(in, {static_cast<unsigned char *>(shared), static_cast<const unsigned char *>(global), bytes, barrier,
                  tsan_thread_create(), self.at});
}

} // namespace emulator
