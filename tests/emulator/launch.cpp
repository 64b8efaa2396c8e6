/* A launch: checked as the runtime checks it, and run to its end by one or several workers. */
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <set>
#include <sys/mman.h>
#include <thread>

#include "cuda_runtime_api.h"
#include "internal.h"

namespace emulator {

namespace {

__thread worker *this_worker = nullptr;

/* ---- blocks are made once and used again: their stacks are large ---- */

char pool_lock;
std::vector<block *> &pool = *new std::vector<block *>; /* until the very end */

void lock_pool() {
    while (__atomic_test_and_set(&pool_lock, __ATOMIC_ACQUIRE))
        std::this_thread::yield();
    tsan_acquire(&pool_lock); /* an order of workers, not of blocks: workers learn nothing of what their blocks did */
}
void unlock_pool() {
    tsan_release(&pool_lock);
    __atomic_clear(&pool_lock, __ATOMIC_RELEASE);
}

unsigned char *map_memory(size_t bytes) {
    void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        perror("emulator: memory for a block");
        abort();
    }
    return static_cast<unsigned char *>(memory);
}

block *take_block() {
    block *taken = nullptr;
    lock_pool();
    if (!pool.empty()) {
        taken = pool.back();
        pool.pop_back();
    }
    unlock_pool();
    if (!taken) {
        taken = new block;
        taken->stacks = map_memory(STACK_BYTES * MOST_THREADS);
        taken->shared = map_memory(shared_arena_bytes());
    }
    return taken;
}

void give_block(block *used) {
    lock_pool();
    pool.push_back(used);
    unlock_pool();
}

/* ThreadSanitizer's threads are used again, too: it knows no more than 8128, and making one is slow. */
std::vector<void *> &tsan_pool = *new std::vector<void *>;

void *take_tsan_thread() {
    void *taken = nullptr;
    lock_pool();
    if (!tsan_pool.empty()) {
        taken = tsan_pool.back();
        tsan_pool.pop_back();
    }
    unlock_pool();
    return taken ? taken : tsan_thread_create();
}

void close_tsan_thread(void *used, launch_state &work) {
    if (work.failed) { /* it was left where it was, and no thread can go on in its name */
        void *self = tsan_thread();
        tsan_thread_switch(used);
        tsan_release(&work.sync);
        tsan_thread_switch(self);
        tsan_thread_destroy(used);
        return;
    }
    lock_pool();
    tsan_pool.push_back(used);
    unlock_pool();
}

/* ---- the life of a thread and of a block ---- */

constexpr uint64_t STACK_END = 0x656e64206f662073u;

void thread_main() {
    fiber_entered();
    {
        launch_state &work = *this_worker->work;
        tsan_acquire(&work.sync);
        work.body();
    }
    thread &self = current();
    warp &in = warp_of(self);
    block &home = *self.home;
    thread_returns(self);
    in.done |= lane_bit(self);
    make_wait(home, self.index / LANES, lane_bit(self));
    home.live--;
    progress();
    tsan_release(&home.work->sync);
    go_on();
    __builtin_trap();
}

void open_threads(block &in) {
    in.all.resize(in.threads);
    for (unsigned index = 0; index < in.threads; index++) {
        thread &each = in.all[index];
        unsigned char *stack = in.stacks + index * STACK_BYTES;
        memcpy(stack, &STACK_END, sizeof STACK_END);
        each.home = &in;
        each.index = index;
        each.at = place();
        each.run.tsan = take_tsan_thread();
        fiber_prepare(each.run, stack, STACK_BYTES, index, thread_main);
    }
}

void open_block(block &in, launch_state &work, unsigned index) {
    in.work = &work;
    in.index = index;
    in.threads = in.live = work.threads;
    in.arrived = in.barriers_passed = in.at_handover = 0;
    in.barrier_votes[0] = in.barrier_votes[1] = false;
    in.starved = work.plan.order == 3 && index == work.starved;
    in.ready_warps = in.turn = 0;
    in.late.clear();
    in.late_heads.clear();
    in.copies.clear();
    in.copy_barriers.clear();
    for (unsigned at = 0; at < MOST_WARPS; at++) {
        warp &each = in.warps[at];
        const unsigned lanes = at * LANES < in.threads ? std::min(in.threads - at * LANES, LANES) : 0;
        each.live = lanes == LANES ? ~uint32_t(0) : (uint32_t(1) << lanes) - 1;
        each.ready = each.met = each.barrier = each.takes = each.done = each.named = 0;
        if (lanes)
            make_ready(in, at, each.live);
    }
    open_threads(in);
    shared_open(in);
}

void close_block(block &in) {
    if (!in.work->failed)
        copies_close(in);
    show_all(in);
    if (!in.work->failed)
        shared_close(in);
    for (thread &each : in.all) {
        uint64_t word;
        memcpy(&word, in.stacks + each.index * STACK_BYTES, sizeof word);
        if (word != STACK_END && !in.work->failed)
            misuse_of(each, each.at, "its stack of %zu bytes was not enough for the emulator", STACK_BYTES);
        close_tsan_thread(each.run.tsan, *in.work);
    }
    if (in.work->failed)
        asan_unpoison(in.stacks, STACK_BYTES * in.threads);
    __atomic_fetch_sub(&in.work->unfinished, 1, __ATOMIC_RELAXED);
    give_block(&in);
}

/* ---- workers ---- */

void run_worker(launch_state &work, unsigned index, size_t room) {
    worker self;
    self.work = &work;
    self.index = index;
    self.room = room;
    self.random.state = work.seed ^ (index + 1) * 0x9e3779b97f4a7c15u;
    this_worker = &self;
    fiber_adopt(self.main);
    tsan_ignore(true); /* the engine's own */
    for (;;) {
        while (!work.failed && self.resident.size() < room) {
            const unsigned next = __atomic_fetch_add(&work.next, 1, __ATOMIC_RELAXED);
            if (next >= work.order.size())
                break;
            block *in = take_block();
            open_block(*in, work, work.order[next]);
            self.resident.push_back(in);
            tsan_release(&work.sync);
            progress();
        }
        if (self.resident.empty() || __atomic_load_n(&work.failed, __ATOMIC_RELAXED))
            break;
        schedule_first(self);
        self.inside = true;
        fiber_switch(self.main, self.current->run);
        self.inside = false;
        if (self.finished->live > 0)
            continue;
        self.resident.erase(std::find(self.resident.begin(), self.resident.end(), self.finished));
        close_block(*self.finished);
    }
    for (block *left : self.resident)
        close_block(*left);
    __atomic_store_n(&work.in_vain[index], HAS_ENDED, __ATOMIC_SEQ_CST);
    tsan_ignore(false);
    this_worker = nullptr;
}

std::vector<unsigned> order_of_blocks(const launch_state &work, random_numbers &random) {
    std::vector<unsigned> order(work.blocks);
    for (unsigned index = 0; index < work.blocks; index++)
        order[index] = work.plan.order == 1 ? work.blocks - 1 - index : index;
    if (work.plan.order >= 2)
        for (unsigned left = work.blocks; left > 1; left--)
            std::swap(order[left - 1], order[random.below(left)]);
    return order;
}

} // namespace

