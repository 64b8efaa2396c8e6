/* The engine's own: blocks, warps and threads of a launch, and the workers that run them. */
#ifndef EMULATOR_INTERNAL_H
#define EMULATOR_INTERNAL_H

#include <cstdarg>
#include <memory>
#include <string>
#include <vector>

#include "emulator.h"
#include "engine.h"
#include "fiber.h"
#include "splitmix64.h"

namespace emulator {

/* The device that is played. Small, so that a few blocks fill it. */
constexpr unsigned PROCESSOR_THREADS = 1024, PROCESSOR_BLOCKS = 16;
constexpr size_t PROCESSOR_SHARED = 228 * 1024, BLOCK_SHARED_RESERVED = 1024;
constexpr size_t STATIC_SHARED_LIMIT = 48 * 1024, SHARED_LIMIT = 227 * 1024;
constexpr unsigned LANES = 32, MOST_THREADS = 1024, MOST_WARPS = MOST_THREADS / LANES;
constexpr size_t STACK_BYTES = EMULATOR_ASAN ? 128 * 1024 : 64 * 1024;

struct random_numbers {
    uint64_t state;
    uint64_t next() { return splitmix64_next(&state); }
    unsigned below(unsigned limit) { return static_cast<unsigned>((next() >> 32) * limit >> 32); }
    bool one_in(unsigned times) { return below(times) == 0; }
};

struct place {
    const char *file = nullptr;
    int line = 0;
};

struct block;

struct thread {
    fiber run;
    block *home = nullptr;
    unsigned index = 0;
    place at; /* its last call of the layer */
};

struct warp {
    struct slot { /* what a lane brought to its meeting */
        meeting kind;
        unsigned mask, argument;
        uint64_t value;
        place at;
    };
    uint32_t live = 0;    /* lanes that exist */
    uint32_t ready = 0;   /* may run */
    uint32_t turn = 0;    /* have not yet run in this turn of the warp */
    uint32_t met = 0;     /* wait in a meeting of the warp */
    uint32_t barrier = 0; /* wait at the block's barrier */
    uint32_t takes = 0;   /* wait for a value handed over */
    uint32_t done = 0;    /* have returned */
    uint32_t named = 0;   /* lanes that the waiting ones wait for */
    slot slots[LANES];
};

struct shared_piece {
    const void *key; /* NULL: the dynamic memory */
    const char *name;
    unsigned char *data;
    size_t bytes;
};

struct late_store {
    unsigned char *to;
    unsigned char bytes;
    unsigned char value[16];
    int32_t next; /* with the same hash */
};

struct copy { /* one bulk copy under way */
    unsigned char *to;
    const unsigned char *from;
    unsigned bytes;
    void *barrier;
    void *tsan; /* the copy is a thread of its own */
    place at;
};

struct copy_barrier {
    void *address;
    unsigned arrivals, arrived;
    int64_t pending; /* bytes announced and not come, or come and not announced */
    uint64_t phase;  /* phases gone through */
    thread *maker;
    unsigned made_at; /* the block's barrier count then */
    char sync;        /* an address for ThreadSanitizer */
};

struct launch_state;

struct block {
    launch_state *work = nullptr;
    unsigned index = 0, threads = 0, live = 0, arrived = 0;
    unsigned barriers_passed = 0;
    unsigned at_handover = 0; /* threads that have handed over, or wait for it */
    bool starved = false;
    uint32_t ready_warps = 0, turn = 0;
    place barrier_at;
    const thread *barrier_first = nullptr;
    warp warps[MOST_WARPS];
    std::vector<thread> all;
    unsigned char *stacks = nullptr, *shared = nullptr;
    size_t shared_used = 0, shared_static = 0;
    std::vector<shared_piece> pieces;
    std::vector<late_store> late;
    std::vector<int32_t> late_heads; /* by hash: the newest of them, or -1 */
    std::vector<std::unique_ptr<copy>> copies;
    std::vector<std::unique_ptr<copy_barrier>> copy_barriers;
    char barrier_sync[2], handover_sync;
    bool barrier_votes[2] = {false, false};
};

constexpr unsigned NEVER = 1u << 30; /* one in so many */

struct schedule {
    unsigned order;    /* of blocks: 0 forwards, 1 backwards, 2 any, 3 any and one starved */
    unsigned resident; /* blocks at a time */
    bool system_threads;
    unsigned warp_order, lane_order; /* 0 forwards, 1 backwards, 2 any */
    unsigned leave_warp;             /* one in so many choices of the next thread leaves the warp */
    unsigned leave_block;            /* the same of the block, before each of its warps had its turn */
    unsigned give_way;               /* one in so many calls that could gives way */
    unsigned copy_delay;             /* one in so many waits completes a copy */
    unsigned late;                   /* stores: 0 at once, 1 late, 2 either */
    unsigned char fill;              /* what shared memory holds at first */
};

/* What in_vain holds of a worker in the place of a change: that the worker has ended, or that it still has hope. */
constexpr uint64_t HAS_ENDED = ~uint64_t(0), HAS_HOPE = HAS_ENDED - 1;

struct launch_state {
    unsigned blocks, threads;
    size_t dynamic_bytes, allowed_bytes; /* allowed: with the fixed arrays */
    bool cooperative;
    std::function<void()> body;
    schedule plan;
    uint64_t seed;
    std::vector<unsigned> order; /* of blocks */
    unsigned starved;
    unsigned next = 0;             /* of `order`; the following are shared by all workers: atomic */
    unsigned unfinished = 0;       /* blocks */
    uint64_t progress = 0;         /* changes that others may be waiting for */
    std::vector<uint64_t> in_vain; /* for each worker: the change since which it has waited in vain for long */
    size_t arrived = 0;            /* threads, for grid_meet() */
    bool failed = false;
    char met;  /* an address for ThreadSanitizer: that meeting */
    char sync; /* an address for ThreadSanitizer: the end of the launch */
};

struct worker {
    launch_state *work;
    fiber main;
    thread *current = nullptr;
    block *finished = nullptr;
    bool inside = false; /* a thread of a block runs, not the worker itself */
    random_numbers random;
    std::vector<block *> resident;
    size_t room;
    unsigned index = 0;
    uint64_t polls = 0, seen_progress = 0;
};

/* The worker of this thread of the system, or NULL when no launch runs here. */
worker *here();
inline thread &current() { return *here()->current; }
inline warp &warp_of(const thread &of) { return of.home->warps[of.index / LANES]; }
inline uint32_t lane_bit(const thread &of) { return uint32_t(1) << of.index % LANES; }

/* While it lives, ThreadSanitizer takes all for the worker's doing: memory that the engine makes and frees is not the
 * business of the thread in whose name it happens to do so. */
struct as_worker {
    void *thread;
    as_worker() : thread(tsan_thread()) { tsan_thread_switch(here()->main.tsan); }
    ~as_worker() { tsan_thread_switch(thread); }
    as_worker(const as_worker &) = delete;
};

/* Never return when a block is running. */
void misuse_at(const thread *who, place at, const char *format, va_list arguments);
void misuse_of(const thread &who, place at, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Chooses the thread that a worker starts or goes on with. */
void schedule_first(worker &self);
/* Runs another thread; returns when this one is chosen again. */
void go_on();
void make_ready(block &in, unsigned warp, uint32_t lanes);
void make_wait(block &in, unsigned warp, uint32_t lanes);

/* warp.cpp: no thread may wait for one that returns. */
void thread_returns(const thread &self);

/* shared.cpp */
void shared_open(block &in);
void shared_close(block &in);
const shared_piece *shared_find(const block &in, const void *address, size_t bytes);
size_t shared_arena_bytes();

/* stores.cpp */
void show_all(block &of);
void show_one(block &of, random_numbers &random);

/* copies.cpp */
void complete_some_copy(block &of, random_numbers &random);
void copies_close(block &of);

/* launch.cpp: runs a launch to its end on the calling thread. */
void run_launch(launch_state &work);
schedule plan_schedule(uint64_t seed, unsigned blocks, unsigned resident);
unsigned fit_blocks(unsigned threads, size_t shared_bytes);

/* emulator_runtime.cpp: the device that is played. */
unsigned processors();
unsigned major_capability();

/* faults.cpp */
bool fault_is(emulator_fault fault);
int fault_which();
bool fault_removes_barrier(place at);
uint64_t seed_of_launch();

/* memory.cpp and emulator_runtime.cpp: the fake runtime's memory and streams. */
bool allocation_of(const void *address, const unsigned char **base, size_t *bytes);
void device_memory_reachable(bool reachable); /* by plain code, while a kernel runs */
int current_device();                         /* of this thread */
int stream_device(void *stream);              /* of the default stream: the current one */
extern int running_device;                    /* which a kernel runs on */
int enqueue(void *stream, std::function<void()> work);
int runtime_call(const char *name); /* counts it; the error that it is to fail with, or 0 */
void device_failed();
bool device_has_failed();
/* Counts a change of the allocations, which change the most often, so that memories of them are forgotten. */
unsigned allocations_changed();

} // namespace emulator

#endif
