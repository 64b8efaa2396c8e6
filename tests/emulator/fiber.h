/* Threads of execution that give way to each other by hand: one for every thread of a block of the emulator.
 *
 * Both sanitizers are told of every switch: AddressSanitizer which stack is in use, ThreadSanitizer which thread is now
 * running. No switch orders memory for ThreadSanitizer, so that it sees only the order that the kernel itself asked
 * for.
 */
#ifndef EMULATOR_FIBER_H
#define EMULATOR_FIBER_H

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define EMULATOR_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATOR_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define EMULATOR_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define EMULATOR_TSAN 1
#endif
#endif
/* The emulator's own files are not instrumented under ThreadSanitizer; the build says so by this. */
#ifdef EMULATOR_UNDER_TSAN
#define EMULATOR_TSAN 1
#endif
#ifndef EMULATOR_ASAN
#define EMULATOR_ASAN 0
#endif
#ifndef EMULATOR_TSAN
#define EMULATOR_TSAN 0
#endif
#define EMULATOR_SANITIZED (EMULATOR_ASAN || EMULATOR_TSAN)

namespace emulator {

struct fiber {
    void *stack_pointer = nullptr; /* where it goes on; the rest is for the sanitizers */
    const void *stack = nullptr;
    size_t stack_bytes = 0;
    void *fake_stack = nullptr;
    void *tsan = nullptr;
};

/* Makes the calling thread's own stack a fiber, to come back to. */
void fiber_adopt(fiber &self);
/* `fiber` will run entry(), which never returns, on that stack, the first time that it is switched to. */
void fiber_prepare(fiber &to, void *stack, size_t bytes, unsigned colour, void (*entry)());
/* The first thing that entry() does. */
void fiber_entered();
/* Goes on with `to`; returns when someone switches back. With `last`, `from` never runs again. */
void fiber_switch(fiber &from, fiber &to, bool last = false);

/* What ThreadSanitizer is told; nothing without it. */
void *tsan_thread();
void *tsan_thread_create();
void tsan_thread_destroy(void *thread);
void tsan_thread_switch(void *thread);
void tsan_acquire(void *address);
void tsan_release(void *address);
/* What the running thread of ThreadSanitizer does until it is told otherwise is no matter. */
void tsan_ignore(bool ignored);
/* A copy that the running thread is seen to make. */
void copy_seen(void *to, const void *from, size_t bytes, bool read, bool write);

/* Copies and fills that no sanitizer looks at: the engine's own. */
void copy_raw(void *to, const void *from, size_t bytes);
void fill_raw(void *to, unsigned char byte, size_t bytes);

/* What AddressSanitizer is told; nothing without it. */
void asan_poison(const volatile void *from, size_t bytes);
void asan_unpoison(const volatile void *from, size_t bytes);
/* The first poisoned byte, or NULL. */
const void *asan_poisoned(const void *from, size_t bytes);

} // namespace emulator

#endif
