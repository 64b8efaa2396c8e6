/* DLPack's structures, as its specification gives them (https://dmlc.github.io/dlpack, versions 1.0 to 1.3). The layout
 * is an ABI shared by all array libraries; field names follow this project's style. */
#ifndef TUPLESCAN_PYTHON_DLPACK_H
#define TUPLESCAN_PYTHON_DLPACK_H

#include "array.h"

#include <stdint.h>

enum { DLPACK_MAJOR = 1, DLPACK_MINOR = 3 };
enum { DLPACK_CPU = 1, DLPACK_CUDA = 2, DLPACK_CUDA_HOST = 3, DLPACK_CUDA_MANAGED = 13 };
enum { DLPACK_INT = 0, DLPACK_UINT = 1, DLPACK_FLOAT = 2, DLPACK_BFLOAT = 4, DLPACK_BOOL = 6 };
#define DLPACK_READ_ONLY UINT64_C(1)

struct dlpack_version {
    uint32_t major, minor;
};

struct dlpack_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t dims;
    uint8_t type_code, type_bits;
    uint16_t type_lanes;
    int64_t *shape;
    int64_t *stride; /* in elements; NULL: row-major, side by side */
    uint64_t byte_offset;
};

/* In a capsule called "dltensor". */
struct dlpack_unversioned {
    struct dlpack_tensor tensor;
    void *context;
    void (*deleter)(struct dlpack_unversioned *self);
};

/* In a capsule called "dltensor_versioned". */
struct dlpack_versioned {
    struct dlpack_version version;
    void *context;
    void (*deleter)(struct dlpack_versioned *self);
    uint64_t flags;
    struct dlpack_tensor tensor;
};

/* In a capsule called "dlpack_exchange_api", the attribute __dlpack_c_exchange_api__ of a type. Each function returns
 * 0, or -1 and a Python exception. */
struct dlpack_exchange {
    struct dlpack_version version;
    void *older;
    int (*allocate)(struct dlpack_tensor *prototype, struct dlpack_versioned **out, void *error_context,
                    void (*set_error)(void *error_context, const char *kind, const char *message));
    int (*from_object)(void *object, struct dlpack_versioned **out);
    int (*to_object)(struct dlpack_versioned *tensor, void **out);
    int (*view_object)(void *object, struct dlpack_tensor *out); /* may be NULL; valid while the object is */
    int (*current_stream)(int32_t device_type, int32_t device_id, void **out);
};

/* The exchange table of a type: 1; 0 where there is none of a version that is known here; -1 and an exception. */
int dlpack_exchange_of(PyObject *type, const struct dlpack_exchange **exchange);

/* Fills in all of the array but what array_close() gives back. */
int dlpack_take_over(struct array *array, const struct dlpack_tensor *tensor, const char *name);

uint8_t dlpack_code_of(table_type type);

#endif
