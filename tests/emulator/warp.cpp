/* Meetings: operations of a warp, and the barrier of a block. Whoever comes out of step is an error at once. */
#include "internal.h"

namespace emulator {

namespace {

const char *const NAMES[] = {"warp_shuffle", "warp_shuffle_xor", "warp_shuffle_up", "warp_ballot", "warp_all",
                             "warp_any",     "warp_match",       "warp_and",        "warp_sum",    "warp_barrier"};

bool same_place(place a, place b) { return a.line == b.line && a.file == b.file; }

void check_lanes(const thread &self, const warp &in, meeting kind, unsigned mask, place at) {
    const block &home = *self.home;
    const unsigned first = self.index / LANES * LANES;
    if (!(mask & lane_bit(self)))
        misuse_of(self, at, "%s: the mask %08x does not name the calling lane", NAMES[kind], mask);
    if (mask & ~in.live)
        misuse_of(self, at, "%s: the mask %08x names lanes beyond the block's %u threads", NAMES[kind], mask,
                  home.threads);
    if (const uint32_t gone = mask & in.done)
        misuse_of(self, at, "%s: the mask %08x names thread %u, which has returned", NAMES[kind], mask,
                  first + static_cast<unsigned>(__builtin_ctz(gone)));
    if (const uint32_t away = mask & in.barrier) {
        const thread &other = home.all[first + static_cast<unsigned>(__builtin_ctz(away))];
        misuse_of(self, at, "%s: the mask %08x names thread %u, which waits at the block's barrier at %s:%d",
                  NAMES[kind], mask, other.index, other.at.file, other.at.line);
    }
}

bool same_meeting(const warp::slot &a, meeting kind, unsigned mask, place at) {
    return a.kind == kind && a.mask == mask && (kind == WARP_BARRIER || same_place(a.at, at));
}

/* Two lanes that wait for each other must have come for the same; a warp_barrier() may be met by one elsewhere in the
 * code. A lane that waits for others first may come later. */
void check_step(const thread &self, const warp &in, meeting kind, unsigned mask, place at) {
    uint32_t others = in.met & mask;
    if (others && same_meeting(in.slots[__builtin_ctz(others)], kind, mask, at))
        return; /* mostly; and the one before has compared itself with the others */
    for (; others; others &= others - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctz(others));
        const warp::slot &other = in.slots[lane];
        if ((other.mask & lane_bit(self)) && !same_meeting(other, kind, mask, at))
            misuse_of(self, at, "%s with mask %08x, while thread %u waits in %s with mask %08x at %s:%d", NAMES[kind],
                      mask, self.index / LANES * LANES + lane, NAMES[other.kind], other.mask, other.at.file,
                      other.at.line);
    }
}

/* Whether all that the mask names wait for just this. */
bool all_met(const warp &in, const warp::slot &mine) {
    if ((in.met & mine.mask) != mine.mask)
        return false;
    for (uint32_t rest = mine.mask; rest; rest &= rest - 1) {
        const warp::slot &other = in.slots[__builtin_ctz(rest)];
        if (!same_meeting(other, mine.kind, mine.mask, mine.at))
            return false;
    }
    return true;
}

/* A lane that goes where its warp cannot follow: no other lane will meet those that wait for it. */
void check_not_named(const thread &self, const warp &in, const char *what, place at) {
    for (uint32_t rest = in.named & lane_bit(self) ? in.met : 0; rest; rest &= rest - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        const warp::slot &other = in.slots[lane];
        if (other.mask & lane_bit(self))
            misuse_of(self, at, "%s, while thread %u waits for it in %s with mask %08x at %s:%d", what,
                      self.index / LANES * LANES + lane, NAMES[other.kind], other.mask, other.at.file, other.at.line);
    }
}

unsigned source_lane(const warp::slot &of, unsigned lane) {
    switch (of.kind) {
    case SHUFFLE:
        return of.argument % LANES;
    case SHUFFLE_XOR:
        return (lane ^ of.argument) < LANES ? lane ^ of.argument : lane;
    case SHUFFLE_UP:
        return of.argument <= lane ? lane - of.argument : lane;
    default:
        return lane;
    }
}

uint64_t outcome(const thread &self, const warp &in, unsigned lane, uint32_t votes) {
    const warp::slot &of = in.slots[lane];
    uint32_t alike = 0;
    switch (of.kind) {
    case BALLOT:
        return votes;
    case ALL:
        return votes == of.mask;
    case ANY:
        return votes != 0;
    case MATCH:
        for (unsigned other = 0; other < LANES; other++)
            if (of.mask >> other & 1 && in.slots[other].value == of.value)
                alike |= uint32_t(1) << other;
        return alike;
    case AND:
        alike = ~uint32_t(0);
        for (uint32_t rest = of.mask; rest; rest &= rest - 1)
            alike &= static_cast<uint32_t>(in.slots[__builtin_ctz(rest)].value);
        return alike;
    case SUM:
        alike = 0;
        for (uint32_t rest = of.mask; rest; rest &= rest - 1)
            alike += static_cast<uint32_t>(in.slots[__builtin_ctz(rest)].value);
        return alike;
    case WARP_BARRIER:
        return 0;
    default:
        break;
    }
    const unsigned from = source_lane(of, lane);
    if (!(of.mask >> from & 1)) {
        const thread &asker = self.home->all[self.index / LANES * LANES + lane];
        misuse_of(asker, of.at, "%s: lane %u asks for the value of lane %u, which the mask %08x does not name",
                  NAMES[of.kind], lane, from, of.mask);
    }
    return in.slots[from].value;
}

__attribute__((noinline)) void resolve(const thread &self, warp &in, unsigned mask) {
    uint64_t results[LANES];
    uint32_t votes = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        votes |= uint32_t(in.slots[lane].value != 0) << lane;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        results[lane] = outcome(self, in, lane, votes);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
        in.slots[lane].value = results[lane];
    }
    in.met &= ~mask;
    in.named = 0;
    for (uint32_t rest = in.met; rest; rest &= rest - 1)
        in.named |= in.slots[__builtin_ctz(rest)].mask;
    make_ready(*self.home, self.index / LANES, mask);
}

} // namespace

