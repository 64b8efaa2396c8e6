/* Marks the names that are visible outside the library, in C and in C++. */
#ifndef TUPLESCAN_EXPORT_H
#define TUPLESCAN_EXPORT_H

#ifdef __cplusplus
#define TABLE_BEGIN extern "C" {
#define TABLE_END   }
#else
#define TABLE_BEGIN
#define TABLE_END
#endif

#if defined(__GNUC__)
#define TABLE_API __attribute__((visibility("default")))
#else
#define TABLE_API
#endif

/* Room at the end of structs that may grow, so that they keep their size when they do (docs/versioning.md). */
enum { TABLE_RESERVED_WORDS = 8 };

#endif
