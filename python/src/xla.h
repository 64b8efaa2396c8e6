/* The part of XLA's foreign function interface that a handler of custom calls sees, as its C API gives it
 * (xla/ffi/api/c_api.h, versions 0.1 to 0.3, which are alike in it). The layout is an ABI, kept for years; field names
 * follow this project's style. */
#ifndef TUPLESCAN_PYTHON_XLA_H
#define TUPLESCAN_PYTHON_XLA_H

#include <stddef.h>
#include <stdint.h>

enum { XLA_MAJOR = 0, XLA_MINOR = 3 };
enum { XLA_BOOL = 1, XLA_INT8 = 2, XLA_INT16 = 3, XLA_INT32 = 4, XLA_INT64 = 5 };
enum { XLA_UINT8 = 6, XLA_UINT16 = 7, XLA_UINT32 = 8, XLA_UINT64 = 9 };
enum { XLA_FLOAT16 = 10, XLA_FLOAT32 = 11, XLA_FLOAT64 = 12, XLA_BFLOAT16 = 16 };
enum { XLA_BUFFER = 1, XLA_SCALAR = 3, XLA_METADATA = 1 };
enum { XLA_INVALID_ARGUMENT = 3, XLA_RESOURCE_EXHAUSTED = 8, XLA_INTERNAL = 13 };

/* The size that a struct says it has ends with its last field. */
#define XLA_SIZE(type, last) (offsetof(type, last) + sizeof(((type *)0)->last))

struct xla_extension {
    size_t size;
    int type;
    struct xla_extension *next;
};

struct xla_version {
    size_t size;
    struct xla_extension *extension;
    int major_version, minor_version;
};

struct xla_metadata {
    size_t size;
    struct xla_version version;
    uint32_t traits; /* what later versions have after it is left as it is */
};

struct xla_metadata_extension {
    struct xla_extension base;
    struct xla_metadata *metadata;
};

struct xla_error; /* XLA's own; whoever gets one gives it on */
struct xla_context;

struct xla_error_create {
    size_t size;
    struct xla_extension *extension;
    const char *message;
    int code;
};

struct xla_stream_get {
    size_t size;
    struct xla_extension *extension;
    struct xla_context *context;
    void *stream;
};

struct xla_memory_allocate {
    size_t size;
    struct xla_extension *extension;
    struct xla_context *context;
    size_t bytes, alignment;
    void *data;
};

struct xla_memory_free {
    size_t size;
    struct xla_extension *extension;
    struct xla_context *context;
    size_t bytes;
    void *data;
};

struct xla_api {
    size_t size;
    struct xla_extension *extension;
    struct xla_version version;
    const void *internal;
    struct xla_error *(*error_create)(struct xla_error_create *);
    void (*error_message)(void);
    void (*error_destroy)(void);
    void (*handler_register)(void);
    struct xla_error *(*stream_get)(struct xla_stream_get *);
    void (*type_register)(void);
    void (*context_get)(void);
    void (*state_set)(void);
    void (*state_get)(void);
    struct xla_error *(*memory_allocate)(struct xla_memory_allocate *);
    struct xla_error *(*memory_free)(struct xla_memory_free *);
};

struct xla_buffer {
    size_t size;
    struct xla_extension *extension;
    int type;
    void *data;
    int64_t dims;
    int64_t *shape;
};

/* The arguments, or the results. */
struct xla_buffers {
    size_t size;
    struct xla_extension *extension;
    int64_t count;
    int *kinds;
    struct xla_buffer **items;
};

struct xla_text {
    const char *text;
    size_t length;
};

struct xla_scalar {
    int type;
    void *value;
};

struct xla_attributes {
    size_t size;
    struct xla_extension *extension;
    int64_t count;
    int *kinds;
    struct xla_text **names;
    void **values;
};

struct xla_call {
    size_t size;
    struct xla_extension *extension;
    const struct xla_api *api;
    struct xla_context *context;
    int stage;
    struct xla_buffers arguments, results;
    struct xla_attributes attributes;
    void *future;
};

#endif
