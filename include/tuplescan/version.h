/* The version that a program is compiled with; table_version() in status.h is that of the library that it runs with.
 * What a version promises is in docs/versioning.md. */
#ifndef TUPLESCAN_VERSION_H
#define TUPLESCAN_VERSION_H

#define TABLE_VERSION_MAJOR 0
#define TABLE_VERSION_MINOR 1
#define TABLE_VERSION_PATCH 0

/* For #if: 1 if these headers are of that version or a later one, otherwise 0. */
#define TABLE_VERSION_AT_LEAST(major, minor, patch)                                                                    \
    (TABLE_VERSION_MAJOR > (major) ||                                                                                  \
     (TABLE_VERSION_MAJOR == (major) &&                                                                                \
      (TABLE_VERSION_MINOR > (minor) || (TABLE_VERSION_MINOR == (minor) && TABLE_VERSION_PATCH >= (patch)))))

#endif
