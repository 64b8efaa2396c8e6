/* How the units of a segment exchange their totals. A block of level k is 32^k units of a segment, which begin at a
 * multiple of 32^k of them. Its total is published as soon as the totals of its 32 parts are there: of a unit, by the
 * tile that has it; of another block, by the tile that has its last unit. The prefix of a unit is joined of the totals
 * of at most 31 blocks of each level, which a tile waits for all at once; so a total goes through few hands, however
 * far it goes. */
#ifndef SEGMENTS_SEGMENT_UNITS_CUH
#define SEGMENTS_SEGMENT_UNITS_CUH

#include "persistent/descriptors/tile_descriptor.cuh"
#include "segments/segment_list.cuh"
#include "segments/segment_ops.cuh"

constexpr unsigned BLOCK_PARTS = 1 << BLOCK_PART_BITS, UNIT_WAIT = 20;
static_assert(BLOCK_PARTS == WARP_LANES, "parts of a block and lanes are counted by the same constants");

/* A lane of each warp has a unit and a column; the parts of blocks are shared out among warps. All threads of the block
 * call the functions together. */
template <class OPS> struct unit_exchange {
    typedef typename OPS::Value Value;
    typedef tile_descriptor<Value> descriptor;
    const segment_pass &pass;
    Value *const parts; /* in shared memory, of each lane */
    uint64_t begin;     /* the first row of the unit's segment */
    size_t column;

    DEVICE descriptor *at(unsigned level, uint64_t block) const {
        const unsigned bits = BLOCK_PART_BITS * level;
        const uint64_t row = (pass.level_rows[level] + (begin >> (UNIT_BITS + bits)) + block);
        return static_cast<descriptor *>(pass.totals) + row * pass.cells.columns + column;
    }
    DEVICE void put(unsigned level, uint64_t block, Value total) const {
        publish(at(level, block), total, STATUS_TOTAL);
    }
    DEVICE Value wait_for(unsigned level, uint64_t block) const {
        Value total;
        const descriptor *const from = at(level, block);
        while (look(from, &total) == 0)
            wait_a_little(UNIT_WAIT);
        return total;
    }

    /* Waits for the totals of `count` blocks from one on, which take the places of those that were gathered before. */
    DEVICE void gather(unsigned level, uint64_t block, unsigned count) const {
        const unsigned lane = thread_index() % WARP_LANES;
        block_barrier();
        KEEP_LOOP
        for (unsigned part = thread_index() / WARP_LANES; part < count; part += block_threads() / WARP_LANES)
            parts[part * WARP_LANES + lane] = wait_for(level, block + part);
        block_barrier();
    }
    /* Joins the parts that are gathered: left[k] becomes the last block of 2^k of them. */
    DEVICE void join_parts(unsigned count, Value (&left)[BLOCK_PART_BITS]) const {
        const unsigned lane = thread_index() % WARP_LANES;
        UNROLL
        for (unsigned part = 0; part < BLOCK_PARTS - 1; part++) {
            if (part >= count)
                continue;
            Value value = parts[part * WARP_LANES + lane];
            push_known(part, left, value, join_values<OPS>());
        }
    }
    DEVICE static bool leads() { return thread_index() < WARP_LANES; }

    /* Publishes the totals of the blocks that end with a unit, if it is_there, whose own total has been published. */
    DEVICE void put_blocks(uint64_t number, bool is_there, Value total) const {
        KEEP_LOOP
        for (unsigned level = 0;; level++) {
            const uint64_t block = number >> BLOCK_PART_BITS * level;
            is_there = is_there && block % BLOCK_PARTS == BLOCK_PARTS - 1;
            if (!warp_any(WARP_ALL, is_there))
                return;
            gather(level, block / BLOCK_PARTS * BLOCK_PARTS, is_there ? BLOCK_PARTS - 1 : 0);
            if (leads() && is_there) {
                Value left[BLOCK_PART_BITS];
                join_parts(BLOCK_PARTS - 1, left);
                UNROLL
                for (unsigned k = 0; k < BLOCK_PART_BITS; k++)
                    total = OPS::join(left[k], total);
                put(level + 1, block / BLOCK_PARTS, total);
            }
        }
    }
    /* The prefix of a unit, given the start of its segment, in the first warp. */
    DEVICE Value prefix_of(uint64_t number, Value start) const {
        unsigned level = 0;
        while (warp_any(WARP_ALL, number >> BLOCK_PART_BITS * (level + 1) != 0))
            level++;
        KEEP_LOOP
        for (unsigned next = level + 1; next-- > 0;) {
            const uint64_t block = number >> BLOCK_PART_BITS * next;
            const unsigned count = static_cast<unsigned>(block % BLOCK_PARTS);
            gather(next, block - count, count);
            if (leads()) {
                Value left[BLOCK_PART_BITS];
                join_parts(count, left);
                UNROLL
                for (unsigned k = BLOCK_PART_BITS; k-- > 0;)
                    if ((count >> k & 1) != 0)
                        start = OPS::join(start, left[k]);
            }
        }
        return start;
    }
};

#endif
