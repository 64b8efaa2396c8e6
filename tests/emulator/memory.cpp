/* The fake runtime's memory. Device memory is host memory with guards on both sides: canaries that cudaFree() looks at,
 * and under AddressSanitizer poison. There it is all poison, too, while no kernel and no copy of the runtime runs, so
 * that host code which follows a device pointer is found. */
#include <cstdlib>
#include <cstring>
#include <map>

#include "cuda_runtime_api.h"
#include "runtime.h"

namespace emulator {

namespace {

constexpr size_t GUARD = 256;
constexpr unsigned char GUARD_BYTE = 0xdb, FRESH_BYTE = 0xf7;

struct allocation {
    size_t bytes;
    bool device;
    int number; /* of the device that was current */
};

char lock;
std::map<const unsigned char *, allocation> allocations;
size_t bytes_in_use = 0, bytes_limit = SIZE_MAX; /* of devices */
unsigned changes = 1;
bool reachable = false;

struct locked {
    locked() {
        while (__atomic_test_and_set(&lock, __ATOMIC_ACQUIRE)) {
        }
    }
    ~locked() { __atomic_clear(&lock, __ATOMIC_RELEASE); }
};

std::map<const unsigned char *, allocation>::iterator find(const void *address) {
    auto found = allocations.upper_bound(static_cast<const unsigned char *>(address));
    if (found == allocations.begin())
        return allocations.end();
    --found;
    const size_t offset = static_cast<size_t>(static_cast<const unsigned char *>(address) - found->first);
    return offset < found->second.bytes || offset == 0 ? found : allocations.end();
}

void check_guards(const unsigned char *base, size_t bytes) {
    asan_unpoison(base - GUARD, bytes + 2 * GUARD);
    for (size_t at = 0; at < GUARD; at++) {
        if (base[-1 - static_cast<ptrdiff_t>(at)] != GUARD_BYTE)
            misuse("cudaFree", 0, "device memory was written %zu bytes before an allocation of %zu bytes", at + 1,
                   bytes);
        else if (base[bytes + at] != GUARD_BYTE)
            misuse("cudaFree", 0, "device memory was written %zu bytes past the end of an allocation of %zu bytes", at,
                   bytes);
        else
            continue;
        return;
    }
}

} // namespace

int memory_make(void **memory, size_t bytes, bool device) {
    locked guard;
    *memory = nullptr;
    const size_t left = bytes_limit > bytes_in_use ? bytes_limit - bytes_in_use : 0;
    if ((device && bytes > left) || bytes > SIZE_MAX - 4 * GUARD)
        return cudaErrorMemoryAllocation;
    const size_t whole = (bytes + 2 * GUARD + GUARD - 1) / GUARD * GUARD;
    unsigned char *base = static_cast<unsigned char *>(aligned_alloc(GUARD, whole));
    if (!base)
        return cudaErrorMemoryAllocation;
    memset(base, GUARD_BYTE, whole);
    /* Large tables are not filled: the tests fill them, and that takes its time. */
    memset(base + GUARD, FRESH_BYTE, bytes < (1u << 20) ? bytes : (1u << 20));
    asan_poison(base, GUARD);
    asan_poison(base + GUARD + bytes, whole - GUARD - bytes);
    if (device && !reachable)
        asan_poison(base + GUARD, bytes);
    allocations[base + GUARD] = {bytes, device, current_device()};
    bytes_in_use += device ? bytes : 0;
    changes++;
    *memory = base + GUARD;
    return cudaSuccess;
}

int memory_free(void *memory, bool device) {
    if (!memory)
        return cudaSuccess;
    size_t bytes;
    {
        locked guard;
        const auto found = allocations.find(static_cast<unsigned char *>(memory));
        if (found == allocations.end() || found->second.device != device)
            return cudaErrorInvalidValue;
        bytes = found->second.bytes;
        bytes_in_use -= device ? bytes : 0;
        allocations.erase(found);
        changes++;
    }
    check_guards(static_cast<unsigned char *>(memory), bytes);
    free(static_cast<unsigned char *>(memory) - GUARD);
    return cudaSuccess;
}

bool allocation_of(const void *address, const unsigned char **base, size_t *bytes) {
    locked guard;
    const auto found = find(address);
    if (found == allocations.end())
        return false;
    *base = found->first;
    *bytes = found->second.bytes;
    return true;
}

bool memory_is_device(const void *address) {
    locked guard;
    const auto found = find(address);
    return found != allocations.end() && found->second.device;
}

bool memory_is_pinned(const void *address) {
    locked guard;
    const auto found = find(address);
    return found != allocations.end() && !found->second.device;
}

int memory_device(const void *address) {
    locked guard;
    const auto found = find(address);
    return found == allocations.end() ? -1 : found->second.number;
}

size_t memory_objects() {
    locked guard;
    return allocations.size();
}

size_t memory_left() {
    locked guard;
    return bytes_limit > bytes_in_use ? bytes_limit - bytes_in_use : 0;
}

void device_memory_reachable(bool now) {
    if (!EMULATOR_ASAN)
        return;
    locked guard;
    reachable = now;
    for (const auto &each : allocations)
        if (each.second.device)
            now ? asan_unpoison(each.first, each.second.bytes) : asan_poison(each.first, each.second.bytes);
}

unsigned allocations_changed() { return __atomic_load_n(&changes, __ATOMIC_RELAXED); }

namespace {
struct remembered {
    const unsigned char *base;
    size_t bytes;
    unsigned change;
    int device; /* -1: of the host */
};
thread_local remembered last[2]; /* mostly one table is read and one written */
} // namespace

/* Finds the memory that has these bytes, and on which device it is. */
static bool in_allocation(const void *address, size_t bytes, int *device) {
    const unsigned char *from = static_cast<const unsigned char *>(address);
    const unsigned change = allocations_changed();
    for (const remembered &each : last)
        if (each.change == change && from >= each.base && from + bytes <= each.base + each.bytes) {
            *device = each.device;
            return true;
        }
    remembered found = {nullptr, 0, change, -1};
    if (!allocation_of(address, &found.base, &found.bytes) || from + bytes > found.base + found.bytes)
        return false;
    *device = found.device = memory_is_device(address) ? memory_device(address) : -1;
    last[1] = last[0];
    last[0] = found;
    return true;
}

void check_global(const void *address, size_t bytes, size_t align, const char *what, const char *file, int line) {
    if (reinterpret_cast<uintptr_t>(address) % align != 0)
        misuse(file, line, "%s: %p is not aligned to %zu bytes", what, address, align);
    int device = -1;
    if (!in_allocation(address, bytes, &device))
        misuse(file, line, "%s: %zu bytes at %p are not in device memory", what, bytes, address);
    else if (device >= 0 && device != running_device)
        misuse(file, line, "%s: memory of device %d, by a kernel on device %d", what, device, running_device);
}

void check_shared(const void *address, size_t bytes, size_t align, const char *what, const char *file, int line) {
    if (reinterpret_cast<uintptr_t>(address) % align != 0)
        misuse(file, line, "%s: %p is not aligned to %zu bytes", what, address, align);
    if (!shared_find(*current().home, address, bytes))
        misuse(file, line, "%s: %zu bytes at %p are not in the block's shared memory", what, bytes, address);
}

void check_any(const void *address, size_t bytes, size_t align, const char *what, const char *file, int line) {
    if (shared_find(*current().home, address, bytes) && reinterpret_cast<uintptr_t>(address) % align == 0)
        return;
    check_global(address, bytes, align, what, file, line);
}

} // namespace emulator

void emulator_memory_limit(size_t bytes) { emulator::bytes_limit = bytes; }