void thread_returns(const thread &self) {
    const block &in = *self.home;
    check_not_named(self, warp_of(self), "returned", self.at);
    if (in.arrived > 0)
        misuse_of(self, self.at, "returned, while thread %u waits at the block's barrier at %s:%d",
                  in.barrier_first->index, in.barrier_at.file, in.barrier_at.line);
}

uint64_t meet(meeting kind, unsigned mask, uint64_t value, unsigned argument, const char *file, int line) {
    thread &self = current();
    warp &in = warp_of(self);
    const place at = self.at = {file, line};
    if (kind == WARP_BARRIER && fault_is(EMULATOR_FAULT_WARP_BARRIER))
        return 0;
    if (fault_is(EMULATOR_FAULT_MASK))
        mask &= ~(uint32_t(1) << fault_which() % LANES);
    check_lanes(self, in, kind, mask, at);
    check_step(self, in, kind, mask, at);
    warp::slot &mine = in.slots[self.index % LANES];
    mine = {kind, mask, argument, value, at};
    if (kind == WARP_BARRIER)
        tsan_release(&in);
    in.met |= lane_bit(self);
    in.named |= mask;
    make_wait(*self.home, self.index / LANES, lane_bit(self));
    if (all_met(in, mine))
        resolve(self, in, mask);
    go_on();
    if (kind == WARP_BARRIER)
        tsan_acquire(&in);
    return mine.value;
}

bool block_barrier(bool vote, const char *file, int line) {
    thread &self = current();
    block &in = *self.home;
    warp &mine = warp_of(self);
    const place at = self.at = {file, line};
    if (fault_removes_barrier(at))
        return vote;
    check_not_named(self, mine, "waits at the block's barrier", at);
    if (in.live < in.threads)
        misuse_of(self, at, "block_barrier: %u threads of the block have returned and will never come",
                  in.threads - in.live);
    if (in.arrived == 0) {
        in.barrier_at = at;
        in.barrier_first = &self;
    } else if (!same_place(at, in.barrier_at)) {
        misuse_of(self, at, "block_barrier, while thread %u waits in another one, at %s:%d", in.barrier_first->index,
                  in.barrier_at.file, in.barrier_at.line);
    }
    const unsigned generation = in.barriers_passed & 1;
    in.barrier_votes[generation] |= vote;
    tsan_release(&in.barrier_sync[generation]);
    mine.barrier |= lane_bit(self);
    make_wait(in, self.index / LANES, lane_bit(self));
    if (++in.arrived == in.threads) {
        in.arrived = 0;
        in.barriers_passed++;
        in.barrier_votes[generation ^ 1] = false; /* all have read it that are here */
        for (unsigned index = 0; index * LANES < in.threads; index++) {
            in.warps[index].barrier = 0;
            make_ready(in, index, in.warps[index].live);
        }
        in.turn = ~uint32_t(0);
        if (here()->random.one_in(2)) /* any warp may be the first to go on */
            mine.turn = 0;
    }
    go_on();
    tsan_acquire(&in.barrier_sync[generation]);
    return in.barrier_votes[generation];
}

void block_handover(bool takes, const char *file, int line) {
    thread &self = current();
    block &in = *self.home;
    warp &mine = warp_of(self);
    const place at = self.at = {file, line};
    if (fault_removes_barrier(at))
        return;
    tsan_release(&in.handover_sync);
    if (takes) {
        check_not_named(self, mine, "waits for what is handed over", at);
        mine.takes |= lane_bit(self);
        make_wait(in, self.index / LANES, lane_bit(self));
    }
    if (++in.at_handover == in.threads) {
        in.at_handover = 0;
        for (unsigned index = 0; index * LANES < in.threads; index++) {
            make_ready(in, index, in.warps[index].takes);
            in.warps[index].takes = 0;
        }
        progress();
    }
    if (!takes)
        return give_way(file, line, false);
    go_on();
    tsan_acquire(&in.handover_sync);
}

} // namespace emulator