worker *here() { return this_worker; }

unsigned thread_index() { return current().index; }
unsigned block_threads() { return current().home->threads; }
unsigned block_index() { return current().home->index; }
unsigned block_count() { return this_worker->work->blocks; }

schedule plan_schedule(uint64_t seed, unsigned blocks, unsigned most) {
    random_numbers random = {seed};
    const unsigned rates[] = {1, 2, 8, 64};
    const char *threads = getenv("TUPLESCAN_EMULATOR_THREADS");
    schedule plan;
    plan.order = random.below(4);
    plan.resident = random.one_in(2) ? most : 1 + random.below(most);
    plan.system_threads = random.one_in(4);
    if (threads && *threads)
        plan.system_threads = *threads != '0';
    plan.system_threads = plan.system_threads && blocks > 1 && plan.resident > 1;
    plan.warp_order = random.below(3);
    plan.lane_order = random.below(3);
    plan.leave_warp = random.one_in(3) ? 4 : NEVER;
    plan.leave_block = random.one_in(3) ? 32 : NEVER;
    plan.give_way = rates[random.below(4)];
    plan.copy_delay = rates[random.below(4)];
    plan.late = EMULATOR_TSAN ? 0 : random.below(3);
    plan.fill = random.one_in(2) ? 0xff : 0xa5;
    return plan;
}

