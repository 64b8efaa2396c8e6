/* Whom a file is for: its owner, its group, its permissions and its access control list. */
#ifndef ACCESS_H
#define ACCESS_H

#include <sys/stat.h>

/* What a new file in the folder is to be opened with: the umask counts, unless the folder has an access control list
 * for what is made in it. */
mode_t access_of_new_file(const char *directory);

/* Gives the open file `fd` the access that `old`, the status of `path`, and its list say. What cannot be kept is made
 * up for by less: nobody can do more with the new file than with the old one. Returns in words what was not kept, or
 * NULL. */
const char *access_keep(int fd, const char *path, const struct stat *old);

#endif
