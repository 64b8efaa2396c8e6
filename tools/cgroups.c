#include "cgroups.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 4096 };

unsigned cgroup_numbers(const char *folder, const char *name, unsigned count, unsigned long long *numbers) {
    char path[2 * LINE];
    unsigned found = 0;
    if (snprintf(path, sizeof path, "%s%s", folder, name) >= (int)sizeof path)
        return 0;
    FILE *file = fopen(path, "re");
    while (file && found < count && fscanf(file, "%llu", &numbers[found]) == 1)
        found++;
    if (file)
        fclose(file);
    return found;
}

/* In a container the process's own group may be at the root, whatever its name. */
static void look_at_group(const char *root, const char *group, unsigned version, cgroup_look *look, void *result) {
    char folder[2 * LINE];
    const size_t whole = strlen(group);
    for (size_t length = whole; length > 0; length--) {
        if ((length < whole && group[length] != '/') || group[length - 1] == '/')
            continue;
        if (snprintf(folder, sizeof folder, "%s%.*s/", root, (int)length, group) < (int)sizeof folder)
            look(folder, version, result);
    }
    snprintf(folder, sizeof folder, "%s/", root);
    look(folder, version, result);
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
    char line[LINE], root[LINE];
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
