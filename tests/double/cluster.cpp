/* Clusters: blocks that are resident together, meet, and write into each other's shared memory. One worker runs all
 * blocks of a cluster, so that nothing here is shared between threads of the system. */
#include "internal.h"

namespace dbl {

namespace {

/* Every thread of the cluster may go on. */
void let_go(cluster &of) {
    for (block *each : of.blocks)
        for (unsigned index = 0; each && index * LANES < each->threads; index++)
            if (const uint32_t lanes = each->warps[index].cluster) {
                each->warps[index].cluster = 0;
                make_ready(*each, index, lanes);
            }
}

} // namespace

void cluster_join(block &in, const std::shared_ptr<cluster> &group, unsigned rank) {
    const as_worker memory;
    in.group = group;
    in.rank = rank;
    group->blocks.push_back(&in);
    group->threads += in.threads;
}

void cluster_leave(block &in) {
    if (!in.group)
        return;
    if (!in.work->failed && in.written_until > in.all[0].cluster_waited)
        misuse_of(
            in.all[0], in.all[0].at,
            "the block ended, and another one of its cluster wrote into its shared memory without a meeting since");
    const as_worker memory;
    in.group->blocks[in.rank] = nullptr;
    in.group.reset();
}

void cluster_thread_returns(const thread &self) {
    cluster &of = *self.home->group;
    if (self.cluster_waited < self.cluster_arrived)
        misuse_of(self, self.at, "returned, having arrived for its cluster and not waited");
    if (self.cluster_arrived < of.arrived.size())
        misuse_of(self, self.at, "returned, while others of its cluster wait for it");
    of.returned++;
}

unsigned cluster_rank() { return current().home->rank; }

void cluster_arrive(const char *file, int line) {
    thread &self = current();
    cluster &of = *self.home->group;
    self.at = {file, line};
    if (self.cluster_waited < self.cluster_arrived)
        misuse_of(self, self.at, "cluster_arrive: the thread has arrived before and not waited");
    if (of.returned > 0)
        misuse_of(self, self.at, "cluster_arrive: %u threads of the cluster have returned and will never come",
                  of.returned);
    show_stores();
    const unsigned meeting = self.cluster_arrived++;
    tsan_release(&of.sync[meeting & 1]);
    if (of.arrived.size() <= meeting) {
        const as_worker memory;
        of.arrived.resize(meeting + 1, 0);
    }
    if (++of.arrived[meeting] == of.threads) {
        of.meetings = meeting + 1;
        let_go(of);
    }
    progress();
    give_way(file, line, false);
}

void cluster_wait(const char *file, int line) {
    thread &self = current();
    cluster &of = *self.home->group;
    self.at = {file, line};
    if (self.cluster_waited == self.cluster_arrived)
        misuse_of(self, self.at, "cluster_wait: the thread has not arrived");
    if (fault_removes_barrier(self.at))
        return; /* the next arrival or return is a misuse, even where nothing else goes wrong */
    const unsigned meeting = self.cluster_waited++;
    while (of.meetings <= meeting) {
        warp_of(self).cluster |= lane_bit(self);
        make_wait(*self.home, self.index / LANES, lane_bit(self));
        go_on();
    }
    tsan_acquire(&of.sync[meeting & 1]);
}

void *cluster_map(void *shared, size_t bytes, unsigned rank, const char *file, int line) {
    thread &self = current();
    block &in = *self.home;
    cluster &of = *in.group;
    check_shared(shared, bytes, bytes, "cluster_store", file, line);
    if (rank >= of.blocks.size())
        misuse_of(self, {file, line}, "cluster_store: rank %u of %zu", rank, of.blocks.size());
    if (rank == in.rank)
        return shared;
    block *to = of.blocks[rank];
    if (!to)
        misuse_of(self, {file, line}, "cluster_store: the block with rank %u has ended", rank);
    if (self.cluster_waited == 0)
        misuse_of(self, {file, line}, "cluster_store: the cluster has not met before, so that it may not have begun");
    const shared_piece *mine = shared_find(in, shared, bytes), *theirs = nullptr;
    for (const shared_piece &piece : to->pieces)
        if (piece.key == mine->key)
            theirs = &piece;
    if (!theirs)
        misuse_of(self, {file, line}, "cluster_store: the block with rank %u has not come to '%s' yet", rank,
                  mine->name);
    if (to->written_until < self.cluster_arrived + 1)
        to->written_until = self.cluster_arrived + 1;
    give_way(file, line, false);
    return theirs->data + (static_cast<unsigned char *>(shared) - mine->data);
}

} // namespace dbl
