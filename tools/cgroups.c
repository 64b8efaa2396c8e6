#include "cgroups.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 4096 };

unsigned cgroup_numbers(int folder, const char *name, unsigned count, unsigned long long *numbers) {
    char text[64] = "", *at = text, *end = text;
    unsigned found = 0;
    const int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, text, sizeof text - 1) <= 0)
        text[0] = '\0';
    if (file >= 0)
        close(file);
    for (; found < count; found++, at = end) {
        numbers[found] = strtoull(at, &end, 10);
        if (end == at)
            break;
    }
    return found;
}

/* In a container the process's own group may be at the root, whatever its name, from which the last parts are cut. */
static void look_at_group(const char *root, char *name, unsigned version, cgroup_look *look, void *result) {
    const int top = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    for (bool is_root = false; top >= 0 && !is_root;) {
        const char *path = name + strspn(name, "/");
        is_root = *path == '\0';
        const int folder = openat(top, is_root ? "." : path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (folder >= 0) {
            look(folder, version, result);
            close(folder);
        }
        char *slash = strrchr(name, '/');
        *(slash ? slash : name) = '\0';
    }
    if (top >= 0)
        close(top);
}

/* Whether the list "cpu,cpuacct" has the word. */
static bool has_word(const char *list, const char *word) {
    const size_t length = strlen(word);
    for (; list; list = strchr(list, ',')) {
        list += *list == ',';
        if (strncmp(list, word, length) == 0 && (list[length] == '\0' || list[length] == ','))
            return true;
    }
    return false;
}

/* "0::/GROUP" of version 2, and "N:...,CONTROLLER,...:/GROUP" of version 1. */
void cgroups_each(const char *controller, cgroup_look *look, void *result) {
    char line[LINE], root[64];
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        const bool is_second = *++controllers == '\0';
        snprintf(root, sizeof root, "/sys/fs/cgroup%s%s", is_second ? "" : "/", is_second ? "" : controller);
        if (is_second || has_word(controllers, controller))
            look_at_group(root, group, is_second ? 2 : 1, look, result);
    }
    if (file)
        fclose(file);
}
