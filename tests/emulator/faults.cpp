/* What emulator.h offers: seeds, reports of misuse, faults. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "internal.h"

namespace emulator {

namespace {

char lock;
char report[2048];
bool quiet = false;
uint64_t seed = 0;
bool seed_known = false;
uint64_t launches = 0;
emulator_fault fault = EMULATOR_FAULT_NONE;
int fault_number = 0;
char fault_place[512];

struct barrier_of_sources {
    place at;
    uint64_t visits;
    bool removed;
};
barrier_of_sources barriers[512]; /* in the order of their first run */
size_t barrier_count = 0;

struct locked { /* not a mutex, in which ThreadSanitizer would see an order between blocks */
    locked() {
        while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {
        }
    }
    ~locked() { __atomic_clear(&lock, __ATOMIC_RELEASE); }
};

void know_seed() {
    if (seed_known)
        return;
    const char *text = getenv("TUPLESCAN_EMULATOR_SEED");
    seed = text && *text ? strtoull(text, nullptr, 0) : 1;
    seed_known = true;
    fprintf(stderr, "emulator: TUPLESCAN_EMULATOR_SEED=%llu\n", static_cast<unsigned long long>(seed));
}

void keep_report(const char *text) {
    locked guard;
    know_seed();
    if (!report[0])
        snprintf(report, sizeof report, "%s (TUPLESCAN_EMULATOR_SEED=%llu, launch %llu)", text,
                 static_cast<unsigned long long>(seed), static_cast<unsigned long long>(launches));
    if (!quiet)
        fprintf(stderr, "emulator: misuse: %s\n", report);
}

} // namespace

uint64_t seed_of_launch() {
    locked guard;
    know_seed();
    random_numbers random = {seed * 0x100000001b3u + launches++};
    return random.next();
}

bool fault_is(emulator_fault which) { return fault == which; }
int fault_which() { return fault_number; }
bool fault_relaxed_release() { return fault == EMULATOR_FAULT_RELAXED_RELEASE; }
bool fault_relaxed_acquire() { return fault == EMULATOR_FAULT_RELAXED_ACQUIRE; }
bool fault_keeps(uint64_t mark) { return fault == EMULATOR_FAULT_CLEARS && mark == 0; }
uint64_t nanoseconds() {
    static uint64_t clock = 0;
    const bool stands = fault == EMULATOR_FAULT_CLEARS && fault_number != 0;
    return stands ? 1 : __atomic_add_fetch(&clock, 1000, __ATOMIC_RELAXED);
}
int fault_rows() { return fault == EMULATOR_FAULT_TAIL ? fault_number : 0; }

constexpr size_t PLACE_TEXT = 512;
static void put_place(const place &at, char (&text)[PLACE_TEXT]) {
    snprintf(text, sizeof text, "%s:%d", at.file, at.line);
}

bool fault_removes_barrier(place at) {
    locked guard;
    size_t index = 0;
    while (index < barrier_count &&
           (barriers[index].at.line != at.line || strcmp(barriers[index].at.file, at.file) != 0))
        index++;
    if (index == sizeof barriers / sizeof *barriers)
        return false;
    if (index == barrier_count) {
        char text[PLACE_TEXT]; /* the thread's own: ThreadSanitizer sees it written, and not the lock's holder */
        barriers[index].at = at;
        put_place(at, text);
        barriers[index].removed = strcmp(text, fault_place) == 0;
        barrier_count++;
    }
    barriers[index].visits++;
    return fault == EMULATOR_FAULT_BARRIER && barriers[index].removed;
}

void misuse_at(const thread *who, place at, const char *format, va_list arguments) {
    static __thread char what[1400], text[1800];
    worker *self = here();
    std::unique_ptr<as_worker> as(self ? new as_worker : nullptr);
    vsnprintf(what, sizeof what, format, arguments);
    if (who)
        snprintf(text, sizeof text, "block %u, thread %u, %s:%d: %s", who->home->index, who->index,
                 at.file ? at.file : "at its start", at.line, what);
    else
        snprintf(text, sizeof text, "%s:%d: %s", at.file ? at.file : "", at.line, what);
    const bool first = !self || !__atomic_exchange_n(&self->work->failed, true, __ATOMIC_RELAXED);
    if (first || !self->inside) {
        keep_report(text);
        device_failed();
    }
    as.reset();
    if (self && self->inside) {
        self->finished = self->current->home;
        fiber_switch(self->current->run, self->main, true);
    }
}

void misuse_of(const thread &who, place at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    misuse_at(&who, at, format, arguments);
    va_end(arguments);
}

void misuse(const char *file, int line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    misuse_at(here() && here()->inside ? &current() : nullptr, {file, line}, format, arguments);
    va_end(arguments);
}

} // namespace emulator

using namespace emulator;

void emulator_seed(uint64_t value) {
    seed = value;
    launches = 0;
    seed_known = true;
}
const char *emulator_report(void) { return report; }
void emulator_quiet(int value) { quiet = value != 0; }
void emulator_set_fault(enum emulator_fault value, int which) {
    fault = value;
    fault_number = which;
}
int emulator_barriers(void) { return static_cast<int>(barrier_count); }
const char *emulator_barrier_place(int which) {
    static char text[PLACE_TEXT];
    put_place(barriers[which].at, text);
    return text;
}
uint64_t emulator_barrier_visits(int which) { return barriers[which].visits; }
void emulator_set_fault_place(const char *where) { snprintf(fault_place, sizeof fault_place, "%s", where); }

namespace emulator {
void report_clear() { report[0] = '\0'; }
} // namespace emulator
