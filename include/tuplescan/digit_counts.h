/* Counter tables: how many keys of each digit every chunk has, and where each chunk's keys of each digit go. That is
 * the heart of counting sort and of radix sort (Knuth, The Art of Computer Programming 3, 5.2 and 5.2.5; for blocks of
 * processors: Zagha and Blelloch, 1991), for those who bring their own scatter.
 *
 * The digit of a key is `bits` bits of its sort key (pipeline.h), from `first_bit` on. A chunk is chunk_length
 * consecutive keys; the last one may be shorter. The counter table has one row for each chunk and 2^bits columns:
 *
 *   table_digit_counts()   counters(c, d) = how many keys of chunk c have the digit d
 *   table_chunk_ranks()    ranks(c, d)    = how many keys have a digit less than d, or the digit d in a chunk before c
 *
 * so that the keys of chunk c with digit d go, in their order, to the places ranks(c, d), ranks(c, d) + 1, ... of a
 * stable counting sort. The counter table is an ordinary one: its exclusive prefix sum says how many keys of each digit
 * come before each chunk. */
#ifndef TUPLESCAN_DIGIT_COUNTS_H
#define TUPLESCAN_DIGIT_COUNTS_H

#include <tuplescan/pipeline.h>

TABLE_BEGIN

enum { TABLE_DIGIT_BITS_MOST = 16 };

typedef struct table_digit {
    unsigned first_bit; /* 0 is the least bit of the sort key; may not lie beyond its top one */
    unsigned bits;      /* 1 to 16; what reaches beyond the top bit counts as zeros */
    int descending;     /* 1: digits of the sort key with all its bits flipped, for descending order */
} table_digit;

/* The chunk length that 0 stands for: 16384 keys, or 16 for each of the 2^bits columns if that is more. 0 for bits that
 * are not 1 to 16. */
TABLE_API size_t table_digit_chunk_length(unsigned bits);

/* Rows of the counter table: keys / chunk_length, rounded up. chunk_length 0: the default for `bits`. */
TABLE_API size_t table_digit_chunks(size_t keys, size_t chunk_length, unsigned bits);

/* counters(c, d) as above.
 *   keys          one column side by side, of a type of pipeline.h
 *   chunk_length  keys in a chunk, any number; 0: table_digit_chunk_length()
 *   counters      table_digit_chunks() rows, 2^bits columns, any stride, u32 or u64; written, apart from keys, on the
 *                 same side. u32 is for up to 2^32 - 1 keys (TOO_LARGE), so that its sums fit too.
 * Errors: pipeline.h. bits that are not 1 to 16 and a first_bit beyond the key are ARGUMENT errors. */
TABLE_API table_status table_digit_counts(const table_view *keys, const table_digit *digit, size_t chunk_length,
                                          const table_view *counters, const table_pipeline_options *options);
TABLE_API table_status table_digit_counts_workspace(const table_view *keys, const table_digit *digit,
                                                    size_t chunk_length, const table_view *counters,
                                                    const table_pipeline_options *options, size_t *bytes);
TABLE_API table_status table_digit_counts_async(const table_view *keys, const table_digit *digit, size_t chunk_length,
                                                const table_view *counters, const table_pipeline_options *options);

/* ranks(c, d) as above, of any counter table, whoever counted it:
 *
 *   totals(d)   = counters(0, d) + counters(1, d) + ...
 *   offsets(d)  = totals(0) + ... + totals(d - 1)
 *   ranks(c, d) = offsets(d) + counters(0, d) + ... + counters(c - 1, d)
 *
 *   counters         any rows, any columns, any stride; u32 or u64
 *   ranks            as many rows and columns; u32 (of u32 counters) or u64. May be the same table as counters,
 *                    otherwise apart from it. Sums wrap, so that all counters together must fit in the type.
 *   totals, offsets  NULL, or a row of `columns` values of the type of ranks, side by side; apart from each other and
 *                    from the tables. On the CPU: host memory. On CUDA: host or device memory in the one-call form,
 *                    memory that the device can reach in the stream form.
 * Errors: pipeline.h. */
TABLE_API table_status table_chunk_ranks(const table_view *counters, const table_view *ranks, void *totals,
                                         void *offsets, const table_pipeline_options *options);
TABLE_API table_status table_chunk_ranks_workspace(const table_view *counters, const table_view *ranks, void *totals,
                                                   void *offsets, const table_pipeline_options *options, size_t *bytes);
TABLE_API table_status table_chunk_ranks_async(const table_view *counters, const table_view *ranks, void *totals,
                                               void *offsets, const table_pipeline_options *options);

TABLE_END

#endif
