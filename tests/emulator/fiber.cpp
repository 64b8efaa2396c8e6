#include "fiber.h"

#include <cstdint>
#include <cstring>
#include <pthread.h>

#if EMULATOR_ASAN
extern "C" {
void __sanitizer_start_switch_fiber(void **fake_stack_save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *fake_stack_save, const void **bottom_old, size_t *size_old);
void __asan_poison_memory_region(void const volatile *address, size_t size);
void __asan_unpoison_memory_region(void const volatile *address, size_t size);
void *__asan_region_is_poisoned(void *beg, size_t size);
}
#endif
#if EMULATOR_TSAN
extern "C" {
void *__tsan_get_current_fiber(void);
void *__tsan_create_fiber(unsigned flags);
void __tsan_destroy_fiber(void *fiber);
void __tsan_switch_to_fiber(void *fiber, unsigned flags);
void __tsan_acquire(void *address);
void __tsan_release(void *address);
void __tsan_read_range(void *address, unsigned long size);
void __tsan_write_range(void *address, unsigned long size);
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
}
#endif

#if defined(__x86_64__)
/* Keeps what a call must keep (System V ABI) on the stack of the one and takes it from the stack of the other. */
extern "C" void emulator_switch_stacks(void **from, void *to);
asm(R"(
    .text
    .p2align 4
    .globl emulator_switch_stacks
    .hidden emulator_switch_stacks
    .type emulator_switch_stacks, @function
emulator_switch_stacks:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size emulator_switch_stacks, . - emulator_switch_stacks
)");
#else
#include <ucontext.h>
#endif

namespace emulator {

void fiber_adopt(fiber &self) {
    pthread_attr_t attributes;
    void *stack = nullptr;
    size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &stack, &bytes);
        pthread_attr_destroy(&attributes);
    }
    self.stack = stack;
    self.stack_bytes = bytes;
    self.tsan = tsan_thread();
#if !defined(__x86_64__)
    if (!self.stack_pointer)
        self.stack_pointer = new ucontext_t;
#endif
}

/* Stacks of equal size would all use the same few sets of the caches; `colour` spreads them. */
void fiber_prepare(fiber &to, void *stack, size_t bytes, unsigned colour, void (*entry)()) {
    to.stack = stack;
    to.stack_bytes = bytes;
    to.fake_stack = nullptr;
#if defined(__x86_64__)
    const size_t spread = (colour * 1088u) % 8192u & ~size_t(15);
    void **top = reinterpret_cast<void **>(static_cast<char *>(stack) + bytes - spread - 72);
    top[0] = nullptr; /* the return address of entry(), which never returns */
    top[-1] = reinterpret_cast<void *>(entry);
    for (int saved = 2; saved <= 7; saved++)
        top[-saved] = nullptr;
    to.stack_pointer = top - 7;
#else
    (void)colour;
    ucontext_t *context = to.stack_pointer ? static_cast<ucontext_t *>(to.stack_pointer) : new ucontext_t;
    getcontext(context);
    context->uc_stack.ss_sp = stack;
    context->uc_stack.ss_size = bytes;
    context->uc_link = nullptr;
    makecontext(context, entry, 0);
    to.stack_pointer = context;
#endif
}

void fiber_entered() {
#if EMULATOR_ASAN
    __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
}

void fiber_switch(fiber &from, fiber &to, bool last) {
#if EMULATOR_ASAN
    __sanitizer_start_switch_fiber(last ? nullptr : &from.fake_stack, to.stack, to.stack_bytes);
#else
    (void)last;
#endif
#if EMULATOR_TSAN
    if (to.tsan != from.tsan)
        __tsan_switch_to_fiber(to.tsan, 1 /* without ordering */);
#endif
#if defined(__x86_64__)
    emulator_switch_stacks(&from.stack_pointer, to.stack_pointer);
#else
    swapcontext(static_cast<ucontext_t *>(from.stack_pointer), static_cast<ucontext_t *>(to.stack_pointer));
#endif
#if EMULATOR_ASAN
    __sanitizer_finish_switch_fiber(from.fake_stack, nullptr, nullptr);
#endif
}

#if defined(__x86_64__)
void copy_raw(void *to, const void *from, size_t bytes) {
    asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
void fill_raw(void *to, unsigned char byte, size_t bytes) {
    asm volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(byte) : "memory");
}
#else
void copy_raw(void *to, const void *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at++)
        static_cast<volatile unsigned char *>(to)[at] = static_cast<const volatile unsigned char *>(from)[at];
}
void fill_raw(void *to, unsigned char byte, size_t bytes) {
    for (size_t at = 0; at < bytes; at++)
        static_cast<volatile unsigned char *>(to)[at] = byte;
}
#endif

#if EMULATOR_TSAN
void *tsan_thread() { return __tsan_get_current_fiber(); }
void *tsan_thread_create() { return __tsan_create_fiber(0); }
void tsan_thread_destroy(void *thread) { __tsan_destroy_fiber(thread); }
void tsan_thread_switch(void *thread) {
    if (thread != __tsan_get_current_fiber())
        __tsan_switch_to_fiber(thread, 1);
}
void tsan_acquire(void *address) { __tsan_acquire(address); }
void tsan_release(void *address) { __tsan_release(address); }
void tsan_ignore(bool ignored) {
    (ignored ? AnnotateIgnoreReadsBegin : AnnotateIgnoreReadsEnd)(__FILE__, __LINE__);
    (ignored ? AnnotateIgnoreWritesBegin : AnnotateIgnoreWritesEnd)(__FILE__, __LINE__);
}
#else
void *tsan_thread() { return nullptr; }
void *tsan_thread_create() { return nullptr; }
void tsan_thread_destroy(void *) {}
void tsan_thread_switch(void *) {}
void tsan_acquire(void *) {}
void tsan_release(void *) {}
void tsan_ignore(bool) {}
#endif

void copy_seen(void *to, const void *from, size_t bytes, bool read, bool write) {
#if EMULATOR_TSAN
    if (read)
        __tsan_read_range(const_cast<void *>(from), bytes);
    if (write)
        __tsan_write_range(to, bytes);
#else
    (void)read, (void)write;
#endif
    copy_raw(to, from, bytes);
}

#if EMULATOR_ASAN
void asan_poison(const volatile void *from, size_t bytes) { __asan_poison_memory_region(from, bytes); }
void asan_unpoison(const volatile void *from, size_t bytes) { __asan_unpoison_memory_region(from, bytes); }
const void *asan_poisoned(const void *from, size_t bytes) {
    return __asan_region_is_poisoned(const_cast<void *>(from), bytes);
}
#else
void asan_poison(const volatile void *, size_t) {}
void asan_unpoison(const volatile void *, size_t) {}
const void *asan_poisoned(const void *, size_t) { return nullptr; }
#endif

} // namespace emulator
