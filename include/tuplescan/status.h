/* How a call went. Every call of the library returns one of these values; it never prints and never exits. */
#ifndef TUPLESCAN_STATUS_H
#define TUPLESCAN_STATUS_H

#include <tuplescan/export.h>

TABLE_BEGIN

/* The numbers are part of the ABI: new ones are added at the end, none is ever given another meaning. */
typedef enum table_status {
    TABLE_OK = 0,
    TABLE_ERROR_ARGUMENT = 1,      /* a null pointer, an unknown enum value, options that contradict each other */
    TABLE_ERROR_SHAPE = 2,         /* stride < columns, no columns where some are needed, shapes that do not agree */
    TABLE_ERROR_TYPE = 3,          /* an unknown element type, or an in/out pair that is not supported */
    TABLE_ERROR_ALIGNMENT = 4,     /* a row or a state that is not aligned; keys that are not */
    TABLE_ERROR_OVERLAP = 5,       /* two tables share memory without being the same table */
    TABLE_ERROR_TOO_LARGE = 6,     /* a size that does not fit in size_t, or that the device cannot address */
    TABLE_ERROR_WORKSPACE = 7,     /* a workspace that is missing, too small or misaligned */
    TABLE_ERROR_HOST_MEMORY = 8,   /* out of host memory */
    TABLE_ERROR_DEVICE_MEMORY = 9, /* out of device memory */
    TABLE_ERROR_BACKEND = 10,      /* the backend that was asked for is not there, or cannot reach the data */
    TABLE_ERROR_STRATEGY = 11,     /* reserved: no call returns it */
    TABLE_ERROR_DEVICE = 12,       /* a call of the CUDA runtime failed */
    TABLE_ERROR_STATE = 13,        /* the state of a sum that goes on is damaged, or of other sums */
    TABLE_ERROR_READ = 14,         /* reading rows failed, or the input ended within one */
    TABLE_ERROR_WRITE = 15,        /* writing rows failed */
    TABLE_ERROR_CANCELED = 16,     /* a callback of the caller, or table_set_interrupt(), ended the call */
    TABLE_ERROR_RANKS = 17,        /* the ranks of a communicator do not make the same call (mpi.h, nccl.h) */
    TABLE_ERROR_MPI = 18,          /* a call of MPI failed (mpi.h) */
    TABLE_ERROR_NCCL = 19          /* a call of NCCL, or of CUDA beside it, failed (nccl.h) */
} table_status;

/* The enumerator's name, such as "TABLE_ERROR_SHAPE"; "TABLE_ERROR_UNKNOWN" for a number that is none. Static text. */
TABLE_API const char *table_status_name(table_status status);

/* One English sentence without a full stop that says what the value means in general. Static text. */
TABLE_API const char *table_status_text(table_status status);

/* What exactly was wrong in the calling thread's last call that failed: which argument, which limit. Never NULL, and
 * empty before the first failure. The text belongs to the library and lives until this thread's next failure. */
TABLE_API const char *table_error_detail(void);

/* For libraries that stand on this one: keeps a copy of the text, at most 255 bytes, as the calling thread's
 * table_error_detail(), and returns `status`. The text may be that detail itself. */
TABLE_API table_status table_error_set(table_status status, const char *text);

/* The calling thread's way to end its own calls while they run: all that may take long, in any header. */
typedef struct table_interrupt {
    int (*ask)(void *context); /* NULL: calls do not ask. Anything but 0: the call is to end */
    void *context;
} table_interrupt;

/* Sets it for all calls that the calling thread makes from now on, and returns the one set before. `ask` is called by
 * that thread alone, ten times a second while calls of its own are at work: one that takes less than a tenth of a
 * second may not ask. Nor does one that waits for a kernel which runs on a device (host tables on one: it asks between
 * the pieces), for a callback, for memory or for other ranks. `ask` must return, and may make calls, which do not ask
 * in turn. A call that is to end is a CANCELED error, as soon as its threads have ended what they are at, a few
 * hundredths of a second. What it would have written is unspecified then, but its options->state is as it was before
 * the call; that of a stream is unspecified, as after its other errors. */
TABLE_API table_interrupt table_set_interrupt(table_interrupt interrupt);

/* The library's version, "major.minor.patch". Static text. */
TABLE_API const char *table_version(void);

TABLE_END

#endif