unsigned fit_blocks(unsigned threads, size_t shared_bytes) {
    const unsigned rounded = (threads + LANES - 1) / LANES * LANES;
    if (rounded == 0 || threads > MOST_THREADS || shared_bytes > SHARED_LIMIT)
        return 0;
    const size_t by_shared = PROCESSOR_SHARED / (shared_bytes + BLOCK_SHARED_RESERVED);
    return static_cast<unsigned>(std::min<size_t>({PROCESSOR_THREADS / rounded, PROCESSOR_BLOCKS, by_shared}));
}

void run_launch(launch_state &work) {
    random_numbers random = {work.seed};
    work.plan = plan_schedule(work.seed, work.blocks, processors() * fit_blocks(work.threads, work.dynamic_bytes));
    if (work.cooperative || work.plan.resident > work.blocks)
        work.plan.resident = work.blocks;
    work.starved = random.below(work.blocks);
    work.order = order_of_blocks(work, random);
    work.unfinished = work.blocks;
    work.in_vain.assign(work.plan.system_threads ? work.plan.resident : 1, HAS_HOPE);
    device_memory_reachable(true);
    tsan_release(&work.sync);
    if (work.plan.system_threads) {
        std::vector<std::thread> others;
        for (unsigned index = 1; index < work.plan.resident; index++)
            others.emplace_back([&work, index] { run_worker(work, index, 1); });
        run_worker(work, 0, 1);
        for (std::thread &other : others)
            other.join();
    } else {
        run_worker(work, 0, work.plan.resident);
    }
    tsan_acquire(&work.sync);
    device_memory_reachable(false);
}

/* ---- the door ---- */

namespace {
std::set<const void *> allowed; /* kernels that may have all shared memory there is */
}

int allow_shared_bytes(const void *kernel) {
    if (const int failed = runtime_call("cudaFuncSetAttribute"))
        return failed;
    lock_pool();
    allowed.insert(kernel);
    unlock_pool();
    return cudaSuccess;
}

int resident_blocks(const void *, unsigned threads, size_t shared_bytes, unsigned *blocks) {
    if (const int failed = runtime_call("cudaOccupancyMaxActiveBlocksPerMultiprocessor"))
        return failed;
    *blocks = processors() * fit_blocks(threads, shared_bytes);
    return *blocks == 0 ? cudaErrorInvalidConfiguration : cudaSuccess;
}

int launch(const void *kernel, const launch_shape &shape, void *stream, std::function<void()> body) {
    if (const int failed = runtime_call("a launch"))
        return failed;
    const int device = stream_device(stream);
    if (device != current_device())
        return cudaErrorInvalidResourceHandle;
    if (shape.blocks == 0 || shape.blocks > 0x7fffffffu || shape.threads == 0 || shape.threads > MOST_THREADS)
        return cudaErrorInvalidConfiguration;
    lock_pool();
    const size_t most = allowed.count(kernel) == 0 ? STATIC_SHARED_LIMIT : SHARED_LIMIT;
    unlock_pool();
    if (shape.shared_bytes > most)
        return cudaErrorInvalidValue;
    if (shape.cooperative && shape.blocks > processors() * fit_blocks(shape.threads, shape.shared_bytes))
        return cudaErrorCooperativeLaunchTooLarge;
    return enqueue(stream, [=] { /* more than once, when it is part of a graph */
                                 launch_state work = {};
                                 work.blocks = shape.blocks;
                                 work.threads = shape.threads;
                                 work.dynamic_bytes = shape.shared_bytes;
                                 work.allowed_bytes = most;
                                 work.cooperative = shape.cooperative;
                                 work.body = body;
                                 work.seed = seed_of_launch();
                                 running_device = device;
                                 run_launch(work);
    });
}

} // namespace emulator
