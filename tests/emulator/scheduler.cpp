/* Which thread runs next, and when none can. */
#include <cstdio>
#include <sched.h>

#include "internal.h"

namespace emulator {

namespace {

/* Without progress: more than the check for overflow reads of a table here. A count, not a time: a machine that is slow
 * asks as often as another one. */
uint64_t most_polls = 8000000;
constexpr uint64_t POLLS_BETWEEN_LOOKS = 4096;
constexpr uint64_t POLLS_OF_A_THREAD =
    512; /* four for each look after which kernels help themselves, twice (device.cuh) */
constexpr uint64_t STARVED_POLLS = 256;
/* The machine may give a yielded processor to another program, for milliseconds: a worker that has work does it seldom,
 * and so does one that has asked in vain for long, which may be forever. */
constexpr unsigned CHANGES_A_YIELD = 64;
constexpr uint64_t POLLS_WITH_YIELDS = 32768;

unsigned choose_bit(uint32_t bits, unsigned order, random_numbers &random) {
    if (order == 0)
        return static_cast<unsigned>(__builtin_ctz(bits));
    if (order == 1)
        return 31u - static_cast<unsigned>(__builtin_clz(bits));
    const unsigned by = random.below(32);
    const uint32_t turned = by ? bits >> by | bits << (32 - by) : bits;
    return (static_cast<unsigned>(__builtin_ctz(turned)) + by) % 32;
}

thread *choose_lane(worker &self, block &in, unsigned index) {
    warp &of = in.warps[index];
    const unsigned lane = choose_bit(of.ready & of.turn, self.work->plan.lane_order, self.random);
    of.turn &= ~(uint32_t(1) << lane);
    return &in.all[index * LANES + lane];
}

thread *choose_warp(worker &self, block &in) {
    const uint32_t warps = in.ready_warps & in.turn;
    if (!warps)
        return nullptr;
    const unsigned index = choose_bit(warps, self.work->plan.warp_order, self.random);
    in.turn &= ~(uint32_t(1) << index);
    if ((in.warps[index].ready & in.warps[index].turn) == 0)
        in.warps[index].turn = ~uint32_t(0);
    return choose_lane(self, in, index);
}

/* Stays in the warp until each lane that can has run, mostly; then takes another warp; NULL when each had its turn. The
 * lanes that had none are the first when the warp is taken again: a lane that can go on does so some time, as on GPUs
 * whose threads are scheduled by themselves, whatever the others of its warp wait for. */
thread *choose_in_block(worker &self, block &in, unsigned now) {
    if ((in.warps[now].ready & in.warps[now].turn) && !self.random.one_in(self.work->plan.leave_warp))
        return choose_lane(self, in, now);
    return choose_warp(self, in);
}

/* Each has a thread that can go on: where the last one begins to wait, that is told. */
block *choose_block(worker &self) {
    const size_t count = self.resident.size(), first = self.random.below(static_cast<unsigned>(count));
    block *chosen = nullptr;
    for (size_t index = 0; index < count; index++) {
        chosen = self.resident[(first + index) % count];
        if (!chosen->starved || self.polls >= STARVED_POLLS)
            break;
    }
    return chosen;
}

/* A thread of a block that another one was left for. Where blocks are left before all warps had their turn, any of them
 * have it now: if it were always the first ones, the last might never have it. */
thread *enter_block(worker &self, block &in) {
    in.turn = self.work->plan.leave_block == NEVER ? ~uint32_t(0) : static_cast<uint32_t>(self.random.next());
    if (!(in.ready_warps & in.turn))
        in.turn = ~uint32_t(0);
    return choose_warp(self, in);
}

/* "thread 5 at warp_shuffle (file:line)" for the first few threads that wait. */
void list_waiting(const block &in, char *text, size_t room) {
    size_t used = 0;
    unsigned listed = 0;
    place last;
    for (unsigned index = 0; index < in.threads && used < room; index++) {
        const warp &of = in.warps[index / LANES];
        const uint32_t bit = uint32_t(1) << index % LANES;
        if (of.done & bit)
            continue;
        const place at = in.all[index].at;
        if (at.line == last.line && at.file == last.file)
            continue;
        last = at;
        if (++listed > 6)
            break;
        const char *where = of.barrier & bit ? "at the block's barrier"
                            : of.takes & bit ? "for what is handed over"
                            : of.met & bit   ? "for lanes of its warp"
                                             : "for a word, a copy or another block";
        const int more = snprintf(text + used, room - used, "%s thread %u waits %s at %s:%d", listed > 1 ? ";" : "",
                                  index, where, at.file ? at.file : "its start", at.line);
        used += more > 0 ? static_cast<size_t>(more) : 0;
    }
}

/* Returns only to the worker itself. */
void stuck(block &in, const char *why) {
    static __thread char text[1024];
    {
        const as_worker engine;
        list_waiting(in, text, sizeof text);
    }
    const thread *who = &in.all[0];
    for (const thread &each : in.all)
        if (!(in.warps[each.index / LANES].done & uint32_t(1) << each.index % LANES)) {
            who = &each;
            break;
        }
    misuse_of(*who, who->at, "%s:%s", why, text);
}

/* Whether every worker has asked in vain for so long, all of them since the same change. One that the system lets wait
 * has not asked; so it is not this machine's doing. */
bool all_wait_forever(worker &self) {
    launch_state &work = *self.work;
    __atomic_store_n(&work.in_vain[self.index], self.seen_progress, __ATOMIC_SEQ_CST);
    for (const uint64_t &other : work.in_vain) {
        const uint64_t since = __atomic_load_n(&other, __ATOMIC_SEQ_CST);
        if (since != self.seen_progress && since != HAS_ENDED)
            return false;
    }
    return __atomic_load_n(&work.progress, __ATOMIC_SEQ_CST) == self.seen_progress;
}

/* Nothing came of all that waiting: what may be late comes now, and if that was all, it would be forever. */
void look_for_hang(worker &self) {
    launch_state &work = *self.work;
    const uint64_t progress = __atomic_load_n(&work.progress, __ATOMIC_RELAXED);
    if (progress != self.seen_progress) {
        self.seen_progress = progress;
        self.polls = 0;
        return;
    }
    if (self.polls % 64 == 0)
        for (block *each : self.resident)
            show_all(*each);
    if (self.polls % 64 == 1)
        for (block *each : self.resident)
            complete_some_copy(*each, self.random);
    if (self.polls > most_polls && self.polls > POLLS_OF_A_THREAD * work.threads * self.resident.size() &&
        self.polls % POLLS_BETWEEN_LOOKS == 0 && all_wait_forever(self))
        stuck(*self.current->home, work.next < work.blocks
                                       ? "waits forever; blocks that have not started are waited for, or nothing is"
                                       : "waits forever");
}

} // namespace

void make_ready(block &in, unsigned index, uint32_t lanes) {
    in.warps[index].ready |= lanes;
    in.warps[index].turn |= lanes;
    if (in.warps[index].ready)
        in.ready_warps |= uint32_t(1) << index;
}

void make_wait(block &in, unsigned index, uint32_t lanes) {
    in.warps[index].ready &= ~lanes;
    if (!in.warps[index].ready)
        in.ready_warps &= ~(uint32_t(1) << index);
}

void go_on() {
    worker &self = *here();
    thread &from = *self.current;
    block &in = *from.home;
    const bool last = warp_of(from).done & lane_bit(from);
    if (in.live == 0 || __atomic_load_n(&self.work->failed, __ATOMIC_RELAXED)) {
        self.finished = &in;
        fiber_switch(from.run, self.main, last);
        return;
    }
    if (!in.ready_warps)
        stuck(in, "waits forever");
    thread *to =
        self.random.one_in(self.work->plan.leave_block) ? nullptr : choose_in_block(self, in, from.index / LANES);
    if (!to) {
        in.turn = ~uint32_t(0);
        const bool starved = self.polls >= STARVED_POLLS && self.polls < POLLS_WITH_YIELDS;
        if (self.work->plan.system_threads && (starved || self.random.one_in(CHANGES_A_YIELD)))
            sched_yield();
        to = enter_block(self, *choose_block(self));
    }
    if (to == &from)
        return;
    self.current = to;
    fiber_switch(from.run, to->run, last);
}

void give_way(const char *file, int line, bool waiting) {
    worker &self = *here();
    self.current->at = {file, line};
    self.polls++;
    look_for_hang(self);
    if (waiting && self.random.one_in(self.work->plan.copy_delay))
        complete_some_copy(*self.current->home, self.random);
    if (self.random.one_in(16))
        show_one(*self.current->home, self.random);
    if (waiting || self.random.one_in(self.work->plan.give_way))
        go_on();
}

void schedule_first(worker &self) { self.current = enter_block(self, *choose_block(self)); }

void progress() { __atomic_fetch_add(&here()->work->progress, 1, __ATOMIC_RELAXED); }

} // namespace emulator

void emulator_patience(uint64_t polls) { emulator::most_polls = polls; }
