#include "access.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ACCESS_LIST       "system.posix_acl_access"
#define LIST_OF_NEW_FILES "system.posix_acl_default"

/* The list as the kernel hands it out (linux/posix_acl_xattr.h), little-endian. */
enum { LIST_ENTRIES_MOST = 1000, LIST_VERSION = 2, ALL = 7 };
enum tag { TAG_USER = 0x02, TAG_OWNING_GROUP = 0x04, TAG_GROUP = 0x08, TAG_MASK = 0x10, TAG_OTHER = 0x20 };
struct list {
    uint32_t version;
    struct entry {
        uint16_t tag, may;
        uint32_t id;
    } entries[LIST_ENTRIES_MOST];
};

mode_t access_of_new_file(const char *directory) {
    const mode_t mask = umask(0); /* there are no threads yet */
    umask(mask);
    return getxattr(directory, LIST_OF_NEW_FILES, NULL, 0) > 0 ? 0666 : 0666 & ~mask;
}

static struct entry *find(struct list *list, size_t entries, enum tag tag) {
    for (size_t i = 0; i < entries; i++)
        if (list->entries[i].tag == tag)
            return &list->entries[i];
    return NULL;
}

/* The entries of the path's list: 0 where it has none, -1 where it is none that this file knows. */
static ssize_t read_list(const char *path, struct list *list) {
    const ssize_t bytes = getxattr(path, ACCESS_LIST, list, sizeof *list);
    if (bytes < 0)
        return errno == ENODATA || errno == ENOTSUP || errno == ENOSYS ? 0 : -1;
    const size_t entries =
        (size_t)bytes < sizeof list->version ? 0 : ((size_t)bytes - sizeof list->version) / sizeof list->entries[0];
    if (entries == 0 || list->version != LIST_VERSION || !find(list, entries, TAG_OWNING_GROUP) ||
        !find(list, entries, TAG_OTHER))
        return -1;
    return (ssize_t)entries;
}

/* Whom nobody owns any more is counted with the group or with the others. */
static mode_t narrowed(mode_t mode, bool owner, bool group) {
    mode_t user = mode >> 6 & ALL, of_group = mode >> 3 & ALL, others = mode & ALL;
    if (!owner) {
        of_group &= user;
        others &= user;
    }
    if (!group)
        of_group = others = of_group & others;
    return user << 6 | of_group << 3 | others;
}

/* What the owning group may do by the list. */
static mode_t group_by_list(struct list *list, size_t entries) {
    const struct entry *mask = find(list, entries, TAG_MASK);
    return find(list, entries, TAG_OWNING_GROUP)->may & (mask ? mask->may : ALL) & ALL;
}

/* The permissions that stand for the list: users and groups that it names may have been in the group, or not. */
static mode_t without_list(struct list *list, size_t entries, mode_t mode) {
    const struct entry *mask = find(list, entries, TAG_MASK);
    for (size_t i = 0; i < entries; i++) {
        const mode_t may = list->entries[i].may & (mask ? mask->may : ALL) & ALL;
        if (list->entries[i].tag == TAG_USER || list->entries[i].tag == TAG_GROUP)
            mode &= (mode_t)ALL << 6 | may << 3 | may;
    }
    return mode;
}

static bool set_list(int fd, struct list *list, size_t entries, mode_t mode) {
    find(list, entries, TAG_OWNING_GROUP)->may &= mode >> 3 & ALL;
    find(list, entries, TAG_OTHER)->may = mode & ALL;
    return fsetxattr(fd, ACCESS_LIST, list, sizeof list->version + entries * sizeof list->entries[0], 0) == 0;
}

const char *access_keep(int fd, const char *path, const struct stat *old) {
    struct list list;
    struct stat now;
    mode_t mode = old->st_mode & 0777;
    if (fstat(fd, &now) != 0)
        return "owner, group and permissions";
    bool owner = now.st_uid == old->st_uid, group = now.st_gid == old->st_gid;
    if ((!owner || !group) && fchown(fd, old->st_uid, old->st_gid) == 0)
        owner = group = true;
    group = group || fchown(fd, (uid_t)-1, old->st_gid) == 0;

    const ssize_t entries = read_list(path, &list);
    if (entries > 0)
        mode = (mode & ~(mode_t)070) | group_by_list(&list, (size_t)entries) << 3;
    mode = narrowed(mode, owner, group);
    bool kept = entries == 0 || (entries > 0 && set_list(fd, &list, (size_t)entries, mode));
    if (!kept)
        mode = entries > 0 ? without_list(&list, (size_t)entries, mode) : mode & 0700;
    if (entries <= 0 || !kept) {
        fremovexattr(fd, ACCESS_LIST); /* that of new files in this folder */
        kept = fchmod(fd, mode) == 0 && kept;
    }
    return !kept              ? "access control list or permissions"
           : !owner && !group ? "owner and group"
           : !owner           ? "owner"
           : !group           ? "group"
                              : NULL;
}
