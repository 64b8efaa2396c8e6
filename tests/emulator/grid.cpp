/* Cooperative launches: all blocks are resident together, and all of their threads may meet once. */
#include "internal.h"

namespace emulator {

unsigned grid_arrive(const char *file, int line) {
    const thread &self = current();
    launch_state &work = *self.home->work;
    if (!work.cooperative)
        misuse_of(self, {file, line}, "grid_arrive, in a launch that is not cooperative");
    show_stores();
    tsan_release(&work.met);
    if (__atomic_fetch_add(&work.arrived, 1, __ATOMIC_ACQ_REL) >= size_t(work.blocks) * work.threads)
        misuse_of(self, {file, line}, "grid_arrive, a second time");
    progress();
    give_way(file, line, false);
    return 0;
}

/* As a barrier that a fault removes it is left out whole. */
void grid_meet(const char *file, int line) {
    const thread &self = current();
    launch_state &work = *self.home->work;
    if (fault_removes_barrier({file, line}))
        return;
    if (self.index == 0) {
        while (__atomic_load_n(&work.arrived, __ATOMIC_ACQUIRE) < size_t(work.blocks) * work.threads)
            give_way(file, line, true);
        tsan_acquire(&work.met);
    }
    block_barrier(false, file, line);
}

} // namespace emulator
